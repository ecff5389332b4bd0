// Queue pairs: making, changing and closing them.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nic.h"

static bool within_limits(const struct ibv_qp_cap *wanted) {
  if (wanted->max_send_wr <= SEND_DEPTH && wanted->max_recv_wr <= RECEIVES && wanted->max_send_sge <= SEND_PIECES &&
      wanted->max_recv_sge <= RECEIVE_PIECES && wanted->max_inline_data <= LONGEST_INLINE) {
    return true;
  }
  broke("queue-pair-limits", "a queue pair for %u sends of %u pieces, %u receives of %u and %u inline bytes: more than the "
        "device has", wanted->max_send_wr, wanted->max_send_sge, wanted->max_recv_wr, wanted->max_recv_sge,
        wanted->max_inline_data);
  return false;
}

static void describe_on_wire(struct wire_queue_pair *entry, struct ibv_pd *pd, const struct ibv_qp_init_attr *attributes,
                             const struct wire_receive_queue *receives, bool unsolicited) {
  struct completion_queue *queue = (struct completion_queue *)attributes->recv_cq;
  wire_lock(&entry->lock);
  entry->pid = getpid();
  entry->state = IBV_QPS_RESET;
  entry->datagram = attributes->qp_type == IBV_QPT_UD;
  entry->domain = ((struct domain *)pd)->number;
  entry->unsolicited = unsolicited;
  entry->queue = (uint32_t)(queue->wire - wire->queues);
  entry->receives = (uint32_t)(receives - wire->receive_queues);
  entry->qkey = 0;
  entry->device = (uint32_t)(context_of(pd->context)->wire - wire->devices);
  wire_unlock(&entry->lock);
}

static struct queue_pair *allocate(uint32_t depth) {
  struct queue_pair *pair = calloc(1, sizeof *pair);
  if (pair == NULL) return NULL;
  pair->depth = depth;
  pair->requests = calloc(depth, sizeof *pair->requests);
  pair->batch = calloc(depth, sizeof *pair->batch);
  if (pair->requests != NULL && pair->batch != NULL) return pair;
  free(pair->requests);
  free(pair->batch);
  free(pair);
  return NULL;
}

static struct ibv_qp *new_queue_pair(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes, bool extended, bool unsolicited) {
  if (!within_limits(&attributes->cap)) {
    errno = EINVAL;
    return NULL;
  }
  struct queue_pair *pair = allocate(attributes->cap.max_send_wr ? attributes->cap.max_send_wr : 1);
  if (pair == NULL) return NULL;
  wire_lock(&wire->lock);
  struct wire_queue_pair *entry = take_slot(MOST_QUEUE_PAIRS, QUEUE_PAIR_BITS);
  struct wire_receive_queue *receives =
      entry == NULL ? NULL : take_receive_queue(attributes->cap.max_recv_wr, ((struct domain *)pd)->number);
  if (receives != NULL) describe_on_wire(entry, pd, attributes, receives, unsolicited);
  wire_unlock(&wire->lock);
  if (receives == NULL) {
    free(pair->requests);
    free(pair->batch);
    free(pair);
    errno = ENOMEM;
    return NULL;
  }
  pair->wire = entry;
  pair->receives = receives;
  pair->send_queue = (struct completion_queue *)attributes->send_cq;
  pair->receive_queue = (struct completion_queue *)attributes->recv_cq;
  pair->retries = 7;
  pair->extended = extended;
  pair->most_receives = attributes->cap.max_recv_sge ? attributes->cap.max_recv_sge : 1;
  pthread_mutex_init(&pair->lock, NULL);
  pthread_mutex_init(&pair->building, NULL);
  struct ibv_qp *qp = &pair->qp;
  qp->context = pd->context;
  qp->qp_context = attributes->qp_context;
  qp->pd = pd;
  qp->send_cq = attributes->send_cq;
  qp->recv_cq = attributes->recv_cq;
  qp->qp_num = entry->number;
  qp->state = IBV_QPS_RESET;
  qp->qp_type = attributes->qp_type;
  pthread_mutex_init(&qp->mutex, NULL);
  pthread_cond_init(&qp->cond, NULL);
  set_batch_calls(&pair->ex);
  ((struct domain *)pd)->users++;
  pair->send_queue->users++;
  pair->receive_queue->users++;
  enter_pair(entry, pair);
  start_firmware();
  trace("queue pair %u on %s: %u sends, %u receives%s", qp->qp_num, pd->context->device->name, pair->depth, receives->depth,
        unsolicited ? ", unsolicited writes" : "");
  return qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
  if (attributes->qp_type != IBV_QPT_UD) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  return new_queue_pair(pd, attributes, false, false);
}

