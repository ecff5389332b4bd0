// The rules of posting and polling, and of the memory that operations name.

#include <errno.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nics.h"

static void no_address(void) {
  struct end end = open_end((struct end_options){0});
  expect("by ibv_wr_*", EINVAL, post(&end, (struct post){.length = 1}));
  expect("by ibv_post_send", EINVAL, post_plain(&end, (struct post){.length = 1}));
  expect_broken(2, "two refusals");
  close_end(&end);
}

static void inline_limits(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  static const char data[LONGEST_INLINE + 1];
  struct post longer = {.way = &way, .inlined = data, .length = sizeof data};
  struct ibv_data_buf parts[] = {{(void *)data, 17}, {(void *)data, 16}};
  expect("by ibv_wr_*", EINVAL, post(&end, longer));
  expect("by ibv_post_send", EINVAL, post_plain(&end, longer));
  expect("RDMA", EINVAL, post(&end, (struct post){.operation = WRITE, .way = &way, .inlined = data, .length = 8}));
  ibv_wr_start(end.ex);
  ibv_wr_send(end.ex);
  ibv_wr_set_inline_data_list(end.ex, 2, parts);
  expect("two parts", EINVAL, ibv_wr_complete(end.ex));
  expect_broken(4, "four refusals");
}

static void capability_of_send(void) {
  set("GENERATION", "send");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  expect("a read", EINVAL, post(&end, (struct post){.operation = READ, .way = &way, .length = 1}));
  expect("a write", EINVAL, post(&end, (struct post){.operation = WRITE, .way = &way, .length = 1}));
  expect_broken(2, "a read and a write");
}

static void capability_of_read(void) {
  set("GENERATION", "read");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  carry(&end, (struct post){.operation = READ, .way = &way, .length = 1, .remote = 100}, STATUS_OK, "a read");
  expect_broken(0, "a read");
  expect("a write", EINVAL, post(&end, (struct post){.operation = WRITE, .way = &way, .length = 1, .immediate = 1}));
}

static void capability_of_post_send(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  expect("a write", EINVAL, post_plain(&end, (struct post){.operation = WRITE, .way = &way, .length = 1}));
}

static void capability_of_datagrams(void) {
  struct end end = open_end((struct end_options){.datagram = true}), other = end;
  struct way way = way_between(&end, &end);
  struct ibv_qp_init_attr_ex attributes = {.send_cq = end.qp->send_cq,
                                           .recv_cq = end.qp->recv_cq,
                                           .cap = {4, 4, 1, 1, 0},
                                           .qp_type = IBV_QPT_UD,
                                           .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                           .pd = end.pd,
                                           .send_ops_flags = IBV_QP_EX_WITH_SEND};
  other.qp = ibv_create_qp_ex(end.context, &attributes);
  if (other.qp == NULL) fail("ibv_create_qp_ex: expected a queue pair, came none: %s", strerror(errno));
  other.ex = ibv_qp_to_qp_ex(other.qp);
  make_ready(other.qp);
  carry(&other, (struct post){.way = &way, .length = 1}, STATUS_OK, "a datagram by ibv_wr_*");
  expect_broken(0, "a datagram");
  expect("a write", EINVAL, post(&other, (struct post){.operation = WRITE, .way = &way, .length = 1}));
}

static void piece_limits(void) {
  struct end end = open_end((struct end_options){.pieces = 1});
  struct way way = way_between(&end, &end);
  uint64_t address = (uintptr_t)end.memory;
  uint32_t key = end.mr->lkey;
  struct ibv_sge pieces[] = {{address, 1, key}, {address + 1, 1, key}, {address + 2, 1, key}};
  struct post three = {.way = &way, .pieces = pieces, .count = 3};
  struct ibv_recv_wr two = {.sg_list = pieces, .num_sge = 2}, *bad = NULL;
  expect("by ibv_wr_*", EINVAL, post(&end, three));
  expect("by ibv_post_send", EINVAL, post_plain(&end, three));
  expect("a receive of two on a queue pair made for one", EINVAL, ibv_post_recv(end.qp, &two, &bad));
  if (bad != &two) fail("expected that the refused receive is named");
  expect_broken(3, "three refusals");
}

static void domain_mismatch(void) {
  struct end end = open_end((struct end_options){0}), other = open_end((struct end_options){0});
  struct way way = way_between(&other, &end);
  expect("by ibv_wr_*", EINVAL, post(&end, (struct post){.way = &way, .length = 1}));
  expect("by ibv_post_send", EINVAL, post_plain(&end, (struct post){.way = &way, .length = 1}));
  expect_broken(2, "two refusals");
}

static void expect_arrived(struct end *end, uint64_t id, uint32_t bytes) {
  expect("bytes received", bytes, await_status(end->receives, id, STATUS_OK, "a receive").bytes);
}

