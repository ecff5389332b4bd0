// Devices, domains, regions, queues: what they tell, and that none goes while another needs it.

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nics.h"

static void devices_tell_what_was_chosen(void) {
  set("DEVICES", "3");
  set("GIGABITS", "100,200");
  set("MTU", "4096,1024");
  set("LINK", "infiniband,ethernet");
  set("FIRMWARE", "16.35.2000");
  int count = 0;
  struct ibv_device **list = ibv_get_device_list(&count);
  expect("devices", 3, count);
  for (int i = 0; i < 3; i++) {
    char name[16];
    snprintf(name, sizeof name, "mlx5_%d", i);
    expect("name", 0, strcmp(name, ibv_get_device_name(list[i])));
    struct ibv_context *context = ibv_open_device(list[i]);
    struct ibv_port_attr port;
    struct ibv_device_attr device;
    union ibv_gid gid;
    expect("ibv_query_port", 0, ibv_query_port(context, 1, &port));
    expect("width", i == 0 ? 2 : 4, port.active_width);
    expect("mtu", i == 0 ? IBV_MTU_4096 : IBV_MTU_1024, port.active_mtu);
    expect("link", i == 0 ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET, port.link_layer);
    expect("state", IBV_PORT_ACTIVE, port.state);
    expect("ibv_query_device", 0, ibv_query_device(context, &device));
    expect("firmware", 0, strcmp("16.35.2000", device.fw_ver));
    expect("ibv_query_gid", 0, ibv_query_gid(context, 1, 0, &gid));
    // On Ethernet the last four bytes are the IPv4 address, 10.77.NODE.DEVICE+1.
    expect("gid", i == 0 ? 0xfe : 0, gid.raw[0]);
    expect("address", i == 0 ? 0 : 10, gid.raw[12]);
    expect("number", i + 1, gid.raw[15]);
    expect("a second port", EINVAL, ibv_query_port(context, 2, &port));
    expect("ibv_close_device", 0, ibv_close_device(context));
  }
  ibv_free_device_list(list);
}

static void all_of_an_end_closes(void) {
  struct end end = open_end((struct end_options){0});
  close_end(&end);
  expect("ibv_dealloc_pd", 0, ibv_dealloc_pd(end.pd));
  expect("ibv_close_device", 0, ibv_close_device(end.context));
}

static void a_device_in_use_stays(void) {
  struct end end = open_end((struct end_options){0});
  expect("ibv_close_device", EBUSY, ibv_close_device(end.context));
}

static void a_domain_in_use_stays(void) {
  struct end end = open_end((struct end_options){0});
  expect("ibv_dealloc_pd", EBUSY, ibv_dealloc_pd(end.pd));
}

static void a_completion_queue_in_use_stays(void) {
  struct end end = open_end((struct end_options){0});
  expect("ibv_destroy_cq", EBUSY, ibv_destroy_cq(end.queue));
}

static struct ibv_srq *new_shared(struct ibv_pd *pd, uint32_t depth) {
  struct ibv_srq_init_attr attributes = {.attr = {.max_wr = depth, .max_sge = 1}};
  struct ibv_srq *shared = ibv_create_srq(pd, &attributes);
  if (shared == NULL) fail("no shared receive queue: %s", strerror(errno));
  return shared;
}

static void a_shared_queue_in_use_stays(void) {
  struct end first = open_end((struct end_options){0});
  struct ibv_srq *shared = new_shared(first.pd, 4);
  struct end end = open_beside(&first, (struct end_options){.shared = shared});
  expect("ibv_destroy_srq", EBUSY, ibv_destroy_srq(shared));
  (void)end;
}

static void a_region_closes_once(void) {
  struct end end = open_end((struct end_options){0});
  struct region stale = *(struct region *)end.mr;
  expect("ibv_dereg_mr", 0, ibv_dereg_mr(end.mr));
  expect("ibv_dereg_mr again", EINVAL, ibv_dereg_mr(&stale.mr));
}

static void remote_writes_need_local_ones(void) {
  struct end end = open_end((struct end_options){0});
  expect("a region", true, ibv_reg_mr(end.pd, end.memory, 100, IBV_ACCESS_REMOTE_WRITE) == NULL);
}

