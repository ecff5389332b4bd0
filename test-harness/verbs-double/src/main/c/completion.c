// Completion queues: the calls that read a ring.

#include <errno.h>
#include <stdlib.h>

#include "nic.h"

// What a completion that failed says of its operation and its vendor: nothing that may be relied on.
enum { NO_OPCODE = 0x5a, VENDOR_ERROR = 0x68 };

static enum ibv_wc_opcode opcode(uint8_t operation) {
  switch (operation) {
    case READ:
      return IBV_WC_RDMA_READ;
    case WRITE:
      return IBV_WC_RDMA_WRITE;
    case RECEIVE:
      return IBV_WC_RECV;
    case RECEIVE_WRITE:
      return IBV_WC_RECV_RDMA_WITH_IMM;
    default:
      return IBV_WC_SEND;
  }
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int depth, void *cq_context, struct ibv_comp_channel *channel,
                             int vector) {
  (void)vector;
  if (is_gone(context)) return NULL;
  if (depth <= 0 || depth > MOST_COMPLETIONS) {
    errno = EINVAL;
    return NULL;
  }
  struct completion_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) return NULL;
  queue->wire = take_ring(depth > COMPLETIONS ? COMPLETIONS : (uint32_t)depth);
  if (queue->wire == NULL) {
    free(queue);
    errno = ENOMEM;
    return NULL;
  }
  struct ibv_cq *cq = &queue->cq;
  cq->context = context;
  cq->cq_context = cq_context;
  cq->channel = channel;
  cq->cqe = depth;
  pthread_mutex_init(&cq->mutex, NULL);
  pthread_cond_init(&cq->cond, NULL);
  queue->channel = (struct completion_channel *)channel;
  if (channel != NULL) begin_telling(queue);
  context_of(context)->queues++;
  trace("completion queue of %d", depth);
  return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  if (queue->users != 0) {
    if (is_exiting()) return EBUSY;
    broke("completion-queue-in-use", "a completion queue was closed that %u queue pairs write to", queue->users);
    return EBUSY;
  }
  if (queue->channel != NULL) end_telling(queue);
  close_ring(queue->wire);
  context_of(cq->context)->queues--;
  free(queue);
  return 0;
}

static void progress_of(struct queue_pair *pair, void *queue) {
  if (pair->send_queue != queue || pair->posted == pair->carried) return;
  if (pthread_mutex_trylock(&pair->lock) != 0) return;
  progress(pair);
  pthread_mutex_unlock(&pair->lock);
}

static struct ibv_wc told(const struct wire_completion *taken) {
  struct ibv_wc completion = {.wr_id = taken->id, .status = taken->status, .qp_num = taken->queue_pair};
  if (taken->status != IBV_WC_SUCCESS) {
    completion.opcode = (enum ibv_wc_opcode)NO_OPCODE;
    completion.vendor_err = VENDOR_ERROR;
    return completion;
  }
  completion.opcode = opcode(taken->operation);
  completion.byte_len = taken->bytes;
  completion.imm_data = taken->immediate;
  completion.src_qp = taken->source;
  completion.wc_flags = taken->operation >= RECEIVE && (taken->flags & WITH_IMMEDIATE) ? IBV_WC_WITH_IMM : 0;
  return completion;
}

int poll_completions(struct ibv_cq *cq, int most, struct ibv_wc *completions) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  for_each_queue_pair(progress_of, queue);
  int count = 0;
  struct wire_completion taken;
  while (count < most && take_completion(queue->wire, &taken)) completions[count++] = told(&taken);
  return count;
}
