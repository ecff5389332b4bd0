// What the provider says of itself, what it refuses, and what it grants.

#include "efa-facts.h"

#include <stdio.h>
#include <string.h>

// --- Options ----------------------------------------------------------------------------------------------------------

static const struct option {
  const char *name;
  int number;
  size_t size, value;
} known[] = {
    {"CUDA_API_PERMITTED", OPTION_CUDA_API_PERMITTED, sizeof(bool), 0},
    {"SHARED_MEMORY_PERMITTED", OPTION_SHARED_MEMORY_PERMITTED, sizeof(bool), 0},
    {"FI_HMEM_P2P", FI_OPT_FI_HMEM_P2P, sizeof(int), FI_HMEM_P2P_REQUIRED},
    {"EFA_RNR_RETRY", FI_OPT_EFA_RNR_RETRY, sizeof(size_t), 7},
    {"EFA_USE_DEVICE_RDMA", OPTION_USE_DEVICE_RDMA, sizeof(bool), 1},
    {"EFA_EMULATED_READ", OPTION_EMULATED_READ, sizeof(bool), 0},
    {"EFA_EMULATED_WRITE", OPTION_EMULATED_WRITE, sizeof(bool), 0},
    {"EFA_EMULATED_ATOMICS", OPTION_EMULATED_ATOMICS, sizeof(bool), 0},
    {"EFA_SENDRECV_IN_ORDER", OPTION_SENDRECV_IN_ORDER, sizeof(bool), 1},
    {"EFA_WRITE_IN_ORDER", OPTION_WRITE_IN_ORDER, sizeof(bool), 1},
    {"MAX_MSG_SIZE", OPTION_MAX_MSG_SIZE, sizeof(size_t), 0},
    {"MAX_RMA_SIZE", OPTION_MAX_RMA_SIZE, sizeof(size_t), 0},
    {"INJECT_MSG_SIZE", OPTION_INJECT_MSG_SIZE, sizeof(size_t), 0},
    {"INJECT_RMA_SIZE", OPTION_INJECT_RMA_SIZE, sizeof(size_t), 0},
};
enum { KNOWN = sizeof known / sizeof *known };

static void ask(struct node *node, const struct option *option) {
  size_t value = 0, length = option->size;
  int got = fi_getopt(&node->endpoint->fid, FI_OPT_ENDPOINT, option->number, &value, &length);
  char text[64];
  if (got == 0) {
    snprintf(text, sizeof text, "%zu", value);
  } else {
    snprintf(text, sizeof text, "%s", error_name(got, 0));
  }
  // One that was never enabled, since some may only be set there.
  struct fid_ep *fresh;
  if (fi_endpoint(node->domain, node->info, &fresh, NULL) != 0) fail(node, "fi_endpoint");
  size_t wanted = option->value != 0 || option->size != sizeof(size_t) ? option->value : value;
  int set = fi_setopt(&fresh->fid, FI_OPT_ENDPOINT, option->number, &wanted, option->size);
  fi_close(&fresh->fid);
  say(node, "get %s set %s", text, set == 0 ? "0" : error_name(set, 0));
}

static void ask_one(struct node *node) {
  ask(node, &known[node->play->kind]);
  finish(node);
}

#define UNKNOWN "get ENOPROTOOPT set ENOPROTOOPT"
#define UNLIMITED "get 18446744073709551615 set 0"

