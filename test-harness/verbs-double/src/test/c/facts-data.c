// In which order things arrive, what the end of a write says, and what the provider says of itself.

#include "verbs-facts.h"

#include <stdio.h>

void order_of_writes(void) {
  struct play play = {.delay_us = 2000, .kind = WRITE, .writer = post_many, .target = see_writes};
  expect("64 writes of 100 B", &play, "target: in order");
}

void order_of_sends(void) {
  struct play play = {.delay_us = 2000, .kind = SEND, .writer = post_many, .target = see_sends};
  expect("64 sends, no order asked for", &play, "target: in order");
  play.order = FI_ORDER_SAS;
  expect("64 sends, FI_ORDER_SAS", &play, "target: in order");
}

void immediate_after_bytes(void) {
  const char *expected = "target: own bytes always there, those of earlier writes too";
  struct play play = {.delay_us = 300000, .size = MIB, .writer = write_blocks, .target = look_at_blocks};
  expect("12 writes of 1 MiB", &play, expected);
  play.size = 4 * KIB;
  play.delay_us = 50000;
  expect("12 writes of 4 KiB", &play, expected);
}

void arrival(void) {
  struct play play = {.writer = write_one, .target = see_one};
  static const size_t lengths[] = {100, 100 * KIB};
  for (int i = 0; i < 2; i++) {
    char what[64], expected[128];
    play.size = lengths[i];
    snprintf(what, sizeof what, "%zu B", play.size);
    snprintf(expected, sizeof expected, "target: RMA REMOTE_WRITE REMOTE_CQ_DATA, length %zu, immediate 12345678",
             newer ? play.size : 0);
    expect(what, &play, expected);
  }
}

void immediates(void) {
  struct play play = {.writer = send_immediates, .target = see_immediates};
  expect("64 bits", &play, "writer: 3 done; "
                             "target: write 55667788, fi_sendmsg 1122334455667788, fi_senddata 1122334455667788");
}

void completion(void) {
  struct play play = {.writer = complete_each, .target = help_as_told};
  const char *placed = "writer: 100 B write at once placed, 8 KiB write at once placed, 64 KiB write at once placed, "
                       "1 MiB write at once placed, 4 MiB write at once placed";
  expect("completion", &play, placed);
  play.kind = 1;
  expect("completion with FI_DELIVERY_COMPLETE", &play, placed);
}

void limits(void) {
  struct play play = {.writer = tell_sizes, .target = alone};
  expect("fi_info", &play,
         "writer: longest 1073741824, inject 192, immediates of 4 bytes, pieces 4 and 1, queues 2048 and 2048, "
         "message order bb000001b7, mode, progress manual, resources managed");
}

void inject(void) {
  struct play play = {.kind = SEND, .delay_us = 1000, .writer = inject_some, .target = take_injected};
  const char *all = "writer: 1 B, 0, 32 B, 0, 192 B, 0";
  expect("fi_inject", &play, all);
  play.kind = WRITE;
  expect("fi_inject_write", &play, all);
  play.writer = write_injected;
  play.target = look_at_injected;
  expect("FI_INJECT with a descriptor", &play, "writer: done; target: the bytes of the call");
  play.size = 1;
  expect("FI_INJECT without a descriptor", &play, "writer: done; target: the bytes of the call");
}

void flush_read(void) {
  struct play play = {.writer = read_own, .target = be_there};
  // On 1.17 the connection's greeting is of messages.
  expect("1 byte", &play, by("writer: done, the byte is there, 1 reads of the NIC, 2 sends, again: 1, 0",
                             "writer: done, the byte is there, 1 reads of the NIC, 0 sends, again: 1, 0"));
}
