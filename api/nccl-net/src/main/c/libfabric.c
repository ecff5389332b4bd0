#define _GNU_SOURCE
#include "libfabric.h"

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_REAL_TIME = 32 };

// As Java does: a name without a folder is one of the working directory.
static bool choose(const char *folder, char file[PATH_MAX + 32]) {
  const char *chosen = getenv("JOFI_LIBFABRIC");
  if (chosen == NULL) {
    snprintf(file, PATH_MAX + 32, "%s/lib/libfabric.so.1", folder);
    if (access(file, R_OK) == 0) {
      return true;
    }
  }
  // A property names another one.
  const char *options[] = {getenv("JOFI_JVM_OPTS"), getenv("JAVA_TOOL_OPTIONS"), getenv("_JAVA_OPTIONS")};
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
    if (options[i] != NULL && strstr(options[i], "jofi.libfabric") != NULL) {
      return false;
    }
  }
  if (chosen == NULL || chosen[0] == 0) {
    snprintf(file, PATH_MAX + 32, "libfabric.so.1");
    return true;
  }
  return realpath(chosen, file) != NULL;
}

void load_libfabric(const char *folder) {
  char file[PATH_MAX + 32];
  if (!choose(folder, file)) {
    return;
  }
  struct sigaction before[FIRST_REAL_TIME], now;
  for (int number = 1; number < FIRST_REAL_TIME; number++) {
    sigaction(number, NULL, &before[number]);
  }
  dlopen(file, RTLD_NOW | RTLD_LOCAL);
  for (int number = 1; number < FIRST_REAL_TIME; number++) {
    if (sigaction(number, NULL, &now) == 0 && now.sa_sigaction != before[number].sa_sigaction) {
      sigaction(number, &before[number], NULL);
    }
  }
}
