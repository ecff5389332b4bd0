// The probes: each plays one assumption about libfabric's provider efa.

#pragma once

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
