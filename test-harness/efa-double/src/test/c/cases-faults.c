// Ports that go down and processes that are killed, in the middle of operations.

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nics.h"

static void set_port(const char *state) {
  char arguments[64], line[256];
  snprintf(arguments, sizeof arguments, "port %s", state);
  if (!wire_tool(arguments, line, sizeof line)) fail("efa-double-wire %s: expected exit 0, came another", arguments);
}

static int port_state(struct ibv_context *context) {
  struct ibv_port_attr attributes;
  expect("ibv_query_port", 0, ibv_query_port(context, 1, &attributes));
  return attributes.state;
}

// --- Silent and mute -------------------------------------------------------------------------------------------------

// The peer's device is the second: its fault is no fault of the sender's.
static void expect_silence(const char *state, bool heard_before, int status) {
  set("DEVICES", "2");
  set("TIMEOUT_MS", "300");
  struct end from = open_end((struct end_options){0}), to = open_end((struct end_options){.device = 1});
  struct way way = way_between(&from, &to), back = way_between(&to, &from);
  for (uint64_t id = 0; id < 4; id++) receive(&to, id, 0, 10);
  if (heard_before) carry(&from, (struct post){.way = &way, .length = 1}, STATUS_OK, "a send before");
  set_port(state);
  uint64_t start = milliseconds();
  carry(&from, (struct post){.id = 5, .way = &way, .length = 1}, status, "a send");
  if (milliseconds() - start < 300) fail("expected an end after 300 ms, came one after %lu", milliseconds() - start);
  carry(&from, (struct post){.operation = WRITE, .way = &way, .length = 1}, status, "a write");
  carry(&from, (struct post){.operation = READ, .way = &way, .length = 1}, status, "a read");
  expect("the sender's port", IBV_PORT_ACTIVE, port_state(from.context));
  if (heard_before) await_status(to.receives, 0, STATUS_OK, "the receive before");
  expect_quiet(to.receives, 20, "the silent peer");
  ibv_destroy_ah(back.ah);
}

static void silent_peer_heard_before(void) { expect_silence("1 silent", true, STATUS_UNRESPONSIVE); }
static void silent_peer_never_heard(void) { expect_silence("1 silent", false, STATUS_UNREACHABLE); }
static void mute_peer(void) { expect_silence("1 mute", true, STATUS_UNRESPONSIVE); }
static void silent_device(void) { expect_silence("0 silent", true, STATUS_UNRESPONSIVE); }

// A datagram that got lost says nothing of its peer.
static void datagram_is_no_answer(void) {
  set("DEVICES", "2");
  set("TIMEOUT_MS", "300");
  struct end from = open_end((struct end_options){0}), to = open_end((struct end_options){.device = 1});
  struct ibv_qp_cap cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1};
  struct way way = way_between(&from, &to);
  set_port("1 silent");
  // By the same open device: each keeps its own book of its peers.
  struct ibv_qp_init_attr attributes = {.send_cq = ibv_cq_ex_to_cq(from.sends),
                                        .recv_cq = ibv_cq_ex_to_cq(from.receives),
                                        .cap = cap,
                                        .qp_type = IBV_QPT_UD};
  struct end beside = from;
  beside.qp = ibv_create_qp(from.pd, &attributes);
  make_ready(beside.qp);
  expect("a datagram", 0, post_plain(&beside, (struct post){.id = 1, .way = &way, .length = 1}));
  await_status(from.sends, 1, STATUS_OK, "a datagram");
  carry(&from, (struct post){.way = &way, .length = 1}, STATUS_UNREACHABLE, "a send");
}

static void no_such_device(void) {
  set("TIMEOUT_MS", "200");
  struct end end = open_end((struct end_options){0});
  struct place nowhere = place_of(&end);
  nowhere.gid[15] = 77;
  struct way way = way_to(&end, nowhere);
  carry(&end, (struct post){.way = &way, .length = 1}, STATUS_UNREACHABLE, "a send to a device that never was");
}

