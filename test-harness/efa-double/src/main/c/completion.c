// Completion queues: the calls that read a ring.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nic.h"

static enum ibv_wc_status verbs_status(uint8_t status) {
  switch (status) {
    case STATUS_OK:
      return IBV_WC_SUCCESS;
    case STATUS_FLUSHED:
      return IBV_WC_WR_FLUSH_ERR;
    case STATUS_LOCAL_FAULT:
    case STATUS_BAD_ADDRESS_HANDLE:
      return IBV_WC_LOC_QP_OP_ERR;
    case STATUS_BAD_LKEY:
      return IBV_WC_LOC_PROT_ERR;
    case STATUS_BAD_LENGTH:
      return IBV_WC_LOC_LEN_ERR;
    case STATUS_REMOTE_ADDRESS:
      return IBV_WC_REM_ACCESS_ERR;
    case STATUS_REMOTE_ABORT:
      return IBV_WC_REM_ABORT_ERR;
    case STATUS_REMOTE_QUEUE_PAIR:
      return IBV_WC_REM_INV_RD_REQ_ERR;
    case STATUS_REMOTE_NOT_READY:
      return IBV_WC_RNR_RETRY_EXC_ERR;
    case STATUS_REMOTE_LENGTH:
      return IBV_WC_REM_INV_REQ_ERR;
    case STATUS_REMOTE_STATUS:
      return IBV_WC_BAD_RESP_ERR;
    case STATUS_UNRESPONSIVE:
    case STATUS_UNREACHABLE:
      return IBV_WC_RESP_TIMEOUT_ERR;
    case STATUS_UNKNOWN_PEER:
      return IBV_WC_REM_OP_ERR;
    default:
      return IBV_WC_GENERAL_ERR;
  }
}

static int take(struct completion_queue *queue) {
  if (!take_completion(queue->wire, &queue->current)) return ENOENT;
  queue->cq.status = verbs_status(queue->current.status);
  queue->cq.wr_id = queue->current.id;
  return 0;
}

static void progress_of(struct queue_pair *pair, void *queue) {
  if (pair->send_queue != queue || pair->waiting == 0) return;
  if (pthread_mutex_trylock(&pair->lock) != 0) return;
  progress(pair);
  pthread_mutex_unlock(&pair->lock);
}

// The lock is held until end_poll only if there is a completion.
static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attributes) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  if (attributes->comp_mask != 0) return EINVAL;
  for_each_queue_pair(progress_of, queue);
  pthread_mutex_lock(&queue->polled);
  int result = take(queue);
  if (result == 0) {
    queue->polling = true;
  } else {
    pthread_mutex_unlock(&queue->polled);
  }
  return result;
}

static bool polled(struct completion_queue *queue, const char *call) {
  if (!queue->polling) broke("poll-order", "%s without a start_poll that found a completion", call);
  return queue->polling;
}

static int next_poll(struct ibv_cq_ex *cq) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  return polled(queue, "next_poll") ? take(queue) : EINVAL;
}

static void end_poll(struct ibv_cq_ex *cq) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  if (!polled(queue, "end_poll")) return;
  queue->polling = false;
  pthread_mutex_unlock(&queue->polled);
}

static const struct wire_completion *current(struct ibv_cq_ex *cq) { return &((struct completion_queue *)cq)->current; }

