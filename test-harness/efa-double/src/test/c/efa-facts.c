// What jofi relies on of libfabric's provider efa, shown on the real provider: efa-facts list, efa-facts run NAME

#include "efa-facts.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANYWHERE, NOT_DIRECT };

static const struct fact facts[] = {
    {"order-of-writes", "writes with immediate data arrive in any order", order_of_writes, ANYWHERE},
    {"order-of-sends", "sends arrive in order on efa, in any order on efa-direct", order_of_sends, ANYWHERE},
    {"immediate-after-bytes", "an immediate arrives after its own bytes, not after those of other writes",
     immediate_after_bytes, ANYWHERE},
    {"arrival", "what an arrival tells: flags, length, immediate", arrival, ANYWHERE},
    {"completion", "what the completion of a write means, by size", completion, ANYWHERE},
    {"delivery-complete", "the same with FI_DELIVERY_COMPLETE", delivery_complete, ANYWHERE},
    {"close-region", "whether closing a region in mid-write keeps later bytes away", close_region, ANYWHERE},
    {"close-region-cached", "the same where the provider keeps registrations", close_region_cached, NOT_DIRECT},
    {"close-endpoint", "whether closing the target's endpoint in mid-write keeps later bytes away", close_endpoint,
     ANYWHERE},
    {"close-own-endpoint", "what becomes of operations whose endpoint is closed", close_own_endpoint, ANYWHERE},
    {"write-after-close", "what a write to a closed region ends with", write_after_close, ANYWHERE},
    {"bad-key", "what a write with a wrong key or range ends with", bad_key, ANYWHERE},
    {"no-event-queue", "the same where the target has no event queue", no_event_queue, NOT_DIRECT},
    {"first-contact", "operations of a peer that was not inserted", first_contact, ANYWHERE},
    {"silent-before", "operations to a peer that is silent", silent_before, ANYWHERE},
    {"silent-after", "writes whose peer falls silent after it has the request", silent_after, ANYWHERE},
    {"back-again", "operations after a silent peer came back", back_again, ANYWHERE},
    {"killed-peer", "operations to a peer that was killed", killed_peer, ANYWHERE},
    {"replaced-endpoint", "operations to the address of an endpoint that was closed", replaced_endpoint, ANYWHERE},
    {"shared-addresses", "whether an address vector serves two endpoints", shared_addresses, ANYWHERE},
    {"close-beside-silence", "closing an endpoint whose operations go to a silent peer", close_beside_silence, ANYWHERE},
    {"first-long-write", "a long write as the first operation to a peer", first_long_write, ANYWHERE},
    {"options", "which options of endpoints are known, and what they say", options, ANYWHERE},
    {"limits", "sizes that fi_info and the endpoint tell", limits, ANYWHERE},
    {"immediates", "how many bits of an immediate arrive", immediates, ANYWHERE},
    {"inject", "whether injected bytes are copied within the call", inject, ANYWHERE},
    {"too-many-regions", "registering until the device is full", too_many_regions, ANYWHERE},
    {"too-many-endpoints", "opening endpoints until the device is full", too_many_endpoints, ANYWHERE},
    {"too-many-peers", "inserting peers until the device is full", too_many_peers, ANYWHERE},
    {"rights", "whether a region's remote rights are kept", rights, ANYWHERE},
    {"two-domains", "whether a key of one domain opens another of the same device", two_domains, ANYWHERE},
    {"no-receive", "5000 sends without a receive posted", no_receive, ANYWHERE},
    {"sleeping-receiver", "sends to a process that does not look at its queues", sleeping_receiver, ANYWHERE},
    {"retry-bound", "sends without a receive, retries bounded", retry_bound, ANYWHERE},
    {"immediates-use-receives", "immediates without unsolicited writes", immediates_use_receives, ANYWHERE},
    {"many-immediates", "more immediates than the completion queue holds", many_immediates, ANYWHERE},
    {"cancel", "fi_cancel of a posted receive", cancel, ANYWHERE},
    {"flush-read", "a read of one byte of the own memory", flush_read, ANYWHERE},
    {0},
};

bool direct;
static pid_t probe;

const char *by(const char *old, const char *efa, const char *efa_direct) { return direct ? efa_direct : newer ? efa : old; }

void expect_each(const char *what, struct play play, const char *send, const char *read, const char *write) {
  char text[256];
  const char *const names[] = {"send", "read", "write"}, *const expected[] = {send, read, write};
  for (int i = direct ? 2 : 0; i < (newer ? 3 : 2); i++) {
    play.generation = names[i];
    snprintf(text, sizeof text, "%s, generation %s", what, names[i]);
    expect(text, &play, expected[i]);
  }
}

static const char *name(void) { return direct ? "efa-direct" : "efa"; }

static uint64_t greeting(void) { return direct ? 0 : FI_DELIVERY_COMPLETE; }

static bool take_options(int count, char **options) {
  bool fabric = count == 2 && strcmp(options[0], "--fabric") == 0;
  probe = getpid();
  direct = fabric && strcmp(options[1], "efa-direct") == 0;
  return count == 0 || (fabric && (direct || strcmp(options[1], "efa") == 0));
}

static const char *absent(const struct fact *fact) {
  if (direct && !newer) return "this libfabric has no efa-direct";
  return direct && fact->where == NOT_DIRECT ? "there is no such case on efa-direct" : NULL;
}

// No other probe has it at the same time: shared memory of the provider's has its name.
static int node(bool target) { return (probe & 0x7fff) | (target ? 0x8000 : 0); }

static void prepare(const struct play *play) {
  set_variable("GENERATION", play->generation != NULL ? play->generation : "write");
  setenv("FI_EFA_ENABLE_SHM_TRANSFER", "0", 1);
}

static void hint(const struct play *play, struct fi_info *hints) {
  if (play->cached) hints->domain_attr->mr_mode &= ~FI_MR_LOCAL;
  hints->fabric_attr->name = strdup(name());
}

static int configure(const struct play *play, struct fid_ep *endpoint) {
  size_t retries = play->retries;
  return play->retries_set ? fi_setopt(&endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_EFA_RNR_RETRY, &retries, sizeof retries) : 0;
}

// The provider makes shared memory for its host though it is not to use it, which a killed process leaves behind.
static void remove_shared_memory(void) {
  for (int target = 0; target < 2; target++) {
    char pattern[64];
    snprintf(pattern, sizeof pattern, "/dev/shm/fe80::efad:0:%x:*", node(target));
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; i++) unlink(found.gl_pathv[i]);
    }
    globfree(&found);
  }
}

const struct subject subject = {
    .program = "efa-facts",
    .options = " [--fabric efa|efa-direct]",
    .provider = "efa",
    .variables = "EFA_DOUBLE",
    .facts = facts,
    .name = name,
    .take_options = take_options,
    .node = node,
    .greeting = greeting,
    .absent = absent,
    .prepare = prepare,
    .hint = hint,
    .configure = configure,
    .end = remove_shared_memory,
};
