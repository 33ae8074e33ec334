// The fingerprint of a robot file: whether what determines its results has changed, without building it.
#include <stdio.h>
#include <sys/stat.h>
#include "io/io_robot.h"

// Blocks that do not change the results of a solve.
static bool print_ignores(const char *key)
{
    static const char *const list[] = {"pliant", "name", "hardware", "estimator", "controller", "plant"};
    for (int i = 0; key && i < PL_COUNT(list); ++i) {
        if (strcmp(key, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

static uint64_t print_text(uint64_t h, const char *text)
{
    return text ? pl_hash_bytes(h, text, strlen(text) + 1) : pl_hash_bytes(h, "", 1);
}

// A scalar that names a file (a mesh, a part, a curve) stands for its contents.
static uint64_t print_named_file(uint64_t h, const io_robot_file *f, const char *name)
{
    char path[4096], *data = NULL;
    size_t bytes = 0;
    struct stat info;
    const int n = snprintf(path, sizeof path, "%s%s", name[0] == '/' ? "" : f->folder, name);
    if (n < 0 || n >= (int)sizeof path || stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        pl_file_read(path, &data, &bytes, NULL) != PL_OK) {
        return h;
    }
    h = pl_hash_bytes(h, data, bytes);
    pl_file_free(data);
    return h;
}

static uint64_t print_node(uint64_t h, const io_robot_file *f, const io_node *node, bool top)
{
    const int kind = node->kind;
    h = pl_hash_bytes(h, &kind, sizeof kind);
    h = print_text(h, node->key);
    if (node->kind == IO_SCALAR) {
        h = print_text(h, node->text);
        return node->text && strchr(node->text, '.') ? print_named_file(h, f, node->text) : h;
    }
    for (const io_node *n = node->child; n; n = n->next) {
        h = top && print_ignores(n->key) ? h : print_node(h, f, n, false);
    }
    return pl_hash_bytes(h, "]", 1);
}

pl_status pl_robot_file_print(const char *path, uint64_t *out, pl_error *err)
{
    *out = 0;
    char *text = NULL;
    size_t length = 0;
    pl_status status = pl_file_read(path, &text, &length, err);
    if (status != PL_OK) {
        return status;
    }
    const char *slash = strrchr(path, '/');
    char *folder = pl_strdup(slash ? path : "");
    io_robot_file f = {.path = path, .folder = folder, .findings = pl_findings_create(), .large = true};
    if (folder && f.findings) {
        folder[slash ? slash - path + 1 : 0] = 0;
        const io_node *root = io_yaml_parse(&f, text, length);
        *out = root ? print_node(1, &f, root, true) : pl_hash_bytes(2, text, length);
        *out = *out ? *out : 1;
    } else {
        status = pl_fail_memory(err, path);
    }
    io_robot_file_clear(&f);
    pl_free(folder);
    pl_file_free(text);
    return status;
}
