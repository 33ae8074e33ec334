// pliant serve: the browser view.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli.h"
#ifdef PLIANT_SERVER
#include "server.h"
#endif

static const cli_option options[] = {
    {"demo", 0, NULL, "show the gallery of all built-in designs", NULL},
    {"port", 0, "N", "port to listen on (default 8765; 0: any free one)", NULL, CLI_WHOLE(0, 65535)},
    {"host", 0, "ADDRESS", "listen on this address instead of this machine only; needs --token", NULL},
    {"token", 0, "WORD", "a secret (8 characters or more) that the address of the page must contain", NULL},
    {"log", 0, "FILE", "plot the log of a run (.sqlite, as `pliant run --out` writes it) while it grows",
     NULL},
    {"idle", 0, "TIME", "end after this time without viewers (30 min)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 1, 1e9)},
    {"json", 0, "FILE",
     "write the address of the page as JSON to FILE, once it is served; - for standard output", NULL},
    CLI_MESHING,
    CLI_WORKING,
    {0},
};

#ifdef PLIANT_SERVER
// Letters that need no encoding in an address.
static bool serve_token_is_good(const char *token)
{
    size_t n = 0;
    for (; token[n]; ++n) {
        if (!isalnum((unsigned char)token[n]) && token[n] != '-' && token[n] != '_') {
            return false;
        }
    }

    return n >= 8 && n <= 200;
}

// Other machines may connect only with a token.
static int serve_read(const cli_args *args, server_options *o)
{
    *o = (server_options){.host = cli_value(args, "host"), .token = cli_value(args, "token"), .port = 8765};
    o->no_cache = cli_flag(args, "no-cache");
    if (o->host && !o->token) {
        cli_error(
            args,
            "--host %s allows other machines to connect: add --token WORD, a secret of 8 characters or more",
            o->host);
        return CLI_EXIT_USAGE;
    }

    if (o->token && !serve_token_is_good(o->token)) {
        cli_error(args, "--token: expected 8 to 200 letters, digits, - or _");
        return CLI_EXIT_USAGE;
    }

    o->log = cli_value(args, "log");
    const char *dot = o->log ? strrchr(o->log, '.') : NULL;
    if (o->log && (!dot || (strcmp(dot, ".sqlite") != 0 && strcmp(dot, ".db") != 0))) {
        cli_error(args, "--log %s: expected a .sqlite or .db, which grows while the run does", o->log);
        cli_advice(
            "`pliant run ROBOT --goal X,Y,Z --out run.sqlite` writes one; a .csv is written at the end: "
            "open it in the page");
        return CLI_EXIT_USAGE;
    }

    o->host = o->host ? o->host : "127.0.0.1";
    if (!cli_whole(args, "port", &o->port) || !cli_number(args, "idle", &o->idle) ||
        !cli_number(args, "size", &o->size) || !cli_whole(args, "order", &o->order)) {
        return CLI_EXIT_USAGE;
    }

    if (args->plain_count == 0 && !cli_flag(args, "demo")) {
        cli_error(args, "expected a robot, or --demo for the gallery of designs");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// Makes a folder and those above it. It must be a folder of ours that nobody else may write into: in a shared
// folder for temporary files somebody else may have made it, or a link, before.
static bool serve_make_folders(char *path)
{
    struct stat s;
    for (char *c = path + 1; *c; ++c) {
        if (*c == '/') {
            *c = 0;
            mkdir(path, 0777);
            *c = '/';
        }
    }

    return (mkdir(path, 0700) == 0 || errno == EEXIST) && lstat(path, &s) == 0 && S_ISDIR(s.st_mode) &&
           s.st_uid == geteuid() && (s.st_mode & S_IWOTH) == 0 && access(path, W_OK) == 0;
}

// Where the robots of the gallery are kept: the user's cache, or a folder for temporary files; on the heap.
static char *serve_gallery(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *temporary = getenv("TMPDIR");
    char try[3][2000] = {"", "", ""};

    if (cache && cache[0] == '/') {
        snprintf(try[0], sizeof try[0], "%.1900s/pliant/gallery", cache);
    }
    if (home && home[0] == '/') {
        snprintf(try[1], sizeof try[1], "%.1900s/.cache/pliant/gallery", home);
    }
    snprintf(try[2], sizeof try[2], "%.1900s/pliant-gallery-%ld",
             temporary && temporary[0] ? temporary : "/tmp", (long)getuid());
    for (int i = 0; i < 3; ++i) {
        if (try[i][0] && serve_make_folders(try[i])) {
            return cli_join(try[i], ".");
        }
    }

    return NULL;
}

// Called once the page is served.
static void serve_ready(void *user, const char *address)
{
    const cli_args *args = user;
    if (cli_value(args, "json")) {
        json_t *root = cli_json_head(0, NULL);
        json_object_set_new(root, "address", json_string(address));
        cli_json_write(args, root);
    }

    cli_say(args, "The view is at %s\nCtrl-C ends it.\n", address);
    fflush(stdout);
}

static bool serve_stop(void *user)
{
    (void)user;
    return cli_interrupted();
}

// Page, gallery and robot must exist before the port is opened.
static int serve_work(cli_args *args, server_options *o)
{
    char *page = NULL, *three = NULL, *gallery = NULL, *robot = NULL;
    pl_error err = {0};
    int status = CLI_DONE;

    if (server_find_page(&page, &three, &err) != PL_OK) {
        cli_error(args, "%s", err.text);
        return CLI_EXIT_SYSTEM;
    }

    // the robots of the gallery are written where the user may change them
    if (cli_flag(args, "demo")) {
        gallery = serve_gallery();
        if (!gallery) {
            cli_error(args, "cannot create a folder for the gallery in the user's cache or in the folder for "
                            "temporary files; one that belongs to somebody else is not used");
            status = CLI_EXIT_SYSTEM;
        }
    }

    if (status == CLI_DONE && args->plain_count > 0) {
        robot = cli_robot_path(args->plain[0]);
        if (strcmp(args->plain[0], "-") == 0) {
            cli_error(args,
                      "the robot cannot come from standard input: the page reads its file again when it "
                      "changes, and writes to it");
            status = CLI_EXIT_USAGE;
        } else if (!robot) {
            status = cli_no_memory(args);
        } else if (!cli_exists(robot)) {
            cli_error(args, "%s: there is no such file", robot);
            cli_advice("`pliant new bending_finger finger` writes a first robot");
            status = CLI_EXIT_SYSTEM;
        }
    }

    // from here on the server owns the terminal until Ctrl-C
    if (status == CLI_DONE) {
        o->page = page;
        o->three = three;
        o->gallery = gallery;
        o->robot = robot;
        o->ready = serve_ready;
        o->stop = serve_stop;
        o->user = args;
        cli_stage(NULL, false); // a stop lets the solve in hand end
        if (server_run(o, &err) != PL_OK) {
            cli_error(args, "%s", err.text);
            status = CLI_EXIT_SYSTEM;
        }
    }

    free(page);
    free(three);
    free(gallery);
    free(robot);

    return status;
}

static int serve_run(cli_args *args)
{
    server_options o;
    int status = cli_setup(args);
    status = status ? status : serve_read(args, &o);
    return status ? status : serve_work(args, &o);
}
#else
static int serve_run(cli_args *args)
{
    cli_error(args, "this copy of Pliant was built without libwebsockets, which serves the page");
    cli_advice("install libwebsockets-dev (tools/install-deps does it), then build again");
    return CLI_EXIT_SYSTEM;
}
#endif

const cli_verb cli_verb_serve = {
    .name = "serve",
    .summary = "the view in the browser: show the robot, move it, drag a marker",
    .usage = "ROBOT [options] | --demo",
    .about = "Serves a page on this machine and prints its address. Sliders set the commands, a marker can\n"
             "be dragged to a target, and the page is updated when the robot file changes. Any number of\n"
             "viewers may connect; one at a time has the controls. Ctrl-C ends it.",
    .examples = "  pliant serve finger\n"
                "  pliant serve --demo\n"
                "  pliant serve finger --port 0\n"
                "  pliant serve trunk --log run.sqlite     # beside `pliant run trunk ... --out run.sqlite`\n"
                "  pliant serve finger --host 0.0.0.0 --token blue-heron-27     # for other machines in the "
                "network\n",
    .option = options,
    .least = 0,
    .most = 1,
    .run = serve_run,
    .stopping = "stopping",
};
