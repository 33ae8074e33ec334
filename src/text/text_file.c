// Files as blocks of bytes: reading whole, writing beside the target and renaming, so that nobody ever sees
// half a file.
#define _DEFAULT_SOURCE // getentropy is POSIX 2024; asked for beside C17
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "text/text_file.h"

#define FILE_SILENCE 10000              // ms a pipe may say nothing
#define FILE_STREAM ((size_t)512 << 20) // bytes a pipe or a device may give

// Whether there is more to read from a pipe, or its end; false: nothing came.
static bool file_wait(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int ready;
    do {
        ready = poll(&wait, 1, FILE_SILENCE);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

// Reads until the end of `fd`; `expected` is a first guess of the size (0 for pipes).
static pl_status file_drain(int fd, size_t expected, bool stream, const char *path, char **data,
                            size_t *bytes, pl_error *err)
{
    size_t room = expected + 1, length = 0;

    // + 1 for the NUL
    char *block = pl_alloc_array(room + 1, 1);

    while (block) {
        if (stream && length > FILE_STREAM) {
            pl_free(block);
            return pl_fail(err, PL_BAD_FILE, "%s: gives more than %zu MB and is not a file", path,
                           FILE_STREAM >> 20);
        }

        // doubled, so that the number of copies stays small
        if (length == room) {
            char *larger = pl_resize_array(block, 2 * room + 4096 + 1, 1);
            if (!larger) {
                break;
            }
            block = larger;
            room = 2 * room + 4096;
        }

        const ssize_t got = read(fd, block + length, room - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        // a pipe that gives nothing at the moment
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (file_wait(fd)) {
                continue;
            }
            pl_free(block);
            return pl_fail(err, PL_BAD_FILE, "%s: is a pipe that received no data for %d s", path,
                           FILE_SILENCE / 1000);
        }

        if (got < 0) {
            pl_free(block);
            return pl_fail(err, PL_BAD_FILE, "%s: reading failed: %s", path, strerror(errno));
        }

        if (got == 0) {
            block[length] = '\0';
            *data = block;
            *bytes = length;
            return PL_OK;
        }

        length += (size_t)got;
    }

    pl_free(block);
    return pl_fail_memory(err, path);
}

// *data ends with a NUL behind *bytes bytes; free it with pl_file_free.
pl_status pl_file_read(const char *path, char **data, size_t *bytes, pl_error *err)
{
    *data = NULL;
    *bytes = 0;

    // without O_NONBLOCK a named pipe that nobody writes into would be waited for, for ever
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return pl_fail(err, PL_BAD_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    }

    struct stat info;
    pl_status status;

    // standard input and what a shell makes of <(...) may be pipes; files of a robot may not
    const bool shell = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
    if (fstat(fd, &info) != 0) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be examined: %s", path, strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: is a folder, expected a file", path);
    } else if (!S_ISREG(info.st_mode) && !shell) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: is a %s, expected a file", path,
                         S_ISFIFO(info.st_mode) ? "named pipe" : "device");
    } else {
        const bool stream = !S_ISREG(info.st_mode);
        status = file_drain(fd, stream ? 0 : (size_t)info.st_size, stream, path, data, bytes, err);
    }

    close(fd);

    return status;
}

void pl_file_free(char *data)
{
    pl_free(data);
}

// write() may take less than it is given.
static bool file_put(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t put = write(fd, data, bytes);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        if (put > 0) {
            data += put;
            bytes -= (size_t)put;
        }
    }

    return true;
}

// Opens a new file beside `path` under a name that cannot be guessed; it comes back in `name`. O_EXCL follows
// no link. The mode obeys the umask.
static int file_open_beside(const char *path, char *name, size_t room)
{
    for (int attempt = 0; attempt < 100; ++attempt) {
        unsigned char salt[8];
        if (getentropy(salt, sizeof salt) != 0) {
            return -1;
        }
        uint64_t word;
        memcpy(&word, salt, sizeof word);
        if (snprintf(name, room, "%s.tmp%016" PRIx64, path, word) >= (int)room) {
            errno = ENAMETOOLONG;
            return -1;
        }

        const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }

    return -1;
}

