// Learned models as files (docs/howto/learn.md): the description of the robot, the networks, the sampled
// region and the adaptation, as YAML with arrays of numbers in quotes.
#include <stdio.h>
#include <stdlib.h>
#include "document/document_learned.h"
#include "pliant/document.h"
#include "pliant/meshfile.h"
#include "pliant/text.h"

#define LEARNED_FORMAT 2 // 2: errors of the samples held out per marker, rotation, sensor and of the shape

// ---- writing. 17 digits where the numbers are the model, 9 where they only describe it.
// One network: its shape, the scales of inputs and outputs, all weights.
static void write_network(pl_text *t, const char *name, pl_network *n)
{
    const pl_network_def d = pl_network_get_def(n);
    const pl_network_scale s = pl_network_get_scale(n);
    pl_text_add(t, "  %s:\n    inputs: %d\n    outputs: %d\n    hidden: \"", name, d.input_count,
                d.output_count);
    for (int l = 0; l < d.layer_count; ++l) {
        pl_text_add(t, "%s%d", l ? " " : "", d.width[l]);
    }
    pl_text_add(t, "\"\n    layers: %d\n    activation: %s\n    skip: %d\n", d.layer_count,
                pl_activation_name(d.activation), d.skip);
    if (d.kinks) {
        pl_text_add(t, "    kinks: \"");
        for (int i = 0; i < d.input_count; ++i) {
            pl_text_add(t, "%s%d", i ? " " : "", i < 64 && d.kinks >> i & 1);
        }
        pl_text_add(t, "\"\n");
    }

    const struct {
        const char *key;
        const double *value;
        int count;
    } list[] = {{"in_mid", s.in_mid, d.input_count},
                {"in_width", s.in_width, d.input_count},
                {"out_mid", s.out_mid, d.output_count},
                {"out_width", s.out_width, d.output_count},
                {"weights", pl_network_weights(n), pl_network_weight_count(n)}};
    for (int k = 0; k < PL_COUNT(list); ++k) {
        pl_text_add(t, "    %s: ", list[k].key);
        doc_numbers_write(t, list[k].value, list[k].count, false);
        pl_text_add(t, "\n");
    }
}

static void write_numbers(pl_text *t, const char *key, const double *value, int64_t count, bool brief);

// The network with memory.
static void write_history(pl_text *t, const pl_learned *l)
{
    const pl_lstm_def d = pl_lstm_get_def(l->history);
    const pl_network_scale s = pl_lstm_get_scale(l->history);

    pl_text_add(t,
                "history:                # memory: long short-term cells instead of the position network\n"
                "  inputs: %d\n  outputs: %d\n  cells: %d\n  burn: %d\n  compared_rms: %.9g\n",
                d.input_count, d.output_count, d.cell_count, l->history_burn, l->compared_rms);
    write_numbers(t, "in_mid", s.in_mid, d.input_count, false);
    write_numbers(t, "in_width", s.in_width, d.input_count, false);
    write_numbers(t, "out_mid", s.out_mid, d.output_count, false);
    write_numbers(t, "out_width", s.out_width, d.output_count, false);
    write_numbers(t, "weights", pl_lstm_weights(l->history), pl_lstm_weight_count(l->history), false);
}

static void write_numbers(pl_text *t, const char *key, const double *value, int64_t count, bool brief)
{
    pl_text_add(t, "  %s: ", key);
    doc_numbers_write(t, value, count, brief);
    pl_text_add(t, "\n");
}

// 0 and 1 in quotes.
static void write_flags(pl_text *t, const char *key, const uint8_t *flag, int count)
{
    pl_text_add(t, "  %s: \"", key);
    for (int i = 0; i < count; ++i) {
        pl_text_add(t, "%s%d", i ? " " : "", flag[i]);
    }
    pl_text_add(t, "\"\n");
}

