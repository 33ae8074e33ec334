// The progress bar (on standard error, only on a terminal, only after a moment), what took how long, Ctrl-C
// and the time limit of a run.
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "cli.h"

#define PROGRESS_QUIET 0.5 // s until the bar appears
#define PROGRESS_RATE 1.5  // s of a stage, and the share of it, before the time left is estimated
#define PROGRESS_RATE_SHARE 0.02
#define PROGRESS_SHORT 1.0 // s: runs of less are not worth a line

// Work that cannot be asked: what loses nothing is ended after the first time, anything after the second.
#define PROGRESS_ANSWER 0.4 // s
#define PROGRESS_GRACE 60   // s

// The limit of a run ends it early enough to print and write what was found.
#define PROGRESS_MARGIN_SHARE 0.08
#define PROGRESS_MARGIN_MOST 0.25 // s
#define PROGRESS_LATE 1.0 // of the limit: work that did not answer by then is ended if it loses nothing

#define PROGRESS_LOAD 0.5 // s: small robots are loaded by then, so the shape at rest is reported

static volatile sig_atomic_t progress_stop, progress_late, progress_drawn;
static volatile sig_atomic_t progress_expendable = 1; // nothing is lost when the program ends here
static char stop_line[200] = "pliant: stopping\n",
            late_line[200] = "pliant: error: the time limit was reached\n", late_verb[40];

#define STAGES_MOST 12 // different names
static struct {
    const char *prefix;
    char part_text[80];
    double begin, last;   // s: of the program; last drawn
    double fraction;      // of the current part; negative: not known
    int level;            // of the caller that gave the fraction: progress_step
    int part, part_count; // parts that the stage consists of
    double deadline, limit;
    struct {
        const char *what;
        double seconds;
    } stage[STAGES_MOST];
    int stage_count, stage_now;
    double stage_begin;
    bool talkative; // says times also where no terminal is
} bar = {.fraction = -1, .stage_now = -1, .part_count = 1};

// s on a clock that nobody sets.
static double progress_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- signals
// A line from a signal handler; what is on the line already (a bar, the ^C of the terminal) is wiped or left
// behind.
static void progress_write(const char *line)
{
    const int number = errno; // of what was interrupted
    const char *before = progress_drawn ? "\r\033[K" : isatty(STDERR_FILENO) ? "\n" : "";
    ssize_t written = write(STDERR_FILENO, before, strlen(before));
    written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
    errno = number;
}

// 0 disarms the alarm.
static void progress_alarm_in(double seconds)
{
    struct itimerval timer = {0};
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - (double)timer.it_value.tv_sec));
    setitimer(ITIMER_REAL, &timer, NULL);
}

// Some work cannot be asked: reading and ordering, a library of others.
static void progress_on_alarm(int signal_number)
{
    (void)signal_number;
    static volatile sig_atomic_t again;
    if (!progress_stop && !progress_late) {
        progress_late = 1;
        if (progress_expendable) {
            progress_write(late_line);
            _exit(CLI_EXIT_UNSOLVED);
        }

        progress_alarm_in(PROGRESS_GRACE);
        return;
    }

    if (progress_expendable || again) {
        progress_write(again ? "pliant: error: ended during a long step\n"
                       : progress_late && !progress_stop
                           ? late_line
                           : "pliant: error: interrupted before anything was computed\n");
        _exit(CLI_EXIT_UNSOLVED);
    }

    again = 1;
    progress_alarm_in(PROGRESS_GRACE);
}

// Sets the flag that the library asks for through its progress calls. A second Ctrl-C ends the program at
// once.
static void progress_on_signal(int signal_number)
{
    (void)signal_number;
    progress_stop = 1;
    progress_write(stop_line);
    progress_alarm_in(PROGRESS_ANSWER);
}

// The program's time counts from here.
void cli_interrupt_install(void)
{
    bar.begin = progress_now();
    struct sigaction action = {.sa_handler = progress_on_signal};
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = progress_on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);

    // a limit on the size of files (ulimit -f) is an error of writing, as a full disk is, and no reason to
    // die
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGXFSZ, &action, NULL);
}

void cli_interrupt_words(const char *verb, const char *words)
{
    snprintf(stop_line, sizeof stop_line, "pliant %s: %s\n", verb, words);
    snprintf(late_verb, sizeof late_verb, "%s", verb);
}

// Two mechanisms: asking at every progress call, and an alarm for work that does not ask.
void cli_time_limit(double seconds)
{
    const double margin = PROGRESS_MARGIN_SHARE * seconds;
    bar.limit = seconds;
    snprintf(late_line, sizeof late_line,
             "pliant %s: error: the time limit of %g s was reached before anything was solved\n", late_verb,
             seconds);
    bar.deadline = bar.begin + seconds - (margin < PROGRESS_MARGIN_MOST ? margin : PROGRESS_MARGIN_MOST);
    const double last = PROGRESS_LATE * seconds > PROGRESS_LOAD ? PROGRESS_LATE * seconds : PROGRESS_LOAD;
    const double left = bar.begin + last - progress_now();
    if (left < 1e6) { // beyond that polling is enough
        progress_alarm_in(left > 1e-3 ? left : 1e-3);
    }
}

// Also disarms the alarm where the work has answered.
bool cli_interrupted(void)
{
    const double now = progress_now();
    if (bar.deadline > 0 && !progress_stop && !progress_late && now > bar.deadline &&
        !(progress_expendable && now < bar.begin + PROGRESS_LOAD)) {
        progress_late = 1;
    }

    if (!progress_stop && !progress_late) {
        return false;
    }
    if (!progress_expendable) {
        progress_alarm_in(0); // asked and answered
    }

    return true;
}

