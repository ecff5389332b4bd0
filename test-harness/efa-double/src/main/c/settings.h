// What the environment says of this process's NICs.

#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
  MOST_NICS = 8,
  SEND_PIECES = 2,
  LONGEST_INLINE = 32,
  SEND_DEPTH = 1024,
  LONGEST_PACKET = 8928,
  LONGEST_RDMA = 1 << 30,
};

enum generation { GENERATION_SEND, GENERATION_READ, GENERATION_WRITE };

struct settings {
  const char *wire;
  int devices;
  enum generation generations[MOST_NICS];
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
