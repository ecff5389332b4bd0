// How operations end that a peer refuses or is not ready for. None of it breaks a rule: it is how a program learns that
// its peer is gone, or busy.

#include <errno.h>
#include <unistd.h>

#include "nics.h"

// Two ends, the way from the first to the second, and a handle that lets the second take RDMA of the first.
struct two {
  struct end from, to;
  struct way way;
};

static struct two open_two(struct end_options of_from) {
  struct two two = {.from = open_end(of_from), .to = open_end((struct end_options){0})};
  two.way = way_between(&two.from, &two.to);
  return two;
}

static void close_two(struct two *two) {
  ibv_destroy_ah(two->way.ah);
  close_end(&two->from);
  close_end(&two->to);
}

static void expect_rdma(struct two *two, enum operation operation, int64_t remote, uint32_t rkey, int status,
                        const char *what) {
  struct post one = {.operation = operation, .way = &two->way, .length = 16, .remote = (uint64_t)remote, .rkey = rkey};
  carry(&two->from, one, status, what);
}

static void expect_both(struct two *two, int64_t remote, uint32_t rkey, int status, const char *what) {
  expect_rdma(two, WRITE, remote, rkey, status, what);
  expect_rdma(two, READ, remote, rkey, status, what);
}

static void bad_rkey(void) {
  struct two two = open_two((struct end_options){0});
  expect_both(&two, 0, two.way.to.rkey + (1 << 14), STATUS_REMOTE_ADDRESS, "the key of a later region at its place");
  expect_both(&two, 0, two.way.to.rkey + 7, STATUS_REMOTE_ADDRESS, "a key of no region");
  expect_both(&two, 0, 0, STATUS_OK, "the right key");
  close_two(&two);
}

static void rkey_of_another_domain(void) {
  struct two two = open_two((struct end_options){0});
  struct ibv_pd *pd = ibv_alloc_pd(two.to.context);
  struct ibv_mr *mr = new_region(pd, two.to.memory, two.to.bytes, all_rights(two.to.context));
  expect_both(&two, 0, mr->rkey, STATUS_REMOTE_ADDRESS, "a key of another domain");
  expect("ibv_dereg_mr", 0, ibv_dereg_mr(mr));
  expect("ibv_dealloc_pd", 0, ibv_dealloc_pd(pd));
  close_two(&two);
}

static void beyond_a_region(void) {
  struct two two = open_two((struct end_options){0});
  int64_t bytes = (int64_t)two.to.bytes;
  expect_both(&two, bytes - 16, 0, STATUS_OK, "its last bytes");
  expect_both(&two, bytes - 15, 0, STATUS_REMOTE_ADDRESS, "one byte beyond");
  expect_both(&two, bytes, 0, STATUS_REMOTE_ADDRESS, "after it");
  expect_both(&two, -1, 0, STATUS_REMOTE_ADDRESS, "one byte before");
  expect_both(&two, INT64_MAX, 0, STATUS_REMOTE_ADDRESS, "far away");
  close_two(&two);
}

static void no_remote_rights(void) {
  struct two two = open_two((struct end_options){0});
  struct ibv_mr *none = new_region(two.to.pd, two.to.memory, two.to.bytes, ALL_LOCAL);
  struct ibv_mr *reads = new_region(two.to.pd, two.to.memory, two.to.bytes, ALL_LOCAL | IBV_ACCESS_REMOTE_READ);
  struct ibv_mr *writes = new_region(two.to.pd, two.to.memory, two.to.bytes, ALL_LOCAL | IBV_ACCESS_REMOTE_WRITE);
  expect_both(&two, 0, none->rkey, STATUS_REMOTE_ADDRESS, "a region for no peer");
  expect_rdma(&two, READ, 0, reads->rkey, STATUS_OK, "a read of one for reads");
  expect_rdma(&two, WRITE, 0, reads->rkey, STATUS_REMOTE_ADDRESS, "a write to one for reads");
  expect_rdma(&two, WRITE, 0, writes->rkey, STATUS_OK, "a write to one for writes");
  expect_rdma(&two, READ, 0, writes->rkey, STATUS_REMOTE_ADDRESS, "a read of one for writes");
}

static void closed_region(void) {
  struct two two = open_two((struct end_options){0});
  expect_both(&two, 0, 0, STATUS_OK, "an open region");
  expect("ibv_dereg_mr", 0, ibv_dereg_mr(two.to.mr));
  two.to.mr = NULL;
  expect_both(&two, 0, 0, STATUS_REMOTE_ADDRESS, "a closed region");
  close_two(&two);
}

