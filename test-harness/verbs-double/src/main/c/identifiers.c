#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cm.h"

// How long a connection's packets may still be about is a guess, as a subnet tells it.
enum { LOOK_AT_PEERS_NS = 100000000, TIMEWAIT_NS = 50000000 };

pthread_mutex_t cm_local = PTHREAD_MUTEX_INITIALIZER;

static struct cm_id *ids;
static uint64_t seen;

static void forget_ids(void) {
  ids = NULL;
  cm_local = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_ids); }

// --- Messages ---------------------------------------------------------------------------------------------------------

static uint32_t slot_of(const struct wire_cm_id *entry) { return (uint32_t)(entry - tables()->cm_ids); }

bool send_to(uint32_t slot, uint32_t generation, const struct cm_message *message) {
  struct wire_cm_id *entry = &tables()->cm_ids[slot];
  if (entry->pid == 0 || entry->generation != generation || process_gone(entry->pid)) return false;
  if (entry->put - entry->taken >= CM_INBOX) return false;
  entry->inbox[entry->put++ % CM_INBOX] = *message;
  tables()->cm_sent++;
  return true;
}

struct cm_message message_from(const struct cm_id *id, enum rdma_cm_event_type event) {
  return (struct cm_message){.event = event, .from = slot_of(id->wire), .from_generation = id->wire->generation};
}

static void push_message(struct cm_id *id, const struct cm_message *message) {
  struct event_channel *channel = (struct event_channel *)id->id.channel;
  struct cm_event *event = calloc(1, sizeof *event);
  if (event == NULL) return;
  event->owner = id;
  event->message = *message;
  *channel->last = event;
  channel->last = &event->next;
  uint64_t token = 1;
  if (write(channel->channel.fd, &token, sizeof token) < 0) trace("no token");
}

void push(struct cm_id *id, enum rdma_cm_event_type type, int status) {
  struct cm_message message = message_from(id, type);
  message.status = status;
  push_message(id, &message);
}

void tell_own(struct cm_id *id, enum rdma_cm_event_type type, int status) {
  pthread_mutex_lock(&cm_local);
  push(id, type, status);
  pthread_mutex_unlock(&cm_local);
}

static void reject(const struct cm_id *id, const struct cm_message *asked) {
  struct cm_message message = message_from(id, RDMA_CM_EVENT_REJECTED);
  message.status = CONSUMER_REJECT;
  send_to(asked->from, asked->from_generation, &message);
}

void end_connection(struct cm_id *id) {
  if (id->wire->state == CM_CONNECTED) id->timewait = nanoseconds() + TIMEWAIT_NS;
  id->wire->state = CM_DISCONNECTED;
}

// Whether an identifier and its peer have links that carry something; a peer that is gone does not matter.
static bool carries(const struct wire_cm_id *entry) {
  const struct wire_cm_id *peer = &tables()->cm_ids[entry->peer];
  if (entry->device == 0 || wire->devices[entry->device - 1].port != PORT_UP) return false;
  return peer->pid == 0 || peer->device == 0 || wire->devices[peer->device - 1].port == PORT_UP;
}

// What no link carries is lost. The peer finds out once they carry something again.
void tell_peer(struct cm_id *id) {
  struct wire_cm_id *entry = id->wire;
  if (!carries(entry)) return;
  if (entry->state == CM_CONNECTED || (entry->state == CM_ANSWERED && !id->answering)) {
    struct cm_message message = message_from(id, RDMA_CM_EVENT_DISCONNECTED);
    send_to(entry->peer, entry->peer_generation, &message);
    tables()->disconnects++;
  } else if (entry->state == CM_WAS_ASKED || id->answering) {
    struct cm_message message = message_from(id, RDMA_CM_EVENT_REJECTED);
    message.status = CONSUMER_REJECT;
    send_to(entry->peer, entry->peer_generation, &message);
  }
}

// --- Asking for a connection ------------------------------------------------------------------------------------------

