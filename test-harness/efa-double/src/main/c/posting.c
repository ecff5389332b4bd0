// Posting operations, by both of the interfaces that the provider uses: ibv_post_send, and the calls between wr_start
// and wr_complete.

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "nic.h"

static bool may_send(struct queue_pair *pair) {
  if (pair->qp.state == IBV_QPS_RTS || pair->qp.state == IBV_QPS_ERR) return true;
  broke("queue-pair-state", "an operation was posted to queue pair %u in state %d", pair->qp.qp_num, pair->qp.state);
  return false;
}

static bool well_formed(const struct queue_pair *pair, const struct request *request) {
  uint32_t can = capabilities(context_of(pair->qp.context));
  if (!request->addressed) {
    broke("no-address", "an operation of queue pair %u has no address handle", pair->qp.qp_num);
    return false;
  }
  if (request->operation != SEND && request->inlined) {
    broke("inline-limits", "RDMA of queue pair %u was posted inline", pair->qp.qp_num);
    return false;
  }
  bool has = request->operation == READ ? can & CAN_READ : request->operation == WRITE ? can & CAN_WRITE : true;
  if (!has || (request->operation != SEND && pair->wire->datagram)) {
    broke("capability", "queue pair %u was given an RDMA %s, which %s not have", pair->qp.qp_num,
          request->operation == READ ? "read" : "write", has ? "datagrams do" : "its device does");
    return false;
  }
  return true;
}

static int submit(struct queue_pair *pair, struct request *requests, uint32_t count) {
  if (!may_send(pair)) return EINVAL;
  for (uint32_t i = 0; i < count; i++) {
    if (!well_formed(pair, &requests[i])) return EINVAL;
  }
  pthread_mutex_lock(&pair->lock);
  if (pair->wire->outstanding + count > pair->depth) {
    // No fault: the provider tries again.
    pthread_mutex_unlock(&pair->lock);
    return ENOMEM;
  }
  for (uint32_t i = 0; i < count; i++) {
    struct request *request = &requests[i];
    request->sequence = pair->sequence++;
    schedule(pair, request);
    pair->requests[pair->waiting] = *request;
    pair->waiting++;
    pair->wire->outstanding++;
  }
  if (pair->qp.state == IBV_QPS_ERR) flush(pair);
  pthread_mutex_unlock(&pair->lock);
  return 0;
}

static int refuse_second_description(const struct queue_pair *pair) {
  broke("batch-order", "an operation of queue pair %u was given its data twice", pair->qp.qp_num);
  return EINVAL;
}

static int add_pieces(struct queue_pair *pair, struct request *request, size_t count, const struct ibv_sge *pieces) {
  if (request->described) return refuse_second_description(pair);
  if (count > SEND_PIECES) {
    broke("piece-limits", "an operation of queue pair %u has %zu pieces, and the device takes %d", pair->qp.qp_num, count,
          SEND_PIECES);
    return EINVAL;
  }
  request->described = true;
  request->count = (uint32_t)count;
  for (size_t i = 0; i < count; i++) {
    request->pieces[i] = pieces[i];
    request->bytes += pieces[i].length;
  }
  return 0;
}

static int add_inline(struct queue_pair *pair, struct request *request, const void *data, size_t length) {
  if (request->described && !request->inlined) return refuse_second_description(pair);
  if (request->inlined_bytes + length > LONGEST_INLINE) {
    broke("inline-limits", "%zu bytes of queue pair %u were to go inline, and the device takes %d",
          request->inlined_bytes + length, pair->qp.qp_num, LONGEST_INLINE);
    return EINVAL;
  }
  memcpy(request->data + request->inlined_bytes, data, length);
  request->described = request->inlined = true;
  request->inlined_bytes += (uint32_t)length;
  request->bytes += (uint32_t)length;
  return 0;
}

