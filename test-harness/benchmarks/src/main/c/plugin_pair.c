/*
 * Measures a network plugin of NCCL as NCCL would use it: two processes of this machine, a connection in each
 * direction, messages of host memory, and a thread that yields when a poll finds nothing. Takes any plugin that has the
 * table of version 11.
 *
 *   plugin_pair PLUGIN DIVISOR
 *
 * For each length it prints a line: bytes, half round trip in us (the median), and messages a second and MB/s of a
 * stream with a window of 8. Every length is warmed up first, with as many messages as are measured; DIVISOR divides
 * their number. A line before them, which begins with a #, tells what the first thousand round trips took. The bytes
 * are looked at outside the measured time. If one is wrong, or if anything fails or takes too long, the exit code is 1.
 * There are no flushes: NCCL asks for them only if the memory is that of a GPU.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

/* AHEAD receives are posted at a time in a ping-pong: NCCL posts them before their messages leave, too. */
enum { WINDOW = 8, AHEAD = 2, TAG = 7, LIMIT = 270, LEAST_SLOT = 4096, FIRST = 1000 };

static const struct {
    int bytes, round_trips, messages;
} lengths[] = {
    {8, 20000, 50000},        {64, 20000, 50000},      {512, 20000, 50000},     {4 << 10, 20000, 50000},
    {16 << 10, 10000, 20000}, {64 << 10, 5000, 10000}, {256 << 10, 1500, 4000}, {1 << 20, 500, 1500},
};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

/* A direction of this process: its communicator, and memory for a window of messages. */
typedef struct {
    void *comm;
    memory slots;
} direction;

/* What this process has. */
typedef struct {
    side s;
    direction out, in;
    int bytes;
} end;

static unsigned char *slot(end *e, direction *d, int index) {
    int stride = e->bytes > LEAST_SLOT ? e->bytes : LEAST_SLOT;
    return d->slots.bytes + (size_t)stride * (size_t)(index % WINDOW);
}

/* NULL if the plugin has no room for it now. */
static void *try_send(end *e, int index) {
    void *request = NULL;
    check_ok(net_isend(&e->s.n, e->out.comm, slot(e, &e->out, index), e->bytes, TAG, e->out.slots.region, &request));
    return request;
}

static void *try_receive(end *e, int index) {
    void *request = NULL, *data = slot(e, &e->in, index);
    size_t size = e->bytes;
    int tag = TAG;
    check_ok(net_irecv(&e->s.n, e->in.comm, 1, &data, &size, &tag, &e->in.slots.region, &request));
    return request;
}

static bool over(end *e, void *request, const char *what) {
    int done = 0, size = -1;
    check_ok(net_test(&e->s.n, request, &done, &size));
    check(!done || size == e->bytes, "%s has %d bytes instead of %d", what, size, e->bytes);
    return done != 0;
}

static void *must(end *e, void *(*post)(end *, int), int index) {
    void *request = post(e, index);
    for (bound b = within(PATIENCE, "room for a request"); request == NULL; request = post(e, index)) poll_again(&b);
    return request;
}

/* Each direction's bytes of each length and slot differ from those of all others. */
static uint32_t seed(end *e, int rank, int index) {
    return ((uint32_t)e->bytes * 2 + (uint32_t)rank) * WINDOW + (uint32_t)index;
}

static void clear(end *e) { memset(e->in.slots.bytes, 0, e->in.slots.size); }

static void look(end *e, int count, const char *what) {
    for (int i = 0; i < count; i++) verify(slot(e, &e->in, i), e->bytes, seed(e, 1 - e->s.rank, i), what);
}

