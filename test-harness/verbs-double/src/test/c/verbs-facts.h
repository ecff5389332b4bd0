// The probes: each plays one assumption about libfabric's providers verbs and ofi_rxm.

#pragma once

#include "plays.h"

// What holds of libfabric 1.17, and of 2.1.
const char *by(const char *old, const char *recent);

// facts-data.c
void order_of_writes(void);
void order_of_sends(void);
void immediate_after_bytes(void);
void arrival(void);
void immediates(void);
void completion(void);
void limits(void);
void inject(void);
void flush_read(void);

// facts-fence.c
void close_region(void);
void close_region_cached(void);
void close_endpoint(void);
void close_own_endpoint(void);
void write_after_close(void);
void bad_key(void);
void after_an_error(void);
void rights(void);
void two_domains(void);

// facts-peer.c
void first_contact(void);
void connecting(void);
void crossing(void);
void silent_before(void);
void silent_after(void);
void back_again(void);
void killed_peer(void);
void replaced_endpoint(void);
void shared_addresses(void);
void close_beside_silence(void);

// facts-receive.c
void no_receive(void);
void sleeping_receiver(void);
void sleeping_immediates(void);
void shared_receives(void);
void cancel(void);