static void a_queue_pair_has_one_device(void) {
  set("DEVICES", "2");
  struct end one = open_end((struct end_options){0}), other = open_end((struct end_options){.device = 1});
  struct ibv_qp_init_attr attributes = {.send_cq = one.queue,
                                        .recv_cq = other.queue,
                                        .qp_type = IBV_QPT_RC,
                                        .cap = {.max_send_wr = 1, .max_recv_wr = 1}};
  expect("a queue pair", true, ibv_create_qp(one.pd, &attributes) == NULL);
}

static void what_is_beyond_the_limits_is_refused(void) {
  struct end end = open_end((struct end_options){0});
  const struct ibv_qp_cap beyond[] = {
      {.max_send_wr = SEND_DEPTH + 1}, {.max_recv_wr = RECEIVES + 1},           {.max_send_sge = SEND_PIECES + 1},
      {.max_recv_sge = RECEIVE_PIECES + 1}, {.max_inline_data = LONGEST_INLINE + 1}};
  for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
    struct ibv_qp_init_attr attributes = {
        .send_cq = end.queue, .recv_cq = end.queue, .qp_type = IBV_QPT_RC, .cap = beyond[i]};
    expect("a queue pair", true, ibv_create_qp(end.pd, &attributes) == NULL);
    expect("its error", EINVAL, errno);
  }
  struct ibv_qp_init_attr datagrams = {.send_cq = end.queue, .recv_cq = end.queue, .qp_type = IBV_QPT_UD};
  expect("datagrams", true, ibv_create_qp(end.pd, &datagrams) == NULL);
  expect("a queue for none", true, ibv_create_cq(end.context, 0, NULL, NULL, 0) == NULL);
}

static void dmabuf_is_memory(void) {
  struct pair_of_ends ends = open_connected((struct end_options){0}, (struct end_options){0});
  int file = memfd_create("dmabuf", MFD_CLOEXEC);
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  expect("ftruncate", 0, ftruncate(file, (off_t)(4 * page)));
  // At an offset that is no page's, under addresses of its own.
  struct ibv_mr *mr = ibv_reg_dmabuf_mr(ends.to.pd, page + 64, 4096, 0x10000, file, ALL_RIGHTS);
  if (mr == NULL) fail("no region of dma-buf: %s", strerror(errno));
  fill_pattern(ends.from.memory, 4096, 3);
  expect("post", 0, post(&ends.from, (struct post){.id = 1, .operation = WRITE, .length = 4096, .rkey = mr->rkey, .remote = 0x10000}));
  await(&ends.from, 1, IBV_WC_SUCCESS, "a write into dma-buf");
  uint8_t *seen = mmap(NULL, 4 * page, PROT_READ, MAP_SHARED, file, 0);
  expect_pattern(seen + page + 64, 4096, 3, "dma-buf");
  expect("ibv_dereg_mr", 0, ibv_dereg_mr(mr));
}

const struct test_case object_cases[] = {
    {"devices-tell-what-was-chosen", devices_tell_what_was_chosen, NULL},
    {"all-of-an-end-closes", all_of_an_end_closes, NULL},
    {"a-device-in-use-stays", a_device_in_use_stays, "device-in-use"},
    {"a-domain-in-use-stays", a_domain_in_use_stays, "domain-in-use"},
    {"a-completion-queue-in-use-stays", a_completion_queue_in_use_stays, "completion-queue-in-use"},
    {"a-shared-queue-in-use-stays", a_shared_queue_in_use_stays, "shared-queue-in-use"},
    {"a-region-closes-once", a_region_closes_once, "region-unknown"},
    {"remote-writes-need-local-ones", remote_writes_need_local_ones, "region-rights"},
    {"a-queue-pair-has-one-device", a_queue_pair_has_one_device, "device-mismatch"},
    {"what-is-beyond-the-limits-is-refused", what_is_beyond_the_limits_is_refused, NULL},
    {"dmabuf-is-memory", dmabuf_is_memory, NULL},
    {NULL, NULL, NULL},
};