// ibv_qp_init_attr_ex begins with the members of ibv_qp_init_attr.
struct ibv_qp *create_queue_pair_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attributes) {
  (void)context;
  if (attributes->qp_type != IBV_QPT_UD) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  bool extended = attributes->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  return new_queue_pair(attributes->pd, (struct ibv_qp_init_attr *)attributes, extended, false);
}

struct ibv_qp *create_srd_queue_pair(struct ibv_context *context, struct ibv_qp_init_attr_ex *attributes,
                                     const struct queue_pair_extras *extras, uint32_t size) {
  bool has_flags = size >= offsetof(struct queue_pair_extras, flags) + sizeof extras->flags;
  bool unsolicited = has_flags && (extras->flags & 1);
  if (attributes->qp_type != IBV_QPT_DRIVER || extras->driver_qp_type != EFADV_QP_DRIVER_TYPE_SRD) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  if (unsolicited && !(capabilities(context_of(context)) & CAN_RECEIVE_UNSOLICITED)) {
    broke("queue-pair-limits", "unsolicited writes were asked of a device that does not have them");
    errno = EOPNOTSUPP;
    return NULL;
  }
  return new_queue_pair(attributes->pd, (struct ibv_qp_init_attr *)attributes, true, unsolicited);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  return pair->extended ? &pair->ex : NULL;
}

static bool may_become(enum ibv_qp_state from, enum ibv_qp_state to, int mask) {
  switch (to) {
    case IBV_QPS_RESET:
    case IBV_QPS_ERR:
      return true;
    case IBV_QPS_INIT:
      return from == IBV_QPS_RESET && (mask & IBV_QP_PKEY_INDEX) && (mask & IBV_QP_PORT) && (mask & IBV_QP_QKEY);
    case IBV_QPS_RTR:
      return from == IBV_QPS_INIT;
    case IBV_QPS_RTS:
      return from == IBV_QPS_RTR && (mask & IBV_QP_SQ_PSN);
    default:
      return false;
  }
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  if ((mask & IBV_QP_STATE) && !may_become(qp->state, attributes->qp_state, mask)) {
    broke("queue-pair-state", "queue pair %u cannot go from state %d to %d with attributes 0x%x", qp->qp_num, qp->state,
          attributes->qp_state, mask);
    return EINVAL;
  }
  pthread_mutex_lock(&pair->lock);
  wire_lock(&pair->wire->lock);
  if (mask & IBV_QP_QKEY) pair->wire->qkey = attributes->qkey;
  if (mask & IBV_QP_RNR_RETRY) pair->retries = attributes->rnr_retry;
  if (mask & IBV_QP_STATE) pair->wire->state = qp->state = attributes->qp_state;
  wire_unlock(&pair->wire->lock);
  if ((mask & IBV_QP_STATE) && attributes->qp_state == IBV_QPS_ERR) flush(pair);
  pthread_mutex_unlock(&pair->lock);
  return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  leave_pair(pair->wire);
  // From here on nobody writes to this queue pair's receives: the lock is held while one is taken and filled.
  wire_lock(&pair->wire->lock);
  pair->wire->state = IBV_QPS_RESET;
  close_receive_queue(pair->receives);
  pair->wire->pid = 0;
  wire_unlock(&pair->wire->lock);
  ((struct domain *)qp->pd)->users--;
  pair->send_queue->users--;
  pair->receive_queue->users--;
  trace("closed queue pair %u", qp->qp_num);
  free(pair->requests);
  free(pair->batch);
  free(pair);
  return 0;
}

// Writes are never in order on SRD.
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode operation, uint32_t flags) {
  (void)qp;
  (void)operation;
  (void)flags;
  return 0;
}
