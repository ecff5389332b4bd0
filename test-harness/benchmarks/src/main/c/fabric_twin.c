/*
 * The C twin of org.jofi.benchmarks.FabricTwin: the same hints, objects, calls and protocol, with
 * one idle second thread, as a JVM has many (system calls cost more in a process with threads).
 *
 *   fabric_twin poll PROVIDER                  ns of an empty fi_cq_read, one line a trial
 *   fabric_twin server|client PROVIDER PORT    8-byte ping-pong; the client prints half round trips
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

enum { BATCH = 16, BYTES = 8, BLOCK = 200, WARM_BLOCKS = 200, BLOCKS = 500, TRIALS = 9, DEPTH = 256, CONTEXTS = 64 };
#define POLLS 2000000L

static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_ep *ep;
static struct fid_mr *mr;
static struct fi_context2 contexts[CONTEXTS];
static char memory[65536] __attribute__((aligned(4096)));
static fi_addr_t peer;
static int sent, received;

static void check(int code, const char *call) {
    if (code) {
        fprintf(stderr, "%s: %s\n", call, fi_strerror(-code));
        exit(1);
    }
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void *idle(void *unused) {
    (void)unused;
    for (;;) pause();
    return NULL;
}

static struct fi_info *choose(const char *provider) {
    struct fi_info *hints = fi_allocinfo(), *list, *at, *best = NULL;
    uint32_t version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
    if (fi_version() < version) version = fi_version();
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_HMEM | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->fabric_attr->prov_name = strdup(provider);
    check(fi_getinfo(version, NULL, NULL, 0, hints, &list), "fi_getinfo");
    for (at = list; at; at = at->next) {
        const struct sockaddr_in *in = at->src_addr;
        if (strcmp(at->fabric_attr->prov_name, provider)) continue;
        if (!best) best = at;
        if (at->addr_format == FI_SOCKADDR_IN && in && ntohl(in->sin_addr.s_addr) >> 24 == 127) {
            best = at;
            break;
        }
    }
    if (!best) {
        fprintf(stderr, "no provider %s\n", provider);
        exit(1);
    }
    best = fi_dupinfo(best);
    fi_freeinfo(list);
    fi_freeinfo(hints);
    return best;
}

static void open_all(const char *provider) {
    struct fi_info *info = choose(provider);
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE, .count = 1};
    struct fi_cq_attr cq_attr = {.size = DEPTH, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_NONE};
    pthread_t thread;
    pthread_create(&thread, NULL, idle, NULL);
    check(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    check(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    check(fi_av_open(domain, &av_attr, &av, NULL), "fi_av_open");
    check(fi_cq_open(domain, &cq_attr, &cq, NULL), "fi_cq_open");
    check(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
    check(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
    check(fi_enable(ep), "fi_enable");
    check(fi_mr_reg(domain, memory, sizeof memory, FI_SEND | FI_RECV, 0, 1, 0, &mr, NULL), "fi_mr_reg");
}

static void poll_queue(void) {
    struct fi_cq_data_entry entries[BATCH];
    ssize_t n = fi_cq_read(cq, entries, BATCH);
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

static void all(int code, int expected, const char *what) {
    if (code != expected) {
        perror(what);
        exit(1);
    }
}

/* Addresses go by a socket of loopback: four bytes of length, then the address. */
static void exchange(int server, int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (server) {
        setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        all(bind(s, (struct sockaddr *)&at, sizeof at), 0, "bind");
        all(listen(s, 1), 0, "listen");
        s = accept(s, NULL, NULL);
    } else {
        int tries = 0;
        while (connect(s, (struct sockaddr *)&at, sizeof at)) {
            if (++tries > 1000) all(-1, 0, "connect");
            close(s);
            usleep(10000);
            s = socket(AF_INET, SOCK_STREAM, 0);
        }
    }
    char mine[256], theirs[256] = {0};
    size_t length = sizeof mine;
    uint32_t size;
    check(fi_getname(&ep->fid, mine, &length), "fi_getname");
    size = htonl((uint32_t)length);
    all(write(s, &size, 4), 4, "write");
    all(write(s, mine, length), (int)length, "write");
    all(recv(s, &size, 4, MSG_WAITALL), 4, "read");
    all(recv(s, theirs, ntohl(size), MSG_WAITALL), (int)ntohl(size), "read");
    all(fi_av_insert(av, theirs, 1, &peer, 0, NULL), 1, "fi_av_insert");
}

static void post_recv(void) {
    ssize_t n;
    while ((n = fi_recv(ep, memory + 4096, 4096, fi_mr_desc(mr), FI_ADDR_UNSPEC, &contexts[1])) == -FI_EAGAIN)
        poll_queue();
    check((int)n, "fi_recv");
}

static void post_send(void) {
    ssize_t n;
    while ((n = fi_send(ep, memory, BYTES, fi_mr_desc(mr), peer, &contexts[0])) == -FI_EAGAIN) poll_queue();
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
    exchange(server, atoi(argv[3]));
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