// A read completes as a send: so does rdma-core, and so the provider expects it.
static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq) {
  switch (current(cq)->operation) {
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

static uint32_t read_vendor_err(struct ibv_cq_ex *cq) { return current(cq)->status; }
static uint32_t read_byte_len(struct ibv_cq_ex *cq) { return current(cq)->bytes; }
static __be32 read_imm_data(struct ibv_cq_ex *cq) { return current(cq)->immediate; }
static uint32_t read_qp_num(struct ibv_cq_ex *cq) { return current(cq)->queue_pair; }
static uint32_t read_src_qp(struct ibv_cq_ex *cq) { return current(cq)->source; }
static unsigned read_wc_flags(struct ibv_cq_ex *cq) { return current(cq)->flags & WITH_IMMEDIATE ? IBV_WC_WITH_IMM : 0; }
static uint8_t read_zero(struct ibv_cq_ex *cq) {
  (void)cq;
  return 0;
}

// The number of the address handle for the sender; looked up when it is asked for, since it may be made meanwhile.
static uint32_t read_slid(struct ibv_cq_ex *cq) { return handle_number(context_of(cq->context), current(cq)->gid); }

static struct completion_queue *of_extras(struct efadv_cq *extras) {
  return (struct completion_queue *)((char *)extras - offsetof(struct completion_queue, extras));
}

// Tells the sender only where no address handle does.
static int read_sgid(struct efadv_cq *extras, union ibv_gid *gid) {
  struct completion_queue *queue = of_extras(extras);
  if (read_slid(&queue->cq) != NO_HANDLE) return -ENOENT;
  memcpy(gid->raw, queue->current.gid, sizeof gid->raw);
  return 0;
}

static bool is_unsolicited(struct efadv_cq *extras) { return of_extras(extras)->current.flags & UNSOLICITED; }

struct efadv_cq *completion_extras(struct ibv_cq_ex *cq) {
  return (struct efadv_cq *)&((struct completion_queue *)cq)->extras;
}

static struct ibv_cq_ex *new_completion_queue(struct ibv_context *context, uint32_t depth, void *cq_context) {
  if (depth == 0 || depth > MOST_COMPLETIONS) {
    errno = EINVAL;
    return NULL;
  }
  struct completion_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) return NULL;
  queue->wire = take_ring(depth);
  if (queue->wire == NULL) {
    free(queue);
    errno = ENOMEM;
    return NULL;
  }
  pthread_mutex_init(&queue->polled, NULL);
  struct ibv_cq_ex *cq = &queue->cq;
  cq->context = context;
  cq->cq_context = cq_context;
  cq->cqe = (int)depth;
  pthread_mutex_init(&cq->mutex, NULL);
  pthread_cond_init(&cq->cond, NULL);
  cq->start_poll = start_poll;
  cq->next_poll = next_poll;
  cq->end_poll = end_poll;
  cq->read_opcode = read_opcode;
  cq->read_vendor_err = read_vendor_err;
  cq->read_byte_len = read_byte_len;
  cq->read_imm_data = read_imm_data;
  cq->read_qp_num = read_qp_num;
  cq->read_src_qp = read_src_qp;
  cq->read_wc_flags = read_wc_flags;
  cq->read_slid = read_slid;
  cq->read_sl = read_zero;
  cq->read_dlid_path_bits = read_zero;
  queue->extras.wc_read_sgid = read_sgid;
  queue->extras.wc_is_unsolicited = is_unsolicited;
  context_of(context)->queues++;
  return cq;
}

struct ibv_cq_ex *create_completion_queue(struct ibv_context *context, struct ibv_cq_init_attr_ex *attributes) {
  return new_completion_queue(context, attributes->cqe, attributes->cq_context);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int depth, void *cq_context, struct ibv_comp_channel *channel,
                             int vector) {
  (void)vector;
  if (channel != NULL) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  return (struct ibv_cq *)new_completion_queue(context, depth < 0 ? 0 : (uint32_t)depth, cq_context);
}

int ibv_destroy_cq(struct ibv_cq *cq) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  if (queue->users != 0) {
    if (is_exiting()) return EBUSY;
    broke("completion-queue-in-use", "a completion queue was closed that %u queue pairs write to", queue->users);
    return EBUSY;
  }
  close_ring(queue->wire);
  context_of(cq->context)->queues--;
  free(queue);
  return 0;
}

int poll_completions(struct ibv_cq *cq, int most, struct ibv_wc *completions) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  for_each_queue_pair(progress_of, queue);
  pthread_mutex_lock(&queue->polled);
  int count = 0;
  for (; count < most && take(queue) == 0; count++) {
    const struct wire_completion *taken = &queue->current;
    completions[count] = (struct ibv_wc){
        .wr_id = taken->id,
        .status = queue->cq.status,
        .opcode = read_opcode(&queue->cq),
        .vendor_err = taken->status,
        .byte_len = taken->bytes,
        .imm_data = taken->immediate,
        .qp_num = taken->queue_pair,
        .src_qp = taken->source,
        .wc_flags = read_wc_flags(&queue->cq),
        .slid = (uint16_t)read_slid(&queue->cq),
    };
  }
  pthread_mutex_unlock(&queue->polled);
  return count;
}
