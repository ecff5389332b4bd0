// Threads with less stack than most have.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "scenarios.h"

static void on_stack(side *s, size_t kibibytes, void *(*run)(void *)) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  check(pthread_attr_setstacksize(&attributes, kibibytes << 10) == 0, "a stack of %zu KiB", kibibytes);
  pthread_t thread;
  check(pthread_create(&thread, &attributes, run, s) == 0, "a thread with a stack of %zu KiB", kibibytes);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, NULL);
}

static void *call(void *of) {
  side *s = of;
  int devices = 0;
  for (int again = 0; again < 2; again++) {
    int result = net_devices(&s->n, &devices);
    check(result == SYSTEM_ERROR, "devices gave %d", result);
  }
  return NULL;
}

static void *exchange(void *of) {
  side *s = of;
  void *receiver = NULL;
  void *sender = connect_here(s, &receiver);
  memory out = memory_new(s, sender, 1 << 20);
  memory in = memory_new(s, receiver, 1 << 20);
  fill(out.bytes, out.size, 1);
  void *received = post_recv(s, receiver, in.bytes, in.size, 1, in.region);
  void *sent = post_send(s, sender, out.bytes, out.size, 1, out.region);
  int done[2] = {0, 0};
  bound b = within(PATIENCE, "a message to this process");
  while (!done[0] || !done[1]) {
    if (!done[0]) {
      check_ok(net_test(&s->n, received, &done[0], NULL));
    }
    if (!done[1]) {
      check_ok(net_test(&s->n, sent, &done[1], NULL));
    }
    pass(&b);
  }
  verify(in.bytes, in.size, 1, "message");
  memory_free(s, sender, &out);
  memory_free(s, receiver, &in);
  check_ok(net_close_send(&s->n, sender));
  check_ok(net_close_recv(&s->n, receiver));
  return NULL;
}

// What is too small for Java is refused with its size, each time, and said once; what is large enough serves.
void small_stacks(side *s) {
  side_open(s);
  const size_t refused[] = {64, 128};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    char words[64];
    int before = warnings();
    on_stack(s, refused[i], call);
    snprintf(words, sizeof words, "a stack of %zu KiB", refused[i]);
    check(warnings() == before + 1, "%d warnings", warnings() - before);
    check(strstr(last_warning(), words) != NULL, "no '%s': %s", words, last_warning());
  }
  on_stack(s, 256, exchange);
  side_close(s);
}
