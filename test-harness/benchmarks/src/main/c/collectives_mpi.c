/*
 * What `jofi collectives` measures, of Open MPI's collectives: float32 and sums, the root is rank 0, input and output are
 * memory of their own except in a broadcast, lengths, rounds and times are those of CollectivesPlan and CollectivesRun.
 *
 *   mpirun -n N collectives_mpi OPERATION[,OPERATION] BYTES...
 *
 * Rank 0 prints a line for each operation and length: operation, bytes as asked for, median and best time of a round in
 * us, wrong elements.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 2000, LEAST_ROUNDS = 5, USUAL_BYTES = 256 << 20, PERIOD = 1021 };

enum operation {
    ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, REDUCE, GATHER, SCATTER, ALL_TO_ALL, BARRIER, OPERATIONS
};

static const char *const names[OPERATIONS] = {
    "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "gather", "scatter", "all-to-all", "barrier"
};

static int rank, ranks;

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* What a rank contributes: whole numbers, whose sums are exact. */
static float value(int of, long element, int round) {
    return (float)(1 + ((element + round * 397L) % PERIOD * 31 + of * 17L) % 251);
}

static float sum(long element, int round) {
    float all = 0;
    for (int of = 0; of < ranks; of++) all += value(of, element, round);
    return all;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(enum operation what, float *in, float *out, int count) {
    switch (what) {
    case ALL_REDUCE: MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    case ALL_GATHER: MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD); break;
    case BROADCAST: MPI_Bcast(rank == 0 ? in : out, count, MPI_FLOAT, 0, MPI_COMM_WORLD); break;
    case REDUCE: MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD); break;
    case GATHER: MPI_Gather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 0, MPI_COMM_WORLD); break;
    case SCATTER: MPI_Scatter(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 0, MPI_COMM_WORLD); break;
    case ALL_TO_ALL: MPI_Alltoall(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD); break;
    case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
    case OPERATIONS: abort();
    }
}

/* What an element of this rank's output has to be. */
static float expected(enum operation what, long element, int count, int round) {
    long part = element / count, in_part = element % count;
    switch (what) {
    case ALL_REDUCE: case REDUCE: return sum(element, round);
    case REDUCE_SCATTER: return sum((long)rank * count + element, round);
    case ALL_GATHER: case GATHER: return value((int)part, in_part, round);
    case BROADCAST: return value(0, element, round);
    case SCATTER: return value(0, (long)rank * count + element, round);
    case ALL_TO_ALL: return value((int)part, (long)rank * count + in_part, round);
    default: return 0;
    }
}

/* Returns how many elements were wrong, of all ranks and rounds. */
static long measure(enum operation what, long bytes) {
    int whole = what == ALL_REDUCE || what == BROADCAST || what == REDUCE;
    long parts = whole ? 1 : ranks, long_count = bytes / (long)sizeof(float) / parts, wrong = 0;
    int count = what == BARRIER ? 0 : long_count < 1 ? 1 : (int)long_count;
    int root = rank == 0;
    long inputs = 0, outputs = 0;
    switch (what) {
    case ALL_REDUCE: inputs = outputs = count; break;
    case REDUCE_SCATTER: inputs = (long)count * ranks, outputs = count; break;
    case ALL_GATHER: inputs = count, outputs = (long)count * ranks; break;
    case BROADCAST: inputs = root ? count : 0, outputs = root ? 0 : count; break;
    case REDUCE: inputs = count, outputs = root ? count : 0; break;
    case GATHER: inputs = count, outputs = root ? (long)count * ranks : 0; break;
    case SCATTER: inputs = root ? (long)count * ranks : 0, outputs = count; break;
    case ALL_TO_ALL: inputs = outputs = (long)count * ranks; break;
    default: break;
    }
    long size = (long)count * parts * (long)sizeof(float);
    long usual = USUAL_BYTES / (size < 1 ? 1 : size);
    int rounds = usual < LEAST_ROUNDS ? LEAST_ROUNDS : usual > MOST_ROUNDS ? MOST_ROUNDS : (int)usual;
    int warmup = rounds / 10 < 2 ? 2 : rounds / 10;
    double times[MOST_ROUNDS], slowest[MOST_ROUNDS];
    float *in = malloc((size_t)(inputs + 1) * sizeof *in), *out = malloc((size_t)(outputs + 1) * sizeof *out);
    if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int round = 0; round < warmup + rounds; round++) {
        for (long i = 0; i < inputs; i++) in[i] = value(rank, i, round);
        for (long i = 0; i < outputs; i++) out[i] = -1;
        MPI_Barrier(MPI_COMM_WORLD);
        double before = now_us();
        run(what, in, out, count);
        double after = now_us();
        for (long i = 0; i < outputs; i++) wrong += out[i] != expected(what, i, count, round);
        if (round >= warmup) times[round - warmup] = after - before;
    }
    free(in);
    free(out);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(times, slowest, rounds, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(slowest, (size_t)rounds, sizeof *slowest, ascending);
        printf("%s %ld %.3f %.3f %ld\n", names[what], what == BARRIER ? 0 : bytes,
               (slowest[(rounds - 1) / 2] + slowest[rounds / 2]) / 2, slowest[0], wrong);
        fflush(stdout);
    }
    return wrong;
}

int main(int argc, char **argv) {
    long wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
    for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ",")) {
        enum operation what = 0;
        while (what < OPERATIONS && strcmp(name, names[what]) != 0) what++;
        if (what == OPERATIONS) MPI_Abort(MPI_COMM_WORLD, 2);
        for (int i = 2; i < (what == BARRIER ? 3 : argc); i++) wrong += measure(what, atol(argv[i]));
    }
    MPI_Finalize();
    return wrong != 0;
}
