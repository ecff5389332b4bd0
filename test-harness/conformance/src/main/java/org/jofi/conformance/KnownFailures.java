package org.jofi.conformance;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.conformance.KnownFailure.Rate;

/**
 * What was seen of the providers of libfabric, by provider. A rule is here once for each version.
 */
final class KnownFailures {
  /** Whose versions are meant. */
  static final String LIBRARY = "libfabric";

  /** The versions that were examined, and that is all that is claimed: not what lies between. */
  private static final String OLD = "1.17";

  private static final String NEW = "2.1";

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

  private static final String FLAGS_FIRST =
      "asks an entry first whether it is an arrival, and looks at no operation of one that is";

  static final List<KnownFailure> ALL =
      Stream.of(ofTcp(), ofSharedMemory(), ofDatagrams(), ofVerbs(), ofEfa(), ofEfaDirect())
          .flatMap(List::stream)
          .toList();

  private KnownFailures() {}

  private static List<KnownFailure> ofTcp() {
    String direction = "takes FI_DIRECTED_RECV in hints, and answers without it";
    String anybody = "asks for FI_MSG and FI_RMA only, and receives from anybody";
    String zero = "reports 0 bytes for every such write";
    String silence = "delivers no message of that peer after a receive that was too short";
    String refused = "answers FI_ENOTCONN to everything after an operation that the target refused";
    return List.of(
        always("net", OLD, "discovery/capabilities", direction, anybody),
        always("tcp", NEW, "discovery/capabilities", direction, anybody),
        always("net", OLD, "immediate/length", zero, OWN_LENGTHS),
        always("tcp;ofi_rxm", OLD, "immediate/length", zero, OWN_LENGTHS),
        sometimes("tcp;ofi_rxm", NEW, new Rate(7, 8), "immediate/length", zero, OWN_LENGTHS),
        always("net", OLD, "errors/truncation-goes-on", silence, WHOLE_RECEIVES),
        always("tcp;ofi_rxm", OLD, "errors/truncation-goes-on", silence, WHOLE_RECEIVES),
        sometimes(
            "tcp;ofi_rxm",
            OLD,
            new Rate(1, 7),
            "errors/endpoint-survives",
            refused,
            DIRECTION_FAILS),
        sometimes(
            "tcp;ofi_rxm",
            NEW,
            new Rate(2, 7),
            "errors/endpoint-survives",
            refused,
            DIRECTION_FAILS));
  }

  private static List<KnownFailure> ofSharedMemory() {
    String never = "a write with a key that no region has never completes";
    return List.of(
        always(
            "shm",
            OLD,
            "rma/empty-write",
            "an empty write with FI_DELIVERY_COMPLETE never completes",
            "asks for FI_DELIVERY_COMPLETE only where immediate data does not come with writes,"
                + " which it does here"),
        always("shm", OLD, "errors/bad-key-write", never, OWN_KEYS),
        always("shm", NEW, "errors/bad-key-write", never, OWN_KEYS),
        always(
            "shm",
            NEW,
            "closing/endpoint-ends-writes",
            "ends the process when an endpoint closes into which writes are under way",
            "closes endpoints when their connections are over; over shm a device has one rail, and"
                + " nothing is sent again"),
        always(
            "shm",
            OLD,
            "errors/bad-key-read",
            "does not look at the key, and reads what the address names",
            OWN_KEYS),
        always(
            "shm",
            NEW,
            "errors/bad-key-read",
            "a read with a key that no region has never completes",
            OWN_KEYS),
        always(
            "shm",
            NEW,
            "errors/endpoint-survives",
            "takes nothing for that peer after an operation with a bad key",
            DIRECTION_FAILS));
  }

