// Queues that are full, read and closed, and what a completion and a NIC tell.

#include <errno.h>

#include "nics.h"

static void send_queue_full(void) {
  struct end end = open_end((struct end_options){.sends = 4});
  struct way way = way_between(&end, &end);
  struct post one = {.way = &way, .length = 1};
  for (int i = 0; i < 4; i++) expect("a send that fits", 0, i % 2 ? post(&end, one) : post_plain(&end, one));
  expect("one more by ibv_wr_*", ENOMEM, post(&end, one));
  expect("one more by ibv_post_send", ENOMEM, post_plain(&end, one));
  for (uint64_t id = 0; id < 4; id++) receive(&end, id, 0, 10);
  for (uint64_t id = 0; id < 4; id++) await(end.receives, "a receive");
  // Carried out, which the program does not know yet.
  expect("before polling", ENOMEM, post(&end, one));
  await(end.sends, "a send");
  expect("after polling", 0, post(&end, one));
  expect("then", ENOMEM, post(&end, one));
  ibv_wr_start(end.ex);
  for (int i = 0; i < 5; i++) add(&end, &one);
  expect("a batch longer than the queue", ENOMEM, ibv_wr_complete(end.ex));
}

static void receive_queue_full(void) {
  struct end end = open_end((struct end_options){.receives = 4});
  struct way way = way_between(&end, &end);
  for (uint64_t id = 0; id < 4; id++) receive(&end, id, 0, 10);
  expect("one more", ENOMEM, try_receive(&end, 4, 0, 10));
  carry(&end, (struct post){.way = &way, .length = 1}, STATUS_OK, "a send");
  await_status(end.receives, 0, STATUS_OK, "the first receive");
  receive(&end, 4, 0, 10);
  expect("then", ENOMEM, try_receive(&end, 5, 0, 10));
}

// Of a list the first that is refused is named, and those before it are posted.
static void list_of_sends(void) {
  struct end end = open_end((struct end_options){.sends = 2});
  struct way way = way_between(&end, &end);
  struct ibv_sge piece = {(uintptr_t)end.memory, 1, end.mr->lkey};
  struct ibv_send_wr list[3], *bad = NULL;
  for (int i = 0; i < 3; i++) {
    list[i] = (struct ibv_send_wr){.wr_id = (uint64_t)i, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND,
                                   .next = i < 2 ? &list[i + 1] : NULL};
    list[i].wr.ud.ah = way.ah;
    list[i].wr.ud.remote_qpn = way.to.number;
    list[i].wr.ud.remote_qkey = QKEY;
    receive(&end, (uint64_t)i, 0, 10);
  }
  expect("three for a queue of two", ENOMEM, ibv_post_send(end.qp, list, &bad));
  if (bad != &list[2]) fail("expected that the third is named");
  for (uint64_t id = 0; id < 2; id++) await_status(end.sends, id, STATUS_OK, "those before it");
  expect_quiet(end.sends, 20, "after those before it");
}

static void plain_completion_queue(void) {
  struct end end = open_end((struct end_options){0});
  struct ibv_cq *plain = ibv_create_cq(end.context, 16, NULL, NULL, 0);
  struct ibv_qp_cap cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1};
  struct end other = end;
  other.qp = new_pair(end.pd, (struct ibv_cq_ex *)plain, (struct ibv_cq_ex *)plain, cap, false);
  other.ex = ibv_qp_to_qp_ex(other.qp);
  make_ready(other.qp);
  struct way way = way_between(&other, &other);
  receive(&other, 1, 100, 10);
  expect("a send", 0, post(&other, (struct post){.id = 2, .way = &way, .length = 9, .immediate = 3}));
  struct ibv_wc found[2];
  int count = 0;
  for (uint64_t end_time = milliseconds() + 20000; count < 2 && milliseconds() < end_time;) {
    count += ibv_poll_cq(plain, 1, &found[count]);
  }
  expect("completions", 2, count);
  expect("the target's first", 1, (int64_t)found[0].wr_id);
  expect("bytes", 9, found[0].byte_len);
  expect("immediate data", 3, found[0].imm_data);
  expect("source queue pair", other.qp->qp_num, found[0].src_qp);
  expect("the sender's next", 2, (int64_t)found[1].wr_id);
  expect("its status", IBV_WC_SUCCESS, found[1].status);
}

