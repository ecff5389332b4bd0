// What an adapter is, and tells of itself.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nic.h"

#undef ibv_query_port

// ConnectX-6.
enum { VENDOR = 0x02c9, PART = 4123, PHYSICALLY_DOWN = 3, PHYSICALLY_UP = 5 };

struct verbs_settings verbs_settings;

static int parse_mtu(const char *text) {
  static const char *const values[] = {"256", "512", "1024", "2048", "4096"};
  for (int i = 0; i < 5; i++) {
    if (strcmp(text, values[i]) == 0) return IBV_MTU_256 + i;
  }
  return -1;
}

static int parse_link(const char *text) {
  return strcmp(text, "infiniband") == 0 ? LINK_INFINIBAND : strcmp(text, "ethernet") == 0 ? LINK_ETHERNET : -1;
}

static void read_own_settings(void) {
  setting_of_each_device("MTU", "4096", "256, 512, 1024, 2048 or 4096", parse_mtu, verbs_settings.mtu);
  setting_of_each_device("LINK", "infiniband", "infiniband or ethernet", parse_link, verbs_settings.links);
  const char *firmware = setting("FIRMWARE");
  verbs_settings.firmware = firmware != NULL ? strdup(firmware) : "20.31.1014";
  verbs_settings.ip = number_setting("IP", 1, 1) != 0;
  verbs_settings.ib_addresses = number_setting("AF_IB", 0, 1) != 0;
  verbs_settings.dmabuf = number_setting("DMABUF", 0, 1) != 0;
}

// On Ethernet an adapter's GID is its IPv4 address; on InfiniBand it comes from its GUID.
static void set_gid(struct nic *nic) {
  uint8_t gid[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0xc9, 0, 0, (uint8_t)(settings.node >> 8), (uint8_t)settings.node,
                     0, (uint8_t)(nic->index + 1)};
  if (verbs_settings.links[nic->index] == LINK_ETHERNET) {
    uint32_t address = htobe32(address_of(settings.node, nic->index));
    memset(gid, 0, 10);
    gid[10] = gid[11] = 0xff;
    memcpy(gid + 12, &address, sizeof address);
  }
  memcpy(nic->gid, gid, sizeof gid);
}

static void describe(struct nic *nic) {
  nic->device.node_type = IBV_NODE_CA;
  nic->device.transport_type = IBV_TRANSPORT_IB;
  snprintf(nic->device.name, sizeof nic->device.name, "mlx5_%d", nic->index);
  set_gid(nic);
}

static unsigned rights(const struct context *opened) {
  (void)opened;
  return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes, size_t size) {
  if (port != 1) return EINVAL;
  const struct context *opened = context_of(context);
  int index = opened->nic->index, gigabits = settings.gigabits[index];
  bool ethernet = verbs_settings.links[index] == LINK_ETHERNET, up = !port_failed(opened->wire->port);
  struct ibv_port_attr told = {
      .state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
      .max_mtu = IBV_MTU_4096,
      .active_mtu = (enum ibv_mtu)verbs_settings.mtu[index],
      .gid_tbl_len = 1,
      // Where there is a partition table, the provider offers addresses of InfiniBand's own.
      .pkey_tbl_len = verbs_settings.ib_addresses ? 1 : 0,
      .max_msg_sz = LONGEST_MESSAGE,
      .lid = ethernet ? 0 : (uint16_t)(index + 1),
      .max_vl_num = 1,
      // Extended data rate, 25 Gbit/s a lane: the newest that every libfabric knows.
      .active_speed = 32,
      .active_width = gigabits == 25 ? 1 : gigabits == 100 ? 2 : gigabits == 200 ? 4 : 8,
      .phys_state = up ? PHYSICALLY_UP : PHYSICALLY_DOWN,
      .link_layer = ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND,
  };
  memset(attributes, 0, size);
  memcpy(attributes, &told, size < sizeof told ? size : sizeof told);
  return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attributes) {
  return query_port(context, port, (struct ibv_port_attr *)attributes, offsetof(struct ibv_port_attr, port_cap_flags2));
}

static int prepare(struct context *opened) {
  struct ibv_context *context = &opened->verbs.context;
  context->ops.post_send = post_send;
  context->ops.post_recv = post_receive;
  context->ops.poll_cq = poll_completions;
  context->ops.req_notify_cq = request_notification;
  context->ops.post_srq_recv = post_shared_receive;
  opened->verbs.query_port = query_port;
  add_work(progress_all);
  return 0;
}

const struct kind kind = {.read_settings = read_own_settings,
                          .describe = describe,
                          .prepare = prepare,
                          .rights = rights,
                          .listed = devices_listed};

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes) {
  const struct context *opened = context_of(context);
  memset(attributes, 0, sizeof *attributes);
  snprintf(attributes->fw_ver, sizeof attributes->fw_ver, "%s", verbs_settings.firmware);
  memcpy(&attributes->node_guid, opened->nic->gid + 8, sizeof attributes->node_guid);
  attributes->sys_image_guid = attributes->node_guid;
  attributes->max_mr_size = (uint64_t)1 << 40;
  attributes->page_size_cap = 0xfffff000;
  attributes->vendor_id = VENDOR;
  attributes->vendor_part_id = PART;
  attributes->max_qp = QUEUE_PAIRS;
  attributes->max_qp_wr = SEND_DEPTH;
  attributes->max_sge = attributes->max_sge_rd = SEND_PIECES;
  attributes->max_qp_rd_atom = attributes->max_qp_init_rd_atom = MOST_READS;
  attributes->max_res_rd_atom = MOST_READS * QUEUE_PAIRS;
  attributes->max_srq = SHARED_QUEUES;
  attributes->max_srq_wr = RECEIVES;
  attributes->max_srq_sge = RECEIVE_PIECES;
  attributes->max_cq = COMPLETION_QUEUES;
  attributes->max_cqe = MOST_COMPLETIONS;
  attributes->max_mr = REGIONS;
  attributes->max_pd = 256;
  attributes->max_pkeys = 1;
  attributes->phys_port_cnt = 1;
  return 0;
}
