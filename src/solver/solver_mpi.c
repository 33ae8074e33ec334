// MUMPS over MPI, for factors that outgrow one machine: the program `pliant-mumps`, started with mpirun,
// holds the factor in several processes; this side sends it the matrix and right sides over a socket. The
// library itself is linked to the sequential MUMPS, whose names are the same.
//
//   PLIANT_MPIRUN   the launcher with its options, blanks between them; default: mpirun -n 2
//   PLIANT_MUMPS    the program; default: pliant-mumps beside the running program, or in the PATH
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "solver/solver_impl.h"
#include "solver/solver_remote.h"

#define MPI_WORDS 64
#define MPI_START 60000 // ms until the program has connected
#define MPI_LEAVE 5000  // ms until it is ended by force

typedef struct mpi_self {
    int32_t n;
    int64_t entries;
    pid_t launcher;
    int socket;
    remote_answer last;
} mpi_self;

// ---- bytes
static bool mpi_put(const mpi_self *s, const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        const ssize_t n = send(s->socket, at, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }

    return true;
}

static bool mpi_get(const mpi_self *s, void *data, size_t bytes)
{
    for (char *at = data; bytes > 0;) {
        const ssize_t n = read(s->socket, at, bytes);
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return false;
        }
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }

    return true;
}

static bool mpi_job(const mpi_self *s, remote_job job, int64_t count)
{
    const remote_head head = {.job = job, .n = s->n, .count = count};
    return mpi_put(s, &head, sizeof head);
}

static pl_status mpi_lost(const char *step, pl_error *err)
{
    return pl_fail(err, PL_FAILED,
                   "solver: the processes of mumps_mpi ended during the %s: see what mpirun has said", step);
}

// ---- processes
static void mpi_program(char *path, size_t room)
{
    const char *given = getenv("PLIANT_MUMPS");
    if (given) {
        snprintf(path, room, "%s", given);
        return;
    }

    const ssize_t n = readlink("/proc/self/exe", path, room - 1);
    path[n > 0 ? n : 0] = 0;
    char *slash = strrchr(path, '/');

    if (slash && (size_t)(slash - path) + sizeof "/pliant-mumps" < room) {
        strcpy(slash, "/pliant-mumps");
        if (access(path, X_OK) == 0) {
            return;
        }
    }

    snprintf(path, room, "pliant-mumps");
}

// A socket without a file, and a word that only our own children know.
static int mpi_listen(char *name, size_t room, char token[REMOTE_TOKEN_SIZE + 1])
{
    unsigned char dice[REMOTE_TOKEN_SIZE / 2 + 4];
    struct sockaddr_un place = {.sun_family = AF_UNIX};

    if (getrandom(dice, sizeof dice, 0) != (ssize_t)sizeof dice) {
        return -1;
    }
    for (int i = 0; i < REMOTE_TOKEN_SIZE / 2; ++i) {
        snprintf(token + 2 * i, 3, "%02x", dice[i]);
    }
    snprintf(name, room, "pliant-mumps-%d-%02x%02x%02x%02x", (int)getpid(), dice[8], dice[9], dice[10],
             dice[11]);
    strcpy(place.sun_path + 1, name);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&place, size) != 0 || listen(fd, 4) != 0)) {
        close(fd);
        return -1;
    }

    return fd;
}

