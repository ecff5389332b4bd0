// What operations carry: bytes, lengths, immediate data, who sent it; by one process to itself, and between two.

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nics.h"

static const uint32_t sizes[] = {0, 1, 32, LONGEST_PACKET};
enum { SIZES = sizeof sizes / sizeof *sizes, BIG = 4 << 20, FAR = 1 << 15 };

static void expect_message(const struct found *found, const struct way *sender, uint32_t bytes, uint32_t immediate) {
  expect("opcode", IBV_WC_RECV, found->opcode);
  expect("bytes", bytes, found->bytes);
  expect("source queue pair", sender->to.number, found->source);
  expect("with immediate data", immediate != 0, found->with_immediate);
  expect("immediate data", immediate, found->immediate);
  expect("unsolicited", false, found->unsolicited);
}

// Each size plainly, with immediate data, and inline where it fits; the same order at both sides.
static void send_sizes(struct end *end, const struct way *way) {
  uint64_t id = 100;
  for (int i = 0; i < SIZES; i++) {
    fill_pattern(end->memory, sizes[i], i);
    struct post one = {.id = id++, .way = way, .length = sizes[i]};
    struct found found = carry(end, one, STATUS_OK, "a send");
    expect("opcode of a send", IBV_WC_SEND, found.opcode);
    expect("queue pair of a send", end->qp->qp_num, found.number);
    one.id = id++;
    one.immediate = 0xfeed0000 + sizes[i];
    carry(end, one, STATUS_OK, "a send with immediate data");
    one.id = id++;
    if (sizes[i] <= LONGEST_INLINE) one.inlined = end->memory;
    expect("ibv_post_send", 0, post_plain(end, one));
    await_status(end->sends, one.id, STATUS_OK, "a send by ibv_post_send");
  }
}

static void receive_sizes(struct end *end, const struct way *sender) {
  uint64_t id = 1;
  for (int i = 0; i < SIZES; i++) {
    for (int j = 0; j < 3; j++, id++) {
      struct found found = await_status(end->receives, id, STATUS_OK, "a receive");
      expect_message(&found, sender, sizes[i], j == 0 ? 0 : 0xfeed0000 + sizes[i]);
      expect("queue pair of a receive", end->qp->qp_num, found.number);
      expect_pattern(end->memory + FAR + id * 10000, sizes[i], i, "a receive");
    }
  }
}

static struct end end_of_sizes(void) { return open_end((struct end_options){.bytes = 1 << 18}); }

static void post_sizes(struct end *end) {
  for (uint64_t id = 1; id <= 3 * SIZES; id++) receive(end, id, FAR + id * 10000, LONGEST_PACKET);
}

static void send_to_itself(void) {
  struct end end = end_of_sizes();
  struct way way = way_between(&end, &end);
  post_sizes(&end);
  send_sizes(&end, &way);
  receive_sizes(&end, &way);
  ibv_destroy_ah(way.ah);
  close_end(&end);
}

static void receiver_of_sizes(struct peer *parent) {
  struct end end = end_of_sizes();
  post_sizes(&end);
  struct way way = way_to(&end, exchange(parent, &end));
  receive_sizes(&end, &way);
  tell(parent, "", 1);
  char received;
  hear(parent, &received, 1);
  send_sizes(&end, &way);
  ibv_destroy_ah(way.ah);
  close_end(&end);
}

static void send_between_processes(void) {
  struct peer peer = start_peer(receiver_of_sizes);
  struct end end = end_of_sizes();
  struct way way = way_to(&end, exchange(&peer, &end));
  char received;
  send_sizes(&end, &way);
  hear(&peer, &received, 1);
  post_sizes(&end);
  tell(&peer, "", 1);
  receive_sizes(&end, &way);
  join_peer(&peer);
  ibv_destroy_ah(way.ah);
  close_end(&end);
}

static void longer_than_a_packet(void) {
  struct end end = end_of_sizes();
  struct way way = way_between(&end, &end);
  receive(&end, 1, FAR, 2 * LONGEST_PACKET);
  carry(&end, (struct post){.way = &way, .length = LONGEST_PACKET + 1}, STATUS_BAD_LENGTH, "a byte more than a packet");
  carry(&end, (struct post){.way = &way, .length = LONGEST_PACKET}, STATUS_OK, "a packet");
  expect("bytes", LONGEST_PACKET, await_status(end.receives, 1, STATUS_OK, "the receive").bytes);
}

static void rdma_of(struct end *end, const struct way *way, uint32_t bytes, uint32_t immediate) {
  uint8_t *here = end->memory;
  fill_pattern(here, bytes, 1);
  struct post one = {.id = 7, .operation = WRITE, .way = way, .length = bytes, .immediate = immediate};
  struct found found = carry(end, one, STATUS_OK, "a write");
  expect("opcode of a write", IBV_WC_RDMA_WRITE, found.opcode);
  one = (struct post){.id = 8, .operation = READ, .way = way, .offset = BIG, .length = bytes};
  memset(here + BIG, 0, bytes);
  found = carry(end, one, STATUS_OK, "a read");
  // As rdma-core tells it.
  expect("opcode of a read", IBV_WC_SEND, found.opcode);
  expect_pattern(here + BIG, bytes, 1, "what was written and read back");
}