// The samples held out and their errors, which give every answer its expected error.
static void write_errors(pl_text *t, const pl_learned *l)
{
    // a sample that was not held out has no errors: NAN in the first column
    const int64_t Q = pl_learned_columns(l);
    int held = 0;
    pl_text_add(t, "  held_rows: \"");

    for (int64_t s = 0; s < l->sample_count; ++s) {
        if (!isnan(l->residual[s * Q])) {
            pl_text_add(t, "%s%lld", held == 0 ? "" : held % 16 ? " " : "\n    ", (long long)s);
            ++held;
        }
    }

    pl_text_add(t, "\"\n  held: %d\n  errors: \"", held);
    for (int64_t s = 0, k = 0; s < l->sample_count; ++s) {
        for (int64_t q = 0; !isnan(l->residual[s * Q]) && q < Q; ++q, ++k) {
            const double e = l->residual[s * Q + q];
            pl_text_add(t, isnan(e) ? "%snan" : "%s%.6g", k == 0 ? "" : k % 8 ? " " : "\n    ", e);
        }
    }

    pl_text_add(t, "\"\n");
}

// The correction towards measurements of the real robot: a network or a Gaussian process.
static void write_adaptation(pl_text *t, const pl_adaptation *a, int command_count)
{
    pl_text_add(t, "adaptation:\n  kind: %s\n  measurements: %d\n  error_rms: %.9g\n  error_largest: %.9g\n",
                pl_adapt_kind_name(a->kind), a->sample_count, a->error_rms, a->error_largest);
    pl_text_add(t, "  marker_count: %d\n  markers: \"", a->marker_count);
    for (int i = 0; i < a->marker_count; ++i) {
        pl_text_add(t, "%s%d", i ? " " : "", a->marker[i]);
    }
    pl_text_add(t, "\"\n  extra_count: %d\n  extra_names: \"", a->extra_count);
    for (int i = 0; i < a->extra_count; ++i) {
        pl_text_add(t, "%s%s", i ? " " : "", a->extra_name[i]);
    }
    pl_text_add(t, "\"\n");
    write_numbers(t, "extra", a->extra, a->extra_count, false);
    write_numbers(t, "measured", a->sample, a->sample_count * (int64_t)(command_count + a->extra_count),
                  true);
    write_numbers(t, "errors", a->residual, a->sample_count * (int64_t)a->marker_count, true);
    if (a->network) {
        write_network(t, "network", a->network);
    }
    if (a->gp) {
        const pl_gp_view v = pl_gp_get_view(a->gp);
        pl_text_add(t, "  samples: %d\n  noise: %.17g\n  trend: %.17g\n", v.count, v.noise, v.trend);
        write_numbers(t, "length", v.length, v.input_count, false);
        write_numbers(t, "variance", v.variance, v.output_count, false);
        write_numbers(t, "x", v.x, (int64_t)v.count * v.input_count, false);
        write_numbers(t, "y", v.y, (int64_t)v.count * v.output_count, false);
    }
}