  private static List<KnownFailure> ofDatagrams() {
    return Stream.of(OLD, NEW)
        .flatMap(
            version ->
                Stream.of(
                    always(
                        "udp;ofi_rxd",
                        version,
                        "errors/truncation",
                        "cuts the message, and reports success",
                        WHOLE_RECEIVES),
                    always(
                        "udp;ofi_rxd",
                        version,
                        "errors/bad-key-write",
                        "a write with a key that no region has never completes",
                        OWN_KEYS),
                    always(
                        "udp;ofi_rxd",
                        version,
                        "errors/bad-key-read",
                        "a read with a key that no region has never completes",
                        OWN_KEYS),
                    always(
                        "udp;ofi_rxd",
                        version,
                        "errors/endpoint-survives",
                        "delivers nothing to that peer after an operation with a bad key",
                        DIRECTION_FAILS)))
        .toList();
  }

  /** Seen on a NIC that is software; the causes are in the provider's sources, above the NIC. */
  private static List<KnownFailure> ofVerbs() {
    String layered = "verbs;ofi_rxm";
    return List.of(
        always(
            layered, OLD, "immediate/length", "reports 0 bytes for every such write", OWN_LENGTHS),
        always(
            layered,
            OLD,
            "errors/endpoint-survives",
            "takes nothing for that peer after an operation that the target refused",
            DIRECTION_FAILS));
  }

  /** Seen on devices that are software, of three generations: they send, read as well, or write. */
  private static List<KnownFailure> ofEfa() {
    String crash =
        "where the device cannot write, or reads from a region that is closed, the target of an"
            + " operation that the provider emulates crashes on a key that it does not know";
    String open = "every device that reads opens all regions for reading, and writes likewise";
    return Stream.of(
            Stream.of(
                always(
                    "efa",
                    OLD,
                    "immediate/width-of-sends",
                    "cuts immediate data of sends to 32 bits",
                    "uses 32 bits of them"),
                always(
                    "efa",
                    OLD,
                    "errors/bad-key-write",
                    "the target crashes, or refuses the write and does not tell who wrote",
                    OWN_KEYS),
                sometimes(
                    "efa",
                    OLD,
                    new Rate(1, 3),
                    "errors/bad-key-read",
                    "where the device cannot read, the target refuses and does not tell who read",
                    OWN_KEYS),
                always("efa", NEW, "registration/access", open, OWN_KEYS),
                sometimes(
                    "efa",
                    NEW,
                    new Rate(1, 3),
                    "immediate/takes-no-receive",
                    "where the device cannot write, an arrival names an operation that has ended",
                    FLAGS_FIRST)),
            crashes(OLD, crash, "registration/closed-is-closed", "registration/access"),
            crashes(OLD, crash, "registration/range", "isolation/keys"),
            crashes(OLD, crash, "errors/errno-positive", "errors/operation-context"),
            crashes(OLD, crash, "errors/endpoint-survives"),
            crashes(NEW, crash, "registration/closed-is-closed", "registration/range"),
            crashes(NEW, crash, "isolation/keys", "errors/bad-key-write", "errors/bad-key-read"),
            crashes(NEW, crash, "errors/errno-positive", "errors/operation-context"),
            crashes(NEW, crash, "errors/endpoint-survives"))
        .flatMap(some -> some)
        .toList();
  }

  /** By chance, and by the device's generation. */
  private static Stream<KnownFailure> crashes(String version, String crash, String... caseIds) {
    return Stream.of(caseIds)
        .map(id -> sometimes("efa", version, new Rate(1, 3), id, crash, OWN_KEYS));
  }

  private static List<KnownFailure> ofEfaDirect() {
    return List.of(
        always(
            "efa-direct",
            NEW,
            "registration/access",
            "every device that reads opens all regions for reading, and writes likewise",
            OWN_KEYS),
        always(
            "efa-direct",
            NEW,
            "eagain/retry",
            "a send for which no receive is posted is tried again without end, and those behind it"
                + " wait",
            "posts receives before it connects, and counts what it may send"));
  }

  private static KnownFailure always(
      String provider, String version, String caseId, String lack, String remedy) {
    return sometimes(provider, version, Rate.ALWAYS, caseId, lack, remedy);
  }

  private static KnownFailure sometimes(
      String provider, String version, Rate rate, String caseId, String lack, String remedy) {
    return new KnownFailure(
        provider, VersionRange.only(LIBRARY, version), caseId, rate, lack, remedy);
  }
}
