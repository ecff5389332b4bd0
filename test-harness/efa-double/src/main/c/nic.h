// A process's own side of its EFA devices: what libibverbs and libefa hand out. A file calls those above it here only, and
// what all kinds of NIC share.

#pragma once

#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <stddef.h>

#include "objects.h"
#include "tables.h"

// The types of libibverbs and libefa are the system's; what came after Debian 12's headers stands here.
enum { CAN_READ = 1 << 0, CAN_RETRY = 1 << 1, CAN_TELL_GID = 1 << 2, CAN_WRITE = 1 << 3, CAN_RECEIVE_UNSOLICITED = 1 << 4 };
enum { ADDRESS_HANDLES = 1024, SEGMENTS = 4, NO_HANDLE = 0xffff };

// efadv_cq with its newer member.
struct completion_extras {
  uint64_t comp_mask;
  int (*wc_read_sgid)(struct efadv_cq *queue, union ibv_gid *gid);
  bool (*wc_is_unsolicited)(struct efadv_cq *queue);
};

// efadv_qp_init_attr with its newer members.
struct queue_pair_extras {
  uint64_t comp_mask;
  uint32_t driver_qp_type;
  uint16_t flags;  // 1: receive unsolicited writes
  uint8_t sl;
  uint8_t reserved;
};

enum generation { GENERATION_SEND, GENERATION_READ, GENERATION_WRITE };

struct efa_settings {
  enum generation generations[MOST_NICS];
};

extern struct efa_settings efa_settings;

static inline uint32_t capabilities(const struct context *context) {
  enum generation generation = efa_settings.generations[context->nic->index];
  return CAN_RETRY | CAN_TELL_GID | (generation >= GENERATION_READ ? CAN_READ : 0) |
         (generation >= GENERATION_WRITE ? CAN_WRITE | CAN_RECEIVE_UNSOLICITED : 0);
}

// A peer that an open device has handles for.
struct known_handle {
  uint8_t gid[16];
  uint32_t users;
  bool heard;  // a peer that has answered once is unresponsive when silent, one that never has is unreachable
};

static inline struct known_handle *handles_of(const struct context *context) { return context->own; }

struct handle {
  struct ibv_ah ah;
  uint8_t gid[16];
  uint16_t number;
};

struct completion_queue {
  struct ibv_cq_ex cq;
  struct completion_extras extras;
  struct wire_queue *wire;
  _Atomic uint32_t users;
  pthread_mutex_t polled;
  bool polling;
  struct wire_completion current;
};

// An operation between its post and its completion. It is carried in segments, each in its own time; the source is read
// and the target written when a segment is due, never in the post, as a device does not.
struct request {
  uint64_t id, sequence, remote, due[SEGMENTS], give_up;
  uint32_t operation, rkey, immediate, flags, peer, qkey, count, tries, bytes, inlined_bytes, segments, left;
  uint16_t handle;
  uint8_t gid[16];
  bool addressed, described, inlined;
  struct ibv_sge pieces[SEND_PIECES];
  uint8_t data[LONGEST_INLINE];
};

struct queue_pair {
  union {
    struct ibv_qp qp;
    struct ibv_qp_ex ex;
  };
  struct wire_queue_pair *wire;
  struct completion_queue *send_queue, *receive_queue;
  struct wire_receive_queue *receives;
  uint32_t retries, depth, most_receives;
  bool extended;
  pthread_mutex_t lock;
  _Atomic uint32_t waiting;
  uint64_t sequence;
  struct request *requests;  // those that wait, in no order
  pthread_mutex_t building;
  bool started;
  struct request *batch;  // between wr_start and wr_complete
  uint32_t batched;
  int batch_error;
};

// handles.c

uint16_t handle_number(struct context *context, const uint8_t *gid);
bool knows(const struct wire_device *device, const uint8_t *gid);
int describe_handle(struct ibv_ah *handle, struct efadv_ah_attr *attributes, uint32_t size);

// flushing.c

// Into the error state, with all that waits.
void flush(struct queue_pair *pair);

// delivery.c

void schedule(struct queue_pair *pair, struct request *request);
// Carries out what is due of a queue pair, whose lock is held.
void progress(struct queue_pair *pair);
// What is due of all of them; whether anything waited.
bool progress_all(void);

// posting.c

int post_send(struct ibv_qp *pair, struct ibv_send_wr *requests, struct ibv_send_wr **bad);
int post_receive(struct ibv_qp *pair, struct ibv_recv_wr *requests, struct ibv_recv_wr **bad);

void set_batch_calls(struct ibv_qp_ex *pair);

// completion.c

struct ibv_cq_ex *create_completion_queue(struct ibv_context *context, struct ibv_cq_init_attr_ex *attributes);
int poll_completions(struct ibv_cq *queue, int most, struct ibv_wc *completions);
struct efadv_cq *completion_extras(struct ibv_cq_ex *queue);

// queue_pair.c

struct ibv_qp *create_queue_pair_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attributes);
struct ibv_qp *create_srd_queue_pair(struct ibv_context *context, struct ibv_qp_init_attr_ex *attributes,
                                     const struct queue_pair_extras *extras, uint32_t size);

// device.c

int describe_device(struct ibv_context *context, struct efadv_device_attr *attributes, uint32_t size);
