// What the NIC is, and tells of itself.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nic.h"

#undef ibv_query_port

struct efa_settings efa_settings;

static int parse_generation(const char *text) {
  static const char *const names[] = {"send", "read", "write"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, names[i]) == 0) return i;
  }
  return -1;
}

static void read_own_settings(void) {
  int generations[MOST_NICS];
  setting_of_each_device("GENERATION", "write", "send, read or write", parse_generation, generations);
  for (int i = 0; i < MOST_NICS; i++) efa_settings.generations[i] = (enum generation)generations[i];
}

static void describe(struct nic *nic) {
  nic->device.node_type = IBV_NODE_UNSPECIFIED;
  nic->device.transport_type = IBV_TRANSPORT_UNSPECIFIED;
  snprintf(nic->device.name, sizeof nic->device.name, "efa_%d", nic->index);
  uint8_t gid[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0xef, 0xad, 0, 0, (uint8_t)(settings.node >> 8), (uint8_t)settings.node,
                     0, (uint8_t)(nic->index + 1)};
  memcpy(nic->gid, gid, sizeof gid);
}

static void forget_peers(const struct wire_device *device) {
  memset(known_peers(wire, device), 0, KNOWN_PEERS * sizeof(struct known_peer));
}

static unsigned rights(const struct context *opened) {
  uint32_t can = capabilities(opened);
  return IBV_ACCESS_LOCAL_WRITE | (can & CAN_READ ? IBV_ACCESS_REMOTE_READ : 0) |
         (can & CAN_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0);
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes, size_t size) {
  if (port != 1) return EINVAL;
  struct context *opened = context_of(context);
  // Extended data rate, 25 Gbit/s a lane: the newest that every libfabric knows.
  int gigabits = settings.gigabits[opened->nic->index];
  struct ibv_port_attr told = {
      .state = port_failed(opened->wire->port) ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
      .max_mtu = IBV_MTU_4096,
      .active_mtu = IBV_MTU_4096,
      .gid_tbl_len = 1,
      .pkey_tbl_len = 1,
      .max_msg_sz = LONGEST_PACKET,
      .max_vl_num = 1,
      .active_speed = 32,
      .active_width = gigabits == 25 ? 1 : gigabits == 100 ? 2 : gigabits == 200 ? 4 : 8,
      .phys_state = port_failed(opened->wire->port) ? 3 : 5,
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

static int prepare(struct context *opened) {
  opened->own = calloc(ADDRESS_HANDLES, sizeof(struct known_handle));
  if (opened->own == NULL) return ENOMEM;
  struct ibv_context *context = &opened->verbs.context;
  context->ops.post_send = post_send;
  context->ops.post_recv = post_receive;
  context->ops.poll_cq = poll_completions;
  context->ops.req_notify_cq = refuse_notification;
  opened->verbs.create_cq_ex = create_completion_queue;
  opened->verbs.create_qp_ex = create_queue_pair_ex;
  opened->verbs.query_port = query_port;
  add_work(progress_all);
  return 0;
}

const struct kind kind = {.read_settings = read_own_settings,
                          .describe = describe,
                          .prepare = prepare,
                          .rights = rights,
                          .renew = forget_peers};

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
  bool rdma = efa_settings.generations[opened->nic->index] != GENERATION_SEND;
  attributes->vendor_part_id = attributes->hw_ver = rdma ? 0xefa2 : 0xefa0;
  attributes->max_qp = MOST_QUEUE_PAIRS;
  attributes->max_qp_wr = SEND_DEPTH;
  attributes->max_sge = SEND_PIECES;
  attributes->max_sge_rd = 1;
  attributes->max_cq = COMPLETION_QUEUES;
  attributes->max_cqe = MOST_COMPLETIONS;
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
