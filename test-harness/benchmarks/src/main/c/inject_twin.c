/*
 * The least that short messages cost in C: each leaves by one fi_inject into a receive that is posted, or by one
 * fi_inject_writedata into memory known beforehand, with a header of 16 bytes. The receiver copies the bytes out, looks
 * at the order, and gives credit back once for 16 messages. No tags, no lengths, no failures. One idle second thread, as
 * a JVM has many (system calls cost more in a process with threads).
 *
 *   inject_twin server|client PROVIDER PORT BYTES WINDOW COUNT send|write [second]
 *
 * With `second`, another endpoint is bound to the same completion queue, over which nothing goes: jofi has one for
 * control messages and one for data.
 *
 * The client prints half a round trip in us (the median of COUNT, one in flight) and MB/s of a stream of COUNT messages
 * with at most WINDOW that have no credit yet. As many of each are exchanged beforehand. `jofi perf` prints the same.
 */
#include <sys/mman.h>

#include "twin.h"

#include <rdma/fi_rma.h>

enum { BATCH = 16, DEPTH = 1024, SLOTS = 128, EACH = 16, HEADER = 16, MAX_BYTES = 4096 };

struct hello {
    uint32_t length;
    char address[240];
    uint64_t remote, key;
};

static struct port port;
static struct fid_mr *mr;
static struct fi_context2 contexts[SLOTS];
static fi_addr_t peer;
static struct hello theirs;
static char *memory, *taken_bytes, *out;
static size_t bytes, slot_bytes;
static int writes, needs_receives;
/* Written, credited to this side; arrived, taken, credited to the other. */
static uint64_t sent, credited, arrived, taken, told;

static void post_receive(int slot) {
    void *at = writes ? memory : memory + (size_t)slot * slot_bytes;
    check((int)fi_recv(port.ep, at, writes ? 0 : slot_bytes, fi_mr_desc(mr), FI_ADDR_UNSPEC, &contexts[slot]), "fi_recv");
}

/* A message is a header, number and credit, and the bytes; a header alone only gives credit. */
static void take(const char *at, size_t length) {
    uint64_t number, credit;
    memcpy(&number, at, sizeof number);
    memcpy(&credit, at + sizeof number, sizeof credit);
    if (credit > credited) credited = credit;
    if (length == HEADER) return;
    if (number != arrived) {
        fprintf(stderr, "message %llu came in place of %llu\n", (unsigned long long)number, (unsigned long long)arrived);
        exit(1);
    }
    memcpy(taken_bytes, at + HEADER, bytes);
    arrived++;
}

static void poll_queue(void) {
    struct fi_cq_data_entry entries[BATCH];
    ssize_t n = fi_cq_read(port.cq, entries, BATCH);
    if (n == -FI_EAGAIN) return;
    if (n < 0) check((int)n, "fi_cq_read");
    for (ssize_t i = 0; i < n; i++) {
        if (writes && entries[i].flags & FI_REMOTE_CQ_DATA) {
            uint64_t data = entries[i].data;
            /* The slot, and whether it is a message. */
            take(memory + (data >> 1) * slot_bytes, data & 1 ? HEADER + bytes : HEADER);
            if (needs_receives) post_receive((int)((struct fi_context2 *)entries[i].op_context - contexts));
        } else if (!writes && entries[i].flags & FI_RECV) {
            int slot = (int)((struct fi_context2 *)entries[i].op_context - contexts);
            take(memory + (size_t)slot * slot_bytes, entries[i].len);
            post_receive(slot);
        }
    }
}

static void post(size_t length) {
    static uint64_t credits;
    ssize_t n;
    memcpy(out, &sent, sizeof sent);
    memcpy(out + sizeof sent, &taken, sizeof taken);
    told = taken;
    if (writes) {
        /* Credit goes into slots behind those of messages. */
        uint64_t slot = length == HEADER ? SLOTS + credits++ % SLOTS : sent % SLOTS;
        while ((n = fi_inject_writedata(port.ep, out, length, slot << 1 | (length != HEADER), peer,
                                        theirs.remote + slot * slot_bytes, theirs.key)) == -FI_EAGAIN)
            poll_queue();
        check((int)n, "fi_inject_writedata");
    } else {
        while ((n = fi_inject(port.ep, out, length, peer)) == -FI_EAGAIN) poll_queue();
        check((int)n, "fi_inject");
    }
}

