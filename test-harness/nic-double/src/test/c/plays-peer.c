// Peers that are not known yet, do not answer, or are gone.

#include "plays.h"

#include <signal.h>

const size_t three_sizes[] = {100, 100 * KIB, 4 * MIB};

void contact(struct node *node) {
  fill(node, 0, 7, node->play->size);
  hear(node, true);
  struct work work = {(enum operation)node->play->kind, .length = node->play->size, .tell = true, .data = 3};
  post(node, work);
  settle(node, 0, 3000);
  say_endings(node, 0);
  meet(node);
}

void be_contacted(struct node *node) {
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

static void post_three(struct node *node) {
  for (int i = 0; i < 3; i++) post(node, (struct work){WRITE, .length = three_sizes[i], .tell = true});
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

void write_into_silence(struct node *node) {
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

void be_silent(struct node *node) {
  greet(node);
  tell(node);
  hear(node, false);
  hear(node, true);
  progress_for(node, 100);
  if (node->arrived > 0) say(node, "%zu arrivals", node->arrived);
  say_event(node);
  tell(node);
}

void come_back(struct node *node) {
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

void wait_for_three(struct node *node) {
  greet(node);
  hear(node, true);
  progress_for(node, 100);
  say(node, "%zu arrivals", node->arrived);
  say_event(node);
  tell(node);
}

void write_to_the_dead(struct node *node) {
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

void be_killed(struct node *node) {
  greet(node);
  tell(node);
  for (;;) rest(1000);
}

void write_to_the_old(struct node *node) {
  greet(node);
  hear(node, true);
  post_three(node);
  settle(node, 0, NEVER_MS);
  say_endings(node, 0);
  say_event(node);
  tell(node);
}

void replace(struct node *node) {
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

void bind_twice(struct node *node) {
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

void do_nothing(struct node *node) { (void)node; }
void close_beside(struct node *node) {
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

void stay_silent(struct node *node) {
  greet(node);
  hear(node, false);
}
