// Files as blocks of bytes: reading whole, writing beside the target and renaming, so that nobody ever sees
// half a file.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "pliant/io.h"

// Reads until the end of `fd`; `expected` is a first guess of the size (0 for pipes).
static pl_status file_drain(int fd, size_t expected, const char *path, char **data, size_t *bytes,
                            pl_error *err)
{
    size_t room = expected + 1, length = 0;
    char *block = pl_alloc_array(room + 1, 1);
    while (block) {
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

pl_status pl_file_read(const char *path, char **data, size_t *bytes, pl_error *err)
{
    *data = NULL;
    *bytes = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return pl_fail(err, PL_BAD_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    }
    struct stat info;
    pl_status status;
    if (fstat(fd, &info) != 0) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be examined: %s", path, strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        status = pl_fail(err, PL_BAD_FILE, "%s: is a folder, expected a file", path);
    } else {
        status = file_drain(fd, S_ISREG(info.st_mode) ? (size_t)info.st_size : 0, path, data, bytes, err);
    }
    close(fd);
    return status;
}

void pl_file_free(char *data)
{
    pl_free(data);
}

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

// Opens a new file beside `path`; its name comes back in `name`. The mode obeys the umask.
static int file_open_beside(const char *path, char *name, size_t room)
{
    for (unsigned attempt = 0; attempt < 1000; ++attempt) {
        const unsigned salt = (unsigned)(uint64_t)(pl_seconds() * 1e6) * 2654435761u + attempt;
        if (snprintf(name, room, "%s.tmp%ld-%08x", path, (long)getpid(), salt) >= (int)room) {
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

// A device or a pipe cannot be replaced by renaming: write straight into it.
static pl_status file_write_through(const char *path, const void *data, size_t bytes, pl_error *err)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool good = fd >= 0 && file_put(fd, data, bytes);
    const int why = errno;
    if (fd >= 0) {
        close(fd);
    }
    return good ? PL_OK : pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", path, strerror(why));
}

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
