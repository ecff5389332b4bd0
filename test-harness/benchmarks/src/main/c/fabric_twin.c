/*
 * The C twin of org.jofi.benchmarks.FabricTwin: the same hints, objects, calls and protocol, with
 * one idle second thread, as a JVM has many (system calls cost more in a process with threads).
 *
 *   fabric_twin poll PROVIDER                  ns of an empty fi_cq_read, one line a trial
 *   fabric_twin server|client PROVIDER PORT    8-byte ping-pong; the client prints half round trips
 */
#include "twin.h"

enum { BATCH = 16, BYTES = 8, BLOCK = 200, WARM_BLOCKS = 200, BLOCKS = 500, TRIALS = 9, DEPTH = 256, CONTEXTS = 64 };
#define POLLS 2000000L

static struct port port;
static struct fid_mr *mr;
static struct fi_context2 contexts[CONTEXTS];
static char memory[65536] __attribute__((aligned(4096)));
static fi_addr_t peer;
static int sent, received;

static void open_all(const char *provider) {
    struct fi_info *info = choose(provider);
    start_idle_thread();
    open_port(&port, info, DEPTH);
    check(fi_mr_reg(port.domain, memory, sizeof memory, FI_SEND | FI_RECV, 0, 1, 0, &mr, NULL), "fi_mr_reg");
}

static void poll_queue(void) {
    struct fi_cq_data_entry entries[BATCH];
    ssize_t n = fi_cq_read(port.cq, entries, BATCH);
    if (n == -FI_EAGAIN) return;
    if (n < 0) check((int)n, "fi_cq_read");
    for (ssize_t i = 0; i < n; i++) {
        if ((struct fi_context2 *)entries[i].op_context - contexts) received++;
        else sent++;
    }
}

static void measure_poll(void) {
    for (int trial = 0; trial < TRIALS; trial++) {
        double start = now_ns();
        for (long i = 0; i < POLLS; i++) poll_queue();
        printf("%.2f\n", (now_ns() - start) / POLLS);
    }
}

/* Addresses go by a socket of loopback: four bytes of length, then the address. */
static void exchange(int s) {
    char mine[256], theirs[256] = {0};
    size_t length = sizeof mine;
    uint32_t size;
    check(fi_getname(&port.ep->fid, mine, &length), "fi_getname");
    size = htonl((uint32_t)length);
    all(write(s, &size, 4), 4, "write");
    all(write(s, mine, length), (int)length, "write");
    all(recv(s, &size, 4, MSG_WAITALL), 4, "read");
    all(recv(s, theirs, ntohl(size), MSG_WAITALL), (int)ntohl(size), "read");
    all(fi_av_insert(port.av, theirs, 1, &peer, 0, NULL), 1, "fi_av_insert");
}

static void post_recv(void) {
    ssize_t n;
    while ((n = fi_recv(port.ep, memory + 4096, 4096, fi_mr_desc(mr), FI_ADDR_UNSPEC, &contexts[1])) == -FI_EAGAIN)
        poll_queue();
    check((int)n, "fi_recv");
}

static void post_send(void) {
    ssize_t n;
    while ((n = fi_send(port.ep, memory, BYTES, fi_mr_desc(mr), peer, &contexts[0])) == -FI_EAGAIN) poll_queue();
    check((int)n, "fi_send");
}

static void await_recv(void) {
    while (!received) poll_queue();
    received--;
}

static void await_send(void) {
    while (!sent) poll_queue();
    sent--;
}

/* The receive of the next message is posted before the answer to this one leaves. */
static void ping_pong(int server) {
    for (int block = 0; block < WARM_BLOCKS + BLOCKS; block++) {
        double start = now_ns();
        for (int i = 0; i < BLOCK; i++) {
            if (server) {
                await_recv();
                post_recv();
                post_send();
            } else {
                post_recv();
                post_send();
                await_recv();
            }
            await_send();
        }
        if (!server && block >= WARM_BLOCKS) printf("%.1f\n", (now_ns() - start) / BLOCK / 2);
    }
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    open_all(argv[2]);
    if (!strcmp(argv[1], "poll")) {
        measure_poll();
        return 0;
    }
    int server = !strcmp(argv[1], "server");
    exchange(meet(server, atoi(argv[3])));
    if (server) post_recv();
    ping_pong(server);
    if (server) {
        /* The last answer may still be under way. */
        double end = now_ns() + 2e8;
        while (now_ns() < end) poll_queue();
    }
    fflush(stdout);
    _exit(0);
}
