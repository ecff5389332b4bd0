#include "connections.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000 };

struct side open_side(void) {
  struct side side = {.channel = rdma_create_event_channel()};
  if (side.channel == NULL) fail("no event channel: %s", strerror(errno));
  expect("rdma_create_id", 0, rdma_create_id(side.channel, &side.id, NULL, RDMA_PS_TCP));
  return side;
}

void close_side(struct side *side) {
  if (side->id->qp != NULL) rdma_destroy_qp(side->id);
  expect("rdma_destroy_id", 0, rdma_destroy_id(side->id));
  rdma_destroy_event_channel(side->channel);
  if (side->queue != NULL) expect("ibv_destroy_cq", 0, ibv_destroy_cq(side->queue));
}

struct sockaddr_in address_here(uint16_t port) {
  // 10.77.NODE.DEVICE+1, of node 0.
  return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(0x0a4d0001)};
}

struct rdma_cm_event *next_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int status) {
  struct rdma_cm_event *event;
  struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
  if (poll(&ready, 1, PATIENCE_MS) != 1) fail("expected %s, came no event", rdma_event_str(type));
  expect("rdma_get_cm_event", 0, rdma_get_cm_event(channel, &event));
  if (event->event != type || event->status != status) {
    fail("expected %s with status %d, came %s with %d", rdma_event_str(type), status, rdma_event_str(event->event),
         event->status);
  }
  return event;
}

void expect_no_event(struct rdma_event_channel *channel, int milliseconds, const char *what) {
  struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
  if (poll(&ready, 1, milliseconds) != 0) fail("expected no event, came one: %s", what);
}

void acknowledge(struct rdma_cm_event *event) { expect("rdma_ack_cm_event", 0, rdma_ack_cm_event(event)); }

void add_queue_pair(struct side *side, struct rdma_cm_id *id) {
  if (side->pd == NULL) side->pd = ibv_alloc_pd(id->verbs);
  if (side->queue == NULL) side->queue = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr attributes = {
      .send_cq = side->queue,
      .recv_cq = side->queue,
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 32}};
  expect("rdma_create_qp", 0, rdma_create_qp(id, side->pd, &attributes));
}

void resolve(struct side *side, uint16_t port) {
  struct sockaddr_in address = address_here(port);
  expect("rdma_resolve_addr", 0, rdma_resolve_addr(side->id, NULL, (struct sockaddr *)&address, 1000));
  acknowledge(next_event(side->channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0));
  expect("rdma_resolve_route", 0, rdma_resolve_route(side->id, 1000));
  acknowledge(next_event(side->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
  add_queue_pair(side, side->id);
}

uint16_t listen_on(struct side *side) {
  struct sockaddr_in address = address_here(0);
  expect("rdma_bind_addr", 0, rdma_bind_addr(side->id, (struct sockaddr *)&address));
  expect("rdma_listen", 0, rdma_listen(side->id, 4));
  return ntohs(rdma_get_src_port(side->id));
}

struct rdma_cm_id *accept_next(struct side *listening) {
  struct rdma_cm_event *event = next_event(listening->channel, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
  struct rdma_cm_id *id = event->id;
  expect("who listens", true, event->listen_id == listening->id);
  acknowledge(event);
  add_queue_pair(listening, id);
  struct rdma_conn_param parameters = {.private_data = "answer", .private_data_len = 7, .rnr_retry_count = 7};
  expect("rdma_accept", 0, rdma_accept(id, &parameters));
  return id;
}

void send_once(struct side *side) {
  uint8_t data[8] = "message";
  struct ibv_sge piece = {(uintptr_t)data, sizeof data, 0};
  struct ibv_send_wr request = {.wr_id = 1,
                                .sg_list = &piece,
                                .num_sge = 1,
                                .opcode = IBV_WR_SEND,
                                .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE},
                     *bad;
  expect("ibv_post_send", 0, ibv_post_send(side->id->qp, &request, &bad));
  struct ibv_wc found;
  for (uint64_t start = milliseconds(); ibv_poll_cq(side->queue, 1, &found) != 1;) {
    if (milliseconds() - start > PATIENCE_MS) fail("expected a completion, came none");
  }
  expect("status", IBV_WC_SUCCESS, found.status);
}

uint16_t hear_port(const struct peer *peer) {
  uint16_t port;
  hear(peer, &port, sizeof port);
  return port;
}

static void receive_once(struct side *side, struct rdma_cm_id *id) {
  side->mr = ibv_reg_mr(side->pd, side->memory, sizeof side->memory, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_sge piece = {(uintptr_t)side->memory, sizeof side->memory, side->mr->lkey};
  struct ibv_recv_wr request = {.wr_id = 1, .sg_list = &piece, .num_sge = 1}, *bad;
  expect("ibv_post_recv", 0, ibv_post_recv(id->qp, &request, &bad));
  struct ibv_wc found;
  for (uint64_t start = milliseconds(); ibv_poll_cq(side->queue, 1, &found) != 1;) {
    if (milliseconds() - start > PATIENCE_MS) fail("expected a message, came none");
  }
  expect("what came", 0, strcmp("message", (char *)side->memory));
}

void accepting_peer(struct peer *parent) {
  struct side side = open_side();
  uint16_t port = listen_on(&side);
  tell(parent, &port, sizeof port);
  struct rdma_cm_id *id = accept_next(&side);
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
  receive_once(&side, id);
  char word;
  hear(parent, &word, 1);
  expect("rdma_disconnect", 0, rdma_disconnect(id));
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
  rdma_destroy_ep(id);
}

void rejecting_peer(struct peer *parent) {
  struct side side = open_side();
  uint16_t port = listen_on(&side);
  tell(parent, &port, sizeof port);
  struct rdma_cm_event *event = next_event(side.channel, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
  struct rdma_cm_id *id = event->id;
  acknowledge(event);
  expect("rdma_reject", 0, rdma_reject(id, "no", 3));
  expect("rdma_destroy_id", 0, rdma_destroy_id(id));
}

void silent_peer(struct peer *parent) {
  struct side side = open_side();
  uint16_t port = listen_on(&side);
  tell(parent, &port, sizeof port);
  pause();
}

void peer_that_waits(struct peer *parent) {
  struct side side = open_side();
  uint16_t port = listen_on(&side);
  tell(parent, &port, sizeof port);
  struct rdma_cm_event *event = next_event(side.channel, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
  struct rdma_cm_id *id = event->id;
  acknowledge(event);
  add_queue_pair(&side, id);
  tell(parent, "", 1);
  char word;
  hear(parent, &word, 1);
  expect("rdma_accept", 0, rdma_accept(id, &(struct rdma_conn_param){.rnr_retry_count = 7}));
  expect("rdma_get_cm_event", 0, rdma_get_cm_event(side.channel, &event));
  int came = event->event;
  acknowledge(event);
  tell(parent, &came, sizeof came);
  hear(parent, &word, 1);
  rdma_destroy_ep(id);
}