const char *cli_stop_reason(void)
{
    static char text[80];
    if (progress_stop || !progress_late) {
        return "interrupted";
    }
    snprintf(text, sizeof text, "the time limit of %g s was reached", bar.limit);
    return text;
}

// ---- the bar
static bool progress_silent;

void cli_progress_silence(void)
{
    progress_silent = true;
}

// The time left, from the rate since the stage began: ", about 40 s left". Nothing at the start of a stage,
// where the rate is not known yet.
static void progress_left(char *text, size_t size, double done, double now)
{
    const double spent = now - (bar.stage_begin > 0 ? bar.stage_begin : bar.begin);
    if (spent < PROGRESS_RATE || done < PROGRESS_RATE_SHARE || done >= 1) {
        return;
    }

    const double left = spent * (1 - done) / done;
    if (left < 100) {
        snprintf(text, size, ", about %.0f s left", left < 1 ? 1 : left);
    } else if (left < 6000) {
        snprintf(text, size, ", about %.0f min left", left / 60);
    } else {
        snprintf(text, size, ", about %.1f h left", left / 3600);
    }
}

// One line that fits the window: bar, share, time, what.
static void progress_draw(const char *what, double now)
{
    struct winsize window = {0};
    const int width =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 20 ? window.ws_col : 80;
    char line[25], text[300];

    // parts of a stage count alike
    double all = bar.fraction < 0 ? 0 : bar.fraction > 1 ? 1 : bar.fraction;

    all = (bar.part + all) / bar.part_count;
    const bool known = bar.fraction >= 0 || bar.part_count > 1;
    const int marks = width < 72 ? 8 : 24; // room for the words
    memset(line, '.', (size_t)marks);
    memset(line, '#', (size_t)(known ? marks * all : 0));
    line[marks] = 0;
    char share[16] = "", left[40] = "";
    if (known) {
        snprintf(share, sizeof share, "%3d %% ", (int)(100 * all));
        progress_left(left, sizeof left, all, now);
    }

    snprintf(text, sizeof text, "[%s] %s%.1f s%s %s%s%s%s%s", line, share, now - bar.begin, left,
             bar.part_text, bar.part_text[0] ? ": " : "", bar.prefix ? bar.prefix : "",
             bar.prefix ? ": " : "", what ? what : "");
    cli_text_tame(text);
    fprintf(stderr, "\r\033[K%.*s", width - 1, text);
    fflush(stderr);
    progress_drawn = 1;
}

// Fractions of the search that a solve is part of (user: not NULL) count more than those of the solve, and
// may fall: a search can find that more is to be done.
static bool progress_step(void *user, double fraction, const char *what)
{
    const double now = progress_now();
    const int level = user ? 1 : 0;

    if (fraction >= 0 && level >= bar.level) {
        bar.fraction = fraction > bar.fraction || level > 0 ? fraction : bar.fraction;
        bar.level = level;
    }

    // at most ten times a second, and only where someone looks
    if (now - bar.begin > PROGRESS_QUIET && now - bar.last > 0.1 && !progress_silent && !cli_quiet &&
        isatty(STDERR_FILENO)) {
        progress_draw(what, now);
        bar.last = now;
    }

    return !cli_interrupted();
}

static int progress_search;
const pl_progress cli_progress = {progress_step, NULL};
const pl_progress cli_progress_search = {progress_step, &progress_search};

void cli_progress_prefix(const char *text)
{
    bar.prefix = text;
}

void cli_progress_part(int index, int count, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(bar.part_text, sizeof bar.part_text, format, list);
    va_end(list);
    bar.part = index < count ? index : count - 1;
    bar.part_count = count > 0 ? count : 1;
    bar.fraction = count > 0 && index >= count ? 1 : -1;
    bar.level = 0;
}

void cli_progress_done(void)
{
    if (progress_drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        progress_drawn = 0;
    }
}

// ---- stages
// Times of stages of one name are added up.
void cli_stage(const char *what, bool expendable)
{
    const double now = progress_now();
    cli_progress_done();

    // end the stage before
    if (bar.stage_now >= 0) {
        bar.stage[bar.stage_now].seconds += now - bar.stage_begin;
    }
    bar.part = 0;
    bar.part_count = 1;
    bar.part_text[0] = 0;
    bar.fraction = -1;
    bar.level = 0;
    bar.stage_now = -1;
    bar.stage_begin = now;
    progress_expendable = expendable;

    // begin this one
    for (int i = 0; what && i < bar.stage_count; ++i) {
        bar.stage_now = strcmp(bar.stage[i].what, what) == 0 ? i : bar.stage_now;
    }
    if (what && bar.stage_now < 0 && bar.stage_count < STAGES_MOST) {
        bar.stage[bar.stage_count].what = what;
        bar.stage_now = bar.stage_count++;
    }
}

void cli_stage_talk(void)
{
    bar.talkative = true;
}

void cli_stages_report(const char *verb)
{
    cli_stage(NULL, false);
    const double total = progress_now() - bar.begin;
    if (!(bar.talkative || (isatty(STDERR_FILENO) && total > PROGRESS_SHORT && !cli_quiet))) {
        return;
    }
    fflush(stdout);
    fprintf(stderr, "pliant %s: %.1f s", verb, total);
    const char *before = " (";

    // who asked for it (-v) gets every stage, however short; on a terminal those that took a while
    for (int i = 0; i < bar.stage_count; ++i) {
        if (bar.talkative || bar.stage[i].seconds >= 0.05) {
            fprintf(stderr, bar.talkative ? "%s%s %.3f s" : "%s%s %.1f s", before, bar.stage[i].what,
                    bar.stage[i].seconds);
            before = ", ";
        }
    }

    fputs(before[0] == ',' ? ")\n" : "\n", stderr);
}
