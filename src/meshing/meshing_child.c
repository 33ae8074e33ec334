// The mesher runs in a process of its own. Gmsh and the CAD kernel below it end a program by assertions and
// wild pointers when a surface or a STEP file is damaged, may mesh for ever, and take all memory; none of
// that may reach the program that uses this library.
//
// The process is a fork without exec: the child has the caller's arrays already and needs no program file to
// be found. It works on one thread, closes every file of its parent, and says through one pipe what it does
// (stages, log) and, at the end, its answer: status, findings and the mesh, packed. Whatever else happens to
// it becomes a sentence here, and where meshing itself failed it is tried again with other settings.
#define _GNU_SOURCE // clock_getcpuclockid is POSIX; close_range, memfd_create and prctl are not
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "mesh/mesh.h"
#include "meshing/meshing_child.h"

#define CHILD_PIPE 3           // the child's end of the pipe
#define CHILD_POLL_MS 100      // how often the caller's progress is asked whether to go on
#define CHILD_STAGE_SECONDS 60 // CPU time a stage may take, unless it asks for more
#define CHILD_TOTAL 4          // CPU time of all attempts, in times of the longest stage allowed
#define CHILD_DOUBTS 3         // attempts after which a doubtful mesh is enough
#define CHILD_WALL 20          // wall time over CPU time after which a stage counts as stuck
#define CHILD_MEMORY 0.9       // share of the available memory the child may take

// ---- what goes through the pipe
// stage or log text, or the answer
typedef enum child_kind { CHILD_STAGE, CHILD_LOG, CHILD_RESULT } child_kind;

// Precedes every message.
typedef struct child_frame {
    uint32_t kind, level; // level: of a log line
    double fraction;      // of a stage
    double seconds;       // CPU time a stage may take
    uint64_t bytes;       // that follow
} child_frame;

// One answer; findings and the packed mesh follow it.
typedef struct child_answer {
    pl_status status;
    int32_t finding_count;
    uint64_t mesh_bytes;
    double badness;
    char text[sizeof((pl_error *)0)->text];
} child_answer;

// Precedes elements, file, text and advice of a finding.
typedef struct child_finding {
    int32_t severity, line, has_place, element_count;
    double place[3];
    uint32_t file_bytes, text_bytes, advice_bytes; // each with its NUL; no file: 0
} child_finding;

// ---- the child's side. The state is the process's own: the parent never sets it.
static struct {
    bool here;               // this process is a child
    int attempt;             // number of it, from 0
    double seconds, badness; // CPU time for the next stage; of the result
} child;

int meshing_attempt(void)
{
    return child.attempt;
}

void meshing_allow(double seconds)
{
    child.seconds = fmax(seconds, 1);
}

void meshing_doubt(double badness)
{
    child.badness = badness;
}

// Writes header and data whole; false when the parent has gone.
static bool child_send(const child_frame *frame, const void *data)
{
    const struct {
        const char *at;
        size_t bytes;
    } part[] = {{(const char *)frame, sizeof *frame}, {data, (size_t)frame->bytes}};

    for (int i = 0; i < PL_COUNT(part); ++i) {
        for (size_t done = 0; done < part[i].bytes;) {
            const ssize_t put = write(CHILD_PIPE, part[i].at + done, part[i].bytes - done);
            if (put < 0 && errno != EINTR) {
                return false;
            }
            done += put > 0 ? (size_t)put : 0;
        }
    }

    return true;
}

// Progress of the work: announces a stage with the time it may take.
static bool child_step(void *user, double fraction, const char *what)
{
    (void)user;
    const child_frame frame = {.kind = CHILD_STAGE,
                               .fraction = fraction,
                               .seconds = child.seconds > 0 ? child.seconds : CHILD_STAGE_SECONDS,
                               .bytes = what ? strlen(what) : 0};
    child.seconds = 0;
    return child_send(&frame, what);
}