// What each of the rules above allows.
static void posts_allowed(void) {
  struct end end = open_end((struct end_options){.pieces = 2});
  struct way way = way_between(&end, &end);
  uint64_t address = (uintptr_t)end.memory;
  struct ibv_sge pieces[] = {{address, 10, end.mr->lkey}, {address + 20, 10, end.mr->lkey}};
  struct ibv_recv_wr two = {.wr_id = 1, .sg_list = pieces, .num_sge = 2}, *bad = NULL;
  static const char data[LONGEST_INLINE];
  expect("a receive of two pieces", 0, ibv_post_recv(end.qp, &two, &bad));
  carry(&end, (struct post){.way = &way, .pieces = pieces, .count = 2}, STATUS_OK, "a send of two pieces");
  expect_arrived(&end, 1, 20);
  receive(&end, 2, 0, 100);
  carry(&end, (struct post){.way = &way, .inlined = data, .length = sizeof data}, STATUS_OK, "32 inline bytes");
  expect_arrived(&end, 2, 32);
  receive(&end, 3, 0, 0);
  ibv_wr_start(end.ex);
  ibv_wr_send(end.ex);
  ibv_wr_set_ud_addr(end.ex, way.ah, way.to.number, way.to.qkey);
  expect("a send of no piece at all", 0, ibv_wr_complete(end.ex));
  expect_arrived(&end, 3, 0);
  await_status(end.sends, 0, STATUS_OK, "a send of no piece at all");
}

static void batch_without_start(void) {
  struct end end = open_end((struct end_options){0});
  ibv_wr_send(end.ex);
  expect_broken(1, "ibv_wr_send");
  expect("ibv_wr_complete", EINVAL, ibv_wr_complete(end.ex));
  expect_broken(2, "ibv_wr_complete");
  ibv_wr_abort(end.ex);
  expect_broken(3, "ibv_wr_abort");
  ibv_wr_set_sge(end.ex, end.mr->lkey, (uintptr_t)end.memory, 1);
  expect_broken(4, "ibv_wr_set_sge");
  struct way way = way_between(&end, &end);
  receive(&end, 1, 0, 10);
  carry(&end, (struct post){.way = &way, .length = 1}, STATUS_OK, "a batch by the rules, after all that");
}

static void batch_without_operation(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  ibv_wr_start(end.ex);
  ibv_wr_set_ud_addr(end.ex, way.ah, way.to.number, QKEY);
  expect("an address", EINVAL, ibv_wr_complete(end.ex));
  ibv_wr_start(end.ex);
  ibv_wr_set_inline_data(end.ex, end.memory, 1);
  expect("inline data", EINVAL, ibv_wr_complete(end.ex));
  expect_broken(2, "two refusals");
}

static void batch_described_twice(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  ibv_wr_start(end.ex);
  ibv_wr_send(end.ex);
  ibv_wr_set_ud_addr(end.ex, way.ah, way.to.number, QKEY);
  ibv_wr_set_sge(end.ex, end.mr->lkey, (uintptr_t)end.memory, 1);
  ibv_wr_set_sge(end.ex, end.mr->lkey, (uintptr_t)end.memory + 1, 1);
  expect("pieces twice", EINVAL, ibv_wr_complete(end.ex));
  ibv_wr_start(end.ex);
  ibv_wr_send(end.ex);
  ibv_wr_set_ud_addr(end.ex, way.ah, way.to.number, QKEY);
  ibv_wr_set_sge(end.ex, end.mr->lkey, (uintptr_t)end.memory, 1);
  ibv_wr_set_inline_data(end.ex, end.memory, 1);
  expect("pieces and inline data", EINVAL, ibv_wr_complete(end.ex));
  expect_broken(2, "two refusals");
}

static void batch_aborted(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  struct post one = {.id = 1, .way = &way, .length = 1};
  receive(&end, 1, 0, 10);
  ibv_wr_start(end.ex);
  add(&end, &one);
  ibv_wr_abort(end.ex);
  expect_quiet(end.sends, 50, "after an abort");
  ibv_wr_start(end.ex);
  expect("an empty batch", 0, ibv_wr_complete(end.ex));
  carry(&end, one, STATUS_OK, "the next batch");
}

static void poll_order(void) {
  struct end end = open_end((struct end_options){0});
  struct ibv_poll_cq_attr attributes = {.comp_mask = 0};
  expect("ibv_next_poll", EINVAL, ibv_next_poll(end.sends));
  ibv_end_poll(end.sends);
  expect_broken(2, "two calls without a start");
  expect("ibv_start_poll", ENOENT, ibv_start_poll(end.sends, &attributes));
  ibv_end_poll(end.sends);
  expect_broken(3, "an end after a start that found nothing");
}

