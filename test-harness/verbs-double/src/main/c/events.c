// Reading events: what one means for its identifier and its queue pair is done here, as librdmacm does it.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"

// A request is given an identifier of its own when it is read.
static bool process_request(struct cm_event *event) {
  struct cm_id *listener = event->owner;
  struct cm_id *made = new_id(listener->id.channel, listener->id.context, listener->id.ps);
  if (made == NULL) return false;
  const struct cm_message *message = &event->message;
  use_device(made, own_index(&wire->devices[message->device]));
  memcpy(&made->id.route.addr.src_storage, message->destination, CM_ADDRESS);
  memcpy(&made->id.route.addr.dst_storage, message->source, CM_ADDRESS);
  made->remote_queue_pair = message->queue_pair;
  made->rnr_retry = message->rnr_retry;
  struct cm_message own = message_from(made, RDMA_CM_EVENT_CONNECT_REQUEST);
  wire_lock(&tables()->cm_lock);
  made->wire->state = CM_WAS_ASKED;
  made->wire->peer = message->from;
  made->wire->peer_generation = message->from_generation;
  // The asker's peer is the new identifier from here on.
  struct wire_cm_id *asker = &tables()->cm_ids[message->from];
  if (asker->generation == message->from_generation && asker->pid != 0) {
    asker->peer = own.from;
    asker->peer_generation = own.from_generation;
  }
  wire_unlock(&tables()->cm_lock);
  event->event.listen_id = &listener->id;
  event->owner = made;
  return true;
}

static void process_response(struct cm_event *event) {
  struct cm_id *id = event->owner;
  id->remote_queue_pair = event->message.queue_pair;
  int error = id->id.qp != NULL ? make_ready(id) : EINVAL;
  wire_lock(&tables()->cm_lock);
  if (error == 0) {
    id->wire->state = CM_CONNECTED;
    id->wire->peer = event->message.from;
    id->wire->peer_generation = event->message.from_generation;
    struct cm_message established = message_from(id, RDMA_CM_EVENT_ESTABLISHED);
    send_to(id->wire->peer, id->wire->peer_generation, &established);
  }
  wire_unlock(&tables()->cm_lock);
  event->event.event = error == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR;
  event->event.status = -error;
}

static void process_established(const struct cm_event *event) {
  wire_lock(&tables()->cm_lock);
  if (event->owner->wire->state == CM_ANSWERED) event->owner->wire->state = CM_CONNECTED;
  wire_unlock(&tables()->cm_lock);
}

// False: nothing that a program is told.
static bool process(struct cm_event *event) {
  const struct cm_message *message = &event->message;
  event->event.event = message->event;
  event->event.status = message->status;
  switch (message->event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      if (!process_request(event)) return false;
      break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      process_response(event);
      break;
    case RDMA_CM_EVENT_ESTABLISHED:
      process_established(event);
      break;
    case RDMA_CM_EVENT_REJECTED:
      into_error(&event->owner->id);
      break;
    default:
      break;
  }
  event->event.id = &event->owner->id;
  if (message->length > 0) {
    event->event.param.conn.private_data = message->data;
    event->event.param.conn.private_data_len = (uint8_t)message->length;
  }
  event->event.param.conn.qp_num = message->queue_pair;
  event->event.param.conn.rnr_retry_count = message->rnr_retry;
  event->event.param.conn.retry_count = message->retry;
  event->event.param.conn.responder_resources = event->event.param.conn.initiator_depth = MOST_READS;
  return true;
}

static struct cm_event *take_event(struct event_channel *channel) {
  pthread_mutex_lock(&cm_local);
  struct cm_event *event = channel->first;
  if (event != NULL) {
    channel->first = event->next;
    if (channel->first == NULL) channel->last = &channel->first;
  }
  pthread_mutex_unlock(&cm_local);
  return event;
}

int rdma_get_cm_event(struct rdma_event_channel *base, struct rdma_cm_event **result) {
  for (;;) {
    pump();
    uint64_t token;
    ssize_t got = read(base->fd, &token, sizeof token);
    if (got != sizeof token) return got < 0 ? -1 : fail_with(EIO);
    struct cm_event *event = take_event((struct event_channel *)base);
    if (event == NULL) continue;
    if (!process(event)) {
      free(event);
      continue;
    }
    event->owner->unacknowledged++;
    trace("event %s of an identifier, status %d", rdma_event_str(event->event.event), event->event.status);
    *result = &event->event;
    return 0;
  }
}

int rdma_ack_cm_event(struct rdma_cm_event *event) {
  struct cm_event *own = (struct cm_event *)event;
  own->owner->unacknowledged--;
  free(own);
  return 0;
}

const char *rdma_event_str(enum rdma_cm_event_type event) {
  static const char *const names[] = {
      "ADDR_RESOLVED", "ADDR_ERROR",  "ROUTE_RESOLVED", "ROUTE_ERROR",    "CONNECT_REQUEST", "CONNECT_RESPONSE",
      "CONNECT_ERROR", "UNREACHABLE", "REJECTED",       "ESTABLISHED",    "DISCONNECTED",    "DEVICE_REMOVAL",
      "MULTICAST_JOIN", "MULTICAST_ERROR", "ADDR_CHANGE", "TIMEWAIT_EXIT"};
  return (unsigned)event < sizeof names / sizeof *names ? names[event] : "UNKNOWN";
}
