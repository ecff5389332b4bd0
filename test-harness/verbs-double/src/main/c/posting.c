// Posting operations.

#include <errno.h>
#include <string.h>

#include "nic.h"

static int set_operation(const struct queue_pair *pair, const struct ibv_send_wr *posted, struct request *request) {
  switch (posted->opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      request->operation = SEND;
      break;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      request->operation = WRITE;
      break;
    case IBV_WR_RDMA_READ:
      request->operation = READ;
      break;
    default:
      broke("capability", "queue pair %u was given operation %d", pair->qp.qp_num, posted->opcode);
      return EINVAL;
  }
  if (posted->opcode == IBV_WR_SEND_WITH_IMM || posted->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    request->flags = WITH_IMMEDIATE;
    request->immediate = posted->imm_data;
  }
  if (request->operation != SEND) {
    request->remote = posted->wr.rdma.remote_addr;
    request->rkey = posted->wr.rdma.rkey;
  }
  return 0;
}

// Data that is taken along in the post: its memory is the caller's again, and needs no region.
static int set_inline(const struct queue_pair *pair, const struct ibv_send_wr *posted, struct request *request) {
  if (request->operation == READ || request->bytes > pair->most_inline) {
    broke("inline-limits", "%u bytes of queue pair %u were to go inline, and it was made for %u", request->bytes,
          pair->qp.qp_num, pair->most_inline);
    return EINVAL;
  }
  request->inlined = true;
  for (int i = 0, at = 0; i < posted->num_sge; i++) {
    memcpy(request->data + at, (void *)(uintptr_t)posted->sg_list[i].addr, posted->sg_list[i].length);
    at += (int)posted->sg_list[i].length;
  }
  return 0;
}

static int describe(const struct queue_pair *pair, const struct ibv_send_wr *posted, struct request *request) {
  *request = (struct request){.id = posted->wr_id,
                              .signaled = pair->all_signaled || (posted->send_flags & IBV_SEND_SIGNALED)};
  int error = set_operation(pair, posted, request);
  if (error != 0) return error;
  if (posted->num_sge < 0 || (uint32_t)posted->num_sge > pair->most_pieces) {
    broke("piece-limits", "an operation of queue pair %u has %d pieces, and it was made for %u", pair->qp.qp_num,
          posted->num_sge, pair->most_pieces);
    return EINVAL;
  }
  uint64_t bytes = 0;
  for (int i = 0; i < posted->num_sge; i++) bytes += posted->sg_list[i].length;
  if (bytes > LONGEST_MESSAGE) {
    broke("message-limits", "an operation of queue pair %u has %lu bytes, and the port takes %d", pair->qp.qp_num, bytes,
          LONGEST_MESSAGE);
    return EINVAL;
  }
  request->bytes = (uint32_t)bytes;
  if (posted->send_flags & IBV_SEND_INLINE) return set_inline(pair, posted, request);
  request->count = (uint32_t)posted->num_sge;
  memcpy(request->pieces, posted->sg_list, request->count * sizeof *request->pieces);
  return 0;
}

static int post_one(struct queue_pair *pair, const struct ibv_send_wr *posted) {
  uint32_t state = pair->wire->state;
  if (state != IBV_QPS_RTS && state != IBV_QPS_ERR) {
    broke("queue-pair-state", "an operation was posted to queue pair %u in state %u", pair->qp.qp_num, state);
    return EINVAL;
  }
  // No fault: the provider tries again.
  if (pair->wire->outstanding >= pair->depth) return ENOMEM;
  struct request *request = &pair->requests[pair->posted % pair->depth];
  int error = describe(pair, posted, request);
  if (error != 0) return error;
  request->due = nanoseconds() + travel_time();
  pair->posted++;
  pair->wire->outstanding++;
  count_request(context_of(pair->qp.context));
  return 0;
}

int post_send(struct ibv_qp *qp, struct ibv_send_wr *requests, struct ibv_send_wr **bad) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  int error = 0;
  pthread_mutex_lock(&pair->lock);
  for (; requests != NULL && error == 0; requests = requests->next) {
    error = post_one(pair, requests);
    if (error != 0) *bad = requests;
  }
  if (pair->wire->state == IBV_QPS_ERR) flush_sends(pair);
  pthread_mutex_unlock(&pair->lock);
  return error;
}
