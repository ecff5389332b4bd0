// Peers in processes of their own, and the tool that looks at a wire.

#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

struct peer start_peer(void (*run)(struct peer *parent)) {
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0) fail("no pipe: %s", strerror(errno));
  fflush(NULL);
  pid_t parent = getpid(), pid = fork();
  if (pid < 0) fail("no process: %s", strerror(errno));
  if (pid != 0) {
    close(down[0]);
    close(up[1]);
    return (struct peer){.pid = pid, .in = up[0], .out = down[1]};
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) exit(1);
  close(down[1]);
  close(up[0]);
  run(&(struct peer){.pid = parent, .in = down[0], .out = up[1]});
  exit(0);
}

void tell(const struct peer *peer, const void *data, size_t size) {
  if (write(peer->out, data, size) != (ssize_t)size) fail("process %d cannot be told: %s", peer->pid, strerror(errno));
}

void hear(const struct peer *peer, void *data, size_t size) {
  for (size_t had = 0; had < size;) {
    ssize_t count = read(peer->in, (char *)data + had, size - had);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("expected word of process %d, came its end", peer->pid);
    had += (size_t)count;
  }
}

static int wait_for(struct peer *peer) {
  int status = 0;
  while (waitpid(peer->pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(peer->in);
  close(peer->out);
  return status;
}

void join_peer(struct peer *peer) {
  int status = wait_for(peer);
  if (status != 0) fail("a peer: expected that it ends well, came wait status 0x%x", (unsigned)status);
}

void kill_peer(struct peer *peer) {
  kill(peer->pid, SIGKILL);
  wait_for(peer);
}

bool wire_tool(const char *arguments, char *line, size_t size) {
  char self[1024], command[1400];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) fail("this program's path is unknown");
  self[length] = '\0';
  *strrchr(self, '/') = '\0';
  char wire[64];
  snprintf(wire, sizeof wire, "%sWIRE", suite.variables);
  snprintf(command, sizeof command, "'%s/%s-wire' '%s' %s", self, suite.name, getenv(wire), arguments);
  FILE *pipe_of_tool = popen(command, "r");
  if (pipe_of_tool == NULL) fail("%s cannot be run", command);
  *line = '\0';
  if (fgets(line, (int)size, pipe_of_tool) == NULL) *line = '\0';
  return pclose(pipe_of_tool) == 0;
}

long counter(const char *name) {
  char line[1024], wanted[64];
  if (!wire_tool("status", line, sizeof line)) fail("%s-wire status: expected exit 0, came another", suite.name);
  snprintf(wanted, sizeof wanted, " %s ", name);
  char spaced[1032];
  snprintf(spaced, sizeof spaced, " %s", line);
  const char *found = strstr(spaced, wanted);
  if (found == NULL) fail("%s-wire status: expected a number of %s, came: %s", suite.name, name, line);
  return atol(found + strlen(wanted));
}
