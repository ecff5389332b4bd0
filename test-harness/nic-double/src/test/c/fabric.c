#include "fabric.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "facts.h"

// Newer libraries write more into it than the header of 1.17 knows.
union error_entry {
  struct fi_cq_err_entry entry;
  char room[256];
};

uint64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void rest(unsigned ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

// Written at once, so that a process that is killed has said what it knew.
void say(struct node *node, const char *format, ...) {
  static bool begun;
  char text[1024] = ", ";
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + 2, sizeof text - 2, format, arguments);
  va_end(arguments);
  const char *from = begun ? text : text + 2;
  begun = true;
  if (write(node->report, from, strlen(from)) < 0) _exit(3);
}

void fail(struct node *node, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  say(node, "%s", text);
  _exit(0);
}

const char *error_name(int error, int provider) {
  static char texts[4][64];
  static int next;
  char *text = texts[next++ % 4];
  const char *name = error < 0 ? strerrorname_np(-error) : strerrorname_np(error);
  char number[16];
  snprintf(number, sizeof number, "%d", error);
  // FI_ENORX and the like lie above the system's errors.
  if (error == FI_ENORX) name = "ENORX";
  if (error == FI_ENOCQ) name = "ENOCQ";
  if (name == NULL) name = number;
  if (provider != 0) {
    snprintf(text, 64, "%s/%d", name, provider);
  } else {
    snprintf(text, 64, "%s", name);
  }
  return text;
}

static void must(struct node *node, const char *call, long result) {
  if (result < 0) fail(node, "%s: %s", call, fi_strerror((int)-result));
}

// --- Opening ----------------------------------------------------------------------------------------------------------

static struct fi_info *find(struct node *node) {
  struct fi_info *hints = fi_allocinfo(), *info = NULL;
  hints->caps = FI_MSG | FI_RMA | (node->play->source ? FI_SOURCE : 0);
  hints->mode = FI_CONTEXT | FI_CONTEXT2 | node->play->mode;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = node->play->order;
  hints->fabric_attr->prov_name = strdup(subject.provider);
  if (subject.hint != NULL) subject.hint(node->play, hints);
  uint32_t version = newer ? FI_VERSION(2, 1) : FI_VERSION(1, 17);
  must(node, "fi_getinfo", fi_getinfo(version, NULL, NULL, 0, hints, &info));
  fi_freeinfo(hints);
  return info;
}

struct fid_ep *open_endpoint(struct node *node, struct fid_domain *domain) {
  struct fid_ep *endpoint;
  must(node, "fi_endpoint", fi_endpoint(domain, node->info, &endpoint, NULL));
  if (node->events != NULL) must(node, "fi_ep_bind", fi_ep_bind(endpoint, &node->events->fid, 0));
  must(node, "fi_ep_bind", fi_ep_bind(endpoint, &node->completions->fid, FI_TRANSMIT | FI_RECV));
  must(node, "fi_ep_bind", fi_ep_bind(endpoint, &node->addresses->fid, 0));
  if (subject.configure != NULL) must(node, "fi_setopt", subject.configure(node->play, endpoint));
  must(node, "fi_enable", fi_enable(endpoint));
  return endpoint;
}

struct hello {
  uint8_t name[64];
  uint64_t address, key;
  pid_t pid;
};

static void exchange(struct node *node) {
  struct hello own = {.address = (uintptr_t)node->memory, .key = fi_mr_key(node->region), .pid = getpid()}, other;
  memcpy(own.name, node->name, sizeof own.name);
  if (write(node->out, &own, sizeof own) != sizeof own || read(node->in, &other, sizeof other) != sizeof other) {
    fail(node, "the peer is gone");
  }
  memcpy(node->peer_name, other.name, sizeof other.name);
  node->peer_address = other.address;
  node->peer_key = other.key;
  node->peer_pid = other.pid;
  bool insert = !node->target || !node->play->stranger;
  if (insert && fi_av_insert(node->addresses, other.name, 1, &node->peer, 0, NULL) != 1) fail(node, "fi_av_insert");
}

