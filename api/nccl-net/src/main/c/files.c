#define _GNU_SOURCE
#include "files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REMEMBERED = 4096 };

#define OPEN_FILES "/proc/self/fd"

static bool was_open[REMEMBERED];

void remember_files(void) {
  for (int file = 0; file < REMEMBERED; file++) {
    was_open[file] = fcntl(file, F_GETFD) >= 0;
  }
}

static bool is_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/';
}

static bool is_jvms(const char *path, const char *folder, const char *java_home) {
  return is_below(path, folder) || is_below(path, java_home) || strcmp(path, "/dev/random") == 0 ||
         strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/null") == 0;
}

void mark_files(const char *folder, const char *java_home) {
  DIR *directory = opendir(OPEN_FILES);
  if (directory == NULL) {
    return;
  }
  for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    char path[PATH_MAX];
    int file = entry->d_name[0] == '.' ? -1 : atoi(entry->d_name);
    int flags = file < 0 ? -1 : fcntl(file, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0 || file >= REMEMBERED || was_open[file]) {
      continue;
    }
    ssize_t length = readlinkat(dirfd(directory), entry->d_name, path, sizeof path - 1);
    if (length <= 0) {
      continue;
    }
    path[length] = 0;
    if (is_jvms(path, folder, java_home)) {
      fcntl(file, F_SETFD, flags | FD_CLOEXEC);
    }
  }
  closedir(directory);
}