static void destroyed_pair(void) {
  struct two two = open_two((struct end_options){0});
  receive(&two.to, 1, 0, 10);
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(two.to.qp));
  two.to.qp = NULL;
  carry(&two.from, (struct post){.way = &two.way, .length = 1}, STATUS_REMOTE_QUEUE_PAIR, "a send");
  expect_both(&two, 0, 0, STATUS_REMOTE_QUEUE_PAIR, "RDMA");
  close_two(&two);
}

// Whoever comes to the place of a closed queue pair does not get what was meant for it.
static void pair_at_the_same_place(void) {
  struct two two = open_two((struct end_options){0});
  uint32_t number = two.to.qp->qp_num;
  struct ibv_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
  do {
    expect("ibv_destroy_qp", 0, ibv_destroy_qp(two.to.qp));
    two.to.qp = new_pair(two.to.pd, two.to.sends, two.to.receives, cap, false);
  } while (two.to.qp != NULL && two.to.qp->qp_num % QUEUE_PAIRS != number % QUEUE_PAIRS);
  make_ready(two.to.qp);
  receive(&two.to, 1, 0, 10);
  carry(&two.from, (struct post){.way = &two.way, .length = 1}, STATUS_REMOTE_QUEUE_PAIR, "to its earlier number");
  two.way.to.number = two.to.qp->qp_num;
  carry(&two.from, (struct post){.way = &two.way, .length = 1}, STATUS_OK, "to its number");
}

static void wrong_qkey(void) {
  struct two two = open_two((struct end_options){0});
  receive(&two.to, 1, 0, 10);
  two.way.to.qkey = QKEY + 1;
  carry(&two.from, (struct post){.way = &two.way, .length = 1}, STATUS_REMOTE_QUEUE_PAIR, "a send");
  two.way.to.qkey = QKEY;
  carry(&two.from, (struct post){.way = &two.way, .length = 1}, STATUS_OK, "with the right one");
  close_two(&two);
}

static void pair_that_does_not_receive_yet(void) {
  struct two two = open_two((struct end_options){0});
  struct ibv_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
  struct end young = two.to;
  young.qp = new_pair(young.pd, young.sends, young.receives, cap, false);
  struct way way = way_between(&two.from, &young);
  struct post one = {.way = &way, .length = 1};
  carry(&two.from, one, STATUS_REMOTE_QUEUE_PAIR, "in RESET");
  expect("to INIT", 0, become(young.qp, IBV_QPS_INIT));
  receive(&young, 1, 0, 10);
  carry(&two.from, one, STATUS_REMOTE_QUEUE_PAIR, "in INIT");
  expect("to RTR", 0, become(young.qp, IBV_QPS_RTR));
  carry(&two.from, one, STATUS_OK, "in RTR");
}

static void pair_of_another_kind(void) {
  struct two two = open_two((struct end_options){0});
  struct end datagrams = open_end((struct end_options){.datagram = true});
  struct way way = way_between(&two.from, &datagrams);
  receive(&datagrams, 1, 0, 100);
  carry(&two.from, (struct post){.way = &way, .length = 1}, STATUS_REMOTE_QUEUE_PAIR, "a send to a pair of datagrams");
}

static void pair_in_error(void) {
  struct two two = open_two((struct end_options){0});
  expect("to ERR", 0, become(two.to.qp, IBV_QPS_ERR));
  carry(&two.from, (struct post){.way = &two.way, .length = 1}, STATUS_REMOTE_ABORT, "a send");
  expect_both(&two, 0, 0, STATUS_REMOTE_ABORT, "RDMA");
  close_two(&two);
}

static void own_pair_in_error(void) {
  struct two two = open_two((struct end_options){0});
  struct post one = {.id = 1, .way = &two.way, .length = 1};
  expect("a send without a receive", 0, post(&two.from, one));
  receive(&two.from, 2, 0, 10);
  expect("to ERR", 0, become(two.from.qp, IBV_QPS_ERR));
  await_status(two.from.sends, 1, STATUS_FLUSHED, "a send of before");
  await_status(two.from.receives, 2, STATUS_FLUSHED, "a receive of before");
  one.id = 3;
  carry(&two.from, one, STATUS_FLUSHED, "a send in ERR");
  receive(&two.to, 4, 0, 10);
  expect_quiet(two.to.receives, 30, "what was flushed");
  close_two(&two);
}

