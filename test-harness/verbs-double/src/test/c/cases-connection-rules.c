// What a program must not do with identifiers and connections.

#include <errno.h>

#include "connections.h"

static void an_identifier_goes_after_its_queue_pair(void) {
  struct side side = open_side();
  resolve(&side, 999);
  expect("rdma_destroy_id", 0, rdma_destroy_id(side.id));
}

static void events_are_acknowledged(void) {
  struct side side = open_side();
  struct sockaddr_in address = address_here(999);
  expect("rdma_resolve_addr", 0, rdma_resolve_addr(side.id, NULL, (struct sockaddr *)&address, 1000));
  next_event(side.channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  expect("rdma_destroy_id", 0, rdma_destroy_id(side.id));
}

static void a_queue_pair_needs_a_device(void) {
  struct side side = open_side();
  struct ibv_qp_init_attr attributes = {.qp_type = IBV_QPT_RC};
  expect("rdma_create_qp", -1, rdma_create_qp(side.id, NULL, &attributes));
}

static void connecting_needs_a_queue_pair(void) {
  struct side side = open_side();
  expect("rdma_connect", -1, rdma_connect(side.id, &(struct rdma_conn_param){0}));
}

static void one_connects_once(void) {
  struct peer peer = start_peer(silent_peer);
  uint16_t port = hear_port(&peer);
  struct side side = open_side();
  resolve(&side, port);
  expect("rdma_connect", 0, rdma_connect(side.id, &(struct rdma_conn_param){0}));
  expect("rdma_connect again", -1, rdma_connect(side.id, &(struct rdma_conn_param){0}));
  kill_peer(&peer);
}

static void accepting_needs_a_request(void) {
  struct side side = open_side();
  resolve(&side, 999);
  expect("rdma_accept", -1, rdma_accept(side.id, &(struct rdma_conn_param){0}));
}

static void private_data_has_an_end(void) {
  struct side side = open_side();
  resolve(&side, 999);
  static const char data[57];
  struct rdma_conn_param parameters = {.private_data = data, .private_data_len = 57};
  expect("57 bytes", -1, rdma_connect(side.id, &parameters));
  parameters.private_data_len = 56;
  expect("56 bytes", 0, rdma_connect(side.id, &parameters));
}

static void listening_needs_an_address(void) {
  struct side side = open_side();
  expect("rdma_listen", -1, rdma_listen(side.id, 1));
}

const struct test_case connection_rule_cases[] = {
    {"an-identifier-goes-after-its-queue-pair", an_identifier_goes_after_its_queue_pair, "id-in-use"},
    {"events-are-acknowledged", events_are_acknowledged, "event-unacknowledged"},
    {"a-queue-pair-needs-a-device", a_queue_pair_needs_a_device, "queue-pair-of-id"},
    {"connecting-needs-a-queue-pair", connecting_needs_a_queue_pair, "connect-order"},
    {"one-connects-once", one_connects_once, "connect-order"},
    {"accepting-needs-a-request", accepting_needs_a_request, "accept-order"},
    {"private-data-has-an-end", private_data_has_an_end, "private-data"},
    {"listening-needs-an-address", listening_needs_an_address, "listen-order"},
    {NULL, NULL, NULL},
};
