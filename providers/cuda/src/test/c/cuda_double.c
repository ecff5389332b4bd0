/* A stand-in for libcuda.so.1: device memory that the processor cannot touch, contexts per thread, copies and sums that
 * are under way until they were asked for a few times, and failures on demand. It holds callers to the driver's rules:
 * a current context, the right capture mode, nothing freed twice, a launch as its kernel wants it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int CUresult;
typedef uint64_t CUdeviceptr;

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_CONTEXT = 201,
       INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700,
       ALREADY_REGISTERED = 712, NOT_REGISTERED = 713, NOT_SUPPORTED = 801, CAPTURE_UNSUPPORTED = 900 };
enum { ALLOCATIONS = 256, COPIES = 1024, DEVICES = 2, POLLS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char context_of[DEVICES];
static int retained[DEVICES];
static int initialized, capturing, streams, events, modules, host_registrations, failures_left;
static char failing[64];
static int failing_code;
static uint64_t next_id = 1;
static int attributes[256];
static __thread void *current;
static __thread int mode; /* 0 global, 1 thread local, 2 relaxed */

static struct { CUdeviceptr at; size_t bytes, mapped; char *shadow; uint64_t id; int device; } memory[ALLOCATIONS];
static struct { uintptr_t at; size_t bytes; } pinned[ALLOCATIONS];

/* Work of a stream: a copy, or a sum of floats. */
struct work { char *to; const char *from; size_t bytes; int adds; };
struct stream { struct work work[COPIES]; int queued, ran, polls; };
struct event { struct stream *stream; int upto, polls; };
struct module { void *context; char *entry; };

/* What the tests set and read. */
void double_fail(const char *function, int code, int times) {
  snprintf(failing, sizeof failing, "%s", function);
  failing_code = code;
  failures_left = times;
}
void double_attribute(int attribute, int value) { attributes[attribute] = value; }
int double_open(void) {
  int open = streams + events + modules + host_registrations + retained[0] + retained[1];
  for (int i = 0; i < ALLOCATIONS; i++) open += memory[i].at != 0;
  return open;
}
void *double_current(void) { return current; }
void double_set_current(void *context) { current = context; }
int double_mode(void) { return mode; }
void double_set_mode(int value) { mode = value; }
void double_capture(int on) { capturing = on; }

static CUresult enter(const char *function, int needs_context, int unsafe) {
  if (failures_left > 0 && strcmp(function, failing) == 0) {
    failures_left--;
    return failing_code;
  }
  if (!initialized) return NOT_INITIALIZED;
  if (needs_context && current == NULL) return INVALID_CONTEXT;
  if (unsafe && capturing && mode != 2) return CAPTURE_UNSUPPORTED;
  return OK;
}
#define ENTER(context, unsafe) do { CUresult r_ = enter(__func__, context, unsafe); if (r_ != OK) return r_; } while (0)

static char *shadow(CUdeviceptr at, size_t bytes) {
  for (int i = 0; i < ALLOCATIONS; i++)
    if (memory[i].at && at >= memory[i].at && at + bytes <= memory[i].at + memory[i].bytes)
      return memory[i].shadow + (at - memory[i].at);
  return NULL;
}

