// In which order things arrive, and what the end of a write says.

#include "facts.h"

#include <stdio.h>
#include <string.h>

#include "fabric.h"

enum { MANY = 64, KIB = 1 << 10, MIB = 1 << 20 };

// --- Order ------------------------------------------------------------------------------------------------------------

static void post_many(struct node *node) {
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

static void see_writes(struct node *node) {
  greet(node);
  if (!await_arrivals(node, MANY, 10000)) fail(node, "%zu arrivals", node->arrived);
  say_order(node, node->arrivals);
  meet(node);
}

static void see_sends(struct node *node) {
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

void order_of_writes(void) {
  struct play play = {.delay_us = 2000, .kind = WRITE, .writer = post_many, .target = see_writes};
  expect_each("64 writes of 100 B", play, "target: out of order", "target: out of order", "target: out of order");
}

void order_of_sends(void) {
  struct play play = {.delay_us = 2000, .kind = SEND, .writer = post_many, .target = see_sends};
  expect("64 sends, no order asked for", &play, by("target: in order", "target: in order", "target: out of order"));
  play.order = FI_ORDER_SAS;
  const char *refused = "writer: fi_getinfo: No data available; target: fi_getinfo: No data available";
  expect("64 sends, FI_ORDER_SAS", &play, by("target: in order", "target: in order", refused));
}

// --- Bytes and immediates ---------------------------------------------------------------------------------------------

enum { WRITES = 12 };

static void write_blocks(struct node *node) {
  greet(node);
  for (int i = 0; i < WRITES; i++) {
    size_t at = (size_t)i * node->play->size;
    fill(node, at, (uint8_t)(i + 1), node->play->size);
    post(node, (struct work){WRITE, .at = at, .to = at, .length = node->play->size, .tell = true, .data = (uint64_t)i});
  }
  if (!settle(node, 0, 20000)) say_endings(node, 0);
  meet(node);
}

static void look_at_blocks(struct node *node) {
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

void immediate_after_bytes(void) {
  const char *expected = "target: own bytes always there, those of earlier writes not";
  struct play play = {.delay_us = 300000, .size = MIB, .writer = write_blocks, .target = look_at_blocks};
  expect_each("12 writes of 1 MiB", play, expected, expected, expected);
  play.size = 4 * KIB;
  play.delay_us = 50000;
  expect_each("12 writes of 4 KiB", play, expected, expected, expected);
}

static void write_one(struct node *node) {
  greet(node);
  post(node, (struct work){WRITE, .length = node->play->size, .tell = true, .data = 0x12345678});
  if (!settle(node, 0, 5000)) say_endings(node, 0);
  meet(node);
}

static void see_one(struct node *node) {
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

void arrival(void) {
  struct play play = {.writer = write_one, .target = see_one};
  const char *old = "target: RMA WRITE REMOTE_WRITE REMOTE_CQ_DATA, length %zu, immediate 12345678";
  const char *recent = "target: RMA REMOTE_WRITE REMOTE_CQ_DATA, length %zu, immediate 12345678";
  for (play.size = 100; play.size <= 100 * KIB; play.size = play.size == 100 ? 100 * KIB : play.size + 1) {
    char what[64], expected[128];
    snprintf(what, sizeof what, "%zu B", play.size);
    snprintf(expected, sizeof expected, newer ? recent : old, play.size);
    expect_each(what, play, expected, expected, expected);
  }
}

// --- Completions ------------------------------------------------------------------------------------------------------

static const size_t sizes[] = {100, 8 * KIB, 64 * KIB, MIB, 4 * MIB};
static const char *const size_names[] = {"100 B", "8 KiB", "64 KiB", "1 MiB", "4 MiB"};

// What the writer tells the target: one look at its queues.
static const char LOOK = 'l';

// The target does nothing but look at its queues as often as it is told, so it stands still once the write ended.
static bool settle_with_help(struct node *node, size_t operation, unsigned ms) {
  for (uint64_t end = milliseconds() + ms; !settle(node, operation, 5); hear(node, false)) {
    if (milliseconds() >= end) return false;
    tell_this(node, LOOK);
  }
  return true;
}

// Posts one write of each size to a target that sleeps, then lets it look at its queues one time after another.
static void complete_each(struct node *node) {
  greet(node);
  for (int i = 0; i < 5; i++) {
    uint8_t value = (uint8_t)(i + 1);
    fill(node, 0, value, sizes[i]);
    hear(node, true);
    struct wire_counters *counters = &node->wire->counters;
    uint64_t sends = counters->sends, reads = counters->reads, writes = counters->writes;
    uint64_t flags = node->play->kind ? FI_DELIVERY_COMPLETE : 0;
    struct task *one = post(node, (struct work){WRITE, .length = sizes[i], .tell = true, .flags = flags});
    if (one->state == REFUSED) fail(node, "refused %s", error_name(one->error, 0));
    bool alone = settle(node, node->posted - 1, 200);
    bool ended = alone || settle_with_help(node, node->posted - 1, 8000);
    bool placed = count_peer_bytes(node, 0, value, sizes[i]) == sizes[i];
    tell(node);
    // The target tells once it has the immediate; by then all packets are counted.
    hear(node, true);
    sends = counters->sends - sends;
    const char *protocol = sends > 3 ? "long" : "eager";
    if (counters->reads > reads) protocol = "read";
    if (counters->writes > writes) protocol = "write";
    if (!ended) {
      say(node, "%s %s never", size_names[i], protocol);
    } else {
      say(node, "%s %s %s%s", size_names[i], protocol, alone ? "at once" : "with the target's help",
          placed ? " placed" : " not placed");
    }
  }
}

static void help_as_told(struct node *node) {
  greet(node);
  for (int i = 0; i < 5; i++) {
    fill(node, 0, 0, sizes[i]);
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

void completion(void) {
  struct play play = {.writer = complete_each, .target = help_as_told};
  expect_each("completion", play,
              "writer: 100 B eager at once not placed, 8 KiB eager at once not placed, "
              "64 KiB long with the target's help not placed, 1 MiB long with the target's help not placed, "
              "4 MiB long with the target's help not placed",
              "writer: 100 B eager at once not placed, 8 KiB eager at once not placed, "
              "64 KiB read with the target's help placed, 1 MiB read with the target's help placed, "
              "4 MiB read with the target's help placed",
              "writer: 100 B write at once placed, 8 KiB write at once placed, 64 KiB write at once placed, "
              "1 MiB write at once placed, 4 MiB write at once placed");
}

void delivery_complete(void) {
  struct play play = {.kind = 1, .writer = complete_each, .target = help_as_told};
  expect_each("completion", play,
              "writer: 100 B eager with the target's help placed, 8 KiB eager with the target's help placed, "
              "64 KiB long with the target's help placed, 1 MiB long with the target's help placed, "
              "4 MiB long with the target's help placed",
              "writer: 100 B eager with the target's help placed, 8 KiB eager with the target's help placed, "
              "64 KiB read with the target's help placed, 1 MiB read with the target's help placed, "
              "4 MiB read with the target's help placed",
              "writer: 100 B write at once placed, 8 KiB write at once placed, 64 KiB write at once placed, "
              "1 MiB write at once placed, 4 MiB write at once placed");
}
