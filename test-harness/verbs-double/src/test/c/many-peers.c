// Two hubs on each rail with many peers, over libfabric's reliable datagrams: all connect at once, from both sides, first
// to one of the hubs and then to the other; then some of the peers come back under another address. Prints what they take:
// with its first connection a peer takes what is its endpoint's own too, so the second one tells what a connection takes.

#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RAILS = 8, MOST_PEERS = 256, HUBS = 2, ADDRESS = 64, PATIENCE_S = 200 };

struct message {
  uint32_t from, round;
};

struct end {
  struct rail *rail;
  struct fid_ep *endpoint;
  struct fid_av *peers;
  struct fid_cq *queue;
  uint32_t number, sent, received;
  struct message *in, out;
};

struct rail {
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct end hubs[HUBS], peers[MOST_PEERS];
  fi_addr_t to_peer[HUBS][MOST_PEERS], to_hub[HUBS][MOST_PEERS];  // as the others know them
};

static struct rail rails[MOST_RAILS];
static int peer_count, rail_count;
static time_t deadline;

static void check(long result, const char *what) {
  if (result >= 0) return;
  fprintf(stderr, "many-peers: %s: %s\n", what, fi_strerror((int)-result));
  exit(1);
}

static struct fi_info *find(const char *name) {
  struct fi_info *hints = fi_allocinfo(), *found;
  hints->caps = FI_MSG;
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = strdup("verbs;ofi_rxm");
  hints->domain_attr->name = strdup(name);
  hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  check(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &found), "fi_getinfo");
  fi_freeinfo(hints);
  return found;
}

