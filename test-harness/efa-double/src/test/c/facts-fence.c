// Whether bytes can still land after a close, and what a writer is told whose target is closed or wrong.

#include "efa-facts.h"

#include <stdio.h>
#include <string.h>

// --- In mid-write -----------------------------------------------------------------------------------------------------

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
