// Whether bytes can still land after a close, and what a writer is told whose target is closed or wrong.

#include "verbs-facts.h"

#include <stdio.h>

enum { WRITES = 40, POISON = 0xdb };

static void write_a_row(struct node *node) {
  greet(node);
  size_t size = node->play->size;
  fill(node, 0, 1, size * WRITES);
  for (size_t i = 0; i < WRITES; i++) {
    post(node, (struct work){WRITE, .at = i * size, .to = i * size, .length = size, .tell = true, .data = i});
  }
  settle(node, 0, NEVER_MS);
  bool cut = node->operations[0].state == DONE && node->operations[WRITES - 1].state == FAILED;
  if (cut) {
    size_t first = 0;
    while (node->operations[first].state == DONE) first++;
    say(node, "some done, then %s", error_name(node->operations[first].error, node->operations[first].provider));
    say(node, "the last %s", error_name(node->operations[WRITES - 1].error, node->operations[WRITES - 1].provider));
  } else {
    say_endings(node, 0);
  }
  meet(node);
}

// Closes as soon as the first is in, while most are still to come: they are carried out one after another.
static void close_amid_a_row(struct node *node) {
  greet(node);
  size_t all = node->play->size * WRITES;
  for (uint64_t end = milliseconds() + 8000; count_bytes(node, 0, 1, 1) == 0 && milliseconds() < end;) progress(node);
  int result = fi_close(node->play->kind == REGION ? &node->region->fid : &node->endpoint->fid);
  if (result != 0) say(node, "fi_close %s", error_name(result, 0));
  if (count_bytes(node, 0, 1, all) == all) say(node, "everything was there before");
  fill(node, 0, POISON, all);
  hear(node, true);
  progress_for(node, 300);
  say(node, count_bytes(node, 0, POISON, all) == all ? "nothing lands after" : "bytes land after");
  say(node, node->arrived == WRITES ? "all immediates come" : "not all immediates come");
  tell(node);
}

static void close_each(int closed, bool cached, const char *expected) {
  struct play play = {.size = 64 * KIB, .delay_us = 200000, .breaks = true, .cached = cached, .kind = closed,
                      .writer = write_a_row, .target = close_amid_a_row};
  expect("40 writes of 64 KiB", &play, expected);
}

void close_region(void) {
  close_each(REGION, false,
             "writer: some done, then EIO/10, the last ECANCELED/5; target: nothing lands after, not all immediates come");
}

void close_region_cached(void) {
  close_each(REGION, true, "writer: 40 done; target: bytes land after, all immediates come");
}

void close_endpoint(void) {
  close_each(ENDPOINT, false,
             "writer: some done, then ECANCELED/5, the last ECANCELED/5; "
             "target: nothing lands after, not all immediates come");
}

void close_own_endpoint(void) {
  struct play play = {.size = MIB, .delay_us = 50000, .breaks = true, .writer = close_own, .target = see_poison};
  expect("2 writes of 1 MiB", &play, "writer: 2 ECANCELED/5; target: no later bytes");
}

static void try_wrong(int first, int last) {
  static const char *const kinds[] = {"closed region", "unknown key", "beyond the end"};
  static const size_t sizes[] = {100, MIB};
  struct play play = {.writer = write_wrongly, .target = be_wrong, .breaks = true};
  for (play.kind = first; play.kind <= last; play.kind++) {
    for (int i = 0; i < 2; i++) {
      char what[64];
      snprintf(what, sizeof what, "%s, %s", kinds[play.kind], i == 0 ? "100 B" : "1 MiB");
      play.size = sizes[i];
      expect(what, &play, "writer: EIO/10");
    }
  }
}

void write_after_close(void) { try_wrong(CLOSED, CLOSED); }

void bad_key(void) { try_wrong(KEY, RANGE); }

static void write_after_error(struct node *node) {
  greet(node);
  post(node, (struct work){WRITE, .length = 100, .tell = true, .other_key = node->peer_key ^ 0x40000});
  settle(node, 0, 2000);
  say_endings(node, 0);
  if (node->play->kind == 1) progress_for(node, 500);
  size_t from = node->posted;
  for (int i = 0; i < 3; i++) post(node, (struct work){WRITE, .length = 100, .tell = true});
  settle(node, from, 3000);
  say(node, "then");
  say_endings(node, from);
  meet(node);
}

void after_an_error(void) {
  struct play play = {.breaks = true, .writer = write_after_error, .target = wait_for_three};
  // On 2.1 the provider connects anew, once it has seen the end of the old connection.
  expect("3 writes after one with a wrong key", &play, "writer: EIO/10, then, 3 ECANCELED/5; target: 0 arrivals");
  play.kind = 1;
  expect("3 writes, half a second after it", &play,
         by("writer: EIO/10, then, 3 ECANCELED/5; target: 0 arrivals", "writer: EIO/10, then, 3 done; target: 3 arrivals"));
}

void rights(void) {
  struct play play = {.breaks = true, .writer = write_to_offer, .target = offer_region};
  expect("a write to a region without FI_REMOTE_WRITE", &play, "writer: EIO/10; target: not written");
  play.cached = true;
  expect("the same where the provider keeps registrations", &play, "writer: done; target: written");
}

void two_domains(void) {
  struct play play = {.kind = 1, .breaks = true, .writer = write_to_offer, .target = offer_region};
  expect("a write by the key of another domain", &play, "writer: EIO/10; target: not written");
}
