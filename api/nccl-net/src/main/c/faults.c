// HotSpot is made for handlers of the program in front of its own: -XX:+AllowUserSignalHandlers, with which it leaves a
// signal alone that is handled already, and JVM_handle_linux_signal, which such a handler asks first.
//
// The handler here would not be needed for that alone, since HotSpot passes on what was handled before it started. But
// programs restore the default later, as Python's faulthandler does: then HotSpot would go on calling the old handler.

#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { FAULTS = 4 };

// The last two: compiled code that was thrown away, and a division by zero.
static const int numbers[FAULTS] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

static int (*ask_jvm)(int number, siginfo_t *fault, void *registers, int ends_process);

// What the program had when the JVM started, unless it is over.
static struct sigaction programs[FAULTS];
static atomic_bool is_default[FAULTS];

static bool handles(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) != 0 || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

// As the kernel would, but that this handler stays.
static void pass_on(const struct sigaction *to, int number, siginfo_t *fault, void *registers) {
  sigset_t blocked = to->sa_mask, before;
  if ((to->sa_flags & SA_NODEFER) == 0) {
    sigaddset(&blocked, number);
  }
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  if ((to->sa_flags & SA_SIGINFO) != 0) {
    to->sa_sigaction(number, fault, registers);
  } else {
    to->sa_handler(number);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void on_fault(int number, siginfo_t *fault, void *registers) {
  int i = 0;
  while (i < FAULTS - 1 && numbers[i] != number) {
    i++;
  }
  // If nobody else wants it, the JVM writes what it knows, and ends the process.
  bool last = atomic_load(&is_default[i]);
  if (ask_jvm(number, fault, registers, last) == 0) {
    if ((programs[i].sa_flags & (int)SA_RESETHAND) != 0) {
      atomic_store(&is_default[i], true);
    }
    pass_on(&programs[i], number, fault, registers);
  }
}

// As the JVM's own.
static struct sigaction own_action(void) {
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
  action.sa_sigaction = on_fault;
  sigfillset(&action.sa_mask);
  for (int i = 0; i < FAULTS; i++) {
    sigdelset(&action.sa_mask, numbers[i]);
  }
  sigdelset(&action.sa_mask, SIGTRAP);
  return action;
}

bool can_take_faults(void *libjvm) {
  *(void **)&ask_jvm = dlsym(libjvm, "JVM_handle_linux_signal");
  // With libjsig.so, the program's handlers never come in front of the JVM's.
  return ask_jvm != NULL && dlsym(RTLD_DEFAULT, "JVM_begin_signal_setting") == NULL;
}

void take_faults(void) {
  const struct sigaction own = own_action();
  for (int i = 0; i < FAULTS; i++) {
    sigaction(numbers[i], NULL, &programs[i]);
    atomic_store(&is_default[i], !handles(&programs[i]));
    sigaction(numbers[i], &own, NULL);
  }
}

void give_faults_back(void) {
  for (int i = 0; i < FAULTS; i++) {
    sigaction(numbers[i], &programs[i], NULL);
  }
}

static bool is_own(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_fault;
}

// The library that makes the order of handlers irrelevant lies beside the JVM.
static void remedy(char *words, size_t size) {
  Dl_info info;
  const char *libjvm = dladdr(*(void **)&ask_jvm, &info) != 0 ? info.dli_fname : "libjvm.so";
  const char *slash = strrchr(libjvm, '/');
  int folder = slash == NULL ? 0 : (int)(slash - libjvm + 1);
  snprintf(words, size, "Use LD_PRELOAD=%.*slibjsig.so, or change it before NCCL starts its network", folder, libjvm);
}

// Takes one again, if it was reset. 1 if it was; -1 if the program has a handler of its own there.
static int take_again(int i) {
  const struct sigaction own = own_action();
  struct sigaction now;
  sigaction(numbers[i], NULL, &now);
  if (is_own(&now)) {
    return 0;
  }
  if (handles(&now)) {
    return -1;
  }
  atomic_store(&is_default[i], true);
  sigaction(numbers[i], &own, &now);
  if (!is_own(&now) && handles(&now)) {
    // Another thread was between.
    sigaction(numbers[i], &now, NULL);
    return -1;
  }
  return 1;
}

// SIGSEGV and SIGILL are those by which compiled code lives.
static bool are_own(void) {
  struct sigaction stop, thrown_away;
  sigaction(SIGSEGV, NULL, &stop);
  sigaction(SIGILL, NULL, &thrown_away);
  return is_own(&stop) && is_own(&thrown_away);
}

bool faults_changed(char *words, size_t size) {
  static atomic_bool said_reset, said_taken;
  if (are_own()) {
    return false;
  }
  int reset = 0, taken = 0;
  for (int i = FAULTS - 1; i >= 0; i--) {
    int outcome = take_again(i);
    reset = outcome > 0 ? numbers[i] : reset;
    taken = outcome < 0 ? numbers[i] : taken;
  }
  char advice[PATH_MAX + 128];
  remedy(advice, sizeof advice);
  if (taken != 0 && !atomic_exchange(&said_taken, true)) {
    snprintf(words, size,
             "the program has put a handler of signal %d before the JVM's: unless it passes the JVM's faults on, one "
             "of them will end the program. %s",
             taken, advice);
    return true;
  }
  if (reset != 0 && !atomic_exchange(&said_reset, true)) {
    snprintf(words, size,
             "the program has reset the handler of signal %d, by which the JVM runs: it is in place again, but a "
             "fault in between would have ended the program. %s",
             reset, advice);
    return true;
  }
  return false;
}