// Variables of the children: where to connect, one thread of BLAS each; OpenMPI refuses root unless
// instructed.
static char **mpi_environment(const char *name, const char *token, char text[5][160])
{
    size_t count = 0, kept = 0;
    while (environ[count]) {
        ++count;
    }

    char **list = PL_NEW_ARRAY(char *, count + 6);
    if (!list) {
        return NULL;
    }
    snprintf(text[0], sizeof text[0], REMOTE_SOCKET "=%s", name);
    snprintf(text[1], sizeof text[1], REMOTE_TOKEN "=%s", token);
    snprintf(text[2], sizeof text[2], "OPENBLAS_NUM_THREADS=1");
    snprintf(text[3], sizeof text[3], "OMPI_ALLOW_RUN_AS_ROOT=1");
    snprintf(text[4], sizeof text[4], "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
    const int more = geteuid() == 0 ? 5 : 3;

    for (size_t i = 0; i < count; ++i) {
        bool ours = false;
        for (int k = 0; k < more; ++k) {
            const size_t to = (size_t)(strchr(text[k], '=') - text[k]) + 1;
            ours = ours || strncmp(environ[i], text[k], to) == 0;
        }

        if (!ours) {
            list[kept++] = environ[i];
        }
    }

    for (int k = 0; k < more; ++k) {
        list[kept++] = text[k];
    }

    return list;
}

static pl_status mpi_spawn(mpi_self *s, const char *name, const char *token, pl_error *err)
{
    char program[4096], extra[5][160], line[2000], *word[MPI_WORDS + 2];
    const char *launcher = getenv("PLIANT_MPIRUN");
    int count = 0;

    mpi_program(program, sizeof program);
    snprintf(line, sizeof line, "%s", launcher && launcher[0] ? launcher : "mpirun -n 2");
    char *rest = NULL;
    for (char *w = strtok_r(line, " ", &rest); w && count < MPI_WORDS; w = strtok_r(NULL, " ", &rest)) {
        word[count++] = w;
    }
    word[count] = program;
    word[count + 1] = NULL;
    char **environment = mpi_environment(name, token, extra);
    if (!environment) {
        return pl_fail_memory(err, "solver: mumps_mpi");
    }

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", 0, 0); // mpirun would read our input
    posix_spawn_file_actions_adddup2(&files, 2, 1);
    const int failed = posix_spawnp(&s->launcher, word[0], &files, NULL, word, environment);
    posix_spawn_file_actions_destroy(&files);
    pl_free(environment);

    if (failed) {
        s->launcher = 0;
        return pl_fail(err, PL_FAILED,
                       "solver: linear_solver mumps_mpi needs MPI, but '%s' cannot be started (%s): install "
                       "openmpi-bin and libmumps-dev, or use mumps",
                       word[0], strerror(failed));
    }

    return PL_OK;
}

// Waits until rank 0 has connected and said the word.
static pl_status mpi_accept(mpi_self *s, int door, const char *token, pl_error *err)
{
    for (int waited = 0; waited < MPI_START; waited += 50) {
        struct pollfd seat = {.fd = door, .events = POLLIN};
        if (poll(&seat, 1, 50) > 0) {
            char said[REMOTE_TOKEN_SIZE];
            s->socket = accept4(door, NULL, NULL, SOCK_CLOEXEC);
            if (s->socket >= 0 && mpi_get(s, said, sizeof said) && memcmp(said, token, sizeof said) == 0) {
                return PL_OK;
            }
            if (s->socket >= 0) {
                close(s->socket); // somebody else
            }
            s->socket = -1;
        }

        if (waitpid(s->launcher, NULL, WNOHANG) == s->launcher) {
            s->launcher = 0;
            return pl_fail(
                err, PL_FAILED,
                "solver: mpirun could not start pliant-mumps, which is built where libmumps-dev and "
                "libopenmpi-dev are installed (PLIANT_MUMPS: its place, PLIANT_MPIRUN: the launcher)");
        }
    }

    return pl_fail(err, PL_FAILED, "solver: pliant-mumps has not connected within %d s", MPI_START / 1000);
}

static void mpi_destroy(void *object)
{
    mpi_self *s = object;
    if (s->socket >= 0) {
        mpi_job(s, REMOTE_END, 0);
        close(s->socket);
    }

    for (int waited = 0; s->launcher > 0 && waitpid(s->launcher, NULL, WNOHANG) == 0; waited += 10) {
        if (waited == MPI_LEAVE) {
            kill(s->launcher, SIGTERM);
        } else if (waited > 2 * MPI_LEAVE) {
            kill(s->launcher, SIGKILL);
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }

    pl_free(s);
}

// ---- the factor
static pl_status mpi_answer(mpi_self *s, const char *step, pl_error *err)
{
    if (!mpi_get(s, &s->last, sizeof s->last)) {
        return mpi_lost(step, err);
    }

    const int code = (int)s->last.code;
    if (code == -5 || code == -7 || code == -13) {
        return pl_fail_memory(err, "solver: MUMPS");
    }

    return code < 0 && code != -10 ? pl_fail(err, PL_FAILED, "solver: MUMPS' %s returned the status %d (%d)",
                                             step, code, (int)s->last.more)
                                   : PL_OK;
}

// Rows and columns of the upper triangle, and the rank of each unknown, all from 1.
static pl_status mpi_analyse(mpi_self *s, const pl_sparse *matrix, const int32_t *unknowns, pl_error *err)
{
    int32_t *number = PL_NEW_ARRAY(int32_t, s->entries > s->n ? s->entries : s->n);
    if (!number) {
        return pl_fail_memory(err, "solver: mumps_mpi");
    }

    const size_t entries = (size_t)s->entries * sizeof *number, n = (size_t)s->n * sizeof *number;
    for (int64_t p = 0; p < s->entries; ++p) {
        number[p] = matrix->row[p] + 1;
    }

    bool good = mpi_job(s, REMOTE_ANALYSE, s->entries) && mpi_put(s, number, entries);
    for (int32_t j = 0; j < s->n; ++j) {
        for (int64_t p = matrix->start[j]; p < matrix->start[j + 1]; ++p) {
            number[p] = j + 1;
        }
    }

    good = good && mpi_put(s, number, entries);
    for (int32_t p = 0; p < s->n; ++p) {
        number[unknowns[p]] = p + 1;
    }
    good = good && mpi_put(s, number, n);
    pl_free(number);

    return good ? mpi_answer(s, "analysis", err) : mpi_lost("analysis", err);
}

static pl_status mpi_create(const pl_sparse *matrix, const solver_groups *groups, const int32_t *order,
                            void **out, pl_error *err)
{
    char name[64], token[REMOTE_TOKEN_SIZE + 1];
    mpi_self *s = PL_NEW(mpi_self);
    int32_t *unknowns = PL_NEW_ARRAY(int32_t, matrix->n);

    *out = NULL;
    if (!s || !unknowns) {
        pl_free(s);
        pl_free(unknowns);
        return pl_fail_memory(err, "solver: mumps_mpi");
    }

    *s = (mpi_self){.n = matrix->n, .entries = matrix->start[matrix->n], .socket = -1};
    const int door = mpi_listen(name, sizeof name, token);
    pl_status status = door >= 0
                           ? mpi_spawn(s, name, token, err)
                           : pl_fail(err, PL_FAILED, "solver: no socket for mumps_mpi: %s", strerror(errno));
    if (status == PL_OK) {
        status = mpi_accept(s, door, token, err);
    }
    if (door >= 0) {
        close(door);
    }
    if (status == PL_OK) {
        solver_groups_expand(groups, order, unknowns);
        status = mpi_analyse(s, matrix, unknowns, err);
    }

    pl_free(unknowns);
    if (status != PL_OK) {
        mpi_destroy(s);
        return status;
    }

    *out = s;

    return PL_OK;
}

static pl_status mpi_update(void *object, const pl_sparse *matrix, bool single, pl_watch *watch,
                            pl_factor_report *report, pl_error *err)
{
    (void)single;
    (void)watch; // the factorisation cannot be interrupted
    mpi_self *s = object;
    if (!mpi_job(s, REMOTE_FACTOR, s->entries) ||
        !mpi_put(s, matrix->value, (size_t)s->entries * sizeof *matrix->value)) {
        return mpi_lost("factorisation", err);
    }

    const pl_status status = mpi_answer(s, "factorisation", err);
    report->negative_count = (int32_t)s->last.negative;
    report->perturbed_count = (int32_t)s->last.null;
    report->singular = status != PL_OK || s->last.code == -10 || report->perturbed_count > 0;

    return status;
}

static void mpi_solve(void *object, double *b, int count)
{
    mpi_self *s = object;
    const size_t values = (size_t)s->n * (size_t)count;
    const bool good = mpi_job(s, REMOTE_SOLVE, count) && mpi_put(s, b, values * sizeof *b) &&
                      mpi_get(s, &s->last, sizeof s->last) && s->last.code >= 0 &&
                      mpi_get(s, b, values * sizeof *b);

    // a failed solve must not be taken for an answer
    for (size_t i = 0; !good && i < values; ++i) {
        b[i] = NAN;
    }
}

static size_t mpi_bytes(const void *object)
{
    return (size_t)(8 * ((const mpi_self *)object)->last.entries);
}

static double mpi_flops(const void *object)
{
    return ((const mpi_self *)object)->last.flops;
}

const solver_kind solver_mpi = {.name = "MUMPS over MPI",
                                .create = mpi_create,
                                .destroy = mpi_destroy,
                                .update = mpi_update,
                                .solve = mpi_solve,
                                .bytes = mpi_bytes,
                                .flops = mpi_flops};
