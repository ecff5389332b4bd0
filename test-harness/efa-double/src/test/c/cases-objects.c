// The rules of objects: what may be opened with which limits, changed to which state, and closed when.

#include <errno.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nics.h"

static struct end open_at_exit;

static void clean_close(void) {
  struct end end = open_end((struct end_options){.bytes = 4096});
  struct ibv_ah *ah = way_between(&end, &end).ah;
  expect("regions on the wire", 1, counter("regions"));
  expect("queue pairs on the wire", 1, counter("queue-pairs"));
  expect("completion queues on the wire", 2, counter("completion-queues"));
  expect("ibv_destroy_ah", 0, ibv_destroy_ah(ah));
  close_end(&end);
  expect("regions after it", 0, counter("regions"));
  expect("queue pairs after it", 0, counter("queue-pairs"));
  expect("completion queues after it", 0, counter("completion-queues"));
}

static void domain_in_use(void) {
  struct end end = open_end((struct end_options){0});
  struct ibv_ah *ah = way_between(&end, &end).ah;
  expect("with a queue pair, a region and a handle", EBUSY, ibv_dealloc_pd(end.pd));
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(end.qp));
  expect("with a region and a handle", EBUSY, ibv_dealloc_pd(end.pd));
  expect("ibv_destroy_ah", 0, ibv_destroy_ah(ah));
  expect("with a region", EBUSY, ibv_dealloc_pd(end.pd));
  expect_broken(3, "three refusals");
  end.qp = NULL;
  close_end(&end);
}

static void device_in_use(void) {
  struct ibv_context *context = open_nic(0);
  struct ibv_pd *pd = ibv_alloc_pd(context);
  expect("with a protection domain", EBUSY, ibv_close_device(context));
  expect("ibv_dealloc_pd", 0, ibv_dealloc_pd(pd));
  struct ibv_cq *queue = ibv_cq_ex_to_cq(new_queue(context, 4));
  expect("with a completion queue", EBUSY, ibv_close_device(context));
  expect_broken(2, "two refusals");
  expect("ibv_destroy_cq", 0, ibv_destroy_cq(queue));
  expect("with nothing", 0, ibv_close_device(context));
}

// Registered before the NIC is opened, so that it is called after the NIC has seen that the process exits.
static void close_at_exit(void) {
  struct end *end = &open_at_exit;
  bool refused = ibv_destroy_cq(ibv_cq_ex_to_cq(end->sends)) == EBUSY && ibv_dealloc_pd(end->pd) == EBUSY;
  if (refused && ibv_close_device(end->context) == EBUSY) return;
  fputs("closed at exit while in use: expected EBUSY, came another\n", stderr);
  _exit(1);
}

static void in_use_at_exit(void) {
  atexit(close_at_exit);
  open_at_exit = open_end((struct end_options){0});
}

static void completion_queue_in_use(void) {
  struct end end = open_end((struct end_options){0});
  expect("that of sends", EBUSY, ibv_destroy_cq(ibv_cq_ex_to_cq(end.sends)));
  expect("that of receives", EBUSY, ibv_destroy_cq(ibv_cq_ex_to_cq(end.receives)));
  expect_broken(2, "two refusals");
  close_end(&end);
}

static void expect_rights(int rights, bool allowed) {
  static char memory[4096];
  struct ibv_context *context = open_nic(0);
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, rights);
  if (mr == NULL && allowed) fail("rights 0x%x: expected a region, came none", (unsigned)rights);
  if (mr != NULL && !allowed) fail("rights 0x%x: expected a refusal, came a region", (unsigned)rights);
  if (mr != NULL) expect("ibv_dereg_mr", 0, ibv_dereg_mr(mr));
  expect("ibv_dealloc_pd", 0, ibv_dealloc_pd(pd));
  expect("ibv_close_device", 0, ibv_close_device(context));
}

enum { READS = IBV_ACCESS_REMOTE_READ, WRITES = IBV_ACCESS_REMOTE_WRITE, RELAXED = IBV_ACCESS_RELAXED_ORDERING };

static void region_rights_of_send(void) {
  set("GENERATION", "send");
  expect_rights(ALL_LOCAL | READS, false);
  expect_rights(ALL_LOCAL | WRITES, false);
  expect_broken(2, "reads and writes");
  expect_rights(0, true);
  expect_rights(ALL_LOCAL | RELAXED, true);
}

