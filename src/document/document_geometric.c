// The part of the `solver:` block that is about the method local_global.
#include <stdio.h>
#include "document/document_reader.h"

static const char *const own_keys[] = {"preset",           "metric",         "form",          "acceleration",
                                       "window",           "stop",           "tip_tolerance", "weights",
                                       "actuation_weight", "body_weight",    "actuation",     "strain_high",
                                       "contact_spring",   "contact_offset", "remesh",        "remesh_volume",
                                       "remesh_stretch"};
static const char *const exact_keys[] = {"force_tolerance", "increment_limit", "linear_solver", "formulation",
                                         "warp"};

// Keys of the other method are refused: they would do nothing.
static void geometric_refuse(doc_robot_file *f, const doc_node *node, const char *const *key, int count,
                             const char *method)
{
    for (int i = 0; i < count; ++i) {
        const doc_node *n = doc_child(node, key[i]);
        if (n) {
            doc_defect(f, n->key_line, "solver: %s is only for the method %s", key[i], method);
        }
    }
}

// A key with words as values; *out stays as it is without the key.
static void geometric_choice(doc_robot_file *f, const doc_node *node, const char *key,
                             const char *const *choice, int count, int *out)
{
    const doc_node *n = doc_child(node, key);
    char what[60];
    snprintf(what, sizeof what, "solver: %s", key);
    const int i = n ? doc_read_choice(f, n, what, choice, count) : -1;
    *out = i >= 0 ? i : *out;
}

// Numbers that must be positive, and a few with bounds.
static void geometric_numbers(doc_robot_file *f, const doc_node *node, pl_geometric_options *o)
{
    const struct {
        const char *key;
        pl_dimension dimension;
        double *out;
    } number[] = {{"tip_tolerance", PL_DIM_LENGTH, &o->tip_tolerance},
                  {"actuation_weight", PL_DIM_NUMBER, &o->actuation_weight},
                  {"body_weight", PL_DIM_NUMBER, &o->body_weight},
                  {"strain_high", PL_DIM_NUMBER, &o->strain_high},
                  {"contact_spring", PL_DIM_NUMBER, &o->contact_spring},
                  {"contact_offset", PL_DIM_NUMBER, &o->contact_offset},
                  {"remesh_volume", PL_DIM_NUMBER, &o->remesh_volume},
                  {"remesh_stretch", PL_DIM_NUMBER, &o->remesh_stretch}};
    for (int i = 0; i < PL_COUNT(number); ++i) {
        const doc_node *n = doc_child(node, number[i].key);
        char what[60];
        snprintf(what, sizeof what, "solver: %s", number[i].key);
        if (n && doc_read_quantity(f, n, what, number[i].dimension, number[i].out) && !(*number[i].out > 0)) {
            doc_defect(f, n->line, "%s is %g, must be above 0", what, *number[i].out);
        }
    }

    const doc_node *tip = doc_child(node, "tip_tolerance");
    if (tip && o->tip_tolerance > 10) {
        doc_defect(f, tip->line, "solver: tip_tolerance is %g mm, expected at most 10 mm", o->tip_tolerance);
    }

    const doc_node *window = doc_child(node, "window");
    double value = o->window;
    if (window && doc_read_quantity(f, window, "solver: window", PL_DIM_NUMBER, &value)) {
        if (value < 1 || value > 20 || value != floor(value)) {
            doc_defect(f, window->line, "solver: window is %g, expected a whole number from 1 to 20", value);
        } else {
            o->window = (int)value;
        }
    }
}

// What statics and local_global have in common was read already.
static void geometric_shared(const doc_solver *s, pl_geometric_options *o)
{
    o->length_tolerance = s->has_length_tolerance ? s->length_tolerance : o->length_tolerance;
    o->iteration_limit = s->has_iteration_limit ? s->iteration_limit : o->iteration_limit;
    o->time_limit = s->has_time_limit ? s->time_limit : o->time_limit;
}

// The method, then its options: defaults, a preset over them, keys over both.
void doc_read_geometric(doc_robot_file *f, const doc_node *node)
{
    static const char *const
        methods[] = {"exact", "local_global"},
        *const presets[] = {"fang2020"}, *const metrics[] = {"gradient", "vertex", "vertex_even"},
        *const forms[] = {"blended", "mu_lambda"}, *const accelerations[] = {"none", "anderson", "lbfgs"},
        *const stops[] = {"residual", "tip_motion"}, *const weights[] = {"material", "unit"},
        *const actuations[] = {"auto", "growth", "constraint"},
        *const distributions[] = {"least_norm", "joint", "uniform"},
        *const exact_distributions[] = {"joint", "uniform"}, *const switches[] = {"false", "true"};
    int method = PL_METHOD_EXACT;
    geometric_choice(f, node, "method", methods, 2, &method);
    f->solver.method = (pl_method)method;

    // exact: nothing but the distribution
    if (method == PL_METHOD_EXACT) {
        geometric_refuse(f, node, own_keys, PL_COUNT(own_keys), "local_global");
        int uniform = 1;
        geometric_choice(f, node, "distribution", exact_distributions, 2, &uniform);
        f->solver.joint = !uniform;
        return;
    }

    geometric_refuse(f, node, exact_keys, PL_COUNT(exact_keys), "exact");
    pl_geometric_options *o = &f->solver.geometric;
    *o = pl_geometric_options_default();
    int preset = -1;
    geometric_choice(f, node, "preset", presets, 1, &preset);
    pl_error err = {0};
    if (preset >= 0 && pl_geometric_preset(presets[preset], o, &err) != PL_OK) {
        doc_defect(f, node->line, "%s", err.text);
    }

    // words
    int choice[7] = {o->metric,       o->form,      o->acceleration, o->stop,
                     o->unit_weights, o->actuation, o->distribution};
    geometric_choice(f, node, "metric", metrics, 3, &choice[0]);
    geometric_choice(f, node, "form", forms, 2, &choice[1]);
    geometric_choice(f, node, "acceleration", accelerations, 3, &choice[2]);
    geometric_choice(f, node, "stop", stops, 2, &choice[3]);
    geometric_choice(f, node, "weights", weights, 2, &choice[4]);
    geometric_choice(f, node, "actuation", actuations, 3, &choice[5]);
    geometric_choice(f, node, "distribution", distributions, 3, &choice[6]);
    int remesh = o->remesh;
    geometric_choice(f, node, "remesh", switches, 2, &remesh);
    o->remesh = remesh == 1;
    o->metric = choice[0] == 0 ? PL_METRIC_GRADIENT : PL_METRIC_VERTEX;
    o->even_weights = choice[0] == 2;
    o->form = (pl_shape_form)choice[1];
    o->acceleration = (pl_acceleration)choice[2];
    o->stop = (pl_geometric_stop)choice[3];
    o->unit_weights = choice[4] == 1;
    o->actuation = (pl_actuation)choice[5];
    o->distribution = (pl_distribution)choice[6];
    f->solver.joint = o->distribution == PL_RATIOS_JOINT; // for the exact method beside it

    // numbers, and combinations that do not exist
    geometric_numbers(f, node, o);
    geometric_shared(&f->solver, o);
    if (o->form == PL_FORM_MU_LAMBDA && (o->metric == PL_METRIC_VERTEX || o->unit_weights)) {
        doc_defect(f, node->line, "solver: form mu_lambda needs metric: gradient and weights: material");
    }
}
