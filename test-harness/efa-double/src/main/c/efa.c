// libefa: the calls of EFA's own that libibverbs does not have.

#include <errno.h>
#include <string.h>

#include "nic.h"

struct efadv_mr_attr;
int efadv_query_mr(struct ibv_mr *mr, struct efadv_mr_attr *attributes, uint32_t size);

int efadv_query_device(struct ibv_context *context, struct efadv_device_attr *attributes, uint32_t size) {
  return describe_device(context, attributes, size);
}

int efadv_query_ah(struct ibv_ah *handle, struct efadv_ah_attr *attributes, uint32_t size) {
  return describe_handle(handle, attributes, size);
}

struct ibv_cq_ex *efadv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attributes,
                                  struct efadv_cq_init_attr *extras, uint32_t size) {
  (void)extras;
  (void)size;
  return create_completion_queue(context, attributes);
}

struct efadv_cq *efadv_cq_from_ibv_cq_ex(struct ibv_cq_ex *queue) { return completion_extras(queue); }

struct ibv_qp *efadv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attributes,
                                  struct efadv_qp_init_attr *extras, uint32_t size) {
  return create_srd_queue_pair(context, attributes, (const struct queue_pair_extras *)extras, size);
}

struct ibv_qp *efadv_create_driver_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes, uint32_t type) {
  (void)pd;
  (void)attributes;
  (void)type;
  errno = EOPNOTSUPP;
  return NULL;
}

// Interconnect ids of a region: there are none to tell.
int efadv_query_mr(struct ibv_mr *mr, struct efadv_mr_attr *attributes, uint32_t size) {
  (void)mr;
  memset(attributes, 0, size);
  return 0;
}
