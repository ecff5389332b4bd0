#include <unistd.h>

#include "objects.h"

static struct wire_completion *completion_at(const struct wire_queue *ring, uint64_t position) {
  return &wire->completions[ring - wire->queues][position % ring->depth];
}

struct wire_queue *take_ring(uint32_t depth) {
  struct wire_queue *ring = NULL;
  wire_lock(&wire->lock);
  for (int i = 0; i < COMPLETION_QUEUES && ring == NULL; i++) {
    if (!wire->queues[i].used || process_gone(wire->queues[i].pid)) ring = &wire->queues[i];
  }
  if (ring != NULL) {
    wire_lock(&ring->lock);
    ring->pid = getpid();
    ring->depth = depth;
    ring->put = ring->taken = 0;
    ring->overrun = ring->armed = ring->notify = false;
    ring->used = true;
    wire_unlock(&ring->lock);
  }
  wire_unlock(&wire->lock);
  return ring;
}

void close_ring(struct wire_queue *ring) {
  wire_lock(&ring->lock);
  ring->used = false;
  wire_unlock(&ring->lock);
}

void complete(struct wire_queue *ring, const struct wire_completion *completion) {
  wire_lock(&ring->lock);
  bool full = ring->put - ring->taken >= ring->depth, first = full && !ring->overrun;
  if (full) {
    ring->overrun = true;
  } else if (ring->used) {
    *completion_at(ring, ring->put) = *completion;
    ring->put++;
    if (ring->armed) {
      ring->armed = false;
      ring->notify = true;
    }
  }
  wire_unlock(&ring->lock);
  if (first) {
    broke("completion-queue-overrun", "a completion queue of process %d has room for %u completions, and got one more",
          ring->pid, ring->depth);
  }
}

bool take_completion(struct wire_queue *ring, struct wire_completion *completion) {
  for (;;) {
    wire_lock(&ring->lock);
    bool any = ring->taken != ring->put;
    if (any) *completion = *completion_at(ring, ring->taken++);
    wire_unlock(&ring->lock);
    if (!any) return false;
    if (still_open(completion->queue_pair, completion->operation < RECEIVE)) return true;
  }
}
