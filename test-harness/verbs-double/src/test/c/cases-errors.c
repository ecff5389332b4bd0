// What the peer refuses: the status at both ends, and that everything behind it is flushed.

#include <sys/mman.h>

#include "nics.h"

static uint32_t state_of(const struct end *end) { return ((struct queue_pair *)end->qp)->wire->state; }

static void expect_both_failed(const struct pair_of_ends *ends) {
  expect("the sender's state", IBV_QPS_ERR, state_of(&ends->from));
  expect("the target's state", IBV_QPS_ERR, state_of(&ends->to));
}

// Refused with REM_ACCESS_ERR; what waits behind is flushed, and the target's receives too.
static void expect_access_error(struct pair_of_ends *ends, struct post one) {
  receive(&ends->to, 50, 0, 8);
  one.id = 1;
  one.length = one.length != 0 ? one.length : 4;
  expect("post", 0, post(&ends->from, one));
  expect("post", 0, post(&ends->from, (struct post){.id = 2, .length = 4}));
  await(&ends->from, 1, IBV_WC_REM_ACCESS_ERR, "the refused one");
  await(&ends->from, 2, IBV_WC_WR_FLUSH_ERR, "the one behind it");
  await(&ends->to, 50, IBV_WC_WR_FLUSH_ERR, "a receive of the target");
  expect_both_failed(ends);
}

static void a_wrong_key_is_refused(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  struct place to = place_of(&ends.to);
  expect_access_error(&ends, (struct post){.operation = WRITE, .rkey = to.rkey + 1, .remote = to.address});
}

static void a_remote_key_has_a_range(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  struct place to = place_of(&ends.to);
  expect_access_error(&ends, (struct post){.operation = WRITE, .rkey = to.rkey, .remote = to.address + ends.to.bytes - 3});
}

static void before_a_region_is_beyond_it(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  struct place to = place_of(&ends.to);
  expect_access_error(&ends, (struct post){.operation = READ, .rkey = to.rkey, .remote = to.address - 1});
}

static void writes_need_the_regions_right(void) {
  struct pair_of_ends ends = open_connected(
      (struct end_options){0}, (struct end_options){.rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ});
  struct place to = place_of(&ends.to);
  expect_access_error(&ends, (struct post){.operation = WRITE, .rkey = to.rkey, .remote = to.address});
}

static void reads_need_the_regions_right(void) {
  struct pair_of_ends ends = open_connected(
      (struct end_options){0}, (struct end_options){.rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE});
  struct place to = place_of(&ends.to);
  expect_access_error(&ends, (struct post){.operation = READ, .rkey = to.rkey, .remote = to.address});
}

static void writes_need_the_queue_pairs_right(void) {
  struct pair_of_ends ends =
      open_connected((struct end_options){0}, (struct end_options){.access = IBV_ACCESS_REMOTE_READ});
  struct place to = place_of(&ends.to);
  expect_access_error(&ends, (struct post){.operation = WRITE, .rkey = to.rkey, .remote = to.address});
}

static void a_key_is_of_one_domain(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  struct end other = open_end((struct end_options){0});
  struct place there = place_of(&other);
  expect_access_error(&ends, (struct post){.operation = WRITE, .rkey = there.rkey, .remote = there.address});
}

static void a_closed_region_opens_nothing(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  struct ibv_mr *mr = ibv_reg_mr(ends.to.pd, ends.to.memory, 100, ALL_RIGHTS);
  uint32_t key = mr->rkey;
  expect("ibv_dereg_mr", 0, ibv_dereg_mr(mr));
  expect_access_error(&ends, (struct post){.operation = WRITE, .rkey = key, .remote = (uintptr_t)ends.to.memory});
}

// Memory that goes before its region: the region's owner broke a rule, and the writer is refused.
static void memory_stays_as_long_as_its_region(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct ibv_mr *mr = ibv_reg_mr(ends.to.pd, memory, 4096, ALL_RIGHTS);
  munmap(memory, 4096);
  struct post one = {.id = 1, .operation = WRITE, .length = 4, .rkey = mr->rkey, .remote = (uintptr_t)memory};
  expect("post", 0, post(&ends.from, one));
  await(&ends.from, 1, IBV_WC_REM_ACCESS_ERR, "a write into memory that is gone");
}

// Whatever the key: no byte of it is looked up.
static void nothing_needs_no_key(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  struct ibv_sge none = {0};
  struct post one = {.id = 1, .operation = WRITE, .rkey = 12345, .pieces = &none, .count = 1};
  expect("post", 0, post(&ends.from, one));
  await(&ends.from, 1, IBV_WC_SUCCESS, "a write of nothing");
}

static void a_receive_that_is_too_short(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  receive(&ends.to, 1, 0, 8);
  expect("post", 0, post(&ends.from, (struct post){.id = 2, .length = 9}));
  await(&ends.from, 2, IBV_WC_REM_INV_REQ_ERR, "the send");
  await(&ends.to, 1, IBV_WC_LOC_LEN_ERR, "the receive");
  expect_both_failed(&ends);
}

