// pliant sample: data sets for learning. The plan is stored first; chains of samples are handed out to worker
// processes (this program again, with --worker), which store every sample before the next is solved. Under a
// launcher of parallel programs each process takes its share of the chains and writes a file of its own.
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli.h"

#define SAMPLE_CHAIN 16 // samples that start from each other
#define SAMPLE_JOBS 256 // processes at most

static const cli_option options[] = {
    {"levels", 0, "N", "N values of every command, all combinations", NULL, CLI_WHOLE(1, 100000)},
    {"samples", 0, "N", "N samples of a low-discrepancy sequence (default 500)", NULL,
     CLI_WHOLE(1, 10000000)},
    {"adaptive", 0, NULL, "of these samples, choose three quarters where fitted networks disagree most",
     NULL},
    {"out", 0, "FILE", "the data set (.sqlite); the same command continues an earlier run", NULL},
    {"shapes", 0, NULL, "store the positions of all vertices too", NULL},
    {"no-jacobians", 0, NULL, "do not store derivatives with respect to the commands", NULL},
    {"iteration-limit", 0, "N",
     "iterations per sample, or none (default: 8 times the median of the samples solved before in its chain)",
     "none", CLI_WHOLE(1, 1000000)},
    {"jobs", 0, "N", "processes that solve at the same time (default: all cores; 1 under mpirun)", NULL,
     CLI_WHOLE(1, SAMPLE_JOBS)},
    {"merge", 0, "FILE", "join the data sets given as arguments into FILE", NULL},
    {"worker", 0, NULL, "used by --jobs: take chains from standard input", NULL},
    CLI_JSON,
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".sqlite", ".db", NULL};

// A data set being made.
typedef struct sampling {
    const cli_args *args;
    cli_model m;
    char *out, *file;   // of this rank; of the robot, resolved
    char settings[200]; // how the plan was made: a run with others does not continue it
    pl_dataset_file *set;
    int limit_each;  // as in pl_sample_options
    int rank, ranks; // of a parallel launcher
    int jobs, total; // samples wanted
    int mine;        // of them, where this process solves and tells them itself
    char prefix[120];
    bool adaptive;
    double *command; // the plan
    char *done;
    double *fresh; // the model's state when it was loaded
    int planned;
    int before, computed, failed; // stored earlier; in this run
    struct timespec start;
    int status;
} sampling;

// ---- the launcher's variables: OpenMPI, MPICH and Slurm
// The first that is set, -1: none.
static int sample_variable(const char *const *name)
{
    for (; *name; ++name) {
        const char *text = getenv(*name);
        if (text && *text) {
            return atoi(text);
        }
    }

    return -1;
}

