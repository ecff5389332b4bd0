// The probes: each plays one assumption about libfabric's provider efa.

#pragma once

#include "plays.h"
#include "tables.h"

// Options of endpoints that are newer than the header of 1.17, with the version that they came with.
enum {
  OPTION_CUDA_API_PERMITTED = 10,        // 1.18, bool
  OPTION_SHARED_MEMORY_PERMITTED = 11,   // 1.20, bool
  OPTION_MAX_MSG_SIZE = 12,              // 2.0, size_t, as the next ones
  OPTION_MAX_RMA_SIZE = 14,
  OPTION_INJECT_MSG_SIZE = 16,
  OPTION_INJECT_RMA_SIZE = 18,
  OPTION_EMULATED_READ = -(0xefa << 16) + 1,  // 1.18, bool, as the next ones
  OPTION_EMULATED_WRITE,
  OPTION_EMULATED_ATOMICS,
  OPTION_USE_DEVICE_RDMA,
  OPTION_SENDRECV_IN_ORDER,  // 1.19
  OPTION_WRITE_IN_ORDER,     // 1.19
};

// Whether the fabric is efa-direct.
extern bool direct;

// What holds of libfabric 1.17, of 2.1, and of its fabric efa-direct.
const char *by(const char *old, const char *efa, const char *efa_direct);

// Expects it of each of the device's generations, those that differ for this libfabric.
void expect_each(const char *what, struct play play, const char *send, const char *read, const char *write);

// facts-order.c
void order_of_writes(void);
void order_of_sends(void);
void immediate_after_bytes(void);
void arrival(void);
void completion(void);
void delivery_complete(void);

// facts-fence.c
void close_region(void);
void close_region_cached(void);
void close_endpoint(void);
void close_own_endpoint(void);
void write_after_close(void);
void bad_key(void);
void no_event_queue(void);

// facts-peer.c
void first_contact(void);
void silent_before(void);
void silent_after(void);
void back_again(void);
void killed_peer(void);
void replaced_endpoint(void);
void shared_addresses(void);
void close_beside_silence(void);
void first_long_write(void);

// facts-limits.c
void options(void);
void limits(void);
void immediates(void);
void inject(void);
void too_many_regions(void);
void too_many_endpoints(void);
void too_many_peers(void);
void rights(void);
void two_domains(void);

// facts-receive.c
void no_receive(void);
void sleeping_receiver(void);
void retry_bound(void);
void immediates_use_receives(void);
void many_immediates(void);
void cancel(void);
void flush_read(void);