static void fault_after_requests(void) {
  set("TIMEOUT_MS", "200");
  set("FAULT", "0:silent:3");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  for (uint64_t id = 0; id < 3; id++) receive(&end, id, 0, 10);
  struct post one = {.way = &way, .length = 1};
  carry(&end, one, STATUS_OK, "the first");
  carry(&end, one, STATUS_OK, "the second");
  carry(&end, one, STATUS_UNRESPONSIVE, "the third");
  expect("the port, which knows nothing", IBV_PORT_ACTIVE, port_state(end.context));
}

static void mute_device(void) {
  set("TIMEOUT_MS", "200");
  set("FAULT", "0:mute:2");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  receive(&end, 1, 0, 10);
  receive(&end, 2, 0, 10);
  struct post one = {.way = &way, .length = 1};
  carry(&end, one, STATUS_OK, "the first");
  expect("the second", 0, post(&end, one));
  await_status(end.receives, 1, STATUS_OK, "the first receive");
  expect_quiet(end.sends, 3 * 200, "a mute device, for three time-outs");
  expect_quiet(end.receives, 1, "a mute device");
  expect("ibv_dereg_mr of what it holds back", 0, ibv_dereg_mr(end.mr));
  await_status(end.sends, 0, STATUS_BAD_LKEY, "what it held back, with its region closed");
}

static void up_again_in_time(void) {
  set("TIMEOUT_MS", "60000");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  receive(&end, 1, 0, 10);
  set_port("0 silent");
  expect("a send", 0, post(&end, (struct post){.id = 2, .way = &way, .length = 1}));
  expect("a write", 0, post(&end, (struct post){.id = 3, .operation = WRITE, .way = &way, .length = 1, .remote = 100}));
  expect_quiet(end.sends, 200, "while the port is silent");
  set_port("0 up");
  await_status(end.receives, 1, STATUS_OK, "the receive");
  struct found first = await(end.sends, "one of the two"), second = await(end.sends, "the other");
  expect("their statuses", STATUS_OK, first.status | second.status);
  expect("their numbers", 2 + 3, (int64_t)(first.id + second.id));
}

// Each silence has its own time-out, when the peer was heard in between.
static void silent_twice(void) {
  set("TIMEOUT_MS", "3000");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  set_port("0 silent");
  expect("a send", 0, post(&end, (struct post){.id = 1, .way = &way, .length = 1}));
  pause_ms(50);
  set_port("0 up");
  expect_quiet(end.sends, 3500, "while there is no receive");
  set_port("0 silent");
  expect_quiet(end.sends, 300, "while it is silent again");
  set_port("0 up");
  receive(&end, 2, 0, 10);
  await_status(end.sends, 1, STATUS_OK, "the send");
}

// A device that hears nothing does not learn either that its peer is gone.
static void silent_and_gone(void) {
  set("DEVICES", "2");
  set("TIMEOUT_MS", "300");
  struct end from = open_end((struct end_options){0}), to = open_end((struct end_options){.device = 1});
  struct way way = way_between(&from, &to);
  expect("ibv_destroy_qp", 0, ibv_destroy_qp(to.qp));
  struct post one = {.way = &way, .length = 1};
  carry(&from, one, STATUS_REMOTE_QUEUE_PAIR, "to a peer that says so");
  set_port("1 silent");
  carry(&from, one, STATUS_UNREACHABLE, "to a silent peer");
  set_port("1 up");
  set_port("0 silent");
  carry(&from, one, STATUS_UNREACHABLE, "by a silent device");
  set_port("0 mute");
  expect("by a mute device", 0, post(&from, one));
  expect_quiet(from.sends, 900, "by a mute device");
}

// --- In error --------------------------------------------------------------------------------------------------------

static void expect_dead(struct end *end, const struct way *way) {
  expect("the port", IBV_PORT_DOWN, port_state(end->context));
  carry(end, (struct post){.id = 10, .way = way, .length = 1}, STATUS_FLUSHED, "a send after it");
  expect("ibv_post_send", 0, post_plain(end, (struct post){.id = 11, .way = way, .length = 1}));
  await_status(end->sends, 11, STATUS_FLUSHED, "a send after it by ibv_post_send");
  receive(end, 12, 0, 10);
  await_status(end->receives, 12, STATUS_FLUSHED, "a receive after it");
}

