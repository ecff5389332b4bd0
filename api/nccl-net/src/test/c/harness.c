#define _GNU_SOURCE
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void die(const char *file, int line, const char *format, ...) {
  va_list arguments;
  fprintf(stderr, "FAILED in process %d: %s:%d: ", (int)getpid(), file, line);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  fflush(NULL);
  _exit(1);
}

// So often a wait yields before it sleeps.
enum { AT_ONCE = 1000 };

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bound within(double seconds, const char *what) { return (bound){.end = now() + seconds, .what = what}; }

void poll_again(bound *b) {
  check(now() < b->end, "waited too long for %s", b->what);
  sched_yield();
}

void pass(bound *b) {
  poll_again(b);
  // Short waits are no sleep; long ones leave the processors to those who are waited for.
  if (++b->passes >= AT_ONCE) {
    usleep(20);
  }
}

// Moves this process into a network namespace and what that sees as /sys, as `ip netns exec` does; nowhere if it is NULL.
static void enter_network(const char *name) {
  if (name == NULL) {
    return;
  }
  char path[256];
  snprintf(path, sizeof path, "/run/netns/%s", name);
  int network = open(path, O_RDONLY | O_CLOEXEC);
  check(network >= 0 && setns(network, CLONE_NEWNET) == 0, "%s: %s", path, strerror(errno));
  close(network);
  check(unshare(CLONE_NEWNS) == 0, "unshare: %s", strerror(errno));
  check(mount("", "/", "none", MS_SLAVE | MS_REC, NULL) == 0, "mount: %s", strerror(errno));
  umount2("/sys", MNT_DETACH);
  check(mount(name, "/sys", "sysfs", 0, NULL) == 0, "sysfs: %s", strerror(errno));
}

