package org.jofi.conformance;

import java.util.List;

/** What was seen of the providers of libfabric, by provider. */
final class KnownFailures {
  private static final String OLD = "libfabric 1.";
  private static final String NEW = "libfabric 2.";
  private static final String ANY = "libfabric ";

  private static final String OWN_KEYS =
      "writes only with keys that its peer told in an entry with a check, for regions that stay"
          + " open until their message is done; a failed operation fails its connection's messages";
  private static final String WHOLE_RECEIVES =
      "posts receives that are as long as its longest message, so that none is cut";
  private static final String OWN_LENGTHS =
      "relies on no reported length: the true length of a message that does not fill its receive"
          + " comes in a message of its own";
  private static final String DIRECTION_FAILS =
      "fails all messages of a connection whose operation failed, each with the cause";

  static final List<KnownFailure> ALL =
      List.of(
          new KnownFailure(
              "net",
              OLD,
              "discovery/capabilities",
              "takes FI_DIRECTED_RECV in hints, and answers without it",
              "asks for FI_MSG and FI_RMA only, and receives from anybody"),
          new KnownFailure(
              "tcp",
              NEW,
              "discovery/capabilities",
              "takes FI_DIRECTED_RECV in hints, and answers without it",
              "asks for FI_MSG and FI_RMA only, and receives from anybody"),
          new KnownFailure(
              "net", OLD, "immediate/length", "reports 0 bytes for every such write", OWN_LENGTHS),
          new KnownFailure(
              "tcp;ofi_rxm",
              OLD,
              "immediate/length",
              "reports 0 bytes for every such write",
              OWN_LENGTHS),
          new KnownFailure(
              "net",
              OLD,
              "errors/truncation-goes-on",
              "delivers no message of that peer after a receive that was too short",
              WHOLE_RECEIVES),
          new KnownFailure(
              "tcp;ofi_rxm",
              OLD,
              "errors/truncation-goes-on",
              "delivers no message of that peer after a receive that was too short",
              WHOLE_RECEIVES),
          new KnownFailure(
              "tcp;ofi_rxm",
              OLD,
              "errors/endpoint-survives",
              "answers FI_ENOTCONN to everything after an operation that the target refused",
              DIRECTION_FAILS),
          new KnownFailure(
              "shm",
              OLD,
              "rma/empty-write",
              "an empty write with FI_DELIVERY_COMPLETE never completes",
              "asks for FI_DELIVERY_COMPLETE only where immediate data does not come with writes,"
                  + " which it does here"),
          new KnownFailure(
              "shm",
              ANY,
              "errors/bad-key-write",
              "a write with a key that no region has never completes",
              OWN_KEYS),
          new KnownFailure(
              "shm",
              OLD,
              "errors/bad-key-read",
              "does not look at the key, and reads what the address names",
              OWN_KEYS),
          new KnownFailure(
              "shm",
              NEW,
              "errors/bad-key-read",
              "a read with a key that no region has never completes",
              OWN_KEYS),
          new KnownFailure(
              "shm",
              NEW,
              "errors/endpoint-survives",
              "takes nothing for that peer after an operation with a bad key",
              DIRECTION_FAILS),
          new KnownFailure(
              "udp;ofi_rxd",
              ANY,
              "errors/truncation",
              "cuts the message, and reports success",
              WHOLE_RECEIVES),
          new KnownFailure(
              "udp;ofi_rxd",
              ANY,
              "errors/bad-key-write",
              "a write with a key that no region has never completes",
              OWN_KEYS),
          new KnownFailure(
              "udp;ofi_rxd",
              ANY,
              "errors/bad-key-read",
              "a read with a key that no region has never completes",
              OWN_KEYS),
          new KnownFailure(
              "udp;ofi_rxd",
              ANY,
              "errors/endpoint-survives",
              "delivers nothing to that peer after an operation with a bad key",
              DIRECTION_FAILS));

  private KnownFailures() {}
}