static int set_address(struct queue_pair *pair, struct request *request, struct ibv_ah *ah, uint32_t number, uint32_t qkey) {
  if (ah->pd != pair->qp.pd) {
    broke("domain-mismatch", "queue pair %u was given an address handle of another protection domain", pair->qp.qp_num);
    return EINVAL;
  }
  struct handle *handle = (struct handle *)ah;
  memcpy(request->gid, handle->gid, sizeof request->gid);
  request->handle = handle->number;
  request->peer = number;
  request->qkey = qkey;
  request->addressed = true;
  return 0;
}

static int post_one(struct queue_pair *pair, const struct ibv_send_wr *posted) {
  struct request request = {.id = posted->wr_id, .operation = SEND};
  if (posted->opcode == IBV_WR_SEND_WITH_IMM) {
    request.immediate = posted->imm_data;
    request.flags = WITH_IMMEDIATE;
  } else if (posted->opcode != IBV_WR_SEND) {
    broke("capability", "ibv_post_send of queue pair %u was given operation %d", pair->qp.qp_num, posted->opcode);
    return EINVAL;
  }
  int error = 0;
  if (posted->wr.ud.ah != NULL) {
    error = set_address(pair, &request, posted->wr.ud.ah, posted->wr.ud.remote_qpn, posted->wr.ud.remote_qkey);
  }
  if (posted->send_flags & IBV_SEND_INLINE) {
    for (int i = 0; i < posted->num_sge && error == 0; i++) {
      error = add_inline(pair, &request, (void *)(uintptr_t)posted->sg_list[i].addr, posted->sg_list[i].length);
    }
  } else if (error == 0) {
    error = add_pieces(pair, &request, (size_t)posted->num_sge, posted->sg_list);
  }
  return error ? error : submit(pair, &request, 1);
}

int post_send(struct ibv_qp *qp, struct ibv_send_wr *requests, struct ibv_send_wr **bad) {
  for (; requests != NULL; requests = requests->next) {
    int error = post_one((struct queue_pair *)qp, requests);
    if (error != 0) {
      *bad = requests;
      return error;
    }
  }
  return 0;
}

static int post_one_receive(struct queue_pair *pair, const struct ibv_recv_wr *posted) {
  struct wire_queue_pair *entry = pair->wire;
  if (entry->state == IBV_QPS_RESET) {
    broke("queue-pair-state", "a receive was posted to queue pair %u in its reset state", pair->qp.qp_num);
    return EINVAL;
  }
  if (posted->num_sge < 0 || (uint32_t)posted->num_sge > pair->most_receives || posted->num_sge > RECEIVE_PIECES) {
    broke("piece-limits", "a receive of queue pair %u has %d pieces, and it was made for %u", pair->qp.qp_num,
          posted->num_sge, pair->most_receives);
    return EINVAL;
  }
  if (entry->state == IBV_QPS_ERR) {
    struct wire_completion flushed = {
        .id = posted->wr_id, .queue_pair = entry->number, .status = STATUS_FLUSHED, .operation = RECEIVE};
    complete(pair->receive_queue->wire, &flushed);
    return 0;
  }
  return add_receive(pair->receives, posted);
}

int post_receive(struct ibv_qp *qp, struct ibv_recv_wr *requests, struct ibv_recv_wr **bad) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  int error = 0;
  wire_lock(&pair->wire->lock);
  for (; requests != NULL && error == 0; requests = requests->next) {
    error = post_one_receive(pair, requests);
    if (error != 0) *bad = requests;
  }
  wire_unlock(&pair->wire->lock);
  return error;
}

// --- Between wr_start and wr_complete ---------------------------------------------------------------------------------

static void wr_start(struct ibv_qp_ex *ex) {
  struct queue_pair *pair = (struct queue_pair *)ex;
  pthread_mutex_lock(&pair->building);
  pair->started = true;
  pair->batched = 0;
  pair->batch_error = 0;
}

static void begin(struct ibv_qp_ex *ex, enum operation operation, uint32_t flags, __be32 immediate, uint32_t rkey,
                  uint64_t remote) {
  struct queue_pair *pair = (struct queue_pair *)ex;
  if (!pair->started) {
    broke("batch-order", "an operation of queue pair %u began without wr_start", pair->qp.qp_num);
    return;
  }
  if (pair->batched == pair->depth) {
    pair->batch_error = ENOMEM;
    return;
  }
  pair->batch[pair->batched++] = (struct request){.id = ex->wr_id, .operation = operation, .flags = flags,
                                                  .immediate = immediate, .rkey = rkey, .remote = remote};
}

