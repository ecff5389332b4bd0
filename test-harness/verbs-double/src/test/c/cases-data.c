// Data, in order, between processes and within one.

#include <unistd.h>

#include "nics.h"

enum { ROUND = 10, FAR = 32768 };

static void target(struct peer *parent) {
  struct end end = open_end((struct end_options){0});
  struct place far = exchange(parent, &end);
  make_ready(&end, far.number);
  for (uint64_t id = 1; id <= ROUND; id++) receive(&end, id, id * 1000, 1000);
  tell(parent, "", 1);
  for (uint64_t id = 1; id <= ROUND; id++) {
    struct ibv_wc found = await(&end, id, IBV_WC_SUCCESS, "a receive");
    bool write = id % 2 == 0;
    expect("opcode", write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV, found.opcode);
    expect("length", 500 + (int64_t)id, found.byte_len);
    expect("sender", far.number, found.src_qp);
    expect("immediate data", true, (found.wc_flags & IBV_WC_WITH_IMM) != 0);
    expect("immediate data", (int64_t)(1000 + id), found.imm_data);
    uint64_t at = write ? FAR + id * 1000 : id * 1000;
    expect_pattern(end.memory + at, 500 + id, (int)id, "data");
  }
  tell(parent, "", 1);
  char word;
  hear(parent, &word, 1);
}

// Sends and writes with immediate data in turn, and what was written is read back.
static void data_arrives_in_order(const char *delay) {
  struct peer peer = start_peer(target);
  set("DELAY_US", delay);
  struct end end = open_end((struct end_options){0});
  struct place far = exchange(&peer, &end);
  make_ready(&end, far.number);
  char word;
  hear(&peer, &word, 1);
  for (uint64_t id = 1; id <= ROUND; id++) {
    fill_pattern(end.memory + id * 1000, 500 + id, (int)id);
    struct post one = {.id = id, .offset = id * 1000, .length = 500 + (uint32_t)id, .immediate = 1000 + (uint32_t)id};
    if (id % 2 == 0) {
      one.operation = WRITE;
      one.rkey = far.rkey;
      one.remote = far.address + FAR + id * 1000;
    }
    expect("post", 0, post(&end, one));
  }
  for (uint64_t id = 1; id <= ROUND; id++) await(&end, id, IBV_WC_SUCCESS, "in order");
  hear(&peer, &word, 1);
  struct post back = {.id = 99, .operation = READ, .length = 502, .rkey = far.rkey, .remote = far.address + FAR + 2000};
  expect("post", 0, post(&end, back));
  expect("opcode", IBV_WC_RDMA_READ, await(&end, 99, IBV_WC_SUCCESS, "a read").opcode);
  expect_pattern(end.memory, 502, 2, "read back");
  tell(&peer, "", 1);
  join_peer(&peer);
}

static void data_arrives(void) { data_arrives_in_order("0"); }
static void data_arrives_in_order_however_late(void) { data_arrives_in_order("2000"); }

static void what_is_not_signaled_is_not_told(void) {
  struct pair_of_ends ends = open_connected((struct end_options){.sends = 2}, (struct end_options){0});
  // More than the queue takes at once: the places of those that are not told are free as well.
  for (uint64_t id = 1; id <= 6; id++) {
    receive(&ends.to, id, 0, 8);
    expect("post", 0, post(&ends.from, (struct post){.id = id, .length = 1, .quiet = id != 6}));
    await(&ends.to, id, IBV_WC_SUCCESS, "the peer's");
  }
  await(&ends.from, 6, IBV_WC_SUCCESS, "the signaled one");
}

static void memory_is_read_when_it_is_sent(void) {
  set("DELAY_US", "200000");
  set("SEED", "3");
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  ends.from.memory[0] = 1;
  struct post one = {
      .id = 1, .operation = WRITE, .length = 1, .rkey = ends.to.mr->rkey, .remote = (uintptr_t)ends.to.memory};
  expect("post", 0, post(&ends.from, one));
  ends.from.memory[0] = 2;
  await(&ends.from, 1, IBV_WC_SUCCESS, "a write");
  expect("what came", 2, ends.to.memory[0]);
}

