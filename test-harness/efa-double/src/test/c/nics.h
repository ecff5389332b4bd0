// What the cases share: ends (a NIC opened with all that one queue pair needs), and operations written as values.

#pragma once

#include "cases.h"

#include "../../main/c/nic.h"

// Each ends with an entry without a name.
extern const struct test_case object_cases[], posting_cases[], data_cases[], queue_cases[];
extern const struct test_case status_cases[], fault_cases[], timing_cases[], wire_cases[];

// --- Ends ------------------------------------------------------------------------------------------------------------

enum { QKEY = 0x11111111, HEADER = 40, ALL_LOCAL = IBV_ACCESS_LOCAL_WRITE };

struct end_options {
  int device;
  uint32_t sends, receives, completions, pieces;  // 64, 64, 256 and 1 where 0
  size_t bytes;                                   // of its memory; 64 KiB where 0
  uint8_t bounded_retries;                        // of a receiver that is not ready; without bound where 0
  bool datagram, unsolicited;
};

struct end {
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_cq_ex *sends, *receives;
  struct ibv_qp *qp;
  struct ibv_qp_ex *ex;
  struct ibv_mr *mr;
  uint8_t *memory;
  size_t bytes;
};

// What a peer has to know of an end.
struct place {
  uint8_t gid[16];
  uint32_t number, qkey, rkey;
  uint64_t address;
};

// The way to a peer.
struct way {
  struct ibv_ah *ah;
  struct place to;
};

struct ibv_context *open_nic(int device);
struct ibv_cq_ex *new_queue(struct ibv_context *context, uint32_t depth);
struct ibv_qp *new_pair(struct ibv_pd *pd, struct ibv_cq_ex *sends, struct ibv_cq_ex *receives, struct ibv_qp_cap cap,
                        bool unsolicited);
// The state with the attributes that it needs; 0, or the error.
int become(struct ibv_qp *qp, enum ibv_qp_state state);
// From RESET to RTS.
void make_ready(struct ibv_qp *qp);
int all_rights(struct ibv_context *context);
// A region with rights that are no constant.
struct ibv_mr *new_region(struct ibv_pd *pd, void *memory, size_t bytes, int rights);

struct end open_end(struct end_options options);
// All of it, by the rules: the case fails if one of the calls does.
void close_end(struct end *end);
struct place place_of(const struct end *end);
struct ibv_ah *new_handle(struct ibv_pd *pd, const uint8_t *gid);
struct way way_to(struct end *from, struct place to);
struct way way_between(struct end *from, const struct end *to);

// --- Operations ------------------------------------------------------------------------------------------------------

// Of the end's own memory, `length` bytes from `offset` on, unless `inlined` or `pieces` say otherwise.
struct post {
  uint64_t id;
  enum operation operation;  // SEND where 0
  const struct way *way;
  uint64_t offset;
  uint32_t length, immediate, rkey;  // no immediate data where 0; the region of the way where 0
  uint64_t remote;                   // from the start of the peer's region
  const void *inlined;
  const struct ibv_sge *pieces;
  int count;
};

// By the calls between ibv_wr_start and ibv_wr_complete; 0, or the error.
int post(struct end *end, struct post post);
// The same into a batch that the case begins and ends.
void add(struct end *end, const struct post *post);
// By ibv_post_send, which knows sends only.
int post_plain(struct end *end, struct post post);
int try_receive(struct end *end, uint64_t id, uint64_t offset, uint32_t length);
void receive(struct end *end, uint64_t id, uint64_t offset, uint32_t length);

struct found {
  uint64_t id;
  int status, verbs_status, opcode;
  uint32_t bytes, immediate, number, source, handle;
  bool with_immediate, unsolicited;
  int gid_error;  // of wc_read_sgid
  union ibv_gid gid;
};

// The next completion, if there is one.
bool look(struct ibv_cq_ex *queue, struct found *found);
// Waits for it; the case fails if none comes.
struct found await(struct ibv_cq_ex *queue, const char *what);
// Waits for one of this id and status.
struct found await_status(struct ibv_cq_ex *queue, uint64_t id, int status, const char *what);
void expect_quiet(struct ibv_cq_ex *queue, int milliseconds, const char *what);
// Posts, and waits for the sender's completion with this status.
struct found carry(struct end *end, struct post post, int status, const char *what);

// --- Processes -------------------------------------------------------------------------------------------------------

// Tells the place of an end, and hears the other's.
struct place exchange(const struct peer *peer, const struct end *end);