// Written whole and renamed; `comment` comes first.
pl_status pl_learned_write(const pl_learned *l, const char *comment, const char *path, pl_error *err)
{
    pl_text t = {0};
    const pl_model_info *i = &l->about.info;
    const int64_t C = i->command_count;
    pl_text_add(
        &t,
        "%spliant: 1\nlearned:                # a model fitted to samples; numbers in mm, N, MPa, rad\n"
        "  format: %d\n  robot_print: \"%016llx\"\n",
        comment ? comment : "", LEARNED_FORMAT, (unsigned long long)l->robot_print);

    // where it comes from
    if (l->robot_file) {
        pl_text_add(&t, "  robot_file: \"");
        for (const char *c = l->robot_file; *c; ++c) {
            pl_text_add(&t, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        }
        pl_text_add(&t, "\"\n");
    }

    pl_text_add(&t, "  mesh_size: %.17g\n  mesh_order: %d\n", l->mesh_size, l->mesh_order);
    doc_about_write(&t, i);

    // networks with their errors
    pl_text_add(&t, "networks:\n");
    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        if (l->network[p]) {
            write_network(&t, pl_learned_part_name(p), l->network[p]);
            pl_text_add(&t, "    error_rms: %.9g\n    error_largest: %.9g\n", l->error_rms[p],
                        l->error_largest[p]);
        }
    }

    // the sampled region, and the shape where it was learned
    pl_text_add(&t, "region:\n  samples: %d\n  spacing: %.17g\n  width: %.17g\n", l->sample_count, l->spacing,
                l->width);
    if (l->missing > 0) {
        pl_text_add(&t, "  missing: %d\n", l->missing);
    }
    write_numbers(&t, "low", l->low, C, false);
    write_numbers(&t, "high", l->high, C, false);
    write_flags(&t, "known", l->known, i->actuator_count);
    write_flags(&t, "framed", l->framed, i->marker_count);
    write_numbers(&t, "commands", l->sample, l->sample_count * C, true);
    write_errors(&t, l);

    if (l->network[PL_LEARN_SHAPE]) {
        const int64_t size = 3 * (int64_t)l->point_count;
        pl_text_add(&t, "shape:\n  points: %d\n  modes: %d\n", (int)l->point_count, l->mode_count);
        write_numbers(&t, "rest", l->point_rest, size, true);
        write_numbers(&t, "mean", l->point_mean, size, true);
        write_numbers(&t, "mode", l->mode, l->mode_count * size, true);
    }

    // parts that a model may have
    if (l->history) {
        write_history(&t, l);
    }
    if (l->adaptation) {
        write_adaptation(&t, l->adaptation, (int)C);
    }
    const pl_status status =
        t.failed ? pl_fail_memory(err, path) : pl_file_write(path, t.data, t.length, err);
    pl_text_clear(&t);
    return status;
}

// ---- reading
// NULL after a defect. All counts are bounded before memory is taken.
static pl_network *read_network(doc_robot_file *f, const doc_node *map)
{
    pl_network_def d = {0};
    int skip = 0;
    double hidden[PL_NETWORK_LAYERS];

    if (map->kind != DOC_MAP || !doc_whole_read(f, map, "inputs", 1, PL_NETWORK_WIDTH, &d.input_count) ||
        !doc_whole_read(f, map, "outputs", 1, PL_NETWORK_WIDTH, &d.output_count) ||
        !doc_whole_read(f, map, "layers", 0, PL_NETWORK_LAYERS, &d.layer_count) ||
        !doc_whole_read(f, map, "skip", 0, 1, &skip) ||
        !doc_numbers_read(f, map, "hidden", hidden, d.layer_count, false)) {
        return NULL;
    }

    d.skip = skip;

    // one bit per input: |x| is an input, too
    if (doc_child(map, "kinks")) {
        double kink[64] = {0};
        if (d.input_count > 64 || !doc_numbers_read(f, map, "kinks", kink, d.input_count, false)) {
            return NULL;
        }
        for (int i = 0; i < d.input_count; ++i) {
            d.kinks |= kink[i] != 0 ? UINT64_C(1) << i : 0;
        }
    }

    for (int l = 0; l < d.layer_count; ++l) {
        d.width[l] = hidden[l] >= 1 && hidden[l] <= PL_NETWORK_WIDTH ? (int)hidden[l] : 0;
    }

    const doc_node *activation = doc_child(map, "activation");
    d.activation = activation && activation->kind == DOC_SCALAR ? pl_activation_find(activation->text)
                                                                : PL_ACTIVATION_COUNT;

    // memory by the def, then scales and weights into it
    pl_network *n = NULL;
    pl_error err = {0};
    if (pl_network_create(&d, &n, &err) != PL_OK) {
        doc_defect(f, map->line, "%s", err.text);
        return NULL;
    }

    const pl_network_scale s = pl_network_get_scale(n);
    bool good = doc_numbers_read(f, map, "in_mid", s.in_mid, d.input_count, false) &&
                doc_numbers_read(f, map, "in_width", s.in_width, d.input_count, false) &&
                doc_numbers_read(f, map, "out_mid", s.out_mid, d.output_count, false) &&
                doc_numbers_read(f, map, "out_width", s.out_width, d.output_count, false) &&
                doc_numbers_read(f, map, "weights", pl_network_weights(n), pl_network_weight_count(n), false);

    // inputs are divided by their widths
    for (int i = 0; good && i < d.input_count; ++i) {
        if (s.in_width[i] == 0) {
            doc_defect(f, map->line, "in_width: must not be 0");
            good = false;
        }
    }

    if (!good) {
        pl_network_destroy(n);
        return NULL;
    }

    return n;
}

