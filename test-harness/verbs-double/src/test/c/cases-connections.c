// Connections by librdmacm: what each side is told, in its order.

#include <errno.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#include "connections.h"

static void a_connection_is_made(void) {
  struct peer peer = start_peer(accepting_peer);
  uint16_t port = hear_port(&peer);
  struct side side = open_side();
  resolve(&side, port);
  struct rdma_conn_param parameters = {.private_data = "ask", .private_data_len = 4, .rnr_retry_count = 7};
  expect("rdma_connect", 0, rdma_connect(side.id, &parameters));
  struct rdma_cm_event *event = next_event(side.channel, RDMA_CM_EVENT_ESTABLISHED, 0);
  expect("private data", 0, strcmp("answer", event->param.conn.private_data));
  // As long as the message has room for.
  expect("its length", CM_DATA, event->param.conn.private_data_len);
  acknowledge(event);
  expect("state", IBV_QPS_RTS, side.id->qp->state);
  send_once(&side);
  tell(&peer, "", 1);
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
  expect("rdma_disconnect", 0, rdma_disconnect(side.id));
  // Once its packets are gone for sure.
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0));
  expect_no_event(side.channel, 250, "after all");
  close_side(&side);
  join_peer(&peer);
}

static void nobody_listens(void) {
  struct side side = open_side();
  resolve(&side, 999);
  expect("rdma_connect", 0, rdma_connect(side.id, &(struct rdma_conn_param){0}));
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_REJECTED, 8));
  expect("state", IBV_QPS_ERR, side.id->qp->state);
  close_side(&side);
}

static void who_listens_may_reject(void) {
  struct peer peer = start_peer(rejecting_peer);
  uint16_t port = hear_port(&peer);
  struct side side = open_side();
  resolve(&side, port);
  expect("rdma_connect", 0, rdma_connect(side.id, &(struct rdma_conn_param){0}));
  struct rdma_cm_event *event = next_event(side.channel, RDMA_CM_EVENT_REJECTED, 28);
  expect("private data", 0, strcmp("no", event->param.conn.private_data));
  expect("its length", 148, event->param.conn.private_data_len);
  acknowledge(event);
  join_peer(&peer);
  expect_no_event(side.channel, 250, "after the rejection");
  close_side(&side);
}

static void a_peer_that_is_killed_disconnects(void) {
  struct peer peer = start_peer(accepting_peer);
  uint16_t port = hear_port(&peer);
  struct side side = open_side();
  resolve(&side, port);
  expect("rdma_connect", 0, rdma_connect(side.id, &(struct rdma_conn_param){0}));
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
  kill_peer(&peer);
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
  close_side(&side);
}

static void a_peer_that_is_killed_does_not_answer(void) {
  struct peer peer = start_peer(silent_peer);
  uint16_t port = hear_port(&peer);
  struct side side = open_side();
  resolve(&side, port);
  expect("rdma_connect", 0, rdma_connect(side.id, &(struct rdma_conn_param){0}));
  pause_ms(50);
  kill_peer(&peer);
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT));
  close_side(&side);
}

static void silence_answers_no_request(void) {
  set("TIMEOUT_MS", "150");
  struct peer peer = start_peer(accepting_peer);
  uint16_t port = hear_port(&peer);
  struct side side = open_side();
  char line[256];
  expect("port 0 silent", true, wire_tool("port 0 silent", line, sizeof line));
  resolve(&side, port);
  expect("rdma_connect", 0, rdma_connect(side.id, &(struct rdma_conn_param){0}));
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT));
  close_side(&side);
  kill_peer(&peer);
}

// The request is sent again and again.
static void a_link_that_comes_back_connects(void) {
  struct peer peer = start_peer(accepting_peer);
  uint16_t port = hear_port(&peer);
  set("TIMEOUT_MS", "10000");
  struct side side = open_side();
  char line[256];
  expect("port 0 silent", true, wire_tool("port 0 silent", line, sizeof line));
  resolve(&side, port);
  expect("rdma_connect", 0, rdma_connect(side.id, &(struct rdma_conn_param){0}));
  pause_ms(150);
  expect("port 0 up", true, wire_tool("port 0 up", line, sizeof line));
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
  kill_peer(&peer);
}

static void port(const char *state) {
  char line[256], arguments[32];
  snprintf(arguments, sizeof arguments, "port 0 %s", state);
  expect(arguments, true, wire_tool(arguments, line, sizeof line));
}

// A side that has asked a peer which has not answered yet.
static struct side ask(const struct peer *peer) {
  struct side side = open_side();
  resolve(&side, hear_port(peer));
  expect("rdma_connect", 0, rdma_connect(side.id, &(struct rdma_conn_param){0}));
  char word;
  hear(peer, &word, 1);
  return side;
}

static int event_of(const struct peer *peer) {
  int came;
  hear(peer, &came, sizeof came);
  return came;
}

static void silence_loses_an_answer(void) {
  set("TIMEOUT_MS", "300");
  struct peer peer = start_peer(peer_that_waits);
  struct side side = ask(&peer);
  // As long as the links carry something, an answer may take its time.
  expect_no_event(side.channel, 800, "nobody answered");
  port("silent");
  tell(&peer, "", 1);
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT));
  expect("what the peer hears", RDMA_CM_EVENT_UNREACHABLE, event_of(&peer));
  close_side(&side);
  tell(&peer, "", 1);
  join_peer(&peer);
}

