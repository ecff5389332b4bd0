// What goes wrong, or is wrong.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"

// In seconds: what closing, and finding out about a peer, may take.
enum { CLOSE_BOUND = 20, LOSS_BOUND = 30 };

// Sends until a request tells how it went wrong.
static int send_until_failure(side *s, void *comm, memory *m, double seconds) {
  bound b = within(seconds, "a send to fail");
  while (true) {
    void *request = NULL;
    check_ok(net_isend(&s->n, comm, m->bytes, m->size, 1, m->region, &request));
    if (request != NULL) {
      int result = outcome(s, request, seconds);
      if (result != SUCCESS) {
        return result;
      }
    }
    pass(&b);
  }
}

static int recv_until_failure(side *s, void *comm, memory *m, double seconds) {
  bound b = within(seconds, "a receive to fail");
  while (true) {
    void *request = NULL;
    void *data = m->bytes;
    int tag = 1;
    check_ok(net_irecv(&s->n, comm, 1, &data, &m->size, &tag, &m->region, &request));
    if (request != NULL) {
      int result = outcome(s, request, seconds);
      if (result != SUCCESS) {
        return result;
      }
    }
    pass(&b);
  }
}

static void timed_close(side *s, void *comm) {
  double start = now();
  close_pair(s, comm);
  check(now() - start < CLOSE_BOUND, "closing took %.1f s", now() - start);
}

// Each side closes with requests in flight; the other finds out, and nothing touches memory that is gone.
void close_in_flight(side *s) {
  // The receiver closes under its receives.
  void *comm = connect_pair(s);
  memory m = memory_new(s, comm, 1 << 20);
  if (s->rank == 1) {
    for (int i = 0; i < 8; i++) {
      post_recv(s, comm, m.bytes, 4096, 9, m.region);
    }
    timed_close(s, comm);
    munmap(m.bytes, m.size);
    meet(s);
  } else {
    meet(s);
    check(send_until_failure(s, comm, &m, LOSS_BOUND) == REMOTE_ERROR, "no remote error");
    timed_close(s, comm);
    munmap(m.bytes, m.size);
  }
  // The sender closes under its sends.
  comm = connect_pair(s);
  m = memory_new(s, comm, 8 << 20);
  if (s->rank == 0) {
    for (int i = 0; i < 4; i++) {
      post_send(s, comm, m.bytes, m.size, 1, m.region);
    }
    timed_close(s, comm);
    munmap(m.bytes, m.size);
  } else {
    int result = recv_until_failure(s, comm, &m, LOSS_BOUND);
    check(result == REMOTE_ERROR, "result %d", result);
    timed_close(s, comm);
    munmap(m.bytes, m.size);
  }
  meet(s);
  // Memory is given back under a receive, as NCCL does when it aborts.
  comm = connect_pair(s);
  m = memory_new(s, comm, 1 << 20);
  if (s->rank == 1) {
    void *request = post_recv(s, comm, m.bytes, m.size, 1, m.region);
    memory_free(s, comm, &m);
    // Its memory is gone when deregMr returns; its end may be told later, by a thread that is busy with data.
    check(outcome(s, request, LOSS_BOUND) != SUCCESS, "the receive succeeds without its memory");
    timed_close(s, comm);
    meet(s);
  } else {
    meet(s);
    int result = send_until_failure(s, comm, &m, LOSS_BOUND);
    check(result == REMOTE_ERROR, "result %d", result);
    timed_close(s, comm);
  }
}