// Log lines go to the parent's log.
static void child_log(void *user, int level, const char *text)
{
    (void)user;
    const child_frame frame = {.kind = CHILD_LOG, .level = (uint32_t)level, .bytes = strlen(text)};
    child_send(&frame, text);
}

// Header, then the variable parts in the order of child_finding.
static void child_pack_finding(pl_text *out, const pl_finding *f)
{
    const child_finding head = {.severity = f->severity,
                                .line = f->line,
                                .has_place = f->has_place,
                                .element_count = f->element_count,
                                .place = {f->place[0], f->place[1], f->place[2]},
                                .file_bytes = f->file ? (uint32_t)strlen(f->file) + 1 : 0,
                                .text_bytes = (uint32_t)strlen(f->text) + 1,
                                .advice_bytes = (uint32_t)strlen(f->advice) + 1};
    pl_text_add_bytes(out, &head, sizeof head);
    if (f->element_count > 0) {
        pl_text_add_bytes(out, f->elements, (size_t)f->element_count * sizeof *f->elements);
    }
    if (f->file) {
        pl_text_add_bytes(out, f->file, head.file_bytes);
    }
    pl_text_add_bytes(out, f->text, head.text_bytes);
    pl_text_add_bytes(out, f->advice, head.advice_bytes);
}

// Sends the answer and ends the process, with 0 when the answer was sent. _exit:
// handlers of exit belong to the parent.
static void child_answer_and_exit(pl_status status, const pl_error *err, const pl_findings *findings,
                                  const pl_mesh *mesh)
{
    pl_text packed = {0}, all = {0};
    child_answer answer;

    // padding must not leave uninitialised bytes in the pipe
    memset(&answer, 0, sizeof answer);
    answer.status = status;
    answer.badness = child.badness;
    answer.finding_count = pl_findings_count(findings);
    snprintf(answer.text, sizeof answer.text, "%s", err->text);
    bool good = !mesh || pl_mesh_pack(mesh, 0, &packed);
    answer.mesh_bytes = packed.length;

    // answer, findings, mesh in one message
    pl_text_add_bytes(&all, &answer, sizeof answer);
    for (int i = 0; i < answer.finding_count; ++i) {
        child_pack_finding(&all, pl_findings_at(findings, i));
    }
    if (packed.length > 0) {
        pl_text_add_bytes(&all, packed.data, packed.length);
    }

    const child_frame frame = {.kind = CHILD_RESULT, .bytes = all.length};
    good = good && !all.failed && child_send(&frame, all.data);
    _exit(good ? 0 : 1);
}

// sanitizers reserve terabytes of address space, so a limit would end the process at once
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Bytes this machine can still give, and bytes of data this process has already; 0 when unknown.
static void child_memory(double *available, double *taken)
{
    char line[256];
    *available = *taken = 0;
    FILE *file = fopen("/proc/meminfo", "r");

    // what the machine can give
    for (double kilobytes; file && fgets(line, sizeof line, file);) {
        if (sscanf(line, "MemAvailable: %lf kB", &kilobytes) == 1) {
            *available = 1024 * kilobytes;
        }
    }

    if (file) {
        fclose(file);
    }

    // what this process has
    file = fopen("/proc/self/statm", "r");
    double pages;
    if (file && fscanf(file, "%*s %*s %*s %*s %*s %lf", &pages) == 1) {
        *taken = pages * (double)sysconf(_SC_PAGESIZE);
    }
    if (file) {
        fclose(file);
    }
}
#endif

// Lowers a soft limit; a stricter hard limit stays.
static void child_limit(int resource, double value)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) == 0 &&
        (limit.rlim_max == RLIM_INFINITY || value < (double)limit.rlim_max)) {
        limit.rlim_cur = (rlim_t)value;
        setrlimit(resource, &limit);
    }
}

