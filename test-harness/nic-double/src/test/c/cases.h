// What the cases of every kind of NIC share: checks, settings, and peers in processes of their own.

#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct test_case {
  const char *name;
  void (*run)(void);
  const char *rule;  // the only one that it breaks; NULL: none
};

// Of one kind of NIC; defined by its cases.
struct suite {
  const char *name;      // the double's
  const char *variables; // the beginning of its settings' names
  const struct test_case *const *groups;  // each ends with an entry without a name; NULL ends them
};

extern const struct suite suite;

// --- Checks: the first that fails ends the process -------------------------------------------------------------------

__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);
void expect_at(const char *place, int line, const char *what, int64_t wanted, int64_t came);
#define expect(what, wanted, came) expect_at(__func__, __LINE__, what, wanted, came)
// How many lines the file of the broken rules has by now.
void expect_broken(int wanted, const char *what);
void fill_pattern(uint8_t *memory, size_t bytes, int seed);
void expect_pattern(const uint8_t *memory, size_t bytes, int seed, const char *what);
uint64_t milliseconds(void);
void pause_ms(int milliseconds);

// A setting of the double, by its name behind the double's; only before the first NIC is opened.
void set(const char *name, const char *value);

// --- Processes -------------------------------------------------------------------------------------------------------

struct peer {
  pid_t pid;
  int in, out;  // pipes from and to it
};

// Started before the first NIC is opened here, so that it joins the wire by itself.
struct peer start_peer(void (*run)(struct peer *parent));
void tell(const struct peer *peer, const void *data, size_t size);
void hear(const struct peer *peer, void *data, size_t size);
// Waits until it has ended, well.
void join_peer(struct peer *peer);
void kill_peer(struct peer *peer);

// The double's wire tool with these arguments for this process's wire; its first line, and whether it exited with 0.
bool wire_tool(const char *arguments, char *line, size_t size);
// A number of its `status`.
long counter(const char *name);