static void not_ready_bounded(void) {
  struct two two = open_two((struct end_options){.bounded_retries = 3});
  carry(&two.from, (struct post){.way = &two.way, .length = 1}, STATUS_REMOTE_NOT_READY, "a send without a receive");
  expect("attempts", 4, counter("not-ready"));
  receive(&two.to, 1, 0, 10);
  carry(&two.from, (struct post){.way = &two.way, .length = 1}, STATUS_OK, "a send with one");
  close_two(&two);
}

static void not_ready_unbounded(void) {
  struct two two = open_two((struct end_options){0});
  expect("a send", 0, post(&two.from, (struct post){.id = 1, .way = &two.way, .length = 1}));
  expect_quiet(two.from.sends, 200, "a send without a receive");
  receive(&two.to, 2, 0, 10);
  await_status(two.to.receives, 2, STATUS_OK, "the receive");
  await_status(two.from.sends, 1, STATUS_OK, "the send");
  close_two(&two);
}

static void not_ready_by_chance(void) {
  set("RNR", "50");
  struct two two = open_two((struct end_options){0});
  for (uint64_t id = 0; id < 50; id++) {
    receive(&two.to, id, 0, 10);
    expect("a send", 0, post(&two.from, (struct post){.id = id, .way = &two.way, .length = 1}));
  }
  for (int i = 0; i < 50; i++) expect("status", STATUS_OK, await(two.from.sends, "a send").status);
  for (int i = 0; i < 50; i++) expect("status", STATUS_OK, await(two.to.receives, "a receive").status);
  if (counter("not-ready") < 10) fail("expected that many were not ready, came %ld", counter("not-ready"));
  close_two(&two);
}

static void receive_too_short(void) {
  struct two two = open_two((struct end_options){0});
  two.to.memory[10] = 99;
  receive(&two.to, 1, 0, 10);
  carry(&two.from, (struct post){.way = &two.way, .length = 11}, STATUS_REMOTE_LENGTH, "a byte more than the receive");
  struct found found = await_status(two.to.receives, 1, STATUS_BAD_LENGTH, "the receive");
  expect("status of verbs", IBV_WC_LOC_LEN_ERR, found.verbs_status);
  expect("the byte after the receive", 99, two.to.memory[10]);
  receive(&two.to, 2, 0, 10);
  carry(&two.from, (struct post){.way = &two.way, .length = 10}, STATUS_OK, "as long as the receive");
  await_status(two.to.receives, 2, STATUS_OK, "the next receive");
  close_two(&two);
}

// RDMA is taken only of those whom the target has an address handle for.
static void unknown_peer(void) {
  set("DEVICES", "2");
  struct two two = {.from = open_end((struct end_options){0}), .to = open_end((struct end_options){.device = 1})};
  two.way = way_between(&two.from, &two.to);
  expect_both(&two, 0, 0, STATUS_UNKNOWN_PEER, "before it has a handle");
  receive(&two.to, 1, 0, 10);
  carry(&two.from, (struct post){.way = &two.way, .length = 1}, STATUS_OK, "a send all the same");
  struct way first = way_between(&two.to, &two.from), second = way_between(&two.to, &two.from);
  expect_both(&two, 0, 0, STATUS_OK, "with two handles");
  ibv_destroy_ah(first.ah);
  expect_both(&two, 0, 0, STATUS_OK, "with one");
  ibv_destroy_ah(second.ah);
  expect_both(&two, 0, 0, STATUS_UNKNOWN_PEER, "with none again");
  close_two(&two);
}

const struct test_case status_cases[] = {
    {"bad-rkey", bad_rkey, NULL},
    {"rkey-of-another-domain", rkey_of_another_domain, NULL},
    {"beyond-a-region", beyond_a_region, NULL},
    {"no-remote-rights", no_remote_rights, NULL},
    {"closed-region", closed_region, NULL},
    {"destroyed-pair", destroyed_pair, NULL},
    {"pair-at-the-same-place", pair_at_the_same_place, NULL},
    {"wrong-qkey", wrong_qkey, NULL},
    {"pair-that-does-not-receive-yet", pair_that_does_not_receive_yet, NULL},
    {"pair-of-another-kind", pair_of_another_kind, NULL},
    {"pair-in-error", pair_in_error, NULL},
    {"own-pair-in-error", own_pair_in_error, NULL},
    {"not-ready-bounded", not_ready_bounded, NULL},
    {"not-ready-unbounded", not_ready_unbounded, NULL},
    {"not-ready-by-chance", not_ready_by_chance, NULL},
    {"receive-too-short", receive_too_short, NULL},
    {"unknown-peer", unknown_peer, NULL},
    {0},
};
