// What a call costs: through the library, the upcall and the transport.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scenarios.h"

enum { WARM = 20000, MESSAGES = 100000, EMPTY_TESTS = 4 };

static long nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000L * t.tv_sec + t.tv_nsec;
}

// Times of calls of a kind.
typedef struct {
  const char *name;
  int *times;
  size_t count;
  size_t room;
} kind;

static kind kind_new(const char *name, size_t room) {
  kind k = {.name = name, .room = room, .times = malloc(room * sizeof(int))};
  check(k.times != NULL, "no memory");
  return k;
}

static void took(kind *k, long start) {
  long time = nanoseconds() - start;
  if (k->count < k->room) {
    k->times[k->count++] = (int)time;
  }
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int part(kind *k, double share) { return k->times[(size_t)(share * (double)(k->count - 1))]; }

static void print(kind *k, int clock) {
  if (k->count == 0) {
    printf("%-18s        0 calls\n", k->name);
    free(k->times);
    return;
  }
  qsort(k->times, k->count, sizeof(int), by_value);
  printf("%-18s %8zu calls  least %6d  half %6d  99 in 100 %6d\n", k->name, k->count, part(k, 0) - clock,
         part(k, 0.5) - clock, part(k, 0.99) - clock);
  free(k->times);
}

// Both ends are here, in one thread: a receive is posted, a send is posted once it may be, both are tested.
void boundary(side *s) {
  side_open(s);
  void *receiver = NULL;
  void *sender = connect_here(s, &receiver);
  memory out = memory_new(s, sender, 4096);
  memory in = memory_new(s, receiver, 4096);
  kind clock = kind_new("clock", MESSAGES);
  kind irecv = kind_new("irecv", MESSAGES);
  kind isend = kind_new("isend", MESSAGES);
  kind early = kind_new("isend, not yet", MESSAGES);
  kind pending = kind_new("test, pending", MESSAGES);
  kind over = kind_new("test, done", 2 * MESSAGES);
  kind message = kind_new("message, all of it", MESSAGES);
  bound limit = within(3 * PATIENCE, "the measurement");
  for (int i = 0; i < WARM + MESSAGES; i++) {
    if (i == WARM) {
      irecv.count = isend.count = early.count = pending.count = over.count = message.count = 0;
    }
    void *data = in.bytes, *requests[2] = {NULL, NULL};
    size_t size = 8;
    int tag = 1, done = 0;
    long begin = nanoseconds();
    took(&clock, begin);
    long start = nanoseconds();
    check_ok(net_irecv(&s->n, receiver, 1, &data, &size, &tag, &in.region, &requests[0]));
    took(&irecv, start);
    check(requests[0] != NULL, "no receive");
    for (int k = 0; k < EMPTY_TESTS; k++) {
      start = nanoseconds();
      check_ok(net_test(&s->n, requests[0], &done, NULL));
      took(&pending, start);
      check(!done, "received before it was sent");
    }
    while (requests[1] == NULL) {
      start = nanoseconds();
      check_ok(net_isend(&s->n, sender, out.bytes, size, tag, out.region, &requests[1]));
      took(requests[1] != NULL ? &isend : &early, start);
    }
    bool finished[2] = {false, false};
    while (!finished[0] || !finished[1]) {
      for (int end = 0; end < 2; end++) {
        if (!finished[end]) {
          done = 0;
          start = nanoseconds();
          check_ok(net_test(&s->n, requests[end], &done, NULL));
          finished[end] = done != 0;
          took(done ? &over : &pending, start);
        }
      }
    }
    took(&message, begin);
    check(now() < limit.end, "too slow");
  }
  qsort(clock.times, clock.count, sizeof(int), by_value);
  int own = part(&clock, 0.5);
  printf("ns per call, both ends in one thread, messages of 8 B; the clock's own %d ns are taken off\n", own);
  kind *kinds[] = {&irecv, &isend, &early, &pending, &over, &message};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    print(kinds[i], own);
  }
  free(clock.times);
  memory_free(s, sender, &out);
  memory_free(s, receiver, &in);
  check_ok(net_close_send(&s->n, sender));
  check_ok(net_close_recv(&s->n, receiver));
  side_close(s);
}