/* A message through each slot in both directions at once. */
static void exchange(end *e) {
    void *receives[WINDOW], *sends[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        fill(slot(e, &e->out, i), e->bytes, seed(e, e->s.rank, i));
        receives[i] = must(e, try_receive, i);
    }
    for (int i = 0; i < WINDOW; i++) sends[i] = must(e, try_send, i);
    bool open = true;
    for (bound b = within(PATIENCE, "messages in both directions"); open; pass(&b)) {
        open = false;
        for (int i = 0; i < WINDOW; i++) {
            if (receives[i] != NULL && over(e, receives[i], "a receive")) receives[i] = NULL;
            if (sends[i] != NULL && over(e, sends[i], "a send")) sends[i] = NULL;
            open |= receives[i] != NULL || sends[i] != NULL;
        }
    }
    look(e, WINDOW, "exchange");
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* In microseconds. */
typedef struct {
    double median, mean;
} half;

/* Of so many round trips, after others that warm up. */
static half half_round_trip(end *e, int warming, int count) {
    int total = warming + count;
    double *times = calloc(count, sizeof *times);
    check(times != NULL, "no memory");
    void *receives[AHEAD];
    for (int i = 0; i < AHEAD; i++) receives[i] = must(e, try_receive, i);
    meet(&e->s);
    double last = now(), sum = 0;
    bound b = within(PATIENCE, "round trips");
    for (int i = 0; i < total; i++) {
        void *send = e->s.rank == 0 ? must(e, try_send, i % AHEAD) : NULL;
        /* The slot that is free by now: rank 0 posts while its message travels, rank 1 after it has answered. */
        int next = i + AHEAD - 1;
        if (e->s.rank == 0 && i > 0 && next < total) receives[next % AHEAD] = must(e, try_receive, next % AHEAD);
        for (bool arrived = false; !arrived;) {
            if (send != NULL && over(e, send, "a send")) send = NULL;
            arrived = over(e, receives[i % AHEAD], "a receive");
            if (!arrived) poll_again(&b);
        }
        if (e->s.rank == 1) {
            send = must(e, try_send, i % AHEAD);
            next = i + AHEAD;
            if (next < total) receives[next % AHEAD] = must(e, try_receive, next % AHEAD);
        }
        while (send != NULL && !over(e, send, "a send")) poll_again(&b);
        double time = now();
        if (i >= warming) {
            times[i - warming] = (time - last) * 1e6 / 2;
            sum += times[i - warming];
        }
        last = time;
    }
    qsort(times, count, sizeof *times, by_value);
    half took = {.median = (times[(count - 1) / 2] + times[count / 2]) / 2, .mean = sum / count};
    free(times);
    return took;
}

/*
 * Messages a second from rank 0 to rank 1, until rank 1's answer to the last one is back: a send may be over while its
 * bytes are still on their way. Rank 1 returns 0.
 */
static double stream(end *e, int count) {
    bool sends = e->s.rank == 0;
    void *requests[WINDOW], *answer = sends ? must(e, try_receive, 0) : NULL;
    int posted = 0, done = 0;
    meet(&e->s);
    double start = now();
    bound b = within(PATIENCE, "a stream");
    while (done < count) {
        bool moved = false;
        if (posted < count && posted - done < WINDOW) {
            void *request = sends ? try_send(e, posted) : try_receive(e, posted);
            if (request != NULL) {
                requests[posted++ % WINDOW] = request;
                moved = true;
            }
        }
        if (done < posted && over(e, requests[done % WINDOW], sends ? "a send" : "a receive")) {
            done++;
            moved = true;
        }
        if (!moved) poll_again(&b);
    }
    if (!sends) answer = must(e, try_send, 0);
    while (!over(e, answer, "the answer")) poll_again(&b);
    return sends ? count / (now() - start) : 0;
}

/* What a process pays until its plugin is warm. */
static void measure_first(end *e) {
    half took = half_round_trip(e, 0, FIRST);
    if (e->s.rank == 0) {
        printf("# half of the first %d round trips of %d B: %.2f us by median, %.2f by mean\n", FIRST, e->bytes,
               took.median, took.mean);
    }
}

static void measure(end *e, int round_trips, int messages) {
    meet(&e->s);
    exchange(e);
    clear(e);
    double median = half_round_trip(e, round_trips, round_trips).median;
    look(e, AHEAD, "round trips");
    clear(e);
    stream(e, messages); /* warms up */
    double rate = stream(e, messages);
    look(e, e->s.rank == 0 ? 1 : WINDOW, "stream");
    if (e->s.rank == 0) printf("%d %.3f %.0f %.2f\n", e->bytes, median, rate, rate * e->bytes / 1e6);
    fflush(stdout);
}

/* Listens, and exchanges the handles; connecting and accepting may need each other's progress. */
static void open_connections(end *e) {
    char mine[HANDLE_BYTES] = {0}, theirs[HANDLE_BYTES];
    void *listener = NULL;
    net *n = &e->s.n;
    check_ok(net_listen(n, e->s.context, e->s.device, mine, &listener));
    control_put(&e->s, mine, sizeof mine);
    control_get(&e->s, theirs, sizeof theirs);
    bound b = within(PATIENCE, "connections in both directions");
    while (e->out.comm == NULL || e->in.comm == NULL) {
        if (e->out.comm == NULL) check_ok(net_connect(n, e->s.context, e->s.device, theirs, &e->out.comm));
        if (e->in.comm == NULL) check_ok(net_accept(n, listener, &e->in.comm));
        pass(&b);
    }
    check_ok(net_close_listen(n, listener));
    size_t room = (size_t)WINDOW * (size_t)lengths[LENGTHS - 1].bytes;
    e->out.slots = memory_new(&e->s, e->out.comm, room);
    e->in.slots = memory_new(&e->s, e->in.comm, room);
}

/* A call of the plugin did not come back, or all of it together took too long. */
static void too_long(int number) {
    static const char words[] = "FAILED: not over in time\n";
    (void)number;
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    _exit(1);
}

int main(int count, char **arguments) {
    int divisor = count == 3 ? atoi(arguments[2]) : 0;
    if (divisor < 1 || divisor > 100) {
        fprintf(stderr, "usage: %s PLUGIN DIVISOR, which is 1 to 100\n", arguments[0]);
        return 2;
    }
    end e = {.s = {.plugin = arguments[1], .version = 11}};
    side_fork(&e.s);
    signal(SIGALRM, too_long);
    alarm(LIMIT);
    /* net_load would say why libnccl-net-PLUGIN.so cannot be opened. */
    check(dlopen(e.s.plugin, RTLD_NOW | RTLD_LOCAL) != NULL, "%s", dlerror());
    side_open(&e.s);
    e.s.n.foreign = true;
    properties p;
    check_ok(net_properties(&e.s.n, e.s.device, &p));
    check((p.ptrSupport & HOST_MEMORY) != 0, "no host memory");
    if (e.s.rank == 0) printf("# %s on %s\n", net_name(&e.s.n), p.name);
    open_connections(&e);
    e.bytes = lengths[0].bytes;
    measure_first(&e);
    for (int i = 0; i < LENGTHS; i++) {
        e.bytes = lengths[i].bytes;
        measure(&e, lengths[i].round_trips / divisor, lengths[i].messages / divisor);
    }
    meet(&e.s);
    memory_free(&e.s, e.out.comm, &e.out.slots);
    memory_free(&e.s, e.in.comm, &e.in.slots);
    check_ok(net_close_send(&e.s.n, e.out.comm));
    check_ok(net_close_recv(&e.s.n, e.in.comm));
    side_close(&e.s);
    side_join(&e.s);
    return 0;
}
