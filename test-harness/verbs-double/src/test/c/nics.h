// What the cases share: ends (an adapter opened with all that one queue pair needs), and operations written as values.

#pragma once

#include "cases.h"

#include "../../main/c/nic.h"

// Each ends with an entry without a name.
extern const struct test_case object_cases[], state_cases[], posting_cases[], data_cases[], error_cases[], fault_cases[];
extern const struct test_case connection_cases[], connection_rule_cases[];

enum { ALL_RIGHTS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE };

struct end_options {
  int device;
  uint32_t sends, receives, completions, pieces, inlined;  // 16, 16, 64, 1 and 64 where 0
  size_t bytes;                                            // of its memory; 64 KiB where 0
  struct ibv_srq *shared;
  int access;  // what the peer may do; all where 0
  int rights;  // of its memory; all where 0
  uint8_t bounded_retries;  // of a receiver that is not ready; without bound where 0
};

struct end {
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_cq *queue;
  struct ibv_qp *qp;
  struct ibv_mr *mr;
  uint8_t *memory;
  size_t bytes;
  struct end_options options;
};

// What a peer has to know of an end.
struct place {
  uint32_t number, rkey;
  uint64_t address;
};

struct ibv_context *open_nic(int device);
// In its reset state.
struct end open_end(struct end_options options);
// A second one of the same device and domain, for what needs two of them.
struct end open_beside(const struct end *first, struct end_options options);
struct place place_of(const struct end *end);
// The state with the attributes that it needs; 0, or the error.
int become(struct end *end, enum ibv_qp_state state, uint32_t remote);
// From RESET to RTS, towards a peer's number.
void make_ready(struct end *end, uint32_t remote);
// Two ends of the first device, connected with each other.
struct pair_of_ends {
  struct end from, to;
} open_connected(struct end_options from, struct end_options to);
// All of it, by the rules: the case fails if one of the calls does.
void close_end(struct end *end);

// Of the end's own memory, `length` bytes from `offset` on, unless `inlined` or `pieces` say otherwise.
struct post {
  uint64_t id;
  enum operation operation;  // SEND where 0
  uint64_t offset;
  uint32_t length, immediate;  // no immediate data where 0
  uint32_t rkey;
  uint64_t remote;
  bool inlined, quiet;  // quiet: not signaled
  const struct ibv_sge *pieces;
  int count;
};

// 0, or the error.
int post(struct end *end, struct post post);
int try_receive(struct end *end, uint64_t id, uint64_t offset, uint32_t length);
void receive(struct end *end, uint64_t id, uint64_t offset, uint32_t length);
// The next completion, if there is one.
bool look(struct end *end, struct ibv_wc *found);
// Waits for one of this id and status; the case fails if none or another comes.
struct ibv_wc await(struct end *end, uint64_t id, enum ibv_wc_status status, const char *what);
void expect_quiet(struct end *end, int milliseconds, const char *what);
// Tells the place of an end, and hears the other's.
struct place exchange(const struct peer *peer, const struct end *end);
