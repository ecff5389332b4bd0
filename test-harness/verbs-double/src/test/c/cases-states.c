// The states of a queue pair, and what each takes.

#include <errno.h>

#include "nics.h"

static void states_follow_each_other(void) {
  struct end end = open_end((struct end_options){0});
  make_ready(&end, 1);
  expect("state", IBV_QPS_RTS, end.qp->state);
  expect("to ERR", 0, become(&end, IBV_QPS_ERR, 0));
  expect("state", IBV_QPS_ERR, end.qp->state);
  expect("to RESET", 0, become(&end, IBV_QPS_RESET, 0));
  make_ready(&end, 2);
}

static void no_state_is_left_out(void) {
  struct end end = open_end((struct end_options){0});
  expect("RESET to RTR", EINVAL, become(&end, IBV_QPS_RTR, 1));
  expect("RESET to RTS", EINVAL, become(&end, IBV_QPS_RTS, 1));
  expect("to INIT", 0, become(&end, IBV_QPS_INIT, 0));
  expect("INIT to RTS", EINVAL, become(&end, IBV_QPS_RTS, 1));
  expect("to ERR", 0, become(&end, IBV_QPS_ERR, 0));
  expect("ERR to RTS", EINVAL, become(&end, IBV_QPS_RTS, 1));
  expect_broken(4, "states left out");
}

// Each attribute that a step needs, left out; and one that it does not take.
static void steps_need_their_attributes(void) {
  struct end end = open_end((struct end_options){0});
  struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  int needed = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  const int each[] = {IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_ACCESS_FLAGS};
  for (int i = 0; i < 3; i++) expect("without one", EINVAL, ibv_modify_qp(end.qp, &attributes, needed & ~each[i]));
  expect("with one too many", EINVAL, ibv_modify_qp(end.qp, &attributes, needed | IBV_QP_QKEY));
  expect("with all", 0, ibv_modify_qp(end.qp, &attributes, needed));
  attributes.qp_state = IBV_QPS_RTR;
  expect("RTR without a peer", EINVAL,
         ibv_modify_qp(end.qp, &attributes,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                           IBV_QP_MIN_RNR_TIMER));
  expect_broken(5, "attributes");
}

static void attributes_have_values_of_the_device(void) {
  struct end end = open_end((struct end_options){0});
  struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT, .port_num = 2};
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  expect("port 2", EINVAL, ibv_modify_qp(end.qp, &attributes, mask));
  attributes.port_num = 1;
  attributes.pkey_index = 1;
  expect("partition 1", EINVAL, ibv_modify_qp(end.qp, &attributes, mask));
  attributes.pkey_index = 0;
  expect("right", 0, ibv_modify_qp(end.qp, &attributes, mask));
  attributes = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR, .max_dest_rd_atomic = MOST_READS + 1};
  expect("too many reads", EINVAL,
         ibv_modify_qp(end.qp, &attributes,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
  expect_broken(3, "values");
}

// The provider changes it at ESTABLISHED, when the connection may have failed already: refused, and nobody's fault.
static void a_timer_changes_while_ready(void) {
  struct end end = open_end((struct end_options){0});
  struct ibv_qp_attr attributes = {.min_rnr_timer = 1};
  expect("in RESET", EINVAL, ibv_modify_qp(end.qp, &attributes, IBV_QP_MIN_RNR_TIMER));
  make_ready(&end, 1);
  expect("in RTS", 0, ibv_modify_qp(end.qp, &attributes, IBV_QP_MIN_RNR_TIMER));
  expect("to ERR", 0, become(&end, IBV_QPS_ERR, 0));
  expect("in ERR", EINVAL, ibv_modify_qp(end.qp, &attributes, IBV_QP_MIN_RNR_TIMER));
}

static void sends_need_a_ready_queue_pair(void) {
  struct end end = open_end((struct end_options){0});
  expect("in RESET", EINVAL, post(&end, (struct post){.length = 1}));
  expect("to INIT", 0, become(&end, IBV_QPS_INIT, 0));
  expect("in INIT", EINVAL, post(&end, (struct post){.length = 1}));
  expect("to RTR", 0, become(&end, IBV_QPS_RTR, 1));
  expect("in RTR", EINVAL, post(&end, (struct post){.length = 1}));
  expect_broken(3, "sends");
}

static void receives_need_no_reset(void) {
  struct end end = open_end((struct end_options){0});
  expect("in RESET", EINVAL, try_receive(&end, 1, 0, 8));
  expect("to INIT", 0, become(&end, IBV_QPS_INIT, 0));
  expect("in INIT", 0, try_receive(&end, 2, 0, 8));
}

static void reset_forgets_what_waits(void) {
  struct end end = open_end((struct end_options){0});
  make_ready(&end, 1);
  receive(&end, 1, 0, 8);
  expect("post", 0, post(&end, (struct post){.id = 2, .length = 1}));
  expect("to RESET", 0, become(&end, IBV_QPS_RESET, 0));
  expect_quiet(&end, 50, "after a reset");
}

static void the_error_state_flushes(void) {
  struct end end = open_end((struct end_options){0});
  make_ready(&end, 1);
  receive(&end, 1, 0, 8);
  receive(&end, 2, 0, 8);
  // Nobody has that number, so it waits.
  expect("post", 0, post(&end, (struct post){.id = 3, .length = 1, .quiet = true}));
  expect("to ERR", 0, become(&end, IBV_QPS_ERR, 0));
  await(&end, 1, IBV_WC_WR_FLUSH_ERR, "a receive");
  await(&end, 2, IBV_WC_WR_FLUSH_ERR, "the next receive");
  // An operation that failed is told also if it was not to be.
  await(&end, 3, IBV_WC_WR_FLUSH_ERR, "a send");
  expect("post", 0, post(&end, (struct post){.id = 4, .length = 1}));
  await(&end, 4, IBV_WC_WR_FLUSH_ERR, "a send that comes after");
  receive(&end, 5, 0, 8);
  await(&end, 5, IBV_WC_WR_FLUSH_ERR, "a receive that comes after");
}

const struct test_case state_cases[] = {
    {"states-follow-each-other", states_follow_each_other, NULL},
    {"no-state-is-left-out", no_state_is_left_out, "queue-pair-state"},
    {"steps-need-their-attributes", steps_need_their_attributes, "queue-pair-state"},
    {"attributes-have-values-of-the-device", attributes_have_values_of_the_device, "queue-pair-attributes"},
    {"a-timer-changes-while-ready", a_timer_changes_while_ready, NULL},
    {"sends-need-a-ready-queue-pair", sends_need_a_ready_queue_pair, "queue-pair-state"},
    {"receives-need-no-reset", receives_need_no_reset, "queue-pair-state"},
    {"reset-forgets-what-waits", reset_forgets_what_waits, NULL},
    {"the-error-state-flushes", the_error_state_flushes, NULL},
    {NULL, NULL, NULL},
};
