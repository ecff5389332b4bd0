// Programs that end without finalize.
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios.h"

// Files in shared memory of a process.
static int files_of(pid_t process) {
  char begins[32];
  snprintf(begins, sizeof begins, "%d:", (int)process);
  DIR *folder = opendir("/dev/shm");
  check(folder != NULL, "no /dev/shm");
  int count = 0;
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    count += strncmp(entry->d_name, begins, strlen(begins)) == 0;
  }
  closedir(folder);
  return count;
}

static void connect_and_tell(side *s) {
  side_open(s);
  void *receiver = NULL;
  connect_here(s, &receiver);
  check(files_of(getpid()) > 0, "no file in shared memory");
  printf("process %d\n", (int)getpid());
  fflush(NULL);
}

// By exit(), connected, after another was killed, which had files.
void exit_open(side *s) {
  const char *killed = getenv("KILLED");
  check(killed != NULL, "nobody was killed");
  connect_and_tell(s);
  check(files_of(atoi(killed)) == 0, "what process %s left is still there", killed);
  exit(0);
}

// By a signal that nobody handles.
void killed_open(side *s) {
  connect_and_tell(s);
  raise(SIGTERM);
}