static void an_answer_is_sent_until_the_link_is_back(void) {
  set("TIMEOUT_MS", "10000");
  struct peer peer = start_peer(peer_that_waits);
  struct side side = ask(&peer);
  port("silent");
  tell(&peer, "", 1);
  expect_no_event(side.channel, 250, "a silent link");
  port("up");
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
  expect("what the peer hears", RDMA_CM_EVENT_ESTABLISHED, event_of(&peer));
  tell(&peer, "", 1);
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
  close_side(&side);
  join_peer(&peer);
}

static void silence_hides_that_a_peer_left(void) {
  struct peer peer = start_peer(peer_that_waits);
  struct side side = ask(&peer);
  tell(&peer, "", 1);
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
  event_of(&peer);
  port("silent");
  tell(&peer, "", 1);
  join_peer(&peer);
  expect_no_event(side.channel, 300, "a silent link");
  port("up");
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
  close_side(&side);
}

static void who_has_an_adapter_that_is_gone_is_told(void) {
  struct peer peer = start_peer(silent_peer);
  struct side side = open_side(), other = open_side();
  resolve(&side, hear_port(&peer));
  port("gone");
  acknowledge(next_event(side.channel, RDMA_CM_EVENT_DEVICE_REMOVAL, 0));
  expect_no_event(side.channel, 250, "it is told once");
  struct sockaddr_in address = address_here(0);
  expect("rdma_bind_addr", -1, rdma_bind_addr(other.id, (struct sockaddr *)&address));
  expect("its error", ENODEV, errno);
  close_side(&side);
  kill_peer(&peer);
}

// Both ask at once: each is answered by itself, and there are two connections.
static void requests_cross(void) {
  struct side one = open_side(), other = open_side();
  uint16_t port_of_one = listen_on(&one), port_of_other = listen_on(&other);
  struct side from_one = open_side(), from_other = open_side();
  resolve(&from_one, port_of_other);
  resolve(&from_other, port_of_one);
  expect("rdma_connect", 0, rdma_connect(from_one.id, &(struct rdma_conn_param){0}));
  expect("rdma_connect", 0, rdma_connect(from_other.id, &(struct rdma_conn_param){0}));
  struct rdma_cm_id *at_other = accept_next(&other), *at_one = accept_next(&one);
  acknowledge(next_event(from_one.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
  acknowledge(next_event(from_other.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
  acknowledge(next_event(one.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
  acknowledge(next_event(other.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
  rdma_destroy_ep(at_one);
  rdma_destroy_ep(at_other);
  acknowledge(next_event(from_one.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
  acknowledge(next_event(from_other.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
}

static void a_port_is_taken_once(void) {
  struct side one = open_side(), other = open_side();
  uint16_t port = listen_on(&one);
  struct sockaddr_in address = address_here(port);
  expect("rdma_bind_addr", -1, rdma_bind_addr(other.id, (struct sockaddr *)&address));
  expect("its error", EADDRINUSE, errno);
}

static void an_address_is_a_devices(void) {
  struct side side = open_side();
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201)};
  expect("another's", -1, rdma_bind_addr(side.id, (struct sockaddr *)&address));
  expect("its error", ENODEV, errno);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  expect("the machine's own", 0, rdma_bind_addr(side.id, (struct sockaddr *)&address));
  expect("its device", true, side.id->verbs == NULL);
  expect("none", -1, rdma_bind_addr(side.id, NULL));
  expect("its error", EINVAL, errno);
}

static void without_a_channel_it_is_done_at_once(void) {
  struct rdma_cm_id *id;
  expect("rdma_create_id", 0, rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
  struct sockaddr_in address = address_here(999);
  expect("rdma_resolve_addr", 0, rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 100));
  expect("its device", true, id->verbs != NULL);
  expect("rdma_resolve_route", 0, rdma_resolve_route(id, 100));
  // Its events go along to the channel that it is given then.
  struct rdma_event_channel *channel = rdma_create_event_channel();
  expect("rdma_migrate_id", 0, rdma_migrate_id(id, channel));
  struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
  expect("events", 0, poll(&ready, 1, 0));
  expect("rdma_destroy_id", 0, rdma_destroy_id(id));
}

const struct test_case connection_cases[] = {
    {"a-connection-is-made", a_connection_is_made, NULL},
    {"nobody-listens", nobody_listens, NULL},
    {"who-listens-may-reject", who_listens_may_reject, NULL},
    {"a-peer-that-is-killed-disconnects", a_peer_that_is_killed_disconnects, NULL},
    {"a-peer-that-is-killed-does-not-answer", a_peer_that_is_killed_does_not_answer, NULL},
    {"silence-answers-no-request", silence_answers_no_request, NULL},
    {"a-link-that-comes-back-connects", a_link_that_comes_back_connects, NULL},
    {"silence-loses-an-answer", silence_loses_an_answer, NULL},
    {"an-answer-is-sent-until-the-link-is-back", an_answer_is_sent_until_the_link_is_back, NULL},
    {"silence-hides-that-a-peer-left", silence_hides_that_a_peer_left, NULL},
    {"who-has-an-adapter-that-is-gone-is-told", who_has_an_adapter_that_is_gone_is_told, NULL},
    {"requests-cross", requests_cross, NULL},
    {"a-port-is-taken-once", a_port_is_taken_once, NULL},
    {"an-address-is-a-devices", an_address_is_a_devices, NULL},
    {"without-a-channel-it-is-done-at-once", without_a_channel_it_is_done_at_once, NULL},
    {NULL, NULL, NULL},
};