// Of 1.17, of 2.1 by the device's generation, of efa-direct.
static const char *const answers[KNOWN][5] = {
    {UNKNOWN, "get ENOPROTOOPT set EINVAL", "get ENOPROTOOPT set EINVAL", "get ENOPROTOOPT set EINVAL",
     "get ENOPROTOOPT set 0"},
    {UNKNOWN, "get ENOPROTOOPT set 0", "get ENOPROTOOPT set 0", "get ENOPROTOOPT set 0", "get ENOPROTOOPT set 0"},
    {"get 3 set EOPNOTSUPP", "get 3 set EINVAL", "get 3 set EINVAL", "get 3 set EINVAL", "get 1 set 0"},
    {"get 3 set 0", "get 3 set 0", "get 3 set 0", "get 3 set 0", "get 7 set 0"},
    {UNKNOWN, "get ENOPROTOOPT set EOPNOTSUPP", "get ENOPROTOOPT set 0", "get ENOPROTOOPT set 0",
     "get ENOPROTOOPT set 0"},
    {UNKNOWN, "get 1 set ENOPROTOOPT", "get 0 set ENOPROTOOPT", "get 0 set ENOPROTOOPT", "get 0 set ENOPROTOOPT"},
    {UNKNOWN, "get 1 set ENOPROTOOPT", "get 1 set ENOPROTOOPT", "get 0 set ENOPROTOOPT", "get 0 set ENOPROTOOPT"},
    {UNKNOWN, "get 1 set ENOPROTOOPT", "get 1 set ENOPROTOOPT", "get 1 set ENOPROTOOPT", UNKNOWN},
    {UNKNOWN, "get ENOPROTOOPT set EOPNOTSUPP", "get ENOPROTOOPT set EOPNOTSUPP", "get ENOPROTOOPT set EOPNOTSUPP",
     "get ENOPROTOOPT set EOPNOTSUPP"},
    {UNKNOWN, "get ENOPROTOOPT set EOPNOTSUPP", "get ENOPROTOOPT set EOPNOTSUPP", "get ENOPROTOOPT set EOPNOTSUPP",
     "get ENOPROTOOPT set EOPNOTSUPP"},
    {UNKNOWN, UNLIMITED, UNLIMITED, UNLIMITED, "get 8928 set 0"},
    {UNKNOWN, UNLIMITED, UNLIMITED, UNLIMITED, "get 1073741824 set 0"},
    {UNKNOWN, "get 8760 set 0", "get 8760 set 0", "get 8760 set 0", "get 32 set 0"},
    {UNKNOWN, "get 8760 set 0", "get 8760 set 0", "get 8760 set 0", "get 0 set 0"},
};

void options(void) {
  static const char *const generations[] = {"send", "read", "write"};
  struct play play = {.writer = ask_one, .target = alone};
  for (play.kind = 0; play.kind < KNOWN; play.kind++) {
    for (int i = direct ? 2 : 0; i < (newer ? 3 : 1); i++) {
      char what[64], expected[128];
      play.generation = generations[i];
      snprintf(what, sizeof what, "%s, generation %s", known[play.kind].name, generations[i]);
      snprintf(expected, sizeof expected, "writer: %s", answers[play.kind][direct ? 4 : newer ? i + 1 : 0]);
      expect(what, &play, expected);
    }
  }
}

// --- Sizes ------------------------------------------------------------------------------------------------------------

void limits(void) {
  struct play play = {.writer = tell_sizes, .target = alone};
  const char *told = by(
      "writer: longest -1, inject 8760, immediates of 8 bytes, pieces 4 and 1, queues 1024 and 4096, "
      "message order f000000100, mode, progress manual, resources managed",
      "writer: longest -1, inject 8760, immediates of 4 bytes, pieces 4 and 1, queues 1024 and 4096, "
      "message order 0, mode, progress manual, resources managed",
      "writer: longest 1073741824, inject 32, immediates of 4 bytes, pieces 2 and 1, queues 1024 and 4096, "
      "message order 0, mode CONTEXT2, progress automatic, resources managed");
  expect_each("fi_info", play, told, told, told);
}

void immediates(void) {
  struct play play = {.writer = send_immediates, .target = see_immediates};
  const char *all = "write 1122334455667788, fi_sendmsg 1122334455667788, fi_senddata 1122334455667788";
  char emulated[256];
  snprintf(emulated, sizeof emulated, "writer: 3 done; target: %s",
           newer ? all : "write 1122334455667788, fi_sendmsg 1122334455667788, fi_senddata 55667788");
  expect_each("64 bits", play, emulated, emulated,
              by("",
                 "writer: 3 done; target: write 55667788, fi_sendmsg 1122334455667788, fi_senddata 1122334455667788",
                 "writer: 3 done; target: write 55667788, fi_sendmsg 55667788, fi_senddata 55667788"));
}

// --- Inject -----------------------------------------------------------------------------------------------------------