// Outputs that a part of this robot has.
static int part_outputs(const pl_learned *l, pl_learned_part p)
{
    const pl_model_info *i = &l->about.info;
    const int outputs[PL_LEARN_PART_COUNT] = {3 * i->marker_count,
                                              6 * i->marker_count,
                                              i->sensor_count,
                                              2 * i->actuator_count,
                                              1,
                                              l->mode_count,
                                              3 * i->marker_count * i->command_count,
                                              i->command_count};
    return outputs[p];
}

// Networks must fit the robot: inputs are its commands, of the inverse the coordinates of a target.
static bool read_networks(doc_robot_file *f, const doc_node *root, pl_learned *l)
{
    const doc_node *map = doc_child(root, "networks");
    if (!map || map->kind != DOC_MAP) {
        doc_defect(f, map ? map->line : root->line, "expected a block 'networks'");
        return false;
    }

    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        const doc_node *n = doc_child(map, pl_learned_part_name(p));
        if (!n) {
            continue;
        }
        l->network[p] = read_network(f, n);
        if (!l->network[p]) {
            return false;
        }
        const pl_network_def d = pl_network_get_def(l->network[p]);
        const int inputs = p == PL_LEARN_INVERSE ? 3 : l->about.info.command_count;

        if (d.input_count != inputs || d.output_count != part_outputs(l, p)) {
            doc_defect(f, n->line, "network '%s' has %d inputs and %d outputs, the robot needs %d and %d",
                       pl_learned_part_name(p), d.input_count, d.output_count, inputs, part_outputs(l, p));
            return false;
        }

        if (!doc_real_read(f, n, "error_rms", &l->error_rms[p]) ||
            !doc_real_read(f, n, "error_largest", &l->error_largest[p])) {
            return false;
        }
    }

    if (!l->network[PL_LEARN_POSITION]) {
        doc_defect(f, map->line, "networks: 'position' is missing");
        return false;
    }

    return true;
}

// Numbers other than 0 become flags, too.
static bool read_flags(doc_robot_file *f, const doc_node *map, const char *key, uint8_t *flag, int count)
{
    double *value = PL_NEW_ARRAY(double, count);
    const bool good = value && doc_numbers_read(f, map, key, value, count, false);

    for (int i = 0; good && i < count; ++i) {
        flag[i] = (uint8_t)value[i];
    }
    pl_free(value);
    return good;
}

// Rows that were held out; all others keep NAN.
static bool read_errors(doc_robot_file *f, const doc_node *map, pl_learned *l)
{
    const int64_t Q = pl_learned_columns(l);
    int held = 0;

    for (int64_t i = 0; i < l->sample_count * Q; ++i) {
        l->residual[i] = NAN;
    }
    if (!doc_whole_read(f, map, "held", 0, l->sample_count, &held)) {
        return false;
    }

    double *row = PL_NEW_ARRAY(double, held *(1 + Q)), *error = row + held;
    f->no_memory = f->no_memory || !row;
    bool good = row && doc_numbers_read(f, map, "held_rows", row, held, false) &&
                doc_numbers_read(f, map, "errors", error, held * Q, true);

    // an index in range, errors that are not negative
    for (int64_t k = 0; good && k < held; ++k) {
        good = row[k] >= 0 && row[k] < l->sample_count && row[k] == floor(row[k]);
        for (int64_t q = 0; good && q < Q; ++q) {
            good = !(error[k * Q + q] < 0) && (q > 0 || !isnan(error[k * Q]));
        }
        if (good) {
            memcpy(l->residual + (int64_t)row[k] * Q, error + k * Q, (size_t)Q * sizeof *error);
        } else {
            doc_defect(f, map->line, "errors: held-out sample %lld does not exist, or its errors are wrong",
                       (long long)k + 1);
        }
    }

    pl_free(row);

    return good;
}

