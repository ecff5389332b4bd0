#include "facts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 40, ABSENT = 77 };

bool newer;
static int wrong;

// The variable of the double that is called so.
static const char *variable_named(const char *name) {
  static char texts[4][64];
  static int next;
  char *text = texts[next++ % 4];
  snprintf(text, 64, "%s_%s", subject.variables, name);
  return text;
}

const char *variable(const char *name) { return getenv(variable_named(name)); }

void set_variable(const char *name, const char *value) { setenv(variable_named(name), value, 1); }

static void set_number(const char *name, unsigned value) {
  char text[16];
  snprintf(text, sizeof text, "%u", value);
  if (value != 0) set_variable(name, text);
}
static pid_t start(const struct play *play, bool target, const char *wire, const int *in, const int *out,
                   const int *report) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  alarm(SECONDS);
  signal(SIGPIPE, SIG_IGN);
  close(in[1]);
  close(out[0]);
  close(report[0]);
  set_variable("WIRE", wire);
  set_number("NODE", (unsigned)subject.node(target));
  set_number("DELAY_US", play->delay_us);
  set_number("TIMEOUT_MS", play->timeout_ms ? play->timeout_ms : 500);
  if (subject.prepare != NULL) subject.prepare(play);
  if (play->setting != NULL) setenv(play->setting, play->value, 1);
  if (play->breaks && getenv("FACTS_NOISE") == NULL) {
    // What is broken here is the point of the probe, not a fault of it.
    unsetenv(variable_named("VIOLATIONS"));
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 2);
  }
  struct node node = {.play = play, .target = target, .in = in[0], .out = out[1], .report = report[1]};
  open_node(&node);
  (target ? play->target : play->writer)(&node);
  // As a process ends that is killed: what the provider's own clean-up says is not the matter.
  _exit(0);
}

static void collect(int report, pid_t pid, char *text, size_t size) {
  size_t length = 0;
  ssize_t count;
  while ((count = read(report, text + length, size - 64 - length)) > 0) length += (size_t)count;
  int status;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  text[length] = '\0';
  const char *comma = length > 0 ? ", " : "";
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    snprintf(text + length, 64, "%sexit %d", comma, WEXITSTATUS(status));
  }
  if (WIFSIGNALED(status)) snprintf(text + length, 64, "%sSIG%s", comma, sigabbrev_np(WTERMSIG(status)));
}

static void run_play(const struct play *play, char *text, size_t size) {
  static int plays;
  char wire[64], writer[2048], target[2048];
  snprintf(wire, sizeof wire, "facts-%d-%d", getpid(), plays++);
  int to_writer[2], to_target[2], of_writer[2], of_target[2];
  if (pipe(to_writer) || pipe(to_target) || pipe(of_writer) || pipe(of_target)) exit(2);
  pid_t writer_pid = start(play, false, wire, to_writer, to_target, of_writer);
  pid_t target_pid = start(play, true, wire, to_target, to_writer, of_target);
  int ours[] = {to_writer[0], to_writer[1], to_target[0], to_target[1], of_writer[1], of_target[1]};
  for (int i = 0; i < 6; i++) close(ours[i]);
  collect(of_writer[0], writer_pid, writer, sizeof writer);
  collect(of_target[0], target_pid, target, sizeof target);
  close(of_writer[0]);
  close(of_target[0]);
  snprintf(text, size, "%s%s%s%s%s", *writer ? "writer: " : "", writer, *writer && *target ? "; " : "",
           *target ? "target: " : "", target);
}

static bool is_one_of(const char *came, const char *expected) {
  size_t length = strlen(came);
  for (const char *part = expected; part != NULL; part = strchr(part, '|')) {
    part += *part == '|';
    if (strncmp(part, came, length) == 0 && (part[length] == '|' || part[length] == '\0')) return true;
  }
  return false;
}

void compare(const char *what, const char *came, const char *expected) {
  printf("  %s: %s\n", what, came);
  if (!is_one_of(came, expected)) {
    printf("    expected: %s\n", expected);
    wrong++;
  }
  fflush(stdout);
}

void expect(const char *what, const struct play *play, const char *expected) {
  char text[4300];
  fflush(stdout);
  run_play(play, text, sizeof text);
  compare(what, text, expected);
}

static int run(const struct fact *fact) {
  const char *absent = subject.absent == NULL ? NULL : subject.absent(fact);
  if (absent != NULL) {
    printf("%s: %s\n", fact->name, absent);
    return ABSENT;
  }
  uint32_t version = fi_version();
  printf("%s (libfabric %d.%d, %s): %s\n", fact->name, FI_MAJOR(version), FI_MINOR(version), subject.name(), fact->text);
  fact->run();
  if (subject.end != NULL) subject.end();
  return wrong > 0;
}

static int usage(FILE *to) {
  fprintf(to,
          "usage: %s list\n"
          "       %s run NAME%s\n"
          "\n"
          "exit codes: 0 what docs/PROVIDERS.md says holds; 1 something else came; 2 wrong usage; 77 there is no such case\n",
          subject.program, subject.program, subject.options);
  return to == stdout ? 0 : 2;
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "--help") == 0) return usage(stdout);
  if (count == 2 && strcmp(arguments[1], "list") == 0) {
    for (const struct fact *fact = subject.facts; fact->name != NULL; fact++) printf("%s\n", fact->name);
    return 0;
  }
  if (count < 3 || strcmp(arguments[1], "run") != 0 || !subject.take_options(count - 3, arguments + 3)) return usage(stderr);
  newer = FI_VERSION_GE(fi_version(), FI_VERSION(2, 0));
  for (const struct fact *fact = subject.facts; fact->name != NULL; fact++) {
    if (strcmp(arguments[2], fact->name) == 0) return run(fact);
  }
  fprintf(stderr, "%s: there is no probe '%s'; %s list names them\n", subject.program, arguments[2], subject.program);
  return 2;
}
