// Network interfaces that the adapters lie behind. The provider lists the machine's with getifaddrs and asks
// rdma_bind_addr of each which device it is of; a double's devices have none, and the machine's own addresses would be
// too few. LD_LIBRARY_PATH cannot stand in for the C library, so libfabric's own reference to getifaddrs is turned to the
// one here, which adds one interface for each adapter. Only the verbs provider shall see them, not tcp: they are served
// once, after the provider has closed the device that it looks for adapters with.

#include <arpa/inet.h>
#include <elf.h>
#include <ifaddrs.h>
#include <link.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nic.h"

enum { PREFIX_MASK = 0xffff0000 };

static __thread bool asked;
static bool served;

void devices_listed(void) { asked = !served; }

uint32_t address_of(uint32_t node, int device) {
  return 10u << 24 | 77u << 16 | (node & 255) << 8 | (uint32_t)(device + 1);
}

struct interface {
  struct ifaddrs entry;
  char name[IFNAMSIZ];
  struct sockaddr_in address, mask;
};

static struct interface *new_interface(int device) {
  struct interface *added = calloc(1, sizeof *added);
  if (added == NULL) return NULL;
  snprintf(added->name, sizeof added->name, verbs_settings.links[device] == LINK_ETHERNET ? "eth%d" : "ib%d", device);
  added->address.sin_family = added->mask.sin_family = AF_INET;
  added->address.sin_addr.s_addr = htonl(address_of(settings.node, device));
  added->mask.sin_addr.s_addr = htonl(PREFIX_MASK);
  added->entry = (struct ifaddrs){.ifa_name = added->name,
                                  .ifa_flags = IFF_UP | IFF_RUNNING,
                                  .ifa_addr = (struct sockaddr *)&added->address,
                                  .ifa_netmask = (struct sockaddr *)&added->mask};
  return added;
}

// freeifaddrs frees one block: the machine's list is as it was for it, and what is added stays, a few hundred bytes a
// process.
static int with_adapters(struct ifaddrs **list) {
  int result = getifaddrs(list);
  if (result != 0 || !asked || !verbs_settings.ip) return result;
  asked = false;
  served = true;
  struct ifaddrs **last = list;
  while (*last != NULL) last = &(*last)->ifa_next;
  for (int i = 0; i < settings.devices; i++) {
    struct interface *added = new_interface(i);
    if (added == NULL) return result;
    *last = &added->entry;
    last = &added->entry.ifa_next;
  }
  return result;
}

// The provider takes dma-buf to be there if the kernel has this symbol.
static FILE *open_file(const char *path, const char *mode) {
  static char symbols[] = "0000000000000000 T ib_umem_dmabuf_get\n";
  if (strcmp(path, "/proc/kallsyms") != 0 || !verbs_settings.dmabuf) return fopen(path, mode);
  return fmemopen(symbols, sizeof symbols - 1, "r");
}

static const struct {
  const char *name;
  void *function;
} redirected[] = {{"getifaddrs", (void *)with_adapters}, {"fopen", (void *)open_file}, {"fopen64", (void *)open_file}};

// What an object calls of others, and by which names.
struct calls {
  const ElfW(Rela) *first;
  size_t count;
  const ElfW(Sym) *symbols;
  const char *names;
};

static struct calls calls_of(const struct dl_phdr_info *object) {
  struct calls calls = {0};
  const ElfW(Dyn) *entry = NULL;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC) entry = (void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  }
  for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_JMPREL) calls.first = (void *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) calls.count = entry->d_un.d_val / sizeof *calls.first;
    if (entry->d_tag == DT_SYMTAB) calls.symbols = (void *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) calls.names = (void *)entry->d_un.d_ptr;
  }
  return calls;
}

// Its page may have been made read-only after linking.
static void set_slot(void **slot, void *function) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *start = (void *)((uintptr_t)slot & ~(uintptr_t)(page - 1));
  mprotect(start, page, PROT_READ | PROT_WRITE);
  *slot = function;
  mprotect(start, page, PROT_READ);
}

static int redirect(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size;
  (void)unused;
  if (strstr(object->dlpi_name, "libfabric.so") == NULL) return 0;
  struct calls calls = calls_of(object);
  if (calls.first == NULL || calls.symbols == NULL || calls.names == NULL) return 0;
  for (size_t i = 0; i < calls.count; i++) {
    const char *name = calls.names + calls.symbols[ELF64_R_SYM(calls.first[i].r_info)].st_name;
    for (size_t k = 0; k < sizeof redirected / sizeof *redirected; k++) {
      if (strcmp(name, redirected[k].name) != 0) continue;
      set_slot((void **)(object->dlpi_addr + calls.first[i].r_offset), redirected[k].function);
    }
  }
  return 0;
}

__attribute__((constructor)) static void add_interfaces(void) { dl_iterate_phdr(redirect, NULL); }
