// The parameters of a robot made from a design: which there are, their values in the robot file, and the file
// with other values, written beside it so that what it refers to is found. The file itself is not changed,
// and of the files beside it only those are replaced that were written here and not changed since: their
// first line has a checksum of the rest.
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "server_impl.h"

// The design that a robot file is made from; NULL: none.
static const pl_design *edit_design(const char *text)
{
    const char *block = strstr(text, "design:");
    const char *kind = block ? strstr(block, "kind:") : NULL;
    char word[64];
    size_t n = 0;
    if (!kind) {
        return NULL;
    }
    for (kind += 5; *kind == ' ' || *kind == '"' || *kind == '\''; ++kind) {
    }
    while (n + 1 < sizeof word && (isalnum((unsigned char)kind[n]) || kind[n] == '_')) {
        word[n] = kind[n];
        ++n;
    }
    word[n] = 0;
    return pl_design_find(word);
}

static double edit_value(const char *text, const char *path, const pl_design_parameter *p)
{
    char key[100], unit[16];
    double value = p->value;
    snprintf(key, sizeof key, "mesh.design.%.60s", p->name);
    // in units other than those of the design (cm) it is left alone
    return pl_robot_text_number(text, strlen(text), path, key, &value, unit, NULL) == PL_OK ? value
                                                                                            : p->value;
}

json_t *server_parameters_json(const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    json_t *list = json_array();
    if (pl_file_read(path, &text, &bytes, NULL) != PL_OK) {
        return list;
    }
    const pl_design *design = edit_design(text);
    for (int i = 0; design && i < design->parameter_count; ++i) {
        const pl_design_parameter *p = &design->parameter[i];
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:f,s:f,s:f,s:b}", "name", p->name, "unit",
                                              p->unit ? p->unit : "", "help", p->help ? p->help : "", "value",
                                              edit_value(text, path, p), "low", p->low, "high", p->high,
                                              "whole", p->whole));
    }
    pl_file_free(text);
    return list;
}

// ---- the file with other values
static const char edit_seal[] = "# Written by `pliant serve`; edit a copy, this file is replaced. Checksum ";

static uint64_t edit_checksum(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037); // FNV-1a
    for (; *text; ++text) {
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    }
    return h;
}

// What follows the line with the checksum; the whole text where there is none.
static const char *edit_content(const char *text)
{
    const char *end = strncmp(text, edit_seal, sizeof edit_seal - 1) == 0 ? strchr(text, '\n') : NULL;
    return end ? end + 1 : text;
}

// Whether the file may be replaced: there is none, or it was written here and is as it was.
static bool edit_own(const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    uint64_t sum = 0;
    if (access(path, F_OK) != 0) {
        return true;
    }
    if (pl_file_read(path, &text, &bytes, NULL) != PL_OK) {
        return false;
    }
    const char *content = edit_content(text);
    const bool own = content != text && strlen(text) == bytes &&
                     sscanf(text + sizeof edit_seal - 1, "%16" SCNx64, &sum) == 1 &&
                     sum == edit_checksum(content);
    pl_file_free(text);
    return own;
}

// "robot.yaml" -> "robot.edited.yaml", or "robot.edited2.yaml" ... where that belongs to somebody else. The
// names of such files lead to themselves.
static char *edit_path(const char *path)
{
    const size_t n = strlen(path);
    char *out = malloc(n + 32);
    if (!out) {
        return NULL;
    }
    strcpy(out, path);
    char *slash = strrchr(out, '/'), *dot = strrchr(out, '.');
    char *end = dot && (!slash || dot > slash) ? dot : out + n;
    *end = 0;
    char *stem = end; // without ".edited" and its number
    while (stem > out && isdigit((unsigned char)stem[-1])) {
        --stem;
    }
    const size_t tail = strlen(".edited");
    stem = (size_t)(stem - out) > tail && strncmp(stem - tail, ".edited", tail) == 0 ? stem - tail : end;
    for (int k = 1; k < 1000; ++k) {
        sprintf(stem, k == 1 ? ".edited.yaml" : ".edited%d.yaml", k);
        if (edit_own(out)) {
            return out;
        }
    }
    free(out);
    return NULL;
}

static pl_status edit_write(const char *path, const char *text, pl_error *err)
{
    const char *content = edit_content(text);
    const size_t room = sizeof edit_seal + 32 + strlen(content);
    char *sealed = malloc(room);
    if (!sealed) {
        return server_fail(err, PL_NO_MEMORY, "no memory for the robot file");
    }
    const int length =
        snprintf(sealed, room, "%s%016" PRIx64 "\n%s", edit_seal, edit_checksum(content), content);
    const pl_status status = pl_file_write(path, sealed, (size_t)length, err);
    free(sealed);
    return status;
}

pl_status server_edit(const char *path, const json_t *values, char **edited, pl_error *err)
{
    char *file = NULL;
    size_t bytes = 0;
    const char *name;
    json_t *value;
    *edited = NULL;
    pl_status status = pl_file_read(path, &file, &bytes, err);
    if (status != PL_OK) {
        return status;
    }
    const pl_design *design = edit_design(file);
    char *text = design ? pl_design_set(file, NULL, 0) : NULL;
    pl_file_free(file);
    if (!text) {
        return server_fail(err, PL_BAD_INPUT, "this robot is not made from a design: it has no parameters");
    }
    json_object_foreach((json_t *)values, name, value)
    {
        const pl_design_parameter *p = NULL;
        for (int i = 0; i < design->parameter_count; ++i) {
            p = strcmp(design->parameter[i].name, name) == 0 ? &design->parameter[i] : p;
        }
        const double v = json_number_value(value);
        if (!p || !json_is_number(value) || v < p->low || v > p->high) {
            status = p ? server_fail(err, PL_BAD_INPUT, "%s is %g, must lie between %g and %g %s", name, v,
                                     p->low, p->high, p->unit ? p->unit : "")
                       : server_fail(err, PL_BAD_INPUT, "the design has no parameter '%.40s'", name);
            break;
        }
        char *next = pl_design_set(text, name, v);
        pl_meshing_free_text(text);
        text = next;
        if (!text) {
            return server_fail(err, PL_NO_MEMORY, "no memory for the robot file");
        }
    }
    if (status == PL_OK) {
        *edited = edit_path(path);
        status = *edited ? edit_write(*edited, text, err)
                         : server_fail(err, PL_BAD_FILE, "%s: no name beside it is free", path);
    }
    pl_meshing_free_text(text);
    if (status != PL_OK) {
        free(*edited);
        *edited = NULL;
    }
    return status;
}
