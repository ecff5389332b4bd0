// What arrives at a receiver that is not ready, and what the local calls on receives do.

#include "efa-facts.h"

#include <stdio.h>
#include <string.h>

// --- Sends without a receive ------------------------------------------------------------------------------------------

void no_receive(void) {
  struct play play = {.writer = send_many, .target = take_many};
  const char *taken = "writer: all posted, all done, with receives, all done; target: all arrived";
  expect("5000 sends of 100 B", &play,
         by(taken, taken, "writer: 1024 posted, none done, with receives, all done; target: 1024 arrived"));
}

void sleeping_receiver(void) {
  struct play play = {.kind = 1, .writer = send_many, .target = take_many};
  const char *bounded = "writer: all posted, about 4096 done, with receives, all done; target: all arrived";
  expect("5000 sends of 100 B", &play,
         by(bounded, bounded, "writer: 1024 posted, none done, with receives, all done; target: 1024 arrived"));
}

void retry_bound(void) {
  struct play play = {.kind = 1, .retries_set = true, .retries = 2, .writer = send_many, .target = take_many};
  const char *bounded = "writer: all posted, about 4096 done, with receives, all done; target: all arrived";
  expect("5000 sends of 100 B, FI_OPT_EFA_RNR_RETRY 2", &play,
         by(bounded, bounded,
            "writer: all posted, none done, all ENORX/10, with receives, none done; target: none arrived"));
}

// --- Immediates -------------------------------------------------------------------------------------------------------

// A few receives on either side, of which the greeting takes one.
static void post_receives(struct node *node) {
  for (int i = 0; i < 40; i++) post(node, (struct work){RECEIVE, .length = 128});
}

static void write_to_receives(struct node *node) {
  post_receives(node);
  write_many(node);
}

static void sleep_over_receives(struct node *node) {
  post_receives(node);
  greet(node);
  hear(node, false);
  progress_for(node, 100);
  say_count(node, node->arrived, node->play->size, "arrived");
  for (int i = 0; i < 100; i++) post(node, (struct work){RECEIVE, .length = 128});
  await_arrivals(node, node->play->size, 2500);
  say_count(node, node->arrived, node->play->size, "with more receives");
  meet(node);
}

void immediates_use_receives(void) {
  struct play play = {.size = direct ? 100 : 5000, .mode = FI_RX_CQ_DATA, .setting = "FI_EFA_USE_UNSOLICITED_WRITE_RECV",
                      .value = "0", .writer = direct ? write_to_receives : write_many,
                      .target = direct ? sleep_over_receives : sleep_over_writes};
  const char *bounded = "writer: all posted, about 4096 done, once the target looks, all done; target: all arrived";
  expect_each(direct ? "100 writes to 40 receives" : "5000 writes to a target that sleeps", play, bounded, bounded,
              by("", bounded,
                 "writer: all posted, 39 done, once the target looks, all done; "
                 "target: 39 arrived, all with more receives"));
}

void many_immediates(void) {
  struct play play = {.size = 20000, .queue = 256, .breaks = true, .writer = write_many, .target = sleep_over_writes};
  expect("20000 writes to a target that sleeps and asked for a queue of 256", &play,
         by("writer: about 5120 posted, about 4096 done, once the target looks, all done; "
            "target: about 5120 arrived",
            "writer: all posted, all done, once the target looks, all done; target: about 8192 arrived",
            "writer: all posted, all done, once the target looks, all done; "
            "target: hardly more arrived than the queue holds"));
}

// --- Local calls ------------------------------------------------------------------------------------------------------

void cancel(void) {
  struct play play = {.writer = send_two, .target = cancel_one};
  const char *cancelled = "writer: 2 done; target: fi_cancel 0, 1 ECANCELED/-125, 2 done";
  expect("three receives, the first cancelled, two sends", &play,
         by(cancelled, cancelled,
            "writer: 2 done; target: fi_cancel ENOSYS, 2 done, 1 never ended, bytes in the first"));
}

void flush_read(void) {
  struct play play = {.writer = read_own, .target = be_there};
  const char *read = "writer: done, the byte is there, 1 reads of the NIC, 0 sends, again: 1, 0";
  // The first one has a handshake with itself.
  expect_each("1 byte", play, "writer: done, the byte is there, 0 reads of the NIC, 3 sends, again: 0, 2", read, read);
}
