// What the provider or librdmacm never call on this device, and the loader asks for all the same: libfabric is linked
// so that every symbol has to be there when it is loaded.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "nic.h"

enum ibv_fork_status ibv_is_fork_initialized(void);
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *folder, const char *file, char *text, size_t size);
void ibv_copy_ah_attr_from_kern(void *to, void *from);
void ibv_copy_qp_attr_from_kern(void *to, void *from);
void ibv_copy_path_rec_from_kern(void *to, void *from);

// Otherwise the provider ends a process that forks.
enum ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }

int ibv_fork_init(void) { return 0; }

const char *ibv_wc_status_str(enum ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return "success";
    case IBV_WC_WR_FLUSH_ERR:
      return "flushed";
    case IBV_WC_LOC_PROT_ERR:
      return "local protection error";
    case IBV_WC_REM_ACCESS_ERR:
      return "remote access error";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "receiver not ready";
    case IBV_WC_RESP_TIMEOUT_ERR:
      return "no response";
    default:
      return "error";
  }
}

const char *ibv_get_sysfs_path(void) {
  static char path[sizeof settings.home + 8];
  if (join_wire() != 0) return NULL;
  snprintf(path, sizeof path, "%s/sys", settings.home);
  return path;
}

int ibv_read_sysfs_file(const char *folder, const char *file, char *text, size_t size) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t length = read(fd, text, size);
  close(fd);
  if (length > 0 && text[length - 1] == '\n') text[--length] = '\0';
  return (int)length;
}

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

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid) {
  (void)qp;
  (void)gid;
  (void)lid;
  return EOPNOTSUPP;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid) {
  (void)qp;
  (void)gid;
  (void)lid;
  return EOPNOTSUPP;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece) {
  (void)qp;
  (void)ece;
  return EOPNOTSUPP;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece) {
  (void)qp;
  (void)ece;
  return EOPNOTSUPP;
}

void ibv_copy_ah_attr_from_kern(void *to, void *from) {
  (void)to;
  (void)from;
}

void ibv_copy_qp_attr_from_kern(void *to, void *from) {
  (void)to;
  (void)from;
}

void ibv_copy_path_rec_from_kern(void *to, void *from) {
  (void)to;
  (void)from;
}
