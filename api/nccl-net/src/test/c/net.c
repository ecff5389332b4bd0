#include "net.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

typedef void (*logger)(int level, unsigned long flags, const char *file, int line, const char *format, ...);

// All versions have their functions in one order, but for the last two of versions 11 and 12.
typedef struct {
  const char *name;
  void *init;
  int (*devices)(int *);
  void *getProperties;
  void *listen;
  void *connect;
  int (*accept)(void *, void **, void **);
  int (*regMr)(void *, void *, size_t, int, void **);
  void *regMrDmaBuf;
  int (*deregMr)(void *, void *);
  int (*isend)(void *, void *, size_t, int, void *, void *, void **);
  int (*irecv)(void *, int, void **, size_t *, int *, void **, void **, void **);
  int (*iflush)(void *, int, void **, int *, void **, void **);
  int (*test)(void *, int *, int *);
  int (*closeSend)(void *);
  int (*closeRecv)(void *);
  int (*closeListen)(void *);
  void *getDeviceMr;
  void *irecvConsumed;
  void *makeVDevice;
  int (*finalize)(void *);
  void *setNetAttr;
} table;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int warning_count;
static char warning_text[4096];

__attribute__((format(printf, 5, 6))) static void log_line(int level, unsigned long flags, const char *file, int line,
                                                           const char *format, ...) {
  (void)flags;
  (void)line;
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&log_lock);
  if (level == 2) {
    warning_count++;
    memcpy(warning_text, text, sizeof text);
  }
  pthread_mutex_unlock(&log_lock);
  fprintf(stderr, "%s %s: %s\n", level == 2 ? "WARN" : "INFO", file, text);
}

int warnings(void) {
  pthread_mutex_lock(&log_lock);
  int count = warning_count;
  pthread_mutex_unlock(&log_lock);
  return count;
}

const char *last_warning(void) { return warning_text; }

net net_load(const char *name, int version) {
  net n = {.version = version};
  n.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (n.library == NULL) {
    char file[512];
    snprintf(file, sizeof file, "libnccl-net-%s.so", name);
    n.library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  }
  check(n.library != NULL, "dlopen %s: %s", name, n.library == NULL ? dlerror() : "");
  char symbol[64];
  snprintf(symbol, sizeof symbol, "ncclNetPlugin_v%d", version);
  n.table = dlsym(n.library, symbol);
  check(n.table != NULL, "%s has no ncclNetPlugin_v%d", name, version);
  return n;
}

void net_unload(net *n) {
  check(dlclose(n->library) == 0, "dlclose: %s", dlerror());
  n->library = NULL;
  n->table = NULL;
}

static table *of(net *n) { return n->table; }

const char *net_name(net *n) { return of(n)->name; }

int net_init(net *n, void **context) {
  if (n->version == 10) {
    *context = NULL;
    int (*init)(logger, void *) = of(n)->init;
    return init(log_line, NULL);
  }
  struct {
    int trafficClass;
  } config = {.trafficClass = -1};
  int (*init)(void **, uint64_t, void *, logger, void *) = of(n)->init;
  return init(context, 0x1234, &config, log_line, NULL);
}

int net_init_older(net *n) {
  int (*init)(logger) = of(n)->init;
  return init(log_line);
}

int net_finalize(net *n, void *context) { return n->version == 10 ? SUCCESS : of(n)->finalize(context); }

int net_devices(net *n, int *count) { return of(n)->devices(count); }

