// A caller of NCCL's network API, versions 10 to 12, that does what NCCL does: for tests.
#ifndef NET_H
#define NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUCCESS = 0, SYSTEM_ERROR = 2, INTERNAL_ERROR = 3, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6 };
enum { HANDLE_BYTES = 128, HOST_MEMORY = 1, MAX_RECEIVES = 8, MAX_REQUESTS = 32 };

typedef struct {
  char *name;
  char *pciPath;
  uint64_t guid;
  int ptrSupport;
  int regIsGlobal;
  int forceFlush;
  int speed;
  int port;
  float latency;
  int maxComms;
  int maxRecvs;
  int netDeviceType;
  int netDeviceVersion;
  struct {
    int ndevs;
    int devs[4];
  } vProps;
  size_t maxP2pBytes;
  size_t maxCollBytes;
  int maxMultiRequestSize; // not in version 10
} properties;

// The functions of a loaded plugin, whatever its version. A context is NULL with version 10, which has none.
typedef struct {
  int version;
  void *library;
  void *table;
  bool foreign; // not jofi's: connect and accept need not write the device handle
} net;

// Opens a plugin as NCCL does: the name as it is, or as libnccl-net-NAME.so; fails the test if it cannot be.
net net_load(const char *name, int version);
void net_unload(net *n);

const char *net_name(net *n);
int net_init(net *n, void **context);
int net_init_older(net *n); // versions 8 and 9
int net_finalize(net *n, void *context);
int net_devices(net *n, int *count);
int net_properties(net *n, int device, properties *p);
int net_listen(net *n, void *context, int device, void *handle, void **listener);
int net_connect(net *n, void *context, int device, void *handle, void **sender);
int net_accept(net *n, void *listener, void **receiver);
int net_reg_mr(net *n, void *comm, void *data, size_t size, void **region);
int net_dereg_mr(net *n, void *comm, void *region);
int net_isend(net *n, void *comm, void *data, size_t size, int tag, void *region, void **request);
int net_irecv(net *n, void *comm, int count, void **data, size_t *sizes, int *tags, void **regions, void **request);
int net_iflush(net *n, void *comm, int count, void **data, int *sizes, void **regions, void **request);
int net_test(net *n, void *request, int *done, int *sizes);
int net_close_send(net *n, void *comm);
int net_close_recv(net *n, void *comm);
int net_close_listen(net *n, void *listener);

// What the plugin logged: how many warnings so far, and the last one.
int warnings(void);
const char *last_warning(void);

#endif
