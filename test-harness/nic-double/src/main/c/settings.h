// What the environment says of this process's NICs, in variables that begin with the double's name: EFA_DOUBLE_WIRE.

#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MOST_NICS = 8 };

struct settings {
  const char *wire;
  int devices;
  int gigabits[MOST_NICS];
  uint16_t node;
  uint64_t seed;
  uint64_t delay_ns;    // a packet takes a random part of it, so that packets overtake each other
  int loss, not_ready;  // percent
  uint64_t timeout_ns;  // until an operation ends whose peer is silent
  int fault_device;     // -1: none
  int fault_port;       // the port's state after
  uint64_t fault_after; // so many requests
  bool trace;
  char home[4096];      // the folder of this library
};

extern struct settings settings;

// Reads them once; what cannot be read ends the process, which would otherwise test something else than it says.
void read_settings(void);

// For what one kind of NIC has beside them, by the name behind the double's. NULL if it is not set.
const char *setting(const char *name);
uint64_t number_setting(const char *name, uint64_t otherwise, uint64_t most);
// One value for all devices, or one for each, separated by commas; the last one holds for the rest. `parse` gives -1
// for what is no value.
void setting_of_each_device(const char *name, const char *otherwise, const char *wanted, int (*parse)(const char *),
                            int *values);
__attribute__((noreturn)) void refuse_setting(const char *name, const char *value, const char *wanted);
