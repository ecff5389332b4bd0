// Address handles, and whom a device knows by them.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nic.h"

// Where the device's table has a peer; -1 if nowhere.
static int find_known(const struct wire_device *device, const uint8_t *gid) {
  const struct known_peer *known = known_peers(wire, device);
  for (int i = 0; i < KNOWN_PEERS; i++) {
    if (known[i].users != 0 && memcmp(known[i].gid, gid, 16) == 0) return i;
  }
  return -1;
}

bool knows(const struct wire_device *device, const uint8_t *gid) { return find_known(device, gid) >= 0; }

// The device's own table of peers, which its RDMA engine looks requests up in.
static bool learn(const struct wire_device *device, const uint8_t *gid) {
  struct known_peer *known = known_peers(wire, device);
  wire_lock(&wire->lock);
  int at = find_known(device, gid);
  for (int i = 0; i < KNOWN_PEERS && at < 0; i++) {
    if (known[i].users != 0) continue;
    memcpy(known[i].gid, gid, 16);
    at = i;
  }
  if (at >= 0) known[at].users++;
  wire_unlock(&wire->lock);
  return at >= 0;
}

static void give_number_back(struct context *context, uint16_t number) {
  pthread_mutex_lock(&context->verbs.context.mutex);
  handles_of(context)[number].users--;
  pthread_mutex_unlock(&context->verbs.context.mutex);
}

static void forget(const struct wire_device *device, const uint8_t *gid) {
  wire_lock(&wire->lock);
  int at = find_known(device, gid);
  if (at >= 0) known_peers(wire, device)[at].users--;
  wire_unlock(&wire->lock);
}

// One number for each peer of an open device, however many handles there are.
static int take_number(struct context *context, const uint8_t *gid) {
  pthread_mutex_lock(&context->verbs.context.mutex);
  int number = handle_number(context, gid);
  for (int i = 0; i < ADDRESS_HANDLES && number == NO_HANDLE; i++) {
    if (handles_of(context)[i].users != 0) continue;
    number = i;
    memcpy(handles_of(context)[i].gid, gid, 16);
    handles_of(context)[i].heard = false;
  }
  if (number != NO_HANDLE) handles_of(context)[number].users++;
  pthread_mutex_unlock(&context->verbs.context.mutex);
  return number;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attributes) {
  struct context *context = context_of(pd->context);
  struct handle *handle = calloc(1, sizeof *handle);
  if (handle == NULL) return NULL;
  memcpy(handle->gid, attributes->grh.dgid.raw, sizeof handle->gid);
  int number = take_number(context, handle->gid);
  bool learnt = number != NO_HANDLE && learn(context->wire, handle->gid);
  if (!learnt) {
    if (number != NO_HANDLE) give_number_back(context, (uint16_t)number);
    free(handle);
    errno = ENOMEM;
    return NULL;
  }
  handle->number = (uint16_t)number;
  handle->ah = (struct ibv_ah){.context = pd->context, .pd = pd, .handle = handle->number};
  ((struct domain *)pd)->users++;
  return &handle->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah) {
  struct handle *handle = (struct handle *)ah;
  struct context *context = context_of(ah->context);
  forget(context->wire, handle->gid);
  give_number_back(context, handle->number);
  ((struct domain *)ah->pd)->users--;
  free(handle);
  return 0;
}

uint16_t handle_number(struct context *context, const uint8_t *gid) {
  for (uint16_t i = 0; i < ADDRESS_HANDLES; i++) {
    if (handles_of(context)[i].users != 0 && memcmp(handles_of(context)[i].gid, gid, 16) == 0) return i;
  }
  return NO_HANDLE;
}

int describe_handle(struct ibv_ah *ah, struct efadv_ah_attr *attributes, uint32_t size) {
  struct efadv_ah_attr told = {.ahn = ((struct handle *)ah)->number};
  memset(attributes, 0, size);
  memcpy(attributes, &told, size < sizeof told ? size : sizeof told);
  return 0;
}
