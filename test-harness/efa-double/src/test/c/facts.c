// What jofi relies on of libfabric's provider efa, shown on the real provider: efa-facts list, efa-facts run NAME

#include "facts.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric.h"

enum { SECONDS = 40, ABSENT = 77 };

struct fact {
  const char *name, *text;
  void (*run)(void);
  enum { ANYWHERE, NOT_DIRECT } where;
};

static const struct fact facts[] = {
    {"order-of-writes", "writes with immediate data arrive in any order", order_of_writes, ANYWHERE},
    {"order-of-sends", "sends arrive in order on efa, in any order on efa-direct", order_of_sends, ANYWHERE},
    {"immediate-after-bytes", "an immediate arrives after its own bytes, not after those of other writes",
     immediate_after_bytes, ANYWHERE},
    {"arrival", "what an arrival tells: flags, length, immediate", arrival, ANYWHERE},
    {"completion", "what the completion of a write means, by size", completion, ANYWHERE},
    {"delivery-complete", "the same with FI_DELIVERY_COMPLETE", delivery_complete, ANYWHERE},
    {"close-region", "whether closing a region in mid-write keeps later bytes away", close_region, ANYWHERE},
    {"close-region-cached", "the same where the provider keeps registrations", close_region_cached, NOT_DIRECT},
    {"close-endpoint", "whether closing the target's endpoint in mid-write keeps later bytes away", close_endpoint,
     ANYWHERE},
    {"close-own-endpoint", "what becomes of operations whose endpoint is closed", close_own_endpoint, ANYWHERE},
    {"write-after-close", "what a write to a closed region ends with", write_after_close, ANYWHERE},
    {"bad-key", "what a write with a wrong key or range ends with", bad_key, ANYWHERE},
    {"no-event-queue", "the same where the target has no event queue", no_event_queue, NOT_DIRECT},
    {"first-contact", "operations of a peer that was not inserted", first_contact, ANYWHERE},
    {"silent-before", "operations to a peer that is silent", silent_before, ANYWHERE},
    {"silent-after", "writes whose peer falls silent after it has the request", silent_after, ANYWHERE},
    {"back-again", "operations after a silent peer came back", back_again, ANYWHERE},
    {"killed-peer", "operations to a peer that was killed", killed_peer, ANYWHERE},
    {"replaced-endpoint", "operations to the address of an endpoint that was closed", replaced_endpoint, ANYWHERE},
    {"shared-addresses", "whether an address vector serves two endpoints", shared_addresses, ANYWHERE},
    {"close-beside-silence", "closing an endpoint whose operations go to a silent peer", close_beside_silence, ANYWHERE},
    {"first-long-write", "a long write as the first operation to a peer", first_long_write, ANYWHERE},
    {"options", "which options of endpoints are known, and what they say", options, ANYWHERE},
    {"limits", "sizes that fi_info and the endpoint tell", limits, ANYWHERE},
    {"immediates", "how many bits of an immediate arrive", immediates, ANYWHERE},
    {"inject", "whether injected bytes are copied within the call", inject, ANYWHERE},
    {"too-many-regions", "registering until the device is full", too_many_regions, ANYWHERE},
    {"too-many-endpoints", "opening endpoints until the device is full", too_many_endpoints, ANYWHERE},
    {"too-many-peers", "inserting peers until the device is full", too_many_peers, ANYWHERE},
    {"rights", "whether a region's remote rights are kept", rights, ANYWHERE},
    {"two-domains", "whether a key of one domain opens another of the same device", two_domains, ANYWHERE},
    {"no-receive", "5000 sends without a receive posted", no_receive, ANYWHERE},
    {"sleeping-receiver", "sends to a process that does not look at its queues", sleeping_receiver, ANYWHERE},
    {"retry-bound", "sends without a receive, retries bounded", retry_bound, ANYWHERE},
    {"immediates-use-receives", "immediates without unsolicited writes", immediates_use_receives, ANYWHERE},
    {"many-immediates", "more immediates than the completion queue holds", many_immediates, ANYWHERE},
    {"cancel", "fi_cancel of a posted receive", cancel, ANYWHERE},
    {"flush-read", "a read of one byte of the own memory", flush_read, ANYWHERE},
};
enum { FACTS = sizeof facts / sizeof *facts };

bool newer, direct;
int wrong;
void run_node(struct node *node);