void open_node(struct node *node) {
  node->info = find(node);
  node->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  node->operations = calloc(OPERATIONS, sizeof *node->operations);
  node->arrivals = calloc(OPERATIONS, sizeof *node->arrivals);
  struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_DATA, .size = 32768};
  if (node->target && node->play->queue != 0) queue.size = node->play->queue;
  struct fi_av_attr addresses = {.type = FI_AV_TABLE};
  struct fi_eq_attr events = {.wait_obj = FI_WAIT_UNSPEC};
  must(node, "fi_fabric", fi_fabric(node->info->fabric_attr, &node->fabric, NULL));
  must(node, "fi_domain", fi_domain(node->fabric, node->info, &node->domain, NULL));
  must(node, "fi_cq_open", fi_cq_open(node->domain, &queue, &node->completions, NULL));
  must(node, "fi_av_open", fi_av_open(node->domain, &addresses, &node->addresses, NULL));
  if (!node->play->without_events) must(node, "fi_eq_open", fi_eq_open(node->fabric, &events, &node->events, NULL));
  node->endpoint = open_endpoint(node, node->domain);
  uint64_t rights = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  must(node, "fi_mr_reg", fi_mr_reg(node->domain, node->memory, MEMORY, rights, 0, 0, 0, &node->region, NULL));
  node->name_length = sizeof node->name;
  must(node, "fi_getname", fi_getname(&node->endpoint->fid, node->name, &node->name_length));
  exchange(node);
  node->wire = wire_open(variable("WIRE"), NULL);
  if (node->wire == NULL) fail(node, "no software NIC: start this by the run of test-harness/%s", wire_kind.name);
  // A provider that libfabric tries on its way catches these and exits with 1.
  signal(SIGSEGV, SIG_DFL);
  signal(SIGABRT, SIG_DFL);
  signal(SIGBUS, SIG_DFL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0});
}

// --- Operations -------------------------------------------------------------------------------------------------------

static ssize_t call(struct node *node, const struct work *work, struct task *operation, fi_addr_t peer) {
  struct iovec part = {node->memory + work->at, work->length};
  void *descriptor = work->bare ? NULL : fi_mr_desc(node->region);
  uint64_t flags = FI_COMPLETION | work->flags | (work->tell ? FI_REMOTE_CQ_DATA : 0);
  uint64_t base = work->own ? (uintptr_t)node->memory : node->peer_address;
  uint64_t key = work->own ? fi_mr_key(node->region) : work->other_key ? work->other_key : node->peer_key;
  struct fi_rma_iov far = {base + work->to, work->length, key};
  struct fi_msg message = {&part, &descriptor, 1, peer, operation, work->data};
  struct fi_msg_rma one_sided = {&part, &descriptor, 1, peer, &far, 1, operation, work->data};
  switch (work->verb) {
    case SEND:
      return fi_sendmsg(node->endpoint, &message, flags);
    case RECEIVE:
      message.addr = FI_ADDR_UNSPEC;
      return fi_recvmsg(node->endpoint, &message, flags);
    case WRITE:
      return fi_writemsg(node->endpoint, &one_sided, flags);
    default:
      return fi_readmsg(node->endpoint, &one_sided, flags);
  }
}

struct task *post(struct node *node, struct work work) {
  struct task *operation = &node->operations[node->posted++];
  fi_addr_t peer = node->peer;
  if (work.own && fi_av_insert(node->addresses, node->name, 1, &peer, 0, NULL) != 1) fail(node, "fi_av_insert");
  uint64_t end = milliseconds() + 5000;
  operation->begun = milliseconds();
  ssize_t result;
  while ((result = call(node, &work, operation, peer)) == -FI_EAGAIN && !work.once && milliseconds() < end) progress(node);
  if (result != 0) {
    operation->state = REFUSED;
    operation->error = (int)-result;
  }
  return operation;
}

static bool is_operation(const struct node *node, const void *context) {
  const struct task *operation = context;
  return operation >= node->operations && operation < node->operations + node->posted;
}

static void note(struct node *node, const struct fi_cq_data_entry *entry, fi_addr_t source) {
  bool arrival = (entry->flags & FI_REMOTE_CQ_DATA) && (entry->flags & (FI_RMA | FI_REMOTE_WRITE));
  struct task *operation = entry->op_context;
  if (arrival || !is_operation(node, operation)) {
    if (is_operation(node, operation)) operation->state = DONE;  // a receive that a write used up
    operation = &node->arrivals[node->arrived++];
  }
  operation->state = DONE;
  operation->flags = entry->flags;
  operation->data = entry->data;
  operation->length = entry->len;
  operation->source = source;
  operation->ended = milliseconds();
}

void progress(struct node *node) {
  struct fi_cq_data_entry entries[16];
  fi_addr_t sources[16];
  ssize_t count = fi_cq_readfrom(node->completions, entries, 16, sources);
  for (ssize_t i = 0; i < count; i++) note(node, &entries[i], sources[i]);
  if (count == -FI_EAVAIL) {
    union error_entry error = {0};
    fi_cq_readerr(node->completions, &error.entry, 0);
    struct task *operation = error.entry.op_context;
    if (is_operation(node, operation)) {
      operation->state = FAILED;
      operation->error = error.entry.err;
      operation->provider = error.entry.prov_errno;
      operation->ended = milliseconds();
    } else {
      say(node, "an error %s context: %s", operation == NULL ? "without" : "of an unknown",
          error_name(error.entry.err, error.entry.prov_errno));
    }
  }
  uint32_t event;
  char room[256];
  if (node->events != NULL && fi_eq_read(node->events, &event, room, sizeof room, 0) == -FI_EAVAIL) {
    struct fi_eq_err_entry error = {0};
    fi_eq_readerr(node->events, &error, 0);
    if (node->event == 0) {
      node->event = error.err;
      node->event_provider = error.prov_errno;
    }
  }
}

