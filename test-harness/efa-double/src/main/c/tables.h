// What EFA devices have on the wire beyond what all kinds do, and its limits.

#pragma once

#include "wire.h"

enum {
  QUEUE_PAIR_BITS = 16,  // all that an address of the provider's has; it finds queue pairs by the number's lower bits
  MOST_QUEUE_PAIRS = 256,
  KNOWN_PEERS = 128,
  RECEIVE_PIECES = 2,
  MOST_COMPLETIONS = 32768,
  SEND_PIECES = 2,
  LONGEST_INLINE = 32,
  SEND_DEPTH = 1024,
  LONGEST_PACKET = 8928,
  LONGEST_RDMA = 1 << 30,
};

// efa_io_comp_status of the driver: what a completion says of its operation, and the provider's vendor_err.
enum completion_status {
  STATUS_OK = 0,
  STATUS_FLUSHED = 1,
  STATUS_LOCAL_FAULT = 2,
  STATUS_BAD_ADDRESS_HANDLE = 4,
  STATUS_BAD_LKEY = 5,
  STATUS_BAD_LENGTH = 6,
  STATUS_REMOTE_ADDRESS = 7,
  STATUS_REMOTE_ABORT = 8,
  STATUS_REMOTE_QUEUE_PAIR = 9,
  STATUS_REMOTE_NOT_READY = 10,
  STATUS_REMOTE_LENGTH = 11,
  STATUS_REMOTE_STATUS = 12,
  STATUS_UNRESPONSIVE = 13,
  STATUS_UNKNOWN_PEER = 14,
  STATUS_UNREACHABLE = 15,
};

struct known_peer {
  _Atomic uint32_t users;
  uint8_t gid[16];
};

// Behind the struct wire.
struct efa_tables {
  // Whom a device has an address handle for: RDMA is taken from no one else.
  struct known_peer known[DEVICES][KNOWN_PEERS];
};

static inline struct known_peer *known_peers(struct wire *base, const struct wire_device *device) {
  return ((struct efa_tables *)own_tables(base))->known[device - base->devices];
}
