// The parameters of a robot file: the block `parameters` and the numbers of a design, by whose names
// expressions call them.
#include <stdio.h>
#include "document/document_reader.h"

// Names may repeat: later ones hide earlier ones.
static void names_add(doc_robot_file *f, const char *name, const text_value *value, int line)
{
    text_name *slot = doc_append(f, &f->name, sizeof *slot);
    if (slot) {
        *slot = (text_name){name, *value, line};
    }
}

#define NAMES_STEPS 1000 // words looked at to find a circle

// Whether a value of `parameters` needs the value of `end`, directly or through others.
static bool names_need(const doc_robot_file *f, const doc_node *node, const doc_node *end, int *steps)
{
    const char *s = node->kind == DOC_SCALAR ? node->text : "";
    for (size_t length; (length = text_word_next(&s)) > 0 && ++*steps < NAMES_STEPS; s += length) {
        for (const doc_node *n = f->parameters->child; n; n = n->next) {
            const bool named = strlen(n->key) == length && memcmp(n->key, s, length) == 0;
            if (named && (n == end || names_need(f, n, end, steps))) {
                return true;
            }
        }
    }

    return false;
}

// The entry of a block that the text calls by its name; NULL: none.
static const doc_node *names_called(const doc_node *block, const char *text)
{
    const char *s = text;
    for (size_t length; (length = text_word_next(&s)) > 0; s += length) {
        for (const doc_node *n = block ? block->child : NULL; n; n = n->next) {
            if (strlen(n->key) == length && memcmp(n->key, s, length) == 0 && strcmp(n->key, "kind") != 0) {
                return n;
            }
        }
    }

    return NULL;
}

// Why an expression has no value though its names are defined: a parameter that needs itself, a number of the
// design that uses another one, or a definition that is wrong itself. NULL: none of these.
static const char *names_wrong(doc_robot_file *f, const doc_node *node)
{
    int steps = 0;
    if (f->parameters && names_need(f, node, node, &steps)) {
        return doc_arena_format(&f->arena, "'%.100s' needs its own value: parameters may not form a circle",
                                node->text);
    }

    const doc_node *number = names_called(f->design, node->text);
    for (const doc_node *n = f->design ? f->design->child : NULL; n && number; n = n->next) {
        if (n == node) {
            return doc_arena_format(
                &f->arena,
                "'%.100s': '%s' is a number of the design, and these cannot use each other: "
                "define it in `parameters`",
                node->text, number->key);
        }
    }

    const doc_node *used = number ? number : names_called(f->parameters, node->text);
    for (int i = 0; used && i < f->name.count; ++i) {
        used = strcmp(((const text_name *)f->name.item)[i].name, used->key) == 0 ? NULL : used;
    }

    return used ? doc_arena_format(&f->arena, "'%.100s': '%s' has no value: see line %d", node->text,
                                   used->key, used->key_line)
                : NULL;
}

// The value of a scalar, with its dimension; false after a report.
static bool names_value(doc_robot_file *f, const doc_node *node, const char *what, text_value *out)
{
    pl_error err = {0}, second = {0};
    if (node->kind != DOC_SCALAR) {
        doc_defect(f, node->line, "%s: expected a number or an expression, found %s", what,
                   doc_kind_name(node));
        return false;
    }

    if (text_quantity_value(node->text, out, &err) == PL_OK) {
        return true;
    }

    // a number with a unit first: it is the usual case and gives the better message
    const bool expression = text_is_expression(f->name.item, f->name.count, node->text);
    if (expression && text_evaluate(f->name.item, f->name.count, node->text, out, &second) == PL_OK) {
        return true;
    }
    const char *wrong = f->findings ? names_wrong(f, node) : NULL;
    doc_defect(f, node->line, "%s: %s", what, wrong ? wrong : expression ? second.text : err.text);

    return false;
}

bool doc_read_number(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                     bool rate, double *value)
{
    text_value found;
    pl_error err = {0};

    if (!names_value(f, node, what, &found)) {
        return false;
    }
    if (text_value_as(&found, node->text, dimension, rate, value, &err) != PL_OK) {
        doc_defect(f, node->line, "%s: %s", what, err.text);
        return false;
    }

    return true;
}

// parameters: {reach: 120 mm, pitch: reach / 8}: each may use those above it, and the numbers of the design.
// Those that cannot be evaluated without the design come behind it.
// Called twice: before the design is known without reports, afterwards with them.
static void names_block(doc_robot_file *f, bool report)
{
    const doc_node *node = f->parameters;
    for (const doc_node *n = node ? node->child : NULL; n; n = n->next) {
        char what[200];
        text_value value;
        // evaluated already, or refused
        bool known = text_name_refused(n->key) != NULL;
        const text_name *name = f->name.item;
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

// Names that are units or constants are refused.
static void names_check(doc_robot_file *f, const doc_node *node)
{
    if (!doc_expect(f, node, DOC_MAP, "parameters")) {
        return;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        const char *wrong = text_name_refused(n->key);
        char shown[80];
        if (wrong) {
            doc_defect(f, n->key_line, "parameters: '%s' cannot be the name of a parameter: %s",
                       pl_name_shown(n->key, shown, sizeof shown), wrong);
        }
    }

    f->parameters = node;
}

// A name with two values is a mistake wherever it is used.
static void names_compare(doc_robot_file *f, const doc_node *node, const text_value *value)
{
    const text_name *outer = f->name.item;
    for (int i = 0; i < f->outer_names; ++i) {
        if (strcmp(outer[i].name, node->key) == 0 && outer[i].value.number != value->number) {
            doc_defect(f, node->key_line,
                       "mesh: design: %s is %g, but the parameter of that name on line %d is %g", node->key,
                       value->number, outer[i].line, outer[i].value.number);
            doc_advise(f, "write `%s: %s` in the design, or give the parameter another name", node->key,
                       node->key);
        }
    }
}

// The numbers of a design as names. They may use the file's parameters, but not each other.
static void names_design(doc_robot_file *f, const doc_node *design)
{
    pl_findings *all = f->findings;

    // what is wrong with a value is reported when the design is read
    f->findings = NULL;
    text_value value[64];
    const doc_node *known[64];
    int count = 0;

    for (const doc_node *n = design->child; n && count < PL_COUNT(known); n = n->next) {
        known[count] = n;
        count += strcmp(n->key, "kind") != 0 && !text_name_refused(n->key) && n->kind == DOC_SCALAR &&
                 names_value(f, n, "", &value[count]);
    }

    // names are added last, so that no value can use another
    f->findings = all;
    for (int i = 0; i < count; ++i) {
        names_compare(f, known[i], &value[i]);
        names_add(f, known[i]->key, &value[i], known[i]->key_line);
    }
}

// Drops the names of the design before.
void doc_read_design_names(doc_robot_file *f, const doc_node *mesh)
{
    f->name.count = f->outer_names;
    const doc_node *design = doc_child(mesh, "design");
    f->design = design && design->kind == DOC_MAP ? design : NULL;
    if (f->design) {
        names_design(f, design);
        names_block(f, false);
    }
}

void doc_read_names(doc_robot_file *f, const doc_node *root)
{
    const doc_node *block = doc_child(root, "parameters");
    if (block) {
        names_check(f, block);
    }
    names_block(f, false);
    f->outer_names = f->name.count;
    doc_read_design_names(f, doc_child(root, "mesh"));

    // in a file with several bodies each has a design of its own
    if (!doc_child(root, "bodies")) {
        names_block(f, true);
    }
}
