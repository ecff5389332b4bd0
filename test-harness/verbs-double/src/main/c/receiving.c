// Posting receives, to a queue pair's own queue and to one that several share.

#include <errno.h>
#include <stdlib.h>

#include "nic.h"

static int post_to(struct receive_queue *queue, const struct ibv_recv_wr *posted, const char *what) {
  if (posted->num_sge < 0 || (uint32_t)posted->num_sge > queue->most_pieces) {
    broke("piece-limits", "a receive of a %s has %d pieces, and it was made for %u", what, posted->num_sge,
          queue->most_pieces);
    return EINVAL;
  }
  return add_receive(queue->wire, posted);
}

static int post_one(struct queue_pair *pair, const struct ibv_recv_wr *posted) {
  if (pair->wire->shared) {
    broke("queue-pair-state", "a receive was posted to queue pair %u, which has a shared receive queue", pair->qp.qp_num);
    return EINVAL;
  }
  if (pair->wire->state == IBV_QPS_RESET) {
    broke("queue-pair-state", "a receive was posted to queue pair %u in its reset state", pair->qp.qp_num);
    return EINVAL;
  }
  if (pair->wire->state == IBV_QPS_ERR) {
    struct wire_completion flushed = {.id = posted->wr_id,
                                      .queue_pair = pair->qp.qp_num,
                                      .status = IBV_WC_WR_FLUSH_ERR,
                                      .operation = RECEIVE};
    complete(pair->receive_queue->wire, &flushed);
    return 0;
  }
  wire_lock(&pair->receives.wire->lock);
  int error = post_to(&pair->receives, posted, "queue pair");
  wire_unlock(&pair->receives.wire->lock);
  return error;
}

int post_receive(struct ibv_qp *qp, struct ibv_recv_wr *requests, struct ibv_recv_wr **bad) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  int error = 0;
  wire_lock(&pair->wire->lock);
  for (; requests != NULL && error == 0; requests = requests->next) {
    error = post_one(pair, requests);
    if (error != 0) *bad = requests;
  }
  wire_unlock(&pair->wire->lock);
  return error;
}

int post_shared_receive(struct ibv_srq *srq, struct ibv_recv_wr *requests, struct ibv_recv_wr **bad) {
  struct receive_queue *queue = &((struct shared_queue *)srq)->receives;
  int error = 0;
  wire_lock(&queue->wire->lock);
  for (; requests != NULL && error == 0; requests = requests->next) {
    error = post_to(queue, requests, "shared receive queue");
    if (error != 0) *bad = requests;
  }
  wire_unlock(&queue->wire->lock);
  return error;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attributes) {
  if (is_gone(pd->context)) return NULL;
  if (attributes->attr.max_wr > RECEIVES || attributes->attr.max_sge > RECEIVE_PIECES) {
    errno = EINVAL;
    return NULL;
  }
  struct shared_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) return NULL;
  wire_lock(&wire->lock);
  queue->receives.wire = take_receive_queue(attributes->attr.max_wr, ((struct domain *)pd)->number);
  wire_unlock(&wire->lock);
  if (queue->receives.wire == NULL) {
    free(queue);
    errno = ENOMEM;
    return NULL;
  }
  queue->receives.most_pieces = attributes->attr.max_sge ? attributes->attr.max_sge : 1;
  queue->srq.context = pd->context;
  queue->srq.srq_context = attributes->srq_context;
  queue->srq.pd = pd;
  ((struct domain *)pd)->users++;
  trace("shared receive queue of %u", attributes->attr.max_wr);
  return &queue->srq;
}

int ibv_destroy_srq(struct ibv_srq *srq) {
  struct shared_queue *queue = (struct shared_queue *)srq;
  if (queue->users != 0) {
    if (is_exiting()) return EBUSY;
    broke("shared-queue-in-use", "a shared receive queue was closed that %u queue pairs use", queue->users);
    return EBUSY;
  }
  close_receive_queue(queue->receives.wire);
  ((struct domain *)srq->pd)->users--;
  free(queue);
  return 0;
}