// The operation that is being described, NULL if there is none.
static struct request *building(struct queue_pair *pair, const char *call) {
  if (pair->batch_error != 0) return NULL;
  if (pair->started && pair->batched > 0) return &pair->batch[pair->batched - 1];
  broke("batch-order", "%s of queue pair %u without an operation that it belongs to", call, pair->qp.qp_num);
  pair->batch_error = EINVAL;
  return NULL;
}

static void wr_send(struct ibv_qp_ex *ex) { begin(ex, SEND, 0, 0, 0, 0); }
static void wr_send_imm(struct ibv_qp_ex *ex, __be32 immediate) { begin(ex, SEND, WITH_IMMEDIATE, immediate, 0, 0); }
static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote) { begin(ex, READ, 0, 0, rkey, remote); }
static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote) { begin(ex, WRITE, 0, 0, rkey, remote); }
static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote, __be32 immediate) {
  begin(ex, WRITE, WITH_IMMEDIATE, immediate, rkey, remote);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t number, uint32_t qkey) {
  struct queue_pair *pair = (struct queue_pair *)ex;
  struct request *request = building(pair, "wr_set_ud_addr");
  if (request != NULL) pair->batch_error = set_address(pair, request, ah, number, qkey);
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_sge *pieces) {
  struct queue_pair *pair = (struct queue_pair *)ex;
  struct request *request = building(pair, "wr_set_sge_list");
  if (request != NULL) pair->batch_error = add_pieces(pair, request, count, pieces);
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t address, uint32_t length) {
  struct ibv_sge piece = {address, length, lkey};
  wr_set_sge_list(ex, 1, &piece);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_data_buf *parts) {
  struct queue_pair *pair = (struct queue_pair *)ex;
  struct request *request = building(pair, "wr_set_inline_data_list");
  for (size_t i = 0; i < count && request != NULL && pair->batch_error == 0; i++) {
    pair->batch_error = add_inline(pair, request, parts[i].addr, parts[i].length);
  }
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *data, size_t length) {
  struct ibv_data_buf part = {data, length};
  wr_set_inline_data_list(ex, 1, &part);
}

static int wr_complete(struct ibv_qp_ex *ex) {
  struct queue_pair *pair = (struct queue_pair *)ex;
  if (!pair->started) {
    broke("batch-order", "wr_complete of queue pair %u without wr_start", pair->qp.qp_num);
    return EINVAL;
  }
  int error = pair->batch_error;
  if (error == 0 && pair->batched > 0) error = submit(pair, pair->batch, pair->batched);
  pair->started = false;
  pthread_mutex_unlock(&pair->building);
  return error;
}

static void wr_abort(struct ibv_qp_ex *ex) {
  struct queue_pair *pair = (struct queue_pair *)ex;
  if (!pair->started) {
    broke("batch-order", "wr_abort of queue pair %u without wr_start", pair->qp.qp_num);
    return;
  }
  pair->started = false;
  pthread_mutex_unlock(&pair->building);
}

void set_batch_calls(struct ibv_qp_ex *ex) {
  ex->wr_start = wr_start;
  ex->wr_send = wr_send;
  ex->wr_send_imm = wr_send_imm;
  ex->wr_rdma_read = wr_rdma_read;
  ex->wr_rdma_write = wr_rdma_write;
  ex->wr_rdma_write_imm = wr_rdma_write_imm;
  ex->wr_set_ud_addr = wr_set_ud_addr;
  ex->wr_set_sge = wr_set_sge;
  ex->wr_set_sge_list = wr_set_sge_list;
  ex->wr_set_inline_data = wr_set_inline_data;
  ex->wr_set_inline_data_list = wr_set_inline_data_list;
  ex->wr_complete = wr_complete;
  ex->wr_abort = wr_abort;
}