void side_fork(side *s) {
  int sockets[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "socketpair: %s", strerror(errno));
  struct timeval patience = {.tv_sec = 2 * PATIENCE};
  for (int i = 0; i < 2; i++) {
    setsockopt(sockets[i], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  fflush(NULL);
  s->peer = fork();
  check(s->peer >= 0, "fork: %s", strerror(errno));
  s->rank = s->peer == 0 ? 1 : 0;
  if (s->rank == 1) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  s->control = sockets[s->rank];
  close(sockets[1 - s->rank]);
  enter_network(getenv(s->rank == 0 ? "NETWORK_0" : "NETWORK_1"));
  const char *grouping = getenv(s->rank == 0 ? "GROUPING_0" : "GROUPING_1");
  if (grouping != NULL) {
    setenv("JOFI_GROUPING", grouping, 1);
  }
}

void side_open(side *s) {
  s->n = net_load(s->plugin, s->version);
  check_ok(net_init(&s->n, &s->context));
  int devices = 0;
  check_ok(net_devices(&s->n, &devices));
  check(devices > 0, "no devices");
  s->device = 0;
}

void side_close(side *s) { check_ok(net_finalize(&s->n, s->context)); }

void side_join(side *s) {
  if (s->rank != 0) {
    return;
  }
  int status = 0;
  bound b = within(PATIENCE, "the other process to end");
  while (waitpid(s->peer, &status, WNOHANG) == 0) {
    pass(&b);
  }
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process ended with status 0x%x", status);
}

void control_put(side *s, const void *bytes, size_t size) {
  check(send(s->control, bytes, size, MSG_NOSIGNAL) == (ssize_t)size, "control: %s", strerror(errno));
}

void control_get(side *s, void *bytes, size_t size) {
  ssize_t got = recv(s->control, bytes, size, MSG_WAITALL);
  check(got == (ssize_t)size, "control: got %zd of %zu: %s", got, size, strerror(errno));
}

void meet(side *s) {
  char byte = 1;
  control_put(s, &byte, 1);
  control_get(s, &byte, 1);
}

void *await_connect(side *s, void *handle) {
  void *comm = NULL;
  bound b = within(PATIENCE, "a connection");
  check_ok(net_connect(&s->n, s->context, s->device, handle, &comm));
  while (comm == NULL) {
    pass(&b);
    check_ok(net_connect(&s->n, s->context, s->device, handle, &comm));
  }
  return comm;
}

void *await_accept(side *s, void *listener) {
  void *comm = NULL;
  bound b = within(PATIENCE, "a connector");
  check_ok(net_accept(&s->n, listener, &comm));
  while (comm == NULL) {
    pass(&b);
    check_ok(net_accept(&s->n, listener, &comm));
  }
  return comm;
}

void *connect_pair(side *s) {
  char handle[HANDLE_BYTES];
  if (s->rank == 0) {
    control_get(s, handle, sizeof handle);
    return await_connect(s, handle);
  }
  void *listener = NULL;
  check_ok(net_listen(&s->n, s->context, s->device, handle, &listener));
  control_put(s, handle, sizeof handle);
  void *comm = await_accept(s, listener);
  check_ok(net_close_listen(&s->n, listener));
  return comm;
}

void *connect_here(side *s, void **receiver) {
  char handle[HANDLE_BYTES];
  void *listener = NULL;
  void *sender = NULL;
  check_ok(net_listen(&s->n, s->context, s->device, handle, &listener));
  bound b = within(PATIENCE, "a connection with this process");
  while (sender == NULL || *receiver == NULL) {
    if (sender == NULL) {
      check_ok(net_connect(&s->n, s->context, s->device, handle, &sender));
    }
    if (*receiver == NULL) {
      check_ok(net_accept(&s->n, listener, receiver));
    }
    pass(&b);
  }
  check_ok(net_close_listen(&s->n, listener));
  return sender;
}

void close_pair(side *s, void *comm) {
  check_ok(s->rank == 0 ? net_close_send(&s->n, comm) : net_close_recv(&s->n, comm));
}

memory memory_new(side *s, void *comm, size_t size) {
  memory m = {.size = size};
  m.bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(m.bytes != MAP_FAILED, "mmap: %s", strerror(errno));
  check_ok(net_reg_mr(&s->n, comm, m.bytes, size, &m.region));
  check(m.region != NULL, "regMr gave NULL");
  return m;
}

void memory_free(side *s, void *comm, memory *m) {
  check_ok(net_dereg_mr(&s->n, comm, m->region));
  check(munmap(m->bytes, m->size) == 0, "munmap: %s", strerror(errno));
}

static uint32_t next(uint32_t x) { return x * 1664525u + 1013904223u; }

void fill(unsigned char *bytes, size_t size, uint32_t seed) {
  uint32_t x = next(seed + 1);
  for (size_t i = 0; i < size; i++) {
    x = next(x);
    bytes[i] = (unsigned char)(x >> 24);
  }
}

void verify(const unsigned char *bytes, size_t size, uint32_t seed, const char *what) {
  uint32_t x = next(seed + 1);
  for (size_t i = 0; i < size; i++) {
    x = next(x);
    check(bytes[i] == (unsigned char)(x >> 24), "%s: byte %zu of %zu is wrong", what, i, size);
  }
}

void *post_send(side *s, void *comm, void *data, size_t size, int tag, void *region) {
  void *request = NULL;
  bound b = within(PATIENCE, "a send to be posted");
  check_ok(net_isend(&s->n, comm, data, size, tag, region, &request));
  while (request == NULL) {
    pass(&b);
    check_ok(net_isend(&s->n, comm, data, size, tag, region, &request));
  }
  return request;
}

void *post_recv(side *s, void *comm, void *data, size_t size, int tag, void *region) {
  void *request = (void *)1; // as NCCL does for its short protocols
  bound b = within(PATIENCE, "a receive to be posted");
  check_ok(net_irecv(&s->n, comm, 1, &data, &size, &tag, &region, &request));
  while (request == NULL) {
    pass(&b);
    check_ok(net_irecv(&s->n, comm, 1, &data, &size, &tag, &region, &request));
  }
  check(request != (void *)1, "irecv left the hint");
  return request;
}

int finish(side *s, void *request) {
  int done = 0;
  int size = 0;
  bound b = within(PATIENCE, "a request");
  check_ok(net_test(&s->n, request, &done, &size));
  while (!done) {
    pass(&b);
    check_ok(net_test(&s->n, request, &done, &size));
  }
  return size;
}

int outcome(side *s, void *request, double seconds) {
  int done = 0;
  bound b = within(seconds, "the end of a request");
  int result = net_test(&s->n, request, &done, NULL);
  while (result == SUCCESS && !done) {
    pass(&b);
    result = net_test(&s->n, request, &done, NULL);
  }
  return result;
}

long resident_kilobytes(void) {
  long kilobytes = -1;
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  check(status != NULL, "no /proc/self/status");
  while (fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1) {
      break;
    }
  }
  fclose(status);
  return kilobytes;
}

static int entries(const char *folder) {
  DIR *directory = opendir(folder);
  check(directory != NULL, "no %s", folder);
  int count = 0;
  while (readdir(directory) != NULL) {
    count++;
  }
  closedir(directory);
  return count;
}

int open_files(void) { return entries("/proc/self/fd"); }

int threads(void) { return entries("/proc/self/task"); }
