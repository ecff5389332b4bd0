// What InfiniBand adapters have on the wire beyond what all kinds of NIC do, and their limits: the connection manager's
// identifiers, each with an inbox.

#pragma once

#include "wire.h"

enum {
  QUEUE_PAIR_BITS = 24,
  SEND_PIECES = 4,
  RECEIVE_PIECES = 4,
  LONGEST_INLINE = 256,
  SEND_DEPTH = 8192,
  LONGEST_MESSAGE = 1 << 30,
  // The provider asks for 262,144; the ring behind may be shorter, as long as nobody lets so much lie.
  MOST_COMPLETIONS = 1 << 22,
  MOST_READS = 16,
  SHARED_QUEUES = 64,
  CM_IDS = 4096,
  CM_INBOX = 32,
  CM_DATA = 196,
  CM_ADDRESS = 64,
};

// From one identifier to another.
struct cm_message {
  uint32_t event;  // an rdma_cm_event_type
  int32_t status;
  uint32_t from, from_generation, device, queue_pair, length;
  uint8_t rnr_retry, retry;
  uint8_t data[CM_DATA];
  uint8_t source[CM_ADDRESS], destination[CM_ADDRESS];
};

enum cm_state { CM_IDLE, CM_LISTENING, CM_ASKED, CM_WAS_ASKED, CM_ANSWERED, CM_CONNECTED, CM_DISCONNECTED };

struct wire_cm_id {
  pid_t pid;
  uint32_t generation, state, space, port;
  uint32_t device;  // its number + 1, 0 for any
  uint32_t peer, peer_generation, node;
  uint32_t put, taken;
  struct cm_message inbox[CM_INBOX];
};

// Behind the struct wire.
struct verbs_tables {
  _Atomic uint64_t retried, connects, rejects, disconnects;
  pthread_mutex_t cm_lock;
  uint32_t next_port, next_id;
  _Atomic uint64_t cm_sent;
  struct wire_cm_id cm_ids[CM_IDS];
};

static inline struct verbs_tables *tables_of(struct wire *base) { return own_tables(base); }