// A message that is longer than its receive is an error at both sides, whether or not it leaves before.
void too_long(side *s) {
  const size_t lengths[] = {1 << 20, 64};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    void *comm = connect_pair(s);
    memory m = memory_new(s, comm, lengths[i]);
    int result;
    if (s->rank == 0) {
      result = outcome(s, post_send(s, comm, m.bytes, m.size, 1, m.region), LOSS_BOUND);
      // One that left learns of it afterwards.
      result = result == SUCCESS ? send_until_failure(s, comm, &m, LOSS_BOUND) : result;
      int other = SUCCESS;
      control_get(s, &other, sizeof other);
      check((result == INVALID_USAGE && other == REMOTE_ERROR) || (result == REMOTE_ERROR && other == INVALID_USAGE),
            "%zu bytes: the sender has %d, the receiver %d", m.size, result, other);
    } else {
      memset(m.bytes, 0xEE, m.size);
      result = outcome(s, post_recv(s, comm, m.bytes, m.size / 2, 1, m.region), LOSS_BOUND);
      for (size_t at = 0; at < m.size; at++) {
        check(m.bytes[at] == 0xEE, "byte %zu of a message that is too long is written", at);
      }
      control_put(s, &result, sizeof result);
    }
    timed_close(s, comm);
    munmap(m.bytes, m.size);
    meet(s);
  }
}

// Whatever is no handle, or none any more, is an error.
void stale_handles(side *s) {
  void *comm = connect_pair(s);
  memory m = memory_new(s, comm, 4096);
  int done = 0;
  void *request = s->rank == 0 ? post_send(s, comm, m.bytes, 64, 1, m.region)
                               : post_recv(s, comm, m.bytes, 64, 1, m.region);
  finish(s, request);
  check(net_test(&s->n, request, &done, NULL) == INVALID_ARGUMENT && !done, "a request that was reported");
  void *out = NULL;
  void *data = m.bytes;
  size_t size = 64;
  int tag = 1;
  if (s->rank == 0) {
    check(net_irecv(&s->n, comm, 1, &data, &size, &tag, &m.region, &out) == INVALID_ARGUMENT, "receiving on a sender");
    check(net_isend(&s->n, comm, data, 4097, 1, m.region, &out) == INVALID_ARGUMENT && out == NULL, "past its region");
    check(net_isend(&s->n, comm, data, 64, 1, NULL, &out) == INVALID_ARGUMENT, "without a region");
    check(net_close_recv(&s->n, comm) == INVALID_ARGUMENT, "closing a sender as a receiver");
  } else {
    check(net_isend(&s->n, comm, data, 64, 1, m.region, &out) == INVALID_ARGUMENT, "sending on a receiver");
    check(net_irecv(&s->n, comm, 9, &data, &size, &tag, &m.region, &out) == INVALID_ARGUMENT, "nine receives");
    check(net_irecv(&s->n, comm, 0, &data, &size, &tag, &m.region, &out) == INVALID_ARGUMENT, "no receives");
  }
  check(net_reg_mr(&s->n, comm, NULL, 64, &out) == INVALID_ARGUMENT, "no memory");
  check(net_reg_mr(&s->n, comm, data, 0, &out) == INVALID_ARGUMENT, "no length");
  const size_t most = 1u << 30;
  void *vast = mmap(NULL, most + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check(vast != MAP_FAILED, "no address space");
  void *vast_region = NULL;
  check_ok(net_reg_mr(&s->n, comm, vast, most + 1, &vast_region));
  size_t longer = most + 1;
  check((s->rank == 0 ? net_isend(&s->n, comm, vast, longer, 1, vast_region, &out)
                      : net_irecv(&s->n, comm, 1, &vast, &longer, &tag, &vast_region, &out)) == INVALID_ARGUMENT,
        "more than is announced");
  check_ok(net_dereg_mr(&s->n, comm, vast_region));
  munmap(vast, most + 1);
  void *region = m.region;
  memory_free(s, comm, &m);
  check(net_dereg_mr(&s->n, comm, region) == INVALID_ARGUMENT, "a region that was given back");
  close_pair(s, comm);
  check(net_isend(&s->n, comm, data, 64, 1, region, &out) == INVALID_ARGUMENT, "a communicator that is closed");
  check(net_close_send(&s->n, comm) == INVALID_ARGUMENT, "closing again");
  check(net_test(&s->n, request, &done, NULL) == INVALID_ARGUMENT, "a request of a closed communicator");
  void *nonsense[] = {NULL, (void *)1, (void *)0x7ffe12345678, (void *)-1, (void *)0x0f00000000000000};
  for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
    check(net_test(&s->n, nonsense[i], &done, NULL) == INVALID_ARGUMENT, "request %p", nonsense[i]);
    check(net_close_send(&s->n, nonsense[i]) == INVALID_ARGUMENT, "send comm %p", nonsense[i]);
    check(net_close_recv(&s->n, nonsense[i]) == INVALID_ARGUMENT, "recv comm %p", nonsense[i]);
    check(net_close_listen(&s->n, nonsense[i]) == INVALID_ARGUMENT, "listener %p", nonsense[i]);
    check(net_accept(&s->n, nonsense[i], &out) == INVALID_ARGUMENT, "listener %p", nonsense[i]);
    check(net_dereg_mr(&s->n, nonsense[i], nonsense[i]) == INVALID_ARGUMENT, "region %p", nonsense[i]);
  }
  char handle[HANDLE_BYTES] = "not a handle";
  check(net_connect(&s->n, s->context, s->device, handle, &out) == INVALID_ARGUMENT && out == NULL, "a bad handle");
  check(net_listen(&s->n, s->context, 1000, handle, &out) == INVALID_ARGUMENT, "device 1000");
  if (s->version >= 11) {
    check(net_listen(&s->n, (void *)77, 0, handle, &out) == INVALID_ARGUMENT, "a bad context");
    check(net_finalize(&s->n, (void *)77) == INVALID_ARGUMENT, "a bad context");
    check(net_finalize(&s->n, NULL) == SUCCESS, "finalize after an init that failed");
  }
  // All of that has harmed nothing.
  comm = connect_pair(s);
  close_pair(s, comm);
}

