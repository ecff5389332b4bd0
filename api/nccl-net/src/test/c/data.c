// What goes over a connection.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "scenarios.h"

static void message(side *s, void *comm, memory *m, size_t sent, size_t taken, uint32_t seed) {
  if (s->rank == 0) {
    fill(m->bytes, sent, seed);
    int size = finish(s, post_send(s, comm, m->bytes, sent, 0, m->region));
    check((size_t)size == sent, "sent %d of %zu", size, sent);
  } else {
    memset(m->bytes, 0xEE, taken);
    int size = finish(s, post_recv(s, comm, m->bytes, taken, 0, m->region));
    check((size_t)size == sent, "received %d of %zu", size, sent);
    verify(m->bytes, sent, seed, "message");
    for (size_t i = sent; i < taken; i++) {
      check(m->bytes[i] == 0xEE, "a message of %zu bytes wrote byte %zu", sent, i);
    }
  }
}

// 8 B to 16 MiB, into receives of that length and of twice that, and none at all.
void sizes(side *s) {
  const size_t most = 16u << 20;
  void *comm = connect_pair(s);
  memory m = memory_new(s, comm, 2 * most);
  uint32_t seed = 0;
  for (size_t size = 8; size <= most; size *= 4) {
    message(s, comm, &m, size, size, seed++);
    message(s, comm, &m, size - 1, 2 * size, seed++);
  }
  message(s, comm, &m, most, 2 * most, seed++);
  message(s, comm, &m, 0, 4096, seed++);
  message(s, comm, &m, 0, 0, seed++);
  message(s, comm, &m, 12345, 12345, seed++);
  memory_free(s, comm, &m);
  close_pair(s, comm);
}

// 32 requests in flight, tested from the last to the first.
void in_flight(side *s) {
  const size_t size = 64 * 1024;
  void *comm = connect_pair(s);
  memory m = memory_new(s, comm, MAX_REQUESTS * size);
  for (uint32_t round = 0; round < 20; round++) {
    void *requests[MAX_REQUESTS];
    for (uint32_t i = 0; i < MAX_REQUESTS; i++) {
      unsigned char *at = m.bytes + i * size;
      if (s->rank == 0) {
        fill(at, size, round * 100 + i);
        requests[i] = post_send(s, comm, at, size, 7, m.region);
      } else {
        requests[i] = post_recv(s, comm, at, size, 7, m.region);
      }
      for (uint32_t j = 0; j < i; j++) {
        check(requests[j] != requests[i], "requests %u and %u are the same", j, i);
      }
    }
    for (int i = MAX_REQUESTS - 1; i >= 0; i--) {
      check(finish(s, requests[i]) == (int)size, "request %d is short", i);
    }
    for (uint32_t i = 0; s->rank == 1 && i < MAX_REQUESTS; i++) {
      verify(m.bytes + i * size, size, round * 100 + i, "message in flight");
    }
  }
  memory_free(s, comm, &m);
  close_pair(s, comm);
}

// Groups of 1 to 8 receives, sent to in the order of their tags or the other way round.
void groups(side *s) {
  const size_t room = 32 * 1024;
  void *comm = connect_pair(s);
  memory m = memory_new(s, comm, MAX_RECEIVES * room);
  for (int round = 0; round < 40; round++) {
    int count = 1 + round % MAX_RECEIVES;
    if (s->rank == 0) {
      void *requests[MAX_RECEIVES];
      for (int k = 0; k < count; k++) {
        int part = round % 2 == 0 ? k : count - 1 - k;
        size_t size = (size_t)(1000 * part + round);
        fill(m.bytes + (size_t)part * room, size, (uint32_t)(round * 10 + part));
        requests[k] = post_send(s, comm, m.bytes + (size_t)part * room, size, 100 + part, m.region);
      }
      for (int k = 0; k < count; k++) {
        finish(s, requests[k]);
      }
    } else {
      void *data[MAX_RECEIVES];
      size_t lengths[MAX_RECEIVES];
      int tags[MAX_RECEIVES];
      void *regions[MAX_RECEIVES];
      for (int part = 0; part < count; part++) {
        data[part] = m.bytes + (size_t)part * room;
        lengths[part] = room;
        tags[part] = 100 + part;
        regions[part] = m.region;
      }
      void *request = NULL;
      bound b = within(PATIENCE, "a group to be posted");
      check_ok(net_irecv(&s->n, comm, count, data, lengths, tags, regions, &request));
      while (request == NULL) {
        pass(&b);
        check_ok(net_irecv(&s->n, comm, count, data, lengths, tags, regions, &request));
      }
      int done = 0;
      int got[MAX_RECEIVES] = {0};
      bound wait = within(PATIENCE, "a group");
      while (!done) {
        check_ok(net_test(&s->n, request, &done, got));
        pass(&wait);
      }
      for (int part = 0; part < count; part++) {
        check(got[part] == 1000 * part + round, "part %d of %d has %d bytes", part, count, got[part]);
        verify(data[part], (size_t)got[part], (uint32_t)(round * 10 + part), "part of a group");
      }
    }
  }
  memory_free(s, comm, &m);
  close_pair(s, comm);
}

