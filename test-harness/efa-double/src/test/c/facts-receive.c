// What arrives at a receiver that is not ready, and what the local calls on receives do.

#include "facts.h"

#include <stdio.h>
#include <string.h>

#include "fabric.h"

enum { MANY = 5000, QUEUE = 1024 };

// Counts that hang on the length of a queue differ by what the provider itself has in it.
static void say_count(struct node *node, size_t count, size_t all, const char *what) {
  if (count == all || count == 0) {
    say(node, "%s %s", count == 0 ? "none" : "all", what);
  } else if (count > 2 * QUEUE && (count + 64) % QUEUE < 128) {
    say(node, "about %zu %s", (count + 64) / QUEUE * QUEUE, what);
  } else {
    say(node, "%zu %s", count, what);
  }
}

static size_t count_done(const struct node *node, size_t from) {
  size_t done = 0;
  for (size_t i = from; i < node->posted; i++) done += node->operations[i].state == DONE;
  return done;
}

static void post_until_refused(struct node *node, size_t count, struct work work) {
  // As many as there are, or as fit: a second of refusals is the end.
  uint64_t last = milliseconds();
  for (size_t i = 0; i < count && milliseconds() < last + 1000;) {
    work.once = true;
    struct task *one = post(node, work);
    if (one->state != REFUSED) {
      i++;
      last = milliseconds();
      continue;
    }
    if (one->error != FI_EAGAIN) return;
    *one = (struct task){0};
    node->posted--;
    progress(node);
  }
}

// --- Sends without a receive ------------------------------------------------------------------------------------------

static void say_failures(struct node *node) {
  size_t first = 0, failed = 0;
  for (size_t i = node->posted; i-- > 0;) {
    if (node->operations[i].state != FAILED) continue;
    first = i;
    failed++;
  }
  if (failed > 0) say_count(node, failed, MANY, error_name(node->operations[first].error, node->operations[first].provider));
}

static void send_many(struct node *node) {
  greet(node);
  post_until_refused(node, MANY, (struct work){SEND, .length = 100});
  settle(node, 0, 1500);
  say_count(node, node->posted, MANY, "posted");
  say_count(node, count_done(node, 0), MANY, "done");
  say_failures(node);
  tell(node);
  settle(node, 0, 3000);
  say(node, "with receives");
  say_count(node, count_done(node, 0), node->posted, "done");
  meet(node);
}

static void take_many(struct node *node) {
  greet(node);
  bool sleeps = node->play->kind == 1;
  hear(node, !sleeps);
  for (int i = 0; i < MANY; i++) post(node, (struct work){RECEIVE, .length = 128, .once = true});
  progress_for(node, 2500);
  say_count(node, count_done(node, 0), MANY, "arrived");
  say_event(node);
  meet(node);
}

void no_receive(void) {
  struct play play = {.writer = send_many, .target = take_many};
  const char *taken = "writer: all posted, all done, with receives, all done; target: all arrived";
  expect("5000 sends of 100 B", &play,
         by(taken, taken, "writer: 1024 posted, none done, with receives, all done; target: 1024 arrived"));
}

void sleeping_receiver(void) {
  struct play play = {.kind = 1, .writer = send_many, .target = take_many};
  const char *bounded = "writer: all posted, about 4096 done, with receives, all done; target: all arrived";
  expect("5000 sends of 100 B", &play,
         by(bounded, bounded, "writer: 1024 posted, none done, with receives, all done; target: 1024 arrived"));
}

void retry_bound(void) {
  struct play play = {.kind = 1, .retries_set = true, .retries = 2, .writer = send_many, .target = take_many};
  const char *bounded = "writer: all posted, about 4096 done, with receives, all done; target: all arrived";
  expect("5000 sends of 100 B, FI_OPT_EFA_RNR_RETRY 2", &play,
         by(bounded, bounded,
            "writer: all posted, none done, all ENORX/10, with receives, none done; target: none arrived"));
}

// --- Immediates -------------------------------------------------------------------------------------------------------

static void write_many(struct node *node) {
  greet(node);
  size_t from = node->posted;
  post_until_refused(node, node->play->size, (struct work){WRITE, .length = 100, .tell = true});
  settle(node, from, 1500);
  say_count(node, node->posted - from, node->play->size, "posted");
  say_count(node, count_done(node, from), node->play->size, "done");
  tell(node);
  settle(node, from, 3000);
  say(node, "once the target looks");
  say_count(node, count_done(node, from), node->posted - from, "done");
  meet(node);
}

static void sleep_over_writes(struct node *node) {
  greet(node);
  hear(node, false);
  await_arrivals(node, node->play->size, 2500);
  if (node->play->queue != 0 && node->arrived < 2 * node->play->queue) {
    say(node, "hardly more arrived than the queue holds");
  } else {
    say_count(node, node->arrived, node->play->size, "arrived");
  }
  say_event(node);
  meet(node);
}

