// The wire's file: it is there while a process has it, and gone after the last one, however that ended.

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nics.h"

enum { ROUNDS = 20, GONE_MS = 2000 };

static const char *path_of_wire(void) {
  static char path[256];
  snprintf(path, sizeof path, "/dev/shm/efa-double-%s", getenv("EFA_DOUBLE_WIRE"));
  return path;
}

static bool wire_there(void) { return access(path_of_wire(), F_OK) == 0; }

static void expect_gone(const char *what) {
  uint64_t start = milliseconds();
  while (wire_there()) {
    if (milliseconds() - start > GONE_MS) fail("%s: expected the wire's file gone in %d ms, it is there", what, GONE_MS);
    pause_ms(2);
  }
}

static void holder(struct peer *parent) {
  char word;
  struct end end = open_end((struct end_options){0});
  tell(parent, "", 1);
  hear(parent, &word, 1);
  (void)end;
}

static struct peer start_holder(void) {
  struct peer peer = start_peer(holder);
  char ready;
  hear(&peer, &ready, 1);
  return peer;
}

static void gone_after_a_normal_end(void) {
  if (wire_there()) fail("expected no wire yet, its file is there");
  struct peer first = start_holder(), second = start_holder();
  expect("while two have it", true, wire_there());
  tell(&first, "", 1);
  join_peer(&first);
  pause_ms(200);
  expect("while one has it", true, wire_there());
  tell(&second, "", 1);
  join_peer(&second);
  expect_gone("after both ended");
}

static void gone_after_kills(void) {
  for (int i = 0; i < 3; i++) {
    struct peer first = start_holder(), second = start_holder();
    kill_peer(&first);
    pause_ms(100);
    expect("while one has it", true, wire_there());
    kill_peer(&second);
    expect_gone("after both were killed");
  }
}

// A process of the same name after the last one makes a new wire, even as the old one is being removed.
static void taken_up_again(void) {
  for (int i = 0; i < 30; i++) {
    struct peer peer = start_holder();
    if (i % 2) {
      kill_peer(&peer);
    } else {
      tell(&peer, "", 1);
      join_peer(&peer);
    }
  }
  expect_gone("after the last");
}

static void holder_in_a_group(struct peer *parent) {
  setpgid(0, 0);
  holder(parent);
}

// As a terminal's interrupt ends a job: what removes the wire is not of the group, from its first moment on.
static void gone_after_its_group(void) {
  for (int i = 0; i < ROUNDS; i++) {
    struct peer peer = start_peer(holder_in_a_group);
    char ready;
    hear(&peer, &ready, 1);
    kill(-peer.pid, SIGKILL);
    kill_peer(&peer);
    expect_gone("after a killed group");
  }
}

// What a killed process left before there was anybody to remove it.
static void left_behind(void) {
  for (int i = 0; i < 2; i++) {
    FILE *file = fopen(path_of_wire(), "w");
    if (file == NULL) fail("no file: %s", strerror(errno));
    if (i == 1) fputs("left behind", file);
    fclose(file);
    struct peer first = start_holder(), second = start_holder();
    expect("queue pairs", 2, counter("queue-pairs"));
    kill_peer(&first);
    kill_peer(&second);
    expect_gone("after a wire in the place of another");
  }
}

static void held_by_the_tool(void) {
  char command[64], line[256];
  if (wire_tool("status", line, sizeof line)) fail("status of no wire: expected exit 1, came 0");
  snprintf(command, sizeof command, "hold < /dev/null");
  if (!wire_tool(command, line, sizeof line)) fail("hold: expected exit 0, came another");
  line[strcspn(line, "\n")] = '\0';
  if (strcmp(line, path_of_wire()) != 0) fail("hold: expected %s, came %s", path_of_wire(), line);
  expect_gone("after the tool");
  if (wire_tool("port 0 silent", line, sizeof line)) fail("a port of no wire: expected exit 1, came 0");
  if (wire_tool("port 0 sideways", line, sizeof line)) fail("an unknown state: expected exit 1, came 0");
}

