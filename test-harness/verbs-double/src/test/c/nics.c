#include "nics.h"

#include <errno.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000 };

struct ibv_context *open_nic(int device) {
  int count = 0;
  struct ibv_device **list = ibv_get_device_list(&count);
  if (list == NULL || count <= device) fail("expected a list with adapter %d, came one of %d", device, count);
  struct ibv_context *context = ibv_open_device(list[device]);
  if (context == NULL) fail("adapter %d cannot be opened: %s", device, strerror(errno));
  ibv_free_device_list(list);
  return context;
}

static uint32_t or(uint32_t value, uint32_t otherwise) { return value != 0 ? value : otherwise; }

static void add_pair(struct end *end, struct end_options options) {
  struct ibv_qp_init_attr attributes = {.send_cq = end->queue,
                                        .recv_cq = end->queue,
                                        .srq = options.shared,
                                        .qp_type = IBV_QPT_RC,
                                        .cap = {.max_send_wr = or(options.sends, 16),
                                                .max_recv_wr = or(options.receives, 16),
                                                .max_send_sge = or(options.pieces, 1),
                                                .max_recv_sge = or(options.pieces, 1),
                                                .max_inline_data = or(options.inlined, 64)}};
  end->qp = ibv_create_qp(end->pd, &attributes);
  if (end->qp == NULL) fail("no queue pair: %s", strerror(errno));
  end->options = options;
}

static void add_memory(struct end *end, struct end_options options) {
  end->bytes = options.bytes != 0 ? options.bytes : 65536;
  end->memory = calloc(1, end->bytes);
  end->mr = ibv_reg_mr(end->pd, end->memory, end->bytes, options.rights != 0 ? options.rights : ALL_RIGHTS);
  if (end->memory == NULL || end->mr == NULL) fail("no region: %s", strerror(errno));
}

static void add_queue(struct end *end, struct end_options options) {
  end->queue = ibv_create_cq(end->context, (int)or(options.completions, 64), NULL, NULL, 0);
  if (end->queue == NULL) fail("no completion queue: %s", strerror(errno));
}

struct end open_end(struct end_options options) {
  struct end end = {.context = open_nic(options.device)};
  end.pd = ibv_alloc_pd(end.context);
  if (end.pd == NULL) fail("no protection domain: %s", strerror(errno));
  add_queue(&end, options);
  add_memory(&end, options);
  add_pair(&end, options);
  return end;
}

struct end open_beside(const struct end *first, struct end_options options) {
  struct end end = {.context = first->context, .pd = first->pd};
  add_queue(&end, options);
  add_memory(&end, options);
  add_pair(&end, options);
  return end;
}

struct place place_of(const struct end *end) {
  return (struct place){.number = end->qp->qp_num, .rkey = end->mr->rkey, .address = (uintptr_t)end->memory};
}

int become(struct end *end, enum ibv_qp_state state, uint32_t remote) {
  int access = end->options.access != 0 ? end->options.access : ALL_RIGHTS;
  uint8_t retries = end->options.bounded_retries;
  struct ibv_qp_attr attributes = {.qp_state = state,
                                   .port_num = 1,
                                   .qp_access_flags = (unsigned)access,
                                   .dest_qp_num = remote,
                                   .rnr_retry = retries != 0 ? retries : 7,
                                   .retry_cnt = 7,
                                   .max_rd_atomic = 1,
                                   .max_dest_rd_atomic = 1};
  int mask = IBV_QP_STATE;
  if (state == IBV_QPS_INIT) mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  if (state == IBV_QPS_RTR) {
    mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
            IBV_QP_MIN_RNR_TIMER;
  }
  if (state == IBV_QPS_RTS) {
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  return ibv_modify_qp(end->qp, &attributes, mask);
}

void make_ready(struct end *end, uint32_t remote) {
  expect("to INIT", 0, become(end, IBV_QPS_INIT, 0));
  expect("to RTR", 0, become(end, IBV_QPS_RTR, remote));
  expect("to RTS", 0, become(end, IBV_QPS_RTS, 0));
}

struct pair_of_ends open_connected(struct end_options from, struct end_options to) {
  struct pair_of_ends ends = {.from = open_end(from)};
  ends.to = to.device == from.device ? open_beside(&ends.from, to) : open_end(to);
  make_ready(&ends.from, ends.to.qp->qp_num);
  make_ready(&ends.to, ends.from.qp->qp_num);
  return ends;
}

void close_end(struct end *end) {
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(end->qp));
  expect("ibv_destroy_cq", 0, ibv_destroy_cq(end->queue));
  expect("ibv_dereg_mr", 0, ibv_dereg_mr(end->mr));
  free(end->memory);
  *end = (struct end){.context = end->context, .pd = end->pd};
}

int post(struct end *end, struct post one) {
  struct ibv_sge whole = {(uintptr_t)end->memory + one.offset, one.length, end->mr->lkey};
  struct ibv_send_wr request = {.wr_id = one.id,
                                .sg_list = (struct ibv_sge *)(one.pieces != NULL ? one.pieces : &whole),
                                .num_sge = one.pieces != NULL ? one.count : 1,
                                .imm_data = one.immediate,
                                .send_flags = (one.quiet ? 0 : IBV_SEND_SIGNALED) | (one.inlined ? IBV_SEND_INLINE : 0)},
                     *bad = NULL;
  request.wr.rdma.rkey = one.rkey;
  request.wr.rdma.remote_addr = one.remote;
  switch (one.operation) {
    case READ:
      request.opcode = IBV_WR_RDMA_READ;
      break;
    case WRITE:
      request.opcode = one.immediate != 0 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
      break;
    default:
      request.opcode = one.immediate != 0 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
      break;
  }
  int error = ibv_post_send(end->qp, &request, &bad);
  if (error != 0 && bad != &request) fail("a refused request: expected it to be named, came another");
  return error;
}

int try_receive(struct end *end, uint64_t id, uint64_t offset, uint32_t length) {
  struct ibv_sge piece = {(uintptr_t)end->memory + offset, length, end->mr->lkey};
  struct ibv_recv_wr request = {.wr_id = id, .sg_list = &piece, .num_sge = 1}, *bad = NULL;
  return ibv_post_recv(end->qp, &request, &bad);
}

void receive(struct end *end, uint64_t id, uint64_t offset, uint32_t length) {
  expect("ibv_post_recv", 0, try_receive(end, id, offset, length));
}

bool look(struct end *end, struct ibv_wc *found) { return ibv_poll_cq(end->queue, 1, found) == 1; }

struct ibv_wc await(struct end *end, uint64_t id, enum ibv_wc_status status, const char *what) {
  struct ibv_wc found;
  uint64_t start = milliseconds();
  while (!look(end, &found)) {
    if (milliseconds() - start > PATIENCE_MS) fail("%s: expected a completion, came none", what);
  }
  expect(what, (int64_t)id, (int64_t)found.wr_id);
  if (found.status != status) {
    fail("%s: expected %s, came %s", what, ibv_wc_status_str(status), ibv_wc_status_str(found.status));
  }
  return found;
}

void expect_quiet(struct end *end, int time, const char *what) {
  struct ibv_wc found;
  for (uint64_t start = milliseconds(); milliseconds() - start < (uint64_t)time;) {
    if (look(end, &found)) fail("%s: expected no completion, came %lu with status %d", what, found.wr_id, found.status);
  }
}

struct place exchange(const struct peer *peer, const struct end *end) {
  struct place own = place_of(end), far;
  tell(peer, &own, sizeof own);
  hear(peer, &far, sizeof far);
  return far;
}
