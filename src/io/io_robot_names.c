// The parameters of a robot file: the block `parameters` and the numbers of a design, by whose names
// expressions call them.
#include <stdio.h>
#include "io/io_expression.h"

static void names_add(io_robot_file *f, const char *name, const io_value *value, int line)
{
    io_name *slot = io_append(f, &f->name, sizeof *slot);
    if (slot) {
        *slot = (io_name){name, *value, line};
    }
}

// The value of a scalar, with its dimension; false after a report.
static bool names_value(io_robot_file *f, const io_node *node, const char *what, io_value *out)
{
    pl_error err = {0}, second = {0};
    if (node->kind != IO_SCALAR) {
        io_defect(f, node->line, "%s: expected a number or an expression, found %s", what,
                  io_kind_name(node));
        return false;
    }
    if (io_quantity_value(node->text, out, &err) == PL_OK) {
        return true;
    }
    const bool expression = io_is_expression(f->name.item, f->name.count, node->text);
    if (expression && io_evaluate(f->name.item, f->name.count, node->text, out, &second) == PL_OK) {
        return true;
    }
    io_defect(f, node->line, "%s: %s", what, expression ? second.text : err.text);
    return false;
}

bool io_read_number(io_robot_file *f, const io_node *node, const char *what, pl_dimension dimension,
                    bool rate, double *value)
{
    io_value found;
    pl_error err = {0};
    if (!names_value(f, node, what, &found)) {
        return false;
    }
    if (io_value_as(&found, node->text, dimension, rate, value, &err) != PL_OK) {
        io_defect(f, node->line, "%s: %s", what, err.text);
        return false;
    }
    return true;
}

// parameters: {reach: 120 mm, pitch: reach / 8}: each may use those above it, and the numbers of the design.
// Those that cannot be evaluated without the design come behind it.
static void names_block(io_robot_file *f, bool report)
{
    const io_node *node = f->parameters;
    for (const io_node *n = node ? node->child : NULL; n; n = n->next) {
        char what[200];
        io_value value;
        bool known = io_name_refused(n->key) != NULL;
        const io_name *name = f->name.item;
        for (int i = 0; i < f->name.count; ++i) {
            known = known || (strcmp(name[i].name, n->key) == 0 && name[i].line == n->key_line);
        }
        snprintf(what, sizeof what, "parameters: %.150s", n->key);
        pl_findings *all = f->findings;
        f->findings = report ? all : NULL;
        if (!known && names_value(f, n, what, &value)) {
            names_add(f, n->key, &value, n->key_line);
        }
        f->findings = all;
    }
}

static void names_check(io_robot_file *f, const io_node *node)
{
    if (!io_expect(f, node, IO_MAP, "parameters")) {
        return;
    }
    for (const io_node *n = node->child; n; n = n->next) {
        const char *wrong = io_name_refused(n->key);
        char shown[80];
        if (wrong) {
            io_defect(f, n->key_line, "parameters: '%s' cannot be the name of a parameter: %s",
                      pl_name_shown(n->key, shown, sizeof shown), wrong);
        }
    }
    f->parameters = node;
}

// A name with two values is a mistake wherever it is used.
static void names_compare(io_robot_file *f, const io_node *node, const io_value *value)
{
    const io_name *outer = f->name.item;
    for (int i = 0; i < f->outer_names; ++i) {
        if (strcmp(outer[i].name, node->key) == 0 && outer[i].value.number != value->number) {
            io_defect(f, node->key_line,
                      "mesh: design: %s is %g, but the parameter of that name on line %d is %g", node->key,
                      value->number, outer[i].line, outer[i].value.number);
            io_advise(f, "write `%s: %s` in the design, or give the parameter another name", node->key,
                      node->key);
        }
    }
}

static void names_design(io_robot_file *f, const io_node *design)
{
    pl_findings *all = f->findings;
    // what is wrong with a value is reported when the design is read
    f->findings = NULL;
    io_value value[64];
    const io_node *known[64];
    int count = 0;
    for (const io_node *n = design->child; n && count < PL_COUNT(known); n = n->next) {
        known[count] = n;
        count += strcmp(n->key, "kind") != 0 && !io_name_refused(n->key) && n->kind == IO_SCALAR &&
                 names_value(f, n, "", &value[count]);
    }
    f->findings = all;
    for (int i = 0; i < count; ++i) {
        names_compare(f, known[i], &value[i]);
        names_add(f, known[i]->key, &value[i], known[i]->key_line);
    }
}

void io_read_design_names(io_robot_file *f, const io_node *mesh)
{
    f->name.count = f->outer_names;
    const io_node *design = io_child(mesh, "design");
    if (design && design->kind == IO_MAP) {
        names_design(f, design);
        names_block(f, false);
    }
}

void io_read_names(io_robot_file *f, const io_node *root)
{
    const io_node *block = io_child(root, "parameters");
    if (block) {
        names_check(f, block);
    }
    names_block(f, false);
    f->outer_names = f->name.count;
    io_read_design_names(f, io_child(root, "mesh"));
    // in a file with several bodies each has a design of its own
    if (!io_child(root, "bodies")) {
        names_block(f, true);
    }
}
