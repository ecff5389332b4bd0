// Peers that are not known yet, do not answer, or are gone.

#include "efa-facts.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

// --- Not known yet ----------------------------------------------------------------------------------------------------

void first_contact(void) {
  struct play play = {.breaks = true, .stranger = true, .source = true, .writer = contact, .target = be_contacted};
  for (int i = 0; i < 4; i++) {
    static const char *const names[] = {"send of 100 B", "send of 1 MiB", "write of 100 B", "write of 1 MiB"};
    play.kind = i < 2 ? SEND : WRITE;
    play.size = i % 2 ? MIB : 100;
    // A long write comes first, and the peer cannot read: see first_long_write.
    bool lost = !newer && i == 3;
    const char *known = "writer: done; target: arrived, from the number that it is inserted under later";
    static const char *const refused[] = {"writer: done; target: arrived, from FI_ADDR_NOTAVAIL",
                                          "writer: EMSGSIZE/6; target: nothing came",
                                          "writer: ENOTCONN/14; target: nothing came",
                                          "writer: ENOTCONN/14; target: nothing came"};
    expect_each(names[i], play, lost ? "writer: never ended; target: nothing came, event EINVAL/4117" : known, known,
                direct ? refused[i] : known);
  }
}

// --- Silent -----------------------------------------------------------------------------------------------------------

void silent_before(void) {
  struct play play = {.timeout_ms = 500, .writer = write_into_silence, .target = be_silent};
  const char *ended = by("writer: 3 EIO/13, with the time-out", "writer: 3 ECONNABORTED/13, with the time-out",
                         "writer: 3 ECONNABORTED/13, with the time-out");
  expect_each("writes of 100 B, 100 KiB, 4 MiB", play, ended, ended, ended);
}

void silent_after(void) {
  struct play play = {.kind = 1, .timeout_ms = 500, .writer = write_into_silence, .target = be_silent};
  static const char *const names[] = {"100 B", "100 KiB", "4 MiB"};
  for (int i = 0; i < 3; i++) {
    play.size = three_sizes[i];
    const char *done = "writer: done; target: 1 arrivals";
    const char *lost = by("writer: never ended; target: an error without context: EIO/13",
                          "writer: never ended; target: event ECONNABORTED/13", "");
    expect_each(names[i], play, i == 0 ? done : lost, i == 0 ? done : lost, done);
  }
}

void back_again(void) {
  struct play play = {.timeout_ms = 500, .breaks = true, .writer = come_back, .target = wait_for_three};
  const char *back = by("writer: 3 EIO/13, then, 3 done; target: 3 arrivals",
                        "writer: 3 ECONNABORTED/13, then, 3 done; target: 3 arrivals",
                        "writer: 3 ECONNABORTED/13, then, 3 done; target: 3 arrivals");
  expect_each("3 writes, and 3 again", play, back, back, back);
}

// --- Gone -------------------------------------------------------------------------------------------------------------

void killed_peer(void) {
  struct play play = {.timeout_ms = 500, .writer = write_to_the_dead, .target = be_killed};
  const char *gone = by("writer: 3 EIO/9; target: SIGKILL", "writer: 3 ENOTCONN/9; target: SIGKILL",
                        "writer: 3 ENOTCONN/9; target: SIGKILL");
  expect_each("killed before 100 B, 100 KiB, 4 MiB", play, gone, gone, gone);
  play.kind = 1;
  const char *lost = "writer: 1 done, 2 never ended; target: SIGKILL";
  expect_each("killed while it has the requests", play, lost, lost, "writer: 3 done; target: SIGKILL");
}

void replaced_endpoint(void) {
  struct play play = {.writer = write_to_the_old, .target = replace};
  const char *gone = by("writer: 3 EIO/9", "writer: 3 ENOTCONN/9", "writer: 3 ENOTCONN/9");
  expect_each("writes of 100 B, 100 KiB, 4 MiB", play, gone, gone, gone);
}

void shared_addresses(void) {
  struct play play = {.writer = bind_twice, .target = do_nothing};
  expect("a second endpoint on the same address vector", &play, "writer: beside ENOSYS, after ENOSYS");
}

// --- Closing beside a silent peer -------------------------------------------------------------------------------------

void close_beside_silence(void) {
  struct play play = {.timeout_ms = 500, .writer = close_beside, .target = stay_silent};
  const char *waits = by("writer: fi_close waits for the time-out, 3 EIO/13",
                         "writer: fi_close waits for the time-out, 3 ECONNABORTED/13",
                         "writer: fi_close returns at once, 3 never ended");
  expect_each("with writes of 100 B, 100 KiB, 4 MiB", play, waits, waits, waits);
}

// --- The first write --------------------------------------------------------------------------------------------------

static void write_first(struct node *node) {
  meet(node);
  fill(node, 0, 7, node->play->size);
  post(node, (struct work){WRITE, .length = node->play->size, .tell = true});
  settle(node, 0, NEVER_MS);
  say_endings(node, 0);
  meet(node);
}

static void see_first(struct node *node) {
  meet(node);
  hear(node, true);
  progress_for(node, 100);
  say(node, node->arrived > 0 ? "arrived" : "nothing came");
  say_event(node);
  tell(node);
}

void first_long_write(void) {
  struct play play = {.size = 100 * KIB, .breaks = true, .writer = write_first, .target = see_first};
  const char *done = "writer: done; target: arrived";
  // 1.17 takes "ask again" for "yes" to whether the peer can read.
  expect_each("100 KiB", play, by("writer: never ended; target: nothing came, event EINVAL/4117", done, ""), done, done);
}
