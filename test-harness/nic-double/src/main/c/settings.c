#include "settings.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire.h"

struct settings settings;

// efa-double's WIRE is EFA_DOUBLE_WIRE.
static const char *variable(const char *name) {
  static __thread char text[64];
  snprintf(text, sizeof text, "%s_%s", wire_kind.name, name);
  for (char *at = text; *at != '\0'; at++) *at = *at == '-' ? '_' : (char)toupper(*at);
  return text;
}

const char *setting(const char *name) {
  const char *value = getenv(variable(name));
  return value != NULL && *value != '\0' ? value : NULL;
}

void refuse_setting(const char *name, const char *value, const char *wanted) {
  fprintf(stderr, "%s: %s is '%s'; it has to be %s\n", wire_kind.name, variable(name), value, wanted);
  _exit(2);
}

static void refuse_path(const char *path, const char *wanted) {
  fprintf(stderr, "%s: the library's own path is '%s'; it has to be %s\n", wire_kind.name, path, wanted);
  _exit(2);
}

uint64_t number_setting(const char *name, uint64_t otherwise, uint64_t most) {
  const char *value = setting(name);
  if (value == NULL) return otherwise;
  char *end, wanted[64];
  uint64_t read = strtoull(value, &end, 10);
  snprintf(wanted, sizeof wanted, "a number from 0 to %lu", most);
  if (*end != '\0' || *value == '-' || read > most) refuse_setting(name, value, wanted);
  return read;
}

void setting_of_each_device(const char *name, const char *otherwise, const char *wanted, int (*parse)(const char *),
                            int *values) {
  const char *given = setting(name);
  char *copy = strdup(given != NULL ? given : otherwise), *rest = copy;
  for (int i = 0, last = 0; i < MOST_NICS; i++) {
    char *part = strsep(&rest, ",");
    if (part != NULL && (last = parse(part)) < 0) refuse_setting(name, given, wanted);
    values[i] = last;
  }
  free(copy);
}

static int parse_gigabits(const char *text) {
  static const char *const values[] = {"25", "100", "200", "300"};
  for (int i = 0; i < 4; i++) {
    if (strcmp(text, values[i]) == 0) return atoi(text);
  }
  return -1;
}

static void read_fault(void) {
  static const char wanted[] = "DEVICE:silent|mute|error|gone:REQUESTS, with a device that there is and one request or more";
  const char *fault = setting("FAULT");
  settings.fault_device = -1;
  if (fault == NULL) return;
  char port[16];
  int device, length = 0;
  unsigned long after;
  bool read = sscanf(fault, "%d:%15[a-z]:%lu%n", &device, port, &after, &length) == 3 && fault[length] == '\0';
  if (!read || device < 0 || device >= settings.devices || after == 0) refuse_setting("FAULT", fault, wanted);
  int state = port_state_named(port);
  if (state <= PORT_UP) refuse_setting("FAULT", fault, wanted);
  settings.fault_device = device;
  settings.fault_port = state;
  settings.fault_after = after;
}

void read_settings(void) {
  const char *wire = setting("WIRE"), *node = setting("NODE");
  settings.wire = wire != NULL ? strdup(wire) : "default";
  settings.devices = (int)number_setting("DEVICES", 1, MOST_NICS);
  if (settings.devices == 0) refuse_setting("DEVICES", "0", "a number from 1 to 8");
  setting_of_each_device("GIGABITS", "100", "25, 100, 200 or 300", parse_gigabits, settings.gigabits);
  // A node is a host to the provider, which may take shared memory in place of the NIC to a peer on its own.
  settings.node =
      node != NULL && strcmp(node, "pid") == 0 ? (uint16_t)getpid() : (uint16_t)number_setting("NODE", 0, 65535);
  settings.seed = number_setting("SEED", 1, UINT64_MAX);
  settings.delay_ns = number_setting("DELAY_US", 0, 1000000) * 1000;
  settings.loss = (int)number_setting("LOSS", 0, 99);
  settings.not_ready = (int)number_setting("RNR", 0, 99);
  settings.timeout_ns = number_setting("TIMEOUT_MS", 1000, 3600000) * 1000000;
  settings.trace = number_setting("TRACE", 0, 1) != 0;
  read_fault();
  Dl_info self;
  char path[4096];
  if (dladdr((void *)read_settings, &self) == 0 || realpath(self.dli_fname, path) == NULL) {
    refuse_path(self.dli_fname, "a file that can be found");
  }
  *strrchr(path, '/') = '\0';
  // libibverbs keeps paths in 256 bytes.
  if (strlen(path) > 200) refuse_path(path, "of 200 bytes at most");
  snprintf(settings.home, sizeof settings.home, "%s", path);
}