static void expect_written(struct end *end, const struct way *sender, uint64_t id, uint32_t bytes, bool unsolicited) {
  struct found found = await(end->receives, "a write with immediate data");
  expect("status", STATUS_OK, found.status);
  expect("opcode", IBV_WC_RECV_RDMA_WITH_IMM, found.opcode);
  expect("immediate data", 0xabcd, found.immediate);
  expect("with immediate data", true, found.with_immediate);
  expect("bytes", bytes, found.bytes);
  expect("source queue pair", sender->to.number, found.source);
  expect("unsolicited", unsolicited, found.unsolicited);
  if (!unsolicited) expect("the receive that it took", (int64_t)id, (int64_t)found.id);
  expect_pattern(end->memory, bytes, 1, "what was written");
}

enum { SMALL_RDMA = 100000, LARGE_RDMA = 3 << 20 };

// One queue pair with a receive for each write, and one that takes them unsolicited.
static void target_of_rdma(struct peer *parent) {
  for (int unsolicited = 0; unsolicited < 2; unsolicited++) {
    struct end end = open_end((struct end_options){.bytes = BIG, .unsolicited = unsolicited});
    struct way way = way_to(&end, exchange(parent, &end));
    char next;
    for (uint64_t id = 1; id <= 2 && !unsolicited; id++) receive(&end, id, 0, 0);
    tell(parent, "", 1);
    expect_written(&end, &way, 1, SMALL_RDMA, unsolicited);
    hear(parent, &next, 1);
    tell(parent, "", 1);
    expect_written(&end, &way, 2, LARGE_RDMA, unsolicited);
    hear(parent, &next, 1);
    ibv_destroy_ah(way.ah);
    close_end(&end);
  }
}

static void rdma_between_processes(void) {
  struct peer peer = start_peer(target_of_rdma);
  for (int unsolicited = 0; unsolicited < 2; unsolicited++) {
    struct end end = open_end((struct end_options){.bytes = 2 * BIG});
    struct way way = way_to(&end, exchange(&peer, &end));
    char ready;
    hear(&peer, &ready, 1);
    rdma_of(&end, &way, SMALL_RDMA, 0xabcd);
    tell(&peer, "", 1);
    hear(&peer, &ready, 1);
    rdma_of(&end, &way, LARGE_RDMA, 0xabcd);
    tell(&peer, "", 1);
    ibv_destroy_ah(way.ah);
    close_end(&end);
  }
  join_peer(&peer);
}

static void rdma_in_parts(void) {
  set("DELAY_US", "3000");
  rdma_between_processes();
}

static void rdma_to_itself(void) {
  struct end end = open_end((struct end_options){.bytes = 3 * BIG});
  struct way way = way_between(&end, &end);
  way.to.address += 2 * BIG;
  rdma_of(&end, &way, 0, 0);
  rdma_of(&end, &way, 1, 0);
  rdma_of(&end, &way, SMALL_RDMA, 0);
  rdma_of(&end, &way, LARGE_RDMA, 0);
  expect_quiet(end.receives, 20, "writes without immediate data");
}

static void write_without_a_receive(void) {
  struct end end = open_end((struct end_options){.bounded_retries = 2});
  struct way way = way_between(&end, &end);
  struct post one = {.operation = WRITE, .way = &way, .length = 8, .remote = 100, .immediate = 1};
  carry(&end, one, STATUS_REMOTE_NOT_READY, "a solicited write without a receive");
}

static void scatter(void) {
  struct end end = open_end((struct end_options){.pieces = 2});
  struct way way = way_between(&end, &end);
  uint8_t *at = end.memory;
  uint32_t key = end.mr->lkey;
  fill_pattern(at, 1000, 3);
  struct ibv_sge from[] = {{(uintptr_t)at, 300, key}, {(uintptr_t)at + 300, 700, key}};
  struct ibv_sge to[] = {{(uintptr_t)at + 10000, 450, key}, {(uintptr_t)at + 20000, 800, key}};
  struct ibv_recv_wr request = {.wr_id = 1, .sg_list = to, .num_sge = 2}, *bad = NULL;
  expect("ibv_post_recv", 0, ibv_post_recv(end.qp, &request, &bad));
  carry(&end, (struct post){.way = &way, .pieces = from, .count = 2}, STATUS_OK, "a send of two pieces");
  expect("bytes", 1000, await_status(end.receives, 1, STATUS_OK, "a receive of two pieces").bytes);
  memmove(at + 10450, at + 20000, 550);
  expect_pattern(at + 10000, 1000, 3, "a send's bytes");
  struct post two = {.operation = WRITE, .way = &way, .pieces = from, .count = 2, .remote = 30000};
  carry(&end, two, STATUS_OK, "a write of two pieces");
  expect_pattern(at + 30000, 1000, 3, "a write's bytes");
  two = (struct post){.operation = READ, .way = &way, .pieces = to, .count = 2, .remote = 30000};
  carry(&end, two, STATUS_OK, "a read of two pieces");
  memmove(at + 10450, at + 20000, 800);
  expect_pattern(at + 10000, 1000, 3, "a read's bytes");
}

