// What the device does with an operation after its post: in order, and an operation that fails takes its queue pair into
// the error state, in which everything behind it is flushed.

#include <unistd.h>

#include "nic.h"

// A status below 0 is an attempt that brought neither an end nor an error.
enum { AGAIN = -1, UNHEARD = -2, NOT_READY_NS = 640000, LOOK_AGAIN_NS = 200000, FOR_EVER = 7 };

static bool hold_data(const struct queue_pair *pair, struct request *request, struct held *held) {
  if (request->inlined) {
    hold_inline(request->data, request->bytes, held);
    return true;
  }
  return hold_own(pair->wire, request->operation, request->pieces, request->count, held);
}

// The peer's queue pair, locked. NULL if it is dead, in its error state, not ready to receive, or another's: the packets
// are dropped, and sent again until they are given up.
static struct wire_queue_pair *lock_peer(const struct queue_pair *pair) {
  struct wire_queue_pair *peer = &wire->queue_pairs[pair->wire->remote % QUEUE_PAIRS];
  wire_lock(&peer->lock);
  bool right = peer->number == pair->wire->remote && peer->pid != 0 && !process_gone(peer->pid) &&
               (peer->state == IBV_QPS_RTR || peer->state == IBV_QPS_RTS) && peer->remote == pair->qp.qp_num &&
               wire->devices[peer->device].port == PORT_UP && wire->devices[pair->wire->device].port == PORT_UP;
  if (right) return peer;
  wire_unlock(&peer->lock);
  return NULL;
}

static struct wire_completion arrival(const struct queue_pair *pair, const struct request *request,
                                      const struct wire_queue_pair *peer, enum operation operation) {
  return (struct wire_completion){.queue_pair = peer->number,
                                  .source = pair->qp.qp_num,
                                  .bytes = request->bytes,
                                  .immediate = request->immediate,
                                  .flags = (uint8_t)request->flags,
                                  .operation = (uint8_t)operation};
}

static bool has_receive(const struct wire_receive_queue *receives) { return receives->taken != receives->posted; }

// Fills the peer's next receive, and says of what is wrong with it to both sides.
static int fill(const struct held *own, const struct request *request, const struct wire_queue_pair *peer,
                const struct wire_receive_queue *receives, struct wire_completion *completion) {
  const struct wire_receive *receive = next_receive(receives);
  completion->id = receive->id;
  switch (fill_receive(own, request->bytes, peer->pid, receives->domain, receive, 0)) {
    case COPIED:
      return IBV_WC_SUCCESS;
    case PEER_GONE:
      return UNHEARD;
    case TOO_SHORT:
      completion->status = IBV_WC_LOC_LEN_ERR;
      return IBV_WC_REM_INV_REQ_ERR;
    default:
      completion->status = IBV_WC_LOC_PROT_ERR;
      return IBV_WC_REM_OP_ERR;
  }
}

static int send(const struct queue_pair *pair, const struct request *request, const struct held *own,
                struct wire_queue_pair *peer) {
  struct wire_receive_queue *receives = &wire->receive_queues[peer->receives];
  wire_lock(&receives->lock);
  if (!has_receive(receives) || by_chance(settings.not_ready)) {
    wire_unlock(&receives->lock);
    return AGAIN;
  }
  struct wire_completion completion = arrival(pair, request, peer, RECEIVE);
  int status = fill(own, request, peer, receives, &completion);
  if (status != UNHEARD) {
    receives->taken++;
    complete(&wire->queues[peer->queue], &completion);
  }
  wire_unlock(&receives->lock);
  if (status > 0) fail_locked(peer);
  if (status == IBV_WC_SUCCESS) wire->counters.sends++;
  return status;
}

static int access_memory(const struct queue_pair *pair, const struct request *request, const struct held *own,
                         struct wire_queue_pair *peer) {
  bool out = request->operation == WRITE;
  unsigned right = out ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ;
  struct wire_region *region = NULL;
  if (peer->access & right) {
    region = hold_region(request->rkey, request->remote, request->bytes, right, peer->pid, peer->domain);
  }
  if (region == NULL) {
    trace("queue pair %u: no right to %u bytes at 0x%lx under key %x", pair->qp.qp_num, request->bytes, request->remote,
          request->rkey);
    // The responder's queue pair is in error as well.
    fail_locked(peer);
    return IBV_WC_REM_ACCESS_ERR;
  }
  struct iovec far = {(void *)(region->address + (request->remote - region->start)), request->bytes};
  pid_t pid = region->pid;
  int error = copy(pid, own->parts, own->count, 0, &far, 1, request->bytes, out);
  release_region(region);
  enum copied copied = judge_copy(error, pid);
  if (copied == PEER_GONE) return UNHEARD;
  if (copied != COPIED) fail_locked(peer);
  return copied == COPIED ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR;
}