// Sizes come from the description, which is read before.
static bool read_region(doc_robot_file *f, const doc_node *root, pl_learned *l)
{
    const doc_node *map = doc_child(root, "region");
    const pl_model_info *i = &l->about.info;
    const int64_t C = i->command_count;

    if (!map || map->kind != DOC_MAP) {
        doc_defect(f, map ? map->line : root->line, "expected a block 'region'");
        return false;
    }

    if (!doc_whole_read(f, map, "samples", 1, 100000000, &l->sample_count) ||
        !doc_real_read(f, map, "spacing", &l->spacing) || !doc_real_read(f, map, "width", &l->width)) {
        return false;
    }

    const doc_node *missing = doc_child(map, "missing");
    if (missing && !doc_whole_read(f, map, "missing", 0, 100000000, &l->missing)) {
        return false;
    }

    if (l->missing > 0) {
        doc_warning(f, missing->line,
                    "learned from an unfinished data set: %d of its samples were missing, the model has %d",
                    l->missing, l->sample_count);
    }

    l->low = PL_NEW_ARRAY(double, C);
    l->high = PL_NEW_ARRAY(double, C);
    l->known = PL_NEW_ARRAY(uint8_t, i->actuator_count);
    l->framed = PL_NEW_ARRAY(uint8_t, i->marker_count);
    l->sample = PL_NEW_ARRAY(double, l->sample_count *C);
    l->residual = PL_NEW_ARRAY(double, l->sample_count *(int64_t)pl_learned_columns(l));
    if (!l->low || !l->high || !l->known || !l->framed || !l->sample || !l->residual) {
        f->no_memory = true;
        return false;
    }

    return doc_numbers_read(f, map, "low", l->low, C, false) &&
           doc_numbers_read(f, map, "high", l->high, C, false) &&
           read_flags(f, map, "known", l->known, i->actuator_count) &&
           read_flags(f, map, "framed", l->framed, i->marker_count) &&
           doc_numbers_read(f, map, "commands", l->sample, l->sample_count * C, false) &&
           read_errors(f, map, l);
}

// Optional: modes of the shape.
static bool read_shape(doc_robot_file *f, const doc_node *root, pl_learned *l)
{
    const doc_node *map = doc_child(root, "shape");
    int points = 0;

    if (!map) {
        return true;
    }
    if (map->kind != DOC_MAP || !doc_whole_read(f, map, "points", 1, 100000000, &points) ||
        !doc_whole_read(f, map, "modes", 1, 200, &l->mode_count)) {
        return false;
    }

    const int64_t size = 3 * (int64_t)points;
    l->point_count = points;
    l->point_rest = PL_NEW_ARRAY(double, size);
    l->point_mean = PL_NEW_ARRAY(double, size);
    l->mode = PL_NEW_ARRAY(double, l->mode_count *size);
    if (!l->point_rest || !l->point_mean || !l->mode) {
        f->no_memory = true;
        return false;
    }

    return doc_numbers_read(f, map, "rest", l->point_rest, size, false) &&
           doc_numbers_read(f, map, "mean", l->point_mean, size, false) &&
           doc_numbers_read(f, map, "mode", l->mode, l->mode_count * size, false);
}

