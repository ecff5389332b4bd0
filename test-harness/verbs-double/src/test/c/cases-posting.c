// What an operation may be when it is posted, and when it is carried out.

#include <errno.h>

#include "nics.h"

static struct pair_of_ends connected(void) {
  return open_connected((struct end_options){0}, (struct end_options){0});
}

static void too_much_inline_is_refused(void) {
  struct pair_of_ends ends = open_connected((struct end_options){.inlined = 32}, (struct end_options){0});
  receive(&ends.to, 1, 0, 64);
  expect("33 bytes", EINVAL, post(&ends.from, (struct post){.length = 33, .inlined = true}));
  expect("32 bytes", 0, post(&ends.from, (struct post){.id = 2, .length = 32, .inlined = true}));
  await(&ends.from, 2, IBV_WC_SUCCESS, "what fits");
}

static void reads_are_not_inline(void) {
  struct pair_of_ends ends = connected();
  expect("a read", EINVAL, post(&ends.from, (struct post){.operation = READ, .length = 1, .inlined = true}));
}

// Inline data is the caller's again after the post, and needs no region.
static void inline_data_is_taken_along(void) {
  set("DELAY_US", "3000");
  struct pair_of_ends ends = connected();
  uint8_t own[16];
  fill_pattern(own, sizeof own, 1);
  struct ibv_sge piece = {(uintptr_t)own, sizeof own, 0};
  receive(&ends.to, 1, 0, 64);
  expect("post", 0, post(&ends.from, (struct post){.id = 2, .inlined = true, .pieces = &piece, .count = 1}));
  memset(own, 0, sizeof own);
  await(&ends.from, 2, IBV_WC_SUCCESS, "the send");
  expect_pattern(ends.to.memory, sizeof own, 1, "inline data");
}

static void too_many_pieces_are_refused(void) {
  struct pair_of_ends ends = open_connected((struct end_options){.pieces = 2}, (struct end_options){0});
  struct ibv_sge pieces[3];
  for (int i = 0; i < 3; i++) pieces[i] = (struct ibv_sge){(uintptr_t)ends.from.memory, 1, ends.from.mr->lkey};
  expect("a send", EINVAL, post(&ends.from, (struct post){.pieces = pieces, .count = 3}));
  struct ibv_recv_wr request = {.sg_list = pieces, .num_sge = 3}, *bad;
  expect("a receive", EINVAL, ibv_post_recv(ends.from.qp, &request, &bad));
  expect_broken(2, "pieces");
}

// No broken rule: the provider tries again.
static void a_full_queue_refuses(void) {
  struct pair_of_ends ends =
      open_connected((struct end_options){.sends = 2}, (struct end_options){.receives = 2});
  for (uint64_t id = 1; id <= 2; id++) receive(&ends.to, id, 0, 8);
  expect("a third receive", ENOMEM, try_receive(&ends.to, 3, 0, 8));
  for (uint64_t id = 1; id <= 2; id++) expect("post", 0, post(&ends.from, (struct post){.id = id, .length = 1}));
  expect("a third send", ENOMEM, post(&ends.from, (struct post){.id = 3, .length = 1}));
  await(&ends.from, 1, IBV_WC_SUCCESS, "the first");
  // Polled, its place is free.
  expect("a send again", 0, post(&ends.from, (struct post){.id = 3, .length = 1}));
}

static void a_message_has_an_end(void) {
  struct pair_of_ends ends = open_connected((struct end_options){.pieces = 2}, (struct end_options){0});
  struct ibv_sge pieces[2] = {{(uintptr_t)ends.from.memory, 1u << 30, ends.from.mr->lkey},
                              {(uintptr_t)ends.from.memory, 1, ends.from.mr->lkey}};
  expect("a GiB and a byte", EINVAL, post(&ends.from, (struct post){.pieces = pieces, .count = 2}));
}

static void atomics_are_not_there(void) {
  struct pair_of_ends ends = connected();
  struct ibv_send_wr request = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD}, *bad;
  expect("an atomic", EINVAL, ibv_post_send(ends.from.qp, &request, &bad));
}

static void a_shared_queue_takes_all_receives(void) {
  struct end first = open_end((struct end_options){0});
  struct ibv_srq_init_attr attributes = {.attr = {.max_wr = 4, .max_sge = 1}};
  struct ibv_srq *shared = ibv_create_srq(first.pd, &attributes);
  struct end end = open_beside(&first, (struct end_options){.shared = shared});
  make_ready(&end, 1);
  expect("to the queue pair", EINVAL, try_receive(&end, 1, 0, 8));
}