static void shared_receives_serve_all(void) {
  struct end first = open_end((struct end_options){0});
  struct ibv_srq_init_attr attributes = {.attr = {.max_wr = 4, .max_sge = 1}};
  struct ibv_srq *shared = ibv_create_srq(first.pd, &attributes);
  struct end to[2], from[2];
  for (int i = 0; i < 2; i++) {
    to[i] = open_beside(&first, (struct end_options){.shared = shared});
    from[i] = open_beside(&first, (struct end_options){0});
    make_ready(&to[i], from[i].qp->qp_num);
    make_ready(&from[i], to[i].qp->qp_num);
  }
  for (uint64_t id = 1; id <= 3; id++) {
    struct ibv_sge piece = {(uintptr_t)first.memory + id * 8, 8, first.mr->lkey};
    struct ibv_recv_wr request = {.wr_id = id, .sg_list = &piece, .num_sge = 1}, *bad;
    expect("ibv_post_srq_recv", 0, ibv_post_srq_recv(shared, &request, &bad));
  }
  for (uint64_t id = 1; id <= 2; id++) {
    expect("post", 0, post(&from[id - 1], (struct post){.id = id, .length = 4}));
    await(&from[id - 1], id, IBV_WC_SUCCESS, "a send");
    await(&to[id - 1], id, IBV_WC_SUCCESS, "a receive");
  }
  // One in its error state leaves them to the other.
  expect("to ERR", 0, become(&to[0], IBV_QPS_ERR, 0));
  expect_quiet(&to[0], 20, "shared receives");
  expect("post", 0, post(&from[1], (struct post){.id = 3, .length = 4}));
  await(&to[1], 3, IBV_WC_SUCCESS, "a receive");
}

static void a_channel_tells_of_a_completion(void) {
  struct end first = open_end((struct end_options){0});
  struct ibv_comp_channel *channel = ibv_create_comp_channel(first.context);
  struct end to = {.context = first.context, .pd = first.pd};
  to.queue = ibv_create_cq(first.context, 16, &to, channel, 0);
  struct ibv_qp_init_attr attributes = {.send_cq = to.queue,
                                        .recv_cq = to.queue,
                                        .qp_type = IBV_QPT_RC,
                                        .cap = {.max_send_wr = 4, .max_recv_wr = 4}};
  to.qp = ibv_create_qp(to.pd, &attributes);
  make_ready(&to, first.qp->qp_num);
  make_ready(&first, to.qp->qp_num);
  struct ibv_sge piece = {(uintptr_t)first.memory, 8, first.mr->lkey};
  struct ibv_recv_wr request = {.wr_id = 1, .sg_list = &piece, .num_sge = 1}, *bad;
  expect("ibv_post_recv", 0, ibv_post_recv(to.qp, &request, &bad));
  expect("ibv_req_notify_cq", 0, ibv_req_notify_cq(to.queue, 0));
  expect("post", 0, post(&first, (struct post){.id = 1, .length = 4}));
  struct ibv_cq *told;
  void *context;
  expect("ibv_get_cq_event", 0, ibv_get_cq_event(channel, &told, &context));
  expect("the queue", true, told == to.queue && context == &to);
  ibv_ack_cq_events(told, 1);
  await(&to, 1, IBV_WC_SUCCESS, "a receive");
}

static void only_queues_with_a_channel_tell(void) {
  struct end end = open_end((struct end_options){0});
  expect("ibv_req_notify_cq", true, ibv_req_notify_cq(end.queue, 0) != 0);
}

static void a_channel_in_use_stays(void) {
  struct ibv_context *context = open_nic(0);
  struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
  expect("a queue", true, ibv_create_cq(context, 4, NULL, channel, 0) != NULL);
  expect("ibv_destroy_comp_channel", true, ibv_destroy_comp_channel(channel) != 0);
}

const struct test_case data_cases[] = {
    {"data-arrives", data_arrives, NULL},
    {"data-arrives-in-order-however-late", data_arrives_in_order_however_late, NULL},
    {"what-is-not-signaled-is-not-told", what_is_not_signaled_is_not_told, NULL},
    {"memory-is-read-when-it-is-sent", memory_is_read_when_it_is_sent, NULL},
    {"shared-receives-serve-all", shared_receives_serve_all, NULL},
    {"a-channel-tells-of-a-completion", a_channel_tells_of_a_completion, NULL},
    {"only-queues-with-a-channel-tell", only_queues_with_a_channel_tell, "no-channel"},
    {"a-channel-in-use-stays", a_channel_in_use_stays, "channel-in-use"},
    {NULL, NULL, NULL},
};