static void datagrams(void) {
  struct end from = open_end((struct end_options){.datagram = true});
  struct end to = open_end((struct end_options){.datagram = true});
  struct way way = way_between(&from, &to);
  fill_pattern(from.memory, 1000, 4);
  memset(to.memory, 0, 2000);
  receive(&to, 1, 0, 1000 + HEADER);
  expect("ibv_post_send", 0, post_plain(&from, (struct post){.id = 5, .way = &way, .length = 1000, .immediate = 77}));
  await_status(from.sends, 5, STATUS_OK, "a datagram");
  struct found found = await_status(to.receives, 1, STATUS_OK, "a datagram's receive");
  expect("bytes, the header among them", 1000 + HEADER, found.bytes);
  expect("immediate data", 77, found.immediate);
  expect("source queue pair", from.qp->qp_num, found.source);
  expect_pattern(to.memory + HEADER, 1000, 4, "a datagram's bytes");
  // To where nobody takes it.
  expect("without a receive", 0, post_plain(&from, (struct post){.id = 6, .way = &way, .length = 1}));
  await_status(from.sends, 6, STATUS_OK, "a datagram without a receive");
  way.to.number += 1;
  expect("to nobody", 0, post_plain(&from, (struct post){.id = 7, .way = &way, .length = 1}));
  await_status(from.sends, 7, STATUS_OK, "a datagram to nobody");
  expect_quiet(to.receives, 20, "datagrams that nobody took");
}

static void dmabuf_region(void) {
  int fd = memfd_create("verbs-cases", 0);
  if (fd < 0 || ftruncate(fd, 100000) != 0) fail("no memfd: %s", strerror(errno));
  uint8_t *mapped = mmap(NULL, 100000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  struct end end = open_end((struct end_options){0});
  struct ibv_mr *mr = ibv_reg_dmabuf_mr(end.pd, 5000, 20000, 0x100000, fd, all_rights(end.context));
  if (mr == NULL) fail("ibv_reg_dmabuf_mr: expected a region, came none: %s", strerror(errno));
  struct way way = way_between(&end, &end);
  way.to.rkey = mr->rkey;
  way.to.address = 0x100000;
  fill_pattern(end.memory, 10000, 5);
  carry(&end, (struct post){.operation = WRITE, .way = &way, .length = 10000, .remote = 10000}, STATUS_OK, "a write");
  expect_pattern(mapped + 15000, 10000, 5, "what the memory has");
  carry(&end, (struct post){.operation = WRITE, .way = &way, .length = 10000, .remote = 10001}, STATUS_REMOTE_ADDRESS,
        "one byte beyond");
  struct ibv_sge own = {0x100000 + 10000, 8000, mr->lkey};
  receive(&end, 1, 30000, 8000);
  carry(&end, (struct post){.way = &way, .pieces = &own, .count = 1}, STATUS_OK, "a send from it");
  await_status(end.receives, 1, STATUS_OK, "a receive");
  expect_pattern(end.memory + 30000, 8000, 5, "what was received");
  expect("ibv_dereg_mr", 0, ibv_dereg_mr(mr));
  ibv_destroy_ah(way.ah);
  close_end(&end);
}

// A region whose addresses are others at the peers than in the process.
static void region_at_another_address(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  struct ibv_mr *mr = ibv_reg_mr_iova2(end.pd, end.memory + 100, 1000, 0x5000, (unsigned)all_rights(end.context));
  if (mr == NULL) fail("ibv_reg_mr_iova2: expected a region, came none: %s", strerror(errno));
  way.to.rkey = mr->rkey;
  way.to.address = 0x5000;
  fill_pattern(end.memory + 5000, 8, 6);
  struct post one = {.operation = WRITE, .way = &way, .offset = 5000, .length = 8, .remote = 992};
  carry(&end, one, STATUS_OK, "a write");
  expect_pattern(end.memory + 1092, 8, 6, "what was written");
}

const struct test_case data_cases[] = {
    {"send-to-itself", send_to_itself, NULL},
    {"send-between-processes", send_between_processes, NULL},
    {"longer-than-a-packet", longer_than_a_packet, NULL},
    {"rdma-to-itself", rdma_to_itself, NULL},
    {"rdma-between-processes", rdma_between_processes, NULL},
    {"rdma-in-parts", rdma_in_parts, NULL},
    {"write-without-a-receive", write_without_a_receive, NULL},
    {"scatter", scatter, NULL},
    {"datagrams", datagrams, NULL},
    {"dmabuf-region", dmabuf_region, NULL},
    {"region-at-another-address", region_at_another_address, NULL},
    {0},
};
