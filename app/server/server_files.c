// Files on disk that the server looks at: the page, the robots of the gallery, and when a robot's files
// change.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "server_impl.h"

static char *files_join(const char *folder, const char *name)
{
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    if (path) {
        sprintf(path, "%s/%s", folder, name);
    }
    return path;
}

static bool files_exist(const char *folder, const char *name)
{
    char *path = files_join(folder, name);
    const bool there = path && access(path, R_OK) == 0;
    free(path);
    return there;
}

// ---- the page
// Folder `tail` seen from the folder of the running program, on the heap.
static char *files_beside_program(const char *tail)
{
    char path[4000];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    if (length <= 0) {
        return NULL;
    }
    path[length] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) {
        return NULL;
    }
    *slash = 0;

    return files_join(path, tail);
}

// Takes `folder` over when the page lies in it.
static bool files_accept(char *folder, char **page, char **three)
{
    if (!folder || *page || !files_exist(folder, "index.html")) {
        free(folder);
        return false;
    }

    *page = folder;

    // installed beside the page, or where npm puts it
    static const char *const place[] = {"three", "node_modules/three"};
    for (int i = 0; i < 2 && !*three; ++i) {
        char *candidate = files_join(folder, place[i]);
        if (candidate && files_exist(candidate, "build/three.module.js")) {
            *three = candidate;
        } else {
            free(candidate);
        }
    }

    return true;
}

pl_status server_find_page(char **page, char **three, pl_error *err)
{
    const char *given = getenv("PLIANT_WEB");
    *page = *three = NULL;
    if (given && given[0]) {
        files_accept(files_join(given, "."), page, three);
        if (!*page) {
            return server_fail(err, PL_BAD_FILE, "PLIANT_WEB is %s, but it contains no index.html", given);
        }
    }
    files_accept(files_beside_program("../share/pliant/web"), page, three);
    files_accept(files_beside_program("../web"), page, three);
#ifdef PLIANT_WEB_SOURCE
    files_accept(files_join(PLIANT_WEB_SOURCE, "."), page, three);
#endif
    if (!*page) {
        return server_fail(
            err, PL_BAD_FILE,
            "the page is missing: no index.html in ../share/pliant/web next to the program; set "
            "PLIANT_WEB to its folder");
    }
    if (!*three) {
        pl_status status = server_fail(err, PL_BAD_FILE,
                                       "three.js, which draws the page, is not installed in %s: run "
                                       "tools/install-web (it needs npm), then install Pliant again",
                                       *page);
        free(*page);
        *page = NULL;
        return status;
    }
    return PL_OK;
}

// ---- changes on disk
static uint64_t files_mix(uint64_t h, uint64_t value)
{
    h ^= value + UINT64_C(0x9e3779b97f4a7c15) + (h << 6) + (h >> 2);
    return h;
}

static uint64_t files_stamp_one(const char *path, uint64_t h)
{
    struct stat s;
    if (stat(path, &s) != 0) {
        return files_mix(h, 1);
    }
    h = files_mix(h, (uint64_t)s.st_size);
    h = files_mix(h, (uint64_t)s.st_mtim.tv_sec);
    return files_mix(h, (uint64_t)s.st_mtim.tv_nsec);
}

uint64_t server_files_stamp(const char *robot_path)
{
    uint64_t h = files_stamp_one(robot_path, 0);
    char *text = NULL;
    size_t bytes = 0;

    if (pl_file_read(robot_path, &text, &bytes, NULL) != PL_OK) {
        return h;
    }

    char *folder = malloc(strlen(robot_path) + 2);
    if (folder) {
        strcpy(folder, robot_path);
        char *slash = strrchr(folder, '/');
        strcpy(slash ? slash : folder, slash ? "" : ".");
    }

    DIR *dir = folder ? opendir(folder[0] ? folder : "/") : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        // a robot file knows the others by their names
        if (entry->d_name[0] != '.' && strstr(text, entry->d_name)) {
            char *path = files_join(folder, entry->d_name);
            h += path ? files_stamp_one(path, strlen(entry->d_name)) : 0; // in whatever order they are listed
            free(path);
        }
    }

    if (dir) {
        closedir(dir);
    }
    free(folder);
    pl_file_free(text);

    return h;
}

