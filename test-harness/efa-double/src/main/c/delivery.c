// What the device does with an operation after its post: SRD, which keeps no order between operations nor between the
// parts of one, repeats what is lost, and ends what it cannot bring to its peer.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nic.h"

enum { AGAIN = -1, UNHEARD = -2, LOOK_AGAIN_NS = 5000000, GLOBAL_ROUTE_HEADER = 40 };
static const uint64_t done = UINT64_MAX;

// --- When -------------------------------------------------------------------------------------------------------------

void schedule(struct queue_pair *pair, struct request *request) {
  struct context *context = context_of(pair->qp.context);
  bool split = settings.delay_ns != 0 && request->operation != SEND && request->bytes > LONGEST_PACKET;
  request->segments = request->left = split ? SEGMENTS : 1;
  uint64_t now = nanoseconds();
  for (uint32_t i = 0; i < SEGMENTS; i++) request->due[i] = i < request->segments ? now + travel_time() : done;
  count_request(context);
}

// --- Copying ----------------------------------------------------------------------------------------------------------

static bool hold_data(const struct queue_pair *pair, struct request *request, struct held *held) {
  if (request->inlined) {
    hold_inline(request->data, request->inlined_bytes, held);
    return true;
  }
  return hold_own(pair->wire, request->operation, request->pieces, request->count, held);
}

// --- The peer ---------------------------------------------------------------------------------------------------------

static const struct wire_device *find_device(const uint8_t *gid) {
  for (int i = 0; i < DEVICES; i++) {
    if (wire->devices[i].pid != 0 && memcmp(wire->devices[i].gid, gid, 16) == 0) return &wire->devices[i];
  }
  return NULL;
}

static bool loses(const struct wire_device *device) { return device == NULL || device->port != PORT_UP; }

// The peer's queue pair, locked; otherwise *status says why it is not there.
static struct wire_queue_pair *lock_peer(const struct queue_pair *pair, const struct request *request, int *status) {
  struct wire_queue_pair *peer = &wire->queue_pairs[request->peer % QUEUE_PAIRS];
  wire_lock(&peer->lock);
  bool right = peer->number == request->peer && peer->pid != 0 && !process_gone(peer->pid) &&
               memcmp(wire->devices[peer->device].gid, request->gid, 16) == 0;
  const struct wire_device *device = right ? &wire->devices[peer->device] : find_device(request->gid);
  if (loses(device) || loses(&wire->devices[pair->wire->device])) {
    *status = UNHEARD;
  } else if (!right) {
    *status = STATUS_REMOTE_QUEUE_PAIR;
  } else if (peer->state == IBV_QPS_ERR) {
    *status = STATUS_REMOTE_ABORT;
  } else if (peer->state < IBV_QPS_RTR || peer->datagram != pair->wire->datagram || peer->qkey != request->qkey) {
    *status = STATUS_REMOTE_QUEUE_PAIR;
  } else {
    return peer;
  }
  wire_unlock(&peer->lock);
  return NULL;
}

static struct wire_receive_queue *receives_of(const struct wire_queue_pair *peer) {
  return &wire->receive_queues[peer->receives];
}

static bool has_receive(const struct wire_queue_pair *peer) {
  return receives_of(peer)->taken != receives_of(peer)->posted;
}

static struct wire_completion arrival(const struct queue_pair *pair, const struct request *request,
                                      const struct wire_queue_pair *peer, enum operation operation) {
  struct wire_completion completion = {.queue_pair = peer->number,
                                       .source = pair->qp.qp_num,
                                       .bytes = request->bytes,
                                       .immediate = request->immediate,
                                       .flags = (uint8_t)request->flags,
                                       .operation = (uint8_t)operation};
  memcpy(completion.gid, wire->devices[pair->wire->device].gid, sizeof completion.gid);
  return completion;
}

// Fills the peer's next receive. What is wrong with it, both sides are told.
static int fill(const struct held *own, const struct request *request, struct wire_queue_pair *peer,
                struct wire_completion *completion) {
  const struct wire_receive *receive = next_receive(receives_of(peer));
  completion->id = receive->id;
  switch (fill_receive(own, request->bytes, peer->pid, peer->domain, receive, peer->datagram ? GLOBAL_ROUTE_HEADER : 0)) {
    case COPIED:
      return STATUS_OK;
    case PEER_GONE:
      return STATUS_REMOTE_QUEUE_PAIR;
    case TOO_SHORT:
      completion->status = STATUS_BAD_LENGTH;
      return STATUS_REMOTE_LENGTH;
    default:
      completion->status = STATUS_BAD_LKEY;
      return STATUS_REMOTE_STATUS;
  }
}