static void poll_allowed(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  struct ibv_poll_cq_attr attributes = {.comp_mask = 0}, unknown = {.comp_mask = 1};
  expect("an unknown attribute", EINVAL, ibv_start_poll(end.sends, &unknown));
  for (uint64_t id = 0; id < 3; id++) {
    receive(&end, id, 0, 10);
    expect("a send", 0, post(&end, (struct post){.id = id, .way = &way, .length = 1}));
  }
  for (uint64_t id = 0; id < 3; id++) await_status(end.receives, id, STATUS_OK, "a receive");
  // All three have been sent, and are polled in one go.
  while (ibv_start_poll(end.sends, &attributes) == ENOENT) pause_ms(1);
  expect("the first", 0, (int64_t)end.sends->wr_id);
  for (uint64_t id = 1; id < 3; id++) {
    while (ibv_next_poll(end.sends) == ENOENT) pause_ms(1);
    expect("the next", (int64_t)id, (int64_t)end.sends->wr_id);
  }
  expect("after the last", ENOENT, ibv_next_poll(end.sends));
  ibv_end_poll(end.sends);
  expect("again", ENOENT, ibv_start_poll(end.sends, &attributes));
}

static void fill_queue(uint32_t count) {
  struct end end = open_end((struct end_options){.completions = 4});
  struct way way = way_between(&end, &end);
  for (uint64_t id = 0; id < count; id++) {
    expect("a send", 0, post(&end, (struct post){.id = id, .way = &way, .length = 1}));
    receive(&end, id, 0, 10);
  }
  for (uint64_t end_time = milliseconds() + 20000; counter("sends") < count && milliseconds() < end_time;) pause_ms(5);
  expect("sends carried out", count, counter("sends"));
  for (uint64_t id = 0; id < 4; id++) await_status(end.receives, id, STATUS_OK, "a receive that fitted");
  expect_quiet(end.receives, 20, "after those that fitted");
}

static void completion_queue_overrun(void) { fill_queue(6); }
static void completion_queue_full(void) { fill_queue(4); }

static void lkey_of_sends(void) {
  struct end end = open_end((struct end_options){0}), other = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  uint64_t address = (uintptr_t)end.memory;
  struct ibv_mr *readable = new_region(end.pd, end.memory, end.bytes, IBV_ACCESS_REMOTE_READ);
  struct ibv_mr *closed = new_region(end.pd, end.memory, end.bytes, ALL_LOCAL);
  struct ibv_sge wrong[] = {{address, 1, end.mr->lkey + (1 << 14)},
                            {(uintptr_t)other.memory, 1, other.mr->lkey},
                            {address + end.bytes - 1, 2, end.mr->lkey},
                            {address - 1, 1, end.mr->lkey},
                            {address, 1, closed->lkey}};
  expect("ibv_dereg_mr", 0, ibv_dereg_mr(closed));
  receive(&end, 1, 0, 10);
  for (int i = 0; i < 5; i++) {
    carry(&end, (struct post){.way = &way, .pieces = &wrong[i], .count = 1}, STATUS_BAD_LKEY, "a send");
    expect_broken(i + 1, "a send");
  }
  struct ibv_sge into = {address, 8, readable->lkey};
  struct post read = {.operation = READ, .way = &way, .pieces = &into, .count = 1, .remote = 100};
  carry(&end, read, STATUS_BAD_LKEY, "a read into a region without local writes");
  expect_broken(6, "a read");
  expect_quiet(end.receives, 20, "the receive is left");
}

static void lkey_of_receives(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  struct ibv_mr *readable = new_region(end.pd, end.memory, end.bytes, 0);
  uint32_t keys[] = {end.mr->lkey + (1 << 14), readable->lkey};
  for (uint64_t i = 0; i < 2; i++) {
    struct ibv_sge piece = {(uintptr_t)end.memory, 10, keys[i]};
    struct ibv_recv_wr request = {.wr_id = i, .sg_list = &piece, .num_sge = 1}, *bad = NULL;
    expect("ibv_post_recv", 0, ibv_post_recv(end.qp, &request, &bad));
    carry(&end, (struct post){.way = &way, .length = 1}, STATUS_REMOTE_STATUS, "a send");
    await_status(end.receives, i, STATUS_BAD_LKEY, "its receive");
  }
  expect_broken(2, "two receives");
}

