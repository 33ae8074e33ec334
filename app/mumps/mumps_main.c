// pliant-mumps: MUMPS over MPI for one factor of `linear_solver: mumps_mpi`. Started by the library with
// mpirun; rank 0 connects to the library's socket, reads jobs and answers them, all ranks work on them. The
// matrix is given to rank 0, the factor is spread over the processes.
#include <dmumps_c.h>
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "solver/solver_remote.h"

#define COMM_WORLD_FORTRAN (-987654)

typedef struct worker {
    DMUMPS_STRUC_C id;
    int rank, processes, socket;
    int64_t n, entries;
    MUMPS_INT *row, *column, *order;
    double *value, *side;
    int64_t side_room;
} worker;

// ---- bytes
static bool get(int socket, void *data, size_t bytes)
{
    for (char *at = data; bytes > 0;) {
        const ssize_t n = read(socket, at, bytes);
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return false;
        }
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool put(int socket, const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        const ssize_t n = send(socket, at, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static int dial(void)
{
    const char *name = getenv(REMOTE_SOCKET), *token = getenv(REMOTE_TOKEN);
    struct sockaddr_un place = {.sun_family = AF_UNIX};

    if (!name || !token || strlen(token) != REMOTE_TOKEN_SIZE || strlen(name) > sizeof place.sun_path - 2) {
        fprintf(stderr,
                "pliant-mumps is started by Pliant (solver: {linear_solver: mumps_mpi}), not by hand\n");
        return -1;
    }

    strcpy(place.sun_path + 1, name); // an abstract name begins with a zero
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    if (fd < 0 || connect(fd, (struct sockaddr *)&place, size) != 0 || !put(fd, token, REMOTE_TOKEN_SIZE)) {
        fprintf(stderr, "pliant-mumps: no connection to Pliant: %s\n", strerror(errno));
        return -1;
    }

    return fd;
}

// ---- jobs
// The next job for all ranks. The others sleep between two looks: waiting in MPI would keep their cores busy.
static remote_head next_job(worker *w)
{
    remote_head head = {.job = REMOTE_END};
    if (w->rank == 0 && (w->socket < 0 || !get(w->socket, &head, sizeof head))) {
        head = (remote_head){.job = REMOTE_END}; // whoever asked is gone
    }

    MPI_Request request;
    MPI_Ibcast(&head, (int)sizeof head, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    for (int done = 0, looks = 0; !done; ++looks) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done && looks > 1000) {
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
    }

    return head;
}

static void run(worker *w, int job)
{
    w->id.job = job;
    dmumps_c(&w->id);
}

static bool take_pattern(worker *w, const remote_head *head)
{
    const size_t entries = (size_t)head->count, n = (size_t)head->n;
    w->n = head->n;
    w->entries = head->count;
    w->row = malloc(entries * sizeof *w->row);
    w->column = malloc(entries * sizeof *w->column);
    w->order = malloc(n * sizeof *w->order);
    w->value = malloc(entries * sizeof *w->value);

    return w->row && w->column && w->order && w->value && get(w->socket, w->row, entries * sizeof *w->row) &&
           get(w->socket, w->column, entries * sizeof *w->column) &&
           get(w->socket, w->order, n * sizeof *w->order);
}

static void analyse(worker *w)
{
    w->id.par = 1;
    w->id.sym = 2;
    w->id.comm_fortran = COMM_WORLD_FORTRAN;
    run(w, -1);
    MUMPS_INT *control = w->id.icntl - 1; // numbered from 1
    for (int i = 1; i <= 4; ++i) {
        control[i] = i < 4 ? -1 : 0; // no output
    }
    control[6] = 0;   // no permutation that looks at values
    control[7] = 1;   // order given
    control[12] = 1;  // ordinary symmetric treatment
    control[14] = 30; // percent of extra workspace
    control[24] = 1;  // null pivots are found and counted
    control[28] = 1;  // analysis by rank 0, with that order
    if (w->rank == 0) {
        w->id.n = (MUMPS_INT)w->n;
        w->id.nnz = w->entries;
        w->id.irn = w->row;
        w->id.jcn = w->column;
        w->id.a = w->value;
        w->id.perm_in = w->order;
    }

    run(w, 1);
}

// Pivoting can need more workspace than foreseen: again with twice the margin. INFOG is the same on all
// ranks.
static void factor(worker *w)
{
    for (int attempt = 0; attempt < 8; ++attempt) {
        run(w, 2);
        const int code = w->id.infog[0];
        if (code != -8 && code != -9 && code != -14 && code != -15 && code != -17 && code != -20) {
            return;
        }
        w->id.icntl[14 - 1] *= 2;
    }
}

static bool take_sides(worker *w, int64_t count)
{
    const size_t bytes = (size_t)(w->n * count) * sizeof *w->side;
    if (count > w->side_room) {
        free(w->side);
        w->side = malloc(bytes);
        w->side_room = w->side ? count : 0;
    }

    w->id.rhs = w->side;
    w->id.nrhs = (MUMPS_INT)count;
    w->id.lrhs = (MUMPS_INT)w->n;

    return w->side && get(w->socket, w->side, bytes);
}

static double large(MUMPS_INT value)
{
    return value < 0 ? -1e6 * (double)value : (double)value; // MUMPS counts millions as a negative number
}

static bool answer(const worker *w)
{
    const MUMPS_INT *info = w->id.infog;
    const remote_answer a = {.code = info[0],
                             .more = info[1],
                             .negative = info[12 - 1],
                             .null = info[28 - 1],
                             .entries = large(info[3 - 1]),
                             .flops = w->id.rinfog[0],
                             .processes = w->processes};
    return put(w->socket, &a, sizeof a);
}

// One job by all ranks; false: the end, or rank 0 has lost its connection or its memory.
static bool work(worker *w)
{
    const remote_head head = next_job(w);
    int good = head.job == REMOTE_ANALYSE || head.job == REMOTE_FACTOR || head.job == REMOTE_SOLVE;

    if (good && w->rank == 0) {
        good = head.job == REMOTE_ANALYSE  ? take_pattern(w, &head)
               : head.job == REMOTE_FACTOR ? get(w->socket, w->value, (size_t)w->entries * sizeof *w->value)
                                           : take_sides(w, head.count);
    }

    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!good) {
        return false;
    }

    if (head.job == REMOTE_ANALYSE) {
        analyse(w);
    } else if (head.job == REMOTE_FACTOR) {
        factor(w);
    } else {
        run(w, 3);
    }

    if (w->rank == 0) {
        good = answer(w);
        if (good && head.job == REMOTE_SOLVE && w->id.infog[0] >= 0) {
            good = put(w->socket, w->side, (size_t)(w->n * head.count) * sizeof *w->side);
        }
    }

    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);

    return good;
}

int main(int argc, char **argv)
{
    static worker w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.processes);
    w.socket = w.rank == 0 ? dial() : -1;
    bool analysed = false;
    while (work(&w)) {
        analysed = true;
    }
    if (analysed) {
        run(&w, -2);
    }
    MPI_Finalize();

    return 0;
}