// The measured points of the process; its factor is computed again.
static bool read_process(doc_robot_file *f, const doc_node *map, const pl_learned *l, pl_adaptation *a)
{
    pl_gp_view v = {.input_count = l->about.info.command_count + a->extra_count,
                    .output_count = 3 * a->marker_count};
    if (!doc_whole_read(f, map, "samples", 2, 5000, &v.count) || !doc_real_read(f, map, "noise", &v.noise) ||
        !doc_real_read(f, map, "trend", &v.trend)) {
        return false;
    }

    const int64_t x = (int64_t)v.count * v.input_count, y = (int64_t)v.count * v.output_count;
    double *block = PL_NEW_ARRAY(double, x + y + v.input_count + v.output_count);
    if (!block) {
        f->no_memory = true;
        return false;
    }

    double *length = block + x + y, *variance = length + v.input_count;
    bool good = doc_numbers_read(f, map, "x", block, x, false) &&
                doc_numbers_read(f, map, "y", block + x, y, false) &&
                doc_numbers_read(f, map, "length", length, v.input_count, false) &&
                doc_numbers_read(f, map, "variance", variance, v.output_count, false);
    if (good) {
        pl_error err = {0};
        v.x = block;
        v.y = block + x;
        v.length = length;
        v.variance = variance;
        good = pl_gp_restore(&v, &a->gp, &err) == PL_OK;
        if (!good) {
            doc_defect(f, map->line, "%s", err.text);
        }
    }

    pl_free(block);

    return good;
}

// Names of further inputs, separated by blanks.
static void read_extra_names(const doc_node *map, pl_adaptation *a)
{
    const doc_node *names = doc_child(map, "extra_names");
    const char *at = names && names->kind == DOC_SCALAR ? names->text : "";
    for (int i = 0; i < a->extra_count; ++i) {
        int length = 0;
        while (*at == ' ') {
            ++at;
        }
        while (at[length] && at[length] != ' ') {
            ++length;
        }
        snprintf(a->extra_name[i], sizeof a->extra_name[i], "%.*s", length, at);
        at += length;
    }
}

// The measurements that an adaptation was made from: their inputs, and the errors of the model there.
static bool read_measurements(doc_robot_file *f, const doc_node *map, const pl_learned *l, pl_adaptation *a)
{
    double marker[1024];
    a->marker = PL_NEW_ARRAY(int, a->marker_count);
    a->extra = PL_NEW_ARRAY(double, a->extra_count);
    a->extra_name = pl_alloc_array((size_t)a->extra_count, sizeof *a->extra_name);
    if (!a->marker || !a->extra || !a->extra_name) {
        f->no_memory = true;
        return false;
    }

    const int64_t in = l->about.info.command_count + a->extra_count;
    a->sample = PL_NEW_ARRAY(double, a->sample_count *in);
    a->residual = PL_NEW_ARRAY(double, a->sample_count *(int64_t)a->marker_count);
    if (!a->sample || !a->residual) {
        f->no_memory = true;
        return false;
    }

    if (!doc_numbers_read(f, map, "measured", a->sample, a->sample_count * in, false) ||
        !doc_numbers_read(f, map, "errors", a->residual, a->sample_count * (int64_t)a->marker_count, false)) {
        return false;
    }

    if (a->marker_count > PL_COUNT(marker) ||
        !doc_numbers_read(f, map, "markers", marker, a->marker_count, false) ||
        !doc_numbers_read(f, map, "extra", a->extra, a->extra_count, false)) {
        return false;
    }

    for (int i = 0; i < a->marker_count; ++i) {
        if (!(marker[i] >= 0 && marker[i] < l->about.info.marker_count)) {
            doc_defect(f, map->line, "adaptation: marker %g does not exist", marker[i]);
            return false;
        }

        a->marker[i] = (int)marker[i];
    }

    read_extra_names(map, a);

    return true;
}