static struct wire_cm_id *find_listener(const struct wire_device *device, uint32_t port, uint32_t space) {
  uint32_t number = (uint32_t)(device - wire->devices) + 1;
  for (int i = 0; i < CM_IDS; i++) {
    struct wire_cm_id *entry = &tables()->cm_ids[i];
    if (entry->pid != 0 && entry->state == CM_LISTENING && entry->port == port && entry->space == space &&
        entry->node == device->node && (entry->device == 0 || entry->device == number) && !process_gone(entry->pid)) {
      return entry;
    }
  }
  return NULL;
}

bool ask_listener(struct cm_id *id) {
  struct wire_device *far = find_device(&id->id.route.addr.dst_addr);
  const struct wire_device *own = &wire->devices[id->wire->device - 1];
  if (far == NULL || far->port != PORT_UP || own->port != PORT_UP) return false;
  uint32_t port = port_of(&id->id.route.addr.dst_addr);
  wire_lock(&tables()->cm_lock);
  struct wire_cm_id *listener = find_listener(far, port, id->id.ps);
  id->request.device = (uint32_t)(far - wire->devices);
  bool asked = listener != NULL && send_to(slot_of(listener), listener->generation, &id->request);
  if (asked) {
    id->wire->state = CM_ASKED;
    id->wire->peer = slot_of(listener);
    id->wire->peer_generation = listener->generation;
    tables()->connects++;
  }
  wire_unlock(&tables()->cm_lock);
  if (!asked) push(id, RDMA_CM_EVENT_REJECTED, INVALID_SERVICE);
  trace("connect to port %u: %s", port, asked ? "asked" : "nobody listens");
  return true;
}

// Again and again, as a request that nobody answers is sent.
bool answer_asker(struct cm_id *id) {
  struct wire_cm_id *entry = id->wire;
  if (!carries(entry)) return false;
  wire_lock(&tables()->cm_lock);
  bool sent = send_to(entry->peer, entry->peer_generation, &id->answer);
  if (!sent) entry->state = CM_DISCONNECTED;
  wire_unlock(&tables()->cm_lock);
  // Where the peer has left meanwhile, an error comes as an event.
  if (!sent) push(id, RDMA_CM_EVENT_CONNECT_ERROR, -ETIMEDOUT);
  return true;
}

