// Files: paths, and the judgement of every output before the work begins, so that no run is lost to a typing
// error and no input is overwritten.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli.h"

// With the dot; that of the file name, not of a folder.
const char *cli_extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot : "";
}

bool cli_exists(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

char *cli_join(const char *folder, const char *name)
{
    const size_t n = strlen(folder);
    char *path = malloc(n + strlen(name) + 2);

    if (path) {
        const bool bare = n == 0 || name[0] == '/';
        sprintf(path, "%s%s%s", bare ? "" : folder, bare || folder[n - 1] == '/' ? "" : "/", name);
    }

    return path;
}

char *cli_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) : 0;
    char *folder = malloc(n + 2);

    if (folder) {
        memcpy(folder, path, n);
        folder[n] = 0;
        if (!slash) {
            strcpy(folder, ".");
        } else if (n == 0) {
            strcpy(folder, "/");
        }
    }

    return folder;
}

const char *cli_out(const cli_args *args, const char *extension)
{
    int cursor = 0;
    const char *found = NULL;
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        found = strcasecmp(cli_extension(path), extension) == 0 ? path : found;
    }
    return found;
}

// The same file, whatever the path.
static bool files_same(const char *a, const char *b)
{
    struct stat s, t;
    return stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

// Whether any word of the robot file names the file `path`: meshes, surfaces and CAD are what it is made
// from.
static bool files_named_in(const char *robot_path, const char *path)
{
    char *text = NULL, *folder = cli_folder(robot_path);
    size_t bytes = 0;
    pl_error err;
    bool found = false;

    if (folder && pl_file_read(robot_path, &text, &bytes, &err) == PL_OK) {
        static const char breaks[] = " \t\r\n,{}[]\"'";
        for (size_t i = 0; i < bytes && !found; ++i) {
            char word[512];
            size_t n = 0;
            while (i + n < bytes && text[i + n] && !strchr(breaks, text[i + n])) {
                ++n;
            }
            if (n > 0 && n < sizeof word) {
                memcpy(word, text + i, n);
                word[n] = 0;
                char *full = cli_join(folder, word);
                found = full && cli_extension(word)[0] && files_same(full, path);
                free(full);
            }

            i += n;
        }
    }

    pl_file_free(text);
    free(folder);
    return found;
}

// Suggests what is possible.
static int files_check_extension(const cli_args *args, const char *path, const char *const *extensions)
{
    char list[200] = "";
    for (int i = 0; extensions[i]; ++i) {
        // numbered pictures belong to the films
        if (strcasecmp(cli_extension(path), extensions[i]) == 0 ||
            (strcmp(extensions[i], ".gif") == 0 && cli_series_is(path))) {
            return CLI_DONE;
        }

        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", extensions[i]);
    }

    cli_error(args, "--out %s: unknown extension, expected one of %s", path, list);
    return CLI_EXIT_USAGE;
}

// Found out before the work, not after it.
static int files_check_place(const cli_args *args, const char *option, const char *path)
{
    struct stat s;
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
        cli_error(args, "--%s %s is a folder, expected a file", option, path);
        return CLI_EXIT_USAGE;
    }

    char *folder = cli_folder(path);
    if (!folder) {
        return cli_no_memory(args);
    }

    int status = CLI_DONE;
    if (access(folder, W_OK) != 0) {
        if (errno == ENOENT) {
            cli_error(args, "--%s %s: there is no folder %s", option, path, folder);
        } else {
            cli_error(args, "--%s %s: the folder %s is not writable: %s", option, path, folder,
                      strerror(errno));
        }

        status = CLI_EXIT_SYSTEM;
    }

    free(folder);

    return status;
}

// Inputs of the run must not be replaced without --force.
static int files_check_input(const cli_args *args, const char *option, const char *path,
                             const char *robot_path, const char *input)
{
    if (cli_flag(args, "force") || !cli_exists(path)) {
        return CLI_DONE;
    }

    const char *what = NULL;
    if (robot_path && files_same(path, robot_path)) {
        what = "is the robot file itself";
    } else if (input && files_same(path, input)) {
        what = "is an input of this run";
    } else if (robot_path && files_named_in(robot_path, path)) {
        what = "is an input file of the robot";
    }

    if (!what) {
        return CLI_DONE;
    }
    cli_error(args, "--%s %s %s and would be overwritten", option, path, what);
    cli_advice("choose another name, or add --force");

    return CLI_EXIT_USAGE;
}

int cli_check_outputs(const cli_args *args, const char *const *extensions, const char *robot_path,
                      const char *input)
{
    static const char *const outputs[] = {"out", "json", "histogram", "follow-arc", "save-state", "state"};
    const int states = 4; // the first of those that may be read and replaced: that is what they are for
    for (int k = 0; k < (int)(sizeof outputs / sizeof outputs[0]); ++k) {
        int cursor = 0;

        for (const char *path; (path = cli_next(args, outputs[k], &cursor));) {
            int status = CLI_DONE;
            if (k == 1 && strcmp(path, "-") == 0) {
                continue;
            }
            if (k == 0 && extensions) {
                status = files_check_extension(args, path, extensions);
            }
            status = status ? status : files_check_place(args, outputs[k], path);
            pl_error err = {0};
            if (!status && pl_result_check(path, &err) != PL_OK) {
                status = cli_fail(args, &err);
            }
            status = status
                         ? status
                         : files_check_input(args, outputs[k], path, robot_path, k < states ? input : NULL);
            if (status) {
                return status;
            }
        }
    }

    return CLI_DONE;
}

int cli_file_finish(const cli_args *args, const char *path, FILE *memory, char **text, const size_t *bytes)
{
    pl_error err = {.status = PL_NO_MEMORY};
    const bool failed = ferror(memory);

    // text and bytes are final only after the file was closed
    const bool good = fclose(memory) == 0 && !failed && pl_file_write(path, *text, *bytes, &err) == PL_OK;
    free(*text);
    *text = NULL;
    if (good) {
        cli_say(args, "  wrote %s\n", path);
    }

    return good ? CLI_DONE : cli_fail(args, &err);
}
