// How a process joins the wire, and what its NICs do by themselves: a thread that carries out what is due, as a
// device's firmware would, whether the process polls or not.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "objects.h"

struct wire *wire;

static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t draws;
static pid_t firmware_of;
static _Atomic bool exiting;

enum { MOST_WORKS = 4, RETRANSMISSION_NS = 500000 };
static bool (*_Atomic works[MOST_WORKS])(void);

static void leave(void) { exiting = true; }

bool is_exiting(void) { return exiting; }

int join_wire(void) {
  int error = 0;
  pthread_mutex_lock(&joining);
  if (wire == NULL) {
    read_settings();
    if (kind.read_settings != NULL) kind.read_settings();
    char remover[sizeof settings.home + 32];
    snprintf(remover, sizeof remover, "%s/../bin/%s-wire", settings.home, wire_kind.name);
    wire = wire_open(settings.wire, remover);
    if (wire == NULL) {
      error = errno;
      fprintf(stderr, "%s: cannot open the wire '%s' in /dev/shm: %s\n", wire_kind.name, settings.wire, strerror(error));
    }
    atexit(leave);
  }
  pthread_mutex_unlock(&joining);
  return error;
}

uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t mix(uint64_t n) {
  n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9;
  n = (n ^ (n >> 27)) * 0x94D049BB133111EB;
  return n ^ (n >> 31);
}

// splitmix64 of a counter, without a lock: one sequence for each seed and node.
uint64_t random_number(void) {
  return mix(mix(settings.seed + 1) + mix(settings.node) + (++draws) * 0x9E3779B97F4A7C15);
}

bool by_chance(int percent) { return percent > 0 && random_number() % 100 < (uint64_t)percent; }

uint64_t travel_time(void) {
  uint64_t time = settings.delay_ns != 0 ? random_number() % settings.delay_ns : 0;
  while (by_chance(settings.loss)) {
    wire->counters.lost++;
    time += RETRANSMISSION_NS;
  }
  return time;
}

void trace(const char *format, ...) {
  if (!settings.trace) return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s[%d]: %s\n", wire_kind.name, getpid(), text);
}

void broke(const char *rule, const char *format, ...) {
  char text[512], line[640];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  wire->counters.violations++;
  int length = snprintf(line, sizeof line, "%s: %s (process %d)\n", rule, text, getpid());
  fprintf(stderr, "%s: broken rule %s", wire_kind.name, line);
  const char *file = setting("VIOLATIONS");
  if (file == NULL) return;
  int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, line, (size_t)length) != length) {
    fprintf(stderr, "%s: cannot write to %s: %s\n", wire_kind.name, file, strerror(errno));
  }
  if (fd >= 0) close(fd);
}

void add_work(bool (*work)(void)) {
  pthread_mutex_lock(&joining);
  int i = 0;
  while (i < MOST_WORKS - 1 && works[i] != NULL && works[i] != work) i++;
  works[i] = work;
  pthread_mutex_unlock(&joining);
}

// Often while something waits, and a thousand times a second otherwise, so that an idle process stays idle.
static void *firmware(void *unused) {
  (void)unused;
  uint64_t busy = 0;
  for (;;) {
    uint64_t now = nanoseconds();
    for (int i = 0; i < MOST_WORKS && works[i] != NULL; i++) {
      if (works[i]()) busy = now;
    }
    struct timespec pause = {.tv_nsec = now - busy < 10000000 ? 50000 : 1000000};
    nanosleep(&pause, NULL);
  }
  return NULL;
}

// Again in a child of fork, which has the queue pairs that it makes itself and no thread of its parent.
void start_firmware(void) {
  pthread_mutex_lock(&joining);
  if (firmware_of != getpid()) {
    firmware_of = getpid();
    // Peers copy from and to this process's memory; a child of fork has to allow it anew.
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, NULL, firmware, NULL) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  pthread_mutex_unlock(&joining);
}
