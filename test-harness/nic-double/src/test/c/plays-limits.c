// What a provider says of itself, what it refuses, and what it grants.

#include "plays.h"

#include <string.h>

// Does not look at its queues, for which the provider would take from the device.
void alone(struct node *node) {
  hear(node, false);
  tell(node);
}

void finish(struct node *node) { meet(node); }
void tell_sizes(struct node *node) {
  struct fi_info *info = node->info;
  say(node, "longest %zd, inject %zu, immediates of %zu bytes, pieces %zu and %zu, queues %zu and %zu, message order %lx",
      (ssize_t)info->ep_attr->max_msg_size, info->tx_attr->inject_size, info->domain_attr->cq_data_size,
      info->tx_attr->iov_limit, info->tx_attr->rma_iov_limit, info->tx_attr->size, info->rx_attr->size,
      info->tx_attr->msg_order);
  say(node, "mode%s%s", info->mode & FI_CONTEXT2 ? " CONTEXT2" : "", info->mode & FI_RX_CQ_DATA ? " RX_CQ_DATA" : "");
  say(node, "progress %s", info->domain_attr->data_progress == FI_PROGRESS_AUTO ? "automatic" : "manual");
  say(node, "resources %s", info->domain_attr->resource_mgmt == FI_RM_ENABLED ? "managed" : "not managed");
  finish(node);
}

void send_immediates(struct node *node) {
  greet(node);
  struct work work = {.length = 100, .tell = true, .data = 0x1122334455667788};
  work.verb = WRITE;
  post(node, work);
  work.verb = SEND;
  post(node, work);
  settle(node, 0, 3000);
  // The other call, which has a way of its own in the provider.
  struct task *last = &node->operations[node->posted++];
  fi_senddata(node->endpoint, node->memory, 100, fi_mr_desc(node->region), work.data, node->peer, last);
  settle(node, 0, 3000);
  say_endings(node, 0);
  meet(node);
}

void see_immediates(struct node *node) {
  greet(node);
  for (size_t i = 0; i < 2; i++) post(node, (struct work){RECEIVE, .at = 4096, .length = 128});
  await_arrivals(node, 1, 3000);
  settle(node, 0, 3000);
  say(node, "write %lx, fi_sendmsg %lx, fi_senddata %lx", node->arrivals[0].data, node->operations[0].data,
      node->operations[1].data);
  meet(node);
}

static ssize_t inject_once(struct node *node, size_t length) {
  ssize_t result;
  do {
    progress(node);
    result = node->play->kind == SEND ? fi_inject(node->endpoint, node->memory, length, node->peer)
                                      : fi_inject_write(node->endpoint, node->memory, length, node->peer,
                                                        node->peer_address + 8192, node->peer_key);
  } while (result == -FI_EAGAIN);
  return result;
}

void inject_some(struct node *node) {
  greet(node);
  size_t lengths[] = {1, 32, node->info->tx_attr->inject_size};
  for (int i = 0; i < 3; i++) {
    say(node, "%zu B", lengths[i]);
    ssize_t result = inject_once(node, lengths[i]);
    progress_for(node, 50);
    say(node, "%s", result == 0 ? "0" : error_name((int)result, 0));
  }
  meet(node);
}

void take_injected(struct node *node) {
  greet(node);
  for (int i = 0; i < 3 && node->play->kind == SEND; i++) {
    post(node, (struct work){RECEIVE, .at = (size_t)i * 16 * KIB, .length = 16 * KIB});
  }
  hear(node, true);
  progress_for(node, 100);
  say_event(node);
  tell(node);
}

void write_injected(struct node *node) {
  greet(node);
  fill(node, 0, 1, 32);
  post(node, (struct work){WRITE, .length = 32, .to = 0, .flags = FI_INJECT, .bare = node->play->size == 1});
  fill(node, 0, 2, 32);
  settle(node, 0, 2000);
  say_endings(node, 0);
  meet(node);
}

void look_at_injected(struct node *node) {
  greet(node);
  hear(node, true);
  progress_for(node, 100);
  bool call = count_bytes(node, 0, 1, 32) == 32, later = count_bytes(node, 0, 2, 32) == 32;
  say(node, call ? "the bytes of the call" : later ? "later bytes" : "no bytes");
  tell(node);
}

void register_many(struct node *node) {
  static struct fid_mr *regions[REGIONS + 1];
  int count = 0, result = 0;
  for (; count <= REGIONS; count++) {
    uint8_t *at = node->memory + (size_t)count * 64;
    if ((result = fi_mr_reg(node->domain, at, 64, FI_REMOTE_WRITE | FI_WRITE, 0, 0, 0, &regions[count], NULL)) != 0) break;
  }
  say(node, "%s", result == 0 ? "never full" : error_name(result, 0));
  if (count > 0) fi_close(&regions[--count]->fid);
  result = fi_mr_reg(node->domain, node->memory, 64, FI_REMOTE_WRITE | FI_WRITE, 0, 0, 0, &regions[count], NULL);
  say(node, "after one is closed %s", result == 0 ? "0" : error_name(result, 0));
  finish(node);
}

struct offer {
  uint64_t key;
};

void write_to_offer(struct node *node) {
  greet(node);
  struct offer offer;
  hear(node, true);
  // The key lies at a place that the target wrote it to.
  post(node, (struct work){READ, .at = 0, .to = 8192, .length = sizeof offer});
  settle(node, 0, 3000);
  memcpy(&offer, node->memory, sizeof offer);
  fill(node, 0, 5, 100);
  post(node, (struct work){WRITE, .to = 0, .length = 100, .other_key = offer.key});
  settle(node, 1, 2000);
  say_endings(node, 1);
  tell(node);
  hear(node, true);
}

void offer_region(struct node *node) {
  greet(node);
  struct fid_mr *other;
  struct fid_domain *domain = node->domain;
  uint64_t rights = FI_SEND | FI_RECV | FI_READ | FI_WRITE;
  if (node->play->kind == 1) {
    if (fi_domain(node->fabric, node->info, &domain, NULL) != 0) fail(node, "fi_domain");
    rights |= FI_REMOTE_WRITE;
  }
  int result = fi_mr_reg(domain, node->memory, 4096, rights, 0, 1, 0, &other, NULL);
  if (result != 0) fail(node, "fi_mr_reg %s", error_name(result, 0));
  struct offer offer = {fi_mr_key(other)};
  memcpy(node->memory + 8192, &offer, sizeof offer);
  tell(node);
  hear(node, true);
  progress_for(node, 200);
  say(node, count_bytes(node, 0, 5, 100) == 100 ? "written" : "not written");
  say_event(node);
  tell(node);
}
