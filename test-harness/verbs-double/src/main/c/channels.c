// Completion channels: a file that becomes readable when a queue that asked for it gets a completion.

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "nic.h"

static struct completion_queue *told;
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;

static void forget_told(void) {
  told = NULL;
  told_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_told); }

// One token in the file for each event of the list.
static void add_event(struct completion_channel *channel, struct completion_queue *queue) {
  struct channel_event *event = calloc(1, sizeof *event);
  if (event == NULL) return;
  event->queue = &queue->cq;
  pthread_mutex_lock(&channel->lock);
  *channel->last = event;
  channel->last = &event->next;
  pthread_mutex_unlock(&channel->lock);
  uint64_t token = 1;
  if (write(channel->channel.fd, &token, sizeof token) < 0) trace("no token");
}

// Of the devices' own thread.
static bool tell_channels(void) {
  pthread_mutex_lock(&told_lock);
  for (struct completion_queue *queue = told; queue != NULL; queue = queue->next) {
    if (!queue->wire->notify) continue;
    queue->wire->notify = false;
    add_event(queue->channel, queue);
  }
  pthread_mutex_unlock(&told_lock);
  return false;
}

void begin_telling(struct completion_queue *queue) {
  queue->channel->channel.refcnt++;
  pthread_mutex_lock(&told_lock);
  queue->next = told;
  told = queue;
  pthread_mutex_unlock(&told_lock);
  add_work(tell_channels);
  start_firmware();
}

static void drop_events(struct completion_channel *channel, const struct completion_queue *queue) {
  pthread_mutex_lock(&channel->lock);
  for (struct channel_event **at = &channel->first; *at != NULL;) {
    struct channel_event *event = *at;
    if (event->queue != &queue->cq) {
      at = &event->next;
      continue;
    }
    *at = event->next;
    if (event->next == NULL) channel->last = at;
    free(event);
    uint64_t token;
    if (read(channel->channel.fd, &token, sizeof token) < 0) trace("no token");
  }
  pthread_mutex_unlock(&channel->lock);
}

void end_telling(struct completion_queue *queue) {
  pthread_mutex_lock(&told_lock);
  struct completion_queue **at = &told;
  while (*at != NULL && *at != queue) at = &(*at)->next;
  if (*at != NULL) *at = queue->next;
  pthread_mutex_unlock(&told_lock);
  drop_events(queue->channel, queue);
  queue->channel->channel.refcnt--;
}

int request_notification(struct ibv_cq *cq, int solicited) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  (void)solicited;
  if (queue->channel == NULL) {
    broke("no-channel", "a notification was asked of a completion queue without a channel");
    return EINVAL;
  }
  queue->wire->armed = true;
  return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
  struct completion_channel *channel = calloc(1, sizeof *channel);
  if (channel == NULL) return NULL;
  channel->channel.context = context;
  channel->channel.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  pthread_mutex_init(&channel->lock, NULL);
  channel->last = &channel->first;
  return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
  if (channel->refcnt != 0) {
    if (is_exiting()) return EBUSY;
    broke("channel-in-use", "a completion channel was closed that %d queues tell", channel->refcnt);
    return EBUSY;
  }
  close(channel->fd);
  free(channel);
  return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *base, struct ibv_cq **queue, void **context) {
  struct completion_channel *channel = (struct completion_channel *)base;
  uint64_t token;
  if (read(base->fd, &token, sizeof token) != sizeof token) return -1;
  pthread_mutex_lock(&channel->lock);
  struct channel_event *event = channel->first;
  if (event != NULL) {
    channel->first = event->next;
    if (channel->first == NULL) channel->last = &channel->first;
  }
  pthread_mutex_unlock(&channel->lock);
  if (event == NULL) {
    errno = EAGAIN;
    return -1;
  }
  *queue = event->queue;
  *context = event->queue->cq_context;
  free(event);
  return 0;
}

void ibv_ack_cq_events(struct ibv_cq *queue, unsigned count) {
  (void)queue;
  (void)count;
}