// A few receives on either side, of which the greeting takes one.
static void post_receives(struct node *node) {
  for (int i = 0; i < 40; i++) post(node, (struct work){RECEIVE, .length = 128});
}

static void write_to_receives(struct node *node) {
  post_receives(node);
  write_many(node);
}

static void sleep_over_receives(struct node *node) {
  post_receives(node);
  greet(node);
  hear(node, false);
  progress_for(node, 100);
  say_count(node, node->arrived, node->play->size, "arrived");
  for (int i = 0; i < 100; i++) post(node, (struct work){RECEIVE, .length = 128});
  await_arrivals(node, node->play->size, 2500);
  say_count(node, node->arrived, node->play->size, "with more receives");
  meet(node);
}

void immediates_use_receives(void) {
  struct play play = {.size = direct ? 100 : 5000, .mode = FI_RX_CQ_DATA, .setting = "FI_EFA_USE_UNSOLICITED_WRITE_RECV",
                      .value = "0", .writer = direct ? write_to_receives : write_many,
                      .target = direct ? sleep_over_receives : sleep_over_writes};
  const char *bounded = "writer: all posted, about 4096 done, once the target looks, all done; target: all arrived";
  expect_each(direct ? "100 writes to 40 receives" : "5000 writes to a target that sleeps", play, bounded, bounded,
              by("", bounded,
                 "writer: all posted, 39 done, once the target looks, all done; "
                 "target: 39 arrived, all with more receives"));
}

void many_immediates(void) {
  struct play play = {.size = 20000, .queue = 256, .breaks = true, .writer = write_many, .target = sleep_over_writes};
  expect("20000 writes to a target that sleeps and asked for a queue of 256", &play,
         by("writer: about 5120 posted, about 4096 done, once the target looks, all done; "
            "target: about 5120 arrived",
            "writer: all posted, all done, once the target looks, all done; target: about 8192 arrived",
            "writer: all posted, all done, once the target looks, all done; "
            "target: hardly more arrived than the queue holds"));
}

// --- Local calls ------------------------------------------------------------------------------------------------------

static void send_two(struct node *node) {
  hear(node, true);
  for (int i = 0; i < 2; i++) {
    fill(node, 0, (uint8_t)(i + 1), 100);
    post(node, (struct work){SEND, .length = 100});
    settle(node, 0, 2000);
  }
  say_endings(node, 0);
  meet(node);
}

static void cancel_one(struct node *node) {
  struct task *first = post(node, (struct work){RECEIVE, .at = 0, .length = 128});
  post(node, (struct work){RECEIVE, .at = 4096, .length = 128});
  post(node, (struct work){RECEIVE, .at = 8192, .length = 128});
  ssize_t result = fi_cancel(&node->endpoint->fid, first);
  say(node, "fi_cancel %s", result == 0 ? "0" : error_name((int)result, 0));
  progress_for(node, 50);
  tell(node);
  hear(node, true);
  progress_for(node, 100);
  say_endings(node, 0);
  if (count_bytes(node, 0, 0, 100) < 100) say(node, "bytes in the first");
  tell(node);
}

void cancel(void) {
  struct play play = {.writer = send_two, .target = cancel_one};
  const char *cancelled = "writer: 2 done; target: fi_cancel 0, 1 ECANCELED/-125, 2 done";
  expect("three receives, the first cancelled, two sends", &play,
         by(cancelled, cancelled,
            "writer: 2 done; target: fi_cancel ENOSYS, 2 done, 1 never ended, bytes in the first"));
}

static void read_own(struct node *node) {
  greet(node);
  struct wire_counters *counters = &node->wire->counters;
  uint64_t reads = counters->reads, sends = counters->sends;
  fill(node, 4096, 9, 1);
  post(node, (struct work){READ, .at = 0, .to = 4096, .length = 1, .own = true});
  settle(node, 0, 3000);
  say_endings(node, 0);
  say(node, count_bytes(node, 0, 9, 1) == 1 ? "the byte is there" : "the byte is not there");
  say(node, "%lu reads of the NIC, %lu sends", counters->reads - reads, counters->sends - sends);
  post(node, (struct work){READ, .at = 0, .to = 4096, .length = 1, .own = true});
  reads = counters->reads, sends = counters->sends;
  settle(node, 0, 3000);
  say(node, "again: %lu, %lu", counters->reads - reads, counters->sends - sends);
  meet(node);
}

static void be_there(struct node *node) {
  greet(node);
  hear(node, true);
  tell(node);
}

void flush_read(void) {
  struct play play = {.writer = read_own, .target = be_there};
  const char *read = "writer: done, the byte is there, 1 reads of the NIC, 0 sends, again: 1, 0";
  // The first one has a handshake with itself.
  expect_each("1 byte", play, "writer: done, the byte is there, 0 reads of the NIC, 3 sends, again: 0, 2", read, read);
}
