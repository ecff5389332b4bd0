// Looks at a wire between the software NICs of this machine, and takes their ports down and up.

#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tell_usage(FILE *to) {
  const char *name = wire_kind.name;
  fprintf(to,
          "usage: %s-wire NAME status\n"
          "       %s-wire NAME port DEVICE up|silent|mute|error|gone [NODE]\n"
          "       %s-wire NAME hold\n"
          "       %s-wire NAME remove-when-unused\n"
          "\n"
          "  status  prints what the NICs on this wire have done and what is open on them\n"
          "  port    changes device number DEVICE of every node, or of one:\n"
          "          silent  loses what it is given; operations end as unresponsive after the time-out\n"
          "          mute    loses what it is given, and never says so\n"
          "          error   takes its queue pairs into the error state\n"
          "          gone    takes the device out: the same, and nothing new can be made on it\n"
          "  hold    makes the wire, prints its path and keeps it until standard input ends\n"
          "  remove-when-unused  waits in the background and removes the wire; the first process on a wire starts it\n"
          "\n"
          "exit codes: 0 done, 1 failed (there is no such wire), 2 wrong usage\n",
          name, name, name, name);
}

static int status(struct wire *wire) {
  struct wire_counters *c = &wire->counters;
  int regions = 0, queue_pairs = 0, queues = 0;
  uint64_t registered = 0;
  for (int i = 0; i < REGIONS; i++) {
    const struct wire_region *region = &wire->regions[i];
    if (region->state == REGION_FREE || process_gone(region->pid)) continue;
    regions++;
    registered += region->length;
  }
  for (int i = 0; i < QUEUE_PAIRS; i++) queue_pairs += wire->queue_pairs[i].pid && !process_gone(wire->queue_pairs[i].pid);
  for (int i = 0; i < COMPLETION_QUEUES; i++) queues += wire->queues[i].used && !process_gone(wire->queues[i].pid);
  printf("sends %lu reads %lu writes %lu immediates %lu not-ready %lu lost %lu reordered %lu errors %lu bytes %lu "
         "violations %lu regions %d registered %lu queue-pairs %d completion-queues %d",
         c->sends, c->reads, c->writes, c->immediates, c->not_ready, c->lost, c->reordered, c->errors, c->bytes,
         c->violations, regions, registered, queue_pairs, queues);
  if (wire_kind.print_more != NULL) wire_kind.print_more(wire);
  putchar('\n');
  return 0;
}

static int set_port(struct wire *wire, const char *device, const char *name, const char *node) {
  int found = 0, state = port_state_named(name);
  char *end;
  long number = strtol(device, &end, 10);
  if (*device == '\0' || *end != '\0') {
    fprintf(stderr, "%s-wire: '%s' is no device's number\n", wire_kind.name, device);
    return 2;
  }
  if (state < 0) {
    tell_usage(stderr);
    return 2;
  }
  for (int i = 0; i < DEVICES; i++) {
    struct wire_device *d = &wire->devices[i];
    if (d->pid == 0 || d->index != number) continue;
    if (node != NULL && d->node != (atoi(node) & 0xffff)) continue;
    d->port = (uint32_t)state;
    found++;
  }
  if (found == 0) fprintf(stderr, "%s-wire: no process has opened device %s yet\n", wire_kind.name, device);
  return found == 0;
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "--help") == 0) {
    tell_usage(stdout);
    return 0;
  }
  if (count < 3) {
    tell_usage(stderr);
    return 2;
  }
  const char *name = arguments[1], *command = arguments[2];
  char path[256];
  if (!wire_path(name, path, sizeof path)) {
    fprintf(stderr, "%s-wire: '%s' cannot be the name of a wire\n", wire_kind.name, name);
    return 2;
  }
  if (strcmp(command, "remove-when-unused") == 0 && count == 3) {
    if (daemon(0, 0) != 0) return 1;
    return wire_remove_when_unused(name) != 0;
  }
  bool hold = strcmp(command, "hold") == 0 && count == 3;
  if (!hold && access(path, F_OK) != 0) {
    fprintf(stderr, "%s-wire: there is no wire %s: %s\n", wire_kind.name, name, strerror(errno));
    return 1;
  }
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return 1;
  self[length] = '\0';
  struct wire *wire = wire_open(name, self);
  if (wire == NULL) {
    fprintf(stderr, "%s-wire: cannot open %s: %s\n", wire_kind.name, path, strerror(errno));
    return 1;
  }
  if (strcmp(command, "status") == 0 && count == 3) return status(wire);
  if (strcmp(command, "port") == 0 && (count == 5 || count == 6)) {
    return set_port(wire, arguments[3], arguments[4], count == 6 ? arguments[5] : NULL);
  }
  if (hold) {
    puts(path);
    fflush(stdout);
    while (getchar() != EOF) {
    }
    return 0;
  }
  tell_usage(stderr);
  return 2;
}