// Leaves what belongs to the parent alone: its files, handlers, threads, and a Ctrl-C meant for it.
static void child_settle(int pipe_end, int words, pid_t parent)
{
    // dies with the parent, also if the parent ended between fork and here
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }

    // 0 and 1: nothing; 2: the words; 3: the pipe; everything else closed
    const int nothing = open("/dev/null", O_RDWR);
    // words and pipe may have each other's numbers: first both to high numbers, then to 2 and 3
    const int w = fcntl(words >= 0 ? words : nothing, F_DUPFD, 16), p = fcntl(pipe_end, F_DUPFD, 16);
    if (nothing < 0 || w < 0 || p < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(w, 2) < 0 ||
        dup2(p, CHILD_PIPE) < 0) {
        _exit(1);
    }

    close_range(CHILD_PIPE + 1, ~0U, 0);

    // default handlers; Ctrl-C is the parent's
    for (int s = 1; s < NSIG; ++s) {
        signal(s, s == SIGINT ? SIG_IGN : SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);

    // no core files, no more memory than there is
    child_limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    double available, taken;
    child_memory(&available, &taken);
    if (available > 0 && taken > 0) {
        child_limit(RLIMIT_DATA, taken + CHILD_MEMORY * available);
    }
#endif
    // threads of the parent do not exist here
    pl_threads_set(1);
}

// The whole life of the child; does not return.
static void child_run(const child_job *job, int attempt)
{
    child.here = true;
    child.attempt = attempt;
    pl_log_set(child_log, NULL, pl_log_wants(2) ? 2 : pl_log_wants(1) ? 1 : 0);
    const pl_progress progress = {child_step, NULL};
    pl_findings *findings = pl_findings_create();
    pl_mesh *mesh = NULL;
    pl_error err = {0};
    const pl_status status = findings ? job->work(job->user, &progress, &mesh, findings, &err)
                                      : pl_fail_memory(&err, "the mesher's findings");
    child_answer_and_exit(status, &err, findings, status == PL_OK ? mesh : NULL);
}

// ---- the parent's side
// The parent's view of one child.
typedef struct watch {
    const child_job *job;
    const pl_progress *progress;
    pid_t pid;
    int pipe_end, words;          // words: what the child writes to its standard error
    char stage[128];              // last one announced
    double fraction, seconds;     // seconds: CPU time this stage may take
    double stage_cpu, stage_wall; // s, when it began
    double spent, longest;        // CPU time of earlier attempts, and the longest stage allowed so far
    double badness;               // as the answer says
    pl_text bytes;                // received and not yet used
    pl_text answer;               // of child_answer
    bool answered, interrupted, stuck, late; // late: all attempts together took too long
} watch;

// s of CPU time that the child has used; 0 when it is gone.
static double watch_cpu(const watch *w)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(w->pid, &clock) != 0 || clock_gettime(clock, &t) != 0) {
        return 0;
    }
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Forks. False with a reason if that failed, after which nothing is left open but `words`.
static bool watch_start(watch *w, int attempt, pl_error *err)
{
    int end[2];
    if (pipe(end) != 0) {
        pl_fail(err, PL_FAILED, "meshing: cannot create a pipe to the mesher: %s", strerror(errno));
        return false;
    }

    w->words = memfd_create("pliant mesher", MFD_CLOEXEC);
    fcntl(end[0], F_SETFD, FD_CLOEXEC);
    fcntl(end[1], F_SETFD, FD_CLOEXEC);

    // no handler of ours may run in the child
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const pid_t parent = getpid();
    w->pid = fork();
    if (w->pid == 0) {
        child_settle(end[1], w->words, parent);
        child_run(w->job, attempt);
    }

    const int why = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(end[1]);
    w->pipe_end = end[0];
    w->stage_wall = pl_seconds();
    w->seconds = CHILD_STAGE_SECONDS;

    if (w->pid < 0) {
        close(end[0]);
        pl_fail(err, why == ENOMEM ? PL_NO_MEMORY : PL_FAILED, "meshing: cannot start the mesher: %s",
                strerror(why));
    }

    return w->pid > 0;
}

