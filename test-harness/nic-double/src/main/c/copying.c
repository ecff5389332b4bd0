#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "objects.h"

static void skip(struct iovec **part, int *count, size_t bytes) {
  while (*count > 0 && bytes >= (*part)->iov_len) {
    bytes -= (*part)->iov_len;
    (*part)++;
    (*count)--;
  }
  if (*count > 0) {
    (*part)->iov_base = (char *)(*part)->iov_base + bytes;
    (*part)->iov_len -= bytes;
  }
}

int copy(pid_t pid, const struct iovec *own, int own_count, uint64_t from, struct iovec *far, int far_count, uint64_t bytes,
         bool out) {
  struct iovec parts[MOST_RECEIVE_PIECES], *part = parts;
  memcpy(parts, own, (size_t)own_count * sizeof *own);
  skip(&part, &own_count, from);
  while (bytes > 0) {
    struct iovec first = {part->iov_base, part->iov_len < bytes ? part->iov_len : bytes};
    ssize_t copied = out ? process_vm_writev(pid, &first, 1, far, (unsigned long)far_count, 0)
                         : process_vm_readv(pid, &first, 1, far, (unsigned long)far_count, 0);
    if (copied <= 0) return copied < 0 ? errno : EFAULT;
    bytes -= (uint64_t)copied;
    wire->counters.bytes += (uint64_t)copied;
    skip(&part, &own_count, (size_t)copied);
    skip(&far, &far_count, (size_t)copied);
  }
  return 0;
}

enum copied judge_copy(int error, pid_t pid) {
  if (error == 0) return COPIED;
  if (error == ESRCH || process_gone(pid)) return PEER_GONE;
  if (error == EPERM) {
    broke("machine", "this machine forbids copying between processes (process_vm_writev): %s", strerror(error));
  } else {
    broke("unmapped-memory", "a region of process %d or %d covers memory that is not mapped", pid, getpid());
  }
  return UNMAPPED;
}

void let_go(struct held *held) {
  while (held->count > 0) {
    struct wire_region *region = held->regions[--held->count];
    if (region != NULL) release_region(region);
  }
}

void hold_inline(void *data, size_t bytes, struct held *held) {
  held->regions[0] = NULL;
  held->parts[0] = (struct iovec){data, bytes};
  held->count = 1;
}

// -1, or the index of the piece whose key does not allow it.
static int hold_pieces(const struct ibv_sge *pieces, uint32_t count, unsigned access, uint32_t domain,
                       struct held *held) {
  held->count = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct ibv_sge *piece = &pieces[i];
    if (piece->length == 0) continue;
    struct wire_region *region = hold_region(piece->lkey, piece->addr, piece->length, access, getpid(), domain);
    if (region == NULL) {
      let_go(held);
      return (int)i;
    }
    held->regions[held->count] = region;
    held->parts[held->count] = (struct iovec){(void *)(region->address + (piece->addr - region->start)), piece->length};
    held->count++;
  }
  return -1;
}

bool hold_own(const struct wire_queue_pair *pair, unsigned operation, const struct ibv_sge *pieces, uint32_t count,
              struct held *held) {
  int bad = hold_pieces(pieces, count, operation == READ ? IBV_ACCESS_LOCAL_WRITE : 0, pair->domain, held);
  // No close of a queue pair ends before what a mute port holds back: that leaves closing the region, to take its memory
  // away from the device.
  if (bad >= 0 && wire->devices[pair->device].port != PORT_MUTE) {
    const struct ibv_sge *piece = &pieces[bad];
    broke("lkey", "operation %u of queue pair %u uses %u bytes at 0x%lx under key %x, which does not allow that",
          operation, pair->number, piece->length, piece->addr, piece->lkey);
  }
  return bad < 0;
}

enum copied fill_receive(const struct held *own, uint64_t bytes, pid_t pid, uint32_t domain, const struct wire_receive *receive,
                         uint64_t skipped) {
  struct wire_region *regions[MOST_RECEIVE_PIECES];
  struct iovec parts[MOST_RECEIVE_PIECES];
  uint64_t room = 0;
  uint32_t held = 0;
  enum copied result = COPIED;
  for (; held < receive->count; held++) {
    const struct ibv_sge *piece = &receive->pieces[held];
    regions[held] = hold_region(piece->lkey, piece->addr, piece->length, IBV_ACCESS_LOCAL_WRITE, pid, domain);
    if (regions[held] == NULL) {
      broke("lkey", "a receive of process %d has %u bytes at 0x%lx under key %x, which does not allow that", pid,
            piece->length, piece->addr, piece->lkey);
      result = BAD_KEY;
      break;
    }
    uint64_t left_out = skipped < piece->length ? skipped : piece->length;
    skipped -= left_out;
    parts[held] = (struct iovec){(void *)(regions[held]->address + (piece->addr - regions[held]->start) + left_out),
                                 piece->length - left_out};
    room += piece->length - left_out;
  }
  if (result == COPIED && room < bytes) result = TOO_SHORT;
  if (result == COPIED) {
    result = judge_copy(copy(pid, own->parts, own->count, 0, parts, (int)held, bytes, true), pid);
  }
  while (held > 0) release_region(regions[--held]);
  return result;
}