static void give_up(struct cm_id *id) {
  id->asking = id->answering = false;
  id->wire->state = CM_DISCONNECTED;
  push(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

static void answer_again(struct cm_id *id, uint64_t now) {
  if (answer_asker(id)) id->answering = false;
  else if (now >= id->give_up) give_up(id);
}

// Who was asked may take its time, as long as the links carry its sign that it does.
static void wait_for_answer(struct cm_id *id, uint64_t now) {
  if (carries(id->wire)) id->give_up = now + settings.timeout_ns;
  else if (now >= id->give_up) give_up(id);
}

static void ask_again(struct cm_id *id, uint64_t now) {
  if (ask_listener(id)) {
    id->asking = false;
  } else if (now >= id->give_up) {
    give_up(id);
  }
}

// --- Looking ----------------------------------------------------------------------------------------------------------

static void take_messages(struct cm_id *id) {
  struct wire_cm_id *entry = id->wire;
  for (; entry->taken != entry->put; entry->taken++) {
    const struct cm_message *message = &entry->inbox[entry->taken % CM_INBOX];
    bool connected = entry->state == CM_CONNECTED || entry->state == CM_ANSWERED;
    // One for each connection: who leaves at the same time as its peer is told once.
    bool late = message->event == RDMA_CM_EVENT_CONNECT_RESPONSE && entry->state != CM_ASKED;
    bool wanted = !late && (message->event != RDMA_CM_EVENT_DISCONNECTED || connected);
    if (late) reject(id, message);
    if (message->event == RDMA_CM_EVENT_DISCONNECTED) end_connection(id);
    if (message->event == RDMA_CM_EVENT_REJECTED) entry->state = CM_DISCONNECTED;
    if (wanted) push_message(id, message);
  }
}

// A process that ends leaves its connections as its kernel does.
static void look_at_peer(struct cm_id *id) {
  struct wire_cm_id *entry = id->wire;
  bool asked = entry->state == CM_ASKED;
  if (!asked && entry->state != CM_CONNECTED && entry->state != CM_ANSWERED) return;
  const struct wire_cm_id *peer = &tables()->cm_ids[entry->peer];
  bool there = peer->generation == entry->peer_generation && peer->pid != 0 && !process_gone(peer->pid);
  if ((there && (asked || peer->state != CM_DISCONNECTED)) || !carries(entry)) return;
  push(id, asked ? RDMA_CM_EVENT_UNREACHABLE : RDMA_CM_EVENT_DISCONNECTED, asked ? -ETIMEDOUT : 0);
  end_connection(id);
}

bool pump(void) {
  static uint64_t looked;
  uint64_t sent = tables()->cm_sent, now = nanoseconds();
  bool at_peers = now - looked > LOOK_AT_PEERS_NS;
  if (sent == seen && !at_peers) return false;
  pthread_mutex_lock(&cm_local);
  seen = sent;
  if (at_peers) looked = now;
  for (struct cm_id *id = ids; id != NULL; id = id->next) {
    if (id->asking) ask_again(id, now);
    else if (id->answering) answer_again(id, now);
    else if (id->wire->state == CM_ASKED) wait_for_answer(id, now);
    if (id->timewait != 0 && now >= id->timewait) {
      id->timewait = 0;
      push(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    }
    if (!id->removed && id->id.verbs != NULL && is_gone(id->id.verbs)) {
      id->removed = true;
      push(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
    }
    wire_lock(&tables()->cm_lock);
    take_messages(id);
    if (at_peers) look_at_peer(id);
    wire_unlock(&tables()->cm_lock);
  }
  pthread_mutex_unlock(&cm_local);
  return false;
}

// --- Channels ---------------------------------------------------------------------------------------------------------

struct rdma_event_channel *rdma_create_event_channel(void) {
  int error = join_wire();
  if (error != 0) {
    errno = error;
    return NULL;
  }
  struct event_channel *channel = calloc(1, sizeof *channel);
  if (channel == NULL) return NULL;
  channel->channel.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  channel->last = &channel->first;
  add_work(pump);
  return &channel->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
  close(channel->fd);
  free(channel);
}

static void drop_event(struct cm_id *id, struct cm_event *event) {
  if (event->message.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
    wire_lock(&tables()->cm_lock);
    reject(id, &event->message);
    wire_unlock(&tables()->cm_lock);
  }
  free(event);
}

static void append(struct event_channel *channel, struct cm_event *event) {
  *channel->last = event;
  channel->last = &event->next;
  uint64_t token = 1;
  if (write(channel->channel.fd, &token, sizeof token) < 0) trace("no token");
}

// Takes an identifier's events out of its channel, into another or into nothing; cm_local is held.
static void move_events(struct cm_id *id, struct event_channel *from, struct event_channel *to) {
  for (struct cm_event **at = &from->first; *at != NULL;) {
    struct cm_event *event = *at;
    if (event->owner != id) {
      at = &event->next;
      continue;
    }
    *at = event->next;
    if (event->next == NULL) from->last = at;
    event->next = NULL;
    // Somebody may have read the token already, and waits for the lock.
    uint64_t token;
    struct pollfd ready = {.fd = from->channel.fd, .events = POLLIN};
    if (poll(&ready, 1, 0) == 1 && read(from->channel.fd, &token, sizeof token) < 0) trace("no token");
    if (to != NULL) append(to, event);
    else drop_event(id, event);
  }
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel) {
  struct cm_id *own = (struct cm_id *)id;
  bool sync = channel == NULL;
  if (sync) channel = rdma_create_event_channel();
  if (channel == NULL) return -1;
  pthread_mutex_lock(&cm_local);
  struct rdma_event_channel *old = id->channel;
  id->channel = channel;
  move_events(own, (struct event_channel *)old, (struct event_channel *)channel);
  bool drop = own->own_channel;
  own->sync = own->own_channel = sync;
  pthread_mutex_unlock(&cm_local);
  if (drop) rdma_destroy_event_channel(old);
  return 0;
}

// --- Identifiers ------------------------------------------------------------------------------------------------------

static struct wire_cm_id *take_entry(enum rdma_port_space space) {
  struct wire_cm_id *entry = NULL;
  wire_lock(&tables()->cm_lock);
  for (uint32_t i = 0; i < CM_IDS && entry == NULL; i++) {
    struct wire_cm_id *each = &tables()->cm_ids[(tables()->next_id + i) % CM_IDS];
    if (each->pid == 0 || process_gone(each->pid)) entry = each;
  }
  if (entry != NULL) {
    uint32_t generation = entry->generation + 1;
    memset(entry, 0, sizeof *entry);
    entry->generation = generation;
    entry->pid = getpid();
    entry->space = space;
    entry->node = settings.node;
    tables()->next_id = (slot_of(entry) + 1) % CM_IDS;
  }
  wire_unlock(&tables()->cm_lock);
  return entry;
}

struct cm_id *new_id(struct rdma_event_channel *channel, void *context, enum rdma_port_space space) {
  struct cm_id *id = calloc(1, sizeof *id);
  if (id != NULL) id->wire = take_entry(space);
  if (id == NULL || id->wire == NULL) {
    free(id);
    errno = ENOMEM;
    return NULL;
  }
  id->id.channel = channel;
  id->id.context = context;
  id->id.ps = space;
  id->id.qp_type = IBV_QPT_RC;
  pthread_mutex_lock(&cm_local);
  id->next = ids;
  ids = id;
  pthread_mutex_unlock(&cm_local);
  return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context, enum rdma_port_space space) {
  int error = join_wire();
  if (error != 0) return fail_with(error);
  if (open_devices() == 0) return fail_with(ENODEV);
  bool sync = channel == NULL;
  if (sync) channel = rdma_create_event_channel();
  struct cm_id *made = channel != NULL ? new_id(channel, context, space) : NULL;
  if (made == NULL) return -1;
  made->sync = made->own_channel = sync;
  *id = &made->id;
  return 0;
}

void use_device(struct cm_id *id, int index) {
  id->id.verbs = device_at(index);
  id->id.port_num = 1;
  id->wire->device = (uint32_t)(wire_device_at(index) - wire->devices) + 1;
  memcpy(&id->id.route.addr.addr.ibaddr.sgid, wire_device_at(index)->gid, 16);
  id->id.route.addr.addr.ibaddr.pkey = 0xffff;
}

static void leave_ids(struct cm_id *id) {
  pthread_mutex_lock(&cm_local);
  struct cm_id **at = &ids;
  while (*at != NULL && *at != id) at = &(*at)->next;
  if (*at != NULL) *at = id->next;
  move_events(id, (struct event_channel *)id->id.channel, NULL);
  pthread_mutex_unlock(&cm_local);
}

int rdma_destroy_id(struct rdma_cm_id *id) {
  struct cm_id *own = (struct cm_id *)id;
  if (id->qp != NULL) broke("id-in-use", "an identifier was destroyed that has queue pair %u", id->qp->qp_num);
  // librdmacm would wait for ever.
  if (own->unacknowledged != 0) {
    broke("event-unacknowledged", "an identifier was destroyed while %u of its events were not acknowledged",
          own->unacknowledged);
  }
  leave_ids(own);
  wire_lock(&tables()->cm_lock);
  tell_peer(own);
  struct wire_cm_id *entry = own->wire;
  // What was asked of it, and never seen.
  for (; entry->taken != entry->put; entry->taken++) {
    const struct cm_message *message = &entry->inbox[entry->taken % CM_INBOX];
    if (message->event == RDMA_CM_EVENT_CONNECT_REQUEST) reject(own, message);
  }
  entry->pid = 0;
  entry->state = CM_IDLE;
  wire_unlock(&tables()->cm_lock);
  if (own->own_channel) rdma_destroy_event_channel(id->channel);
  free(own);
  return 0;
}
