// Links that fall silent, adapters that fail, processes that are killed.

#include <errno.h>
#include <unistd.h>

#include "nics.h"

static struct pair_of_ends across(void) {
  set("DEVICES", "2");
  return open_connected((struct end_options){0}, (struct end_options){.device = 1});
}

static void tool(const char *arguments) {
  char line[256];
  expect(arguments, true, wire_tool(arguments, line, sizeof line));
}

static void silence_ends_with_an_error(void) {
  set("TIMEOUT_MS", "100");
  set("FAULT", "0:silent:2");
  struct pair_of_ends ends = across();
  for (uint64_t id = 1; id <= 3; id++) receive(&ends.to, id, 0, 8);
  expect("post", 0, post(&ends.from, (struct post){.id = 1, .length = 4}));
  await(&ends.from, 1, IBV_WC_SUCCESS, "before");
  expect("post", 0, post(&ends.from, (struct post){.id = 2, .length = 4}));
  expect("post", 0, post(&ends.from, (struct post){.id = 3, .length = 4}));
  await(&ends.from, 2, IBV_WC_RETRY_EXC_ERR, "into silence");
  await(&ends.from, 3, IBV_WC_WR_FLUSH_ERR, "behind it");
}

static void a_short_silence_is_nothing(void) {
  struct pair_of_ends ends = across();
  receive(&ends.to, 1, 0, 8);
  tool("port 1 silent");
  expect("post", 0, post(&ends.from, (struct post){.id = 1, .length = 4}));
  expect_quiet(&ends.from, 50, "while it is silent");
  tool("port 1 up");
  await(&ends.from, 1, IBV_WC_SUCCESS, "after");
  expect("sent again", true, counter("retried") > 0);
}

static void a_mute_link_never_ends(void) {
  set("TIMEOUT_MS", "20");
  set("FAULT", "0:mute:1");
  struct pair_of_ends ends = across();
  expect("post", 0, post(&ends.from, (struct post){.id = 1, .length = 4}));
  expect_quiet(&ends.from, 200, "a mute link");
}

static void a_failed_adapter_fails_its_queue_pairs(void) {
  set("FAULT", "0:error:1");
  struct pair_of_ends ends = across();
  receive(&ends.from, 5, 0, 8);
  expect("post", 0, post(&ends.from, (struct post){.id = 1, .length = 4}));
  await(&ends.from, 5, IBV_WC_WR_FLUSH_ERR, "a receive");
  await(&ends.from, 1, IBV_WC_WR_FLUSH_ERR, "a send");
  struct ibv_port_attr port;
  expect("ibv_query_port", 0, ibv_query_port(ends.from.context, 1, &port));
  expect("state", IBV_PORT_DOWN, port.state);
}

static void an_adapter_that_is_gone_makes_nothing_new(void) {
  struct pair_of_ends ends = across();
  tool("port 0 gone");
  receive(&ends.from, 5, 0, 8);
  expect("post", 0, post(&ends.from, (struct post){.id = 1, .length = 4}));
  await(&ends.from, 5, IBV_WC_WR_FLUSH_ERR, "a receive");
  await(&ends.from, 1, IBV_WC_WR_FLUSH_ERR, "a send");
  expect("a domain", true, ibv_alloc_pd(ends.from.context) == NULL);
  expect("its error", EIO, errno);
  expect("a region", true, ibv_reg_mr(ends.from.pd, ends.from.memory, 8, ALL_RIGHTS) == NULL);
  expect("a queue", true, ibv_create_cq(ends.from.context, 4, NULL, NULL, 0) == NULL);
  struct ibv_qp_init_attr attributes = {.send_cq = ends.from.queue, .recv_cq = ends.from.queue, .qp_type = IBV_QPT_RC};
  expect("a queue pair", true, ibv_create_qp(ends.from.pd, &attributes) == NULL);
  expect("its error", EIO, errno);
  // What there is can be closed.
  close_end(&ends.from);
  close_end(&ends.to);
}

static void target(struct peer *parent) {
  struct end end = open_end((struct end_options){0});
  struct place far = exchange(parent, &end);
  make_ready(&end, far.number);
  receive(&end, 1, 0, 8);
  tell(parent, "", 1);
  pause();
}

static void a_killed_peer_is_silent(void) {
  struct peer peer = start_peer(target);
  set("TIMEOUT_MS", "100");
  struct end end = open_end((struct end_options){0});
  struct place far = exchange(&peer, &end);
  make_ready(&end, far.number);
  char word;
  hear(&peer, &word, 1);
  expect("post", 0, post(&end, (struct post){.id = 1, .length = 4}));
  await(&end, 1, IBV_WC_SUCCESS, "while it lives");
  kill_peer(&peer);
  struct post one = {.id = 2, .operation = WRITE, .length = 4, .rkey = far.rkey, .remote = far.address};
  expect("post", 0, post(&end, one));
  await(&end, 2, IBV_WC_RETRY_EXC_ERR, "when it is dead");
}

static void chance_makes_peers_not_ready(void) {
  set("RNR", "50");
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  for (uint64_t id = 1; id <= 12; id++) {
    receive(&ends.to, id, 0, 8);
    expect("post", 0, post(&ends.from, (struct post){.id = id, .length = 4}));
    await(&ends.from, id, IBV_WC_SUCCESS, "a send");
    await(&ends.to, id, IBV_WC_SUCCESS, "a receive");
  }
  expect("some were not ready", true, counter("not-ready") > 0);
}

static void lost_is_late(void) {
  set("LOSS", "50");
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  for (uint64_t id = 1; id <= 12; id++) {
    receive(&ends.to, id, 0, 8);
    expect("post", 0, post(&ends.from, (struct post){.id = id, .length = 4}));
  }
  for (uint64_t id = 1; id <= 12; id++) await(&ends.from, id, IBV_WC_SUCCESS, "in order");
  expect("some were lost", true, counter("lost") > 0);
}

const struct test_case fault_cases[] = {
    {"silence-ends-with-an-error", silence_ends_with_an_error, NULL},
    {"a-short-silence-is-nothing", a_short_silence_is_nothing, NULL},
    {"a-mute-link-never-ends", a_mute_link_never_ends, NULL},
    {"a-failed-adapter-fails-its-queue-pairs", a_failed_adapter_fails_its_queue_pairs, NULL},
    {"an-adapter-that-is-gone-makes-nothing-new", an_adapter_that_is_gone_makes_nothing_new, NULL},
    {"a-killed-peer-is-silent", a_killed_peer_is_silent, NULL},
    {"chance-makes-peers-not-ready", chance_makes_peers_not_ready, NULL},
    {"lost-is-late", lost_is_late, NULL},
    {NULL, NULL, NULL},
};
