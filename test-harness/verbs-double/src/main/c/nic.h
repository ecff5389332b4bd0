// A process's own side of its adapters: what libibverbs hands out. A file calls those above it here only, and what all
// kinds of NIC share.

#pragma once

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdio.h>

#include "objects.h"
#include "tables.h"

enum link { LINK_INFINIBAND, LINK_ETHERNET };

struct verbs_settings {
  int mtu[MOST_NICS];   // in bytes
  int links[MOST_NICS];  // enum link
  const char *firmware;
  bool ip, ib_addresses, dmabuf;
};

extern struct verbs_settings verbs_settings;

struct channel_event {
  struct ibv_cq *queue;
  struct channel_event *next;
};

struct completion_channel {
  struct ibv_comp_channel channel;
  pthread_mutex_t lock;
  struct channel_event *first, **last;
};

struct completion_queue {
  struct ibv_cq cq;
  struct wire_queue *wire;
  struct completion_channel *channel;
  _Atomic uint32_t users;
  struct completion_queue *next;  // of those that have a channel
};

// An operation between its post and its completion. Memory is read and written when it is carried out, never in the post.
struct request {
  uint64_t id, remote, due, give_up;
  uint32_t operation, rkey, immediate, flags, count, tries, bytes;
  bool inlined, signaled;
  struct ibv_sge pieces[SEND_PIECES];
  uint8_t data[LONGEST_INLINE];
};

struct receive_queue {
  struct wire_receive_queue *wire;
  uint32_t most_pieces;
};

struct shared_queue {
  struct ibv_srq srq;
  struct receive_queue receives;
  _Atomic uint32_t users;
};

struct queue_pair {
  struct ibv_qp qp;
  struct wire_queue_pair *wire;
  struct receive_queue receives;
  struct completion_queue *send_queue, *receive_queue;
  uint32_t not_ready_retries, depth, most_pieces, most_inline;
  bool all_signaled;
  pthread_mutex_t lock;
  _Atomic uint64_t posted, carried;  // its requests, in order
  struct request *requests;
};

// failing.c: the error state, which one end of a connection takes the other into

// Takes a queue pair into it, whosever it is, and flushes its own receives; its sends its owner flushes. Shared receives
// stay. The entry is locked.
void fail_locked(struct wire_queue_pair *entry);
// The same of one that is not locked.
void fail_pair(struct wire_queue_pair *entry);
// Ends what waits on a queue pair in its error state; its lock is held.
void flush_sends(struct queue_pair *pair);

// delivery.c

// Carries out what is due of a queue pair, whose lock is held.
void progress(struct queue_pair *pair);
// What is due of all of them; whether anything waited.
bool progress_all(void);

// posting.c

int post_send(struct ibv_qp *pair, struct ibv_send_wr *requests, struct ibv_send_wr **bad);

// receiving.c

int post_receive(struct ibv_qp *pair, struct ibv_recv_wr *requests, struct ibv_recv_wr **bad);
int post_shared_receive(struct ibv_srq *queue, struct ibv_recv_wr *requests, struct ibv_recv_wr **bad);

// channels.c: how a process is told of completions

// The queue's channel tells of it from now on, and no longer.
void begin_telling(struct completion_queue *queue);
void end_telling(struct completion_queue *queue);
int request_notification(struct ibv_cq *queue, int solicited);

// completion.c

int poll_completions(struct ibv_cq *queue, int most, struct ibv_wc *completions);

// interfaces.c: the network interfaces that the adapters lie behind

// The address of a device of a node: 10.77.NODE.DEVICE+1 (10.77.0.1 is mlx5_0 of node 0).
uint32_t address_of(uint32_t node, int device);
// The provider has closed the device that it looks for adapters with.
void devices_listed(void);
