// WebM and MP4 through ffmpeg. Frames go through a socket, because writing to one does not raise SIGPIPE in
// the program that uses the library.
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "result/result_video.h"

extern char **environ;

pl_status result_video_check(const char *path, pl_error *err)
{
    const char *list = getenv("PATH");
    for (const char *at = list ? list : "/usr/bin:/bin"; at;) {
        const char *end = strchr(at, ':');
        const int length = end ? (int)(end - at) : (int)strlen(at);
        char file[4096];
        snprintf(file, sizeof file, "%.*s/ffmpeg", length, at);
        if (length > 0 && access(file, X_OK) == 0) {
            return PL_OK;
        }
        at = end ? end + 1 : NULL;
    }

    return pl_fail(
        err, PL_BAD_INPUT,
        "%s: needs the program ffmpeg, which is not installed; .gif and NAME_%%04d.png need nothing", path);
}

// Starts ffmpeg, which reads raw pictures from a socket (a pipe that is closed at its end would end the
// program by SIGPIPE).
pl_status result_video_begin(result_video *v, const char *path, int width, int height, int rate,
                             pl_error *err)
{
    const char *dot = strrchr(path, '.');
    const bool mp4 = dot && strcasecmp(dot, ".mp4") == 0;

    *v = (result_video){.file = {.fd = -1}, .socket = -1};
    pl_status status = text_stream_open(&v->file, path, err);
    int pair[2] = {-1, -1};
    v->path = pl_strdup(path);
    if (status == PL_OK && !v->path) {
        status = pl_fail_memory(err, path);
    }
    if (status == PL_OK && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        status = pl_fail(err, PL_FAILED, "%s: no socket for ffmpeg: %s", path, strerror(errno));
    }
    if (status != PL_OK) {
        return status;
    }
    v->socket = pair[0];

    // the picture as it comes, and codecs that every player knows; constant quality
    char size[40], frames[20];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(frames, sizeof frames, "%d", rate);
    const char *word[] = {"ffmpeg",
                          "-loglevel",
                          "error",
                          "-y",
                          "-f",
                          "rawvideo",
                          "-pix_fmt",
                          "bgr0",
                          "-s",
                          size,
                          "-r",
                          frames,
                          "-i",
                          "pipe:0",
                          "-an",
                          "-c:v",
                          mp4 ? "libx264" : "libvpx-vp9",
                          "-crf",
                          mp4 ? "20" : "28",
                          mp4 ? "-preset" : "-b:v",
                          mp4 ? "medium" : "0",
                          "-pix_fmt",
                          "yuv420p",
                          "-f",
                          mp4 ? "mp4" : "webm",
                          v->file.name,
                          NULL};

    // what ffmpeg prints is not shown: it would stand between our own lines
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, pair[1], 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", 1, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", 1, 0);
    const int failed = posix_spawnp(&v->process, word[0], &files, NULL, (char *const *)word, environ);
    posix_spawn_file_actions_destroy(&files);
    close(pair[1]);
    if (failed) {
        v->process = 0;
        return pl_fail(err, PL_FAILED, "%s: ffmpeg cannot be started: %s", path, strerror(failed));
    }

    return PL_OK;
}

pl_status result_video_put(result_video *v, const unsigned char *data, size_t bytes, pl_error *err)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = send(v->socket, data + done, bytes - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return pl_fail(err, PL_BAD_FILE,
                           "%s: cannot be written: ffmpeg ended early (no codec for it, or a full disk)",
                           v->path);
        }

        done += n > 0 ? (size_t)n : 0;
    }

    return PL_OK;
}

static int video_wait(result_video *v)
{
    int how = -1;
    if (v->socket >= 0) {
        close(v->socket);
        v->socket = -1;
    }

    while (v->process > 0 && waitpid(v->process, &how, 0) < 0 && errno == EINTR) {
    }
    v->process = 0;
    return how;
}

pl_status result_video_end(result_video *v, pl_error *err)
{
    const int how = video_wait(v);
    const pl_status status =
        WIFEXITED(how) && WEXITSTATUS(how) == 0
            ? text_stream_close(&v->file, "", 0, err)
            : pl_fail(err, PL_BAD_FILE,
                      "%s: cannot be written: ffmpeg failed (no codec for it, or a full disk)", v->path);

    result_video_clear(v);
    return status;
}

void result_video_clear(result_video *v)
{
    if (v->process > 0) {
        kill(v->process, SIGTERM);
        video_wait(v);
    }

    if (v->socket >= 0) {
        close(v->socket);
    }
    text_stream_clear(&v->file);
    pl_free(v->path);
    *v = (result_video){.file = {.fd = -1}, .socket = -1};
}
