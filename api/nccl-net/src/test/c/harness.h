// Two processes, their waits, and what they send to each other.
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "net.h"

// Ends the process with the message unless it holds.
#define check(condition, ...)                                                                                          \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      die(__FILE__, __LINE__, __VA_ARGS__);                                                                            \
    }                                                                                                                  \
  } while (false)

#define check_ok(call)                                                                                                 \
  do {                                                                                                                 \
    int result_ = (call);                                                                                              \
    check(result_ == SUCCESS, #call " = %d", result_);                                                                 \
  } while (false)

__attribute__((noreturn, format(printf, 3, 4))) void die(const char *file, int line, const char *format, ...);

double now(void);

// A bound on a wait, in seconds from now; pass() yields, sleeps once it has yielded often, and fails the test once it is over.
typedef struct {
  double end;
  const char *what;
  long passes;
} bound;
bound within(double seconds, const char *what);
void pass(bound *b);
// Always yields, as NCCL's thread does, for what is measured.
void poll_again(bound *b);

// How long anything may take that the peer takes part in.
enum { PATIENCE = 60 };

// One of two processes.
typedef struct {
  const char *plugin;
  int version;
  int rank; // 0 sends, 1 receives
  int control;
  pid_t peer; // of rank 0 alone
  net n;
  void *context;
  int device;
} side;

// Forks; each of the two goes on with its rank, and has not loaded anything yet. Each is in the network namespace that
// NETWORK_0 or NETWORK_1 names, if there is such a variable.
void side_fork(side *s);
// Loads the plugin and starts it.
void side_open(side *s);
// Ends the context.
void side_close(side *s);
// Waits for the other, and for the child to end well.
void side_join(side *s);

void control_put(side *s, const void *bytes, size_t size);
void control_get(side *s, void *bytes, size_t size);
// Both are here.
void meet(side *s);

// The end of a connection that this side has: rank 0 the sending one.
void *connect_pair(side *s);
// The parts of it, for a listener that serves several.
void *await_connect(side *s, void *handle);
void *await_accept(side *s, void *listener);
void close_pair(side *s, void *comm);
// Both ends of a connection of this process with itself: gives the sending one.
void *connect_here(side *s, void **receiver);

// Memory with its region.
typedef struct {
  unsigned char *bytes;
  size_t size;
  void *region;
} memory;
memory memory_new(side *s, void *comm, size_t size);
void memory_free(side *s, void *comm, memory *m);

void fill(unsigned char *bytes, size_t size, uint32_t seed);
void verify(const unsigned char *bytes, size_t size, uint32_t seed, const char *what);

// Posts, again and again as long as the plugin asks for it.
void *post_send(side *s, void *comm, void *data, size_t size, int tag, void *region);
void *post_recv(side *s, void *comm, void *data, size_t size, int tag, void *region);
// Waits for the end of a request, which must be a good one; gives the size.
int finish(side *s, void *request);
// Waits for the end of a request; gives the result.
int outcome(side *s, void *request, double seconds);

// Of this process, from /proc.
long resident_kilobytes(void);
int open_files(void);
int threads(void);

#endif