static void region_rights_of_read(void) {
  set("GENERATION", "read");
  expect_rights(ALL_LOCAL | WRITES, false);
  expect_broken(1, "writes");
  expect_rights(READS, true);
}

static void region_rights_without_local(void) {
  expect_rights(WRITES, false);
  expect_rights(ALL_LOCAL | IBV_ACCESS_REMOTE_ATOMIC, false);
  expect_rights(ALL_LOCAL | IBV_ACCESS_MW_BIND, false);
  expect_broken(3, "remote writes without local ones, atomics, windows");
}

static void region_rights_allowed(void) {
  static const int allowed[] = {0,
                                ALL_LOCAL,
                                READS,
                                ALL_LOCAL | READS,
                                ALL_LOCAL | WRITES,
                                ALL_LOCAL | READS | WRITES | RELAXED};
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) expect_rights(allowed[i], true);
}

// A copy of the first region's memory, since the region itself is freed by its close.
static void region_closed_twice(void) {
  struct end end = open_end((struct end_options){0});
  struct ibv_mr *mr = new_region(end.pd, end.memory, 100, ALL_LOCAL);
  size_t size = malloc_usable_size(mr);
  void *copy = malloc(size);
  memcpy(copy, mr, size);
  expect("the first time", 0, ibv_dereg_mr(mr));
  expect("the second time", EINVAL, ibv_dereg_mr(copy));
  close_end(&end);
}

static void region_of_parent(void) {
  struct end end = open_end((struct end_options){0});
  pid_t pid = fork();
  if (pid == 0) {
    expect("of its parent's", EINVAL, ibv_dereg_mr(end.mr));
    exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  expect("the child's end", 0, status);
  close_end(&end);
}

static void registered_and_closed(void) {
  struct end end = open_end((struct end_options){.bytes = 4096});
  uint32_t last = 0;
  for (int i = 0; i < 20000; i++) {
    struct ibv_mr *mr = new_region(end.pd, end.memory, 4096, ALL_LOCAL);
    if (mr->rkey == last || mr->rkey == end.mr->rkey) fail("region %d: expected a key of its own", i);
    last = mr->rkey;
    expect("ibv_dereg_mr", 0, ibv_dereg_mr(mr));
  }
  close_end(&end);
}

static struct ibv_qp *pair_of(struct end *end, uint32_t sends, uint32_t send_pieces, uint32_t receives,
                              uint32_t receive_pieces, uint32_t inlined) {
  struct ibv_qp_cap cap = {.max_send_wr = sends,
                           .max_recv_wr = receives,
                           .max_send_sge = send_pieces,
                           .max_recv_sge = receive_pieces,
                           .max_inline_data = inlined};
  return new_pair(end->pd, end->sends, end->receives, cap, false);
}

static void queue_pair_limits(void) {
  struct end end = open_end((struct end_options){0});
  static const uint32_t beyond[5][5] = {{SEND_DEPTH + 1, 1, 1, 1, 0},
                                        {1, SEND_PIECES + 1, 1, 1, 0},
                                        {1, 1, RECEIVES + 1, 1, 0},
                                        {1, 1, 1, RECEIVE_PIECES + 1, 0},
                                        {1, 1, 1, 1, LONGEST_INLINE + 1}};
  for (int i = 0; i < 5; i++) {
    const uint32_t *b = beyond[i];
    errno = 0;
    if (pair_of(&end, b[0], b[1], b[2], b[3], b[4]) != NULL) fail("limit %d: expected a refusal, came a queue pair", i);
    expect("errno", EINVAL, errno);
    expect_broken(i + 1, "a refusal");
  }
  close_end(&end);
}

static void queue_pair_limits_of_unsolicited(void) {
  set("GENERATION", "read");
  struct end end = open_end((struct end_options){0});
  struct ibv_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
  errno = 0;
  if (new_pair(end.pd, end.sends, end.receives, cap, true) != NULL) fail("expected a refusal, came a queue pair");
  expect("errno", EOPNOTSUPP, errno);
  close_end(&end);
}

static void queue_pair_within_limits(void) {
  struct end end = open_end((struct end_options){0});
  struct ibv_qp *qp = pair_of(&end, SEND_DEPTH, SEND_PIECES, RECEIVES, RECEIVE_PIECES, LONGEST_INLINE);
  if (qp == NULL) fail("at the limits: expected a queue pair, came none: %s", strerror(errno));
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(qp));
  struct ibv_qp_init_attr connected = {.send_cq = ibv_cq_ex_to_cq(end.sends),
                                       .recv_cq = ibv_cq_ex_to_cq(end.receives),
                                       .qp_type = IBV_QPT_RC};
  errno = 0;
  if (ibv_create_qp(end.pd, &connected) != NULL) fail("a connected queue pair: expected a refusal, came one");
  expect("errno", EOPNOTSUPP, errno);
  close_end(&end);
}

