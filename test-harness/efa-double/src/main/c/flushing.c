// What waits on a queue pair that goes into its error state.

#include "nic.h"

static void flush_sends(struct queue_pair *pair) {
  for (uint32_t i = 0; i < pair->waiting; i++) {
    struct wire_completion completion = {.id = pair->requests[i].id,
                                         .queue_pair = pair->qp.qp_num,
                                         .status = STATUS_FLUSHED,
                                         .operation = (uint8_t)pair->requests[i].operation};
    complete(pair->send_queue->wire, &completion);
  }
  pair->waiting = 0;
}

static void flush_receives(struct wire_queue_pair *entry, struct wire_receive_queue *receives) {
  wire_lock(&entry->lock);
  for (; receives->taken != receives->posted; receives->taken++) {
    struct wire_completion completion = {.id = next_receive(receives)->id,
                                         .queue_pair = entry->number,
                                         .status = STATUS_FLUSHED,
                                         .operation = RECEIVE};
    complete(&wire->queues[entry->queue], &completion);
  }
  wire_unlock(&entry->lock);
}

void flush(struct queue_pair *pair) {
  pair->qp.state = IBV_QPS_ERR;
  wire_lock(&pair->wire->lock);
  pair->wire->state = IBV_QPS_ERR;
  wire_unlock(&pair->wire->lock);
  flush_sends(pair);
  flush_receives(pair->wire, pair->receives);
}
