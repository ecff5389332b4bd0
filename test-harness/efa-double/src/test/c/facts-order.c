// In which order things arrive, and what the end of a write says.

#include "efa-facts.h"

#include <stdio.h>
#include <string.h>

// --- Order ------------------------------------------------------------------------------------------------------------

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

void immediate_after_bytes(void) {
  const char *expected = "target: own bytes always there, those of earlier writes not";
  struct play play = {.delay_us = 300000, .size = MIB, .writer = write_blocks, .target = look_at_blocks};
  expect_each("12 writes of 1 MiB", play, expected, expected, expected);
  play.size = 4 * KIB;
  play.delay_us = 50000;
  expect_each("12 writes of 4 KiB", play, expected, expected, expected);
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
