/*
 * A provider of the kind that FI_PROVIDER_PATH adds: it offers one NIC, negotiated as a Slingshot NIC
 * is, with what only NICs of hardware tell. It can be listed and not opened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

static struct fid_nic nic;

static int nic_close(struct fid *fid) {
    (void)fid;
    return 0;
}

static int nic_bind(struct fid *fid, struct fid *other, uint64_t flags) {
    (void)fid, (void)other, (void)flags;
    return -FI_ENOSYS;
}

/* The library copies an info's NIC by this call; one static NIC serves all infos. */
static int nic_control(struct fid *fid, int command, void *argument) {
    (void)fid, (void)command;
    *(struct fid_nic **)argument = &nic;
    return 0;
}

static struct fi_ops nic_ops = {
    .size = sizeof(struct fi_ops), .close = nic_close, .bind = nic_bind, .control = nic_control};
static struct fi_device_attr device = {
    .name = "test0", .driver = "test_core", .firmware = "1.2.3"};
static struct fi_bus_attr bus = {
    .bus_type = FI_BUS_PCI,
    .attr.pci = {.domain_id = 1, .bus_id = 0xc1, .device_id = 2, .function_id = 3}};
static struct fi_link_attr link_attr = {
    .mtu = 2048, .speed = 200000000000, .state = FI_LINK_UP};

static int get_info(uint32_t version, const char *node, const char *service, uint64_t flags,
                    const struct fi_info *hints, struct fi_info **result) {
    (void)version, (void)node, (void)service, (void)flags;
    if (hints && hints->domain_attr && !(hints->domain_attr->mr_mode & FI_MR_ENDPOINT)) return -FI_ENODATA;
    if (hints && (hints->caps & FI_HMEM)) return -FI_ENODATA;
    struct fi_info *info = fi_allocinfo();
    nic.fid.fclass = FI_CLASS_NIC;
    nic.fid.ops = &nic_ops;
    nic.device_attr = &device;
    nic.bus_attr = &bus;
    nic.link_attr = &link_attr;
    info->nic = &nic;
    info->caps = FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    info->ep_attr->type = FI_EP_RDM;
    info->ep_attr->max_msg_size = 0xffffffff;
    info->tx_attr->size = 1024;
    info->tx_attr->inject_size = 192;
    info->rx_attr->size = 1024;
    info->domain_attr->name = strdup("test0");
    info->domain_attr->mr_mode = FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_ENDPOINT;
    info->domain_attr->mr_key_size = 8;
    info->domain_attr->cq_data_size = 2;
    info->domain_attr->threading = FI_THREAD_SAFE;
    info->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    info->fabric_attr->name = strdup("test");
    info->fabric_attr->prov_version = FI_VERSION(4, 2);
    *result = info;
    return 0;
}

static int open_fabric(struct fi_fabric_attr *attributes, struct fid_fabric **fabric, void *context) {
    (void)attributes, (void)fabric, (void)context;
    return -FI_ENODEV;
}

static void clean_up(void) {}

static struct fi_provider provider = {
    .version = FI_VERSION(4, 2),
    .fi_version = FI_VERSION(1, 17),
    .name = "jofi_test",
    .getinfo = get_info,
    .fabric = open_fabric,
    .cleanup = clean_up};

__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void) { return &provider; }
