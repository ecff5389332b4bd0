// What the NICs of one machine share: a file in /dev/shm, which every process maps that opens a NIC.
//
// It holds what a device holds: queue pairs with their posted receives, completion queues, memory regions. Whoever
// sends does all the work, as a device's DMA engine would: it takes a receive off the peer's queue pair, copies into the
// peer's memory and puts a completion into the peer's queue. No thread of the peer is needed for that.

#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
  WIRE_VERSION = 5,
  QUEUE_PAIRS = 256,
  COMPLETION_QUEUES = 256,
  REGIONS = 16384,
  DEVICES = 512,
  KNOWN_PEERS = 128,
  RECEIVES = 8192,
  COMPLETIONS = 32768,
  RECEIVE_PIECES = 2,
  HOLDERS = 32,
};

// efa_io_comp_status of the driver: what a completion says of its operation, and the provider's vendor_err.
enum completion_status {
  STATUS_OK = 0,
  STATUS_FLUSHED = 1,
  STATUS_LOCAL_FAULT = 2,
  STATUS_BAD_ADDRESS_HANDLE = 4,
  STATUS_BAD_LKEY = 5,
  STATUS_BAD_LENGTH = 6,
  STATUS_REMOTE_ADDRESS = 7,
  STATUS_REMOTE_ABORT = 8,
  STATUS_REMOTE_QUEUE_PAIR = 9,
  STATUS_REMOTE_NOT_READY = 10,
  STATUS_REMOTE_LENGTH = 11,
  STATUS_REMOTE_STATUS = 12,
  STATUS_UNRESPONSIVE = 13,
  STATUS_UNKNOWN_PEER = 14,
  STATUS_UNREACHABLE = 15,
};

enum operation { SEND = 1, READ, WRITE, RECEIVE, RECEIVE_WRITE };
enum { WITH_IMMEDIATE = 1, UNSOLICITED = 2 };

// A port that is SILENT loses what it is given, and operations end as unresponsive; a MUTE one does not even end them;
// ERROR takes the device's queue pairs into their error state.
enum port_state { PORT_UP, PORT_SILENT, PORT_MUTE, PORT_ERROR };

struct wire_completion {
  uint64_t id;
  uint32_t queue_pair, source, bytes, immediate;
  uint8_t status, operation, flags;
  uint8_t gid[16];
};

struct wire_queue {
  pthread_mutex_t lock;
  pid_t pid;
  uint32_t depth;
  bool used, overrun;
  _Atomic uint64_t put, taken;
  struct wire_completion completions[COMPLETIONS];
};

struct wire_receive {
  uint64_t id;
  uint32_t count;
  struct ibv_sge pieces[RECEIVE_PIECES];
};

struct wire_queue_pair {
  pthread_mutex_t lock;
  pid_t pid;
  uint32_t state, number, generation, qkey, queue, domain, device, depth;
  bool unsolicited, datagram;
  uint64_t posted, taken;
  struct wire_receive receives[RECEIVES];
};

struct wire_region {
  _Atomic uint32_t state;
  _Atomic pid_t holders[HOLDERS];  // the processes that copy from it or to it, once for each copy; 0 where there is none
  pid_t pid;
  uint32_t key, generation, access, domain;
  uint64_t address, start, length;  // in the process; as peers name it
};

enum { REGION_FREE, REGION_VALID, REGION_CLOSING };

struct wire_device {
  pid_t pid;
  uint8_t gid[16];
  _Atomic uint32_t port;
  _Atomic uint64_t requests;
  struct {
    _Atomic uint32_t users;
    uint8_t gid[16];
  } known[KNOWN_PEERS];  // whom this device has an address handle for: RDMA is taken from no one else
};

struct wire_counters {
  _Atomic uint64_t sends, reads, writes, immediates, not_ready, lost, reordered, errors, bytes, violations;
};

struct wire {
  uint32_t version;
  pthread_mutex_t lock;
  uint32_t next_domain, next_queue_pair;
  struct wire_counters counters;
  struct wire_device devices[DEVICES];
  struct wire_region regions[REGIONS];
  struct wire_queue queues[COMPLETION_QUEUES];
  struct wire_queue_pair queue_pairs[QUEUE_PAIRS];
};

// Maps the wire of this name, making it if there is none. The file goes once no process has it open, however they end:
// `remover` (its path) is started for that with the first, if it is not NULL. NULL and errno if it cannot be mapped.
struct wire *wire_open(const char *name, const char *remover);

// Where the wire of this name lies; false if the name cannot be one.
bool wire_path(const char *name, char *path, size_t size);

// Waits until nobody else has the wire open, and removes it. 0, or an errno.
int wire_remove_when_unused(const char *name);

// The state of a port that is called so, -1 if none is.
int port_state_named(const char *name);

// Mutexes whose holder may be killed: the next to lock goes on with what it finds.
void wire_lock(pthread_mutex_t *mutex);
void wire_unlock(pthread_mutex_t *mutex);

// Whether a process has ended, and its objects with it, as the kernel would have closed them.
bool process_gone(pid_t pid);
