// Finding, opening and describing NICs.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nic.h"

#undef ibv_query_port

static struct nic nics[MOST_NICS];
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;

struct context *context_of(struct ibv_context *context) {
  return (struct context *)((char *)context - offsetof(struct context, verbs.context));
}

static void describe_nic(int i) {
  struct nic *nic = &nics[i];
  struct ibv_device *device = &nic->device;
  nic->index = i;
  device->node_type = IBV_NODE_UNSPECIFIED;
  device->transport_type = IBV_TRANSPORT_UNSPECIFIED;
  snprintf(device->name, sizeof device->name, "efa_%d", i);
  snprintf(device->dev_name, sizeof device->dev_name, "uverbs%d", i);
  snprintf(device->dev_path, sizeof device->dev_path, "%.200s/sys/class/infiniband_verbs/uverbs%d", settings.home, i);
  // The provider asks below this path for the device's driver and its place on the PCI bus.
  snprintf(device->ibdev_path, sizeof device->ibdev_path, "%.200s/sys/class/infiniband/efa_%d", settings.home, i);
  uint8_t gid[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0xef, 0xad, 0, 0, (uint8_t)(settings.node >> 8), (uint8_t)settings.node,
                     0, (uint8_t)(i + 1)};
  memcpy(nic->gid, gid, sizeof gid);
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

void ibv_free_device_list(struct ibv_device **list) { free(list); }

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
  }
  if (found != NULL) found->pid = getpid();
  wire_unlock(&wire->lock);
  return found;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes, size_t size) {
  if (port != 1) return EINVAL;
  struct context *opened = context_of(context);
  // Extended data rate, 25 Gbit/s a lane: the newest that every libfabric knows.
  int gigabits = settings.gigabits[opened->nic->index];
  struct ibv_port_attr told = {
      .state = opened->wire->port == PORT_ERROR ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
      .max_mtu = IBV_MTU_4096,
      .active_mtu = IBV_MTU_4096,
      .gid_tbl_len = 1,
      .pkey_tbl_len = 1,
      .max_msg_sz = LONGEST_PACKET,
      .max_vl_num = 1,
      .active_speed = 32,
      .active_width = gigabits == 25 ? 1 : gigabits == 100 ? 2 : gigabits == 200 ? 4 : 8,
      .phys_state = opened->wire->port == PORT_ERROR ? 3 : 5,
      .link_layer = IBV_LINK_LAYER_UNSPECIFIED,
  };
  memset(attributes, 0, size);
  memcpy(attributes, &told, size < sizeof told ? size : sizeof told);
  return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attributes) {
  return query_port(context, port, (struct ibv_port_attr *)attributes, offsetof(struct ibv_port_attr, port_cap_flags2));
}

static int refuse_notification(struct ibv_cq *queue, int solicited) {
  (void)queue;
  (void)solicited;
  return EOPNOTSUPP;
}

struct ibv_context *ibv_open_device(struct ibv_device *device) {
  struct context *opened = calloc(1, sizeof *opened);
  if (opened == NULL) return NULL;
  opened->nic = (struct nic *)device;
  opened->wire = attach(opened->nic);
  if (opened->wire == NULL) {
    free(opened);
    errno = ENOSPC;
    return NULL;
  }
  struct ibv_context *context = &opened->verbs.context;
  context->device = device;
  context->cmd_fd = context->async_fd = -1;
  context->num_comp_vectors = 1;
  pthread_mutex_init(&context->mutex, NULL);
  context->abi_compat = __VERBS_ABI_IS_EXTENDED;
  context->ops.post_send = post_send;
  context->ops.post_recv = post_receive;
  context->ops.poll_cq = poll_completions;
  context->ops.req_notify_cq = refuse_notification;
  opened->verbs.sz = sizeof opened->verbs;
  opened->verbs.create_cq_ex = create_completion_queue;
  opened->verbs.create_qp_ex = create_queue_pair_ex;
  opened->verbs.query_port = query_port;
  trace("opened %s", device->name);
  return context;
}

int ibv_close_device(struct ibv_context *context) {
  struct context *opened = context_of(context);
  if (opened->domains != 0 || opened->queues != 0) {
    if (is_exiting()) return EBUSY;
    broke("device-in-use", "%s was closed with %u protection domains and %u completion queues", context->device->name,
          opened->domains, opened->queues);
    return EBUSY;
  }
  free(opened);
  return 0;
}

uint32_t capabilities(const struct context *context) {
  switch (settings.generations[context->nic->index]) {
    case GENERATION_SEND:
      return CAN_RETRY | CAN_TELL_GID;
    case GENERATION_READ:
      return CAN_RETRY | CAN_TELL_GID | CAN_READ;
    default:
      return CAN_RETRY | CAN_TELL_GID | CAN_READ | CAN_WRITE | CAN_RECEIVE_UNSOLICITED;
  }
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes) {
  struct context *opened = context_of(context);
  memset(attributes, 0, sizeof *attributes);
  snprintf(attributes->fw_ver, sizeof attributes->fw_ver, "software");
  memcpy(&attributes->node_guid, opened->nic->gid + 8, sizeof attributes->node_guid);
  attributes->sys_image_guid = attributes->node_guid;
  attributes->max_mr_size = (uint64_t)1 << 40;
  attributes->page_size_cap = 0xfffff000;
  attributes->vendor_id = 0x1d0f;
  // Of 0xefa0 and 0xefa1 the provider does not use RDMA by itself.
  bool rdma = settings.generations[opened->nic->index] != GENERATION_SEND;
  attributes->vendor_part_id = attributes->hw_ver = rdma ? 0xefa2 : 0xefa0;
  attributes->max_qp = QUEUE_PAIRS;
  attributes->max_qp_wr = SEND_DEPTH;
  attributes->max_sge = SEND_PIECES;
  attributes->max_sge_rd = 1;
  attributes->max_cq = COMPLETION_QUEUES;
  attributes->max_cqe = COMPLETIONS;
  attributes->max_mr = REGIONS;
  attributes->max_pd = 256;
  attributes->max_ah = ADDRESS_HANDLES;
  attributes->max_pkeys = 1;
  attributes->phys_port_cnt = 1;
  return 0;
}

int describe_device(struct ibv_context *context, struct efadv_device_attr *attributes, uint32_t size) {
  struct efadv_device_attr told = {
      .max_sq_wr = SEND_DEPTH,
      .max_rq_wr = RECEIVES,
      .max_sq_sge = SEND_PIECES,
      .max_rq_sge = RECEIVE_PIECES,
      .inline_buf_size = LONGEST_INLINE,
      .device_caps = capabilities(context_of(context)),
      .max_rdma_size = LONGEST_RDMA,
  };
  memset(attributes, 0, size);
  memcpy(attributes, &told, size < sizeof told ? size : sizeof told);
  return 0;
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

// The fault that was asked for comes with the request that makes the number full.
void count_request(struct wire_device *device, int index) {
  uint64_t count = ++device->requests;
  if (index != settings.fault_device || count != settings.fault_after) return;
  device->port = (uint32_t)settings.fault_port;
  trace("efa_%d has its fault after %lu requests", index, count);
}