// --- Operations -------------------------------------------------------------------------------------------------------

static int send(struct queue_pair *pair, struct request *request, struct held *own) {
  if (request->bytes > LONGEST_PACKET) return STATUS_BAD_LENGTH;
  int status = STATUS_OK;
  struct wire_queue_pair *peer = lock_peer(pair, request, &status);
  bool datagram = pair->wire->datagram;
  if (peer == NULL) return datagram ? STATUS_OK : status;
  if (!has_receive(peer) || (!datagram && by_chance(settings.not_ready))) {
    wire_unlock(&peer->lock);
    return datagram ? STATUS_OK : AGAIN;
  }
  struct wire_completion completion = arrival(pair, request, peer, RECEIVE);
  status = fill(own, request, peer, &completion);
  if (datagram) completion.bytes += GLOBAL_ROUTE_HEADER;
  if (status != STATUS_REMOTE_QUEUE_PAIR) {
    receives_of(peer)->taken++;
    complete(&wire->queues[peer->queue], &completion);
  }
  wire_unlock(&peer->lock);
  if (status == STATUS_OK) wire->counters.sends++;
  return datagram ? STATUS_OK : status;
}

// One segment of a read or a write.
static int copy_segment(struct queue_pair *pair, struct request *request, struct held *own, uint32_t segment, uint32_t domain) {
  bool out = request->operation == WRITE;
  struct wire_region *region = hold_region(request->rkey, request->remote, request->bytes,
                                           out ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ, 0, domain);
  if (region == NULL) {
    trace("queue pair %u: no right to %u bytes at 0x%lx under key %x", pair->qp.qp_num, request->bytes, request->remote,
          request->rkey);
    return STATUS_REMOTE_ADDRESS;
  }
  uint64_t from = (uint64_t)request->bytes * segment / request->segments;
  uint64_t to = (uint64_t)request->bytes * (segment + 1) / request->segments;
  struct iovec far = {(void *)(region->address + (request->remote - region->start) + from), to - from};
  pid_t pid = region->pid;
  int error = copy(pid, own->parts, own->count, from, &far, 1, to - from, out);
  release_region(region);
  enum copied copied = judge_copy(error, pid);
  return copied == COPIED ? STATUS_OK : copied == PEER_GONE ? STATUS_REMOTE_QUEUE_PAIR : STATUS_REMOTE_ADDRESS;
}

// The peer's completion, once all bytes are in their place.
static int announce(struct queue_pair *pair, struct request *request) {
  int status = STATUS_OK;
  struct wire_queue_pair *peer = lock_peer(pair, request, &status);
  if (peer == NULL) return status;
  struct wire_completion completion = arrival(pair, request, peer, RECEIVE_WRITE);
  if (peer->unsolicited) {
    completion.flags |= UNSOLICITED;
  } else if (has_receive(peer) && !by_chance(settings.not_ready)) {
    completion.id = next_receive(receives_of(peer))->id;
    receives_of(peer)->taken++;
  } else {
    status = AGAIN;
  }
  if (status == STATUS_OK) complete(&wire->queues[peer->queue], &completion);
  wire_unlock(&peer->lock);
  if (status == STATUS_OK) wire->counters.immediates++;
  return status;
}

static int rdma(struct queue_pair *pair, struct request *request, struct held *own, uint32_t segment) {
  if (request->bytes > LONGEST_RDMA) return STATUS_BAD_LENGTH;
  int status = STATUS_OK;
  struct wire_queue_pair *peer = lock_peer(pair, request, &status);
  if (peer == NULL) return status;
  uint32_t domain = peer->domain;
  bool known = knows(&wire->devices[peer->device], wire->devices[pair->wire->device].gid);
  wire_unlock(&peer->lock);
  if (!known) return STATUS_UNKNOWN_PEER;
  if (request->bytes > 0) status = copy_segment(pair, request, own, segment, domain);
  if (status == STATUS_OK && request->left == 1) {
    if (request->flags & WITH_IMMEDIATE) status = announce(pair, request);
    if (status == STATUS_OK) (*(request->operation == READ ? &wire->counters.reads : &wire->counters.writes))++;
  }
  return status;
}