// Version 12's has more members, and two numbers behind all others, which are not known here.
static int properties_of_12(net *n, int device, properties *p) {
  struct {
    char before[offsetof(properties, vProps)];
    int ndevs;
    int devs[8];
    char gap[4];
    size_t maxP2pBytes;
    size_t maxCollBytes;
    int maxMultiRequestSize;
    int16_t railId;
    int16_t planeId;
    unsigned char guard[16];
  } wide;
  _Static_assert(offsetof(__typeof__(wide), guard) == 128, "NCCL lays out 128 bytes");
  memset(&wide, 0xA5, sizeof wide);
  int (*get)(int, void *) = of(n)->getProperties;
  int result = get(device, &wide);
  for (size_t i = 0; i < sizeof wide.guard; i++) {
    check(wide.guard[i] == 0xA5, "version 12 wrote byte %zu", 128 + i);
  }
  if (result == SUCCESS) {
    memcpy(p, wide.before, sizeof wide.before);
    p->vProps.ndevs = wide.ndevs;
    memcpy(p->vProps.devs, wide.devs, sizeof p->vProps.devs);
    p->maxP2pBytes = wide.maxP2pBytes;
    p->maxCollBytes = wide.maxCollBytes;
    p->maxMultiRequestSize = wide.maxMultiRequestSize;
    check(wide.railId == -1 && wide.planeId == -1, "rail %d, plane %d", wide.railId, wide.planeId);
  }
  return result;
}

int net_properties(net *n, int device, properties *p) {
  if (n->version == 12) {
    return properties_of_12(n, device, p);
  }
  // Version 10's caller has 104 bytes for them: what follows must stay as it is.
  const unsigned char guard = 0xA5;
  memset(p, guard, sizeof *p);
  int (*get)(int, properties *) = of(n)->getProperties;
  int result = get(device, p);
  if (n->version == 10) {
    for (size_t i = offsetof(properties, maxMultiRequestSize); i < sizeof *p; i++) {
      check(((unsigned char *)p)[i] == guard, "version 10 wrote byte %zu", i);
    }
  }
  return result;
}

int net_listen(net *n, void *context, int device, void *handle, void **listener) {
  if (n->version == 10) {
    int (*listen)(int, void *, void **) = of(n)->listen;
    return listen(device, handle, listener);
  }
  int (*listen)(void *, int, void *, void **) = of(n)->listen;
  return listen(context, device, handle, listener);
}

int net_connect(net *n, void *context, int device, void *handle, void **sender) {
  void *device_handle = (void *)1;
  int result;
  if (n->version == 10) {
    int config = -1;
    int (*connect)(int, void *, void *, void **, void **) = of(n)->connect;
    result = connect(device, &config, handle, sender, &device_handle);
  } else {
    int (*connect)(void *, int, void *, void **, void **) = of(n)->connect;
    result = connect(context, device, handle, sender, &device_handle);
  }
  check(result != SUCCESS || device_handle == NULL || n->foreign, "connect left a device handle");
  return result;
}

int net_accept(net *n, void *listener, void **receiver) {
  void *device_handle = (void *)1;
  int result = of(n)->accept(listener, receiver, &device_handle);
  check(result != SUCCESS || device_handle == NULL || n->foreign, "accept left a device handle");
  return result;
}

int net_reg_mr(net *n, void *comm, void *data, size_t size, void **region) {
  return of(n)->regMr(comm, data, size, HOST_MEMORY, region);
}

int net_dereg_mr(net *n, void *comm, void *region) { return of(n)->deregMr(comm, region); }

int net_isend(net *n, void *comm, void *data, size_t size, int tag, void *region, void **request) {
  return of(n)->isend(comm, data, size, tag, region, NULL, request);
}

int net_irecv(net *n, void *comm, int count, void **data, size_t *sizes, int *tags, void **regions, void **request) {
  void *profilers[MAX_RECEIVES] = {NULL};
  return of(n)->irecv(comm, count, data, sizes, tags, regions, profilers, request);
}

int net_iflush(net *n, void *comm, int count, void **data, int *sizes, void **regions, void **request) {
  return of(n)->iflush(comm, count, data, sizes, regions, request);
}

int net_test(net *n, void *request, int *done, int *sizes) { return of(n)->test(request, done, sizes); }

int net_close_send(net *n, void *comm) { return of(n)->closeSend(comm); }

int net_close_recv(net *n, void *comm) { return of(n)->closeRecv(comm); }

int net_close_listen(net *n, void *listener) { return of(n)->closeListen(listener); }
