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

// The design that a robot is made from; NULL: none.
static const pl_design *edit_design(const pl_robot_document *document)
{
    const char *kind = pl_robot_document_value(document, "design.kind");
    return kind ? pl_design_find(kind) : NULL;
}

// The value of a parameter: that of the file, which may be an expression, or the default of the design.
static double edit_value(const pl_robot_document *document, const pl_design_parameter *p)
{
    char key[100];
    double value = p->value;

    snprintf(key, sizeof key, "design.%.60s", p->name);
    if (pl_robot_document_value(document, key) &&
        pl_robot_document_evaluate(document, key, PL_DIM_LENGTH, &value, NULL) != PL_OK) {
        return p->value;
    }

    return value;
}

json_t *server_parameters_json(const pl_robot_document *document)
{
    json_t *list = json_array();
    const pl_design *design = edit_design(document);

    for (int i = 0; design && i < design->parameter_count; ++i) {
        const pl_design_parameter *p = &design->parameter[i];
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:f,s:f,s:f,s:b}", "name", p->name, "unit",
                                              p->unit ? p->unit : "", "help", p->help ? p->help : "", "value",
                                              edit_value(document, p), "low", p->low, "high", p->high,
                                              "whole", p->whole));
    }

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

// One parameter of the design, within its limits.
static pl_status edit_set(pl_robot_document *document, const pl_design *design, const char *name,
                          const json_t *value, pl_error *err)
{
    const pl_design_parameter *p = NULL;
    for (int i = 0; i < design->parameter_count; ++i) {
        p = strcmp(design->parameter[i].name, name) == 0 ? &design->parameter[i] : p;
    }

    const double v = json_number_value(value);
    if (!p) {
        return server_fail(err, PL_BAD_INPUT, "the design has no parameter '%.40s'", name);
    }
    if (!json_is_number(value) || v < p->low || v > p->high) {
        return server_fail(err, PL_BAD_INPUT, "%s is %g, must lie between %g and %g %s", name, v, p->low,
                           p->high, p->unit ? p->unit : "");
    }

    char key[100], number[40];
    snprintf(key, sizeof key, "design.%.60s", p->name);
    snprintf(number, sizeof number, "%.10g", v);

    return pl_robot_document_set(document, key, number, err);
}

pl_status server_edit(const char *path, const json_t *values, char **edited, pl_error *err)
{
    const char *name;
    json_t *value;
    char *text = NULL;
    pl_robot_document *document = NULL;

    *edited = NULL;
    pl_status status = pl_robot_document_read(path, &document, NULL, err);
    if (status != PL_OK) {
        return status;
    }

    const pl_design *design = edit_design(document);
    if (!design) {
        pl_robot_document_destroy(document);
        return server_fail(err, PL_BAD_INPUT, "this robot is not made from a design: it has no parameters");
    }

    json_object_foreach((json_t *)values, name, value)
    {
        status = status == PL_OK ? edit_set(document, design, name, value, err) : status;
    }
    if (status == PL_OK) {
        status = pl_robot_document_text(document, &text, NULL, err);
    }

    if (status == PL_OK) {
        *edited = edit_path(path);
        status = *edited ? edit_write(*edited, text, err)
                         : server_fail(err, PL_BAD_FILE, "%s: no name beside it is free", path);
    }

    pl_file_free(text);
    pl_robot_document_destroy(document);
    if (status != PL_OK) {
        free(*edited);
        *edited = NULL;
    }

    return status;
}
