// librdmacm: identifiers, events and connections. Identifiers lie on the wire, each with an inbox; whoever connects,
// answers or leaves puts a message into the peer's. A message becomes an event of a channel when the process looks, or
// its adapters' own thread does. A file calls those above it here only.

#pragma once

#include <errno.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>

#include "nic.h"

// Why a request is refused, in InfiniBand's numbers: nobody listens there; who listens does not want it.
enum { INVALID_SERVICE = 8, CONSUMER_REJECT = 28 };

struct cm_event {
  struct rdma_cm_event event;
  struct cm_id *owner;
  struct cm_message message;
  struct cm_event *next;
};

struct event_channel {
  struct rdma_event_channel channel;
  struct cm_event *first, **last;
};

struct cm_id {
  struct rdma_cm_id id;
  struct wire_cm_id *wire;
  bool sync, own_channel;
  uint32_t remote_queue_pair, unacknowledged;
  uint8_t rnr_retry;
  // A request or an answer that no port carries yet; until when it is tried, and an answer is waited for.
  bool asking, answering, removed;
  struct cm_message request, answer;
  uint64_t give_up;
  uint64_t timewait;  // when the time after its connection is over; 0: it has had none, or was told
  struct cm_id *next;
};

static inline int fail_with(int error) {
  errno = error;
  return -1;
}

static inline struct verbs_tables *tables(void) { return tables_of(wire); }

// addresses.c: the devices, and where they are

// Opens all of them with the first call; how many there are.
int open_devices(void);
struct ibv_context *device_at(int index);
struct wire_device *wire_device_at(int index);
// 0 for a family that is none of theirs.
socklen_t address_length(const struct sockaddr *address);
uint16_t port_of(const struct sockaddr *address);
void set_port(struct sockaddr *address, uint16_t port);
// Whether it names no device: none in particular, or the machine itself.
bool is_any(const struct sockaddr *address);
// The device on the wire that has this address; NULL: none.
struct wire_device *find_device(const struct sockaddr *address);
// Which of this process's devices it is; -1: none.
int own_index(const struct wire_device *device);
// Makes it the address of one of this process's, its port as it was.
void address_device(struct sockaddr *address, sa_family_t family, int index);

// identifiers.c: who may connect, and what each is told

// Of the process's identifiers, and of every channel.
extern pthread_mutex_t cm_local;

struct cm_message message_from(const struct cm_id *id, enum rdma_cm_event_type event);
// False if that identifier is no more, or takes no more. The connection manager's lock is held.
bool send_to(uint32_t slot, uint32_t generation, const struct cm_message *message);
// To one's own channel; cm_local is held.
void push(struct cm_id *id, enum rdma_cm_event_type type, int status);
// The same, of who does not hold it.
void tell_own(struct cm_id *id, enum rdma_cm_event_type type, int status);
// Asks a listener for a connection, if the ports carry the request: false if they do not yet. cm_local is held.
bool ask_listener(struct cm_id *id);
struct cm_id *new_id(struct rdma_event_channel *channel, void *context, enum rdma_port_space space);
void use_device(struct cm_id *id, int index);
// Answers a request, if the ports carry the answer: false if they do not yet. cm_local is held.
bool answer_asker(struct cm_id *id);
// Its connection is over; the connection manager's lock is held.
void end_connection(struct cm_id *id);
// Tells the peer of a connection that ends. The connection manager's lock is held.
void tell_peer(struct cm_id *id);
// Turns what has come into events of the channels.
bool pump(void);

// connecting.c

// The queue pair to a peer that is known, by both of its steps; 0, or an error.
int make_ready(struct cm_id *id);
void into_error(struct rdma_cm_id *id);