// A device or a pipe cannot be replaced by renaming: write straight into it. A named pipe that nobody reads
// would be waited for, for ever: without O_NONBLOCK already when it is opened.
static pl_status file_write_through(const char *path, const void *data, size_t bytes, pl_error *err)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENXIO) {
        return pl_fail(err, PL_BAD_FILE, "%s: cannot be written: is a named pipe without a reader", path);
    }

    bool good = fd >= 0 && fcntl(fd, F_SETFL, O_WRONLY) == 0 && file_put(fd, data, bytes);
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        why = errno;
    }

    return good ? PL_OK : pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", path, strerror(why));
}

pl_status text_regular(const char *path, pl_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode)) {
        return PL_OK;
    }
    return pl_fail(err, PL_BAD_FILE, "%s: is a %s, expected a file", path,
                   S_ISDIR(info.st_mode)    ? "folder"
                   : S_ISFIFO(info.st_mode) ? "named pipe"
                                            : "device");
}

// SQLite follows the names of its side files, too.
pl_status text_database_regular(const char *path, pl_error *err)
{
    static const char *const tail[] = {"", "-journal", "-wal", "-shm"};
    pl_status status = PL_OK;

    for (int i = 0; status == PL_OK && i < PL_COUNT(tail); ++i) {
        pl_text name = {0};
        pl_text_add(&name, "%s%s", path, tail[i]);
        status = name.failed ? pl_fail_memory(err, path) : text_regular(name.data, err);
        pl_text_clear(&name);
    }

    return status;
}

// ---- files written piece by piece
// Data go to a file beside the target.
pl_status text_stream_open(text_stream *s, const char *path, pl_error *err)
{
    struct stat info;
    *s = (text_stream){.fd = -1, .path = pl_strdup(path)};
    if (!s->path) {
        return pl_fail_memory(err, path);
    }
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        return pl_fail(err, PL_BAD_FILE, "%s: cannot be written: is not a file", path);
    }
    s->fd = file_open_beside(path, s->name, sizeof s->name);

    return s->fd >= 0 ? PL_OK : pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", path, strerror(errno));
}

pl_status text_stream_put(text_stream *s, const void *data, size_t bytes, pl_error *err)
{
    if (s->fd < 0 || !file_put(s->fd, data, bytes)) {
        return pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", s->path,
                       s->fd < 0 ? "it was given up" : strerror(errno));
    }

    s->length += bytes;
    return PL_OK;
}

// The head is written last, so that a file that ends early has none and is not taken for complete.
pl_status text_stream_close(text_stream *s, const void *head, size_t bytes, pl_error *err)
{
    bool good = s->fd >= 0 && lseek(s->fd, 0, SEEK_SET) == 0 && file_put(s->fd, head, bytes);
    int why = errno;

    if (s->fd >= 0 && close(s->fd) != 0 && good) {
        good = false;
        why = errno;
    }

    s->fd = -1;
    if (good && rename(s->name, s->path) != 0) {
        good = false;
        why = errno;
    }

    // nothing is left to remove
    if (good) {
        s->name[0] = 0;
    }

    return good ? PL_OK : pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", s->path, strerror(why));
}

void text_stream_clear(text_stream *s)
{
    if (s->fd >= 0 && s->path) {
        close(s->fd);
    }
    if (s->name[0]) {
        unlink(s->name);
    }
    pl_free(s->path);
    *s = (text_stream){.fd = -1};
}

// Readers see the old file or the whole new one; devices and pipes are written straight.
pl_status pl_file_write(const char *path, const void *data, size_t bytes, pl_error *err)
{
    struct stat info;
    const bool exists = stat(path, &info) == 0;

    if (exists && S_ISDIR(info.st_mode)) {
        return pl_fail(err, PL_BAD_FILE, "%s: is a folder, expected a file name", path);
    }
    if (exists && !S_ISREG(info.st_mode)) {
        return file_write_through(path, data, bytes, err);
    }

    char name[4096];
    const int fd = file_open_beside(path, name, sizeof name);
    if (fd < 0) {
        return pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", path, strerror(errno));
    }

    // an existing file keeps its permissions
    bool good = file_put(fd, data, bytes);
    int why = errno;
    if (good && exists && fchmod(fd, info.st_mode & 07777) != 0) {
        good = false;
        why = errno;
    }

    if (close(fd) != 0 && good) {
        good = false;
        why = errno;
    }

    if (good && rename(name, path) != 0) {
        good = false;
        why = errno;
    }

    if (!good) {
        unlink(name);
        return pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", path, strerror(why));
    }

    return PL_OK;
}
