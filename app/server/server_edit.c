// The parameters of a robot made from a design: which there are, their values in the robot file, and the file
// with other values, written beside it so that what it refers to is found. The file itself is not changed.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server_impl.h"

#define EDIT_TAIL ".edited.yaml"

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

// "robot.yaml" -> "robot.edited.yaml", which stays what it is.
static char *edit_path(const char *path)
{
    const size_t n = strlen(path), tail = strlen(EDIT_TAIL);
    char *out = malloc(n + tail + 1);
    if (!out) {
        return NULL;
    }
    strcpy(out, path);
    if (n < tail || strcmp(out + n - tail, EDIT_TAIL) != 0) {
        char *dot = strrchr(out, '.');
        char *slash = strrchr(out, '/');
        strcpy(dot && (!slash || dot > slash) ? dot : out + n, EDIT_TAIL);
    }
    return out;
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
        status = *edited ? pl_file_write(*edited, text, strlen(text), err) : PL_NO_MEMORY;
    }
    pl_meshing_free_text(text);
    if (status != PL_OK) {
        free(*edited);
        *edited = NULL;
    }
    return status;
}
