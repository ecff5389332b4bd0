// What the cases of connections share: a side of one, and peers that answer.

#pragma once

#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include "nics.h"

// An identifier with a channel of its own, and what its queue pair needs.
struct side {
  struct rdma_event_channel *channel;
  struct rdma_cm_id *id;
  struct ibv_pd *pd;
  struct ibv_cq *queue;
  struct ibv_mr *mr;
  uint8_t memory[64];
};

struct side open_side(void);
void close_side(struct side *side);
// Of the first device.
struct sockaddr_in address_here(uint16_t port);
// Address, route and queue pair, towards a port of the same device.
void resolve(struct side *side, uint16_t port);
// Listens on a port that nobody chose, which it gives back.
uint16_t listen_on(struct side *side);
void add_queue_pair(struct side *side, struct rdma_cm_id *id);
// Takes the next event, which has to be this one; it is to be acknowledged.
struct rdma_cm_event *next_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int status);
void acknowledge(struct rdma_cm_event *event);
// Answers the next request with a queue pair of its own; `listening` is left to listen.
struct rdma_cm_id *accept_next(struct side *listening);
// One message to the peer, which has a receive.
void send_once(struct side *side);

uint16_t hear_port(const struct peer *peer);
// Tells its port, answers one request, takes one message, and disconnects when it is told to.
void accepting_peer(struct peer *parent);
// Refuses it.
void rejecting_peer(struct peer *parent);
// Looks at nothing.
void silent_peer(struct peer *parent);
// Tells its port, and of the request; answers when it is told to, and tells the event that comes of it.
void peer_that_waits(struct peer *parent);
void expect_no_event(struct rdma_event_channel *channel, int milliseconds, const char *what);