// One message. Texts are cut at 900 characters, a bound for what a damaged child may send.
static void watch_frame(watch *w, const child_frame *frame, const char *data)
{
    const int length = frame->bytes < 900 ? (int)frame->bytes : 900;
    if (frame->kind == CHILD_LOG) {
        pl_log((int)frame->level, "%.*s", length, data);
    } else if (frame->kind == CHILD_RESULT) {
        w->answered = true;
        pl_text_add_bytes(&w->answer, data, (size_t)frame->bytes);
    } else {
        snprintf(w->stage, sizeof w->stage, "%.*s", length, data);
        w->fraction = frame->fraction;
        w->seconds = frame->seconds;
        w->stage_cpu = watch_cpu(w);
        w->stage_wall = pl_seconds();
    }
}

// Uses every whole frame received so far.
static void watch_frames(watch *w)
{
    size_t at = 0;
    for (child_frame frame; w->bytes.length - at >= sizeof frame;) {
        memcpy(&frame, w->bytes.data + at, sizeof frame);
        if (w->bytes.length - at - sizeof frame < frame.bytes) {
            break;
        }
        watch_frame(w, &frame, w->bytes.data + at + sizeof frame);
        at += sizeof frame + (size_t)frame.bytes;
    }

    if (at > 0) {
        memmove(w->bytes.data, w->bytes.data + at, w->bytes.length - at);
        w->bytes.length -= at;
    }
}

// Reads until the pipe is closed, the caller asks to stop, or a stage takes too long.
static void watch_listen(watch *w)
{
    static const size_t room = 1 << 16;

    // a pipe holds 64 KiB
    char *block = pl_alloc(room);

    while (block && !w->bytes.failed && !w->answer.failed) {
        struct pollfd listen = {.fd = w->pipe_end, .events = POLLIN};
        const int ready = poll(&listen, 1, CHILD_POLL_MS);

        if (ready > 0) {
            const ssize_t got = read(w->pipe_end, block, room);
            if (got == 0 || (got < 0 && errno != EINTR)) {
                break;
            }
            if (got > 0) {
                pl_text_add_bytes(&w->bytes, block, (size_t)got);
                watch_frames(w);
            }
        }

        // ten times a second, whether anything arrived or not
        w->interrupted = !pl_progress_step(w->progress, w->fraction, w->stage[0] ? w->stage : "meshing");
        w->longest = fmax(w->longest, w->seconds);
        const double cpu = watch_cpu(w);
        w->late = w->spent + cpu > CHILD_TOTAL * w->longest;
        w->stuck = w->late || cpu - w->stage_cpu > w->seconds ||
                   pl_seconds() - w->stage_wall > CHILD_WALL * w->seconds;
        if (w->interrupted || w->stuck) {
            break;
        }
    }

    w->spent += watch_cpu(w);
    pl_free(block);
}

// The last line the child wrote to its standard error.
static void watch_words(const watch *w, char *text, size_t size)
{
    char all[600] = "";
    const off_t end = w->words >= 0 ? lseek(w->words, 0, SEEK_END) : 0;
    const off_t from = end > (off_t)sizeof all - 1 ? end - (off_t)sizeof all + 1 : 0;
    const ssize_t got = end > 0 ? pread(w->words, all, (size_t)(end - from), from) : 0;

    all[got > 0 ? got : 0] = 0;
    for (size_t n = strlen(all); n > 0 && (all[n - 1] == '\n' || all[n - 1] == ' '); --n) {
        all[n - 1] = 0;
    }

    // only the last line is of interest, without control characters
    const char *line = strrchr(all, '\n');
    line = line ? line + 1 : all;
    size_t n = 0;
    for (; *line && n + 1 < size; ++line) {
        text[n++] = (unsigned char)*line < ' ' ? ' ' : *line;
    }
    text[n] = 0;
}

