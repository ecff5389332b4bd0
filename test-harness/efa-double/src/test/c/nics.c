// Ends and operations of the cases.

#include "nics.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000 };

// --- Ends ------------------------------------------------------------------------------------------------------------

struct ibv_context *open_nic(int device) {
  int count = 0;
  struct ibv_device **list = ibv_get_device_list(&count);
  if (list == NULL || count <= device) fail("expected a list with NIC %d, came one of %d", device, count);
  struct ibv_context *context = ibv_open_device(list[device]);
  if (context == NULL) fail("NIC %d cannot be opened: %s", device, strerror(errno));
  ibv_free_device_list(list);
  return context;
}

struct ibv_cq_ex *new_queue(struct ibv_context *context, uint32_t depth) {
  struct ibv_cq_init_attr_ex attributes = {.cqe = depth, .wc_flags = IBV_WC_STANDARD_FLAGS};
  struct efadv_cq_init_attr extras = {.comp_mask = 0};
  struct ibv_cq_ex *queue = efadv_create_cq(context, &attributes, &extras, sizeof extras);
  if (queue == NULL) fail("no completion queue of %u: %s", depth, strerror(errno));
  return queue;
}

struct ibv_qp *new_pair(struct ibv_pd *pd, struct ibv_cq_ex *sends, struct ibv_cq_ex *receives, struct ibv_qp_cap cap,
                        bool unsolicited) {
  struct ibv_qp_init_attr_ex attributes = {.send_cq = ibv_cq_ex_to_cq(sends),
                                           .recv_cq = ibv_cq_ex_to_cq(receives),
                                           .cap = cap,
                                           .qp_type = IBV_QPT_DRIVER,
                                           .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                           .pd = pd,
                                           .send_ops_flags = IBV_QP_EX_WITH_SEND};
  struct queue_pair_extras extras = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD, .flags = unsolicited ? 1 : 0};
  return efadv_create_qp_ex(pd->context, &attributes, (struct efadv_qp_init_attr *)&extras, sizeof extras);
}

static struct ibv_qp *new_datagram_pair(struct ibv_pd *pd, struct ibv_cq_ex *sends, struct ibv_cq_ex *receives,
                                        struct ibv_qp_cap cap) {
  struct ibv_qp_init_attr attributes = {
      .send_cq = ibv_cq_ex_to_cq(sends), .recv_cq = ibv_cq_ex_to_cq(receives), .cap = cap, .qp_type = IBV_QPT_UD};
  return ibv_create_qp(pd, &attributes);
}

int become(struct ibv_qp *qp, enum ibv_qp_state state) {
  struct ibv_qp_attr attributes = {.qp_state = state, .port_num = 1, .qkey = QKEY};
  int mask = IBV_QP_STATE;
  if (state == IBV_QPS_INIT) mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
  if (state == IBV_QPS_RTS) mask |= IBV_QP_SQ_PSN;
  return ibv_modify_qp(qp, &attributes, mask);
}

void make_ready(struct ibv_qp *qp) {
  expect("to INIT", 0, become(qp, IBV_QPS_INIT));
  expect("to RTR", 0, become(qp, IBV_QPS_RTR));
  expect("to RTS", 0, become(qp, IBV_QPS_RTS));
}

int all_rights(struct ibv_context *context) {
  struct efadv_device_attr attributes;
  expect("efadv_query_device", 0, efadv_query_device(context, &attributes, sizeof attributes));
  return IBV_ACCESS_LOCAL_WRITE | (attributes.device_caps & CAN_READ ? IBV_ACCESS_REMOTE_READ : 0) |
         (attributes.device_caps & CAN_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0);
}

struct ibv_mr *new_region(struct ibv_pd *pd, void *memory, size_t bytes, int rights) {
  struct ibv_mr *mr = ibv_reg_mr(pd, memory, bytes, rights);
  if (mr == NULL) fail("no region with rights 0x%x: %s", (unsigned)rights, strerror(errno));
  return mr;
}

