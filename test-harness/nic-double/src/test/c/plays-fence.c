// Closing in mid-write, and writing to what is closed or wrong.

#include "plays.h"

enum { NEW = 0x5a, POISON = 0xdb, WRITES = 2 };

static void post_writes(struct node *node) {
  greet(node);
  fill(node, 0, NEW, node->play->size * WRITES);
  for (int i = 0; i < WRITES; i++) {
    size_t at = (size_t)i * node->play->size;
    post(node, (struct work){WRITE, .at = at, .to = at, .length = node->play->size, .tell = true, .data = (uint64_t)i});
  }
}

void write_long(struct node *node) {
  post_writes(node);
  settle(node, 0, 4000);
  say_endings(node, 0);
  say_event(node);
  meet(node);
}

// Whether some of the bytes of each write are in, and whether all of them are.
static bool all_begun(struct node *node) {
  size_t begun = 0;
  for (int i = 0; i < WRITES; i++) {
    bool any = false;
    for (size_t at = 0; at < node->play->size && !any; at += 4 * KIB) {
      any = count_bytes(node, (size_t)i * node->play->size + at, NEW, 1) == 1;
    }
    begun += any;
  }
  return begun == WRITES;
}

// Closes as soon as the first bytes of each are in, while most are still to come.
void close_in_the_middle(struct node *node) {
  greet(node);
  size_t all = node->play->size * WRITES;
  for (uint64_t end = milliseconds() + 8000; !all_begun(node) && milliseconds() < end;) progress(node);
  struct fid *closed = node->play->kind == REGION ? &node->region->fid : &node->endpoint->fid;
  int result = fi_close(closed);
  if (result != 0) say(node, "fi_close %s", error_name(result, 0));
  if (count_bytes(node, 0, NEW, all) == all) say(node, "everything was there before");
  fill(node, 0, POISON, all);
  size_t arrived = node->arrived;
  hear(node, true);
  progress_for(node, 300);
  say(node, count_bytes(node, 0, POISON, all) == all ? "nothing lands after" : "bytes land after");
  if (node->arrived > arrived) say(node, "an immediate comes after");
  say_event(node);
  tell(node);
}

void close_own(struct node *node) {
  post_writes(node);
  int result = fi_close(&node->endpoint->fid);
  if (result != 0) say(node, "fi_close %s", error_name(result, 0));
  // What it may still read of the buffer is told apart from what it read before.
  fill(node, 0, POISON, node->play->size * WRITES);
  progress_for(node, 500);
  say_endings(node, 0);
  meet(node);
}

void see_poison(struct node *node) {
  greet(node);
  hear(node, true);
  progress_for(node, 200);
  say(node, count_bytes(node, 0, POISON, node->play->size * WRITES) == 0 ? "no later bytes" : "later bytes");
  say_event(node);
  tell(node);
}

void write_wrongly(struct node *node) {
  greet(node);
  hear(node, true);
  struct work work = {WRITE, .length = node->play->size, .tell = true};
  if (node->play->kind == KEY) work.other_key = node->peer_key ^ 0x40000;
  if (node->play->kind == RANGE) work.to = MEMORY - node->play->size + 1;
  post(node, work);
  settle(node, 0, 2000);
  say_endings(node, 0);
  tell(node);
}

void be_wrong(struct node *node) {
  greet(node);
  fill(node, 0, POISON, MEMORY);
  if (node->play->kind == CLOSED) fi_close(&node->region->fid);
  tell(node);
  hear(node, true);
  progress_for(node, 300);
  if (count_bytes(node, 0, POISON, MEMORY) < MEMORY) say(node, "bytes landed");
  if (node->arrived > 0) say(node, "an immediate came");
  say_event(node);
}
