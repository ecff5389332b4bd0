// What NCCL and its network plugins have agreed on: the tables of functions, and what goes through them.
#ifndef NCCL_NET_H
#define NCCL_NET_H

#include <stddef.h>
#include <stdint.h>

enum {
  OK = 0,
  SYSTEM_ERROR = 2,
  INTERNAL_ERROR = 3,
  INVALID_ARGUMENT = 4,
  INVALID_USAGE = 5,
};

enum { LEVEL_WARN = 2, LEVEL_INFO = 3 };
enum { SUBSYSTEM_INIT = 0x1, SUBSYSTEM_NET = 0x10 };
enum { MEMORY_CUDA = 2, MEMORY_DMABUF = 4 };

typedef int result;
typedef void (*logger)(int level, unsigned long subsystems, const char *where, int line, const char *format, ...);

typedef struct {
  int count;
  int devices[4];
} virtual_device;

// What the properties of all versions begin with.
typedef struct {
  char *name;
  char *pci_path;
  uint64_t guid;
  int pointer_support;
  int registration_is_global;
  int force_flush;
  int speed_megabits;
  int port;
  float latency_microseconds;
  int max_communicators;
  int max_receives;
  int device_type;
  int device_version;
} properties_head;

typedef struct {
  properties_head head;
  virtual_device members;
  size_t max_point_to_point_bytes;
  size_t max_collective_bytes;
} properties_v10;

typedef struct {
  properties_v10 common;
  int max_multi_request_size;
} properties_v11;

typedef struct {
  properties_head head;
  int member_count;
  int members[8];
  size_t max_point_to_point_bytes;
  size_t max_collective_bytes;
  int max_multi_request_size;
  int16_t rail;
  int16_t plane;
} properties_v12;

_Static_assert(sizeof(properties_v12) == 128, "NCCL lays out 128 bytes");
_Static_assert(sizeof(properties_v10) == 104, "NCCL lays out 104 bytes");
_Static_assert(sizeof(properties_v11) == 112, "NCCL lays out 112 bytes");

typedef struct {
  const char *name;
  result (*init)(logger log, void *profiler);
  result (*devices)(int *count);
  result (*get_properties)(int device, properties_v10 *properties);
  result (*listen)(int device, void *handle, void **listener);
  result (*connect)(int device, void *config, void *handle, void **sender, void **device_handle);
  result (*accept)(void *listener, void **receiver, void **device_handle);
  result (*reg_mr)(void *comm, void *data, size_t size, int type, void **region);
  result (*reg_mr_dma_buf)(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, void **region);
  result (*dereg_mr)(void *comm, void *region);
  result (*isend)(void *comm, void *data, size_t size, int tag, void *region, void *profiler, void **request);
  result (*irecv)(void *comm, int count, void **data, size_t *sizes, int *tags, void **regions, void **profilers,
                  void **request);
  result (*iflush)(void *comm, int count, void **data, int *sizes, void **regions, void **request);
  result (*test)(void *request, int *done, int *sizes);
  result (*close_send)(void *comm);
  result (*close_recv)(void *comm);
  result (*close_listen)(void *comm);
  void *get_device_mr;
  void *irecv_consumed;
  void *make_virtual_device;
} net_v10;

typedef struct {
  const char *name;
  result (*init)(void **context, uint64_t communicator, void *config, logger log, void *profiler);
  result (*devices)(int *count);
  result (*get_properties)(int device, properties_v11 *properties);
  result (*listen)(void *context, int device, void *handle, void **listener);
  result (*connect)(void *context, int device, void *handle, void **sender, void **device_handle);
  result (*accept)(void *listener, void **receiver, void **device_handle);
  result (*reg_mr)(void *comm, void *data, size_t size, int type, void **region);
  result (*reg_mr_dma_buf)(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, void **region);
  result (*dereg_mr)(void *comm, void *region);
  result (*isend)(void *comm, void *data, size_t size, int tag, void *region, void *profiler, void **request);
  result (*irecv)(void *comm, int count, void **data, size_t *sizes, int *tags, void **regions, void **profilers,
                  void **request);
  result (*iflush)(void *comm, int count, void **data, int *sizes, void **regions, void **request);
  result (*test)(void *request, int *done, int *sizes);
  result (*close_send)(void *comm);
  result (*close_recv)(void *comm);
  result (*close_listen)(void *comm);
  void *get_device_mr;
  void *irecv_consumed;
  void *make_virtual_device;
  result (*finalize)(void *context);
  void *set_net_attributes;
} net_v11;

// Slots as in version 11.
typedef struct {
  net_v11 slots;
} net_v12;

// NCCL 2.20 to 2.25: they call init first, and no other function when that fails.
typedef struct {
  const char *name;
  result (*init)(logger log);
  void *others[18];
} net_older;

_Static_assert(sizeof(net_older) == 160, "NCCL reads 152 or 160 bytes");
_Static_assert(sizeof(net_v10) == 160, "NCCL reads 160 bytes");
_Static_assert(sizeof(net_v11) == 176, "NCCL reads 176 bytes");

#endif
