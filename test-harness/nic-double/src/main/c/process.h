// How a process is on its wire: joining it, chance, what is told, and the thread of its NICs.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

extern struct wire *wire;

// Joins the wire with the first call, after which the settings are read. 0, or an errno.
int join_wire(void);
// Whether the process has begun to exit: the provider closes its devices then, whatever is still open on them, and the
// kernel does the rest.
bool is_exiting(void);
// Starts the NICs' own thread, if this process does not have it.
void start_firmware(void);
// Has that thread do this too, each time; whether anything waited, so that it shall come back soon. Once for each function.
void add_work(bool (*work)(void));
uint64_t nanoseconds(void);
uint64_t random_number(void);
bool by_chance(int percent);
// When a packet arrives that leaves now, in nanoseconds from now. Lost is late: the device sends again until it hears.
uint64_t travel_time(void);
void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

// A rule of the NIC is broken: counted, written down by name, and told on standard error.
void broke(const char *rule, const char *format, ...) __attribute__((format(printf, 2, 3)));