static struct ibv_qp *small_pair(struct end *end) {
  struct ibv_qp *qp = pair_of(end, 4, 1, 4, 1, 0);
  if (qp == NULL) fail("no queue pair: %s", strerror(errno));
  return qp;
}

static void queue_pair_states(void) {
  struct end end = open_end((struct end_options){0});
  struct ibv_qp *qp = small_pair(&end);
  struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1}, rts = {.qp_state = IBV_QPS_RTS};
  expect("RESET to RTR", EINVAL, become(qp, IBV_QPS_RTR));
  expect("RESET to RTS", EINVAL, become(qp, IBV_QPS_RTS));
  expect("without a qkey", EINVAL, ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT));
  expect("RESET to INIT", 0, become(qp, IBV_QPS_INIT));
  expect("INIT to INIT", EINVAL, become(qp, IBV_QPS_INIT));
  expect("INIT to RTS", EINVAL, become(qp, IBV_QPS_RTS));
  expect("INIT to RTR", 0, become(qp, IBV_QPS_RTR));
  expect("without a number", EINVAL, ibv_modify_qp(qp, &rts, IBV_QP_STATE));
  expect("RTR to RTS", 0, become(qp, IBV_QPS_RTS));
  expect("RTS to RTR", EINVAL, become(qp, IBV_QPS_RTR));
  expect_broken(7, "seven refusals");
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(qp));
  close_end(&end);
}

static void queue_pair_state_of_posts(void) {
  struct end end = open_end((struct end_options){0});
  struct end other = end;
  struct way way = way_between(&end, &end);
  other.qp = small_pair(&end);
  other.ex = ibv_qp_to_qp_ex(other.qp);
  expect("a receive in RESET", EINVAL, try_receive(&other, 1, 0, 10));
  expect("a send in RESET", EINVAL, post(&other, (struct post){.way = &way, .length = 1}));
  expect("to INIT", 0, become(other.qp, IBV_QPS_INIT));
  expect("a send in INIT", EINVAL, post(&other, (struct post){.way = &way, .length = 1}));
  expect("to RTR", 0, become(other.qp, IBV_QPS_RTR));
  expect("a send in RTR", EINVAL, post_plain(&other, (struct post){.way = &way, .length = 1}));
  expect_broken(4, "four refusals");
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(other.qp));
  ibv_destroy_ah(way.ah);
  close_end(&end);
}

static void queue_pair_states_allowed(void) {
  struct end end = open_end((struct end_options){0});
  struct end other = end;
  other.qp = small_pair(&end);
  expect("RESET to ERR", 0, become(other.qp, IBV_QPS_ERR));
  expect("ERR to RESET", 0, become(other.qp, IBV_QPS_RESET));
  expect("RESET to INIT", 0, become(other.qp, IBV_QPS_INIT));
  receive(&other, 1, 0, 10);
  expect("INIT to RTR", 0, become(other.qp, IBV_QPS_RTR));
  receive(&other, 2, 0, 10);
  expect("RTR to RTS", 0, become(other.qp, IBV_QPS_RTS));
  receive(&other, 3, 0, 10);
  expect("RTS to ERR", 0, become(other.qp, IBV_QPS_ERR));
  for (uint64_t id = 1; id <= 3; id++) await_status(other.receives, id, STATUS_FLUSHED, "a receive of before");
  receive(&other, 4, 0, 10);
  await_status(other.receives, 4, STATUS_FLUSHED, "a receive in ERR");
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(other.qp));
  close_end(&end);
}

