// Peers that are not known yet, do not answer, or are gone.

#include "facts.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fabric.h"

enum { KIB = 1 << 10, MIB = 1 << 20, NEVER_MS = 4000 };

// --- Not known yet ----------------------------------------------------------------------------------------------------

static void contact(struct node *node) {
  fill(node, 0, 7, node->play->size);
  hear(node, true);
  struct work work = {(enum operation)node->play->kind, .length = node->play->size, .tell = true, .data = 3};
  post(node, work);
  settle(node, 0, 3000);
  say_endings(node, 0);
  meet(node);
}

static void be_contacted(struct node *node) {
  struct task *receive = NULL;
  if (node->play->kind == SEND) receive = post(node, (struct work){RECEIVE, .length = 2 * MIB});
  tell(node);
  hear(node, true);
  progress_for(node, 100);
  const struct task *got = receive != NULL && receive->state == DONE ? receive : node->arrived > 0 ? node->arrivals : NULL;
  if (got == NULL) {
    say(node, "nothing came");
  } else {
    bool whole = count_bytes(node, 0, 7, node->play->size) == node->play->size;
    say(node, whole ? "arrived" : "arrived without its bytes");
    if (node->play->source) {
      fi_addr_t peer = FI_ADDR_NOTAVAIL;
      fi_av_insert(node->addresses, node->peer_name, 1, &peer, 0, NULL);
      const char *other = got->source == peer ? "from the number that it is inserted under later" : "from another number";
      say(node, "%s", got->source == FI_ADDR_NOTAVAIL ? "from FI_ADDR_NOTAVAIL" : other);
    }
  }
  say_event(node);
  tell(node);
}

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

static const size_t sizes[] = {100, 100 * KIB, 4 * MIB};

static void post_three(struct node *node) {
  for (int i = 0; i < 3; i++) post(node, (struct work){WRITE, .length = sizes[i], .tell = true});
}

static void say_time(struct node *node) {
  uint64_t longest = 0;
  for (size_t i = 0; i < node->posted; i++) {
    const struct task *operation = &node->operations[i];
    uint64_t took = operation->ended - operation->begun;
    if (operation->state == FAILED && took > longest) longest = took;
  }
  unsigned bound = node->play->timeout_ms;
  if (longest > 0) say(node, longest < bound ? "before the time-out" : longest < 2 * bound ? "with the time-out" : "later");
}

static void write_into_silence(struct node *node) {
  greet(node);
  hear(node, true);
  if (node->play->kind == 0) {
    // Each has to reach its own end.
    set_port(node, false, PORT_SILENT);
    post_three(node);
  } else {
    post(node, (struct work){WRITE, .length = node->play->size, .tell = true});
    // The target sleeps: the request is in its NIC, and the provider there has not seen it.
    progress_for(node, 100);
    set_port(node, false, PORT_SILENT);
  }
  tell(node);
  settle(node, 0, NEVER_MS);
  say_endings(node, 0);
  say_time(node);
  say_event(node);
  tell(node);
  hear(node, true);
}

static void be_silent(struct node *node) {
  greet(node);
  tell(node);
  hear(node, false);
  hear(node, true);
  progress_for(node, 100);
  if (node->arrived > 0) say(node, "%zu arrivals", node->arrived);
  say_event(node);
  tell(node);
}

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
    play.size = sizes[i];
    const char *done = "writer: done; target: 1 arrivals";
    const char *lost = by("writer: never ended; target: an error without context: EIO/13",
                          "writer: never ended; target: event ECONNABORTED/13", "");
    expect_each(names[i], play, i == 0 ? done : lost, i == 0 ? done : lost, done);
  }
}

static void come_back(struct node *node) {
  greet(node);
  set_port(node, false, PORT_SILENT);
  post_three(node);
  settle(node, 0, NEVER_MS);
  set_port(node, false, PORT_UP);
  say_endings(node, 0);
  size_t from = node->posted;
  post_three(node);
  settle(node, from, NEVER_MS);
  say(node, "then");
  say_endings(node, from);
  meet(node);
}

static void wait_for_three(struct node *node) {
  greet(node);
  hear(node, true);
  progress_for(node, 100);
  say(node, "%zu arrivals", node->arrived);
  say_event(node);
  tell(node);
}