// The peer is killed: what is in flight fails, what is posted after that fails, as the peer's fault.
void peer_killed(side *s) {
  void *out = connect_pair(s);
  // And one the other way, on which this side receives.
  side back = *s;
  back.rank = 1 - s->rank;
  void *in = connect_pair(&back);
  memory sent = memory_new(s, out, 1 << 20);
  memory got = memory_new(s, in, 1 << 20);
  if (s->rank == 1) {
    // Messages flow both ways until this process is no more.
    void *sending = NULL;
    void *receiving = NULL;
    bound b = within(PATIENCE, "being killed");
    while (true) {
      int done = 0;
      void *data = sent.bytes;
      size_t size = sent.size;
      int tag = 1;
      if (sending == NULL) {
        check_ok(net_isend(&s->n, in, got.bytes, got.size, 1, got.region, &sending));
      } else if (net_test(&s->n, sending, &done, NULL) == SUCCESS && done) {
        sending = NULL;
      }
      done = 0;
      if (receiving == NULL) {
        check_ok(net_irecv(&s->n, out, 1, &data, &size, &tag, &sent.region, &receiving));
      } else if (net_test(&s->n, receiving, &done, NULL) == SUCCESS && done) {
        receiving = NULL;
      }
      pass(&b);
    }
  }
  for (int i = 0; i < 20; i++) {
    void *receive = post_recv(s, in, got.bytes, got.size, 1, got.region);
    check(finish(s, post_send(s, out, sent.bytes, sent.size, 1, sent.region)) == (int)sent.size, "short");
    check(finish(s, receive) == (int)got.size, "short");
  }
  kill(s->peer, SIGKILL);
  waitpid(s->peer, NULL, 0);
  double start = now();
  check(send_until_failure(s, out, &sent, LOSS_BOUND) == REMOTE_ERROR, "a send: no remote error");
  double sends_known = now() - start;
  check(recv_until_failure(s, in, &got, LOSS_BOUND) == REMOTE_ERROR, "a receive: no remote error");
  double receives_known = now() - start;
  // Posting never fails because of a peer.
  check(send_until_failure(s, out, &sent, LOSS_BOUND) == REMOTE_ERROR, "a later send: no remote error");
  check(recv_until_failure(s, in, &got, LOSS_BOUND) == REMOTE_ERROR, "a later receive: no remote error");
  printf("peer killed: its sender knows after %.2f s, its receiver after %.2f s\n", sends_known, receives_known);
  memory_free(s, out, &sent);
  memory_free(s, in, &got);
  start = now();
  check_ok(net_close_send(&s->n, out));
  check_ok(net_close_recv(&s->n, in));
  check(now() - start < CLOSE_BOUND, "closing took %.1f s", now() - start);
}

