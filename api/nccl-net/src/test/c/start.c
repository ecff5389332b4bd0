// What the plugin's start costs, in processor time of all threads and on the clock.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>

#include "scenarios.h"

enum { BYTES = 4096, MESSAGES = 1000 };

typedef struct {
  double processor;
  double clock;
} moment;

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

static moment present(void) {
  struct rusage used;
  check(getrusage(RUSAGE_SELF, &used) == 0, "getrusage");
  return (moment){.processor = seconds(used.ru_utime) + seconds(used.ru_stime), .clock = now()};
}

static void say(const char *what, moment since) {
  moment end = present();
  printf("%s: %.0f ms of processor time, %.0f ms\n", what, 1e3 * (end.processor - since.processor),
         1e3 * (end.clock - since.clock));
}

static void transfer(side *s, void *sender, void *receiver, memory *from, memory *to, uint32_t seed) {
  fill(from->bytes, from->size, seed);
  void *received = post_recv(s, receiver, to->bytes, to->size, 1, to->region);
  void *sent = post_send(s, sender, from->bytes, from->size, 1, from->region);
  finish(s, sent);
  check(finish(s, received) == BYTES, "short");
  verify(to->bytes, to->size, seed, "a message to itself");
}

// To the end of init, to the end of the first message, which this process sends to itself, and of the next thousand.
void start(side *s) {
  moment begun = present();
  side_open(s);
  say("init", begun);
  void *receiver = NULL;
  void *sender = connect_here(s, &receiver);
  memory from = memory_new(s, sender, BYTES), to = memory_new(s, receiver, BYTES);
  transfer(s, sender, receiver, &from, &to, 0);
  say("first message", begun);
  for (uint32_t i = 1; i <= MESSAGES; i++) {
    transfer(s, sender, receiver, &from, &to, i);
  }
  say("a thousand more", begun);
  memory_free(s, sender, &from);
  memory_free(s, receiver, &to);
  check_ok(net_close_send(&s->n, sender));
  check_ok(net_close_recv(&s->n, receiver));
  side_close(s);
}
