// Of libibverbs, what these adapters do not have, and the loader asks for all the same: datagrams.

#include <errno.h>
#include <stddef.h>

#include "nic.h"

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attributes) {
  (void)pd;
  (void)attributes;
  errno = EOPNOTSUPP;
  return NULL;
}

int ibv_destroy_ah(struct ibv_ah *ah) {
  (void)ah;
  return EOPNOTSUPP;
}
