// Connections: asking for one, answering, ending it.

#include <string.h>

#include "cm.h"

// Private data as InfiniBand's messages have it: its length is not told, so that the whole of it arrives.
enum { ASK_DATA = 56, ASK_DATA_IB = 92, ANSWER_DATA = 196, REJECT_DATA = 148 };

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
  if (id->qp != NULL || id->verbs == NULL || pd == NULL || pd->context != id->verbs) {
    broke("queue-pair-of-id", "a queue pair was made for an identifier that has one, or has no device, or another");
    return fail_with(EINVAL);
  }
  struct ibv_qp *qp = ibv_create_qp(pd, attributes);
  if (qp == NULL) return -1;
  struct ibv_qp_attr initial = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  int error = ibv_modify_qp(qp, &initial, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (error != 0) {
    ibv_destroy_qp(qp);
    return fail_with(error);
  }
  id->qp = qp;
  id->pd = pd;
  return 0;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attributes) {
  (void)id;
  (void)attributes;
  return fail_with(EOPNOTSUPP);
}

void rdma_destroy_qp(struct rdma_cm_id *id) {
  ibv_destroy_qp(id->qp);
  id->qp = NULL;
}

void rdma_destroy_ep(struct rdma_cm_id *id) {
  if (id->qp != NULL) rdma_destroy_qp(id);
  rdma_destroy_id(id);
}

int make_ready(struct cm_id *id) {
  struct ibv_qp_attr attributes = {
      .qp_state = IBV_QPS_RTR,
      .dest_qp_num = id->remote_queue_pair,
      .max_dest_rd_atomic = MOST_READS,
      .max_rd_atomic = MOST_READS,
      .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};
  int error = ibv_modify_qp(id->id.qp, &attributes,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS);
  if (error != 0) return error;
  attributes.qp_state = IBV_QPS_RTS;
  attributes.rnr_retry = id->rnr_retry;
  return ibv_modify_qp(id->id.qp, &attributes,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                           IBV_QP_MAX_QP_RD_ATOMIC);
}

static int set_data(struct cm_message *message, const struct rdma_conn_param *parameters, size_t most, const char *call) {
  size_t length = parameters != NULL && parameters->private_data != NULL ? parameters->private_data_len : 0;
  if (length > most) {
    broke("private-data", "%s with %zu bytes of private data, and the message has room for %zu", call, length, most);
    return EINVAL;
  }
  if (length > 0) memcpy(message->data, parameters->private_data, length);
  message->length = (uint32_t)most;
  return 0;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *parameters) {
  struct cm_id *own = (struct cm_id *)id;
  struct cm_message message = message_from(own, RDMA_CM_EVENT_CONNECT_REQUEST);
  int error = set_data(&message, parameters, id->ps == RDMA_PS_IB ? ASK_DATA_IB : ASK_DATA, "rdma_connect");
  if (error == 0 && (id->qp == NULL || own->wire->device == 0 || own->asking || own->wire->state != CM_IDLE)) {
    broke("connect-order", "rdma_connect of an identifier in state %u%s", own->wire->state,
          id->qp == NULL ? " without a queue pair" : "");
    error = EINVAL;
  }
  if (error != 0) return fail_with(error);
  own->rnr_retry = parameters->rnr_retry_count & 7;
  message.queue_pair = id->qp->qp_num;
  message.rnr_retry = own->rnr_retry;
  message.retry = parameters->retry_count;
  memcpy(message.source, &id->route.addr.src_storage, CM_ADDRESS);
  memcpy(message.destination, &id->route.addr.dst_storage, CM_ADDRESS);
  start_firmware();
  pthread_mutex_lock(&cm_local);
  own->request = message;
  own->give_up = nanoseconds() + settings.timeout_ns;
  own->asking = !ask_listener(own);
  pthread_mutex_unlock(&cm_local);
  return 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *parameters) {
  struct cm_id *own = (struct cm_id *)id;
  struct cm_message message = message_from(own, RDMA_CM_EVENT_CONNECT_RESPONSE);
  int error = set_data(&message, parameters, ANSWER_DATA, "rdma_accept");
  if (error == 0 && (own->wire->state != CM_WAS_ASKED || id->qp == NULL)) {
    broke("accept-order", "rdma_accept of an identifier in state %u%s", own->wire->state,
          id->qp == NULL ? " without a queue pair" : "");
    error = EINVAL;
  }
  if (error == 0) error = make_ready(own);
  if (error != 0) return fail_with(error);
  message.queue_pair = id->qp->qp_num;
  message.rnr_retry = parameters != NULL ? parameters->rnr_retry_count & 7 : 0;
  pthread_mutex_lock(&cm_local);
  own->answer = message;
  own->give_up = nanoseconds() + settings.timeout_ns;
  own->wire->state = CM_ANSWERED;
  own->answering = !answer_asker(own);
  pthread_mutex_unlock(&cm_local);
  return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length) {
  struct cm_id *own = (struct cm_id *)id;
  struct rdma_conn_param parameters = {.private_data = data, .private_data_len = length};
  struct cm_message message = message_from(own, RDMA_CM_EVENT_REJECTED);
  int error = set_data(&message, &parameters, REJECT_DATA, "rdma_reject");
  if (error != 0) return fail_with(error);
  message.status = CONSUMER_REJECT;
  wire_lock(&tables()->cm_lock);
  if (own->wire->state == CM_WAS_ASKED) send_to(own->wire->peer, own->wire->peer_generation, &message);
  own->wire->state = CM_DISCONNECTED;
  tables()->rejects++;
  wire_unlock(&tables()->cm_lock);
  return 0;
}

// Of connections whose queue pairs the program makes ready itself: there are none.
int rdma_establish(struct rdma_cm_id *id) {
  (void)id;
  return fail_with(EINVAL);
}

void into_error(struct rdma_cm_id *id) {
  struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_ERR};
  if (id->qp != NULL) ibv_modify_qp(id->qp, &attributes, IBV_QP_STATE);
}

int rdma_disconnect(struct rdma_cm_id *id) {
  struct cm_id *own = (struct cm_id *)id;
  if (id->verbs == NULL) return fail_with(EINVAL);
  into_error(id);
  pthread_mutex_lock(&cm_local);
  wire_lock(&tables()->cm_lock);
  bool was = own->wire->state == CM_CONNECTED || own->wire->state == CM_ANSWERED;
  bool known = was || own->wire->state == CM_DISCONNECTED;
  tell_peer(own);
  if (was) {
    end_connection(own);
    push(own, RDMA_CM_EVENT_DISCONNECTED, 0);
  }
  wire_unlock(&tables()->cm_lock);
  pthread_mutex_unlock(&cm_local);
  return known ? 0 : fail_with(EINVAL);
}