void inject(void) {
  const char *all = "writer: 1 B, 0, 32 B, 0, 8760 B, 0";
  struct play play = {.kind = SEND, .delay_us = 1000, .writer = inject_some, .target = take_injected};
  expect("fi_inject", &play, by(all, all, "writer: 1 B, 0, 32 B, 0, 32 B, 0"));
  play.kind = WRITE;
  expect_each("fi_inject_write", play, all, all, by("", all, "writer: 1 B, ENOSYS, 32 B, ENOSYS, 32 B, ENOSYS"));
  play.writer = write_injected;
  play.target = look_at_injected;
  const char *copied = "writer: done; target: the bytes of the call", *late = "writer: done; target: later bytes";
  const char *refused = "writer: refused ENOSYS; target: no bytes";
  expect_each("FI_INJECT with a descriptor", play, newer ? copied : late, newer ? copied : late,
              direct ? refused : copied);
  play.size = 1;
  expect_each("FI_INJECT without a descriptor", play, copied, copied, direct ? refused : copied);
}

// --- Full -------------------------------------------------------------------------------------------------------------

void too_many_regions(void) {
  struct play play = {.writer = register_many, .target = alone};
  expect("regions of 64 B", &play, "writer: ENOMEM, after one is closed 0");
}

static void open_many(struct node *node) {
  int result = 0;
  const char *call = "";
  for (int i = 0; i < MOST_QUEUE_PAIRS && result == 0; i++) {
    struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_DATA, .size = 64};
    struct fi_av_attr addresses = {.type = FI_AV_TABLE};
    struct fid_ep *endpoint;
    struct fid_cq *completions;
    struct fid_av *vector;
    if ((result = fi_cq_open(node->domain, &queue, &completions, NULL)) != 0) {
      call = "fi_cq_open";
    } else if ((result = fi_av_open(node->domain, &addresses, &vector, NULL)) != 0) {
      call = "fi_av_open";
    } else if ((result = fi_endpoint(node->domain, node->info, &endpoint, NULL)) != 0) {
      call = "fi_endpoint";
    } else {
      fi_ep_bind(endpoint, &node->events->fid, 0);
      fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV);
      fi_ep_bind(endpoint, &vector->fid, 0);
      if ((result = fi_enable(endpoint)) != 0) call = "fi_enable";
    }
  }
  say(node, "%s %s", call, error_name(result, 0));
  finish(node);
}

void too_many_endpoints(void) {
  struct play play = {.writer = open_many, .target = alone};
  expect("endpoints", &play, by("writer: fi_enable EINVAL", "writer: fi_enable ENOMEM", "writer: fi_enable ENOMEM"));
}

static void insert_many(struct node *node) {
  int count = 0, inserted = 1;
  for (; count < 2000 && inserted == 1; count++) {
    uint8_t name[64];
    memcpy(name, node->name, sizeof name);
    // Another host's address.
    name[12] = (uint8_t)(0x80 | count >> 8);
    name[13] = (uint8_t)count;
    fi_addr_t peer = 0;
    inserted = fi_av_insert(node->addresses, name, 1, &peer, 0, NULL);
    if (inserted != 1) {
      const char *number = peer == FI_ADDR_NOTAVAIL ? "FI_ADDR_NOTAVAIL" : "a number";
      say(node, "fi_av_insert %s, %s", inserted < 0 ? error_name(inserted, 0) : "0", number);
    }
  }
  if (inserted == 1) say(node, "never full");
  finish(node);
}

void too_many_peers(void) {
  struct play play = {.writer = insert_many, .target = alone};
  expect("addresses of other hosts", &play, "writer: fi_av_insert 0, FI_ADDR_NOTAVAIL");
}

// --- Rights -----------------------------------------------------------------------------------------------------------

// The provider's own check, of which the target may die.
static const char unreachable[] =
    "writer: done, the peer is gone; target: SIGSEGV|writer: done; target: not written, event EIO/4111";

void rights(void) {
  struct play play = {.breaks = true, .writer = write_to_offer, .target = offer_region};
  expect_each("a write to a region without FI_REMOTE_WRITE", play, unreachable, unreachable,
              "writer: done; target: written");
}

void two_domains(void) {
  struct play play = {.kind = 1, .breaks = true, .writer = write_to_offer, .target = offer_region};
  expect_each("a write by the key of another domain", play, unreachable, unreachable, "writer: done; target: written");
}
