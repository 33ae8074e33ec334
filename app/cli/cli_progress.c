// The progress bar (on standard error, only on a terminal, only after a second), Ctrl-C, and the solver's
// log.
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli.h"

static volatile sig_atomic_t progress_stop;
static struct {
    const char *prefix;
    double begin, last; // s
    bool drawn;
} bar;

// Some stages, Gmsh's above all, cannot be asked: a run that has not answered by then is ended.
#define PROGRESS_GRACE 60 // s

static void progress_give_up(int signal_number)
{
    (void)signal_number;
    static const char text[] = "\npliant: error: interrupted during a long step\n";
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(written < 0 ? CLI_MACHINE : CLI_BADLY);
}

// Sets the flag that the library asks for through its progress calls. A second Ctrl-C ends the program at
// once.
static void progress_on_signal(int signal_number)
{
    (void)signal_number;
    progress_stop = 1;
    alarm(PROGRESS_GRACE);
}

void cli_interrupt_install(void)
{
    struct sigaction action = {.sa_handler = progress_on_signal};
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = progress_give_up;
    sigaction(SIGALRM, &action, NULL);
    // a limit on the size of files (ulimit -f) is an error of writing, as a full disk is, and no reason to
    // die
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGXFSZ, &action, NULL);
}

bool cli_interrupted(void)
{
    if (progress_stop) {
        alarm(0); // asked and answered
    }
    return progress_stop != 0;
}

static double progress_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void progress_draw(double fraction, const char *what)
{
    char line[41];
    const int full = fraction < 0 ? 0 : (int)(40 * (fraction > 1 ? 1 : fraction));
    memset(line, '.', 40);
    memset(line, '#', (size_t)full);
    line[40] = 0;
    fprintf(stderr, "\r\033[K[%s] ", line);
    if (fraction >= 0) {
        fprintf(stderr, "%3d %% ", (int)(100 * (fraction > 1 ? 1 : fraction)));
    }
    fprintf(stderr, "%s%s%s", bar.prefix ? bar.prefix : "", bar.prefix ? ": " : "", what ? what : "");
    fflush(stderr);
    bar.drawn = true;
}

static bool progress_step(void *user, double fraction, const char *what)
{
    (void)user;
    const double now = progress_now();
    if (bar.begin == 0) {
        bar.begin = now;
    }
    if (now - bar.begin > 1 && now - bar.last > 0.1 && isatty(STDERR_FILENO)) {
        progress_draw(fraction, what);
        bar.last = now;
    }
    return !cli_interrupted();
}

const pl_progress cli_progress = {progress_step, NULL};

void cli_progress_prefix(const char *text)
{
    bar.prefix = text;
}

void cli_progress_done(void)
{
    if (bar.drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        bar.drawn = false;
    }
}
