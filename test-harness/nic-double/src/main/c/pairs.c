#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "objects.h"

static struct queue_pair *pairs[QUEUE_PAIRS];
static uint32_t end_of_pairs;  // none lies at this slot, nor behind it
static pthread_rwlock_t pairs_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

// A child of fork has none of its parent's, which the parent carries on with.
static void forget_pairs(void) {
  memset(pairs, 0, sizeof pairs);
  pairs_lock = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_pairs); }

struct wire_queue_pair *take_slot(uint32_t slots, int bits) {
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t slot = 1 + (wire->next_queue_pair + i) % (slots - 1);
    struct wire_queue_pair *pair = &wire->queue_pairs[slot];
    if (pair->pid != 0 && !process_gone(pair->pid)) continue;
    wire->next_queue_pair = slot;
    pair->generation = (pair->generation + 1) % ((1u << bits) / QUEUE_PAIRS);
    pair->number = pair->generation * QUEUE_PAIRS + slot;
    pair->outstanding = 0;
    return pair;
  }
  return NULL;
}

static uint32_t slot_of(const struct wire_queue_pair *entry) { return (uint32_t)(entry - wire->queue_pairs); }

void enter_pair(struct wire_queue_pair *entry, struct queue_pair *pair) {
  pthread_rwlock_wrlock(&pairs_lock);
  uint32_t slot = slot_of(entry);
  pairs[slot] = pair;
  if (slot >= end_of_pairs) end_of_pairs = slot + 1;
  pthread_rwlock_unlock(&pairs_lock);
}

void leave_pair(struct wire_queue_pair *entry) { enter_pair(entry, NULL); }

void for_each_queue_pair(void (*action)(struct queue_pair *pair, void *argument), void *argument) {
  pthread_rwlock_rdlock(&pairs_lock);
  for (uint32_t i = 0; i < end_of_pairs; i++) {
    if (pairs[i] != NULL) action(pairs[i], argument);
  }
  pthread_rwlock_unlock(&pairs_lock);
}

bool still_open(uint32_t number, bool polled) {
  pthread_rwlock_rdlock(&pairs_lock);
  struct wire_queue_pair *entry = &wire->queue_pairs[number % QUEUE_PAIRS];
  bool open = pairs[number % QUEUE_PAIRS] != NULL && entry->number == number;
  if (open && polled) entry->outstanding--;
  pthread_rwlock_unlock(&pairs_lock);
  return open;
}

// --- Receives ---------------------------------------------------------------------------------------------------------

struct wire_receive_queue *take_receive_queue(uint32_t depth, uint32_t domain) {
  for (int i = 0; i < RECEIVE_QUEUES; i++) {
    struct wire_receive_queue *queue = &wire->receive_queues[i];
    if (queue->pid != 0 && !process_gone(queue->pid)) continue;
    queue->pid = getpid();
    queue->depth = depth ? depth : 1;
    queue->domain = domain;
    queue->posted = queue->taken = 0;
    return queue;
  }
  return NULL;
}

static struct wire_receive *receive_at(const struct wire_receive_queue *queue, uint64_t position) {
  return &wire->receives[queue - wire->receive_queues][position % queue->depth];
}

struct wire_receive *next_receive(const struct wire_receive_queue *queue) { return receive_at(queue, queue->taken); }

int add_receive(struct wire_receive_queue *queue, const struct ibv_recv_wr *posted) {
  if (queue->posted - queue->taken >= queue->depth) return ENOMEM;
  struct wire_receive *receive = receive_at(queue, queue->posted);
  receive->id = posted->wr_id;
  receive->count = (uint32_t)posted->num_sge;
  memcpy(receive->pieces, posted->sg_list, receive->count * sizeof *receive->pieces);
  queue->posted++;
  return 0;
}

void close_receive_queue(struct wire_receive_queue *queue) {
  wire_lock(&queue->lock);
  queue->posted = queue->taken = 0;
  queue->pid = 0;
  wire_unlock(&queue->lock);
}