static void device_in_error(void) {
  set("DEVICES", "2");
  set("TIMEOUT_MS", "200");
  struct end end = open_end((struct end_options){0}), far = open_end((struct end_options){.device = 1});
  struct way way = way_between(&end, &far), back = way_between(&far, &end);
  expect("a send that waits", 0, post(&end, (struct post){.id = 1, .way = &way, .length = 1}));
  receive(&end, 2, 0, 10);
  expect("the port before", IBV_PORT_ACTIVE, port_state(end.context));
  set_port("0 error");
  await_status(end.sends, 1, STATUS_FLUSHED, "the send that waited");
  await_status(end.receives, 2, STATUS_FLUSHED, "the receive");
  expect_dead(&end, &way);
  expect("the other device's port", IBV_PORT_ACTIVE, port_state(far.context));
  carry(&far, (struct post){.way = &back, .length = 1}, STATUS_UNREACHABLE, "a send to it");
}

static void device_in_error_after_requests(void) {
  set("FAULT", "0:error:2");
  struct end end = open_end((struct end_options){0});
  struct way way = way_between(&end, &end);
  for (uint64_t id = 1; id <= 3; id++) receive(&end, id, 0, 10);
  carry(&end, (struct post){.way = &way, .length = 1}, STATUS_OK, "the first");
  carry(&end, (struct post){.way = &way, .length = 1}, STATUS_FLUSHED, "the second");
  await_status(end.receives, 1, STATUS_OK, "the first receive");
  for (uint64_t id = 2; id <= 3; id++) await_status(end.receives, id, STATUS_FLUSHED, "the other receives");
  expect_dead(&end, &way);
}

// --- Killed ----------------------------------------------------------------------------------------------------------

static void receiver_without_end(struct peer *parent) {
  struct end end = open_end((struct end_options){0});
  for (uint64_t id = 0; id < 2; id++) receive(&end, id, 0, 10);
  way_to(&end, exchange(parent, &end));
  pause();
}

static void wait_until_zombie(pid_t pid) {
  siginfo_t info;
  kill(pid, SIGKILL);
  expect("waitid", 0, waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
}

static void expect_killed(bool reaped) {
  struct peer peer = start_peer(receiver_without_end);
  struct end end = open_end((struct end_options){.sends = 8});
  struct way way = way_to(&end, exchange(&peer, &end));
  struct post one = {.way = &way, .length = 1};
  carry(&end, one, STATUS_OK, "a send");
  if (reaped) {
    kill_peer(&peer);
  } else {
    wait_until_zombie(peer.pid);
  }
  carry(&end, one, STATUS_REMOTE_QUEUE_PAIR, "to its receive");
  one.operation = WRITE;
  carry(&end, one, STATUS_REMOTE_QUEUE_PAIR, "a write");
  one.operation = READ;
  carry(&end, one, STATUS_REMOTE_QUEUE_PAIR, "a read");
  one = (struct post){.way = &way, .length = 0};
  carry(&end, one, STATUS_REMOTE_QUEUE_PAIR, "no bytes");
  carry(&end, one, STATUS_REMOTE_QUEUE_PAIR, "no bytes, once more");
}

static void peer_killed(void) { expect_killed(true); }
// Its parent has not asked for its exit code yet; its queue pairs are gone all the same.
static void peer_killed_and_not_reaped(void) { expect_killed(false); }

static void waiting_for_a_killed_peer(void) {
  struct peer peer = start_peer(receiver_without_end);
  struct end end = open_end((struct end_options){0});
  struct way way = way_to(&end, exchange(&peer, &end));
  for (uint64_t id = 0; id < 3; id++) {
    expect("a send", 0, post(&end, (struct post){.id = id, .way = &way, .length = 1}));
  }
  for (uint64_t id = 0; id < 2; id++) await_status(end.sends, id, STATUS_OK, "a send with a receive");
  expect_quiet(end.sends, 50, "a send without a receive");
  wait_until_zombie(peer.pid);
  await_status(end.sends, 2, STATUS_REMOTE_QUEUE_PAIR, "a send that waited");
}

static void sender_without_end(struct peer *parent) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_to(&end, exchange(parent, &end));
  struct found found;
  for (;;) {
    post(&end, (struct post){.way = &way, .length = LONGEST_PACKET});
    post(&end, (struct post){.operation = WRITE, .way = &way, .length = 1 << 15, .remote = 1 << 15});
    while (look(end.sends, &found)) {
    }
  }
}

