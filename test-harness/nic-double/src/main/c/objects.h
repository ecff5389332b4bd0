// A process's own side of its NICs, as far as all kinds have it: what libibverbs hands out, each with the wire's entry
// behind it. A file calls those above it here only, and the kind's own files call these.

#pragma once

#include <infiniband/verbs.h>
#include <stddef.h>
#include <sys/uio.h>

#include "process.h"
#include "settings.h"
#include "wire.h"

// The kind of NIC's own.
struct queue_pair;

struct nic {
  struct ibv_device device;
  int index;
  uint8_t gid[16];
};

// An open NIC. The provider frees nothing of it, so that counting what is open shows an unclean close.
struct context {
  struct nic *nic;
  struct wire_device *wire;
  void *own;  // the kind's
  _Atomic uint32_t domains, queues;
  struct verbs_context verbs;  // its last member is the context that the provider knows
};

struct domain {
  struct ibv_pd pd;
  uint32_t number;
  _Atomic uint32_t users;
};

struct region {
  struct ibv_mr mr;
  struct wire_region *wire;
  void *mapping;
  size_t mapped;
};

static inline struct context *context_of(struct ibv_context *context) {
  return (struct context *)((char *)context - offsetof(struct context, verbs.context));
}

// Whether its device was taken out: nothing new can be made on it, and errno says so.
bool is_gone(const struct ibv_context *context);

// What one kind of NIC does where all kinds do the same otherwise. Each double defines it once.
struct kind {
  // Its own settings, after those that all have; NULL: there are none.
  void (*read_settings)(void);
  // Gives a NIC its name, GID and what else libibverbs tells of one that is not open.
  void (*describe)(struct nic *nic);
  // Fills the calls of one that was opened, and `own`, which is freed with it; 0, or an errno.
  int (*prepare)(struct context *opened);
  // The rights that its regions can have.
  unsigned (*rights)(const struct context *opened);
  // Another device has this place on the wire from now on; NULL: nothing of its tables goes with it.
  void (*renew)(const struct wire_device *device);
  // Its provider is about to look for something else than devices; NULL: that is nothing to it.
  void (*listed)(void);
};

extern const struct kind kind;

// pairs.c: the queue pairs of this process, each at its slot on the wire

// The slot after the last of those that the kind has, with a number that no peer of an earlier queue pair knows, of so
// many bits. NULL if all are taken. The wire is locked.
struct wire_queue_pair *take_slot(uint32_t slots, int bits);
void enter_pair(struct wire_queue_pair *entry, struct queue_pair *pair);
// From here on nobody finds it.
void leave_pair(struct wire_queue_pair *entry);
void for_each_queue_pair(void (*action)(struct queue_pair *pair, void *argument), void *argument);
// Whether the process still has the queue pair of this number; counts one of its operations as polled.
bool still_open(uint32_t number, bool polled);
// Receives for a queue pair, or several. NULL if all are taken. The wire is locked.
struct wire_receive_queue *take_receive_queue(uint32_t depth, uint32_t domain);
// The next receive that was posted; there has to be one. The queue is locked.
struct wire_receive *next_receive(const struct wire_receive_queue *queue);
// Takes one in; ENOMEM if it is full. The queue is locked.
int add_receive(struct wire_receive_queue *queue, const struct ibv_recv_wr *posted);
void close_receive_queue(struct wire_receive_queue *queue);

// regions.c

// Takes hold of a region for a copy: NULL if the key, the range, the rights, the process (0: any) or the domain is wrong.
struct wire_region *hold_region(uint32_t key, uint64_t start, uint64_t length, unsigned access, pid_t pid, uint32_t domain);
void release_region(struct wire_region *region);

// rings.c: completion queues

// One of this depth for this process; NULL if all are taken.
struct wire_queue *take_ring(uint32_t depth);
void close_ring(struct wire_queue *ring);
// A device has no way to wait: what does not fit is lost, and the queue with it.
void complete(struct wire_queue *ring, const struct wire_completion *completion);
// The next completion, leaving out those of queue pairs that are no more, as rdma-core does: the provider looks the
// queue pair up by its number. False if there is none.
bool take_completion(struct wire_queue *ring, struct wire_completion *completion);

// copying.c: what goes from one process's memory to another's

// A request's own memory, held while it is copied.
struct held {
  struct wire_region *regions[MOST_RECEIVE_PIECES];
  struct iovec parts[MOST_RECEIVE_PIECES];
  int count;
};

// Takes hold of what an operation of this process sends, writes or reads into; pieces of no length are left out. False,
// and a rule is broken, if a key does not allow it, in which case nothing is held.
bool hold_own(const struct wire_queue_pair *pair, unsigned operation, const struct ibv_sge *pieces, uint32_t count,
              struct held *held);
// What needs no region, as data that the request has in itself.
void hold_inline(void *data, size_t bytes, struct held *held);
void let_go(struct held *held);
// Copies `bytes` between this process's memory, from `own` on, and another's; 0, or an errno.
int copy(pid_t pid, const struct iovec *own, int own_count, uint64_t from, struct iovec *far, int far_count, uint64_t bytes,
         bool out);

enum copied { COPIED, PEER_GONE, UNMAPPED, BAD_KEY, TOO_SHORT };

// What the errno of a copy means: a process that is gone has taken its queue pairs with it; memory that it has unmapped
// under a region is its fault.
enum copied judge_copy(int error, pid_t pid);
// Fills a receive of `pid`, of which the first `skipped` bytes stay as they are.
enum copied fill_receive(const struct held *own, uint64_t bytes, pid_t pid, uint32_t domain, const struct wire_receive *receive,
                         uint64_t skipped);

// devices.c: finding, opening and closing NICs

// Counts a request of the device: the fault that was asked for comes with the one that makes the number full.
void count_request(const struct context *context);
