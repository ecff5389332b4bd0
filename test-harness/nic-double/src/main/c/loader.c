// What a provider or librdmacm never call on these devices, and the loader asks for all the same: libfabric is linked
// so that every symbol has to be there when it is loaded.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "objects.h"

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
  static const char *const names[] = {[IBV_WC_SUCCESS] = "success",
                                      [IBV_WC_LOC_LEN_ERR] = "local length error",
                                      [IBV_WC_LOC_QP_OP_ERR] = "local QP operation error",
                                      [IBV_WC_LOC_PROT_ERR] = "local protection error",
                                      [IBV_WC_WR_FLUSH_ERR] = "Work Request Flushed Error",
                                      [IBV_WC_BAD_RESP_ERR] = "bad response error",
                                      [IBV_WC_REM_INV_REQ_ERR] = "remote invalid request error",
                                      [IBV_WC_REM_ACCESS_ERR] = "remote access error",
                                      [IBV_WC_REM_OP_ERR] = "remote operation error",
                                      [IBV_WC_RETRY_EXC_ERR] = "transport retry counter exceeded",
                                      [IBV_WC_RNR_RETRY_EXC_ERR] = "RNR retry counter exceeded",
                                      [IBV_WC_REM_INV_RD_REQ_ERR] = "remote invalid RD request",
                                      [IBV_WC_REM_ABORT_ERR] = "aborted error",
                                      [IBV_WC_RESP_TIMEOUT_ERR] = "response timeout error",
                                      [IBV_WC_GENERAL_ERR] = "general error"};
  return (unsigned)status < sizeof names / sizeof *names && names[status] != NULL ? names[status] : "unknown";
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