CUresult cuInit(unsigned flags) {
  if (failures_left > 0 && strcmp("cuInit", failing) == 0) { failures_left--; return failing_code; }
  /* For processes that no test calls into: attributes as NUMBER=VALUE, with commas between; FUNCTION=CODE fails. */
  const char *set = initialized ? NULL : getenv("CUDA_DOUBLE_ATTRIBUTES");
  for (int number, value; set && sscanf(set, "%d=%d", &number, &value) == 2; set = *set ? set + 1 : NULL) {
    double_attribute(number, value);
    set += strcspn(set, ",");
  }
  const char *fails = initialized ? NULL : getenv("CUDA_DOUBLE_FAILS");
  if (fails && sscanf(fails, "%63[^=]=%d", failing, &failing_code) == 2) failures_left = 1 << 30;
  initialized = 1;
  return flags == 0 ? OK : INVALID_VALUE;
}
CUresult cuDriverGetVersion(int *v) { *v = 13000; return OK; }
CUresult cuGetErrorName(CUresult e, const char **s) {
  static __thread char text[40];
  if (e == OUT_OF_MEMORY) *s = "CUDA_ERROR_OUT_OF_MEMORY";
  else { snprintf(text, sizeof text, "CUDA_ERROR_%d", e); *s = text; }
  return e == 4242 ? INVALID_VALUE : OK;
}
CUresult cuGetErrorString(CUresult e, const char **s) { *s = "words of the double"; return e == 4242 ? INVALID_VALUE : OK; }
CUresult cuDeviceGetCount(int *n) { ENTER(0, 0); *n = attributes[255] == -1 ? 0 : DEVICES; return OK; }
CUresult cuDeviceGet(int *d, int ordinal) {
  ENTER(0, 0);
  if (ordinal < 0 || ordinal >= DEVICES) return INVALID_DEVICE;
  *d = ordinal + 40; /* a handle is no ordinal */
  return OK;
}
CUresult cuDeviceGetName(char *name, int length, int d) { ENTER(0, 0); snprintf(name, length, "Double %d", d - 40); return OK; }
CUresult cuDeviceTotalMem_v2(size_t *bytes, int d) { ENTER(0, 0); (void)d; *bytes = 1UL << 36; return OK; }
CUresult cuDeviceGetAttribute(int *value, int attribute, int d) {
  ENTER(0, 0);
  if (d < 40 || d >= 40 + DEVICES) return INVALID_DEVICE;
  if (attribute < 0 || attribute > 254) return INVALID_VALUE;
  *value = attribute == 33 ? 0x60 + d - 40 : attributes[attribute];
  return OK;
}
CUresult cuDevicePrimaryCtxRetain(void **context, int d) {
  ENTER(0, 0);
  if (d < 40 || d >= 40 + DEVICES) return INVALID_DEVICE;
  retained[d - 40]++;
  *context = &context_of[d - 40];
  return OK;
}
CUresult cuDevicePrimaryCtxRelease_v2(int d) {
  ENTER(0, 0);
  if (d < 40 || d >= 40 + DEVICES || retained[d - 40] == 0) return INVALID_CONTEXT;
  retained[d - 40]--;
  return OK;
}
CUresult cuCtxGetCurrent(void **context) { ENTER(0, 0); *context = current; return OK; }
CUresult cuCtxSetCurrent(void *context) { ENTER(0, 0); current = context; return OK; }
CUresult cuCtxSynchronize(void) { ENTER(1, 1); return OK; }
CUresult cuThreadExchangeStreamCaptureMode(int *m) {
  ENTER(0, 0);
  if (*m < 0 || *m > 2) return INVALID_VALUE;
  int previous = mode;
  mode = *m;
  *m = previous;
  return OK;
}
CUresult cuStreamBeginCapture_v2(void *s, int m) { ENTER(1, 0); (void)s; (void)m; capturing = 1; return OK; }
CUresult cuStreamEndCapture(void *s, void **graph) { ENTER(1, 0); (void)s; capturing = 0; *graph = &capturing; return OK; }
CUresult cuGraphDestroy(void *graph) { ENTER(1, 0); (void)graph; return OK; }

CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes) {
  ENTER(1, 1);
  if (bytes > 1UL << 32) return OUT_OF_MEMORY;
  pthread_mutex_lock(&lock);
  CUresult answer = OUT_OF_MEMORY;
  for (int i = 0; i < ALLOCATIONS && answer != OK; i++) {
    if (memory[i].at) continue;
    size_t mapped = (bytes + 0xffff) & ~0xffffUL;
    void *range = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (range == MAP_FAILED) break;
    memory[i].bytes = bytes;
    memory[i].mapped = mapped;
    memory[i].shadow = malloc(bytes);
    memset(memory[i].shadow, 0xee, bytes);
    memory[i].id = next_id++;
    memory[i].device = (int)((char *)current - context_of);
    *at = (CUdeviceptr)range;
    /* Last: who looks for other memory holds no lock. */
    __atomic_store_n(&memory[i].at, *at, __ATOMIC_RELEASE);
    answer = OK;
  }
  pthread_mutex_unlock(&lock);
  return answer;
}
CUresult cuMemFree_v2(CUdeviceptr at) {
  ENTER(1, 1);
  pthread_mutex_lock(&lock);
  CUresult answer = INVALID_VALUE;
  for (int i = 0; i < ALLOCATIONS; i++)
    if (memory[i].at == at && at) {
      munmap((void *)at, memory[i].mapped);
      free(memory[i].shadow);
      memory[i].at = 0;
      answer = OK;
    }
  pthread_mutex_unlock(&lock);
  return answer;
}
CUresult cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr at) {
  ENTER(1, 1);
  return attribute == 6 && *(const int *)value == 1 && shadow(at, 1) ? OK : INVALID_VALUE;
}
CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr at) {
  ENTER(1, 0);
  for (int i = 0; i < ALLOCATIONS; i++) {
    int device = memory[i].at && at >= memory[i].at && at < memory[i].at + memory[i].bytes;
    int host = pinned[i].at && at >= pinned[i].at && at < pinned[i].at + pinned[i].bytes;
    if (!device && !host) continue;
    switch (attribute) {
      case 2: *(int *)data = host ? 1 : 2; return OK;
      case 7: *(uint64_t *)data = host ? 1000000u + (unsigned)i : memory[i].id; return OK;
      case 8: *(char *)data = attributes[254] == 8; return OK;
      case 9: *(int *)data = host ? 0 : memory[i].device; return OK;
      case 11: *(uint64_t *)data = host ? pinned[i].at : memory[i].at; return OK;
      case 12: *(uint64_t *)data = host ? pinned[i].bytes : memory[i].bytes; return OK;
      default: return INVALID_VALUE;
    }
  }
  return INVALID_VALUE;
}
CUresult cuMemGetHandleForAddressRange(int *fd, CUdeviceptr at, size_t bytes, int type, uint64_t flags) {
  ENTER(1, 1);
  size_t page = (size_t)getpagesize();
  if (attributes[124] != 1) return NOT_SUPPORTED;
  if (at % page || bytes % page || type != 1 || flags != 0) return INVALID_VALUE;
  *fd = memfd_create("double", 0);
  return *fd < 0 ? OUT_OF_MEMORY : OK;
}
CUresult cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags) {
  ENTER(1, 1);
  if (flags != 1) return INVALID_VALUE;
  pthread_mutex_lock(&lock);
  CUresult answer = OUT_OF_MEMORY;
  int free_slot = -1;
  for (int i = 0; i < ALLOCATIONS; i++) {
    if (!pinned[i].at) free_slot = i;
    else if ((uintptr_t)at < pinned[i].at + pinned[i].bytes && (uintptr_t)at + bytes > pinned[i].at)
      answer = ALREADY_REGISTERED;
  }
  if (answer != ALREADY_REGISTERED && free_slot >= 0) {
    pinned[free_slot].at = (uintptr_t)at;
    pinned[free_slot].bytes = bytes;
    host_registrations++;
    answer = OK;
  }
  pthread_mutex_unlock(&lock);
  return answer;
}
CUresult cuMemHostUnregister(void *at) {
  ENTER(1, 1);
  pthread_mutex_lock(&lock);
  CUresult answer = NOT_REGISTERED;
  for (int i = 0; i < ALLOCATIONS; i++)
    if (pinned[i].at == (uintptr_t)at && at) {
      pinned[i].at = 0;
      host_registrations--;
      answer = OK;
    }
  pthread_mutex_unlock(&lock);
  return answer;
}
CUresult cuMemsetD8_v2(CUdeviceptr at, unsigned char value, size_t bytes) {
  ENTER(1, 1);
  char *to = shadow(at, bytes);
  if (!to) return INVALID_VALUE;
  memset(to, value, bytes);
  return OK;
}
CUresult cuMemcpyDtoH_v2(void *host, CUdeviceptr at, size_t bytes) {
  ENTER(1, 1);
  char *from = shadow(at, bytes);
  if (!from) return INVALID_VALUE;
  memcpy(host, from, bytes);
  return OK;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr at, const void *host, size_t bytes) {
  ENTER(1, 1);
  char *to = shadow(at, bytes);
  if (!to) return INVALID_VALUE;
  memcpy(to, host, bytes);
  return OK;
}
static CUresult queue(struct stream *s, char *to, const char *from, size_t bytes, int adds) {
  if (!s || !to || !from) return INVALID_VALUE;
  s->work[s->queued % COPIES] = (struct work){to, from, bytes, adds};
  s->queued++;
  s->polls = 0;
  return OK;
}
static void run(struct stream *s, int upto) {
  for (; s->ran < upto; s->ran++) {
    struct work *w = &s->work[s->ran % COPIES];
    if (!w->adds) memcpy(w->to, w->from, w->bytes);
    else for (size_t i = 0; i < w->bytes / 4; i++) ((float *)w->to)[i] += ((const float *)w->from)[i];
  }
}
CUresult cuMemcpyDtoHAsync_v2(void *host, CUdeviceptr at, size_t bytes, void *stream) {
  ENTER(1, 0);
  return queue(stream, host, shadow(at, bytes), bytes, 0);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr at, const void *host, size_t bytes, void *stream) {
  ENTER(1, 0);
  return queue(stream, shadow(at, bytes), host, bytes, 0);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void *stream) {
  ENTER(1, 0);
  return queue(stream, shadow(to, bytes), shadow(from, bytes), bytes, 0);
}
CUresult cuStreamCreate(void **stream, unsigned flags) {
  ENTER(1, 1);
  if (flags != 1) return INVALID_VALUE;
  *stream = calloc(1, sizeof(struct stream));
  __atomic_add_fetch(&streams, 1, __ATOMIC_RELAXED);
  return OK;
}
CUresult cuStreamSynchronize(void *stream) {
  ENTER(1, 1);
  struct stream *s = stream;
  run(s, s->queued);
  return OK;
}
CUresult cuStreamQuery(void *stream) {
  ENTER(1, 1);
  struct stream *s = stream;
  if (s->ran < s->queued && ++s->polls < POLLS) return NOT_READY;
  run(s, s->queued);
  return OK;
}
CUresult cuStreamDestroy_v2(void *stream) {
  ENTER(1, 1);
  free(stream);
  __atomic_sub_fetch(&streams, 1, __ATOMIC_RELAXED);
  return OK;
}
CUresult cuEventCreate(void **event, unsigned flags) {
  ENTER(1, 1);
  if (flags != 2) return INVALID_VALUE;
  *event = calloc(1, sizeof(struct event));
  __atomic_add_fetch(&events, 1, __ATOMIC_RELAXED);
  return OK;
}
CUresult cuEventDestroy_v2(void *event) {
  ENTER(1, 1);
  free(event);
  __atomic_sub_fetch(&events, 1, __ATOMIC_RELAXED);
  return OK;
}
CUresult cuEventRecord(void *event, void *stream) {
  ENTER(1, 0);
  struct event *e = event;
  e->stream = stream;
  e->upto = e->stream->queued;
  e->polls = 0;
  return OK;
}
CUresult cuEventQuery(void *event) {
  ENTER(1, 1);
  struct event *e = event;
  if (++e->polls < POLLS) return NOT_READY;
  run(e->stream, e->upto);
  return OK;
}
CUresult cuFlushGPUDirectRDMAWrites(int target, int scope) {
  ENTER(1, 1);
  return target == 0 && scope == 100 ? OK : INVALID_VALUE;
}

