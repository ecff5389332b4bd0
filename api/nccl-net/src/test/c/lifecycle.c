// What begins and ends.
#define _GNU_SOURCE
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "scenarios.h"

static void exchange(side *s, void *comm, uint32_t seed) {
  memory m = memory_new(s, comm, 4096);
  if (s->rank == 0) {
    fill(m.bytes, m.size, seed);
    check(finish(s, post_send(s, comm, m.bytes, m.size, 1, m.region)) == (int)m.size, "short send");
  } else {
    check(finish(s, post_recv(s, comm, m.bytes, m.size, 1, m.region)) == (int)m.size, "short receive");
    verify(m.bytes, m.size, seed, "exchange");
  }
  memory_free(s, comm, &m);
}

// One listener takes three connectors one after the other, and then three at once.
void listener_again(side *s) {
  char handle[HANDLE_BYTES];
  void *listener = NULL;
  if (s->rank == 1) {
    check_ok(net_listen(&s->n, s->context, s->device, handle, &listener));
    control_put(s, handle, sizeof handle);
  } else {
    control_get(s, handle, sizeof handle);
  }
  for (uint32_t i = 0; i < 3; i++) {
    void *comm = s->rank == 0 ? await_connect(s, handle) : await_accept(s, listener);
    exchange(s, comm, i);
    close_pair(s, comm);
    meet(s);
  }
  void *comms[3] = {NULL};
  if (s->rank == 0) {
    // NCCL keeps a handle per connection, in a buffer of its own.
    char handles[3][HANDLE_BYTES];
    int standing = 0;
    for (int i = 0; i < 3; i++) {
      memcpy(handles[i], handle, sizeof handle);
    }
    bound b = within(PATIENCE, "three connections");
    while (standing < 3) {
      for (int i = 0; i < 3; i++) {
        if (comms[i] == NULL) {
          check_ok(net_connect(&s->n, s->context, s->device, handles[i], &comms[i]));
          standing += comms[i] != NULL;
        }
      }
      pass(&b);
    }
  } else {
    for (int i = 0; i < 3; i++) {
      comms[i] = await_accept(s, listener);
    }
    check_ok(net_close_listen(&s->n, listener));
  }
  // In which order they stand on the two sides is open: each message tells which of them it came over.
  memory m[3];
  for (int i = 0; i < 3; i++) {
    m[i] = memory_new(s, comms[i], 64);
  }
  bool seen[3] = {false};
  void *requests[3];
  for (int i = 0; i < 3; i++) {
    m[i].bytes[0] = s->rank == 0 ? (unsigned char)i : 0xFF;
    requests[i] = s->rank == 0 ? post_send(s, comms[i], m[i].bytes, 1, 5, m[i].region)
                               : post_recv(s, comms[i], m[i].bytes, 64, 5, m[i].region);
  }
  for (int i = 0; i < 3; i++) {
    check(finish(s, requests[i]) == 1, "short");
    check(m[i].bytes[0] < 3 && !seen[m[i].bytes[0]], "message %d is not one of three", m[i].bytes[0]);
    seen[m[i].bytes[0]] = true;
  }
  for (int i = 0; i < 3; i++) {
    memory_free(s, comms[i], &m[i]);
    close_pair(s, comms[i]);
  }
}

// Ends the context, and begins again; unloads the library, and loads it again.
void again(side *s) {
  for (uint32_t i = 0; i < 4; i++) {
    void *comm = connect_pair(s);
    exchange(s, comm, i);
    close_pair(s, comm);
    side_close(s);
    int devices = 0;
    check(s->n.version == 10 || net_devices(&s->n, &devices) != SUCCESS, "devices after the last finalize");
    if (i % 2 == 1) {
      net_unload(&s->n);
      meet(s);
      side_open(s);
    } else {
      meet(s);
      check_ok(net_init(&s->n, &s->context));
    }
  }
  // NCCL's communicators that share a context end it more than once.
  void *context = NULL;
  check_ok(net_init(&s->n, &context));
  check_ok(net_finalize(&s->n, context));
  check_ok(net_finalize(&s->n, context));
  void *comm = connect_pair(s);
  exchange(s, comm, 99);
  close_pair(s, comm);
}

