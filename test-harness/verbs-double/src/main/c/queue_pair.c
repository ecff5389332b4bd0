// Queue pairs of reliable connections: making, changing and closing them.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nic.h"

// Another protection domain or device than the queue pair's own is the program's fault.
static bool belong_together(struct ibv_pd *pd, const struct ibv_qp_init_attr *attributes) {
  if (attributes->send_cq->context == pd->context && attributes->recv_cq->context == pd->context &&
      (attributes->srq == NULL || attributes->srq->context == pd->context)) {
    return true;
  }
  broke("device-mismatch", "a queue pair was made with completions or receives of another device");
  return false;
}

static void describe_on_wire(struct wire_queue_pair *entry, struct ibv_pd *pd, const struct ibv_qp_init_attr *attributes,
                             const struct wire_receive_queue *receives) {
  wire_lock(&entry->lock);
  entry->pid = getpid();
  entry->state = IBV_QPS_RESET;
  entry->domain = ((struct domain *)pd)->number;
  entry->queue = (uint32_t)(((struct completion_queue *)attributes->recv_cq)->wire - wire->queues);
  entry->receives = (uint32_t)(receives - wire->receive_queues);
  entry->shared = attributes->srq != NULL;
  entry->device = (uint32_t)(context_of(pd->context)->wire - wire->devices);
  entry->remote = entry->access = 0;
  wire_unlock(&entry->lock);
}

static struct queue_pair *allocate(uint32_t depth) {
  struct queue_pair *pair = calloc(1, sizeof *pair);
  if (pair == NULL) return NULL;
  pair->depth = depth;
  pair->requests = calloc(depth, sizeof *pair->requests);
  if (pair->requests != NULL) return pair;
  free(pair);
  return NULL;
}

static bool take_places(struct queue_pair *pair, struct ibv_pd *pd, const struct ibv_qp_init_attr *attributes) {
  struct shared_queue *shared = (struct shared_queue *)attributes->srq;
  wire_lock(&wire->lock);
  struct wire_queue_pair *entry = take_slot(QUEUE_PAIRS, QUEUE_PAIR_BITS);
  if (entry != NULL) {
    pair->receives.wire = shared != NULL
                              ? shared->receives.wire
                              : take_receive_queue(attributes->cap.max_recv_wr, ((struct domain *)pd)->number);
  }
  if (pair->receives.wire != NULL) describe_on_wire(entry, pd, attributes, pair->receives.wire);
  wire_unlock(&wire->lock);
  pair->wire = entry;
  return pair->receives.wire != NULL;
}

static void describe(struct queue_pair *pair, struct ibv_pd *pd, const struct ibv_qp_init_attr *attributes) {
  const struct ibv_qp_cap *cap = &attributes->cap;
  pair->receives.most_pieces = cap->max_recv_sge ? cap->max_recv_sge : 1;
  pair->send_queue = (struct completion_queue *)attributes->send_cq;
  pair->receive_queue = (struct completion_queue *)attributes->recv_cq;
  pair->most_pieces = cap->max_send_sge ? cap->max_send_sge : 1;
  pair->most_inline = cap->max_inline_data;
  pair->all_signaled = attributes->sq_sig_all;
  pthread_mutex_init(&pair->lock, NULL);
  struct ibv_qp *qp = &pair->qp;
  qp->context = pd->context;
  qp->qp_context = attributes->qp_context;
  qp->pd = pd;
  qp->send_cq = attributes->send_cq;
  qp->recv_cq = attributes->recv_cq;
  qp->srq = attributes->srq;
  qp->qp_num = pair->wire->number;
  qp->state = IBV_QPS_RESET;
  qp->qp_type = attributes->qp_type;
  pthread_mutex_init(&qp->mutex, NULL);
  pthread_cond_init(&qp->cond, NULL);
}

// The users of an object, up or down: an object that has some cannot be closed.
static void count_users(const struct ibv_qp *qp, int by) {
  ((struct domain *)qp->pd)->users += (uint32_t)by;
  ((struct completion_queue *)qp->send_cq)->users += (uint32_t)by;
  ((struct completion_queue *)qp->recv_cq)->users += (uint32_t)by;
  if (qp->srq != NULL) ((struct shared_queue *)qp->srq)->users += (uint32_t)by;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
  const struct ibv_qp_cap *cap = &attributes->cap;
  if (is_gone(pd->context)) return NULL;
  // The provider searches for the longest inline data by making queue pairs, so that a refusal is no broken rule.
  bool within = cap->max_send_wr <= SEND_DEPTH && cap->max_recv_wr <= RECEIVES && cap->max_send_sge <= SEND_PIECES &&
                cap->max_recv_sge <= RECEIVE_PIECES && cap->max_inline_data <= LONGEST_INLINE;
  if (attributes->qp_type != IBV_QPT_RC || !within || !belong_together(pd, attributes)) {
    errno = attributes->qp_type != IBV_QPT_RC ? EOPNOTSUPP : EINVAL;
    return NULL;
  }
  struct queue_pair *pair = allocate(cap->max_send_wr ? cap->max_send_wr : 1);
  if (pair == NULL) return NULL;
  if (!take_places(pair, pd, attributes)) {
    free(pair->requests);
    free(pair);
    errno = ENOMEM;
    return NULL;
  }
  describe(pair, pd, attributes);
  count_users(&pair->qp, 1);
  enter_pair(pair->wire, pair);
  start_firmware();
  trace("queue pair %u: %u sends of %u, %u receives of %u, %u inline", pair->qp.qp_num, cap->max_send_wr,
        cap->max_send_sge, cap->max_recv_wr, cap->max_recv_sge, cap->max_inline_data);
  return &pair->qp;
}