static int carry_out(struct queue_pair *pair, struct request *request, uint32_t segment) {
  struct held own;
  if (!hold_data(pair, request, &own)) return STATUS_BAD_LKEY;
  int status = request->operation == SEND ? send(pair, request, &own) : rdma(pair, request, &own, segment);
  let_go(&own);
  // Nobody answers a datagram.
  bool answered = status == STATUS_OK && !pair->wire->datagram;
  if (answered) handles_of(context_of(pair->qp.context))[request->handle].heard = true;
  return status;
}

// What becomes of an attempt that brought neither an end nor an error: the time of the next, or its end.
static int later(struct queue_pair *pair, struct request *request, uint32_t segment, int status, uint64_t now) {
  if (status == AGAIN) {
    wire->counters.not_ready++;
    request->tries++;
    request->give_up = 0;
    if (pair->retries < 7 && request->tries > pair->retries) return STATUS_REMOTE_NOT_READY;
    request->due[segment] = now + (20000u << (request->tries < 6 ? request->tries : 6));
    return AGAIN;
  }
  if (request->give_up == 0) request->give_up = now + settings.timeout_ns;
  uint32_t port = wire->devices[pair->wire->device].port;
  if (now >= request->give_up && port != PORT_MUTE) {
    return handles_of(context_of(pair->qp.context))[request->handle].heard ? STATUS_UNRESPONSIVE : STATUS_UNREACHABLE;
  }
  request->due[segment] = now + LOOK_AGAIN_NS;
  return UNHEARD;
}

static void end(struct queue_pair *pair, uint32_t index, int status) {
  struct request *request = &pair->requests[index];
  if (status != STATUS_OK) {
    wire->counters.errors++;
    trace("queue pair %u: operation %u to %u ended with status %d", pair->qp.qp_num, request->operation, request->peer,
          status);
  }
  struct wire_completion completion = {.id = request->id,
                                       .queue_pair = pair->qp.qp_num,
                                       .bytes = request->bytes,
                                       .status = (uint8_t)status,
                                       .operation = (uint8_t)request->operation};
  // First out of the queue: what is polled must not be in it.
  uint32_t last = pair->waiting - 1;
  if (index != last) pair->requests[index] = pair->requests[last];
  pair->waiting = last;
  complete(pair->send_queue->wire, &completion);
}

// The earliest segment that is due, of operations posted at the same time the first. False if none is.
static bool next_due(const struct queue_pair *pair, uint64_t now, uint32_t *index, uint32_t *segment) {
  uint64_t earliest = now, sequence = UINT64_MAX, oldest = UINT64_MAX;
  bool found = false;
  for (uint32_t i = 0; i < pair->waiting; i++) {
    const struct request *request = &pair->requests[i];
    if (request->sequence < oldest) oldest = request->sequence;
    for (uint32_t s = 0; s < request->segments; s++) {
      uint64_t due = request->due[s];
      if (due > earliest || (found && due == earliest && request->sequence >= sequence)) continue;
      found = true;
      earliest = due;
      sequence = request->sequence;
      *index = i;
      *segment = s;
    }
  }
  if (found && sequence != oldest) wire->counters.reordered++;
  return found;
}

void progress(struct queue_pair *pair) {
  if (port_failed(wire->devices[pair->wire->device].port) && pair->wire->state == IBV_QPS_RTS) flush(pair);
  uint64_t now = nanoseconds();
  uint32_t index = 0, segment = 0;
  while (pair->waiting > 0 && next_due(pair, now, &index, &segment)) {
    struct request *request = &pair->requests[index];
    int status = carry_out(pair, request, segment);
    if (status < 0) status = later(pair, request, segment, status, now);
    if (status == STATUS_OK) {
      request->due[segment] = done;
      if (--request->left > 0) continue;
    }
    if (status >= 0) end(pair, index, status);
  }
}

static void progress_if_free(struct queue_pair *pair, void *waited) {
  bool failed = port_failed(wire->devices[pair->wire->device].port) && pair->wire->state == IBV_QPS_RTS;
  if (pair->waiting == 0 && !failed) return;
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
