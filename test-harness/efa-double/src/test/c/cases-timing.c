// When things happen: packets that overtake each other, that are lost and come late, and memory that is read when its
// packet is due. What depends on chance is asked of enough tries that a slow machine passes too.

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nics.h"

// Runs it in a process of its own, which joins a wire of its own: what comes back is its exit code.
static int apart(int (*run)(void), int number) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0) fail("no process: %s", strerror(errno));
  if (pid == 0) {
    char name[64], seed[16];
    snprintf(name, sizeof name, "%s-%d", getenv("EFA_DOUBLE_WIRE"), number);
    snprintf(seed, sizeof seed, "%d", number);
    set("WIRE", name);
    if (getenv("EFA_DOUBLE_SEED") == NULL) set("SEED", seed);
    _exit(run());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status)) fail("run %d: expected an exit, came wait status 0x%x", number, (unsigned)status);
  return WEXITSTATUS(status);
}

enum { IN_ORDER = 10, OVERTAKEN = 11 };

// The order in which the target's memory and completions see them.
static int send_in_a_row(void) {
  enum { COUNT = 8 };
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  for (uint64_t id = 0; id < COUNT; id++) receive(&end, id, 1000 * id, 100);
  ibv_wr_start(end.ex);
  for (uint32_t i = 0; i < COUNT; i++) {
    struct post one = {.id = i, .way = &way, .length = 1, .immediate = i + 1};
    add(&end, &one);
  }
  expect("a batch", 0, ibv_wr_complete(end.ex));
  bool ordered = true;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    struct found found = await(end.receives, "a receive");
    expect("receives are taken in order", i, (int64_t)found.id);
    ordered &= found.immediate == i + 1;
    seen |= 1u << (found.immediate - 1);
  }
  expect("each came once", (1 << COUNT) - 1, seen);
  return ordered ? IN_ORDER : OVERTAKEN;
}

static void overtaking_with_delay(void) {
  set("DELAY_US", "300");
  int overtaken = 0;
  for (int seed = 1; seed <= 6; seed++) {
    int code = apart(send_in_a_row, seed);
    if (code != IN_ORDER && code != OVERTAKEN) fail("seed %d: expected an order, came exit code %d", seed, code);
    overtaken += code == OVERTAKEN;
  }
  if (overtaken == 0) fail("expected that sends overtake each other for some seed, came 6 times in order");
}

static void in_order_without_delay(void) {
  for (int i = 1; i <= 3; i++) expect("in order", IN_ORDER, apart(send_in_a_row, i));
}

// A pair of sends, since two are enough.
static int send_two(void) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  for (uint64_t id = 0; id < 2; id++) receive(&end, id, 0, 10);
  for (uint32_t i = 1; i <= 2; i++) {
    expect("a send", 0, post(&end, (struct post){.way = &way, .length = 1, .immediate = i}));
  }
  return await(end.receives, "a receive").immediate == 1 ? IN_ORDER : OVERTAKEN;
}

static void two_overtake_each_other(void) {
  set("DELAY_US", "300");
  int orders[2] = {0};
  for (int seed = 1; seed <= 24 && (orders[0] == 0 || orders[1] == 0); seed++) {
    int code = apart(send_two, seed);
    if (code != IN_ORDER && code != OVERTAKEN) fail("seed %d: expected an order, came exit code %d", seed, code);
    orders[code == OVERTAKEN]++;
  }
  if (orders[0] == 0 || orders[1] == 0) fail("expected both orders, came %d times one of 24", orders[0] + orders[1]);
}

static int lost_of_many(void) {
  enum { COUNT = 200 };
  struct end end = open_end((struct end_options){.receives = COUNT, .completions = COUNT});
  struct way way = way_between(&end, &end);
  for (uint64_t id = 0; id < COUNT; id++) receive(&end, id, 0, 10);
  for (uint64_t id = 0; id < COUNT; id++) {
    carry(&end, (struct post){.id = id, .way = &way, .length = 8}, STATUS_OK, "a send that may be lost at first");
  }
  return (int)counter("lost");
}

static void same_seed_same_losses(void) {
  set("LOSS", "20");
  set("SEED", "42");
  int first = apart(lost_of_many, 1), second = apart(lost_of_many, 2);
  if (first < 20 || first > 100) fail("of 200 sends with 20 percent: expected 20 to 100 losses, came %d", first);
  expect("losses of the same seed", first, second);
  int others = 0;
  for (int i = 3; i <= 6; i++) {
    set("SEED", i == 3 ? "3" : i == 4 ? "4" : i == 5 ? "5" : "6");
    others += apart(lost_of_many, i) != first;
  }
  if (others == 0) fail("expected other losses of some other seed, came %d of all", first);
}