// --- States -----------------------------------------------------------------------------------------------------------

// What has to be told with a step between two states, and what may be: the table of the kernel's ib_modify_qp_is_ok.
static const struct step {
  enum ibv_qp_state from, to;
  int needed, allowed;
} steps[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
     IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
     IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_MIN_RNR_TIMER},
};

static bool may_become(enum ibv_qp_state from, enum ibv_qp_state to, int told) {
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return told == 0;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    const struct step *step = &steps[i];
    if (step->from == from && step->to == to) {
      return (told & step->needed) == step->needed && (told & ~(step->needed | step->allowed)) == 0;
    }
  }
  return false;
}

static bool attributes_right(const struct ibv_qp *qp, const struct ibv_qp_attr *attributes, int mask) {
  if ((mask & IBV_QP_PORT && attributes->port_num != 1) || (mask & IBV_QP_PKEY_INDEX && attributes->pkey_index != 0) ||
      (mask & IBV_QP_MAX_QP_RD_ATOMIC && attributes->max_rd_atomic > MOST_READS) ||
      (mask & IBV_QP_MAX_DEST_RD_ATOMIC && attributes->max_dest_rd_atomic > MOST_READS) ||
      (mask & IBV_QP_DEST_QPN && attributes->dest_qp_num >> QUEUE_PAIR_BITS != 0)) {
    broke("queue-pair-attributes", "queue pair %u was given port %u, partition %u, %u and %u reads, peer %u", qp->qp_num,
          attributes->port_num, attributes->pkey_index, attributes->max_rd_atomic, attributes->max_dest_rd_atomic,
          attributes->dest_qp_num);
    return false;
  }
  return true;
}

static void become(struct queue_pair *pair, enum ibv_qp_state state) {
  if (state == IBV_QPS_ERR) {
    fail_locked(pair->wire);
    flush_sends(pair);
    return;
  }
  if (state == IBV_QPS_RESET) {
    // What waits is forgotten, and does not complete.
    pair->wire->outstanding -= (uint32_t)(pair->posted - pair->carried);
    pair->carried = pair->posted;
    if (!pair->wire->shared) pair->receives.wire->taken = pair->receives.wire->posted;
  }
  pair->wire->state = state;
  pair->qp.state = state;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  enum ibv_qp_state from = pair->wire->state, to = mask & IBV_QP_STATE ? attributes->qp_state : from;
  if (!may_become(from, to, mask & ~IBV_QP_STATE)) {
    // That a connection failed meanwhile is nobody's fault: the provider changes a timer of it all the same.
    if (mask & IBV_QP_STATE) {
      broke("queue-pair-state", "queue pair %u cannot go from state %d to %d with attributes 0x%x", qp->qp_num, from, to,
            mask);
    }
    return EINVAL;
  }
  if (!attributes_right(qp, attributes, mask)) return EINVAL;
  pthread_mutex_lock(&pair->lock);
  wire_lock(&pair->wire->lock);
  if (mask & IBV_QP_ACCESS_FLAGS) pair->wire->access = attributes->qp_access_flags;
  if (mask & IBV_QP_DEST_QPN) pair->wire->remote = attributes->dest_qp_num;
  if (mask & IBV_QP_RNR_RETRY) pair->not_ready_retries = attributes->rnr_retry;
  if (mask & IBV_QP_STATE) become(pair, to);
  wire_unlock(&pair->wire->lock);
  pthread_mutex_unlock(&pair->lock);
  return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  leave_pair(pair->wire);
  // From here on nobody writes to this queue pair's receives: the lock is held while one is taken and filled.
  wire_lock(&pair->wire->lock);
  pair->wire->state = IBV_QPS_RESET;
  if (!pair->wire->shared) close_receive_queue(pair->receives.wire);
  pair->wire->pid = 0;
  wire_unlock(&pair->wire->lock);
  count_users(qp, -1);
  trace("closed queue pair %u", qp->qp_num);
  free(pair->requests);
  free(pair);
  return 0;
}

// The newer calls to post are not there, which the caller finds out by this.
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp) {
  (void)qp;
  return NULL;
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode operation, uint32_t flags) {
  (void)qp;
  (void)operation;
  (void)flags;
  return 0;
}
