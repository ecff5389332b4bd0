// training PLUGIN: loads the plugin as NCCL does, sends to itself, and ends the JVM in good order. That is when a JVM
// writes down what it recorded (-XX:AOTMode=record): in a process that merely exits, it writes nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jni.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../nccl_net.h"

// The whole of it, and what waits for the other end, in seconds.
enum { LIMIT = 250, PATIENCE = 60 };
enum { HANDLE_BYTES = 128, HOST_MEMORY = 1, TAG = 1 };

// What is sent, often enough that the JVM learns which methods are worth compiling.
static const struct {
  size_t bytes;
  int times;
} messages[] = {{8, 1000}, {4 << 10, 1000}, {64 << 10, 200}, {1 << 20, 10}};
enum { LENGTHS = sizeof messages / sizeof messages[0], MOST_BYTES = 1 << 20 };

static net_v11 *net;
static char warning[1024]; // the last one

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s%s\n", warning[0] == 0 ? "" : ": ", warning);
  exit(1);
}

__attribute__((format(printf, 5, 6))) static void keep_warning(int level, unsigned long subsystems, const char *where,
                                                               int line, const char *format, ...) {
  (void)subsystems;
  (void)where;
  (void)line;
  if (level == LEVEL_WARN) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(warning, sizeof warning, format, arguments);
    va_end(arguments);
  }
}

static void must(result outcome, const char *call) {
  if (outcome != OK) {
    fail("%s gave %d", call, outcome);
  }
}

// Lets others run; fails if that has gone on for too long.
static void wait_since(time_t start, const char *what) {
  if (time(NULL) - start > PATIENCE) {
    fail("waited %d s for %s", PATIENCE, what);
  }
  usleep(0);
}

static void transfer(void *sender, void *receiver, char *from, char *to, size_t bytes, void *source, void *target) {
  void *sent = NULL, *received = NULL, *data = to;
  int tag = TAG, is_sent = 0, is_received = 0;
  time_t start = time(NULL);
  from[0]++;
  from[bytes - 1]++;
  while (!is_sent || !is_received) {
    if (received == NULL) {
      must(net->irecv(receiver, 1, &data, &bytes, &tag, &target, NULL, &received), "irecv");
    }
    if (sent == NULL) {
      must(net->isend(sender, from, bytes, tag, source, NULL, &sent), "isend");
    }
    if (sent != NULL && !is_sent) {
      must(net->test(sent, &is_sent, NULL), "test of a send");
    }
    if (received != NULL && !is_received) {
      must(net->test(received, &is_received, NULL), "test of a receive");
    }
    wait_since(start, "a message");
  }
  if (to[0] != from[0] || to[bytes - 1] != from[bytes - 1]) {
    fail("%zu bytes did not arrive as they left", bytes);
  }
}

static void send_to_itself(void *context) {
  char handle[HANDLE_BYTES] = "";
  void *listener = NULL, *sender = NULL, *receiver = NULL, *source = NULL, *target = NULL, *unused = NULL;
  must(net->listen(context, 0, handle, &listener), "listen");
  time_t start = time(NULL);
  while (sender == NULL || receiver == NULL) {
    if (sender == NULL) {
      must(net->connect(context, 0, handle, &sender, &unused), "connect");
    }
    if (receiver == NULL) {
      must(net->accept(listener, &receiver, &unused), "accept");
    }
    wait_since(start, "a connection");
  }
  char *from = calloc(1, MOST_BYTES), *to = calloc(1, MOST_BYTES);
  if (from == NULL || to == NULL) {
    fail("no memory");
  }
  must(net->reg_mr(sender, from, MOST_BYTES, HOST_MEMORY, &source), "regMr");
  must(net->reg_mr(receiver, to, MOST_BYTES, HOST_MEMORY, &target), "regMr");
  for (int length = 0; length < LENGTHS; length++) {
    for (int i = 0; i < messages[length].times; i++) {
      transfer(sender, receiver, from, to, messages[length].bytes, source, target);
    }
  }
  must(net->dereg_mr(sender, source), "deregMr");
  must(net->dereg_mr(receiver, target), "deregMr");
  must(net->close_send(sender), "closeSend");
  must(net->close_recv(receiver), "closeRecv");
  must(net->close_listen(listener), "closeListen");
  free(from);
  free(to);
}

static void end_jvm(void) {
  void *library = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  jint (*created)(JavaVM **, jsize, jsize *) = library == NULL ? NULL : dlsym(library, "JNI_GetCreatedJavaVMs");
  JavaVM *jvm = NULL;
  jsize running = 0;
  if (created == NULL || created(&jvm, 1, &running) != JNI_OK || running != 1) {
    fail("the plugin has no JVM");
  }
  if ((*jvm)->DestroyJavaVM(jvm) != JNI_OK) {
    fail("the JVM does not end");
  }
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: %s PLUGIN\n", arguments[0]);
    return 2;
  }
  alarm(LIMIT);
  // Every machine has what this takes.
  setenv("JOFI_PROVIDER", "tcp", true);
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  net = library == NULL ? NULL : dlsym(library, "ncclNetPlugin_v11");
  if (net == NULL) {
    fail("%s", dlerror());
  }
  void *context = NULL;
  int devices = 0;
  properties_v11 properties;
  must(net->init(&context, 1, NULL, keep_warning, NULL), "init");
  must(net->devices(&devices), "devices");
  must(net->get_properties(0, &properties), "getProperties");
  send_to_itself(context);
  must(net->finalize(context), "finalize");
  end_jvm();
  return 0;
}
