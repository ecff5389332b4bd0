// driver PLUGIN VERSION SCENARIOS: runs them, and exits with 0 if all of it held.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios.h"

// A test that hangs all the same ends here, in seconds.
enum { LIMIT = 400 };

typedef struct {
  const char *name;
  void (*run)(side *);
  bool pair;
  bool peer_dies;
} scenario;

static const scenario scenarios[] = {
    {"sizes", sizes, true, false},
    {"in-flight", in_flight, true, false},
    {"groups", groups, true, false},
    {"flushes", flushes, true, false},
    {"service-thread", service_thread, true, false},
    {"four-at-once", four_at_once, true, false},
    {"listener-again", listener_again, true, false},
    {"close-in-flight", close_in_flight, true, false},
    {"too-long", too_long, true, false},
    {"stale-handles", stale_handles, true, false},
    {"again", again, true, false},
    {"some-churn", some_churn, true, false},
    {"churn", churn, true, false},
    {"peer-killed", peer_killed, true, true},
    {"rails", rails, true, false},
    {"fork-then-call", fork_then_call, true, false},
    {"children-exit", children_exit, true, false},
    {"finalize-in-flight", finalize_in_flight, true, false},
    {"files-close-on-exec", files_close_on_exec, true, false},
    {"handlers-reset", handlers_reset, true, false},
    {"host-unchanged", host_unchanged, false, false},
    {"faults-of-program", faults_of_program, false, false},
    {"foreign-jvm", foreign_jvm, false, false},
    {"refused-in-jvm", refused_in_jvm, false, false},
    {"older", older, false, false},
    {"early-calls", early_calls, false, false},
    {"refused", refused, false, false},
    {"boundary", boundary, false, false},
    {"start", start, false, false},
    {"small-stacks", small_stacks, false, false},
    {"exit-open", exit_open, false, false},
    {"killed-open", killed_open, false, false},
};

static const scenario *find(const char *name) {
  for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
    if (strcmp(scenarios[i].name, name) == 0) {
      return &scenarios[i];
    }
  }
  fprintf(stderr, "no scenario %s\n", name);
  exit(2);
}

// Those of two processes that both outlive, one after the other.
static void run_pair(side *s, char *names) {
  side_fork(s);
  alarm(LIMIT);
  side_open(s);
  char *rest = NULL;
  for (char *name = strtok_r(names, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
    const scenario *chosen = find(name);
    check(chosen->pair, "%s is not for two processes", name);
    fprintf(stderr, "rank %d: %s\n", s->rank, name);
    meet(s);
    chosen->run(s);
    if (chosen->peer_dies) {
      side_close(s);
      return;
    }
    meet(s);
  }
  side_close(s);
  side_join(s);
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: %s PLUGIN 10|11|12 SCENARIO[,SCENARIO...]\n", arguments[0]);
    return 2;
  }
  side s = {.plugin = arguments[1], .version = atoi(arguments[2]), .rank = 0};
  alarm(LIMIT);
  if (strchr(arguments[3], ',') != NULL || find(arguments[3])->pair) {
    run_pair(&s, arguments[3]);
  } else {
    find(arguments[3])->run(&s);
  }
  return 0;
}
