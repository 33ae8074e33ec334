// Volume meshes in Gmsh's file formats: reading MSH 2.2 and 4.1 and UNV. Gmsh takes what it does not
// recognise for a script and runs it, so headers and counts are checked before it sees a file.
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "meshing/meshing.h"
#include "meshing/meshing_child.h"
#include "meshing/meshing_impl.h"

// ---- the bytes of a file. The caller frees them with pl_free.
pl_status meshing_load(const char *path, file_bytes *bytes, pl_error *err)
{
    *bytes = (file_bytes){0};

    // a named pipe would be waited for, for ever
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
        close(fd);
        return pl_fail(err, PL_BAD_INPUT, "%s: is a %s, expected a file", path,
                       S_ISDIR(info.st_mode) ? "folder" : "pipe or a device");
    }

    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (!file) {
        pl_fail(err, PL_BAD_FILE, "%s: cannot be opened: %s", path, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return PL_BAD_FILE;
    }

    // its size, then all at once
    long size = -1;
    if (fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
        rewind(file);
    }

    pl_status status = size > 0 && size != LONG_MAX ? PL_OK : pl_fail(err, PL_BAD_FILE, "%s: is empty", path);
    if (status == PL_OK && !(bytes->data = pl_alloc((size_t)size + 1))) {
        status = pl_fail_memory(err, path);
    }

    if (status == PL_OK) {
        bytes->size = fread(bytes->data, 1, (size_t)size, file);
        if (bytes->size != (size_t)size) {
            status = pl_fail(err, PL_BAD_FILE, "%s: %zu of %ld bytes could be read", path, bytes->size, size);
            pl_free(bytes->data);
            bytes->data = NULL;
        }
    }

    fclose(file);

    return status;
}

// The place of a line that starts with `word`, or NULL; bytes of binary sections may be in between.
static const char *files_line(const file_bytes *bytes, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = bytes->data, *end = p + bytes->size; p && p + length <= end;) {
        if (memcmp(p, word, length) == 0) {
            return p;
        }
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }

    return NULL;
}

const char *meshing_extension(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot + 1 : "";
}

// ---- headers
// Format line and sections that a mesh needs; then counts and contents.
static pl_status files_check_msh(const char *path, const file_bytes *bytes, pl_error *err)
{
    if (strncmp(bytes->data, "$MeshFormat", 11) != 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s:1: begins with \"%.20s\", expected $MeshFormat", path,
                       isprint((unsigned char)bytes->data[0]) ? bytes->data : "(no text)");
    }

    const char *line = strchr(bytes->data, '\n');
    char *rest = NULL;
    const double version = line ? pl_real_read(line, &rest) : 0;
    int type = -1, size = 0;
    if (!line || rest == line || sscanf(rest, "%d %d", &type, &size) != 2) {
        return pl_fail(err, PL_BAD_INPUT, "%s:2: expected version, file type and data size, such as 4.1 0 8",
                       path);
    }

    if ((fabs(version - 2.2) > 1e-9 && fabs(version - 4.1) > 1e-9) || (type != 0 && type != 1) || size != 8) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s:2: MSH version %g, type %d, data size %d; expected 2.2 or 4.1, 0 or 1, 8", path,
                       version, type, size);
    }

    static const char *const section[] = {"$Nodes", "$EndNodes", "$Elements", "$EndElements"};
    for (int i = 0; i < PL_COUNT(section); ++i) {
        if (!files_line(bytes, section[i])) {
            return pl_fail(err, PL_BAD_INPUT, "%s: has no line %s; the file is truncated or contains no mesh",
                           path, section[i]);
        }
    }

    return meshing_check_msh(path, bytes, type == 1, version > 3, err);
}

// By extension.
static pl_status files_check(const char *path, pl_error *err)
{
    static const struct {
        const char *extension;
        pl_status (*check)(const char *path, const file_bytes *bytes, pl_error *err);
    } format[] = {{"msh", files_check_msh}, {"unv", meshing_check_unv}};

    for (int i = 0; i < PL_COUNT(format); ++i) {
        if (strcasecmp(meshing_extension(path), format[i].extension) == 0) {
            file_bytes bytes;
            pl_status status = meshing_load(path, &bytes, err);
            if (status == PL_OK) {
                status = format[i].check(path, &bytes, err);
            }
            pl_free(bytes.data);
            return status;
        }
    }

    return pl_fail(err, PL_BAD_INPUT,
                   "%s: .%s is read by the core, not through Gmsh (which reads .msh, .vtk, .unv)", path,
                   meshing_extension(path));
}

// Arguments of files_read.
typedef struct files_job {
    const char *path;
    double unit; // mm per unit of the file
} files_job;

// In the mesher's process.
static pl_status files_read(void *user, const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                            pl_error *err)
{
    const files_job *job = user;
    pl_status status = meshing_stage(progress, 0.1, "reading the mesh", err);
    gmsh_session g;

    if (status == PL_OK) {
        status = meshing_begin(&g, err);
    }
    if (status != PL_OK) {
        return status;
    }

    pl_mesh_report report = {0};
    if (GMSH(&g, gmshMerge(job->path, &g.ierr))) {
        const extract_options extract = {.scale = job->unit, .source = job->path, .body = "body"};
        status = meshing_extract(&g, &extract, out, &report, err);
    } else {
        status = meshing_fail(&g, job->path, err);
    }

    meshing_end(&g);
    if (status == PL_OK) {
        pl_mesh_report_findings(&report, job->path, findings);
    }

    return status;
}

// mm; VTK is read by ourselves, everything else by Gmsh after it was checked.
pl_status pl_meshing_read(const char *path, double unit, pl_mesh **out, pl_findings *findings, pl_error *err)
{
    *out = NULL;
    if (!(unit > 0) || isinf(unit)) {
        return pl_fail(err, PL_BAD_INPUT, "%s: unit is %g mm, expected a positive length", path, unit);
    }

    if (strcasecmp(meshing_extension(path), "vtk") == 0) {
        pl_mesh_report report = {0};
        const pl_status status = meshing_read_vtk(path, unit, out, &report, err);
        if (status == PL_OK) {
            pl_mesh_report_findings(&report, path, findings);
        }
        return status;
    }

    const pl_status status = files_check(path, err);
    if (status != PL_OK) {
        return status;
    }

    files_job work = {path, unit};
    const child_job job = {path, files_read, &work, NULL};

    return meshing_isolate(&job, NULL, out, findings, err);
}