static void lkey_unused(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  struct ibv_mr *readable = new_region(end.pd, end.memory, end.bytes, 0);
  struct ibv_sge empty = {0, 0, 0}, last = {(uintptr_t)end.memory + end.bytes - 8, 8, readable->lkey};
  receive(&end, 1, 0, 10);
  carry(&end, (struct post){.way = &way, .pieces = &empty, .count = 1}, STATUS_OK, "no bytes, under no key");
  receive(&end, 2, 0, 10);
  carry(&end, (struct post){.way = &way, .pieces = &last, .count = 1}, STATUS_OK, "a region's last bytes");
  carry(&end, (struct post){.operation = WRITE, .way = &way, .inlined = NULL, .pieces = &last, .count = 1}, STATUS_OK,
        "written from a region without local writes");
}

// A region whose memory the program has given back.
static struct ibv_mr *unmapped_region(struct end *end) {
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct ibv_mr *mr = new_region(end->pd, memory, 4096, all_rights(end->context));
  munmap(memory, 4096);
  return mr;
}

static void unmapped_memory(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end), lost = way;
  struct ibv_mr *mr = unmapped_region(&end);
  struct ibv_sge piece = {(uintptr_t)mr->addr, 8, mr->lkey};
  lost.to.address = (uintptr_t)mr->addr;
  lost.to.rkey = mr->rkey;
  carry(&end, (struct post){.operation = WRITE, .way = &lost, .length = 8}, STATUS_REMOTE_ADDRESS, "a write to it");
  expect_broken(1, "a write");
  carry(&end, (struct post){.operation = READ, .way = &lost, .length = 8}, STATUS_REMOTE_ADDRESS, "a read of it");
  expect_broken(2, "a read");
  struct ibv_recv_wr request = {.wr_id = 1, .sg_list = &piece, .num_sge = 1}, *bad = NULL;
  expect("ibv_post_recv", 0, ibv_post_recv(end.qp, &request, &bad));
  carry(&end, (struct post){.way = &way, .length = 8}, STATUS_REMOTE_STATUS, "a send to a receive in it");
  await_status(end.receives, 1, STATUS_BAD_LKEY, "a receive in it");
  expect_broken(3, "a receive");
  struct post from_it = {.operation = WRITE, .way = &way, .pieces = &piece, .count = 1};
  expect("a write from it", 0, post(&end, from_it));
  if (await(end.sends, "a write from it").status == STATUS_OK) fail("a write from it: expected an error, came none");
  expect_broken(4, "a write from it");
}

// A peer that may not be traced, by a sender without the right to do so all the same.
static void untraceable_receiver(struct peer *parent) {
  struct end end = open_end((struct end_options){0});
  prctl(PR_SET_DUMPABLE, 0);
  receive(&end, 1, 0, 100);
  exchange(parent, &end);
  await_status(end.receives, 1, STATUS_BAD_LKEY, "the receive");
}

static void give_up_tracing(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) != 0) fail("capget: %s", strerror(errno));
  data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective &= ~CAP_TO_MASK(CAP_SYS_PTRACE);
  data[CAP_TO_INDEX(CAP_SYS_PTRACE)].permitted &= ~CAP_TO_MASK(CAP_SYS_PTRACE);
  if (syscall(SYS_capset, &header, data) != 0) fail("capset: %s", strerror(errno));
}

static void machine(void) {
  struct peer peer = start_peer(untraceable_receiver);
  give_up_tracing();
  struct end end = open_end((struct end_options){0});
  struct way way = way_to(&end, exchange(&peer, &end));
  carry(&end, (struct post){.way = &way, .length = 8}, STATUS_REMOTE_STATUS, "a send");
  join_peer(&peer);
}

const struct test_case posting_cases[] = {
    {"no-address", no_address, "no-address"},
    {"inline-limits", inline_limits, "inline-limits"},
    {"capability-of-send", capability_of_send, "capability"},
    {"capability-of-read", capability_of_read, "capability"},
    {"capability-of-post-send", capability_of_post_send, "capability"},
    {"capability-of-datagrams", capability_of_datagrams, "capability"},
    {"piece-limits", piece_limits, "piece-limits"},
    {"domain-mismatch", domain_mismatch, "domain-mismatch"},
    {"posts-allowed", posts_allowed, NULL},
    {"batch-without-start", batch_without_start, "batch-order"},
    {"batch-without-operation", batch_without_operation, "batch-order"},
    {"batch-described-twice", batch_described_twice, "batch-order"},
    {"batch-aborted", batch_aborted, NULL},
    {"poll-order", poll_order, "poll-order"},
    {"poll-allowed", poll_allowed, NULL},
    {"completion-queue-overrun", completion_queue_overrun, "completion-queue-overrun"},
    {"completion-queue-full", completion_queue_full, NULL},
    {"lkey-of-sends", lkey_of_sends, "lkey"},
    {"lkey-of-receives", lkey_of_receives, "lkey"},
    {"lkey-unused", lkey_unused, NULL},
    {"unmapped-memory", unmapped_memory, "unmapped-memory"},
    {"machine", machine, "machine"},
    {0},
};
