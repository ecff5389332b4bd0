// libefa, which libfabric is linked with: these adapters are none of EFA's, as every call says.

#include <errno.h>
#include <infiniband/verbs.h>
#include <stddef.h>

#define NONE(name) \
  int name(void);  \
  int name(void) { return EOPNOTSUPP; }
#define NOTHING(name)  \
  void *name(void);    \
  void *name(void) {   \
    errno = EOPNOTSUPP; \
    return NULL;       \
  }

NONE(efadv_query_device)
NONE(efadv_query_ah)
NONE(efadv_query_mr)
NOTHING(efadv_create_cq)
NOTHING(efadv_cq_from_ibv_cq_ex)
NOTHING(efadv_create_qp_ex)
NOTHING(efadv_create_driver_qp)
