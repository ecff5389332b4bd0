// Ends that come while there is traffic, and files that children are not to have.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scenarios.h"

// Sends or receives for ever.
typedef struct {
  side *side;
  void *comm;
  atomic_bool over;
  atomic_long messages;
} stream;

static void *flow(void *of) {
  stream *s = of;
  memory m = memory_new(s->side, s->comm, 64 << 10);
  while (!atomic_load(&s->over)) {
    if (s->side->rank == 0) {
      finish(s->side, post_send(s->side, s->comm, m.bytes, m.size, 1, m.region));
    } else {
      finish(s->side, post_recv(s->side, s->comm, m.bytes, m.size, 1, m.region));
    }
    atomic_fetch_add(&s->messages, 1);
  }
  memory_free(s->side, s->comm, &m);
  return NULL;
}

static void await_messages(stream *s, long count) {
  bound b = within(PATIENCE, "messages");
  while (atomic_load(&s->messages) < count) {
    pass(&b);
  }
}

// The last context ends while another thread sends or receives: what is open stays usable until it is closed.
void finalize_in_flight(side *s) {
  enum { MESSAGES = 100, AT_LEAST_AFTER = 100 };
  stream traffic = {.side = s, .comm = connect_pair(s)};
  pthread_t thread;
  check(pthread_create(&thread, NULL, flow, &traffic) == 0, "a thread");
  await_messages(&traffic, MESSAGES);
  side_close(s);
  await_messages(&traffic, atomic_load(&traffic.messages) + AT_LEAST_AFTER);
  check_ok(net_init(&s->n, &s->context));
  await_messages(&traffic, atomic_load(&traffic.messages) + AT_LEAST_AFTER);
  // The receiver may wait for one message more than the sender has sent.
  long sent = 0;
  meet(s);
  if (s->rank == 0) {
    atomic_store(&traffic.over, true);
    pthread_join(thread, NULL);
    sent = atomic_load(&traffic.messages);
    control_put(s, &sent, sizeof sent);
    meet(s);
  } else {
    control_get(s, &sent, sizeof sent);
    await_messages(&traffic, sent);
    atomic_store(&traffic.over, true);
    meet(s);
  }
  memory m = memory_new(s, traffic.comm, 64 << 10);
  if (s->rank == 0) {
    finish(s, post_send(s, traffic.comm, m.bytes, m.size, 1, m.region));
  } else {
    pthread_join(thread, NULL);
    if (atomic_load(&traffic.messages) == sent) {
      finish(s, post_recv(s, traffic.comm, m.bytes, m.size, 1, m.region));
    }
  }
  memory_free(s, traffic.comm, &m);
  close_pair(s, traffic.comm);
}

// What the JVM has open is close-on-exec: the files of its own, not the sockets of libfabric.
void files_close_on_exec(side *s) {
  enum { MAX_FILES = 4096 };
  close_pair(s, connect_pair(s));
  int seen = 0;
  for (int file = 0; file < MAX_FILES; file++) {
    char link[64], target[1024] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, target, sizeof target - 1) <= 0 ||
        (strstr(target, ".jar") == NULL && strstr(target, ".aot") == NULL && strstr(target, "/lib/modules") == NULL && strstr(target, "random") == NULL)) {
      continue;
    }
    seen++;
    check((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0, "%s stays open in children", target);
  }
  check(seen > 0, "the JVM has no files");
}