// With JOFI_FLUSH=always, host memory is flushed as well.
void flushes(side *s) {
  const size_t size = 8192;
  void *comm = connect_pair(s);
  memory m = memory_new(s, comm, MAX_RECEIVES * size);
  int waited = 0;
  for (int round = 0; round < 100; round++) {
    message(s, comm, &m, size, size, (uint32_t)round);
    if (s->rank == 1) {
      void *data[MAX_RECEIVES];
      int lengths[MAX_RECEIVES];
      void *regions[MAX_RECEIVES];
      int count = 1 + round % MAX_RECEIVES;
      for (int part = 0; part < count; part++) {
        data[part] = m.bytes + (size_t)part * size;
        lengths[part] = part % 2 == 0 ? (int)size : 0;
        regions[part] = m.region;
      }
      void *request = (void *)1;
      check_ok(net_iflush(&s->n, comm, count, data, lengths, regions, &request));
      if (request != NULL) {
        finish(s, request);
        waited++;
      }
    }
  }
  check(s->rank == 0 || waited > 0, "no flush did anything");
  memory_free(s, comm, &m);
  close_pair(s, comm);
}

typedef struct {
  side *s;
  void *comm;
  atomic_bool stop;
  long count;
} stream;

// Sends until told to stop, and ends with a message of one byte; receives until that.
static void *run_stream(void *argument) {
  stream *t = argument;
  side *s = t->s;
  memory m = memory_new(s, t->comm, 32 * 1024);
  bool last = false;
  while (!last) {
    if (s->rank == 0) {
      last = atomic_load(&t->stop);
      size_t size = last ? 1 : m.size;
      fill(m.bytes, size, (uint32_t)t->count);
      finish(s, post_send(s, t->comm, m.bytes, size, 3, m.region));
    } else {
      int size = finish(s, post_recv(s, t->comm, m.bytes, m.size, 3, m.region));
      last = size == 1;
      verify(m.bytes, (size_t)size, (uint32_t)t->count, "streamed message");
    }
    t->count++;
  }
  memory_free(s, t->comm, &m);
  return NULL;
}

// A service thread connects, registers and closes while a progress thread sends; it registers with the communicator in
// use as well, as NCCL does where connections share one.
void service_thread(side *s) {
  stream t = {.s = s, .comm = connect_pair(s)};
  pthread_t progress;
  check(pthread_create(&progress, NULL, run_stream, &t) == 0, "no thread");
  for (int i = 0; i < 24; i++) {
    memory beside = memory_new(s, t.comm, 16 * 1024);
    void *comm = connect_pair(s);
    memory m = memory_new(s, comm, 4096);
    message(s, comm, &m, 4096, 4096, (uint32_t)i);
    memory_free(s, comm, &m);
    close_pair(s, comm);
    memory_free(s, t.comm, &beside);
  }
  meet(s);
  atomic_store(&t.stop, true);
  check(pthread_join(progress, NULL) == 0, "no join");
  // On two processors with much else to do it is one or two for each connection, and hundreds on an idle machine.
  check(t.count > 8, "only %ld messages beside 24 connections", t.count);
  printf("rank %d: %ld messages beside 24 connections\n", s->rank, t.count);
  close_pair(s, t.comm);
}

typedef struct {
  side s;
  void *comm;
  int number;
} worker;

static void *run_worker(void *argument) {
  worker *w = argument;
  memory m = memory_new(&w->s, w->comm, 256 * 1024);
  for (int i = 0; i < 150; i++) {
    size_t size = (size_t)(i * 1721 + w->number * 77) % m.size;
    message(&w->s, w->comm, &m, size, m.size, (uint32_t)(1000 * w->number + i));
  }
  memory_free(&w->s, w->comm, &m);
  close_pair(&w->s, w->comm);
  return NULL;
}

// Four communicators, each of a context of its own, driven by four threads.
void four_at_once(side *s) {
  worker workers[4];
  pthread_t running[4];
  for (int i = 0; i < 4; i++) {
    workers[i] = (worker){.s = *s, .number = i};
    check_ok(net_init(&s->n, &workers[i].s.context));
    workers[i].comm = connect_pair(&workers[i].s);
  }
  for (int i = 0; i < 4; i++) {
    check(pthread_create(&running[i], NULL, run_worker, &workers[i]) == 0, "no thread");
  }
  for (int i = 0; i < 4; i++) {
    check(pthread_join(running[i], NULL) == 0, "no join");
    side_close(&workers[i].s);
  }
}
