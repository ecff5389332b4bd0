// What arrives at a receiver that is not ready, and what the local calls on receives do.

#include "verbs-facts.h"

void no_receive(void) {
  struct play play = {.writer = send_many, .target = take_many};
  expect("5000 sends of 100 B", &play, "writer: all posted, all done, with receives, all done; target: all arrived");
}

void sleeping_receiver(void) {
  struct play play = {.kind = 1, .writer = send_many, .target = take_many};
  expect("5000 sends of 100 B", &play,
         by("writer: 125 posted, 125 done, with receives, all done; target: 125 arrived",
            "writer: 256 posted, 128 done, with receives, all done; target: 256 arrived"));
}

void sleeping_immediates(void) {
  struct play play = {.size = 5000, .writer = write_many, .target = sleep_over_writes};
  expect("5000 writes", &play,
         by("writer: 125 posted, 125 done, once the target looks, all done; target: 125 arrived",
            "writer: 256 posted, 128 done, once the target looks, all done; target: 256 arrived"));
}

static void write_unheard(struct node *node) {
  meet(node);
  fill(node, 0, 1, 50);
  for (size_t i = 0; i < 50; i++) post(node, (struct work){WRITE, .at = i, .to = i, .length = 1, .tell = node->play->kind == 1});
  settle(node, 0, 5000);
  say_endings(node, 0);
  meet(node);
}

static void count_unheard(struct node *node) {
  meet(node);
  hear(node, true);
  progress_for(node, 200);
  say(node, "%zu bytes, %zu immediates", count_bytes(node, 0, 1, 50), node->arrived);
  tell(node);
}

void shared_receives(void) {
  struct play play = {.setting = "FI_OFI_RXM_USE_SRX", .value = "1", .writer = write_unheard, .target = count_unheard};
  expect("50 writes", &play, "writer: 50 done; target: 50 bytes, 0 immediates");
  play.kind = 1;
  expect("50 writes with immediate data", &play, "writer: 50 done; target: 50 bytes, 0 immediates");
}

void cancel(void) {
  struct play play = {.writer = send_two, .target = cancel_one};
  expect("three receives, the first cancelled, two sends", &play,
         "writer: 2 done; target: fi_cancel 0, 1 ECANCELED/-125, 2 done");
}
