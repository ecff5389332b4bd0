#include "nic.h"

static struct wire_completion flushed(uint64_t id, uint32_t number, uint32_t operation) {
  return (struct wire_completion){
      .id = id, .queue_pair = number, .status = IBV_WC_WR_FLUSH_ERR, .operation = (uint8_t)operation};
}

void fail_locked(struct wire_queue_pair *entry) {
  if (entry->state == IBV_QPS_ERR) return;
  entry->state = IBV_QPS_ERR;
  if (entry->shared) return;
  struct wire_receive_queue *receives = &wire->receive_queues[entry->receives];
  wire_lock(&receives->lock);
  for (; receives->taken != receives->posted; receives->taken++) {
    struct wire_completion completion = flushed(next_receive(receives)->id, entry->number, RECEIVE);
    complete(&wire->queues[entry->queue], &completion);
  }
  wire_unlock(&receives->lock);
}

void fail_pair(struct wire_queue_pair *entry) {
  wire_lock(&entry->lock);
  fail_locked(entry);
  wire_unlock(&entry->lock);
}

void flush_sends(struct queue_pair *pair) {
  pair->qp.state = IBV_QPS_ERR;
  while (pair->carried != pair->posted) {
    const struct request *request = &pair->requests[pair->carried % pair->depth];
    struct wire_completion completion = flushed(request->id, pair->qp.qp_num, request->operation);
    pair->carried++;
    complete(pair->send_queue->wire, &completion);
  }
}