// ---- the gallery: designs with a mesh, then those without
static int gallery_count(void)
{
    return pl_design_count() + pl_reduced_design_count();
}

static pl_reduced_design gallery_at(int i)
{
    if (i < pl_design_count()) {
        const pl_design *d = pl_design_at(i);
        return (pl_reduced_design){d->kind, d->summary, d->robot_yaml};
    }
    return *pl_reduced_design_at(i - pl_design_count());
}

char *server_gallery_path(const char *gallery, const char *kind)
{
    char *path = NULL;
    for (int i = 0; gallery && !path && i < gallery_count(); ++i) {
        if (strcmp(gallery_at(i).kind, kind) == 0) {
            char *folder = files_join(gallery, kind);
            path = folder ? files_join(folder, "robot.yaml") : NULL;
            free(folder);
        }
    }

    return path;
}

// Leaves a file alone that says the same already, so that its mesh stays in the cache.
static pl_status gallery_write_one(const char *gallery, const pl_reduced_design *design, pl_error *err)
{
    char *folder = files_join(gallery, design->kind), *path = server_gallery_path(gallery, design->kind);
    pl_status status = PL_OK;

    if (!folder || !path) {
        status = server_fail(err, PL_NO_MEMORY, "no memory for the gallery");
    } else if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        status =
            server_fail(err, PL_BAD_FILE, "the folder %s cannot be created: %s", folder, strerror(errno));
    } else {
        char *text = NULL;
        size_t bytes = 0;
        const size_t length = strlen(design->robot_yaml);
        const bool same = access(path, R_OK) == 0 && pl_file_read(path, &text, &bytes, NULL) == PL_OK &&
                          bytes == length && memcmp(text, design->robot_yaml, length) == 0;
        pl_file_free(text);
        status = same ? PL_OK : pl_file_write(path, design->robot_yaml, length, err);
    }

    free(folder);
    free(path);

    return status;
}

pl_status server_gallery_write(const char *gallery, pl_error *err)
{
    for (int i = 0; i < gallery_count(); ++i) {
        const pl_reduced_design design = gallery_at(i);
        const pl_status status = gallery_write_one(gallery, &design, err);
        if (status != PL_OK) {
            return status;
        }
    }
    return PL_OK;
}

json_t *server_gallery_json(const char *gallery)
{
    json_t *list = json_array();
    for (int i = 0; gallery && i < gallery_count(); ++i) {
        const pl_reduced_design d = gallery_at(i);
        const pl_design *meshed = i < pl_design_count() ? pl_design_at(i) : NULL;
        json_array_append_new(list, json_pack("{s:s,s:s,s:s}", "kind", d.kind, "summary", d.summary, "group",
                                              !meshed             ? "model"
                                              : meshed->test_body ? "test"
                                                                  : "robot"));
    }

    return list;
}

// ---- files written and read back at once
pl_status server_temporary(char *folder, size_t room, pl_error *err)
{
    const char *root = getenv("TMPDIR");
    root = root && root[0] ? root : "/tmp";
    snprintf(folder, room, "%.300s/pliant-XXXXXX", root);
    return mkdtemp(folder)
               ? PL_OK
               : server_fail(err, PL_BAD_FILE, "cannot create a folder for a file in %.300s", root);
}

pl_status server_path_read(const char *text, const char *name, pl_path_file *out, pl_error *err)
{
    char folder[400], path[420];
    pl_error own = {0};
    pl_status status = server_temporary(folder, sizeof folder, err);

    if (status != PL_OK) {
        return status;
    }
    snprintf(path, sizeof path, "%s/path.csv", folder);
    FILE *file = fopen(path, "w");
    const bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file) == 0 && written) {
        status = pl_path_read(path, out, &own);
    } else {
        status = server_fail(&own, PL_BAD_FILE, "the path cannot be kept for reading");
    }

    unlink(path);
    rmdir(folder);
    if (status != PL_OK) {
        // the viewer knows the file by its own name
        const char *rest = strncmp(own.text, path, strlen(path)) == 0 ? own.text + strlen(path) : own.text;
        server_fail(err, status, "%.100s%s%.300s", name, rest == own.text ? ": " : "", rest);
    }

    return status;
}