void back_again(void) {
  struct play play = {.timeout_ms = 500, .breaks = true, .writer = come_back, .target = wait_for_three};
  const char *back = by("writer: 3 EIO/13, then, 3 done; target: 3 arrivals",
                        "writer: 3 ECONNABORTED/13, then, 3 done; target: 3 arrivals",
                        "writer: 3 ECONNABORTED/13, then, 3 done; target: 3 arrivals");
  expect_each("3 writes, and 3 again", play, back, back, back);
}

// --- Gone -------------------------------------------------------------------------------------------------------------

static void write_to_the_dead(struct node *node) {
  greet(node);
  if (node->play->kind == 1) {
    hear(node, true);
    post_three(node);
    progress_for(node, 100);
    kill(node->peer_pid, SIGKILL);
    rest(50);
  } else {
    hear(node, true);
    kill(node->peer_pid, SIGKILL);
    rest(50);
    post_three(node);
  }
  settle(node, 0, NEVER_MS);
  say_endings(node, 0);
  say_event(node);
}

static void be_killed(struct node *node) {
  greet(node);
  tell(node);
  for (;;) rest(1000);
}

void killed_peer(void) {
  struct play play = {.timeout_ms = 500, .writer = write_to_the_dead, .target = be_killed};
  const char *gone = by("writer: 3 EIO/9; target: SIGKILL", "writer: 3 ENOTCONN/9; target: SIGKILL",
                        "writer: 3 ENOTCONN/9; target: SIGKILL");
  expect_each("killed before 100 B, 100 KiB, 4 MiB", play, gone, gone, gone);
  play.kind = 1;
  const char *lost = "writer: 1 done, 2 never ended; target: SIGKILL";
  expect_each("killed while it has the requests", play, lost, lost, "writer: 3 done; target: SIGKILL");
}

static void write_to_the_old(struct node *node) {
  greet(node);
  hear(node, true);
  post_three(node);
  settle(node, 0, NEVER_MS);
  say_endings(node, 0);
  say_event(node);
  tell(node);
}

static void replace(struct node *node) {
  greet(node);
  fi_close(&node->endpoint->fid);
  struct fi_av_attr addresses = {.type = FI_AV_TABLE};
  if (fi_av_open(node->domain, &addresses, &node->addresses, NULL) != 0) fail(node, "fi_av_open");
  node->endpoint = open_endpoint(node, node->domain);
  tell(node);
  hear(node, true);
  if (node->arrived > 0) say(node, "%zu arrivals", node->arrived);
  say_event(node);
}

void replaced_endpoint(void) {
  struct play play = {.writer = write_to_the_old, .target = replace};
  const char *gone = by("writer: 3 EIO/9", "writer: 3 ENOTCONN/9", "writer: 3 ENOTCONN/9");
  expect_each("writes of 100 B, 100 KiB, 4 MiB", play, gone, gone, gone);
}

static void bind_twice(struct node *node) {
  struct fid_ep *second;
  if (fi_endpoint(node->domain, node->info, &second, NULL) != 0) fail(node, "fi_endpoint");
  int result = fi_ep_bind(second, &node->addresses->fid, 0);
  say(node, "beside %s", result == 0 ? "0" : error_name(result, 0));
  fi_close(&second->fid);
  fi_close(&node->endpoint->fid);
  if (fi_endpoint(node->domain, node->info, &second, NULL) != 0) fail(node, "fi_endpoint");
  result = fi_ep_bind(second, &node->addresses->fid, 0);
  say(node, "after %s", result == 0 ? "0" : error_name(result, 0));
}

static void do_nothing(struct node *node) { (void)node; }

void shared_addresses(void) {
  struct play play = {.writer = bind_twice, .target = do_nothing};
  expect("a second endpoint on the same address vector", &play, "writer: beside ENOSYS, after ENOSYS");
}

// --- Closing beside a silent peer -------------------------------------------------------------------------------------

static void close_beside(struct node *node) {
  greet(node);
  set_port(node, false, PORT_SILENT);
  post_three(node);
  uint64_t begun = milliseconds();
  fi_close(&node->endpoint->fid);
  uint64_t took = milliseconds() - begun;
  say(node, "fi_close %s", took < 100 ? "returns at once" : took < 1500 ? "waits for the time-out" : "waits longer");
  progress_for(node, 100);
  say_endings(node, 0);
  tell(node);
}

static void stay_silent(struct node *node) {
  greet(node);
  hear(node, false);
}

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
