// From addresses to devices: which one an identifier is of, and its port.

#include <string.h>

#include "cm.h"

enum { FIRST_PORT = 40000, LAST_PORT = 60999 };

static bool is_taken(uint32_t port, const struct wire_cm_id *self) {
  for (int i = 0; i < CM_IDS; i++) {
    const struct wire_cm_id *entry = &tables()->cm_ids[i];
    if (entry == self || entry->pid == 0 || entry->port != port || entry->space != self->space ||
        entry->node != self->node) {
      continue;
    }
    bool meets = entry->device == 0 || self->device == 0 || entry->device == self->device;
    if (meets && !process_gone(entry->pid)) return true;
  }
  return false;
}

static int bind_port(struct cm_id *id, struct sockaddr *address) {
  uint32_t port = port_of(address);
  int error = 0;
  wire_lock(&tables()->cm_lock);
  if (port == 0) {
    do {
      port = tables()->next_port;
      tables()->next_port = port == LAST_PORT ? FIRST_PORT : port + 1;
    } while (is_taken(port, id->wire));
  } else if (is_taken(port, id->wire)) {
    error = EADDRINUSE;
  }
  if (error == 0) id->wire->port = port;
  wire_unlock(&tables()->cm_lock);
  if (error != 0) return fail_with(error);
  set_port(address, (uint16_t)port);
  return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address) {
  struct cm_id *own = (struct cm_id *)id;
  socklen_t length = address_length(address);
  if (length == 0) return fail_with(EINVAL);
  if (!is_any(address)) {
    // Any other is of an interface without a device, or of none.
    int index = own_index(find_device(address));
    if (index < 0 || is_gone(device_at(index))) return fail_with(ENODEV);
    use_device(own, index);
  }
  memcpy(&id->route.addr.src_storage, address, length);
  return bind_port(own, &id->route.addr.src_addr);
}

// The route: to a device of this node through itself, to another node's through the one of the same number, if any.
static int index_towards(const struct sockaddr *destination) {
  if (is_any(destination)) return 0;
  const struct wire_device *far = find_device(destination);
  int index = own_index(far);
  return index < 0 && far != NULL ? far->index % open_devices() : index;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *destination, int timeout) {
  struct cm_id *own = (struct cm_id *)id;
  (void)timeout;
  socklen_t length = address_length(destination);
  if (length == 0) return fail_with(EINVAL);
  memcpy(&id->route.addr.dst_storage, destination, length);
  if (source != NULL && own->wire->port == 0 && rdma_bind_addr(id, source) != 0) return -1;
  if (id->verbs == NULL) {
    int index = index_towards(destination);
    if (index < 0) {
      trace("no route to an address of family %d", destination->sa_family);
      if (own->sync) return fail_with(ENETUNREACH);
      tell_own(own, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
      return 0;
    }
    use_device(own, index);
    address_device(&id->route.addr.src_addr, destination->sa_family, index);
    if (own->wire->port == 0 && bind_port(own, &id->route.addr.src_addr) != 0) return -1;
    set_port(&id->route.addr.src_addr, (uint16_t)own->wire->port);
  }
  if (is_any(destination)) {
    address_device(&id->route.addr.dst_addr, destination->sa_family, own_index(&wire->devices[own->wire->device - 1]));
  }
  set_port(&id->route.addr.dst_addr, port_of(destination));
  if (!own->sync) tell_own(own, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout) {
  struct cm_id *own = (struct cm_id *)id;
  (void)timeout;
  if (id->verbs == NULL) return fail_with(EINVAL);
  if (!own->sync) tell_own(own, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
  return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog) {
  struct cm_id *own = (struct cm_id *)id;
  (void)backlog;
  if (own->wire->port == 0) {
    broke("listen-order", "an identifier listens that has no address");
    return fail_with(EINVAL);
  }
  wire_lock(&tables()->cm_lock);
  own->wire->state = CM_LISTENING;
  wire_unlock(&tables()->cm_lock);
  start_firmware();
  trace("listening on port %u", own->wire->port);
  return 0;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id) { return htons(port_of(&id->route.addr.src_addr)); }
__be16 rdma_get_dst_port(struct rdma_cm_id *id) { return htons(port_of(&id->route.addr.dst_addr)); }
