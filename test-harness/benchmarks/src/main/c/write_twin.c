/*
 * The C twin of org.jofi.benchmarks.TransportTwin: moves the same bytes between two processes with
 * the least that libfabric offers, writes with immediate data into memory known beforehand. No
 * rendezvous, no tags, no checks. One idle second thread, as a JVM has many (system calls cost more
 * in a process with threads).
 *
 *   write_twin server|client PROVIDER PORT BYTES WINDOW RAILS
 *
 * WINDOW 1: ping-pong; the client prints half round trips in ns. WINDOW above 1: the client streams
 * blocks of messages, WINDOW in flight, each block answered once; it prints bytes per microsecond.
 */
#include <sys/mman.h>

#include "twin.h"

#include <rdma/fi_rma.h>

enum { BATCH = 16, DEPTH = 1024, RECVS = 64, MAX_RAILS = 8, MAX_WINDOW = 64 };

/* One rail, and what it counts. */
struct rail {
    struct port port;
    struct fid_mr *mr;
    fi_addr_t peer;
    uint64_t remote, key;
    long written, arrived;
};

struct hello {
    uint32_t length;
    char address[240];
    uint64_t remote, key;
};

static struct rail rails[MAX_RAILS];
static struct fi_context2 write_context, receive_contexts[RECVS];
static char *memory;
static size_t bytes;
static int window, rail_count, needs_receives;

static void post_recv(struct rail *rail, struct fi_context2 *context) {
    check((int)fi_recv(rail->port.ep, memory, 0, fi_mr_desc(rail->mr), FI_ADDR_UNSPEC, context), "fi_recv");
}

static void open_rail(struct rail *rail, struct fi_info *info, int number) {
    open_port(&rail->port, info, DEPTH);
    check(fi_mr_reg(rail->port.domain, memory, bytes * window, FI_WRITE | FI_REMOTE_WRITE, 0, 1 + number, 0, &rail->mr,
                    NULL),
          "fi_mr_reg");
    needs_receives = (info->rx_attr->mode & FI_RX_CQ_DATA) != 0;
    for (int i = 0; needs_receives && i < RECVS; i++) post_recv(rail, &receive_contexts[i]);
    rail->remote = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)memory : 0;
    rail->key = fi_mr_key(rail->mr);
}

/* What each rail needs of the other side goes by a socket of loopback. */
static void exchange(int s) {
    for (int i = 0; i < rail_count; i++) {
        struct hello mine = {.remote = rails[i].remote, .key = rails[i].key}, theirs;
        size_t length = sizeof mine.address;
        check(fi_getname(&rails[i].port.ep->fid, mine.address, &length), "fi_getname");
        all(write(s, &mine, sizeof mine), sizeof mine, "write");
        all(recv(s, &theirs, sizeof theirs, MSG_WAITALL), sizeof theirs, "read");
        all(fi_av_insert(rails[i].port.av, theirs.address, 1, &rails[i].peer, 0, NULL), 1, "fi_av_insert");
        rails[i].remote = theirs.remote;
        rails[i].key = theirs.key;
    }
}

static void poll_rail(struct rail *rail) {
    struct fi_cq_data_entry entries[BATCH];
    ssize_t n = fi_cq_read(rail->port.cq, entries, BATCH);
    if (n == -FI_EAGAIN) return;
    if (n < 0) check((int)n, "fi_cq_read");
    for (ssize_t i = 0; i < n; i++) {
        if (entries[i].flags & FI_REMOTE_CQ_DATA) {
            rail->arrived++;
            if (needs_receives) post_recv(rail, entries[i].op_context);
        } else {
            rail->written++;
        }
    }
}

static void poll_all(void) {
    for (int i = 0; i < rail_count; i++) poll_rail(&rails[i]);
}

/* Messages that all rails count. */
static long least(int arrivals) {
    long least = arrivals ? rails[0].arrived : rails[0].written;
    for (int i = 1; i < rail_count; i++) {
        long n = arrivals ? rails[i].arrived : rails[i].written;
        if (n < least) least = n;
    }
    return least;
}

/* A stripe per rail. */
static void post(long number) {
    size_t slot = (size_t)(number % window) * bytes, stripe = bytes / rail_count;
    for (int i = 0; i < rail_count; i++) {
        struct rail *rail = &rails[i];
        size_t at = slot + (size_t)i * stripe, length = i == rail_count - 1 ? bytes - (size_t)i * stripe : stripe;
        ssize_t n;
        while ((n = fi_writedata(rail->port.ep, memory + at, length, fi_mr_desc(rail->mr), number & 0xffff, rail->peer,
                                 rail->remote + at, rail->key, &write_context)) == -FI_EAGAIN)
            poll_all();
        check((int)n, "fi_writedata");
    }
}

static long posted, taken;

static void send_one(void) {
    post(posted++);
    while (least(0) < posted) poll_all();
}

static void take_one(void) {
    while (least(1) <= taken) poll_all();
    taken++;
}

static void ping_pong(int server, int blocks, int warm, int block) {
    for (int b = 0; b < warm + blocks; b++) {
        double start = now_ns();
        for (int i = 0; i < block; i++) {
            if (server) take_one();
            send_one();
            if (!server) take_one();
        }
        if (!server && b >= warm) printf("%.1f\n", (now_ns() - start) / block / 2);
    }
}

static void stream(int server, int blocks, int warm, int block) {
    for (int b = 0; b < warm + blocks; b++) {
        double start = now_ns();
        if (server) {
            for (int i = 0; i < block; i++) take_one();
            send_one();
        } else {
            for (int i = 0; i < block; i++) {
                while (posted - least(0) >= window) poll_all();
                post(posted++);
            }
            while (least(0) < posted) poll_all();
            take_one();
            if (b >= warm) printf("%.2f\n", (double)bytes * block / ((now_ns() - start) / 1e3));
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 7) return 2;
    bytes = (size_t)atol(argv[4]);
    window = atoi(argv[5]);
    rail_count = atoi(argv[6]);
    if (bytes < 1 || window < 1 || window > MAX_WINDOW || rail_count < 1 || rail_count > MAX_RAILS) return 2;
    start_idle_thread();
    memory = mmap(NULL, bytes * window, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    struct fi_info *info = choose(argv[2]);
    for (int i = 0; i < rail_count; i++) open_rail(&rails[i], info, i);
    int server = !strcmp(argv[1], "server");
    exchange(meet(server, atoi(argv[3])));
    if (window == 1) {
        ping_pong(server, 500, 5000, 200);
    } else {
        stream(server, 100, 400, bytes > 300000 ? 64 : 512);
    }
    if (server) {
        /* The last answer may still be under way. */
        double end = now_ns() + 2e8;
        while (now_ns() < end) poll_all();
    }
    fflush(stdout);
    _exit(0);
}