// Ends and collects the child; its wait status, or 0 when somebody else collected it.
static int watch_end(watch *w)
{
    if (!w->answered || w->interrupted || w->stuck) {
        // closing the pipe ends a child that still writes; the signal ends one that computes
        if (w->interrupted || w->stuck || w->bytes.failed || w->answer.failed) {
            kill(w->pid, SIGKILL);
        }
    }

    close(w->pipe_end);
    int status = 0;
    pid_t got;
    do {
        got = waitpid(w->pid, &status, 0);
    } while (got < 0 && errno == EINTR);

    return got == w->pid ? status : 0;
}

static const char *watch_signal(int number)
{
    switch (number) {
    case SIGABRT:
        return "failed an internal check";
    case SIGSEGV:
    case SIGBUS:
        return "failed with a memory error";
    case SIGFPE:
        return "failed with an arithmetic error";
    case SIGKILL:
        return "was killed by the system, probably for lack of memory";
    default:
        return "was terminated by a signal";
    }
}

// Why there is no answer, in words. Memory comes before signals: the system kills what takes too much.
static pl_status watch_explain(const watch *w, int ended, pl_error *err)
{
    const char *stage = w->stage[0] ? w->stage : "starting";
    char words[300];

    watch_words(w, words, sizeof words);
    if (w->interrupted) {
        return pl_fail(err, PL_INTERRUPTED, "meshing: interrupted while %s", stage);
    }
    if (w->stuck) {
        return pl_fail(err, PL_FAILED, "%s: the mesher did not finish within %.0f s while %s", w->job->source,
                       w->late ? CHILD_TOTAL * w->longest : w->seconds, stage);
    }

    if (w->bytes.failed || w->answer.failed || strstr(words, "bad_alloc") ||
        (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL)) {
        return pl_fail(err, PL_NO_MEMORY,
                       "%s: the mesher ran out of memory while %s; a larger size needs less", w->job->source,
                       stage);
    }

    if (WIFSIGNALED(ended)) {
        return pl_fail(err, PL_FAILED, "%s: the mesher %s while %s%s%s%s", w->job->source,
                       watch_signal(WTERMSIG(ended)), stage, words[0] ? " (" : "", words,
                       words[0] ? ")" : "");
    }

    return pl_fail(err, PL_FAILED, "%s: the mesher ended without a result while %s", w->job->source, stage);
}

// ---- the answer. The child may be damaged, so all sizes are checked.
// Copies `bytes` from the message; false when it is too short.
static bool answer_take(const char **at, const char *end, void *to, size_t bytes)
{
    if ((size_t)(end - *at) < bytes) {
        return false;
    }
    memcpy(to, *at, bytes);
    *at += bytes;
    return true;
}

// A text with its NUL; NULL when it does not fit.
static const char *answer_text(const char **at, const char *end, uint32_t bytes)
{
    const char *text = *at;
    if (bytes == 0 || (size_t)(end - *at) < bytes || text[bytes - 1] != 0) {
        return NULL;
    }
    *at += bytes;
    return text;
}

// One finding of the message into `findings`; false when it is damaged.
static bool answer_finding(const char **at, const char *end, pl_findings *findings)
{
    child_finding head;
    if (!answer_take(at, end, &head, sizeof head) || head.element_count < 0 || head.severity < PL_NOTE ||
        head.severity > PL_DEFECT) {
        return false;
    }

    // + 1: an array of nothing is allocated, too
    int32_t *elements = PL_NEW_ARRAY(int32_t, head.element_count + 1);
    bool good = elements && answer_take(at, end, elements, (size_t)head.element_count * sizeof *elements);
    const char *file = good && head.file_bytes > 0 ? answer_text(at, end, head.file_bytes) : NULL;
    good = good && (head.file_bytes == 0 || file);
    const char *text = good ? answer_text(at, end, head.text_bytes) : NULL;
    const char *advice = text ? answer_text(at, end, head.advice_bytes) : NULL;
    good = advice != NULL;

    if (good && pl_findings_add(findings, (pl_severity)head.severity, file, head.line, "%s", text) >= 0) {
        pl_findings_advise(findings, "%s", advice);
        if (head.has_place) {
            pl_findings_place(findings, head.place, elements, head.element_count);
        }
    }

    pl_free(elements);

    return good;
}

