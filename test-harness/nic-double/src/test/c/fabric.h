// What the probes of libfabric's providers share: two processes on two nodes, each with an endpoint of the real provider
// on a software NIC, and an account of all that its completion queue and its event queue say.

#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

enum { MEMORY = 16 << 20, OPERATIONS = 65536 };

// One operation, whose address is the context that the provider was given.
struct task {
  struct fi_context2 context;
  enum { OUT, DONE, FAILED, REFUSED } state;
  int error, provider;  // if it failed; if it was refused, the call's answer
  uint64_t flags, data, begun, ended;
  size_t length;
  fi_addr_t source;
};

struct node;

// One trial of a fact.
struct play {
  const char *generation;         // of both NICs, where they differ by it; NULL: the newest
  unsigned delay_us, timeout_ms;  // 0: the software NIC's own
  const char *setting, *value;    // an environment variable of the provider's
  uint64_t order, mode;           // FI_ORDER_*; of FI_RX_CQ_DATA
  bool source;                    // FI_SOURCE
  bool cached;                    // the provider keeps registrations
  bool without_events;            // no event queue
  bool stranger;                  // the target does not insert the writer's address
  bool breaks;                    // the provider itself breaks a rule of the NIC, or ends the process
  bool retries_set;
  size_t retries;  // FI_OPT_EFA_RNR_RETRY
  size_t queue;    // entries of the target's completion queue; 0: many
  size_t size;     // whatever the two make of it
  int kind;
  void (*writer)(struct node *), (*target)(struct node *);
};

struct node {
  const struct play *play;
  bool target;
  int in, out, report;
  pid_t peer_pid;
  struct wire *wire;
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_ep *endpoint;
  struct fid_cq *completions;
  struct fid_av *addresses;
  struct fid_eq *events;
  struct fid_mr *region;
  uint8_t *memory;
  uint8_t name[64];
  size_t name_length;
  uint8_t peer_name[64];
  fi_addr_t peer;
  uint64_t peer_address, peer_key;
  struct task *operations;
  size_t posted;
  struct task *arrivals;  // immediates of writes, in the order in which they came
  size_t arrived;
  int event, event_provider;  // the first error of the event queue
};

struct work {
  enum operation verb;  // SEND, RECEIVE, WRITE or READ
  size_t at, to, length;  // in the own memory, in the peer's
  uint64_t data;
  bool tell;  // with that immediate
  uint64_t flags;
  bool own;            // the peer is this endpoint itself
  uint64_t other_key;  // in place of the peer's region
  bool once;           // -EAGAIN is an answer
  bool bare;           // without a descriptor
};

// Whether libfabric is 2.1, and not 1.17.
extern bool newer;

// In the two processes.
void say(struct node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fail(struct node *node, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
uint64_t milliseconds(void);
void rest(unsigned ms);  // without a look at the queues

struct task *post(struct node *node, struct work work);
void progress(struct node *node);
void progress_for(struct node *node, unsigned ms);
// Until every operation from this one on has ended; false if that takes longer.
bool settle(struct node *node, size_t from, unsigned ms);
bool await_arrivals(struct node *node, size_t count, unsigned ms);
// Each side tells the other that it got here; progress is made while waiting, or not.
void tell(struct node *node);
void tell_this(struct node *node, char what);
char hear(struct node *node, bool polling);  // what was told
void meet(struct node *node);
// Says how the operations from this one on ended, those of the same end together.
void say_endings(struct node *node, size_t from);
void say_event(struct node *node);
const char *error_name(int error, int provider);

// A write and its immediate there and back, after which the two know each other's abilities.
void greet(struct node *node);
void fill(struct node *node, size_t at, uint8_t value, size_t length);
size_t count_bytes(struct node *node, size_t at, uint8_t value, size_t length);
// Of the peer's memory, as it is now.
size_t count_peer_bytes(struct node *node, size_t at, uint8_t value, size_t length);
// The port of the peer's node, or of this one.
void set_port(struct node *node, bool own, enum port_state state);
struct fid_ep *open_endpoint(struct node *node, struct fid_domain *domain);
void open_node(struct node *node);