// The local key is looked at when the operation is carried out, with range, rights and domain.
static void expect_refused(struct pair_of_ends *ends, struct ibv_sge piece, enum operation operation, const char *what) {
  struct post one = {.id = 7,
                     .operation = operation,
                     .pieces = &piece,
                     .count = 1,
                     .rkey = ends->to.mr->rkey,
                     .remote = (uintptr_t)ends->to.memory};
  expect(what, 0, post(&ends->from, one));
  await(&ends->from, 7, IBV_WC_LOC_PROT_ERR, what);
  expect("the queue pair's state", IBV_QPS_ERR, ((struct queue_pair *)ends->from.qp)->wire->state);
}

static void a_local_key_has_a_range(void) {
  struct pair_of_ends ends = connected();
  struct ibv_sge piece = {(uintptr_t)ends.from.memory + ends.from.bytes - 4, 5, ends.from.mr->lkey};
  expect_refused(&ends, piece, WRITE, "beyond the end");
}

static void a_local_key_has_an_end_of_life(void) {
  struct pair_of_ends ends = connected();
  struct ibv_mr *mr = ibv_reg_mr(ends.from.pd, ends.from.memory, 100, ALL_RIGHTS);
  struct ibv_sge piece = {(uintptr_t)ends.from.memory, 5, mr->lkey};
  expect("ibv_dereg_mr", 0, ibv_dereg_mr(mr));
  expect_refused(&ends, piece, WRITE, "a closed region");
}

static void a_local_key_has_a_domain(void) {
  struct pair_of_ends ends = connected();
  struct end other = open_end((struct end_options){0});
  struct ibv_sge piece = {(uintptr_t)other.memory, 5, other.mr->lkey};
  expect_refused(&ends, piece, WRITE, "another domain's");
}

static void reads_write_local_memory(void) {
  struct pair_of_ends ends = open_connected((struct end_options){.rights = IBV_ACCESS_REMOTE_READ}, (struct end_options){0});
  struct ibv_sge piece = {(uintptr_t)ends.from.memory, 5, ends.from.mr->lkey};
  expect_refused(&ends, piece, READ, "a read into memory that may not be written");
}

static void a_completion_queue_overruns_loudly(void) {
  struct pair_of_ends ends = open_connected((struct end_options){.completions = 2}, (struct end_options){0});
  for (uint64_t id = 1; id <= 3; id++) {
    receive(&ends.to, id, 0, 8);
    expect("post", 0, post(&ends.from, (struct post){.id = id, .length = 1}));
  }
  for (uint64_t id = 1; id <= 3; id++) await(&ends.to, id, IBV_WC_SUCCESS, "the peer's");
  // The adapters' own thread carries all of it out; nobody polls meanwhile.
  for (uint64_t start = milliseconds(); milliseconds() - start < 5000;) {
    if (counter("violations") > 0) return;
    pause_ms(5);
  }
  fail("expected an overrun, came none");
}

const struct test_case posting_cases[] = {
    {"too-much-inline-is-refused", too_much_inline_is_refused, "inline-limits"},
    {"reads-are-not-inline", reads_are_not_inline, "inline-limits"},
    {"inline-data-is-taken-along", inline_data_is_taken_along, NULL},
    {"too-many-pieces-are-refused", too_many_pieces_are_refused, "piece-limits"},
    {"a-full-queue-refuses", a_full_queue_refuses, NULL},
    {"a-message-has-an-end", a_message_has_an_end, "message-limits"},
    {"atomics-are-not-there", atomics_are_not_there, "capability"},
    {"a-shared-queue-takes-all-receives", a_shared_queue_takes_all_receives, "queue-pair-state"},
    {"a-local-key-has-a-range", a_local_key_has_a_range, "lkey"},
    {"a-local-key-has-an-end-of-life", a_local_key_has_an_end_of_life, "lkey"},
    {"a-local-key-has-a-domain", a_local_key_has_a_domain, "lkey"},
    {"reads-write-local-memory", reads_write_local_memory, "lkey"},
    {"a-completion-queue-overruns-loudly", a_completion_queue_overruns_loudly, "completion-queue-overrun"},
    {NULL, NULL, NULL},
};
