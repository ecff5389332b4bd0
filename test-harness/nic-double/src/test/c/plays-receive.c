// A receiver that is not ready, and local calls.

#include "plays.h"

enum { MANY = 5000, QUEUE = 1024 };

// Counts that hang on the length of a queue differ by what the provider itself has in it.
void say_count(struct node *node, size_t count, size_t all, const char *what) {
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

static void say_failures(struct node *node) {
  size_t first = 0, failed = 0;
  for (size_t i = node->posted; i-- > 0;) {
    if (node->operations[i].state != FAILED) continue;
    first = i;
    failed++;
  }
  if (failed > 0) say_count(node, failed, MANY, error_name(node->operations[first].error, node->operations[first].provider));
}

void send_many(struct node *node) {
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

void take_many(struct node *node) {
  greet(node);
  bool sleeps = node->play->kind == 1;
  hear(node, !sleeps);
  for (int i = 0; i < MANY; i++) post(node, (struct work){RECEIVE, .length = 128, .once = true});
  progress_for(node, 2500);
  say_count(node, count_done(node, 0), MANY, "arrived");
  say_event(node);
  meet(node);
}

void write_many(struct node *node) {
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

void sleep_over_writes(struct node *node) {
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

void send_two(struct node *node) {
  hear(node, true);
  for (int i = 0; i < 2; i++) {
    fill(node, 0, (uint8_t)(i + 1), 100);
    post(node, (struct work){SEND, .length = 100});
    settle(node, 0, 2000);
  }
  say_endings(node, 0);
  meet(node);
}

void cancel_one(struct node *node) {
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

void read_own(struct node *node) {
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

void be_there(struct node *node) {
  greet(node);
  hear(node, true);
  tell(node);
}