static void a_receive_without_a_region(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  struct ibv_sge piece = {(uintptr_t)ends.to.memory, 8, ends.to.mr->lkey + 1};
  struct ibv_recv_wr request = {.wr_id = 1, .sg_list = &piece, .num_sge = 1}, *bad;
  expect("ibv_post_recv", 0, ibv_post_recv(ends.to.qp, &request, &bad));
  expect("post", 0, post(&ends.from, (struct post){.id = 2, .length = 4}));
  await(&ends.from, 2, IBV_WC_REM_OP_ERR, "the send");
  await(&ends.to, 1, IBV_WC_LOC_PROT_ERR, "the receive");
  expect_both_failed(&ends);
}

static void who_is_not_ready_is_waited_for(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  expect("post", 0, post(&ends.from, (struct post){.id = 1, .length = 4}));
  expect_quiet(&ends.from, 30, "without a receive");
  receive(&ends.to, 2, 0, 8);
  await(&ends.from, 1, IBV_WC_SUCCESS, "with one");
}

static void not_for_longer_than_was_said(void) {
  struct pair_of_ends ends = open_connected((struct end_options){.bounded_retries = 2}, (struct end_options){0});
  expect("post", 0, post(&ends.from, (struct post){.id = 1, .length = 4}));
  expect("post", 0, post(&ends.from, (struct post){.id = 2, .length = 4}));
  await(&ends.from, 1, IBV_WC_RNR_RETRY_EXC_ERR, "the first");
  await(&ends.from, 2, IBV_WC_WR_FLUSH_ERR, "the second");
  // The target refused nothing.
  expect("the target's state", IBV_QPS_RTS, state_of(&ends.to));
}

static void writes_with_immediate_data_need_a_receive(void) {
  struct pair_of_ends ends = open_connected((struct end_options){.bounded_retries = 1}, (struct end_options){0});
  struct place to = place_of(&ends.to);
  struct post one = {.id = 1, .operation = WRITE, .length = 4, .rkey = to.rkey, .remote = to.address, .immediate = 5};
  expect("post", 0, post(&ends.from, one));
  await(&ends.from, 1, IBV_WC_RNR_RETRY_EXC_ERR, "without a receive");
}

static void nobody_answers_for_another(void) {
  set("TIMEOUT_MS", "50");
  struct end first = open_end((struct end_options){0});
  struct end second = open_beside(&first, (struct end_options){0}), third = open_beside(&first, (struct end_options){0});
  make_ready(&first, second.qp->qp_num);
  // The one that is asked is connected, but with another.
  make_ready(&second, third.qp->qp_num);
  receive(&second, 1, 0, 8);
  expect("post", 0, post(&first, (struct post){.id = 2, .length = 4}));
  await(&first, 2, IBV_WC_RETRY_EXC_ERR, "a send to who hears another");
  expect_quiet(&second, 10, "who hears another");
}

// rdma-core leaves them out: the provider's pointers in them are of memory that is free.
static void completions_go_with_their_queue_pair(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  receive(&ends.to, 1, 0, 8);
  expect("post", 0, post(&ends.from, (struct post){.id = 2, .length = 4}));
  await(&ends.to, 1, IBV_WC_SUCCESS, "the receive");
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(ends.from.qp));
  expect_quiet(&ends.from, 20, "of a queue pair that is no more");
}

const struct test_case error_cases[] = {
    {"a-wrong-key-is-refused", a_wrong_key_is_refused, NULL},
    {"a-remote-key-has-a-range", a_remote_key_has_a_range, NULL},
    {"before-a-region-is-beyond-it", before_a_region_is_beyond_it, NULL},
    {"writes-need-the-regions-right", writes_need_the_regions_right, NULL},
    {"reads-need-the-regions-right", reads_need_the_regions_right, NULL},
    {"writes-need-the-queue-pairs-right", writes_need_the_queue_pairs_right, NULL},
    {"a-key-is-of-one-domain", a_key_is_of_one_domain, NULL},
    {"a-closed-region-opens-nothing", a_closed_region_opens_nothing, NULL},
    {"memory-stays-as-long-as-its-region", memory_stays_as_long_as_its_region, "unmapped-memory"},
    {"nothing-needs-no-key", nothing_needs_no_key, NULL},
    {"a-receive-that-is-too-short", a_receive_that_is_too_short, NULL},
    {"a-receive-without-a-region", a_receive_without_a_region, "lkey"},
    {"who-is-not-ready-is-waited-for", who_is_not_ready_is_waited_for, NULL},
    {"not-for-longer-than-was-said", not_for_longer_than_was_said, NULL},
    {"writes-with-immediate-data-need-a-receive", writes_with_immediate_data_need_a_receive, NULL},
    {"nobody-answers-for-another", nobody_answers_for_another, NULL},
    {"completions-go-with-their-queue-pair", completions_go_with_their_queue_pair, NULL},
    {NULL, NULL, NULL},
};
