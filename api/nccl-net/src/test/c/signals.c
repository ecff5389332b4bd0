// Programs that change the signals by which a JVM runs.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "scenarios.h"

enum { RESETS = 20, MESSAGES = 400 };

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

// As Python's faulthandler.disable() does.
static void reset_faults(void) {
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    signal(faults[i], SIG_DFL);
  }
}

static void traffic(side *s, void *comm, memory *m, int messages) {
  for (int i = 0; i < messages; i++) {
    size_t size = i % 3 == 0 ? 8 : m->size;
    if (s->rank == 0) {
      finish(s, post_send(s, comm, m->bytes, size, 1, m->region));
    } else {
      check(finish(s, post_recv(s, comm, m->bytes, m->size, 1, m->region)) == (int)size, "a length");
    }
  }
}

static void many_calls(side *s) {
  int devices = 0;
  for (int i = 0; i < 100; i++) {
    check_ok(net_devices(&s->n, &devices));
  }
}

// The JVM is told to stop its threads all the time, which are faults.
void handlers_reset(side *s) {
  void *comm = connect_pair(s);
  memory m = memory_new(s, comm, 64 << 10);
  for (int i = 0; i < RESETS; i++) {
    traffic(s, comm, &m, MESSAGES);
    reset_faults();
    // Until the plugin looks, a fault is the end.
    many_calls(s);
  }
  traffic(s, comm, &m, RESETS * MESSAGES);
  memory_free(s, comm, &m);
  close_pair(s, comm);
  check(warnings() == 1 && strstr(last_warning(), "has reset the handler") != NULL, "%d warnings, the last: %s",
        warnings(), last_warning());
}

static sigjmp_buf back;
static volatile sig_atomic_t caught_by;

static void first_handler(int number) {
  (void)number;
  caught_by = 1;
  siglongjmp(back, 1);
}

static void second_handler(int number) {
  (void)number;
  caught_by = 2;
  siglongjmp(back, 1);
}

static void *handler_of(int number) {
  struct sigaction action;
  sigaction(number, NULL, &action);
  return (void *)action.sa_handler;
}

// Reads what nobody may read.
static int fault(void) {
  static void *forbidden;
  if (forbidden == NULL) {
    forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(forbidden != MAP_FAILED, "mmap");
  }
  caught_by = 0;
  if (sigsetjmp(back, 1) == 0) {
    (void)*(volatile int *)forbidden;
  }
  return caught_by;
}

// A fault of the program reaches the program's handler, whether it is set before init or after.
void faults_of_program(side *s) {
  signal(SIGSEGV, first_handler);
  side_open(s);
  check(handler_of(SIGSEGV) != (void *)first_handler, "the JVM does not see its faults");
  check(fault() == 1, "the handler of before is not called");
  check(fault() == 1, "it is not called the second time");
  signal(SIGSEGV, SIG_DFL);
  many_calls(s);
  check(handler_of(SIGSEGV) != (void *)SIG_DFL, "the JVM does not see its faults after a reset");
  check(warnings() == 1 && strstr(last_warning(), "libjsig.so") != NULL, "%d warnings, the last: %s", warnings(),
        last_warning());
  signal(SIGSEGV, second_handler);
  many_calls(s);
  check(warnings() == 2 && strstr(last_warning(), "has put a handler of signal 11") != NULL,
        "%d warnings, the last: %s", warnings(), last_warning());
  check(fault() == 2, "the handler of after is not called");
  signal(SIGSEGV, SIG_DFL);
  many_calls(s);
  check(handler_of(SIGSEGV) != (void *)SIG_DFL, "the second reset");
  check(warnings() == 2, "%d warnings", warnings());
  side_close(s);
}