static int by_size(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

static void come_and_go(side *s, uint32_t seed) {
  void *comm = connect_pair(s);
  exchange(s, comm, seed);
  close_pair(s, comm);
}

// What the process holds of what a connection takes.
typedef struct {
  int files;
  int threads;
} holding;

static holding held(void) { return (holding){.files = open_files(), .threads = threads()}; }

// Files that somebody has for a moment are waited for.
static void check_nothing_more_is_held(side *s, holding before) {
  enum { PATIENCE = 40 };
  holding after = held();
  for (int i = 0; i < PATIENCE && (after.files > before.files || after.threads > before.threads + 1); i++) {
    usleep(50000);
    after = held();
  }
  printf("rank %d: files %+d, threads %+d\n", s->rank, after.files - before.files, after.threads - before.threads);
  check(after.files <= before.files, "%d files stayed open", after.files - before.files);
  check(after.threads <= before.threads + 1, "%d threads stayed", after.threads - before.threads);
}

// Connections that come and go leave no file and no thread behind.
void some_churn(side *s) {
  enum { WARM = 50, ALL = 250 };
  holding before = {0, 0};
  for (uint32_t i = 1; i <= ALL; i++) {
    come_and_go(s, i);
    if (i == WARM) before = held();
  }
  check_nothing_more_is_held(s, before);
}

// 2 500 of them leave no memory behind either. A leak shows in every window; what the JVM's compilers and collector take
// or give back comes in steps, and shm touches its rings once around.
void churn(side *s) {
  enum { WARM = 1000, ALL = 2500, WINDOW = 100, WINDOWS = (ALL - WARM) / WINDOW, LEAK_KILOBYTES = 512 };
  long grown[WINDOWS], first = 0, last = 0;
  holding before = {0, 0};
  for (uint32_t i = 1; i <= ALL; i++) {
    come_and_go(s, i);
    if (i < WARM || i % WINDOW != 0) continue;
    long now = resident_kilobytes();
    if (i == WARM) {
      first = now;
      before = held();
    } else {
      grown[(i - WARM) / WINDOW - 1] = now - last;
    }
    last = now;
  }
  qsort(grown, WINDOWS, sizeof grown[0], by_size);
  long median = grown[WINDOWS / 2];
  printf("rank %d: %ld KiB resident after %d connections, %+ld KiB after %d, median of %d: %+ld\n", s->rank, first, WARM,
         last - first, ALL, WINDOW, median);
  check_nothing_more_is_held(s, before);
  check(median < LEAK_KILOBYTES, "memory grew by %ld KiB in half of all %d connections", median, WINDOW);
}

static void on_signal(int number) { (void)number; }

static volatile sig_atomic_t children;

static void on_child(int number) {
  (void)number;
  children++;
}

extern char **environ;

// What a process has that its libraries are to leave alone.
typedef struct {
  struct sigaction actions[NSIG];
  struct rlimit files;
  sigset_t blocked;
  mode_t mask;
  unsigned rounding; // and which floating point exceptions are signals
  char folder[1024];
  char environment[1 << 16];
} surroundings;

static void look(surroundings *now) {
  memset(now, 0, sizeof *now);
  for (int number = 1; number < NSIG; number++) {
    sigaction(number, NULL, &now->actions[number]);
  }
  check(getrlimit(RLIMIT_NOFILE, &now->files) == 0, "getrlimit");
  pthread_sigmask(SIG_SETMASK, NULL, &now->blocked);
  now->mask = umask(0);
  umask(now->mask);
  // All but the exceptions that were.
  now->rounding = _mm_getcsr() & ~0x3fu;
  check(getcwd(now->folder, sizeof now->folder) != NULL, "getcwd");
  size_t used = 0;
  for (char **variable = environ; *variable != NULL; variable++) {
    used += (size_t)snprintf(now->environment + used, sizeof now->environment - used, "%s\n", *variable);
    check(used < sizeof now->environment, "a large environment");
  }
}

// A JVM lives by these: it must see them first, and passes on what is not its own. With the last it wakes its threads.
static bool is_jvms(int number) {
  return number == SIGRTMAX - 2 || number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGUSR2;
}

static void check_unchanged(const surroundings *before, const surroundings *after) {
  for (int number = 1; number < NSIG; number++) {
    check(is_jvms(number) || before->actions[number].sa_handler == after->actions[number].sa_handler,
          "signal %d was taken", number);
  }
  check(before->files.rlim_cur == after->files.rlim_cur && before->files.rlim_max == after->files.rlim_max,
        "%lu files may be open, not %lu", (unsigned long)after->files.rlim_cur, (unsigned long)before->files.rlim_cur);
  for (int number = 1; number < NSIG; number++) {
    check(sigismember(&before->blocked, number) == sigismember(&after->blocked, number), "signal %d is blocked", number);
  }
  check(before->mask == after->mask, "umask %o", after->mask);
  check(before->rounding == after->rounding, "floating point is 0x%x", after->rounding);
  check(strcmp(before->folder, after->folder) == 0, "in %s", after->folder);
  check(strcmp(before->environment, after->environment) == 0, "the environment was\n%s, and is\n%s",
        before->environment, after->environment);
}

// The JVM leaves the signals of the process, its limits, its environment and its locale to the process.
void host_unchanged(side *s) {
  static surroundings before, after;
  const int kept[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
    signal(kept[i], on_signal);
  }
  signal(SIGCHLD, on_child);
  struct rlimit files = {0, 0};
  check(getrlimit(RLIMIT_NOFILE, &files) == 0, "getrlimit");
  files.rlim_cur = 256;
  check(setrlimit(RLIMIT_NOFILE, &files) == 0, "setrlimit");
  setenv("LC_ALL", "C.UTF-8", 1);
  setlocale(LC_ALL, "C");
  look(&before);
  side_open(s);
  look(&after);
  check_unchanged(&before, &after);
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
    check(raise(kept[i]) == 0, "signal %d", kept[i]);
  }
  check(system("true") == 0, "a subprocess");
  pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  // Returns early when the signal comes.
  for (int i = 0; i < 100 && children == 0; i++) {
    usleep(100000);
  }
  check(children > 0, "SIGCHLD does not arrive");
  check(waitpid(child, NULL, 0) == child, "the child is gone");
  check(strcmp(setlocale(LC_ALL, NULL), "C") == 0, "the locale is %s", setlocale(LC_ALL, NULL));
  check(strcmp(net_name(&s->n), "jofi") == 0, "the name is %s", net_name(&s->n));
  properties p;
  int devices = 0;
  check_ok(net_devices(&s->n, &devices));
  for (int device = 0; device < devices; device++) {
    check_ok(net_properties(&s->n, device, &p));
    check(p.name != NULL && p.name[0] != 0, "device %d has no name", device);
    check(p.pciPath == NULL || access(p.pciPath, F_OK) == 0, "no %s", p.pciPath);
    check(p.guid != 0 && p.maxComms > 0 && p.maxRecvs == MAX_RECEIVES, "device %d: %d communicators, %d receives",
          device, p.maxComms, p.maxRecvs);
    check((p.ptrSupport & HOST_MEMORY) != 0, "device %d takes no host memory", device);
    check(p.maxP2pBytes > 0 && p.maxP2pBytes <= (size_t)1 << 40 && p.maxCollBytes > 0, "device %d: lengths", device);
    check(p.netDeviceType == 0 && p.netDeviceVersion == 0, "device %d: device type", device);
    check(p.vProps.ndevs == 1 && p.vProps.devs[0] == device, "device %d: members", device);
    check(s->version == 10 || p.maxMultiRequestSize == 1, "device %d: requests of several", device);
    // Of the providers that this runs with, in us.
    check(p.latency > 1 && p.latency < 100, "device %d: a latency of %f us", device, (double)p.latency);
    check(p.speed > 0 || strcmp(p.name, "shm") != 0, "device %d: no speed of shared memory", device);
    printf("device %d: %s, %d Mbit/s, %.1f us, pci %s, pointers %d\n", device, p.name, p.speed, (double)p.latency,
           p.pciPath, p.ptrSupport);
  }
  check(net_properties(&s->n, devices, &p) == INVALID_ARGUMENT, "a device too many");
  check(warnings() == 1, "%d warnings", warnings());
  side_close(s);
  look(&after);
  check_unchanged(&before, &after);
}

// Children that end by exit, as the workers of Python's multiprocessing do, while their parent has traffic.
void children_exit(side *s) {
  const char *wanted = getenv("CHILDREN");
  int all = wanted == NULL ? 50 : atoi(wanted);
  void *comm = connect_pair(s);
  for (int i = 0; i < all; i++) {
    exchange(s, comm, (uint32_t)i);
    fflush(NULL);
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
      exit(9);
    }
    int status = 0;
    bound b = within(PATIENCE, "a child that exits");
    while (waitpid(child, &status, WNOHANG) == 0) {
      usleep(100);
      pass(&b);
    }
    check(WIFEXITED(status) && WEXITSTATUS(status) == 9, "child %d ended with status 0x%x", i, status);
  }
  close_pair(s, comm);
}