struct end open_end(struct end_options options) {
  struct ibv_qp_cap cap = {.max_send_wr = options.sends ? options.sends : 64,
                           .max_recv_wr = options.receives ? options.receives : 64,
                           .max_send_sge = SEND_PIECES,
                           .max_recv_sge = options.pieces ? options.pieces : 1,
                           .max_inline_data = LONGEST_INLINE};
  uint32_t completions = options.completions ? options.completions : 256;
  struct end end = {.context = open_nic(options.device), .bytes = options.bytes ? options.bytes : 1 << 16};
  end.pd = ibv_alloc_pd(end.context);
  end.sends = new_queue(end.context, completions);
  end.receives = new_queue(end.context, completions);
  end.memory = mmap(NULL, end.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (end.memory == MAP_FAILED) fail("no memory for an end");
  end.mr = new_region(end.pd, end.memory, end.bytes, all_rights(end.context));
  end.qp = options.datagram ? new_datagram_pair(end.pd, end.sends, end.receives, cap)
                            : new_pair(end.pd, end.sends, end.receives, cap, options.unsolicited);
  if (end.qp == NULL) fail("no queue pair: %s", strerror(errno));
  end.ex = ibv_qp_to_qp_ex(end.qp);
  make_ready(end.qp);
  if (options.bounded_retries != 0) {
    struct ibv_qp_attr attributes = {.rnr_retry = options.bounded_retries};
    expect("IBV_QP_RNR_RETRY", 0, ibv_modify_qp(end.qp, &attributes, IBV_QP_RNR_RETRY));
  }
  return end;
}

void close_end(struct end *end) {
  if (end->qp != NULL) expect("ibv_destroy_qp", 0, ibv_destroy_qp(end->qp));
  if (end->mr != NULL) expect("ibv_dereg_mr", 0, ibv_dereg_mr(end->mr));
  expect("ibv_destroy_cq of sends", 0, ibv_destroy_cq(ibv_cq_ex_to_cq(end->sends)));
  expect("ibv_destroy_cq of receives", 0, ibv_destroy_cq(ibv_cq_ex_to_cq(end->receives)));
  expect("ibv_dealloc_pd", 0, ibv_dealloc_pd(end->pd));
  expect("ibv_close_device", 0, ibv_close_device(end->context));
  munmap(end->memory, end->bytes);
}

struct place place_of(const struct end *end) {
  struct place place = {
      .number = end->qp->qp_num, .qkey = QKEY, .rkey = end->mr->rkey, .address = (uintptr_t)end->memory};
  union ibv_gid gid;
  expect("ibv_query_gid", 0, ibv_query_gid(end->context, 1, 0, &gid));
  memcpy(place.gid, gid.raw, sizeof place.gid);
  return place;
}

struct ibv_ah *new_handle(struct ibv_pd *pd, const uint8_t *gid) {
  struct ibv_ah_attr attributes = {.is_global = 1, .port_num = 1};
  memcpy(attributes.grh.dgid.raw, gid, sizeof attributes.grh.dgid.raw);
  return ibv_create_ah(pd, &attributes);
}

struct way way_to(struct end *from, struct place to) {
  struct way way = {.ah = new_handle(from->pd, to.gid), .to = to};
  if (way.ah == NULL) fail("no address handle: %s", strerror(errno));
  return way;
}

struct way way_between(struct end *from, const struct end *to) { return way_to(from, place_of(to)); }

// --- Operations ------------------------------------------------------------------------------------------------------

static void begin_operation(struct ibv_qp_ex *ex, const struct post *post) {
  uint32_t rkey = post->rkey != 0 || post->way == NULL ? post->rkey : post->way->to.rkey;
  uint64_t remote = post->remote + (post->way != NULL ? post->way->to.address : 0);
  ex->wr_id = post->id;
  ex->wr_flags = 0;
  if (post->operation == READ) {
    ibv_wr_rdma_read(ex, rkey, remote);
  } else if (post->operation == WRITE && post->immediate != 0) {
    ibv_wr_rdma_write_imm(ex, rkey, remote, post->immediate);
  } else if (post->operation == WRITE) {
    ibv_wr_rdma_write(ex, rkey, remote);
  } else if (post->immediate != 0) {
    ibv_wr_send_imm(ex, post->immediate);
  } else {
    ibv_wr_send(ex);
  }
}

void add(struct end *end, const struct post *post) {
  begin_operation(end->ex, post);
  if (post->inlined != NULL) {
    ibv_wr_set_inline_data(end->ex, (void *)post->inlined, post->length);
  } else if (post->pieces != NULL) {
    ibv_wr_set_sge_list(end->ex, (size_t)post->count, post->pieces);
  } else {
    ibv_wr_set_sge(end->ex, end->mr->lkey, (uintptr_t)end->memory + post->offset, post->length);
  }
  if (post->way != NULL) ibv_wr_set_ud_addr(end->ex, post->way->ah, post->way->to.number, post->way->to.qkey);
}

int post(struct end *end, struct post post) {
  ibv_wr_start(end->ex);
  add(end, &post);
  return ibv_wr_complete(end->ex);
}

int post_plain(struct end *end, struct post post) {
  struct ibv_sge own = {(uintptr_t)end->memory + post.offset, post.length, end->mr->lkey};
  if (post.inlined != NULL) own.addr = (uintptr_t)post.inlined;
  struct ibv_send_wr request = {.wr_id = post.id,
                                .sg_list = post.pieces != NULL ? (struct ibv_sge *)post.pieces : &own,
                                .num_sge = post.pieces != NULL ? post.count : 1,
                                .opcode = post.immediate != 0 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
                                .send_flags = post.inlined != NULL ? IBV_SEND_INLINE : 0,
                                .imm_data = post.immediate};
  if (post.operation == WRITE) request.opcode = IBV_WR_RDMA_WRITE;
  if (post.way != NULL) {
    request.wr.ud.ah = post.way->ah;
    request.wr.ud.remote_qpn = post.way->to.number;
    request.wr.ud.remote_qkey = post.way->to.qkey;
  }
  struct ibv_send_wr *bad = NULL;
  int error = ibv_post_send(end->qp, &request, &bad);
  if (error != 0 && bad != &request) fail("ibv_post_send: expected that it names the request that it refused");
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

bool look(struct ibv_cq_ex *queue, struct found *found) {
  struct ibv_poll_cq_attr attributes = {.comp_mask = 0};
  int error = ibv_start_poll(queue, &attributes);
  if (error == ENOENT) return false;
  expect("ibv_start_poll", 0, error);
  struct completion_extras *extras = (struct completion_extras *)efadv_cq_from_ibv_cq_ex(queue);
  *found = (struct found){.id = queue->wr_id,
                          .status = (int)ibv_wc_read_vendor_err(queue),
                          .verbs_status = (int)queue->status,
                          .opcode = (int)ibv_wc_read_opcode(queue),
                          .bytes = ibv_wc_read_byte_len(queue),
                          .immediate = ibv_wc_read_imm_data(queue),
                          .number = ibv_wc_read_qp_num(queue),
                          .source = ibv_wc_read_src_qp(queue),
                          .handle = ibv_wc_read_slid(queue),
                          .with_immediate = ibv_wc_read_wc_flags(queue) & IBV_WC_WITH_IMM,
                          .unsolicited = extras->wc_is_unsolicited((struct efadv_cq *)extras)};
  found->gid_error = extras->wc_read_sgid((struct efadv_cq *)extras, &found->gid);
  ibv_end_poll(queue);
  return true;
}

struct found await(struct ibv_cq_ex *queue, const char *what) {
  struct found found;
  uint64_t start = milliseconds();
  while (!look(queue, &found)) {
    if (milliseconds() - start > PATIENCE_MS) fail("%s: expected a completion, came none in %d ms", what, PATIENCE_MS);
    usleep(100);
  }
  return found;
}

struct found await_status(struct ibv_cq_ex *queue, uint64_t id, int status, const char *what) {
  struct found found = await(queue, what);
  if (found.id != id || found.status != status) {
    fail("%s: expected completion %lu with status %d, came %lu with status %d", what, id, status, found.id,
         found.status);
  }
  bool success = found.verbs_status == IBV_WC_SUCCESS;
  if (success != (status == STATUS_OK)) fail("%s: status %d came as %d of verbs", what, status, found.verbs_status);
  return found;
}

void expect_quiet(struct ibv_cq_ex *queue, int time, const char *what) {
  struct found found;
  for (uint64_t start = milliseconds(); milliseconds() - start < (uint64_t)time; usleep(500)) {
    if (!look(queue, &found)) continue;
    fail("%s: expected no completion, came %lu with status %d", what, found.id, found.status);
  }
}

struct found carry(struct end *end, struct post posted, int status, const char *what) {
  int error = post(end, posted);
  if (error != 0) fail("%s: expected that it is posted, came error %d", what, error);
  return await_status(end->sends, posted.id, status, what);
}

// --- Processes -------------------------------------------------------------------------------------------------------

struct place exchange(const struct peer *peer, const struct end *end) {
  struct place own = place_of(end), far;
  tell(peer, &own, sizeof own);
  hear(peer, &far, sizeof far);
  return far;
}