static void numbers_come_back_late(void) {
  struct end end = open_end((struct end_options){0});
  bool seen[65536] = {false};
  for (int i = 0; i < 2000; i++) {
    struct ibv_qp *qp = small_pair(&end);
    if (qp->qp_num > 65535 || seen[qp->qp_num]) fail("queue pair %d: expected a new number, came %u", i, qp->qp_num);
    seen[qp->qp_num] = true;
    expect("ibv_destroy_qp", 0, ibv_destroy_qp(qp));
  }
  close_end(&end);
}

static void queue_pairs_run_out(void) {
  struct end end = open_end((struct end_options){0});
  struct ibv_qp *pairs[MOST_QUEUE_PAIRS];
  int count = 0;
  while (count < MOST_QUEUE_PAIRS && (pairs[count] = pair_of(&end, 4, 1, 4, 1, 0)) != NULL) count++;
  expect("queue pairs beside the first", MOST_QUEUE_PAIRS - 2, count);
  expect("errno", ENOMEM, errno);
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(pairs[7]));
  pairs[7] = small_pair(&end);
  for (int i = 0; i < count; i++) expect("ibv_destroy_qp", 0, ibv_destroy_qp(pairs[i]));
  close_end(&end);
}

// The peers that the device does not know leave nothing behind: of `other`, they would take all handles.
static void address_handles_run_out(void) {
  struct end end = open_end((struct end_options){0}), other = open_end((struct end_options){0});
  struct ibv_ah *handles[KNOWN_PEERS], *more;
  uint8_t gid[16] = {0xfe, 0x80};
  for (int i = 0; i < KNOWN_PEERS; i++) {
    gid[14] = (uint8_t)i;
    handles[i] = new_handle(end.pd, gid);
    if (handles[i] == NULL) fail("handle %d: expected one, came none", i);
  }
  for (int i = 0; i < 2 * ADDRESS_HANDLES; i++) {
    gid[12] = (uint8_t)(1 + i / 256);
    gid[13] = (uint8_t)i;
    if (new_handle(other.pd, gid) != NULL) fail("one more than the device knows: expected none, came a handle");
    expect("errno", ENOMEM, errno);
  }
  for (int i = 0; i < KNOWN_PEERS; i++) expect("ibv_destroy_ah", 0, ibv_destroy_ah(handles[i]));
  more = new_handle(other.pd, gid);
  if (more == NULL) fail("after all were closed: expected a handle, came none");
  expect("ibv_destroy_ah", 0, ibv_destroy_ah(more));
  close_end(&end);
  close_end(&other);
}

const struct test_case object_cases[] = {
    {"clean-close", clean_close, NULL},
    {"domain-in-use", domain_in_use, "domain-in-use"},
    {"device-in-use", device_in_use, "device-in-use"},
    {"completion-queue-in-use", completion_queue_in_use, "completion-queue-in-use"},
    {"in-use-at-exit", in_use_at_exit, NULL},
    {"region-rights-of-send", region_rights_of_send, "region-rights"},
    {"region-rights-of-read", region_rights_of_read, "region-rights"},
    {"region-rights-without-local", region_rights_without_local, "region-rights"},
    {"region-rights-allowed", region_rights_allowed, NULL},
    {"region-closed-twice", region_closed_twice, "region-unknown"},
    {"region-of-parent", region_of_parent, "region-unknown"},
    {"registered-and-closed", registered_and_closed, NULL},
    {"queue-pair-limits", queue_pair_limits, "queue-pair-limits"},
    {"queue-pair-limits-of-unsolicited", queue_pair_limits_of_unsolicited, "queue-pair-limits"},
    {"queue-pair-within-limits", queue_pair_within_limits, NULL},
    {"queue-pair-states", queue_pair_states, "queue-pair-state"},
    {"queue-pair-state-of-posts", queue_pair_state_of_posts, "queue-pair-state"},
    {"queue-pair-states-allowed", queue_pair_states_allowed, NULL},
    {"numbers-come-back-late", numbers_come_back_late, NULL},
    {"queue-pairs-run-out", queue_pairs_run_out, NULL},
    {"address-handles-run-out", address_handles_run_out, NULL},
    {0},
};