static void send_one(void) {
    post(HEADER + bytes);
    sent++;
}

static void take_one(void) {
    while (arrived == taken) poll_queue();
    taken++;
    if (taken - told >= EACH) post(HEADER);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half a round trip in us. */
static double ping_pong(int server, int count) {
    double *halves = calloc((size_t)count, sizeof *halves), median;
    for (int i = 0; i < count; i++) {
        double start = now_ns();
        if (server) take_one();
        send_one();
        if (!server) take_one();
        halves[i] = (now_ns() - start) / 2e3;
    }
    qsort(halves, (size_t)count, sizeof *halves, ascending);
    median = halves[count / 2];
    free(halves);
    return median;
}

/* MB/s; an answer ends it. */
static double stream(int server, int count, int window) {
    double start = now_ns();
    for (int i = 0; i < count; i++) {
        if (server) {
            take_one();
        } else {
            while (sent - credited >= (uint64_t)window) poll_queue();
            send_one();
        }
    }
    if (server) {
        send_one();
    } else {
        take_one();
    }
    return (double)bytes * count / ((now_ns() - start) / 1e3);
}

static void open_second(struct fi_info *info) {
    static char name[64];
    struct fid_av *av;
    struct fid_ep *ep;
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE, .count = 1};
    struct fi_info *own = fi_dupinfo(info);
    if (!strcmp(info->fabric_attr->prov_name, "shm")) {
        /* Its endpoints are told apart by their names. */
        free(own->src_addr);
        own->src_addrlen = (size_t)snprintf(name, sizeof name, "fi_shm://%d:second", getpid()) + 1;
        own->src_addr = name;
    }
    check(fi_av_open(port.domain, &av_attr, &av, NULL), "fi_av_open");
    check(fi_endpoint(port.domain, own, &ep, NULL), "fi_endpoint");
    check(fi_ep_bind(ep, &port.cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
    check(fi_enable(ep), "fi_enable");
}

int main(int argc, char **argv) {
    if (argc != 8 && (argc != 9 || strcmp(argv[8], "second"))) return 2;
    int server = !strcmp(argv[1], "server"), window = atoi(argv[5]), count = atoi(argv[6]);
    bytes = (size_t)atol(argv[4]);
    writes = !strcmp(argv[7], "write");
    /* A window is credited in steps of 16. */
    if (window < EACH) window += EACH;
    if (bytes < 1 || bytes > MAX_BYTES || window > SLOTS - EACH || count < 1) return 2;
    slot_bytes = (HEADER + bytes + 63) / 64 * 64;
    start_idle_thread();
    memory = mmap(NULL, 2 * SLOTS * slot_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    taken_bytes = calloc(1, bytes);
    out = calloc(1, slot_bytes);
    struct fi_info *info = choose(argv[2]);
    if (info->tx_attr->inject_size < HEADER + bytes) {
        fprintf(stderr, "%s injects %zu bytes at most\n", argv[2], info->tx_attr->inject_size);
        return 1;
    }
    open_port(&port, info, DEPTH);
    if (argc == 9) open_second(info);
    check(fi_mr_reg(port.domain, memory, 2 * SLOTS * slot_bytes, FI_RECV | FI_REMOTE_WRITE, 0, 1, 0, &mr, NULL), "fi_mr_reg");
    needs_receives = (info->rx_attr->mode & FI_RX_CQ_DATA) != 0;
    for (int i = 0; (!writes || needs_receives) && i < SLOTS; i++) post_receive(i);

    int s = meet(server, atoi(argv[3]));
    struct hello mine = {.remote = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)memory : 0,
                         .key = fi_mr_key(mr)};
    size_t length = sizeof mine.address;
    check(fi_getname(&port.ep->fid, mine.address, &length), "fi_getname");
    all(write(s, &mine, sizeof mine), sizeof mine, "write");
    all(recv(s, &theirs, sizeof theirs, MSG_WAITALL), sizeof theirs, "read");
    all(fi_av_insert(port.av, theirs.address, 1, &peer, 0, NULL), 1, "fi_av_insert");

    ping_pong(server, count);
    double half = ping_pong(server, count);
    stream(server, count, window);
    double rate = stream(server, count, window);
    if (server) {
        /* The last answer may still be under way. */
        double end = now_ns() + 2e8;
        while (now_ns() < end) poll_queue();
    } else {
        printf("%.3f %.3f\n", half, rate);
    }
    fflush(stdout);
    _exit(0);
}