// Optional. Sizes first, each bounded, then arrays, then the network or the process.
static bool read_adaptation(doc_robot_file *f, const doc_node *root, pl_learned *l)
{
    const doc_node *map = doc_child(root, "adaptation");
    if (!map) {
        return true;
    }

    const doc_node *kind = map->kind == DOC_MAP ? doc_child(map, "kind") : NULL;
    pl_adaptation *a = l->adaptation = PL_NEW(pl_adaptation);
    if (!a) {
        f->no_memory = true;
        return false;
    }

    a->kind = kind && kind->kind == DOC_SCALAR ? pl_adapt_kind_find(kind->text) : PL_ADAPT_KIND_COUNT;
    if (a->kind == PL_ADAPT_KIND_COUNT) {
        doc_defect(f, map->line, "adaptation: expected the kind layer or process");
        return false;
    }

    if (!doc_whole_read(f, map, "measurements", 1, 10000000, &a->sample_count) ||
        !doc_real_read(f, map, "error_rms", &a->error_rms) ||
        !doc_real_read(f, map, "error_largest", &a->error_largest) ||
        !doc_whole_read(f, map, "marker_count", 1, l->about.info.marker_count, &a->marker_count) ||
        !doc_whole_read(f, map, "extra_count", 0, 16, &a->extra_count)) {
        return false;
    }

    if (!read_measurements(f, map, l, a)) {
        return false;
    }
    if (a->kind == PL_ADAPT_PROCESS) {
        return read_process(f, map, l, a);
    }

    // a layer behind the position network
    const doc_node *n = doc_child(map, "network");
    a->network = n ? read_network(f, n) : NULL;
    if (!a->network) {
        doc_defect(f, map->line, "adaptation: expected a network");
        return false;
    }

    const pl_network_def d = pl_network_get_def(a->network);
    if (d.input_count != 3 * a->marker_count || d.output_count != 3 * a->marker_count) {
        doc_defect(f, map->line, "adaptation: its network has %d inputs and %d outputs, expected %d",
                   d.input_count, d.output_count, 3 * a->marker_count);
        return false;
    }

    return true;
}

// Optional: cells with memory.
static bool read_history(doc_robot_file *f, const doc_node *root, pl_learned *l)
{
    const doc_node *map = doc_child(root, "history");
    pl_lstm_def d = {0};

    if (!map) {
        return true;
    }

    if (map->kind != DOC_MAP || !doc_whole_read(f, map, "inputs", 1, 1000, &d.input_count) ||
        !doc_whole_read(f, map, "outputs", 1, 1000, &d.output_count) ||
        !doc_whole_read(f, map, "cells", 1, 1000, &d.cell_count) ||
        !doc_whole_read(f, map, "burn", 0, 1000000, &l->history_burn) ||
        !doc_real_read(f, map, "compared_rms", &l->compared_rms)) {
        if (pl_findings_defect_count(f->findings) == 0) {
            doc_defect(f, map->line, "history: expected a block of keys");
        }
        return false;
    }

    // it must fit the robot
    const int inputs = l->about.info.command_count, outputs = 3 * l->about.info.marker_count;
    if (d.input_count != inputs || d.output_count != outputs) {
        doc_defect(f, map->line, "history: %d inputs and %d outputs, the robot needs %d and %d",
                   d.input_count, d.output_count, inputs, outputs);
        return false;
    }

    pl_error err = {0};
    l->past = PL_NEW_ARRAY(double, 2 * d.cell_count);
    if (!l->past || pl_lstm_create(&d, &l->history, &err) != PL_OK) {
        f->no_memory = true;
        return false;
    }

    const pl_network_scale s = pl_lstm_get_scale(l->history);
    bool good = doc_numbers_read(f, map, "in_mid", s.in_mid, d.input_count, false) &&
                doc_numbers_read(f, map, "in_width", s.in_width, d.input_count, false) &&
                doc_numbers_read(f, map, "out_mid", s.out_mid, d.output_count, false) &&
                doc_numbers_read(f, map, "out_width", s.out_width, d.output_count, false) &&
                doc_numbers_read(f, map, "weights", pl_lstm_weights(l->history),
                                 pl_lstm_weight_count(l->history), false);
    for (int i = 0; good && i < d.input_count; ++i) {
        if (s.in_width[i] == 0) {
            doc_defect(f, map->line, "in_width: must not be 0");
            good = false;
        }
    }

    return good;
}