// Unpacks the answer: findings, then the error or the mesh.
static pl_status watch_answer(watch *w, pl_mesh **out, pl_findings *findings, pl_error *err)
{
    const char *at = w->answer.data, *end = at + w->answer.length;
    child_answer answer;
    bool good = answer_take(&at, end, &answer, sizeof answer);

    answer.text[good ? sizeof answer.text - 1 : 0] = 0;
    for (int32_t i = 0; good && i < answer.finding_count; ++i) {
        good = answer_finding(&at, end, findings);
    }
    if (!good || (uint64_t)(end - at) != answer.mesh_bytes) {
        return pl_fail(err, PL_FAILED, "%s: the result of the mesher is damaged", w->job->source);
    }
    w->badness = answer.badness;
    if (answer.status != PL_OK) {
        return pl_fail(err, answer.status, "%s", answer.text);
    }

    return answer.mesh_bytes > 0 ? pl_mesh_unpack(at, (size_t)answer.mesh_bytes, 0, out, err) : PL_OK;
}

// ---- attempts
// What one process brought; owns mesh and findings.
typedef struct attempt {
    pl_status status;
    pl_error why;
    pl_mesh *mesh;
    pl_findings *findings;
    double badness;
    bool again; // another setting may do better
    int number;
} attempt;

static void attempt_clear(attempt *a)
{
    pl_mesh_destroy(a->mesh);
    pl_findings_destroy(a->findings);
    *a = (attempt){.badness = INFINITY};
}

// One process. `spent` and `longest` (s) are those of all attempts so far.
static attempt attempt_run(const child_job *job, int number, const pl_progress *progress, double *spent,
                           double *longest)
{
    watch w = {.job = job, .progress = progress, .words = -1, .spent = *spent, .longest = *longest};
    attempt a = {.number = number, .findings = pl_findings_create(), .badness = INFINITY};

    if (!a.findings) {
        a.status = pl_fail_memory(&a.why, "the mesher's findings");
    } else if (!watch_start(&w, number, &a.why)) {
        a.status = a.why.status;
    } else {
        watch_listen(&w);
        const int ended = watch_end(&w);

        // an answer, good or bad
        if (w.answered && !w.answer.failed && !w.interrupted) {
            a.status = watch_answer(&w, &a.mesh, a.findings, &a.why);
            a.badness = w.badness;
            a.again =
                w.badness > 1 && (a.status == PL_OK || a.status == PL_FAILED || a.status == PL_BAD_INPUT);
        } else {
            // without one another setting may help if meshing failed, not if reading the file did
            a.status = watch_explain(&w, ended, &a.why);
            a.again = a.status == PL_FAILED && strncmp(w.stage, "meshing", 7) == 0 && !w.late;
        }

        *spent = w.spent;
        *longest = w.longest;
    }

    if (w.words >= 0) {
        close(w.words);
    }
    pl_text_clear(&w.bytes);
    pl_text_clear(&w.answer);

    return a;
}

static void attempt_copy_findings(const attempt *a, pl_findings *findings)
{
    for (int i = 0; findings && a->findings && i < pl_findings_count(a->findings); ++i) {
        const pl_finding *f = pl_findings_at(a->findings, i);
        if (pl_findings_add(findings, f->severity, f->file, f->line, "%s", f->text) >= 0) {
            pl_findings_advise(findings, "%s", f->advice);
            if (f->has_place) {
                pl_findings_place(findings, f->place, f->elements, f->element_count);
            }
        }
    }
}

