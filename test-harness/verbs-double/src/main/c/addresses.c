#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"

static struct ibv_context *contexts[MOST_NICS + 1];
static int opened;

int open_devices(void) {
  static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&opening);
  if (opened == 0) {
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    for (int i = 0; list != NULL && i < count; i++) contexts[i] = ibv_open_device(list[i]);
    // Not by ibv_free_device_list, by which the provider's own look at the devices is known.
    free(list);
    if (list != NULL) opened = count;
  }
  pthread_mutex_unlock(&opening);
  return opened;
}

struct ibv_context *device_at(int index) { return contexts[index]; }

struct wire_device *wire_device_at(int index) { return context_of(contexts[index])->wire; }

struct ibv_context **rdma_get_devices(int *count) {
  int found = open_devices();
  struct ibv_context **list = calloc((size_t)found + 1, sizeof *list);
  for (int i = 0; list != NULL && i < found; i++) list[i] = contexts[i];
  if (count != NULL) *count = list != NULL ? found : 0;
  return list;
}

void rdma_free_devices(struct ibv_context **list) { free(list); }

socklen_t address_length(const struct sockaddr *address) {
  if (address == NULL) return 0;
  switch (address->sa_family) {
    case AF_INET:
      return sizeof(struct sockaddr_in);
    case AF_INET6:
      return sizeof(struct sockaddr_in6);
    case AF_IB:
      return sizeof(struct sockaddr_ib);
    default:
      return 0;
  }
}

uint16_t port_of(const struct sockaddr *address) {
  switch (address->sa_family) {
    case AF_INET:
      return ntohs(((const struct sockaddr_in *)address)->sin_port);
    case AF_INET6:
      return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    case AF_IB:
      return (uint16_t)be64toh(((const struct sockaddr_ib *)address)->sib_sid);
    default:
      return 0;
  }
}

void set_port(struct sockaddr *address, uint16_t port) {
  if (address->sa_family == AF_INET) ((struct sockaddr_in *)address)->sin_port = htons(port);
  if (address->sa_family == AF_INET6) ((struct sockaddr_in6 *)address)->sin6_port = htons(port);
  if (address->sa_family == AF_IB) {
    struct sockaddr_ib *ib = (struct sockaddr_ib *)address;
    ib->sib_sid = htobe64((be64toh(ib->sib_sid) & ~(uint64_t)0xffff) | port);
  }
}

bool is_any(const struct sockaddr *address) {
  static const uint8_t zero[16];
  if (address->sa_family == AF_INET) {
    uint32_t host = ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr);
    return host == INADDR_ANY || host >> 24 == 127;
  }
  if (address->sa_family == AF_INET6) {
    const struct in6_addr *host = &((const struct sockaddr_in6 *)address)->sin6_addr;
    return IN6_IS_ADDR_UNSPECIFIED(host) || IN6_IS_ADDR_LOOPBACK(host);
  }
  return memcmp(&((const struct sockaddr_ib *)address)->sib_addr, zero, 16) == 0;
}

struct wire_device *find_device(const struct sockaddr *address) {
  for (int i = 0; i < DEVICES; i++) {
    struct wire_device *device = &wire->devices[i];
    if (device->pid == 0) continue;
    if (address->sa_family == AF_INET &&
        ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) == address_of(device->node, device->index)) {
      return device;
    }
    if (address->sa_family == AF_IB && memcmp(&((const struct sockaddr_ib *)address)->sib_addr, device->gid, 16) == 0) {
      return device;
    }
  }
  return NULL;
}

int own_index(const struct wire_device *device) {
  for (int i = 0; i < opened && device != NULL; i++) {
    if (wire_device_at(i) == device) return i;
  }
  return -1;
}

void address_device(struct sockaddr *address, sa_family_t family, int index) {
  uint16_t port = port_of(address);
  if (family == AF_IB) {
    struct sockaddr_ib *ib = (struct sockaddr_ib *)address;
    uint64_t service = address->sa_family == AF_IB ? ib->sib_sid : 0;
    memset(ib, 0, sizeof *ib);
    ib->sib_family = AF_IB;
    ib->sib_pkey = 0xffff;
    ib->sib_sid = service;
    memcpy(&ib->sib_addr, wire_device_at(index)->gid, 16);
    return;
  }
  struct sockaddr_in *in = (struct sockaddr_in *)address;
  memset(in, 0, sizeof *in);
  in->sin_family = AF_INET;
  in->sin_port = htons(port);
  in->sin_addr.s_addr = htonl(address_of(settings.node, index));
}

// --- Names ------------------------------------------------------------------------------------------------------------

static struct sockaddr *copy_address(const struct sockaddr *address, socklen_t length) {
  struct sockaddr *copied = calloc(1, sizeof(struct sockaddr_storage));
  if (copied != NULL) memcpy(copied, address, length);
  return copied;
}

static int look_up(const char *node, const char *service, const struct rdma_addrinfo *hints, struct rdma_addrinfo *info) {
  bool passive = hints->ai_flags & RAI_PASSIVE;
  struct addrinfo *found, wanted = {.ai_flags = (passive ? AI_PASSIVE : 0) |
                                                (hints->ai_flags & RAI_NUMERICHOST ? AI_NUMERICHOST : 0),
                                    .ai_family = hints->ai_flags & RAI_FAMILY ? hints->ai_family : AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM};
  int error = getaddrinfo(node, service, &wanted, &found);
  if (error != 0) return error;
  info->ai_family = found->ai_family;
  struct sockaddr *address = copy_address(found->ai_addr, found->ai_addrlen);
  if (passive) {
    info->ai_src_addr = address;
    info->ai_src_len = found->ai_addrlen;
  } else {
    info->ai_dst_addr = address;
    info->ai_dst_len = found->ai_addrlen;
  }
  freeaddrinfo(found);
  return 0;
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
                     struct rdma_addrinfo **result) {
  static const struct rdma_addrinfo none = {.ai_port_space = RDMA_PS_TCP};
  if (node == NULL && service == NULL && hints == NULL) return fail_with(EINVAL);
  if (hints == NULL) hints = &none;
  struct rdma_addrinfo *info = calloc(1, sizeof *info);
  if (info == NULL) return fail_with(ENOMEM);
  info->ai_flags = hints->ai_flags;
  info->ai_qp_type = IBV_QPT_RC;
  info->ai_port_space = hints->ai_port_space ? hints->ai_port_space : RDMA_PS_TCP;
  info->ai_family = hints->ai_family;
  if (node != NULL || service != NULL) {
    int error = look_up(node, service, hints, info);
    if (error != 0) {
      free(info);
      errno = ENODATA;
      return error;
    }
  } else if (hints->ai_dst_len != 0) {
    info->ai_dst_addr = copy_address(hints->ai_dst_addr, hints->ai_dst_len);
    info->ai_dst_len = hints->ai_dst_len;
  }
  if (info->ai_src_addr == NULL && hints->ai_src_len != 0) {
    info->ai_src_addr = copy_address(hints->ai_src_addr, hints->ai_src_len);
    info->ai_src_len = hints->ai_src_len;
  }
  *result = info;
  return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *info) {
  while (info != NULL) {
    struct rdma_addrinfo *next = info->ai_next;
    free(info->ai_src_addr);
    free(info->ai_dst_addr);
    free(info);
    info = next;
  }
}