// Files of other formats do not carry the errors that every answer needs.
static bool learned_format(doc_robot_file *f, const doc_node *about)
{
    int format = 1;
    if (doc_child(about, "format") && !doc_whole_read(f, about, "format", 1, 1000000, &format)) {
        return false;
    }
    if (format == LEARNED_FORMAT) {
        return true;
    }
    doc_defect(f, about->line, "a learned model of format %d, expected %d: %s", format, LEARNED_FORMAT,
               format < LEARNED_FORMAT
                   ? "it was written by an earlier version and does not carry the errors of "
                     "its markers; learn it again from its data set (and adapt it again)"
                   : "it was written by a later version");
    return false;
}

// Order: the description gives the sizes of everything else. *out only on success.
static pl_status learned_read(doc_robot_file *f, const doc_node *root, pl_learned **out, pl_error *err)
{
    const doc_node *about = root && root->kind == DOC_MAP ? doc_child(root, "learned") : NULL;
    if (!about || about->kind != DOC_MAP) {
        if (pl_findings_defect_count(f->findings) == 0) {
            doc_defect(f, 0, "expected a learned model: a block 'learned'");
        }
        return PL_BAD_INPUT;
    }

    pl_learned *l = PL_NEW(pl_learned);
    if (!l) {
        return pl_fail_memory(err, "the learned model");
    }
    if (!learned_format(f, about)) {
        pl_learned_destroy(l);
        return PL_BAD_INPUT;
    }

    const doc_node *print = doc_child(about, "robot_print");
    l->robot_print = print && print->kind == DOC_SCALAR ? strtoull(print->text, NULL, 16) : 0;
    const doc_node *file = doc_child(about, "robot_file");
    l->robot_file = file && file->kind == DOC_SCALAR ? pl_strdup(file->text) : NULL;

    // blocks, then what is computed from them
    const bool good = doc_about_read(f, about, &l->about) &&
                      doc_real_read(f, about, "mesh_size", &l->mesh_size) &&
                      doc_whole_read(f, about, "mesh_order", 0, 2, &l->mesh_order) &&
                      read_shape(f, root, l) && read_networks(f, root, l) && read_region(f, root, l) &&
                      read_history(f, root, l) && read_adaptation(f, root, l);
    pl_status status = f->no_memory ? pl_fail_memory(err, "the learned model") : good ? PL_OK : PL_BAD_INPUT;
    status = status == PL_OK ? pl_learned_finish(l, err) : status;
    if (status == PL_OK && l->adaptation) {
        status = pl_adaptation_finish(l->adaptation, l->about.info.command_count, err);
    }
    if (status != PL_OK) {
        pl_learned_destroy(l);
        return status;
    }

    *out = l;

    return PL_OK;
}

// Findings of the parser come first.
pl_status doc_learned_read(const pl_robot_document *document, pl_learned **out, pl_findings *findings,
                           pl_error *err)
{
    *out = NULL;
    const doc_robot_file *source = &document->source;
    doc_robot_file f = {.path = source->path, .folder = "", .findings = pl_findings_create()};
    if (!f.findings) {
        return pl_fail_memory(err, source->path);
    }
    for (int i = 0; i < pl_findings_count(source->findings); ++i) {
        doc_adopt_finding(&f, pl_findings_at(source->findings, i), 0);
    }

    pl_status status = learned_read(&f, document->root, out, err);
    if (status != PL_NO_MEMORY) {
        status = doc_robot_file_report(&f, status, findings, err);
    }
    doc_robot_file_clear(&f);
    if (status != PL_OK) {
        pl_learned_destroy(*out);
        *out = NULL;
    }

    return status;
}

pl_status pl_learned_read_text(const char *text, size_t length, const char *path, pl_learned **out,
                               pl_findings *findings, pl_error *err)
{
    pl_robot_document *document = NULL;
    *out = NULL;
    pl_status status = pl_robot_document_parse(text, length, path, &document, err);
    if (status == PL_OK) {
        status = doc_learned_read(document, out, findings, err);
    }
    pl_robot_document_destroy(document);

    return status;
}

const char *pl_learned_robot_file(const pl_learned *learned)
{
    return learned->robot_file;
}