// Rank 0 of 1 outside of a launcher.
static void sample_ranks(sampling *s)
{
    static const char *const rank[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", NULL};
    static const char *const size[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};

    s->rank = sample_variable(rank);
    s->ranks = sample_variable(size);
    if (s->rank < 0 || s->ranks < 2 || s->rank >= s->ranks) {
        s->rank = 0;
        s->ranks = 1;
    }
}

// "data.sqlite" -> "data.0-of-2.sqlite"
static char *sample_shard(const char *path, int rank, int ranks)
{
    const char *extension = cli_extension(path);
    char *name = malloc(strlen(path) + 40);

    if (name && ranks > 1) {
        sprintf(name, "%.*s.%d-of-%d%s", (int)(extension - path), path, rank, ranks, extension);
    } else if (name) {
        strcpy(name, path);
    }

    return name;
}

// ---- plan
static int sample_read(const cli_args *args, sampling *s)
{
    int grid = 0, samples = 500;
    if (!cli_whole(args, "levels", &grid) || !cli_whole(args, "samples", &samples) ||
        !cli_whole(args, "jobs", &s->jobs)) {
        return CLI_EXIT_USAGE;
    }

    // what bounds the cost of one sample
    const char *limit = cli_value(args, "iteration-limit");
    if (limit && strcmp(limit, "none") == 0) {
        s->limit_each = -1;
    } else if (!cli_whole(args, "iteration-limit", &s->limit_each)) {
        return CLI_EXIT_USAGE;
    }

    s->adaptive = cli_flag(args, "adaptive");
    if (grid && (cli_value(args, "samples") || s->adaptive)) {
        cli_error(args, "--levels excludes --samples and --adaptive");
        return CLI_EXIT_USAGE;
    }

    if (s->adaptive && s->ranks > 1) {
        cli_error(args, "--adaptive needs all samples in one file: run it in one process with --jobs");
        return CLI_EXIT_USAGE;
    }

    // the plan in words, which the file keeps
    s->total = samples;
    snprintf(s->settings, sizeof s->settings,
             grid          ? "grid %d"
             : s->adaptive ? "adaptive"
                           : "samples %d",
             grid ? grid : samples);
    if (limit) {
        strncat(s->settings, " limit ", sizeof s->settings - strlen(s->settings) - 1);
        strncat(s->settings, limit, sizeof s->settings - strlen(s->settings) - 1);
    }

    const char *out = cli_value(args, "out");
    if (!out) {
        cli_error(args, "expected --out FILE.sqlite");
        return CLI_EXIT_USAGE;
    }

    s->out = sample_shard(out, s->rank, s->ranks);

    return s->out ? CLI_DONE : cli_no_memory(args);
}

// The first plan is stored before anything is solved; a file that has one keeps it.
static int sample_plan(sampling *s)
{
    const cli_args *args = s->args;
    pl_error err = {0};
    int grid = 0;

    cli_whole(args, "levels", &grid);
    int steps[64];
    for (int i = 0; i < 64; ++i) {
        steps[i] = grid;
    }
    if (s->m.info.command_count > 64) {
        cli_error(args, "%d commands, at most 64 can be sampled", s->m.info.command_count);
        return CLI_EXIT_USAGE;
    }

    // adaptive: a quarter first, at least 20, so that networks can be fitted
    int first = s->adaptive ? (s->total / 4 > 20 ? s->total / 4 : 20) : s->total;
    first = first < s->total ? first : s->total;
    const pl_workspace_def def = {.order = grid ? PL_WORKSPACE_GRID : PL_WORKSPACE_HALTON,
                                  .count = grid ? 1 : first,
                                  .steps = grid ? steps : NULL};
    pl_workspace_plan plan;
    if (pl_workspace_plan_init(s->m.model, &def, &plan, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    s->total = grid ? plan.count : s->total;

    // the outermost points of the sequence are moved to the bounds, so that all of a range is inside
    for (int c = 0; !grid && plan.count > 1 && c < plan.command_count; ++c) {
        const double *range = s->m.info.command[c].range;
        double low = INFINITY, high = -INFINITY;

        for (int k = 0; k < plan.count; ++k) {
            const double v = plan.command[(size_t)k * (size_t)plan.command_count + (size_t)c];
            low = fmin(low, v);
            high = fmax(high, v);
        }

        for (int k = 0; high > low && k < plan.count; ++k) {
            double *v = plan.command + (size_t)k * (size_t)plan.command_count + (size_t)c;
            *v = range[0] + (range[1] - range[0]) * ((*v - low) / (high - low));
        }
    }

    pl_status status = PL_OK;
    if (s->planned == 0) {
        status = pl_dataset_plan(s->set, 0, plan.command, plan.count, &err);
    }
    pl_workspace_plan_clear(&plan);

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// Plan and what of it is stored.
static int sample_reload(sampling *s)
{
    pl_error err = {0};
    pl_file_free((char *)s->command);
    pl_file_free(s->done);
    s->command = NULL;
    s->done = NULL;

    return pl_dataset_read_plan(s->set, &s->command, &s->done, &s->planned, &err) == PL_OK
               ? CLI_DONE
               : cli_fail(s->args, &err);
}

// Opens or makes the file; settings of an earlier run must agree.
static int sample_open(sampling *s)
{
    const cli_args *args = s->args;
    char *resolved = realpath(s->m.path, NULL);

    s->file = resolved;
    pl_dataset_def def = {.settings = s->settings,
                          .robot_file = resolved,
                          .jacobians = !cli_flag(args, "no-jacobians"),
                          .shapes = cli_flag(args, "shapes")};
    cli_number(args, "size", &def.mesh_size);
    cli_whole(args, "order", &def.mesh_order);
    pl_error err = {0};
    if (pl_dataset_create(s->out, s->m.model, &def, &s->set, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    return sample_reload(s);
}

// ---- progress
// s since the round began.
static double sample_seconds(const sampling *s)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - s->start.tv_sec) + 1e-9 * (double)(now.tv_nsec - s->start.tv_nsec);
}

// Rate and time left count from this run only.
static void sample_progress(sampling *s, int mine)
{
    const double seconds = sample_seconds(s), rate = s->computed / fmax(seconds, 1e-3);
    char text[120];
    const int left = mine - s->before - s->computed;

    snprintf(text, sizeof text, "sample %d of %d, %.3g per s, %.0f s left%s", s->before + s->computed, mine,
             rate, left > 0 && rate > 0 ? left / rate : 0.0, s->failed ? ", some failed" : "");
    if (s->mine > 0) { // beside what the solver says of the next one
        snprintf(s->prefix, sizeof s->prefix, "%s", text);
        cli_progress_prefix(s->prefix);
    }

    cli_progress_search.step(cli_progress_search.user, mine ? (double)(s->before + s->computed) / mine : 1,
                             s->mine > 0 ? "" : text);
}

// ---- solving a chain in this process
// Stores each sample before the next is solved; false ends the chain.
static bool sample_record(void *user, const pl_sample *sample)
{
    sampling *s = user;
    pl_error err = {0};

    if (pl_dataset_put(s->set, sample, &err) != PL_OK) {
        s->status = cli_fail(s->args, &err);
        return false;
    }

    const bool bad = sample->fk->outcome != PL_SOLVED;
    ++s->computed;
    if (s->mine > 0) {
        sample_progress(s, s->mine);
    }
    s->failed += bad;

    // the parent counts lines
    if (cli_flag(s->args, "worker")) {
        printf("%d\n", bad);
        if (fflush(stdout) != 0) {
            s->status = CLI_EXIT_UNSOLVED; // nobody listens any more
            return false;
        }
    }

    return !cli_interrupted();
}

// A model for one chain. The solver of a full body remembers earlier solves (factors, extrapolation) in more
// than its state: a new one per chain makes the samples independent of which chains came before.
static pl_status chain_model(sampling *s, pl_model **out, pl_error *err)
{
    const pl_robot *body = pl_model_robot(s->m.model);
    *out = s->m.model;
    if (!body || strcmp(s->m.info.method, "exact") != 0) {
        return PL_OK;
    }

    const pl_model_load_options chain = {.robot = body, .method = "exact", .progress = cli_progress};

    return pl_model_from_document(s->m.document, &chain, out, NULL, err);
}

// One chain, from its first sample to its last; those stored are only passed through.
static int sample_chain(sampling *s, int from, int to)
{
    const pl_sample_options o = {.jacobians = !cli_flag(s->args, "no-jacobians"),
                                 .shapes = cli_flag(s->args, "shapes"),
                                 .done = s->done,
                                 .fresh = s->fresh,
                                 .limit_each = s->limit_each,
                                 .record = sample_record,
                                 .user = s};
    pl_error err = {0};
    pl_model *model = NULL;
    pl_status status = chain_model(s, &model, &err);

    if (status == PL_OK) {
        status = pl_sample_chain(model, s->command, from, to, &o, &err);
    }
    if (model != s->m.model) {
        pl_model_destroy(model);
    }
    if (s->status) {
        return s->status;
    }

    return status == PL_OK || status == PL_INTERRUPTED ? CLI_DONE : cli_fail(s->args, &err);
}

// ---- workers
// A process that solves chains.
typedef struct worker {
    pid_t pid;
    int to, from; // pipes: chains down, samples up
    bool busy;
    char line[64]; // of its answer so far
    int length;
} worker;

// This program again with the same options and --worker, on one thread.
static bool worker_start(const cli_args *args, worker *w)
{
    int down[2], up[2];
    if (pipe(down) != 0) {
        return false;
    }

    if (pipe(up) != 0) {
        close(down[0]);
        close(down[1]);
        return false;
    }

    // standard input has been read: every worker gets a copy of the robot
    FILE *robot = cli_input_copy(args->plain[0]);
    if (!robot && strcmp(args->plain[0], "-") == 0) { // it would take its pipe for the robot
        close(down[0]);
        close(down[1]);
        close(up[0]);
        close(up[1]);
        return false;
    }

    w->pid = fork();

    // the child: pipes as standard input and output, nothing else open
    if (w->pid == 0) {
        dup2(down[0], 0);
        dup2(up[1], 1);
        cli_input_hand(robot);
        for (int fd = robot ? CLI_INPUT_FD + 1 : 3; fd < 3 + 4 * SAMPLE_JOBS + 16; ++fd) {
            close(fd);
        }
        const char **argv =
            calloc((size_t)args->plain_count + 2 * (size_t)args->given_count + 8, sizeof *argv);
        int n = 0;

        if (argv) {
            argv[n++] = "pliant";
            argv[n++] = "sample";
            for (int i = 0; i < args->plain_count; ++i) {
                argv[n++] = args->plain[i];
            }
            for (int i = 0; i < args->given_count; ++i) {
                char *text = malloc(strlen(args->given[i].option->name) +
                                    (args->given[i].value ? strlen(args->given[i].value) : 0) + 8);
                if (text && strcmp(args->given[i].option->name, "json") != 0) {
                    sprintf(text, "--%s%s%s", args->given[i].option->name, args->given[i].value ? "=" : "",
                            args->given[i].value ? args->given[i].value : "");
                    argv[n++] = text;
                }
            }

            argv[n++] = "--worker";
            if (!cli_value(args, "threads")) {
                argv[n++] = "--threads=1";
            }
            setenv("OPENBLAS_NUM_THREADS", "1", 1);
            execv("/proc/self/exe", (char *const *)argv);
        }

        _exit(127);
    }

    if (robot) {
        fclose(robot);
    }
    close(down[0]);
    close(up[1]);
    w->to = down[1];
    w->from = up[0];

    if (w->pid < 0) {
        close(w->to);
        close(w->from);
        return false;
    }

    return true;
}

// The next chain of this rank that has a sample missing; false: none is left.
static bool chain_next(const sampling *s, int *chain, int *from, int *to)
{
    while (*chain * SAMPLE_CHAIN < s->planned) {
        const int k = (*chain)++;
        *from = k * SAMPLE_CHAIN;
        *to = *from + SAMPLE_CHAIN < s->planned ? *from + SAMPLE_CHAIN : s->planned;

        for (int i = *from; k % s->ranks == s->rank && i < *to; ++i) {
            if (!s->done[i]) {
                return true;
            }
        }
    }

    return false;
}

// Samples of this rank, and how many of them are stored.
static int sample_mine(sampling *s)
{
    int mine = 0;
    s->before = 0;
    for (int i = 0; i < s->planned; ++i) {
        if (i / SAMPLE_CHAIN % s->ranks == s->rank) {
            ++mine;
            s->before += s->done[i] != 0;
        }
    }

    return mine;
}

// One line of a worker: "0" or "1" (failed) for a sample, "chain" when it is ready for another.
static void worker_line(sampling *s, worker *w)
{
    if (strcmp(w->line, "chain") == 0) {
        w->busy = false;
    } else {
        ++s->computed;
        s->failed += w->line[0] == '1';
    }
}

// Hands chains to workers that are free until none is left; then closes their input, which ends them.
static int sample_parallel(sampling *s, int mine)
{
    worker list[SAMPLE_JOBS] = {{0}};
    struct pollfd poll_list[SAMPLE_JOBS];
    int started = 0, chain = 0, from, to, open = 0, status = CLI_DONE;

    signal(SIGPIPE, SIG_IGN);
    for (; started < s->jobs; ++started) {
        if (!worker_start(s->args, &list[started])) {
            break;
        }
        list[started].busy = true; // until it asks
        ++open;
    }

    if (started == 0) {
        cli_error(s->args, "no process could be started: %s", strerror(errno));
        return CLI_EXIT_SYSTEM;
    }

    bool more = true;
    while (open > 0) {
        // chains for those that wait
        for (int i = 0; i < started; ++i) {
            if (list[i].to > 0 && !list[i].busy) {
                more = more && !cli_interrupted() && chain_next(s, &chain, &from, &to);
                if (more && dprintf(list[i].to, "%d %d\n", from, to) > 0) {
                    list[i].busy = true;
                } else {
                    close(list[i].to);
                    list[i].to = 0;
                }
            }

            poll_list[i] = (struct pollfd){.fd = list[i].from > 0 ? list[i].from : -1, .events = POLLIN};
        }

        if (poll(poll_list, (nfds_t)started, 500) < 0 && errno != EINTR) {
            break;
        }

        // what they have stored
        for (int i = 0; i < started; ++i) {
            char block[512];
            if (list[i].from <= 0 || !(poll_list[i].revents & (POLLIN | POLLHUP | POLLERR))) {
                continue;
            }
            const ssize_t got = read(list[i].from, block, sizeof block);

            if (got <= 0 && !(got < 0 && errno == EINTR)) {
                close(list[i].from);
                list[i].from = 0;
                --open;
            }

            for (ssize_t k = 0; k < got; ++k) {
                worker *w = &list[i];
                if (block[k] == '\n') {
                    w->line[w->length] = '\0';
                    worker_line(s, w);
                    w->length = 0;
                } else if (w->length < (int)sizeof w->line - 1) {
                    w->line[w->length++] = block[k];
                }
            }
        }

        sample_progress(s, mine);
    }

    // how they ended
    for (int i = 0; i < started; ++i) {
        int ended = 0;
        if (list[i].to > 0) {
            close(list[i].to);
        }
        waitpid(list[i].pid, &ended, 0);

        if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
            status = status                                       ? status
                     : WIFEXITED(ended) && WEXITSTATUS(ended) < 4 ? WEXITSTATUS(ended)
                                                                  : CLI_EXIT_SYSTEM;
        }
    }

    return cli_interrupted() ? CLI_DONE : status;
}

static int sample_serial(sampling *s, int mine)
{
    int chain = 0, from, to, status = CLI_DONE;
    while (!status && !cli_interrupted() && chain_next(s, &chain, &from, &to)) {
        s->mine = mine;
        sample_progress(s, mine);
        status = sample_chain(s, from, to);
    }

    cli_progress_prefix(NULL);
    s->mine = 0;
    return status;
}

// Chains from standard input until it ends.
static int sample_worker(sampling *s)
{
    cli_progress_silence();
    char line[64];
    int from, to, status = CLI_DONE;
    printf("chain\n");
    fflush(stdout);

    while (!status && !cli_interrupted() && fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%d %d", &from, &to) != 2 || from < 0 || to > s->planned || from >= to) {
            return CLI_EXIT_USAGE;
        }
        status = sample_chain(s, from, to);
        printf("chain\n");
        if (fflush(stdout) != 0) {
            break;
        }
    }

    return cli_interrupted() ? CLI_DONE : status;
}

// ---- the whole
// The next commands where fitted networks disagree most, appended to the plan.
static int sample_extend(sampling *s)
{
    pl_error err = {0};
    pl_dataset *data;
    const int C = s->m.info.command_count;
    int count = s->total / 4 > 10 ? s->total / 4 : 10;

    count = count < s->total - s->planned ? count : s->total - s->planned;
    if (pl_dataset_read(s->out, &data, &err) != PL_OK) {
        return cli_fail(s->args, &err);
    }

    double *next = calloc((size_t)count * (size_t)C + 1, sizeof *next);
    pl_status status =
        next ? pl_learned_propose(data, count, (uint64_t)s->planned, next, &err) : PL_NO_MEMORY;
    if (status == PL_OK) {
        status = pl_dataset_plan(s->set, s->planned, next, count, &err);
    }
    free(next);
    pl_dataset_destroy(data);

    return status == PL_OK ? CLI_DONE : cli_fail(s->args, &err);
}

// Without --adaptive one round; with it, solve and extend in turn.
static int sample_rounds(sampling *s)
{
    int status = CLI_DONE, earlier = -1, all = 0;
    for (;;) {
        const int mine = sample_mine(s);
        earlier = earlier < 0 ? s->before : earlier;
        if (earlier > 0 && all == 0 && s->before < mine) {
            cli_say(s->args, "%s: %d of %d samples are already stored\n", s->out, s->before, mine);
        }
        s->computed = 0;
        clock_gettime(CLOCK_MONOTONIC, &s->start);
        if (s->before < mine) {
            status = s->jobs > 1 ? sample_parallel(s, mine) : sample_serial(s, mine);
        }
        all += s->computed;
        if (status || cli_interrupted() || s->planned >= s->total) {
            break;
        }
        status = sample_reload(s);
        status = status ? status : sample_extend(s);
        status = status ? status : sample_reload(s);
        if (status) {
            break;
        }
    }

    s->computed = all;
    s->before = earlier;
    return status;
}

// Counts what is stored now, whoever stored it.
static int sample_report(sampling *s, double seconds)
{
    int mine = 0;
    const cli_args *args = s->args;
    int status = sample_reload(s);

    if (status) {
        return status;
    }
    mine = sample_mine(s);
    const int stored = s->before;
    cli_say(args, "%s: %d of %d samples stored, %d in this run (%.3g per s, %d process%s)\n", s->out, stored,
            mine, s->computed, s->computed / fmax(seconds, 1e-3), s->jobs, s->jobs == 1 ? "" : "es");
    if (s->failed) {
        cli_say(args, "  %d could not be solved; they are stored with their outcome\n", s->failed);
    }

    if (cli_value(args, "json")) {
        json_t *root = cli_json_head(s->m.info.hash, s->m.findings);
        json_object_set_new(root, "file", json_string(s->out));
        json_object_set_new(root, "planned", json_integer(mine));
        json_object_set_new(root, "stored", json_integer(stored));
        json_object_set_new(root, "computed", json_integer(s->computed));
        json_object_set_new(root, "failed", json_integer(s->failed));
        json_object_set_new(root, "seconds", cli_json_number(seconds));
        status = cli_json_write(args, root);
    }

    if (!status && stored < mine) {
        cli_error(args, "%s after %d of %d samples; the same command continues", cli_stop_reason(), stored,
                  mine);
        cli_outcome_advice("interrupted");
        return CLI_EXIT_UNSOLVED;
    }

    return status;
}

// The model is loaded once; its state at rest is the start of every chain.
static int sample_work(const cli_args *args, sampling *s)
{
    s->args = args;
    sample_ranks(s);
    int status = cli_setup(args);
    s->jobs = s->ranks > 1 ? 1 : (int)sysconf(_SC_NPROCESSORS_ONLN);
    s->jobs = s->jobs < 1 ? 1 : s->jobs > SAMPLE_JOBS ? SAMPLE_JOBS : s->jobs;

    // options, then outputs, then the robot
    status = status ? status : sample_read(args, s);
    status = status ? status : cli_check_outputs(args, extensions, NULL, NULL);
    if (!status && s->jobs == 1 && !cli_value(args, "threads")) {
        pl_threads_set(1);
    }
    status = status ? status : cli_model_open(args, args->plain[0], &s->m);
    if (!status) {
        s->fresh = calloc(pl_model_state_size(s->m.model) + 1, sizeof *s->fresh);
        status = s->fresh ? CLI_DONE : cli_no_memory(args);
    }

    if (!status) {
        pl_model_pack(s->m.model, s->fresh);
    }
    status = status ? status : sample_open(s);
    if (status || cli_flag(args, "worker")) {
        return status ? status : sample_worker(s);
    }

    // the plan, then the samples
    status = sample_plan(s);
    status = status ? status : sample_reload(s);
    if (status) {
        return status;
    }

    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    cli_stage("solving", false);
    status = sample_rounds(s);
    cli_stage(NULL, false);
    s->start = begin;

    return status ? status : sample_report(s, sample_seconds(s));
}

static int sample_merge(const cli_args *args, const char *to)
{
    pl_error err = {0};
    int copied = 0;

    if (pl_dataset_merge(to, args->plain, args->plain_count, &copied, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    cli_say(args, "%s: %d samples added from %d file%s\n", to, copied, args->plain_count,
            args->plain_count == 1 ? "" : "s");
    return CLI_DONE;
}

static int sample_run(cli_args *args)
{
    const char *merge = cli_value(args, "merge");
    if (merge) {
        return sample_merge(args, merge);
    }
    if (args->plain_count != 1) {
        cli_error(args, "expected one robot, found %d arguments", args->plain_count);
        return CLI_EXIT_USAGE;
    }

    sampling s = {0};
    const int status = sample_work(args, &s);
    pl_dataset_close(s.set);
    pl_file_free((char *)s.command);
    pl_file_free(s.done);
    cli_model_close(&s.m);
    free(s.file);
    free(s.fresh);
    free(s.out);

    return status;
}

const cli_verb cli_verb_sample = {
    .name = "sample",
    .summary = "a data set for learning: commands, markers, sensors, efforts and their derivatives",
    .usage = "ROBOT --out FILE.sqlite [--levels N | --samples N [--adaptive]] [options]\n"
             "       pliant sample --merge FILE.sqlite SHARD.sqlite ...",
    .about =
        "Solves the robot at commands distributed over their ranges, in chains of 16 samples that start\n"
        "from each other, on all cores. Every sample is stored before the next is solved: after a kill\n"
        "the same command continues, and the result is the same to the last bit. Samples that cannot be\n"
        "solved are stored with their outcome; --iteration-limit bounds what they cost. Every sample has a\n"
        "checksum: damaged ones are reported, not used, and solved again by the same command. Under `mpirun "
        "-n N` each process takes its share of the\n"
        "chains and writes a file of its own (data.0-of-2.sqlite ...); --merge joins them.",
    .examples = "  pliant sample trunk --levels 16 --out trunk.sqlite\n"
                "  pliant sample trunk --samples 800 --shapes --out trunk.sqlite\n"
                "  mpirun -n 2 pliant sample trunk --samples 800 --out trunk.sqlite\n"
                "  pliant sample --merge trunk.sqlite trunk.0-of-2.sqlite trunk.1-of-2.sqlite\n",
    .option = options,
    .least = 1,
    .most = 1000,
    .run = sample_run,
    .stopping = "stopping, keeping the samples stored so far",
};
