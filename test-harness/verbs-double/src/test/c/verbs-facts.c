// What jofi relies on of libfabric's provider verbs below ofi_rxm, shown on the real ones: verbs-facts list,
// verbs-facts run NAME

#include "verbs-facts.h"

#include <stdlib.h>

static const struct fact facts[] = {
    {"order-of-writes", "writes with immediate data arrive in the order of their posts", order_of_writes, 0},
    {"order-of-sends", "sends arrive in the order of their posts", order_of_sends, 0},
    {"immediate-after-bytes", "an immediate arrives after its own bytes and those of earlier writes", immediate_after_bytes, 0},
    {"arrival", "what an arrival tells: flags, length, immediate", arrival, 0},
    {"immediates", "how many bits of an immediate arrive", immediates, 0},
    {"completion", "what the completion of a write means, by size", completion, 0},
    {"limits", "sizes that fi_info tells", limits, 0},
    {"inject", "whether injected bytes are copied within the call", inject, 0},
    {"flush-read", "a read of one byte of the own memory", flush_read, 0},
    {"close-region", "whether closing a region in mid-write keeps later bytes away", close_region, 0},
    {"close-region-cached", "the same where the provider keeps registrations, as it does by itself", close_region_cached, 0},
    {"close-endpoint", "whether closing the target's endpoint in mid-write keeps later bytes away", close_endpoint, 0},
    {"close-own-endpoint", "what becomes of operations whose endpoint is closed", close_own_endpoint, 0},
    {"write-after-close", "what a write to a closed region ends with", write_after_close, 0},
    {"bad-key", "what a write with a wrong key or range ends with", bad_key, 0},
    {"after-an-error", "what becomes of operations after one that the target refused", after_an_error, 0},
    {"rights", "whether a region's remote rights are kept", rights, 0},
    {"two-domains", "whether a key of one domain opens another of the same device", two_domains, 0},
    {"first-contact", "operations of a peer that was not inserted", first_contact, 0},
    {"connecting", "who makes a connection, and whether the peer has to look at its queues for it", connecting, 0},
    {"crossing", "both sides connect to each other at once", crossing, 0},
    {"silent-before", "operations to a peer that is silent", silent_before, 0},
    {"silent-after", "writes whose peer falls silent after it has the request", silent_after, 0},
    {"back-again", "operations after a silent peer came back", back_again, 0},
    {"killed-peer", "operations to a peer that was killed", killed_peer, 0},
    {"replaced-endpoint", "operations to the address of an endpoint that was closed", replaced_endpoint, 0},
    {"shared-addresses", "whether an address vector serves two endpoints", shared_addresses, 0},
    {"close-beside-silence", "closing an endpoint whose operations go to a silent peer", close_beside_silence, 0},
    {"no-receive", "5000 sends without a receive posted", no_receive, 0},
    {"sleeping-receiver", "sends to a process that does not look at its queues", sleeping_receiver, 0},
    {"sleeping-immediates", "writes with immediate data to a process that does not look at its queues", sleeping_immediates, 0},
    {"shared-receives", "immediates with FI_OFI_RXM_USE_SRX=1", shared_receives, 0},
    {"cancel", "fi_cancel of a posted receive", cancel, 0},
    {0},
};

const char *by(const char *old, const char *recent) { return newer ? recent : old; }

static const char *name(void) { return "verbs;ofi_rxm"; }

static uint64_t greeting(void) { return 0; }

static bool take_options(int count, char **options) {
  (void)options;
  return count == 0;
}

static int node(bool target) { return target ? 2 : 1; }

// As jofi does: without libfabric's cache a region is registered as long as it is open, with the rights that it was given.
static void prepare(const struct play *play) {
  if (!play->cached) setenv("FI_MR_CACHE_MONITOR", "disabled", 1);
}

const struct subject subject = {
    .program = "verbs-facts",
    .options = "",
    .provider = "verbs;ofi_rxm",
    .variables = "VERBS_DOUBLE",
    .facts = facts,
    .name = name,
    .greeting = greeting,
    .take_options = take_options,
    .node = node,
    .prepare = prepare,
};
