#include "settings.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire.h"

struct settings settings;

static void refuse(const char *name, const char *value, const char *wanted) {
  fprintf(stderr, "efa-double: %s is '%s'; it has to be %s\n", name, value, wanted);
  _exit(2);
}

static uint64_t number(const char *name, uint64_t otherwise, uint64_t most) {
  const char *value = getenv(name);
  if (value == NULL || *value == '\0') return otherwise;
  char *end, wanted[64];
  uint64_t read = strtoull(value, &end, 10);
  snprintf(wanted, sizeof wanted, "a number from 0 to %lu", most);
  if (*end != '\0' || *value == '-' || read > most) refuse(name, value, wanted);
  return read;
}

// One value for all devices, or one for each, separated by commas; the last one holds for the rest.
static void for_each_device(const char *name, const char *otherwise, const char *wanted, int (*parse)(const char *),
                            int *values) {
  const char *given = getenv(name);
  char *copy = strdup(given != NULL && *given != '\0' ? given : otherwise), *rest = copy;
  for (int i = 0, last = 0; i < MOST_NICS; i++) {
    char *part = strsep(&rest, ",");
    if (part != NULL && (last = parse(part)) < 0) refuse(name, given, wanted);
    values[i] = last;
  }
  free(copy);
}

static int parse_generation(const char *text) {
  static const char *const names[] = {"send", "read", "write"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, names[i]) == 0) return i;
  }
  return -1;
}

static int parse_gigabits(const char *text) {
  static const char *const values[] = {"25", "100", "200", "300"};
  for (int i = 0; i < 4; i++) {
    if (strcmp(text, values[i]) == 0) return atoi(text);
  }
  return -1;
}

static void read_fault(void) {
  static const char wanted[] = "DEVICE:silent|mute|error:REQUESTS, with a device that there is and one request or more";
  const char *fault = getenv("EFA_DOUBLE_FAULT");
  settings.fault_device = -1;
  if (fault == NULL || *fault == '\0') return;
  char port[16];
  int device, length = 0;
  unsigned long after;
  bool read = sscanf(fault, "%d:%15[a-z]:%lu%n", &device, port, &after, &length) == 3 && fault[length] == '\0';
  if (!read || device < 0 || device >= settings.devices || after == 0) refuse("EFA_DOUBLE_FAULT", fault, wanted);
  int state = port_state_named(port);
  if (state <= PORT_UP) refuse("EFA_DOUBLE_FAULT", fault, wanted);
  settings.fault_device = device;
  settings.fault_port = state;
  settings.fault_after = after;
}

void read_settings(void) {
  const char *wire = getenv("EFA_DOUBLE_WIRE"), *node = getenv("EFA_DOUBLE_NODE");
  settings.wire = wire != NULL && *wire != '\0' ? strdup(wire) : "default";
  settings.devices = (int)number("EFA_DOUBLE_DEVICES", 1, MOST_NICS);
  if (settings.devices == 0) refuse("EFA_DOUBLE_DEVICES", "0", "a number from 1 to 8");
  int generations[MOST_NICS];
  for_each_device("EFA_DOUBLE_GENERATION", "write", "send, read or write", parse_generation, generations);
  for (int i = 0; i < MOST_NICS; i++) settings.generations[i] = (enum generation)generations[i];
  for_each_device("EFA_DOUBLE_GIGABITS", "100", "25, 100, 200 or 300", parse_gigabits, settings.gigabits);
  // A node is a host to the provider, which takes shared memory in place of the NIC to a peer on its own.
  settings.node = node != NULL && strcmp(node, "pid") == 0 ? (uint16_t)getpid() : (uint16_t)number("EFA_DOUBLE_NODE", 0, 65535);
  settings.seed = number("EFA_DOUBLE_SEED", 1, UINT64_MAX);
  settings.delay_ns = number("EFA_DOUBLE_DELAY_US", 0, 1000000) * 1000;
  settings.loss = (int)number("EFA_DOUBLE_LOSS", 0, 99);
  settings.not_ready = (int)number("EFA_DOUBLE_RNR", 0, 99);
  settings.timeout_ns = number("EFA_DOUBLE_TIMEOUT_MS", 1000, 3600000) * 1000000;
  settings.trace = number("EFA_DOUBLE_TRACE", 0, 1) != 0;
  read_fault();
  Dl_info self;
  char path[4096];
  if (dladdr((void *)read_settings, &self) == 0 || realpath(self.dli_fname, path) == NULL) {
    refuse("the library's own path", self.dli_fname, "a file that can be found");
  }
  *strrchr(path, '/') = '\0';
  // libibverbs keeps paths in 256 bytes.
  if (strlen(path) > 200) refuse("the library's own path", path, "of 200 bytes at most");
  snprintf(settings.home, sizeof settings.home, "%s", path);
}
