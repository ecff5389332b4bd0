#define _GNU_SOURCE
#include "libfabric.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST_REAL_TIME = 32 };

bool folders_libfabric(const char *folder, char file[LIBFABRIC_BYTES]) {
  snprintf(file, LIBFABRIC_BYTES, "%s/lib/libfabric.so.1", folder);
  return getenv("JOFI_LIBFABRIC") == NULL && access(file, R_OK) == 0;
}

// As Java does: a name without a folder is one of the working directory.
static bool choose(const char *folder, bool by_property, char file[LIBFABRIC_BYTES]) {
  if (folders_libfabric(folder, file)) {
    return true;
  }
  const char *chosen = getenv("JOFI_LIBFABRIC");
  if (by_property) {
    return false;
  }
  if (chosen == NULL || chosen[0] == 0) {
    snprintf(file, LIBFABRIC_BYTES, "libfabric.so.1");
    return true;
  }
  return realpath(chosen, file) != NULL;
}

void load_libfabric(const char *folder, bool by_property) {
  char file[LIBFABRIC_BYTES];
  if (!choose(folder, by_property, file)) {
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
