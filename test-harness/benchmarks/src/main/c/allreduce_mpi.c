/*
 * What `jofi allreduce` measures, of MPI_Allreduce: the sum of float32, in place, with the rounds of AllReducePlan, the
 * elements of SumPattern and the times of AllReduceRun.
 *
 *   mpirun -n N allreduce_mpi BYTES...
 *
 * Rank 0 prints a line for each length: bytes, median and best time of a round in us, wrong elements.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_ROUNDS = 2000, LEAST_ROUNDS = 5, USUAL_BYTES = 256 << 20 };

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* What some ranks contribute together, by how many they are and by the sum of their numbers. */
static float contribution(int ranks, int sum_of_ranks, long element, int round) {
    uint32_t mixed = ((uint32_t)element + (uint32_t)round * 0x61C88647u) * 0x9E3779B1u;
    uint32_t drawn = mixed ^ mixed >> 15;
    return (float)ranks * (float)(1 + (drawn >> 24)) + (float)sum_of_ranks * (float)(1 + (drawn & 3));
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns how many elements were wrong, of all ranks and rounds. */
static long measure(long bytes, int rank, int ranks) {
    long elements = bytes / (long)sizeof(float), wrong = 0;
    long usual = USUAL_BYTES / bytes;
    int rounds = usual < LEAST_ROUNDS ? LEAST_ROUNDS : usual > MOST_ROUNDS ? MOST_ROUNDS : (int)usual;
    int warmup = rounds / 10 < 2 ? 2 : rounds / 10;
    double times[MOST_ROUNDS], slowest[MOST_ROUNDS];
    float *array = malloc((size_t)bytes);
    if (!array) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int round = 0; round < warmup + rounds; round++) {
        for (long i = 0; i < elements; i++) array[i] = contribution(1, rank, i, round);
        MPI_Barrier(MPI_COMM_WORLD);
        double before = now_us();
        MPI_Allreduce(MPI_IN_PLACE, array, (int)elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        double after = now_us();
        for (long i = 0; i < elements; i++) wrong += array[i] != contribution(ranks, ranks * (ranks - 1) / 2, i, round);
        if (round >= warmup) times[round - warmup] = after - before;
    }
    free(array);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(times, slowest, rounds, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(slowest, (size_t)rounds, sizeof *slowest, ascending);
        printf("%ld %.3f %.3f %ld\n", bytes, (slowest[(rounds - 1) / 2] + slowest[rounds / 2]) / 2, slowest[0], wrong);
        fflush(stdout);
    }
    return wrong;
}

int main(int argc, char **argv) {
    int rank, ranks;
    long wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; i++) wrong += measure(atol(argv[i]), rank, ranks);
    MPI_Finalize();
    return wrong != 0;
}
