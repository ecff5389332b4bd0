// Eight communicators at once over the rails of one device, some of which may fail meanwhile.
#include <stdio.h>
#include <stdlib.h>

#include "scenarios.h"

enum { COMMUNICATORS = 8, IN_FLIGHT = 2, TAG = 5 };
static const size_t LONG = 1u << 20;
static const size_t LAST = 8;

// One message after the other through each of the parts of a communicator's memory, with a tag of its own; the last one
// of each is short.
typedef struct {
  void *comm;
  memory m;
  void *requests[IN_FLIGHT];
  uint32_t messages[IN_FLIGHT];
  bool last[IN_FLIGHT];
} stream;

static uint64_t word(uint32_t seed, size_t i) {
  return (uint64_t)seed * 0x9E3779B97F4A7C15u + i * 0xBF58476D1CE4E5B9u;
}

static uint32_t seed_of(int communicator, int part, uint32_t message) {
  return message * COMMUNICATORS * IN_FLIGHT + (uint32_t)(communicator * IN_FLIGHT + part);
}

static void write_words(unsigned char *bytes, size_t size, uint32_t seed) {
  uint64_t *words = (uint64_t *)bytes;
  for (size_t i = 0; i < size / sizeof *words; i++) {
    words[i] = word(seed, i);
  }
}

static void verify_words(const unsigned char *bytes, size_t size, uint32_t seed) {
  const uint64_t *words = (const uint64_t *)bytes;
  for (size_t i = 0; i < size / sizeof *words; i++) {
    check(words[i] == word(seed, i), "word %zu of %zu is wrong", i, size / sizeof *words);
  }
}

static void post(side *s, stream *t, int communicator, int part, bool ends) {
  unsigned char *at = t->m.bytes + (size_t)part * LONG;
  uint32_t seed = seed_of(communicator, part, t->messages[part]);
  if (s->rank == 0) {
    size_t size = ends ? LAST : LONG;
    write_words(at, size, seed);
    t->last[part] = ends;
    t->requests[part] = post_send(s, t->comm, at, size, TAG + part, t->m.region);
  } else {
    t->requests[part] = post_recv(s, t->comm, at, LONG, TAG + part, t->m.region);
  }
}

// Whether it was done; its bytes are right then.
static bool take(side *s, stream *t, int communicator, int part) {
  int done = 0;
  int size = 0;
  check_ok(net_test(&s->n, t->requests[part], &done, &size));
  if (!done) {
    return false;
  }
  if (s->rank == 1) {
    t->last[part] = (size_t)size == LAST;
    check(t->last[part] || (size_t)size == LONG, "received %d bytes", size);
    verify_words(t->m.bytes + (size_t)part * LONG, (size_t)size, seed_of(communicator, part, t->messages[part]));
  }
  t->messages[part]++;
  t->requests[part] = NULL;
  return true;
}

// For RAILS_SECONDS. After a third of that rank 0 runs RAILS_FAULT, if there is one.
void rails(side *s) {
  const char *told = getenv("RAILS_SECONDS");
  double seconds = told == NULL ? 6 : atof(told);
  const char *fault = s->rank == 0 ? getenv("RAILS_FAULT") : NULL;
  int before = warnings();
  stream streams[COMMUNICATORS] = {0};
  for (int c = 0; c < COMMUNICATORS; c++) {
    streams[c].comm = connect_pair(s);
    streams[c].m = memory_new(s, streams[c].comm, IN_FLIGHT * LONG);
  }
  meet(s);
  double start = now();
  double latest = start;
  double pause = 0;
  long messages = 0;
  int open = COMMUNICATORS * IN_FLIGHT;
  for (int c = 0; c < COMMUNICATORS; c++) {
    for (int part = 0; part < IN_FLIGHT; part++) {
      post(s, &streams[c], c, part, false);
    }
  }
  bound b = within(seconds + PATIENCE, "messages over rails");
  while (open > 0) {
    pass(&b);
    if (fault != NULL && now() - start > seconds / 3) {
      check(system(fault) == 0, "failed: %s", fault);
      fault = NULL;
    }
    for (int c = 0; c < COMMUNICATORS; c++) {
      for (int part = 0; part < IN_FLIGHT; part++) {
        stream *t = &streams[c];
        if (t->requests[part] == NULL || !take(s, t, c, part)) {
          continue;
        }
        double at = now();
        pause = at - latest > pause ? at - latest : pause;
        latest = at;
        if (t->last[part]) {
          open--;
        } else {
          messages++;
          post(s, t, c, part, at - start > seconds);
        }
      }
    }
  }
  printf("rank %d: %.2f Gbit/s over %d communicators, longest pause %.0f ms, %d warnings: %s\n", s->rank,
         8e-9 * (double)messages * (double)LONG / (latest - start), COMMUNICATORS, 1e3 * pause, warnings() - before,
         last_warning());
  for (int c = 0; c < COMMUNICATORS; c++) {
    memory_free(s, streams[c].comm, &streams[c].m);
    close_pair(s, streams[c].comm);
  }
}
