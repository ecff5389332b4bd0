// Probes: what jofi relies on of a provider of libfabric, shown on the real one over software NICs.
//
//   PROGRAM list, PROGRAM run NAME
//
// Each fact is played by two processes, the writer and the target, and what they say is compared with what
// docs/PROVIDERS.md tells.

#pragma once

#include "fabric.h"

struct fact {
  const char *name, *text;
  void (*run)(void);
  int where;  // the subject's own
};

// The provider whose facts they are. Each double's program defines one.
struct subject {
  const char *program, *options;   // its name; what its usage has behind NAME
  const char *provider;            // libfabric's name for it
  const char *variables;           // what the double's environment variables begin with
  const struct fact *facts;        // the last has no name
  const char *(*name)(void);       // what is probed, in words
  uint64_t (*greeting)(void);      // flags of the first write, with which the provider's own handshake is waited for
  bool (*take_options)(int count, char **options);
  int (*node)(bool target);        // the number of one of the two hosts
  // Each of these may be NULL.
  const char *(*absent)(const struct fact *fact);  // why there is no such case; NULL if there is
  void (*prepare)(const struct play *play);        // the environment of one of the two processes
  void (*hint)(const struct play *play, struct fi_info *hints);
  int (*configure)(const struct play *play, struct fid_ep *endpoint);  // before it is enabled; 0 or an error
  void (*end)(void);               // removes what the two processes may have left
};

extern const struct subject subject;

// An environment variable of the double, by the end of its name.
const char *variable(const char *name);
void set_variable(const char *name, const char *value);

// Plays it and compares what the two say, "writer: …; target: …", with what is expected of it; alternatives stand
// between bars.
void expect(const char *what, const struct play *play, const char *expected);
void compare(const char *what, const char *came, const char *expected);