/* One kernel: sum, summand and count, as 64-bit words. What its text names as entry is what there is of it. */
CUresult cuModuleLoadData(void **module, const void *image) {
  ENTER(1, 1);
  const char *text = image, *entry = strstr(text, ".entry ");
  if (strncmp(text, ".version", 8) != 0 || !strstr(text, ".target ") || !entry) return INVALID_PTX;
  entry += strlen(".entry ");
  struct module *m = calloc(1, sizeof *m);
  m->context = current;
  m->entry = strndup(entry, strcspn(entry, "( \n"));
  *module = m;
  __atomic_add_fetch(&modules, 1, __ATOMIC_RELAXED);
  return OK;
}
CUresult cuModuleGetFunction(void **function, void *module, const char *name) {
  ENTER(1, 0);
  struct module *m = module;
  if (m->context != current) return INVALID_HANDLE;
  *function = m; /* its only one */
  return strcmp(m->entry, name) == 0 ? OK : NOT_FOUND;
}
CUresult cuModuleUnload(void *module) {
  ENTER(1, 1);
  struct module *m = module;
  if (m->context != current) return INVALID_HANDLE;
  free(m->entry);
  free(m);
  __atomic_sub_fetch(&modules, 1, __ATOMIC_RELAXED);
  return OK;
}
static int of_current(CUdeviceptr at) {
  for (int i = 0; i < ALLOCATIONS; i++)
    if (memory[i].at && at >= memory[i].at && at < memory[i].at + memory[i].bytes)
      return memory[i].device == (int)((char *)current - context_of);
  return 0;
}
CUresult cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared_bytes, void *stream, void **parameters, void **extra) {
  ENTER(1, 0);
  struct module *m = function;
  if (m->context != current) return INVALID_HANDLE;
  if (gx < 1 || gx > 0x7fffffff || gy != 1 || gz != 1 || bx < 1 || bx > 1024 || by != 1 || bz != 1) return INVALID_VALUE;
  if (shared_bytes != 0 || !stream || !parameters || extra) return INVALID_VALUE;
  uint64_t sum = *(uint64_t *)parameters[0], summand = *(uint64_t *)parameters[1], count = *(uint64_t *)parameters[2];
  /* Threads without an element would be a mistake of the caller's. */
  if (count == 0 || (uint64_t)(gx - 1) * bx >= count || (sum | summand) % 4) return INVALID_VALUE;
  char *to = shadow(sum, count * 4);
  const char *from = shadow(summand, count * 4);
  if (!to || !from || !of_current(sum) || !of_current(summand)) return ILLEGAL_ADDRESS;
  return queue(stream, to, from, count * 4, 1);
}
