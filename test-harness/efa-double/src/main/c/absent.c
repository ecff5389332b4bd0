// Of libibverbs, what this NIC does not have, and the loader asks for all the same.

#include <errno.h>
#include <stddef.h>

#include "nic.h"

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
  (void)context;
  errno = EOPNOTSUPP;
  return NULL;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
  (void)channel;
  return EOPNOTSUPP;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **queue, void **context) {
  (void)channel;
  (void)queue;
  (void)context;
  errno = EOPNOTSUPP;
  return -1;
}

void ibv_ack_cq_events(struct ibv_cq *queue, unsigned count) {
  (void)queue;
  (void)count;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attributes) {
  (void)pd;
  (void)attributes;
  errno = EOPNOTSUPP;
  return NULL;
}

int ibv_destroy_srq(struct ibv_srq *srq) {
  (void)srq;
  return EOPNOTSUPP;
}