// The peer's completion of a write with immediate data, once all bytes are in their place.
static int announce(const struct queue_pair *pair, const struct request *request, const struct wire_queue_pair *peer,
                    struct wire_receive_queue *receives) {
  int status = AGAIN;
  wire_lock(&receives->lock);
  if (has_receive(receives)) {
    struct wire_completion completion = arrival(pair, request, peer, RECEIVE_WRITE);
    completion.id = next_receive(receives)->id;
    receives->taken++;
    complete(&wire->queues[peer->queue], &completion);
    wire->counters.immediates++;
    status = IBV_WC_SUCCESS;
  }
  wire_unlock(&receives->lock);
  return status;
}

static int rdma(const struct queue_pair *pair, const struct request *request, const struct held *own,
                struct wire_queue_pair *peer) {
  struct wire_receive_queue *receives = &wire->receive_queues[peer->receives];
  bool immediate = request->flags & WITH_IMMEDIATE;
  if (immediate && (!has_receive(receives) || by_chance(settings.not_ready))) return AGAIN;
  int status = request->bytes > 0 ? access_memory(pair, request, own, peer) : IBV_WC_SUCCESS;
  if (status == IBV_WC_SUCCESS && immediate) status = announce(pair, request, peer, receives);
  if (status == IBV_WC_SUCCESS) (*(request->operation == WRITE ? &wire->counters.writes : &wire->counters.reads))++;
  return status;
}

static int carry_out(struct queue_pair *pair, struct request *request) {
  struct held own;
  if (!hold_data(pair, request, &own)) return IBV_WC_LOC_PROT_ERR;
  struct wire_queue_pair *peer = lock_peer(pair);
  int status = UNHEARD;
  if (peer != NULL) {
    status = request->operation == SEND ? send(pair, request, &own, peer) : rdma(pair, request, &own, peer);
    wire_unlock(&peer->lock);
  }
  let_go(&own);
  return status;
}

// When the next attempt is made; or what the operation ends with, if it was the last.
static int later(const struct queue_pair *pair, struct request *request, int status, uint64_t now) {
  if (status == AGAIN) {
    wire->counters.not_ready++;
    request->tries++;
    request->give_up = 0;
    if (pair->not_ready_retries < FOR_EVER && request->tries > pair->not_ready_retries) return IBV_WC_RNR_RETRY_EXC_ERR;
    request->due = now + NOT_READY_NS;
    return AGAIN;
  }
  tables_of(wire)->retried++;
  if (request->give_up == 0) request->give_up = now + settings.timeout_ns;
  if (now >= request->give_up && wire->devices[pair->wire->device].port != PORT_MUTE) return IBV_WC_RETRY_EXC_ERR;
  request->due = now + LOOK_AGAIN_NS;
  return UNHEARD;
}

static void end(struct queue_pair *pair, const struct request *request, int status) {
  if (status != IBV_WC_SUCCESS) {
    wire->counters.errors++;
    trace("queue pair %u: operation %u to %u ended with status %d", pair->qp.qp_num, request->operation,
          pair->wire->remote, status);
    fail_pair(pair->wire);
  }
  struct wire_completion completion = {.id = request->id,
                                       .queue_pair = pair->qp.qp_num,
                                       .bytes = request->bytes,
                                       .status = (uint8_t)status,
                                       .operation = (uint8_t)request->operation};
  // First out of the queue: what is polled must not be in it.
  bool told = request->signaled || status != IBV_WC_SUCCESS;
  pair->carried++;
  if (told) complete(pair->send_queue->wire, &completion);
  else pair->wire->outstanding--;
}

static bool has_failed(const struct queue_pair *pair) {
  return port_failed(wire->devices[pair->wire->device].port) && pair->wire->state == IBV_QPS_RTS;
}

void progress(struct queue_pair *pair) {
  if (has_failed(pair)) fail_pair(pair->wire);
  uint64_t now = nanoseconds();
  while (pair->carried != pair->posted) {
    if (pair->wire->state == IBV_QPS_ERR) {
      flush_sends(pair);
      return;
    }
    struct request *request = &pair->requests[pair->carried % pair->depth];
    if (request->due > now) return;
    int status = carry_out(pair, request);
    if (status < 0) status = later(pair, request, status, now);
    if (status < 0) return;
    end(pair, request, status);
  }
}

static void progress_if_free(struct queue_pair *pair, void *waited) {
  if (pair->posted == pair->carried && !has_failed(pair)) return;
  *(bool *)waited = true;
  if (pthread_mutex_trylock(&pair->lock) != 0) return;
  progress(pair);
  pthread_mutex_unlock(&pair->lock);
}

bool progress_all(void) {
  bool waited = false;
  for_each_queue_pair(progress_if_free, &waited);
  return waited;
}