const char *by(const char *old, const char *efa, const char *efa_direct) { return direct ? efa_direct : newer ? efa : old; }

static void set_number(const char *name, unsigned value) {
  char text[16];
  snprintf(text, sizeof text, "%u", value);
  if (value != 0) setenv(name, text, 1);
}

int node_of(bool target) {
  static pid_t probe;
  if (probe == 0) probe = getpid();
  return (probe & 0x7fff) | (target ? 0x8000 : 0);
}

// The provider makes shared memory for its host though it is not to use it, which a killed process leaves behind.
static void remove_shared_memory(void) {
  for (int target = 0; target < 2; target++) {
    char pattern[64];
    snprintf(pattern, sizeof pattern, "/dev/shm/fe80::efad:0:%x:*", node_of(target));
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; i++) unlink(found.gl_pathv[i]);
    }
    globfree(&found);
  }
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
  setenv("EFA_DOUBLE_WIRE", wire, 1);
  char node_number[16];
  snprintf(node_number, sizeof node_number, "%d", node_of(target));
  setenv("EFA_DOUBLE_NODE", node_number, 1);
  setenv("EFA_DOUBLE_GENERATION", play->generation ? play->generation : "write", 1);
  set_number("EFA_DOUBLE_DELAY_US", play->delay_us);
  set_number("EFA_DOUBLE_TIMEOUT_MS", play->timeout_ms ? play->timeout_ms : 500);
  setenv("FI_EFA_ENABLE_SHM_TRANSFER", "0", 1);
  if (play->setting != NULL) setenv(play->setting, play->value, 1);
  if (play->breaks && getenv("EFA_FACTS_NOISE") == NULL) {
    // What is broken here is the point of the probe, not a fault of it.
    unsetenv("EFA_DOUBLE_VIOLATIONS");
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 2);
  }
  struct node node = {.play = play, .target = target, .in = in[0], .out = out[1], .report = report[1]};
  run_node(&node);
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
  node_of(false);
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

void expect_each(const char *what, struct play play, const char *send, const char *read, const char *write) {
  char text[256];
  const char *const names[] = {"send", "read", "write"}, *const expected[] = {send, read, write};
  for (int i = direct ? 2 : 0; i < (newer ? 3 : 2); i++) {
    play.generation = names[i];
    snprintf(text, sizeof text, "%s, generation %s", what, names[i]);
    expect(text, &play, expected[i]);
  }
}

static int run(const struct fact *fact) {
  if (direct && !newer) {
    printf("%s: libfabric %d.%d has no efa-direct\n", fact->name, FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
    return ABSENT;
  }
  if (direct && fact->where == NOT_DIRECT) {
    printf("%s: there is no such case on efa-direct\n", fact->name);
    return ABSENT;
  }
  printf("%s (libfabric %d.%d, %s): %s\n", fact->name, FI_MAJOR(fi_version()), FI_MINOR(fi_version()),
         direct ? "efa-direct" : "efa", fact->text);
  fact->run();
  remove_shared_memory();
  return wrong > 0;
}

static int usage(FILE *to) {
  fputs("usage: efa-facts list\n"
        "       efa-facts run NAME [--fabric efa|efa-direct]\n"
        "\n"
        "exit codes: 0 what docs/PROVIDERS.md says holds; 1 something else came; 2 wrong usage; 77 there is no such case\n",
        to);
  return to == stdout ? 0 : 2;
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "--help") == 0) return usage(stdout);
  if (count == 2 && strcmp(arguments[1], "list") == 0) {
    for (int i = 0; i < FACTS; i++) printf("%s\n", facts[i].name);
    return 0;
  }
  bool fabric = count == 5 && strcmp(arguments[3], "--fabric") == 0;
  if ((count != 3 && !fabric) || strcmp(arguments[1], "run") != 0) return usage(stderr);
  if (fabric && strcmp(arguments[4], "efa") != 0 && strcmp(arguments[4], "efa-direct") != 0) return usage(stderr);
  direct = fabric && strcmp(arguments[4], "efa-direct") == 0;
  newer = FI_VERSION_GE(fi_version(), FI_VERSION(2, 0));
  for (int i = 0; i < FACTS; i++) {
    if (strcmp(arguments[2], facts[i].name) == 0) return run(&facts[i]);
  }
  fprintf(stderr, "efa-facts: there is no probe '%s'; efa-facts list names them\n", arguments[2]);
  return 2;
}
