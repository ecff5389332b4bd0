// What the NICs of one machine share: a file in /dev/shm, which every process maps that opens a NIC.
//
// It holds what a device holds: queue pairs, their posted receives, completion queues, memory regions. Whoever sends
// does all the work, as a device's DMA engine would: it takes a receive off the peer's queue pair, copies into the
// peer's memory and puts a completion into the peer's queue. No thread of the peer is needed for that.

#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
  QUEUE_PAIRS = 2048,
  RECEIVE_QUEUES = 2048,
  COMPLETION_QUEUES = 512,
  REGIONS = 16384,
  DEVICES = 512,
  RECEIVES = 8192,
  COMPLETIONS = 65536,
  MOST_RECEIVE_PIECES = 4,
  HOLDERS = 32,
};

enum operation { SEND = 1, READ, WRITE, RECEIVE, RECEIVE_WRITE };
enum { WITH_IMMEDIATE = 1, UNSOLICITED = 2 };

// A port that is SILENT loses what it is given, and operations end as unanswered; a MUTE one does not even end them;
// ERROR takes the device's queue pairs into their error state; one that is GONE was taken out of its machine.
enum port_state { PORT_UP, PORT_SILENT, PORT_MUTE, PORT_ERROR, PORT_GONE };
static inline bool port_failed(uint32_t state) { return state >= PORT_ERROR; }

struct wire_completion {
  uint64_t id;
  uint32_t queue_pair, source, bytes, immediate;
  uint8_t status, operation, flags;  // the status in the NIC's own numbers, 0: well
  uint8_t gid[16];
};

struct wire_queue {
  pthread_mutex_t lock;
  pid_t pid;
  uint32_t depth;
  bool used, overrun;
  _Atomic bool armed, notify;  // whether its process asked to be told of the next completion; whether it is to be told
  _Atomic uint64_t put, taken;
};

struct wire_receive {
  uint64_t id;
  uint32_t count;
  struct ibv_sge pieces[MOST_RECEIVE_PIECES];
};

// Of one queue pair, or shared by several.
struct wire_receive_queue {
  pthread_mutex_t lock;
  pid_t pid;
  uint32_t domain, depth;
  uint64_t posted, taken;
};

struct wire_queue_pair {
  pthread_mutex_t lock;
  pid_t pid;
  _Atomic uint32_t state;
  _Atomic uint32_t outstanding;  // posted, and not polled yet
  uint32_t number, generation, domain, device;
  uint32_t queue, receives;  // where its receives complete; where they are posted
  // Of those that anybody may address.
  uint32_t qkey;
  bool unsolicited, datagram;
  // Of those that are connected.
  uint32_t remote;  // the number of the only one that it hears
  uint32_t access;  // what that one may do
  bool shared;      // its receives are a shared queue's
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
  uint16_t node, index;
  uint8_t gid[16];
  _Atomic uint32_t port;
  _Atomic uint64_t requests;
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
  struct wire_receive_queue receive_queues[RECEIVE_QUEUES];
  struct wire_queue_pair queue_pairs[QUEUE_PAIRS];
  struct wire_completion completions[COMPLETION_QUEUES][COMPLETIONS];
  struct wire_receive receives[RECEIVE_QUEUES][RECEIVES];
};

// What one kind of NIC has on its wire beyond that. Each double defines it once.
struct wire_kind {
  const char *name;      // of the double; the file is /dev/shm/NAME-WIRE
  uint32_t version;      // of its own tables
  size_t bytes;          // that they take, behind the struct wire
  void (*initialize)(struct wire *wire);    // NULL where zero is right
  void (*print_more)(struct wire *wire);    // more counters, each with a blank before it; NULL: there are none
};

extern const struct wire_kind wire_kind;

// The kind's own tables.
static inline void *own_tables(struct wire *wire) { return wire + 1; }

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
void wire_share(pthread_mutex_t *mutex);
void wire_lock(pthread_mutex_t *mutex);
void wire_unlock(pthread_mutex_t *mutex);

// Whether a process has ended, and its objects with it, as the kernel would have closed them.
bool process_gone(pid_t pid);