// Both wait until the other is there, then open their ends at once; each sends to the other.
static void meet(struct peer *other) {
  char word;
  hear(other, &word, 1);
  struct end end = open_end((struct end_options){0});
  receive(&end, 1, 0, 10);
  struct way way = way_to(&end, exchange(other, &end));
  carry(&end, (struct post){.way = &way, .length = 1}, STATUS_OK, "a send to whom it met");
  await_status(end.receives, 1, STATUS_OK, "a receive from whom it met");
  tell(other, "", 1);
  hear(other, &word, 1);
}

// Passes on between two processes until both have told that they are done.
static void introduce(struct peer *a, struct peer *b) {
  struct place place;
  char word;
  tell(a, "", 1);
  tell(b, "", 1);
  hear(a, &place, sizeof place);
  tell(b, &place, sizeof place);
  hear(b, &place, sizeof place);
  tell(a, &place, sizeof place);
  hear(a, &word, 1);
  hear(b, &word, 1);
  tell(a, "", 1);
  tell(b, "", 1);
}

static void started_at_the_same_moment(void) {
  char name[64];
  snprintf(name, sizeof name, "%s", getenv("EFA_DOUBLE_WIRE"));
  for (int i = 0; i < ROUNDS; i++) {
    char round[80];
    snprintf(round, sizeof round, "%s-%d", name, i);
    set("WIRE", round);
    set("NODE", "0");
    struct peer a = start_peer(meet);
    set("NODE", "1");
    struct peer b = start_peer(meet);
    introduce(&a, &b);
    join_peer(&a);
    join_peer(&b);
    expect_gone("after a round");
  }
}

static void killed_processes_leave_room(void) {
  struct end end = open_end((struct end_options){0});
  expect("queue pairs", 1, counter("queue-pairs"));
  // More than there is room for, were the places of the killed ones not taken again.
  for (int i = 0; i < COMPLETION_QUEUES / 2 + 20; i++) {
    struct peer peer = start_holder();
    kill_peer(&peer);
  }
  expect("queue pairs, without those of killed processes", 1, counter("queue-pairs"));
  expect("regions, without those of killed processes", 1, counter("regions"));
  close_end(&end);
}

// A child of fork has what it opens itself: what its parent waits for is the parent's.
static void child_of_fork(void) {
  set("DELAY_US", "400000");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  enum { COUNT = 8 };
  for (uint64_t id = 0; id < 2 * COUNT; id++) receive(&end, id, 0, 40);
  for (uint64_t id = 0; id < COUNT; id++) {
    expect("a send", 0, post(&end, (struct post){.id = id, .way = &way, .inlined = "once", .length = 4}));
  }
  struct peer children[5];
  for (int i = 0; i < 5; i++) children[i] = start_holder();
  for (int i = 0; i < COUNT; i++) expect("status", STATUS_OK, await(end.sends, "a send").status);
  for (int i = 0; i < COUNT; i++) expect("status", STATUS_OK, await(end.receives, "a receive").status);
  expect_quiet(end.receives, 600, "what the parent sent once");
  for (int i = 0; i < 5; i++) {
    tell(&children[i], "", 1);
    join_peer(&children[i]);
  }
  ibv_destroy_ah(way.ah);
  close_end(&end);
}

const struct test_case wire_cases[] = {
    {"gone-after-a-normal-end", gone_after_a_normal_end, NULL},
    {"gone-after-kills", gone_after_kills, NULL},
    {"taken-up-again", taken_up_again, NULL},
    {"gone-after-its-group", gone_after_its_group, NULL},
    {"left-behind", left_behind, NULL},
    {"held-by-the-tool", held_by_the_tool, NULL},
    {"started-at-the-same-moment", started_at_the_same_moment, NULL},
    {"killed-processes-leave-room", killed_processes_leave_room, NULL},
    {"child-of-fork", child_of_fork, NULL},
    {0},
};
