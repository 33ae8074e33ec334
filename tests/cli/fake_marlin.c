// A board with Marlin's serial protocol on a pseudo-terminal, for tests: prints the name of its terminal,
// then checks every line (number and checksum) and prints the moves it took. Its third line is damaged once,
// as on a noisy line; with the argument `mute N` it stops answering after N lines, with `halt N` it reports
// an error then.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static int terminal;
static void say(const char *text)
{
    if (write(terminal, text, strlen(text)) < 0) {
        exit(0);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";
    const long limit = argc > 2 ? atol(argv[2]) : -1;

    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
        return 1;
    }

    const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY); // keeps it alive between readers
    struct termios t;
    if (other < 0 || tcgetattr(other, &t) != 0) {
        return 1;
    }
    cfmakeraw(&t);
    tcsetattr(other, TCSANOW, &t);
    printf("%s\n", ptsname(terminal));
    fflush(stdout);
    say("start\necho:Marlin 2.1\n");
    FILE *in = fdopen(dup(terminal), "r");
    char line[400];
    long expected = 0;
    int damaged = 0;
    while (in && fgets(line, sizeof line, in)) {
        char *star = strchr(line, '*');
        long number = -1;
        int sum = 0, used = 0;
        for (char *c = line; star && c < star; ++c) {
            sum ^= (unsigned char)*c;
        }
        const int good = star && atoi(star + 1) == sum && sscanf(line, "N%ld %n", &number, &used) == 1;
        if (good && strstr(line, "M110")) {
            expected = number;
        }
        if (!good || number != expected || (number == 3 && !damaged++)) {
            char text[100];
            snprintf(text, sizeof text, "Error:checksum mismatch, Last Line: %ld\nResend: %ld\nok\n",
                     expected - 1, expected);
            say(text);
            continue;
        }
        if (limit >= 0 && number >= limit) {
            if (strcmp(mode, "halt") == 0) {
                say("Error:Printer halted. kill() called!\n");
            }
            continue;
        }
        *star = '\0';
        printf("%s\n", line + used);
        fflush(stdout);
        ++expected;
        say(number % 4 == 0 ? "echo:busy: processing\nok\n" : "ok\n");
    }

    return 0;
}
