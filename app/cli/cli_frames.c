// Image files of several cameras.
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include "cli_frames.h"

void cli_frames_clear(cli_frames *f)
{
    for (int k = 0; k < f->count; ++k) {
        free(f->key[k]);
        for (int c = 0; c < f->cameras; ++c) {
            free(f->path[c][k]);
        }
    }

    free(f->key);
    for (int c = 0; c < CLI_CAMERAS; ++c) {
        free(f->path[c]);
    }
    *f = (cli_frames){0};
}

static char *text_copy(const char *from, size_t length)
{
    char *to = malloc(length + 1);
    if (to) {
        memcpy(to, from, length);
        to[length] = 0;
    }

    return to;
}

// The frame with this key, added where there is none; -1: no memory.
static int frames_at(cli_frames *f, const char *key, size_t length)
{
    for (int k = 0; k < f->count; ++k) {
        if (strlen(f->key[k]) == length && memcmp(f->key[k], key, length) == 0) {
            return k;
        }
    }

    char **keys = realloc(f->key, (size_t)(f->count + 1) * sizeof *keys), *own = text_copy(key, length);
    f->key = keys ? keys : f->key;
    bool enough = keys && own;

    for (int c = 0; c < f->cameras; ++c) {
        char **paths = realloc(f->path[c], (size_t)(f->count + 1) * sizeof *paths);
        f->path[c] = paths ? paths : f->path[c];
        enough = enough && paths;
    }

    if (!enough) {
        free(own);
        return -1;
    }

    for (int c = 0; c < f->cameras; ++c) {
        f->path[c][f->count] = NULL;
    }
    f->key[f->count] = own;

    return f->count++;
}

static int frames_add(const cli_args *args, const char *pattern, int camera, cli_frames *f)
{
    const char *star = strchr(pattern, '*');
    glob_t found = {0};

    if (!star || strchr(star + 1, '*') || strpbrk(pattern, "?[")) {
        cli_error(args, "'%s': expected a pattern with one *, such as 'left_*.png' (in quotes), per camera",
                  pattern);
        return CLI_EXIT_USAGE;
    }

    if (glob(pattern, 0, NULL, &found) != 0) {
        globfree(&found);
        cli_error(args, "'%s': no such files", pattern);
        return CLI_EXIT_SYSTEM;
    }

    int status = CLI_DONE;
    for (size_t i = 0; status == CLI_DONE && i < found.gl_pathc; ++i) {
        const char *path = found.gl_pathv[i];
        const size_t before = (size_t)(star - pattern), after = strlen(star + 1);
        const int k = frames_at(f, path + before, strlen(path) - before - after);
        if (k >= 0) {
            f->path[camera][k] = text_copy(path, strlen(path));
        }
        if (k < 0 || !f->path[camera][k]) {
            cli_error(args, "no memory for the names of the images");
            status = CLI_EXIT_SYSTEM;
        }
    }

    globfree(&found);

    return status;
}

int cli_frames_find(const cli_args *args, int first, cli_frames *out)
{
    *out = (cli_frames){.cameras = args->plain_count - first};
    if (out->cameras < 1 || out->cameras > CLI_CAMERAS) {
        cli_error(args,
                  "expected a pattern of images per camera, such as 'left_*.png' 'right_*.png'; at most %d",
                  CLI_CAMERAS);
        return CLI_EXIT_USAGE;
    }

    int status = CLI_DONE;
    for (int c = 0; status == CLI_DONE && c < out->cameras; ++c) {
        status = frames_add(args, args->plain[first + c], c, out);
    }
    if (status) {
        cli_frames_clear(out);
    }

    return status;
}