// Polls; from the time on that what is soon would have come, it leaves the processor to the peer in between.
static void progress_since(struct node *node, uint64_t begun) {
  enum { SOON_MS = 2, BETWEEN_NS = 50000 };
  progress(node);
  if (milliseconds() - begun >= SOON_MS) nanosleep(&(struct timespec){0, BETWEEN_NS}, NULL);
}

void progress_for(struct node *node, unsigned ms) {
  for (uint64_t begun = milliseconds(); milliseconds() - begun < ms;) progress_since(node, begun);
}

bool settle(struct node *node, size_t from, unsigned ms) {
  for (uint64_t begun = milliseconds(); from < node->posted; progress_since(node, begun)) {
    while (from < node->posted && node->operations[from].state != OUT) from++;
    if (milliseconds() - begun >= ms) return from == node->posted;
  }
  return true;
}

bool await_arrivals(struct node *node, size_t count, unsigned ms) {
  for (uint64_t begun = milliseconds(); node->arrived < count && milliseconds() - begun < ms;) progress_since(node, begun);
  return node->arrived >= count;
}

// --- The two together -------------------------------------------------------------------------------------------------

void tell_this(struct node *node, char what) {
  // The peer may have been killed, as is the matter of some probes.
  if (write(node->out, &what, 1) != 1 && errno != EPIPE) fail(node, "cannot tell the peer");
}

void tell(struct node *node) { tell_this(node, '\0'); }

char hear(struct node *node, bool polling) {
  struct pollfd pipe = {node->in, POLLIN, 0};
  char byte;
  for (uint64_t begun = milliseconds(); poll(&pipe, 1, polling ? 0 : 1000) == 0;) {
    if (polling) progress_since(node, begun);
  }
  if (read(node->in, &byte, 1) != 1) fail(node, "the peer is gone");
  return byte;
}

void meet(struct node *node) {
  tell(node);
  hear(node, true);
}

void greet(struct node *node) {
  // A write may be refused whose initiator is unknown: both have to be inserted first.
  size_t before = node->arrived, from = node->posted;
  meet(node);
  post(node, (struct work){WRITE, .at = MEMORY - 64, .to = MEMORY - 64, .length = 1, .tell = true, .flags = subject.greeting()});
  if (!settle(node, from, 15000) || !await_arrivals(node, before + 1, 15000)) fail(node, "no greeting");
  node->posted = from;
  node->operations[from] = (struct task){0};
  node->arrivals[before] = (struct task){0};
  node->arrived = before;
  meet(node);
}

static bool same_end(const struct task *one, const struct task *other) {
  return one->state == other->state && one->error == other->error && one->provider == other->provider;
}

void say_endings(struct node *node, size_t from) {
  for (size_t i = from; i < node->posted; i++) {
    const struct task *operation = &node->operations[i];
    size_t first = from, count = 0;
    while (first < i && !same_end(&node->operations[first], operation)) first++;
    if (first < i) continue;
    for (size_t k = i; k < node->posted; k++) count += same_end(&node->operations[k], operation);
    static const char *const ends[] = {"never ended", "done", "", "refused "};
    bool failed = operation->state == FAILED || operation->state == REFUSED;
    const char *name = failed ? error_name(operation->error, operation->provider) : "";
    if (node->posted - from == 1) {
      say(node, "%s%s", ends[operation->state], name);
    } else {
      say(node, "%zu %s%s", count, ends[operation->state], name);
    }
  }
}

void say_event(struct node *node) {
  if (node->event != 0) say(node, "event %s", error_name(node->event, node->event_provider));
}

void fill(struct node *node, size_t at, uint8_t value, size_t length) { memset(node->memory + at, value, length); }

size_t count_bytes(struct node *node, size_t at, uint8_t value, size_t length) {
  size_t count = 0;
  for (size_t i = at; i < at + length; i++) count += ((volatile uint8_t *)node->memory)[i] == value;
  return count;
}

size_t count_peer_bytes(struct node *node, size_t at, uint8_t value, size_t length) {
  uint8_t *copy = malloc(length);
  struct iovec own = {copy, length}, far = {(void *)(node->peer_address + at), length};
  if (process_vm_readv(node->peer_pid, &own, 1, &far, 1, 0) != (ssize_t)length) fail(node, "process_vm_readv");
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += copy[i] == value;
  free(copy);
  return count;
}

void set_port(struct node *node, bool own, enum port_state state) {
  int host = subject.node(own ? node->target : !node->target);
  for (int i = 0; i < DEVICES; i++) {
    struct wire_device *device = &node->wire->devices[i];
    if (device->pid != 0 && device->node == host) device->port = state;
  }
}
