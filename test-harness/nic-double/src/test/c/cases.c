// The NIC by itself, without the provider: each rule, each status, and the data.

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

enum { SECONDS = 50 };

extern char **environ;

static const char usage[] =
    "usage: verbs-cases [list | run NAME | --help]\n"
    "\n"
    "  list      prints the names of the cases\n"
    "  run NAME  runs one\n"
    "            without an argument: runs all of them\n"
    "\n"
    "exit codes: 0 passed, 1 failed, 2 wrong usage\n";

// What the caller's environment says of the double is not the case's.
static void forget_settings(void) {
  for (char **entry = environ; *entry != NULL;) {
    char name[64];
    if (strncmp(*entry, suite.variables, strlen(suite.variables)) == 0 && sscanf(*entry, "%63[^=]", name) == 1 && unsetenv(name) == 0) {
      entry = environ;
    } else {
      entry++;
    }
  }
}

// In a group of its own, so that its peers can be ended with it.
__attribute__((noreturn)) static void run_here(const struct test_case *one, const char *violations, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (output >= 0) {
    dup2(output, 1);
    dup2(output, 2);
  }
  forget_settings();
  char name[64];
  snprintf(name, sizeof name, "verbs-cases-%d", getpid());
  set("WIRE", name);
  set("VIOLATIONS", violations);
  alarm(SECONDS);
  one->run();
  exit(0);
}

// Whether the rules in the file are those that the case was to break.
static bool as_expected(const struct test_case *one, FILE *file, FILE *output) {
  char line[1024];
  bool broken = false, right = true;
  while (fgets(line, sizeof line, file) != NULL) {
    char *colon = strchr(line, ':');
    if (colon != NULL) *colon = '\0';
    broken = true;
    if (one->rule != NULL && strcmp(line, one->rule) == 0) continue;
    fprintf(output, "%s: expected %s broken, came %s\n", one->name, one->rule != NULL ? one->rule : "no rule", line);
    right = false;
  }
  if (one->rule != NULL && !broken) {
    fprintf(output, "%s: expected %s broken, came no broken rule\n", one->name, one->rule);
    right = false;
  }
  return right;
}

// In a process of its own; what it says goes to `output`, or where this process's own goes if that is NULL.
static bool run_case(const struct test_case *one, FILE *output) {
  char violations[] = "/tmp/verbs-cases-XXXXXX";
  int fd = mkstemp(violations);
  if (fd < 0) fail("no temporary file: %s", strerror(errno));
  FILE *file = fdopen(fd, "r"), *told = output != NULL ? output : stderr;
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0) fail("no process: %s", strerror(errno));
  if (pid == 0) run_here(one, violations, output != NULL ? fileno(output) : -1);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  kill(-pid, SIGKILL);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    fprintf(told, "%s: expected an end within %d s, came none\n", one->name, SECONDS);
  } else if (WIFSIGNALED(status)) {
    fprintf(told, "%s: expected an end by itself, came signal %d\n", one->name, WTERMSIG(status));
  }
  bool right = as_expected(one, file, told) && status == 0;
  fclose(file);
  unlink(violations);
  fflush(told);
  return right;
}

static void copy_out(FILE *from) {
  char line[1024];
  rewind(from);
  while (fgets(line, sizeof line, from) != NULL) printf("    %s", line);
}

static bool run_and_tell(const struct test_case *one) {
  FILE *output = tmpfile();
  if (output == NULL) fail("no temporary file: %s", strerror(errno));
  uint64_t start = milliseconds();
  bool right = run_case(one, output);
  printf("%s %s (%lu ms)\n", right ? "passed" : "FAILED", one->name, milliseconds() - start);
  if (!right) copy_out(output);
  fclose(output);
  fflush(stdout);
  return right;
}

static int run_all(void) {
  int passed = 0, failed = 0;
  for (int g = 0; suite.groups[g] != NULL; g++) {
    for (const struct test_case *one = suite.groups[g]; one->name != NULL; one++) {
      bool right = run_and_tell(one);
      passed += right;
      failed += !right;
    }
  }
  printf("%d cases: %d passed, %d failed\n", passed + failed, passed, failed);
  return failed != 0;
}

static int list(void) {
  for (int g = 0; suite.groups[g] != NULL; g++) {
    for (const struct test_case *one = suite.groups[g]; one->name != NULL; one++) puts(one->name);
  }
  return 0;
}

static int run_by_name(const char *name) {
  for (int g = 0; suite.groups[g] != NULL; g++) {
    for (const struct test_case *one = suite.groups[g]; one->name != NULL; one++) {
      if (strcmp(one->name, name) == 0) return !run_case(one, NULL);
    }
  }
  fprintf(stderr, "verbs-cases: there is no case %s; verbs-cases list prints their names\n", name);
  return 2;
}

int main(int count, char **arguments) {
  if (count == 1) return run_all();
  if (count == 2 && strcmp(arguments[1], "list") == 0) return list();
  if (count == 3 && strcmp(arguments[1], "run") == 0) return run_by_name(arguments[2]);
  bool asked = count == 2 && (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0);
  fputs(usage, asked ? stdout : stderr);
  return asked ? 0 : 2;
}