// A child may live, exec and end, but not use the network of its parent; the parent goes on.
void fork_then_call(side *s) {
  void *comm = connect_pair(s);
  memory m = memory_new(s, comm, 4096);
  fflush(NULL);
  pid_t child = fork();
  check(child >= 0, "fork");
  if (child == 0) {
    void *out = NULL;
    int done = 0;
    char handle[HANDLE_BYTES];
    properties p;
    bool right = net_isend(&s->n, comm, m.bytes, 8, 1, m.region, &out) == SYSTEM_ERROR &&
                 net_test(&s->n, (void *)2, &done, NULL) == SYSTEM_ERROR &&
                 net_listen(&s->n, s->context, 0, handle, &out) == SYSTEM_ERROR &&
                 net_properties(&s->n, 0, &p) == SYSTEM_ERROR && net_devices(&s->n, &done) == SYSTEM_ERROR &&
                 net_close_send(&s->n, comm) == SYSTEM_ERROR;
    if (s->version >= 11) {
      right = right && net_init(&s->n, &out) == SYSTEM_ERROR && net_finalize(&s->n, s->context) == SYSTEM_ERROR;
    }
    _exit(right ? 7 : 8);
  }
  int status = 0;
  bound b = within(PATIENCE, "a forked child");
  while (waitpid(child, &status, WNOHANG) == 0) {
    pass(&b);
  }
  check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child ended with status 0x%x", status);
  check(system("true") == 0, "a subprocess");
  for (uint32_t i = 0; i < 10; i++) {
    if (s->rank == 0) {
      fill(m.bytes, m.size, i);
      finish(s, post_send(s, comm, m.bytes, m.size, 1, m.region));
    } else {
      finish(s, post_recv(s, comm, m.bytes, m.size, 1, m.region));
      verify(m.bytes, m.size, i, "after fork");
    }
  }
  memory_free(s, comm, &m);
  close_pair(s, comm);
}

// NCCL 2.20 to 2.25 is told what it needs, and goes on with its own.
void older(side *s) {
  const int versions[] = {9, 8};
  for (int i = 0; i < 2; i++) {
    s->n = net_load(s->plugin, versions[i]);
    check(strcmp(net_name(&s->n), "jofi") == 0, "the name is %s", net_name(&s->n));
    check(net_init_older(&s->n) == SYSTEM_ERROR, "init of version %d", versions[i]);
    check(warnings() == i + 1 && strstr(last_warning(), "needs NCCL 2.26") != NULL, "%s", last_warning());
  }
}

// Nothing works before init, and nothing crashes.
void early_calls(side *s) {
  s->n = net_load(s->plugin, s->version);
  int count = 0;
  void *out = NULL;
  properties p;
  check(net_devices(&s->n, &count) == INVALID_USAGE, "devices");
  check(net_properties(&s->n, 0, &p) == INVALID_USAGE, "properties");
  check(net_accept(&s->n, NULL, &out) == INVALID_USAGE, "accept");
  check(net_finalize(&s->n, NULL) == SUCCESS, "finalize of nothing");
}

// The plugin cannot start: one warning, whose text the caller of this program looks at; NCCL goes on.
void refused(side *s) {
  const char *group = getenv("GROUP");
  if (group != NULL) {
    char path[256];
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    FILE *procs = fopen(path, "w");
    check(procs != NULL && fprintf(procs, "%d", (int)getpid()) > 0 && fclose(procs) == 0, "%s", path);
  }
  s->n = net_load(s->plugin, s->version);
  int result = net_init(&s->n, &s->context);
  check(result != SUCCESS, "it started");
  check(s->context == NULL, "a context without an init");
  check(warnings() == 1, "%d warnings", warnings());
  printf("refused with %d: %s\n", result, last_warning());
  check_ok(net_finalize(&s->n, s->context));
  int devices = 0;
  check(net_init(&s->n, &s->context) != SUCCESS, "it started the second time");
  check(warnings() <= 2, "%d warnings", warnings());
  check(net_devices(&s->n, &devices) != SUCCESS, "devices without an init");
}
