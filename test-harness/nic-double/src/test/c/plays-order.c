// In which order things arrive, and what the end of a write says.

#include "plays.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 64, WRITES = 12 };

const size_t five_sizes[] = {100, 8 * KIB, 64 * KIB, MIB, 4 * MIB};
const char *const five_names[] = {"100 B", "8 KiB", "64 KiB", "1 MiB", "4 MiB"};

// What the writer tells the target: one look at its queues.
static const char LOOK = 'l';

void post_many(struct node *node) {
  greet(node);
  for (int i = 0; i < MANY; i++) {
    size_t at = (size_t)i * 4096;
    struct work work = {(enum operation)node->play->kind, .at = at, .to = at, .length = 100, .tell = true, .data = (uint64_t)i};
    fill(node, work.at, (uint8_t)i, 100);
    post(node, work);
  }
  if (!settle(node, 0, 10000)) say_endings(node, 0);
  meet(node);
}

static void say_order(struct node *node, const struct task *operations) {
  size_t back = 0;
  for (int i = 1; i < MANY; i++) back += operations[i].data < operations[i - 1].data;
  say(node, back == 0 ? "in order" : "out of order");
}

void see_writes(struct node *node) {
  greet(node);
  if (!await_arrivals(node, MANY, 10000)) fail(node, "%zu arrivals", node->arrived);
  say_order(node, node->arrivals);
  meet(node);
}

void see_sends(struct node *node) {
  greet(node);
  for (int i = 0; i < MANY; i++) post(node, (struct work){RECEIVE, .at = (size_t)i * 4096, .length = 4096});
  if (!settle(node, 0, 10000)) fail(node, "not all arrived");
  size_t back = 0, late = 0;
  uint64_t last = 0;
  for (int i = 0; i < MANY; i++) {
    // A receive's number is its own; what it got tells which send it was.
    uint64_t data = node->memory[(size_t)i * 4096];
    back += data != node->operations[i].data;
    late += i > 0 && data < last;
    last = data;
  }
  if (back > 0) say(node, "%zu immediates do not belong to their bytes", back);
  say(node, late == 0 ? "in order" : "out of order");
  meet(node);
}

void write_blocks(struct node *node) {
  greet(node);
  for (int i = 0; i < WRITES; i++) {
    size_t at = (size_t)i * node->play->size;
    fill(node, at, (uint8_t)(i + 1), node->play->size);
    post(node, (struct work){WRITE, .at = at, .to = at, .length = node->play->size, .tell = true, .data = (uint64_t)i});
  }
  if (!settle(node, 0, 20000)) say_endings(node, 0);
  meet(node);
}

void look_at_blocks(struct node *node) {
  greet(node);
  size_t size = node->play->size, seen = 0, own_missing = 0, earlier_missing = 0;
  for (uint64_t end = milliseconds() + 20000; seen < WRITES && milliseconds() < end; progress(node)) {
    for (; seen < node->arrived; seen++) {
      size_t i = node->arrivals[seen].data;
      if (count_bytes(node, i * size, (uint8_t)(i + 1), size) < size) own_missing++;
      for (size_t k = 0; k < i; k++) earlier_missing += count_bytes(node, k * size, (uint8_t)(k + 1), size) < size;
    }
  }
  if (seen < WRITES) fail(node, "%zu arrivals", seen);
  say(node, own_missing == 0 ? "own bytes always there" : "own bytes missing");
  say(node, earlier_missing == 0 ? "those of earlier writes too" : "those of earlier writes not");
  meet(node);
}

void write_one(struct node *node) {
  greet(node);
  post(node, (struct work){WRITE, .length = node->play->size, .tell = true, .data = 0x12345678});
  if (!settle(node, 0, 5000)) say_endings(node, 0);
  meet(node);
}

void see_one(struct node *node) {
  greet(node);
  if (!await_arrivals(node, 1, 5000)) fail(node, "nothing arrived");
  const struct task *one = &node->arrivals[0];
  char text[256] = "";
  static const struct { uint64_t bit; const char *name; } bits[] = {
      {FI_RMA, "RMA"}, {FI_WRITE, "WRITE"}, {FI_REMOTE_WRITE, "REMOTE_WRITE"}, {FI_REMOTE_CQ_DATA, "REMOTE_CQ_DATA"}};
  for (int i = 0; i < 4; i++) {
    if (!(one->flags & bits[i].bit)) continue;
    if (*text) strcat(text, " ");
    strcat(text, bits[i].name);
  }
  say(node, "%s, length %zu, immediate %lx", text, one->length, one->data);
  meet(node);
}

// The target does nothing but look at its queues as often as it is told, so it stands still once the write ended.
static bool settle_with_help(struct node *node, size_t operation, unsigned ms) {
  for (uint64_t end = milliseconds() + ms; !settle(node, operation, 5); hear(node, false)) {
    if (milliseconds() >= end) return false;
    tell_this(node, LOOK);
  }
  return true;
}

// Posts one write of each size to a target that sleeps, then lets it look at its queues one time after another.
void complete_each(struct node *node) {
  greet(node);
  for (int i = 0; i < 5; i++) {
    uint8_t value = (uint8_t)(i + 1);
    fill(node, 0, value, five_sizes[i]);
    hear(node, true);
    struct wire_counters *counters = &node->wire->counters;
    uint64_t sends = counters->sends, reads = counters->reads, writes = counters->writes;
    uint64_t flags = node->play->kind ? FI_DELIVERY_COMPLETE : 0;
    struct task *one = post(node, (struct work){WRITE, .length = five_sizes[i], .tell = true, .flags = flags});
    if (one->state == REFUSED) fail(node, "refused %s", error_name(one->error, 0));
    bool alone = settle(node, node->posted - 1, 200);
    bool ended = alone || settle_with_help(node, node->posted - 1, 8000);
    bool placed = count_peer_bytes(node, 0, value, five_sizes[i]) == five_sizes[i];
    tell(node);
    // The target tells once it has the immediate; by then all packets are counted.
    hear(node, true);
    sends = counters->sends - sends;
    const char *protocol = sends > 3 ? "long" : "eager";
    if (counters->reads > reads) protocol = "read";
    if (counters->writes > writes) protocol = "write";
    if (!ended) {
      say(node, "%s %s never", five_names[i], protocol);
    } else {
      say(node, "%s %s %s%s", five_names[i], protocol, alone ? "at once" : "with the target's help",
          placed ? " placed" : " not placed");
    }
  }
}

void help_as_told(struct node *node) {
  greet(node);
  for (int i = 0; i < 5; i++) {
    fill(node, 0, 0, five_sizes[i]);
    tell(node);
    while (hear(node, false) == LOOK) {
      progress(node);
      tell(node);
    }
    for (uint64_t end = milliseconds() + 9000; node->arrived < (size_t)i + 1 && milliseconds() < end;) {
      rest(5);
      progress(node);
    }
    tell(node);
  }
  progress_for(node, 100);
}