// An endpoint takes messages from the start.
static void open_end(struct end *end, struct rail *rail, uint32_t number, size_t receives) {
  *end = (struct end){.rail = rail, .number = number};
  struct fi_av_attr addresses = {.type = FI_AV_TABLE};
  struct fi_cq_attr completions = {.format = FI_CQ_FORMAT_CONTEXT, .size = 256};
  check(fi_endpoint(rail->domain, rail->info, &end->endpoint, NULL), "fi_endpoint");
  check(fi_av_open(rail->domain, &addresses, &end->peers, NULL), "fi_av_open");
  check(fi_cq_open(rail->domain, &completions, &end->queue, NULL), "fi_cq_open");
  check(fi_ep_bind(end->endpoint, &end->peers->fid, 0), "fi_ep_bind");
  check(fi_ep_bind(end->endpoint, &end->queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  check(fi_enable(end->endpoint), "fi_enable");
  end->in = calloc(receives, sizeof *end->in);
  for (size_t i = 0; i < receives; i++) {
    check(fi_recv(end->endpoint, &end->in[i], sizeof *end->in, NULL, FI_ADDR_UNSPEC, &end->in[i]), "fi_recv");
  }
}

static void close_end(struct end *end) {
  check(fi_close(&end->endpoint->fid), "fi_close of an endpoint");
  check(fi_close(&end->queue->fid), "fi_close of a queue");
  check(fi_close(&end->peers->fid), "fi_close of addresses");
  free(end->in);
}

static fi_addr_t learn(struct end *end, struct end *other) {
  char address[ADDRESS];
  size_t size = sizeof address;
  fi_addr_t number;
  check(fi_getname(&other->endpoint->fid, address, &size), "fi_getname");
  if (fi_av_insert(end->peers, address, 1, &number, 0, NULL) != 1) check(-FI_EINVAL, "fi_av_insert");
  return number;
}

static void poll_end(struct end *end) {
  struct fi_cq_entry entry;
  ssize_t count = fi_cq_read(end->queue, &entry, 1);
  if (count == -FI_EAGAIN) return;
  if (count == -FI_EAVAIL) {
    struct fi_cq_err_entry error = {0};
    fi_cq_readerr(end->queue, &error, 0);
    check(-error.err, "an operation");
  }
  check(count, "fi_cq_read");
  if (entry.op_context == &end->out) end->sent++;
  else end->received++;
}

static void poll_all(void) {
  for (int r = 0; r < rail_count; r++) {
    for (int h = 0; h < HUBS; h++) poll_end(&rails[r].hubs[h]);
    for (int p = 0; p < peer_count; p++) poll_end(&rails[r].peers[p]);
  }
  if (time(NULL) > deadline) check(-FI_ETIMEDOUT, "waiting");
}

// Whether it left, or at least a connection is being made.
static bool sends(struct end *from, fi_addr_t to) {
  ssize_t result = fi_send(from->endpoint, &from->out, sizeof from->out, NULL, to, &from->out);
  if (result == -FI_EAGAIN) return false;
  check(result, "fi_send");
  return true;
}

static void meet(struct rail *rail, int hub, int peer) {
  rail->to_peer[hub][peer] = learn(&rail->hubs[hub], &rail->peers[peer]);
  rail->to_hub[hub][peer] = learn(&rail->peers[peer], &rail->hubs[hub]);
}

// The first `count` peers of each rail and one of its hubs send each other a message, all at once.
static void exchange(int hub, int count, uint32_t round) {
  static bool out[MOST_RAILS][MOST_PEERS], back[MOST_RAILS][MOST_PEERS];
  memset(out, 0, sizeof out);
  memset(back, 0, sizeof back);
  for (int left = 2 * rail_count * count; left > 0; poll_all()) {
    for (int r = 0; r < rail_count; r++) {
      struct rail *rail = &rails[r];
      for (int p = 0; p < count; p++) {
        rail->hubs[hub].out = (struct message){0, round};
        rail->peers[p].out = (struct message){rail->peers[p].number, round};
        if (!out[r][p] && sends(&rail->hubs[hub], rail->to_peer[hub][p])) left -= out[r][p] = true;
        if (!back[r][p] && sends(&rail->peers[p], rail->to_hub[hub][p])) left -= back[r][p] = true;
      }
    }
  }
}

// All that was sent has left, and has come.
static void await(int hub, uint32_t of_hub, uint32_t of_peer, int count) {
  for (bool all = false; !all; poll_all()) {
    all = true;
    for (int r = 0; r < rail_count; r++) {
      all &= rails[r].hubs[hub].received == of_hub && rails[r].hubs[hub].sent == of_hub;
      for (int p = 0; p < count; p++) all &= rails[r].peers[p].received == of_peer && rails[r].peers[p].sent == of_peer;
    }
  }
}

// Each peer wrote once in that round, as the hub has it, and the hub to each.
static void demand_all(int hub, uint32_t round, int count) {
  for (int r = 0; r < rail_count; r++) {
    for (int p = 0; p < count; p++) {
      const struct end *peer = &rails[r].peers[p];
      int found = 0;
      for (int i = 0; i < 2 * peer_count; i++) {
        const struct message *in = &rails[r].hubs[hub].in[i];
        found += in->from == (uint32_t)p + 1 && in->round == round;
      }
      if (found != 1 || peer->in[peer->received - 1].round != round) check(-FI_EIO, "a message came not, or twice");
    }
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// How much memory the wire has registered, as the command prints that tells its status.
static long registered(const char *command) {
  FILE *tool = popen(command, "r");
  char text[1024] = "";
  if (tool == NULL || fgets(text, sizeof text, tool) == NULL) check(-FI_EIO, command);
  pclose(tool);
  const char *found = strstr(text, "registered ");
  if (found == NULL) check(-FI_EIO, text);
  return atol(found + strlen("registered "));
}

static void open_rail(struct rail *rail, int number) {
  char name[16];
  snprintf(name, sizeof name, "mlx5_%d", number);
  rail->info = find(name);
  check(fi_fabric(rail->info->fabric_attr, &rail->fabric, NULL), "fi_fabric");
  check(fi_domain(rail->fabric, rail->info, &rail->domain, NULL), "fi_domain");
  for (int h = 0; h < HUBS; h++) open_end(&rail->hubs[h], rail, 0, 2 * (size_t)peer_count);
  for (int p = 0; p < peer_count; p++) {
    open_end(&rail->peers[p], rail, (uint32_t)p + 1, HUBS);
    for (int h = 0; h < HUBS; h++) meet(rail, h, p);
  }
}

static void close_rail(struct rail *rail) {
  for (int p = 0; p < peer_count; p++) close_end(&rail->peers[p]);
  for (int h = 0; h < HUBS; h++) close_end(&rail->hubs[h]);
  check(fi_close(&rail->domain->fid), "fi_close of a domain");
  check(fi_close(&rail->fabric->fid), "fi_close of a fabric");
  fi_freeinfo(rail->info);
}

static void connect_all(int hub, const char *status) {
  long before = registered(status);
  double start = seconds();
  exchange(hub, peer_count, (uint32_t)hub + 1);
  await(hub, (uint32_t)peer_count, (uint32_t)hub + 1, peer_count);
  demand_all(hub, (uint32_t)hub + 1, peer_count);
  int connections = peer_count * rail_count;
  printf("hub %d: %d connections in %.1f s, %ld KiB registered for each of their ends\n", hub, connections,
         seconds() - start, (registered(status) - before) / (2 * connections) / 1024);
  fflush(stdout);
}

static void come_back(int count) {
  for (int r = 0; r < rail_count; r++) {
    for (int p = 0; p < count; p++) {
      close_end(&rails[r].peers[p]);
      open_end(&rails[r].peers[p], &rails[r], (uint32_t)p + 1, HUBS);
      meet(&rails[r], 0, p);
    }
  }
  exchange(0, count, HUBS + 1);
  await(0, (uint32_t)(peer_count + count), 1, count);
  demand_all(0, HUBS + 1, count);
  printf("%d came back\n", count * rail_count);
}

int main(int count, char **arguments) {
  if (count == 4) {
    peer_count = atoi(arguments[1]);
    rail_count = atoi(arguments[2]);
  }
  if (peer_count < 1 || peer_count > MOST_PEERS || rail_count < 1 || rail_count > MOST_RAILS) {
    fputs("usage: many-peers PEERS RAILS COMMAND\n\n  COMMAND prints the status of this wire\n", stderr);
    return 2;
  }
  deadline = time(NULL) + PATIENCE_S;
  for (int r = 0; r < rail_count; r++) open_rail(&rails[r], r);
  int endpoints = (HUBS + peer_count) * rail_count;
  printf("%d endpoints, %ld KiB registered for each\n", endpoints, registered(arguments[3]) / endpoints / 1024);
  for (int h = 0; h < HUBS; h++) connect_all(h, arguments[3]);
  come_back((peer_count + 3) / 4);
  for (int r = 0; r < rail_count; r++) close_rail(&rails[r]);
  puts("closed");
  return 0;
}
