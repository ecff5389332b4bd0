// Whether bytes can still land after a close, and what a writer is told whose target is closed or wrong.

#include "facts.h"

#include <stdio.h>
#include <string.h>

#include "fabric.h"

enum { KIB = 1 << 10, MIB = 1 << 20, OLD = 0, NEW = 0x5a, POISON = 0xdb, WRITES = 2 };

enum closing { REGION, ENDPOINT };

// --- In mid-write -----------------------------------------------------------------------------------------------------

static void post_writes(struct node *node) {
  greet(node);
  fill(node, 0, NEW, node->play->size * WRITES);
  for (int i = 0; i < WRITES; i++) {
    size_t at = (size_t)i * node->play->size;
    post(node, (struct work){WRITE, .at = at, .to = at, .length = node->play->size, .tell = true, .data = (uint64_t)i});
  }
}

static void write_long(struct node *node) {
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
static void close_in_the_middle(struct node *node) {
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

static void close_each(int closed, bool cached, const char *send, const char *read, const char *write) {
  struct play play = {.size = 2 * MIB, .delay_us = 200000, .breaks = true, .cached = cached, .kind = closed,
                      .writer = write_long, .target = close_in_the_middle};
  expect_each("2 writes of 2 MiB", play, send, read, write);
}

void close_region(void) {
  // On a busy machine one of the two may be through before the close.
  close_each(REGION, false, "writer: 2 done; target: bytes land after, an immediate comes after",
             by("writer: 2 never ended; target: an error without context: EIO/5, an error without context: EIO/5, "
                "nothing lands after|"
                "writer: 1 done, 1 never ended; target: an error without context: EIO/5, nothing lands after",
                "writer: 2 never ended; target: nothing lands after, event EINVAL/5|"
                "writer: 1 done, 1 never ended; target: nothing lands after, event EINVAL/5", ""),
             "writer: 2 EINVAL/7; target: nothing lands after|"
             "writer: 1 done, 1 EINVAL/7; target: nothing lands after");
}

void close_region_cached(void) {
  const char *landed = "writer: 2 done; target: bytes land after, an immediate comes after";
  close_each(REGION, true, landed, landed, landed);
}

void close_endpoint(void) {
  // The close waits for reads of the provider's own, which carry the bytes of the writes.
  close_each(ENDPOINT, false,
             by("writer: 2 EIO/9; target: nothing lands after", "writer: 2 ENOTCONN/9; target: nothing lands after", ""),
             "writer: 2 done; target: everything was there before, nothing lands after, an immediate comes after",
             "writer: 2 ENOTCONN/9; target: nothing lands after");
}

static void close_own(struct node *node) {
  post_writes(node);
  int result = fi_close(&node->endpoint->fid);
  if (result != 0) say(node, "fi_close %s", error_name(result, 0));
  // What it may still read of the buffer is told apart from what it read before.
  fill(node, 0, POISON, node->play->size * WRITES);
  progress_for(node, 500);
  say_endings(node, 0);
  meet(node);
}

static void see_poison(struct node *node) {
  greet(node);
  hear(node, true);
  progress_for(node, 200);
  say(node, count_bytes(node, 0, POISON, node->play->size * WRITES) == 0 ? "no later bytes" : "later bytes");
  say_event(node);
  tell(node);
}

void close_own_endpoint(void) {
  struct play play = {.size = MIB, .delay_us = 50000, .breaks = true, .writer = close_own, .target = see_poison};
  // What is under way in long writes is lost, or waited for; 2.1 died of it once in a dozen times.
  const char *old = "writer: 2 never ended; target: an error without context: EIO/9, an error without context: EIO/9, "
                    "no later bytes|writer: 2 done; target: no later bytes";
  const char *recent = "writer: 2 never ended; target: no later bytes, event ENOTCONN/9|"
                       "writer: 2 done; target: no later bytes|writer: SIGSEGV; target: the peer is gone";
  expect_each("2 writes of 1 MiB", play, by(old, recent, ""), by(old, recent, ""),
              by("", "writer: 2 done; target: no later bytes", "writer: 2 never ended; target: no later bytes"));
}

// --- Wrong from the start ---------------------------------------------------------------------------------------------

enum wrongness { CLOSED, KEY, RANGE };

static void write_wrongly(struct node *node) {
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

static void be_wrong(struct node *node) {
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

static void write_alternatives(char *text, size_t size, const char *writer, const char *event, const char *death) {
  int length = snprintf(text, size, "writer: %s; target: SIGSEGV", writer);
  if (event != NULL) length += snprintf(text + length, size - (size_t)length, "|writer: %s", event);
  if (death != NULL) snprintf(text + length, size - (size_t)length, "|writer: %s; target: %s", writer, death);
}

static void try_wrong(struct play play) {
  static const char *const kinds[] = {"closed region", "unknown key", "beyond the end"};
  static const size_t sizes[] = {100, MIB};
  play.writer = write_wrongly;
  play.target = be_wrong;
  play.breaks = true;
  int first = play.kind, last = play.kind == CLOSED ? CLOSED : RANGE;
  for (play.kind = first; play.kind <= last; play.kind++) {
    for (int i = 0; i < 2; i++) {
      char what[64];
      snprintf(what, sizeof what, "%s, %s", kinds[play.kind], i == 0 ? "100 B" : "1 MiB");
      play.size = sizes[i];
      // The target dies where it looks into an uninitialised variable, and of abort() where it has no event queue.
      const char *event = i == 0 ? "done; target: event EIO/4111" : "never ended; target: event EIO/4111";
      const char *read_event = i == 0 ? event : "never ended; target: event EINVAL/4111";
      const char *death = play.without_events ? "SIGABRT" : NULL;
      char send[256], read[256];
      write_alternatives(send, sizeof send, i == 0 ? "done" : "never ended", death ? NULL : event, death);
      write_alternatives(read, sizeof read, i == 0 ? "done" : "never ended", death ? NULL : read_event, death);
      expect_each(what, play, send, read, "writer: EINVAL/7");
    }
  }
}

void write_after_close(void) { try_wrong((struct play){.kind = CLOSED}); }

void bad_key(void) { try_wrong((struct play){.kind = KEY}); }

void no_event_queue(void) { try_wrong((struct play){.kind = KEY, .without_events = true}); }