static void expect_region_closes(struct end *end) {
  ibv_destroy_qp(end->qp);
  uint64_t start = milliseconds();
  expect("ibv_dereg_mr", 0, ibv_dereg_mr(end->mr));
  uint64_t took = milliseconds() - start;
  if (took > 10000) fail("ibv_dereg_mr: expected an end within 10 s, came one after %lu ms", took);
}

// Wherever it was killed: its locks and holds do not keep anyone from going on.
static void killed_sender_leaves_nothing_locked(void) {
  struct peer senders[8];
  for (int i = 0; i < 8; i++) senders[i] = start_peer(sender_without_end);
  struct end end = open_end((struct end_options){0});
  struct way own = way_between(&end, &end);
  for (int i = 0; i < 8; i++) {
    way_to(&end, exchange(&senders[i], &end));
    for (uint64_t id = 0; id < 50; id++) {
      receive(&end, id, 0, LONGEST_PACKET);
      await(end.receives, "a receive");
    }
    kill_peer(&senders[i]);
    struct found found;
    while (look(end.receives, &found)) {
    }
    receive(&end, 1000, 0, LONGEST_PACKET);
    carry(&end, (struct post){.way = &own, .length = 8}, STATUS_OK, "a send after a sender was killed");
    await_status(end.receives, 1000, STATUS_OK, "its receive");
  }
  expect_region_closes(&end);
}

// One that writes long enough to be in a copy when it is killed.
static void writer_without_end(struct peer *parent) {
  struct end end = open_end((struct end_options){0});
  struct way way = way_to(&end, exchange(parent, &end));
  struct found found;
  for (;;) {
    post(&end, (struct post){.operation = WRITE, .way = &way, .length = 1 << 15, .remote = 1 << 15});
    while (look(end.sends, &found)) {
    }
  }
}

// Who copies after it, from the same memory, does not make it look alive.
static void killed_writer_is_told_from_later_ones(void) {
  enum { WRITERS = 40 };
  struct peer writers[WRITERS];
  struct end end = open_end((struct end_options){0});
  struct way own = way_between(&end, &end);
  for (int i = 0; i < WRITERS; i++) {
    writers[i] = start_peer(writer_without_end);
    way_to(&end, exchange(&writers[i], &end));
    usleep((useconds_t)(5000 + i * 37));
    kill_peer(&writers[i]);
    struct post write = {.operation = WRITE, .way = &own, .length = 64};
    carry(&end, write, STATUS_OK, "a write after a writer was killed");
  }
  expect_region_closes(&end);
}

const struct test_case fault_cases[] = {
    {"silent-peer-heard-before", silent_peer_heard_before, NULL},
    {"silent-peer-never-heard", silent_peer_never_heard, NULL},
    {"mute-peer", mute_peer, NULL},
    {"silent-device", silent_device, NULL},
    {"datagram-is-no-answer", datagram_is_no_answer, NULL},
    {"no-such-device", no_such_device, NULL},
    {"fault-after-requests", fault_after_requests, NULL},
    {"mute-device", mute_device, NULL},
    {"up-again-in-time", up_again_in_time, NULL},
    {"silent-twice", silent_twice, NULL},
    {"silent-and-gone", silent_and_gone, NULL},
    {"device-in-error", device_in_error, NULL},
    {"device-in-error-after-requests", device_in_error_after_requests, NULL},
    {"peer-killed", peer_killed, NULL},
    {"peer-killed-and-not-reaped", peer_killed_and_not_reaped, NULL},
    {"waiting-for-a-killed-peer", waiting_for_a_killed_peer, NULL},
    {"killed-sender-leaves-nothing-locked", killed_sender_leaves_nothing_locked, NULL},
    {"killed-writer-is-told-from-later-ones", killed_writer_is_told_from_later_ones, NULL},
    {0},
};
