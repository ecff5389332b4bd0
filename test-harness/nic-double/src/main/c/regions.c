// Protection domains and memory regions.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "objects.h"

#undef ibv_reg_mr

enum { OPTIONAL_RIGHTS = 0x3ff << 20 };

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
  if (is_gone(context)) return NULL;
  struct domain *domain = calloc(1, sizeof *domain);
  if (domain == NULL) return NULL;
  wire_lock(&wire->lock);
  domain->number = wire->next_domain++;
  wire_unlock(&wire->lock);
  domain->pd.context = context;
  domain->pd.handle = domain->number;
  context_of(context)->domains++;
  return &domain->pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd) {
  struct domain *domain = (struct domain *)pd;
  if (domain->users != 0) {
    if (is_exiting()) return EBUSY;
    broke("domain-in-use", "protection domain %u was closed with %u objects in it", domain->number, domain->users);
    return EBUSY;
  }
  context_of(pd->context)->domains--;
  free(domain);
  return 0;
}

// --- Memory regions ---------------------------------------------------------------------------------------------------

static bool rights_allowed(struct ibv_pd *pd, unsigned access) {
  unsigned allowed = kind.rights(context_of(pd->context)) | OPTIONAL_RIGHTS;
  if (access & ~allowed) {
    broke("region-rights", "a region was registered with rights 0x%x, of which the device has 0x%x", access, allowed);
    return false;
  }
  if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) && !(access & IBV_ACCESS_LOCAL_WRITE)) {
    broke("region-rights", "a region was registered with rights 0x%x: remote writes need local ones", access);
    return false;
  }
  return true;
}

// The next free slot after the last, so that a key comes back as late as possible.
static struct wire_region *take_region(void) {
  static uint32_t hint;
  for (uint32_t i = 0; i < REGIONS; i++) {
    struct wire_region *region = &wire->regions[(hint + i) % REGIONS];
    bool abandoned = region->state != REGION_FREE && process_gone(region->pid);
    if (region->state == REGION_FREE || abandoned) {
      if (abandoned) {
        for (int held = 0; held < HOLDERS; held++) region->holders[held] = 0;
      }
      hint = (hint + i + 1) % REGIONS;
      return region;
    }
  }
  return NULL;
}

static struct ibv_mr *register_region(struct ibv_pd *pd, void *address, size_t length, uint64_t start, unsigned access) {
  if (!rights_allowed(pd, access)) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  struct region *region = is_gone(pd->context) ? NULL : calloc(1, sizeof *region);
  if (region == NULL) return NULL;
  struct domain *domain = (struct domain *)pd;
  wire_lock(&wire->lock);
  struct wire_region *entry = take_region();
  if (entry == NULL) {
    wire_unlock(&wire->lock);
    free(region);
    errno = ENOMEM;
    return NULL;
  }
  entry->state = REGION_FREE;
  entry->generation++;
  entry->pid = getpid();
  entry->address = (uintptr_t)address;
  entry->start = start;
  entry->length = length;
  entry->access = access;
  entry->domain = domain->number;
  entry->key = entry->generation << 14 | (uint32_t)(entry - wire->regions);
  entry->state = REGION_VALID;
  wire_unlock(&wire->lock);
  domain->users++;
  region->wire = entry;
  region->mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = length,
                               .handle = entry->key, .lkey = entry->key, .rkey = entry->key};
  trace("registered %p + %zu with rights 0x%x as %x", address, length, access, entry->key);
  return &region->mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access) {
  return register_region(pd, address, length, (uintptr_t)address, (unsigned)access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t start, unsigned access) {
  return register_region(pd, address, length, start, access);
}

// Whatever can be mapped stands in for device memory: a memfd, a udmabuf.
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t start, int fd, int access) {
  uint64_t below = offset % (uint64_t)sysconf(_SC_PAGESIZE);
  char *mapping = mmap(NULL, length + below, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - below));
  if (mapping == MAP_FAILED) return NULL;
  struct ibv_mr *mr = register_region(pd, mapping + below, length, start, (unsigned)access);
  if (mr == NULL) {
    munmap(mapping, length + below);
    return NULL;
  }
  ((struct region *)mr)->mapping = mapping;
  ((struct region *)mr)->mapped = length + below;
  return mr;
}

// Waits for copies that are under way: nothing reaches the memory after this returns.
int ibv_dereg_mr(struct ibv_mr *mr) {
  struct region *region = (struct region *)mr;
  struct wire_region *entry = region->wire;
  if (entry->key != mr->handle || entry->state != REGION_VALID || entry->pid != getpid()) {
    broke("region-unknown", "region %x was closed, which is not open", mr->handle);
    return EINVAL;
  }
  entry->state = REGION_CLOSING;
  for (int i = 0; i < HOLDERS; i++) {
    // One that was killed never lets go; one that lives is waited for, however long it copies.
    for (pid_t holder = entry->holders[i]; holder != 0 && !process_gone(holder); holder = entry->holders[i]) usleep(20);
    entry->holders[i] = 0;
  }
  entry->state = REGION_FREE;
  ((struct domain *)mr->pd)->users--;
  if (region->mapping != NULL) munmap(region->mapping, region->mapped);
  trace("closed region %x", mr->handle);
  free(region);
  return 0;
}

// Where all places are taken, those of processes that were killed are free.
static void enter_region(struct wire_region *region) {
  for (;; usleep(20)) {
    for (int i = 0; i < HOLDERS; i++) {
      pid_t free = 0;
      if (atomic_compare_exchange_strong(&region->holders[i], &free, getpid())) return;
    }
    for (int i = 0; i < HOLDERS; i++) {
      pid_t holder = region->holders[i];
      if (process_gone(holder)) atomic_compare_exchange_strong(&region->holders[i], &holder, 0);
    }
  }
}

struct wire_region *hold_region(uint32_t key, uint64_t start, uint64_t length, unsigned access, pid_t pid, uint32_t domain) {
  struct wire_region *region = &wire->regions[key % REGIONS];
  enter_region(region);
  bool valid = region->state == REGION_VALID && region->key == key && (pid == 0 || region->pid == pid) &&
               (region->access & access) == access && region->domain == domain && start >= region->start &&
               length <= region->length && start - region->start <= region->length - length;
  if (valid) return region;
  release_region(region);
  return NULL;
}

void release_region(struct wire_region *region) {
  // Any that this process has: they are alike.
  for (int i = 0; i < HOLDERS; i++) {
    pid_t own = getpid();
    if (atomic_compare_exchange_strong(&region->holders[i], &own, 0)) return;
  }
}