// The source is the device's until the completion: what the program writes there meanwhile goes out.
static int count_late(struct end *end, const struct way *way, enum operation operation) {
  enum { COUNT = 50 };
  int late = 0;
  for (uint64_t i = 0; i < COUNT; i++) {
    uint64_t far = 32768 + 64 * i;
    uint8_t *source = end->memory + 64 * i, *target = end->memory + far;
    *source = 1;
    *target = 0;
    if (operation == SEND) receive(end, i, far, 1);
    struct post one = {.id = i, .operation = operation, .way = way, .offset = 64 * i, .length = 1, .remote = far};
    expect("a post", 0, post(end, one));
    *(volatile uint8_t *)source = 2;
    await_status(end->sends, i, STATUS_OK, "an operation");
    if (operation == SEND) await_status(end->receives, i, STATUS_OK, "a receive");
    if (*target != 1 && *target != 2) fail("operation %lu: expected 1 or 2, came %d", i, *target);
    late += *target == 2;
  }
  return late;
}

static void source_is_read_when_due(void) {
  set("DELAY_US", "5000");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  int writes = count_late(&end, &way, WRITE), sends = count_late(&end, &way, SEND);
  if (writes <= 25) fail("writes: expected the late byte most of 50 times, came %d times", writes);
  if (sends <= 25) fail("sends: expected the late byte most of 50 times, came %d times", sends);
}

// Read when it is due too: what the peer wrote meanwhile comes back.
static void peer_is_read_when_due(void) {
  set("DELAY_US", "5000");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  int late = 0;
  for (uint64_t i = 0; i < 50; i++) {
    end.memory[5000] = 1;
    struct post one = {.id = i, .operation = READ, .way = &way, .length = 1, .remote = 5000};
    expect("a read", 0, post(&end, one));
    ((volatile uint8_t *)end.memory)[5000] = 2;
    await_status(end.sends, i, STATUS_OK, "a read");
    late += end.memory[0] == 2;
  }
  if (late <= 25) fail("expected the late byte most of 50 times, came %d times", late);
}

static void inline_data_is_read_in_the_post(void) {
  set("DELAY_US", "5000");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  for (uint64_t i = 0; i < 20; i++) {
    uint8_t data[LONGEST_INLINE];
    receive(&end, i, 100 * i, 100);
    fill_pattern(data, sizeof data, (int)i);
    expect("a send", 0, post(&end, (struct post){.id = i, .way = &way, .inlined = data, .length = sizeof data}));
    memset(data, 0, sizeof data);
    await_status(end.sends, i, STATUS_OK, "a send");
    expect_pattern(end.memory + 100 * i, sizeof data, (int)i, "inline data");
  }
}

// Nothing is lost or doubled when everything is unfriendly at once.
static void all_at_once(void) {
  enum { COUNT = 300 };
  set("DELAY_US", "300");
  set("LOSS", "10");
  set("RNR", "20");
  struct end end = open_end((struct end_options){.sends = COUNT, .receives = COUNT, .completions = COUNT});
  struct way way = way_between(&end, &end);
  bool seen[COUNT + 1] = {false};
  for (uint32_t i = 1; i <= COUNT; i++) {
    receive(&end, i, 0, 10);
    expect("a send", 0, post(&end, (struct post){.id = i, .way = &way, .length = 1, .immediate = i}));
  }
  for (int i = 0; i < COUNT; i++) {
    expect("status", STATUS_OK, await(end.sends, "a send").status);
    struct found found = await(end.receives, "a receive");
    expect("status", STATUS_OK, found.status);
    if (found.immediate > COUNT || seen[found.immediate]) fail("expected each once, came %u again", found.immediate);
    seen[found.immediate] = true;
  }
  expect_quiet(end.receives, 20, "after all");
  expect("sends", COUNT, counter("sends"));
  if (counter("lost") == 0 || counter("not-ready") == 0 || counter("reordered") == 0) {
    fail("expected losses, peers that are not ready and overtaking, came %ld, %ld and %ld", counter("lost"),
         counter("not-ready"), counter("reordered"));
  }
}

const struct test_case timing_cases[] = {
    {"overtaking-with-delay", overtaking_with_delay, NULL},
    {"two-overtake-each-other", two_overtake_each_other, NULL},
    {"in-order-without-delay", in_order_without_delay, NULL},
    {"same-seed-same-losses", same_seed_same_losses, NULL},
    {"source-is-read-when-due", source_is_read_when_due, NULL},
    {"peer-is-read-when-due", peer_is_read_when_due, NULL},
    {"inline-data-is-read-in-the-post", inline_data_is_read_in_the_post, NULL},
    {"all-at-once", all_at_once, NULL},
    {0},
};
