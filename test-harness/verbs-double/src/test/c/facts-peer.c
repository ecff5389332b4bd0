// Peers that are not known yet, do not answer, or are gone; and how connections come about.

#include "verbs-facts.h"

#include <stdio.h>

void first_contact(void) {
  struct play play = {.breaks = true, .stranger = true, .source = true, .writer = contact, .target = be_contacted};
  for (int i = 0; i < 4; i++) {
    static const char *const names[] = {"send of 100 B", "send of 1 MiB", "write of 100 B", "write of 1 MiB"};
    play.kind = i < 2 ? SEND : WRITE;
    play.size = i % 2 ? MIB : 100;
    const char *unknown = "writer: done; target: arrived, from FI_ADDR_NOTAVAIL";
    const char *known = "writer: done; target: arrived, from the number that it is inserted under later";
    expect(names[i], &play, i < 2 ? unknown : by(known, unknown));
  }
}

// --- Connections ------------------------------------------------------------------------------------------------------

// One write without immediate data to a target that does not look at its queues, before the first of which and after.
static void write_while_asleep(struct node *node) {
  hear(node, true);
  struct work work = {WRITE, .length = 100, .once = true};
  struct task *one = NULL;
  for (uint64_t end = milliseconds() + 500; milliseconds() < end;) {
    one = post(node, work);
    if (one->state != REFUSED || one->error != FI_EAGAIN) break;
    *one = (struct task){0};
    node->posted--;
    progress(node);
  }
  settle(node, 0, 500);
  say(node, node->posted == 0 ? "EAGAIN while the target sleeps" : "taken while the target sleeps");
  if (node->posted > 0) say_endings(node, 0);
  tell(node);
  if (node->posted == 0) {
    work.once = false;
    post(node, work);
  }
  settle(node, 0, 5000);
  say(node, "then");
  say_endings(node, 0);
  tell(node);
  hear(node, true);
  size_t from = node->posted;
  post(node, (struct work){WRITE, .length = 100});
  settle(node, from, 500);
  say(node, "asleep again");
  say_endings(node, from);
  tell(node);
}

static void sleep_and_look(struct node *node) {
  tell(node);
  hear(node, false);
  hear(node, true);
  tell(node);
  hear(node, false);
}

void connecting(void) {
  struct play play = {.writer = write_while_asleep, .target = sleep_and_look};
  expect("the first write to a peer", &play,
         "writer: EAGAIN while the target sleeps, then, done, asleep again, done");
}

static void write_at_once(struct node *node) {
  meet(node);
  for (int i = 0; i < 3; i++) post(node, (struct work){WRITE, .length = 100, .tell = true, .data = (uint64_t)i});
  settle(node, 0, 5000);
  await_arrivals(node, 3, 5000);
  say_endings(node, 0);
  say(node, "%zu arrivals", node->arrived);
  meet(node);
}

void crossing(void) {
  struct play play = {.delay_us = 1000, .writer = write_at_once, .target = write_at_once};
  for (int i = 0; i < 5; i++) {
    expect("3 writes of either side, the first to each other", &play,
           "writer: 3 done, 3 arrivals; target: 3 done, 3 arrivals");
  }
}

// --- Silent and gone --------------------------------------------------------------------------------------------------

void silent_before(void) {
  struct play play = {.timeout_ms = 500, .writer = write_into_silence, .target = be_silent};
  expect("writes of 100 B, 100 KiB, 4 MiB", &play, "writer: 1 EIO/12, 2 ECANCELED/5, with the time-out");
}

void silent_after(void) {
  struct play play = {.kind = 1, .timeout_ms = 500, .writer = write_into_silence, .target = be_silent};
  static const char *const names[] = {"100 B", "100 KiB", "4 MiB"};
  for (int i = 0; i < 3; i++) {
    play.size = three_sizes[i];
    expect(names[i], &play, "writer: done; target: 1 arrivals");
  }
}

void back_again(void) {
  struct play play = {.timeout_ms = 500, .breaks = true, .writer = come_back, .target = wait_for_three};
  expect("3 writes, and 3 again", &play,
         by("writer: 1 EIO/12, 2 ECANCELED/5, then, 3 ECANCELED/5; target: 0 arrivals",
            "writer: 1 EIO/12, 2 ECANCELED/5, then, 3 done; target: 3 arrivals"));
}

void killed_peer(void) {
  struct play play = {.timeout_ms = 500, .writer = write_to_the_dead, .target = be_killed};
  expect("killed before 100 B, 100 KiB, 4 MiB", &play, "writer: 3 ECANCELED/5; target: SIGKILL");
  play.kind = 1;
  expect("killed while it has the requests", &play, "writer: 3 done; target: SIGKILL");
}

void replaced_endpoint(void) {
  struct play play = {.writer = write_to_the_old, .target = replace};
  expect("writes of 100 B, 100 KiB, 4 MiB", &play, "writer: 3 refused EAGAIN");
}

void shared_addresses(void) {
  struct play play = {.writer = bind_twice, .target = do_nothing};
  expect("a second endpoint on the same address vector", &play, "writer: beside 0, after 0");
}

void close_beside_silence(void) {
  struct play play = {.timeout_ms = 500, .writer = close_beside, .target = stay_silent};
  expect("with writes of 100 B, 100 KiB, 4 MiB", &play, "writer: fi_close returns at once, 3 ECANCELED/5");
}
