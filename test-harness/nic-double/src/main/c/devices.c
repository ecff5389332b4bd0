// Finding, opening and closing NICs.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objects.h"

static struct nic nics[MOST_NICS];
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;

static void describe_nic(int i) {
  struct nic *nic = &nics[i];
  struct ibv_device *device = &nic->device;
  nic->index = i;
  kind.describe(nic);
  snprintf(device->dev_name, sizeof device->dev_name, "uverbs%d", i);
  snprintf(device->dev_path, sizeof device->dev_path, "%.200s/sys/class/infiniband_verbs/uverbs%d", settings.home, i);
  // The provider asks below this path for the device's driver and its place on the PCI bus.
  snprintf(device->ibdev_path, sizeof device->ibdev_path, "%.200s/sys/class/infiniband/%.30s", settings.home, device->name);
}

struct ibv_device **ibv_get_device_list(int *count) {
  if (count != NULL) *count = 0;
  int error = join_wire();
  struct ibv_device **list = error ? NULL : calloc((size_t)settings.devices + 1, sizeof *list);
  if (list == NULL) {
    errno = error ? error : ENOMEM;
    return NULL;
  }
  char sys[sizeof settings.home + 8];
  snprintf(sys, sizeof sys, "%s/sys", settings.home);
  pthread_mutex_lock(&listing);
  setenv("SYSFS_PATH", sys, 0);
  for (int i = 0; i < settings.devices; i++) {
    if (nics[i].device.name[0] == '\0') describe_nic(i);
    list[i] = &nics[i].device;
  }
  pthread_mutex_unlock(&listing);
  if (count != NULL) *count = settings.devices;
  return list;
}

void ibv_free_device_list(struct ibv_device **list) {
  if (kind.listed != NULL) kind.listed();
  free(list);
}

const char *ibv_get_device_name(struct ibv_device *device) { return device->name; }

int ibv_get_device_index(struct ibv_device *device) { return ((struct nic *)device)->index; }

__be64 ibv_get_device_guid(struct ibv_device *device) {
  uint64_t guid;
  memcpy(&guid, ((struct nic *)device)->gid + 8, sizeof guid);
  return guid;
}

static bool has_queue_pairs(const struct wire_device *device) {
  uint32_t number = (uint32_t)(device - wire->devices);
  for (int i = 0; i < QUEUE_PAIRS; i++) {
    const struct wire_queue_pair *pair = &wire->queue_pairs[i];
    if (pair->pid != 0 && pair->device == number && !process_gone(pair->pid)) return true;
  }
  return false;
}

// The device's entry on the wire: every process of a node has the same.
static struct wire_device *attach(const struct nic *nic) {
  struct wire_device *found = NULL, *unused = NULL;
  wire_lock(&wire->lock);
  for (int i = 0; i < DEVICES && found == NULL; i++) {
    struct wire_device *device = &wire->devices[i];
    if (device->pid != 0 && memcmp(device->gid, nic->gid, sizeof nic->gid) == 0) found = device;
    if (device->pid == 0 && unused == NULL) unused = device;
  }
  for (int i = 0; i < DEVICES && found == NULL && unused == NULL; i++) {
    if (process_gone(wire->devices[i].pid) && !has_queue_pairs(&wire->devices[i])) unused = &wire->devices[i];
  }
  if (found == NULL && unused != NULL) {
    found = unused;
    memset(found, 0, sizeof *found);
    memcpy(found->gid, nic->gid, sizeof nic->gid);
    found->node = settings.node;
    found->index = (uint16_t)nic->index;
    if (kind.renew != NULL) kind.renew(found);
  }
  if (found != NULL) found->pid = getpid();
  wire_unlock(&wire->lock);
  return found;
}

static void prepare(struct ibv_context *context, struct ibv_device *device) {
  context->device = device;
  context->cmd_fd = context->async_fd = -1;
  context->num_comp_vectors = 1;
  pthread_mutex_init(&context->mutex, NULL);
  context->abi_compat = __VERBS_ABI_IS_EXTENDED;
  context_of(context)->verbs.sz = sizeof(struct verbs_context);
}

struct ibv_context *ibv_open_device(struct ibv_device *device) {
  struct context *opened = calloc(1, sizeof *opened);
  if (opened == NULL) return NULL;
  opened->nic = (struct nic *)device;
  opened->wire = attach(opened->nic);
  prepare(&opened->verbs.context, device);
  int error = opened->wire == NULL ? ENOSPC : kind.prepare(opened);
  if (error != 0) {
    free(opened);
    errno = error;
    return NULL;
  }
  trace("opened %s", device->name);
  return &opened->verbs.context;
}

int ibv_close_device(struct ibv_context *context) {
  struct context *opened = context_of(context);
  if (opened->domains != 0 || opened->queues != 0) {
    if (is_exiting()) return EBUSY;
    broke("device-in-use", "%s was closed with %u protection domains and %u completion queues", context->device->name,
          opened->domains, opened->queues);
    return EBUSY;
  }
  free(opened->own);
  free(opened);
  return 0;
}

bool is_gone(const struct ibv_context *context) {
  if (context_of((struct ibv_context *)context)->wire->port != PORT_GONE) return false;
  errno = EIO;
  return true;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid) {
  if (port != 1 || index != 0) return EINVAL;
  memcpy(gid->raw, context_of(context)->nic->gid, sizeof gid->raw);
  return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *key) {
  (void)context;
  if (port != 1 || index != 0) return EINVAL;
  *key = 0xffff;
  return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 key) {
  (void)context;
  return port == 1 && key == 0xffff ? 0 : -1;
}

void count_request(const struct context *context) {
  uint64_t count = ++context->wire->requests;
  if (context->nic->index != settings.fault_device || count != settings.fault_after) return;
  context->wire->port = (uint32_t)settings.fault_port;
  trace("%s has its fault after %lu requests", context->nic->device.name, count);
}