// Who has sent it is a number where there is an address handle, and an address otherwise.
static void source_of_a_message(void) {
  set("DEVICES", "2");
  struct end from = open_end((struct end_options){0}), to = open_end((struct end_options){.device = 1});
  struct way way = way_between(&from, &to);
  receive(&to, 1, 0, 10);
  carry(&from, (struct post){.way = &way, .length = 1}, STATUS_OK, "a send");
  struct found found = await(to.receives, "a receive");
  expect("the handle's number", NO_HANDLE, found.handle);
  expect("wc_read_sgid", 0, found.gid_error);
  struct place sender = place_of(&from);
  if (memcmp(found.gid.raw, sender.gid, 16) != 0) fail("expected the sender's address, came another");
  struct way back = way_between(&to, &from);
  struct efadv_ah_attr attributes;
  expect("efadv_query_ah", 0, efadv_query_ah(back.ah, &attributes, sizeof attributes));
  receive(&to, 2, 0, 10);
  carry(&from, (struct post){.way = &way, .length = 1}, STATUS_OK, "a send");
  found = await(to.receives, "a receive");
  expect("the handle's number", attributes.ahn, found.handle);
  expect("wc_read_sgid", -ENOENT, found.gid_error);
}

static void expect_capabilities(const char *generation, bool reads, bool writes) {
  set("GENERATION", generation);
  struct ibv_context *context = open_nic(0);
  struct efadv_device_attr attributes;
  expect("efadv_query_device", 0, efadv_query_device(context, &attributes, sizeof attributes));
  expect("reads", reads, (attributes.device_caps & CAN_READ) != 0);
  expect("writes", writes, (attributes.device_caps & CAN_WRITE) != 0);
  expect("unsolicited writes", writes, (attributes.device_caps & CAN_RECEIVE_UNSOLICITED) != 0);
  expect("sends", SEND_DEPTH, attributes.max_sq_wr);
  expect("inline bytes", LONGEST_INLINE, attributes.inline_buf_size);
}

static void generation_send(void) { expect_capabilities("send", false, false); }
static void generation_read(void) { expect_capabilities("read", true, false); }
static void generation_write(void) { expect_capabilities("write", true, true); }

static void completions_of_a_closed_pair(void) {
  struct end end = open_end((struct end_options){0}), other = end;
  struct ibv_qp_cap cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1};
  struct way way = way_between(&end, &end);
  other.qp = new_pair(end.pd, end.sends, end.receives, cap, false);
  other.ex = ibv_qp_to_qp_ex(other.qp);
  make_ready(other.qp);
  receive(&end, 1, 0, 10);
  expect("a send", 0, post(&other, (struct post){.id = 2, .way = &way, .length = 1}));
  await_status(end.receives, 1, STATUS_OK, "its receive");
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(other.qp));
  expect_quiet(end.sends, 50, "of a queue pair that is no more");
}

const struct test_case queue_cases[] = {
    {"send-queue-full", send_queue_full, NULL},
    {"receive-queue-full", receive_queue_full, NULL},
    {"list-of-sends", list_of_sends, NULL},
    {"plain-completion-queue", plain_completion_queue, NULL},
    {"source-of-a-message", source_of_a_message, NULL},
    {"generation-send", generation_send, NULL},
    {"generation-read", generation_read, NULL},
    {"generation-write", generation_write, NULL},
    {"completions-of-a-closed-pair", completions_of_a_closed_pair, NULL},
    {0},
};