// The setting in words.
static const char *attempt_words(const child_job *job, int number)
{
    const char *words = job->setting ? job->setting(number) : NULL;
    return words ? words : "other settings";
}

// "other settings failed too" or, with words for them, which ones.
static void attempt_list(const child_job *job, int tried, char *text, size_t size)
{
    size_t n = 0;
    text[0] = 0;
    for (int k = 1; k < tried && job->setting && n < size; ++k) {
        const int put = snprintf(text + n, size - n, "%s%s", k > 1 ? "; " : "", attempt_words(job, k));
        n += put > 0 ? (size_t)put : 0;
    }
}

// The sanitizers' allocators cannot be used in a child that was forked beside other threads (that of glibc
// can): a lock that another thread held stays locked. Such builds mesh in the thread that asks, unless it is
// the first one.
static bool child_is_here(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return child.here || gettid() != getpid();
#else
    return child.here;
#endif
}

pl_status meshing_isolate(const child_job *job, const pl_progress *progress, pl_mesh **out,
                          pl_findings *findings, pl_error *err)
{
    *out = NULL;
    if (child_is_here()) {
        return job->work(job->user, progress, out, findings, err);
    }

    // attempts until one is good; `first` keeps why it failed at first, `best` the best mesh
    double spent = 0, longest = 0;
    attempt first = {.badness = INFINITY}, best = {.badness = INFINITY}, last = {.again = true};
    int tried = 0;

    for (bool again = true; again && tried < MESHING_ATTEMPTS; ++tried) {
        attempt_clear(&last);
        last = attempt_run(job, tried, progress, &spent, &longest);
        // most failures can be avoided by other settings; a doubtful mesh is mostly a
        // size that does not fit the part
        again = last.again && !(last.mesh && tried + 1 >= CHILD_DOUBTS);
        if (again) {
            pl_log(1, "%s: %s: %s", job->source, tried ? attempt_words(job, tried) : "first settings",
                   last.mesh ? "a doubtful mesh" : last.why.text);
        }

        if (tried == 0) {
            first.status = last.status;
            first.why = last.why;
        }

        if (last.mesh && (!best.mesh || last.badness < best.badness)) {
            attempt_clear(&best);
            best = last;
            last = (attempt){.status = PL_OK, .badness = best.badness};
        }
    }

    // the best mesh, unless the caller asked to stop
    const bool stopped = last.why.status == PL_INTERRUPTED || last.why.status == PL_NO_MEMORY;
    pl_status status = PL_OK;
    if (best.mesh && !(stopped && last.why.status == PL_INTERRUPTED)) {
        attempt_copy_findings(&best, findings);

        if (best.number > 0) {
            pl_findings_add(findings, PL_NOTE, NULL, 0, "%s; it was meshed with other settings: %s",
                            first.status == PL_OK ? "the first mesh was not like the part" : first.why.text,
                            attempt_words(job, best.number));
        }

        *out = best.mesh;
        best.mesh = NULL;
    } else if (tried == 1 && last.status == PL_OK) {
        attempt_copy_findings(&last, findings); // nothing to hand back
    } else {
        // what to report: an interruption or lack of memory now, otherwise why it failed at first
        const attempt *tell = stopped ? &last : &first;
        char list[400];
        attempt_copy_findings(&last, findings);
        attempt_list(job, tried, list, sizeof list);
        status =
            pl_fail(err, tell->why.status, "%s%s%s%s", tell->why.text,
                    tried > 1 && !stopped
                        ? "; other settings failed too: try another size, or repair the part and export "
                          "it again"
                    : tell->why.status == PL_FAILED ? "; the file may be damaged: export it again"
                                                    : "",
                    tried > 1 && !stopped && list[0] ? "; tried: " : "", tried > 1 && !stopped ? list : "");
    }

    attempt_clear(&best);
    attempt_clear(&last);

    return status;
}
