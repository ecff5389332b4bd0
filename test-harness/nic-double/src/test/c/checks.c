#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"

static const char *variable(const char *name) {
  static char text[64];
  snprintf(text, sizeof text, "%s%s", suite.variables, name);
  return text;
}

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

void expect_at(const char *place, int line, const char *what, int64_t wanted, int64_t came) {
  if (wanted != came) fail("%s, line %d: %s: expected %ld, came %ld", place, line, what, wanted, came);
}

void expect_broken(int wanted, const char *what) {
  FILE *file = fopen(getenv(variable("VIOLATIONS")), "r");
  int lines = 0;
  for (int c; file != NULL && (c = fgetc(file)) != EOF;) lines += c == '\n';
  if (file != NULL) fclose(file);
  if (lines != wanted) fail("%s: expected %d broken rules by now, came %d", what, wanted, lines);
}

void set(const char *name, const char *value) {
  setenv(variable(name), value, 1);
}

uint64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void pause_ms(int time) { usleep((useconds_t)time * 1000); }

static uint8_t pattern(size_t i, int seed) { return (uint8_t)(i * 131 + (i >> 8) * 7 + (size_t)seed * 29 + 1); }

void fill_pattern(uint8_t *memory, size_t bytes, int seed) {
  for (size_t i = 0; i < bytes; i++) memory[i] = pattern(i, seed);
}

void expect_pattern(const uint8_t *memory, size_t bytes, int seed, const char *what) {
  for (size_t i = 0; i < bytes; i++) {
    if (memory[i] != pattern(i, seed)) {
      fail("%s: byte %zu of %zu: expected %d, came %d", what, i, bytes, pattern(i, seed), memory[i]);
    }
  }
}
