// pliant doctor: what is wrong with a robot, where, and how to mend it. Writes a VTU whose cell data `defect`
// marks it.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"
#include "cli_reduced.h"

static const cli_option options[] = {
    {"out", 0, "FILE",
     "write the mesh as .vtu with cell data `defect` (0: fine, else the number of the finding)", NULL},
    CLI_JSON,
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".vtu", NULL};

// ---- elements
// Elements for which `wrong` holds become one finding, placed at the worst.
static int32_t *doctor_bad_elements(const pl_mesh *mesh, double limit, int32_t *count, int32_t *worst)
{
    const int32_t n = pl_mesh_get(mesh).element_count;
    int32_t *bad = malloc((size_t)n * sizeof *bad + 1);
    double lowest = limit;
    *count = 0;
    for (int32_t e = 0; bad && e < n; ++e) {
        const double q = pl_mesh_element_quality(mesh, e);
        if (q < limit) {
            bad[(*count)++] = e;
            if (q < lowest) {
                lowest = q;
                *worst = e;
            }
        }
    }
    return bad;
}

static void doctor_centre(const pl_mesh *mesh, int32_t element, double centre[3])
{
    const pl_mesh_view view = pl_mesh_get(mesh);
    const int corners = pl_element_corner_count((pl_element_kind)view.kind[element]);
    memset(centre, 0, 3 * sizeof *centre);
    for (int k = 0; k < corners; ++k) {
        const int32_t v = view.node[view.node_start[element] + k];
        for (int i = 0; i < 3; ++i) {
            centre[i] += view.position[3 * v + i] / corners;
        }
    }
}

static void doctor_elements(const pl_mesh *mesh, pl_findings *findings)
{
    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);
    double place[3];
    if (q.inverted_count > 0) {
        doctor_centre(mesh, q.worst_element, place);
        pl_findings_add(findings, PL_DEFECT, NULL, 0,
                        "%d elements are inverted somewhere inside; the worst is element %d",
                        q.inverted_count, q.worst_element);
        pl_findings_advise(findings, "mesh again with a smaller --size, or with --order 1");
        pl_findings_place(findings, place, &q.worst_element, 1);
    }
    int32_t count = 0, worst = 0;
    int32_t *bad = doctor_bad_elements(mesh, 0.1, &count, &worst);
    if (bad && count > 0) {
        doctor_centre(mesh, worst, place);
        // a few flat elements hurt the solver's speed more than its answer
        const bool many = count * 100.0 > pl_mesh_get(mesh).element_count || q.worst < 0.01;
        pl_findings_add(findings, many ? PL_WARNING : PL_NOTE, NULL, 0,
                        "%d element%s flat (quality below 0.1); the worst is element %d with %.3f", count,
                        count == 1 ? " is" : "s are", worst, q.worst);
        pl_findings_advise(findings,
                           "mesh again with another --size; thin or sharp details make such elements");
        pl_findings_place(findings, place, bad, count);
    }
    free(bad);
}

static void doctor_parts(const pl_mesh *mesh, pl_findings *findings)
{
    int32_t *part = NULL;
    const int32_t count = pl_mesh_components(mesh, &part);
    const int32_t n = pl_mesh_get(mesh).element_count;
    int32_t *member = malloc((size_t)n * sizeof *member + 1);
    for (int32_t p = 1; part && member && p < count && p <= 20; ++p) {
        int32_t members = 0;
        for (int32_t e = 0; e < n; ++e) {
            if (part[e] == p) {
                member[members++] = e;
            }
        }
        double place[3] = {0};
        doctor_centre(mesh, members ? member[0] : 0, place);
        pl_findings_add(findings, PL_WARNING, NULL, 0,
                        "part %d of %d (%d elements) is joined to the others by no vertex", p + 1, count,
                        members);
        pl_findings_advise(
            findings, "if they should be one body, merge their common faces before meshing; if not, hold "
                      "each part or list it under `bodies`");
        pl_findings_place(findings, place, member, members);
    }
    free(member);
    pl_mesh_free_indices(part);
}

static double doctor_volume(const double *a, const double *b, const double *c, const double *d)
{
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                 v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]},
                 w[3] = {d[0] - a[0], d[1] - a[1], d[2] - a[2]};
    return u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) +
           u[2] * (v[0] * w[1] - v[1] * w[0]);
}

#define DOCTOR_DEEP 0.02 // of an element: touching is no overlap

// Whether a point that lies in an element lies well inside: every share of its volume, of its triangle and of
// its height is large enough. Curved tets are taken by their corners; prisms with curved edges are not
// judged.
static bool doctor_deep(const pl_mesh_view *view, const pl_embedding *in, const double p[3])
{
    const pl_element_kind kind = (pl_element_kind)view->kind[in->element];
    const double *X = view->position;
    double least = 1;
    if (kind == PL_TET4 || kind == PL_TET10) {
        const double *x[4];
        for (int k = 0; k < 4; ++k) {
            x[k] = X + 3 * (size_t)in->node[k];
        }
        const double whole = doctor_volume(x[0], x[1], x[2], x[3]);
        for (int k = 0; k < 4; ++k) {
            const double *y[4] = {x[0], x[1], x[2], x[3]};
            y[k] = p;
            least = fmin(least, doctor_volume(y[0], y[1], y[2], y[3]) / whole);
        }
        return least > DOCTOR_DEEP;
    }
    const double top = in->weight[3] + in->weight[4] + in->weight[5];
    for (int k = 0; k < 3; ++k) {
        least = fmin(least, in->weight[k] + in->weight[k + 3]);
    }
    return kind == PL_PRISM6 && fmin(least, fmin(top, 1 - top)) > DOCTOR_DEEP;
}

// The element that holds p well inside and has none of the `count` nodes; -1 when there is none. The search
// takes the element that holds a point deepest.
static int32_t doctor_stranger(const pl_mesh *mesh, const double p[3], const int32_t *node, int count)
{
    const pl_mesh_view view = pl_mesh_get(mesh);
    pl_embedding in;
    if (pl_mesh_embed(mesh, p, &in, NULL) != PL_OK || in.distance > 0 || !doctor_deep(&view, &in, p)) {
        return -1;
    }
    for (int a = 0; a < in.node_count; ++a) {
        for (int k = 0; k < count; ++k) {
            if (in.node[a] == node[k]) {
                return -1;
            }
        }
    }
    return in.element;
}

// Two parts share room where a corner of one lies inside an element of the other, or, when they lie in each
// other corner by corner, the middle of an element in a second one. One finding for all, at the first.
static int doctor_overlaps(const cli_args *args, const pl_mesh *mesh, pl_findings *findings)
{
    const pl_mesh_view view = pl_mesh_get(mesh);
    int32_t *found = malloc((size_t)view.element_count * sizeof *found + 1), count = 0, other = -1;
    bool *seen = calloc((size_t)view.vertex_count + 1, sizeof *seen);
    double place[3] = {0};
    for (int32_t e = 0; found && seen && e < view.element_count; ++e) {
        const int corners = pl_element_corner_count((pl_element_kind)view.kind[e]);
        const int32_t *node = view.node + view.node_start[e];
        double at[3];
        doctor_centre(mesh, e, at);
        int32_t stranger = doctor_stranger(mesh, at, node, corners);
        for (int k = 0; k < corners && stranger < 0; ++k) {
            memcpy(at, view.position + 3 * (size_t)node[k], sizeof at);
            stranger = seen[node[k]] ? -1 : doctor_stranger(mesh, at, node + k, 1);
            seen[node[k]] = true;
        }
        if (stranger >= 0) {
            if (count == 0) {
                memcpy(place, at, sizeof place);
            }
            other = count == 0 ? stranger : other;
            found[count++] = e;
        }
    }
    const bool whole = found && seen;
    if (whole && count > 0) {
        pl_findings_add(findings, PL_WARNING, NULL, 0,
                        "%d element%s with others; near (%.4g, %.4g, %.4g) regions '%s' and '%s' do", count,
                        count == 1 ? " shares room" : "s share room", cli_tidy(place[0], 6),
                        cli_tidy(place[1], 6), cli_tidy(place[2], 6),
                        view.region_name[view.region[found[0] < other ? found[0] : other]],
                        view.region_name[view.region[found[0] < other ? other : found[0]]]);
        pl_findings_advise(findings, "nothing keeps them apart: move one of the bodies (`pose`), or cut one "
                                     "part out of the other before meshing");
        pl_findings_place(findings, place, found, count);
    }
    free(found);
    free(seen);
    return whole ? CLI_DONE : cli_no_memory(args);
}

static void doctor_walls(const pl_mesh *mesh, pl_findings *findings)
{
    int32_t *element = NULL, count = 0;
    double thinnest = 0;
    pl_error err = {0};
    const bool quadratic = pl_mesh_get(mesh).kind[0] == PL_TET10 || pl_mesh_get(mesh).kind[0] == PL_PRISM15;
    if (pl_mesh_thin_walls(mesh, &element, &count, &thinnest, &err) == PL_OK && count > 0) {
        double place[3];
        doctor_centre(mesh, element[0], place);
        // one quadratic element across a wall bends well; one linear element does not
        pl_findings_add(findings, quadratic ? PL_NOTE : PL_WARNING, NULL, 0,
                        "%d elements span a wall alone; the thinnest such wall is %.3g mm", count, thinnest);
        pl_findings_advise(
            findings,
            quadratic ? "quadratic elements bend all the same; for stresses, --size %.2g puts two across"
                      : "linear elements are far too stiff here: use --order 2, or --size %.2g",
            0.5 * thinnest);
        pl_findings_place(findings, place, element, count);
    }
    pl_mesh_free_indices(element);
}

// ---- actuators, markers
static void doctor_chambers(const pl_robot *robot, pl_findings *findings)
{
    for (int i = 0; i < pl_robot_actuator_count(robot); ++i) {
        const pl_actuator_info info = pl_robot_actuator(robot, i);
        if (info.kind == PL_CHAMBER && info.rim_count > 0) {
            pl_findings_add(findings, PL_NOTE, NULL, 0,
                            "chamber '%s' is open at %d rim%s, capped flat; it holds %.4g mL", info.name,
                            info.rim_count, info.rim_count == 1 ? "" : "s", info.rest / 1000);
            pl_findings_advise(
                findings, "right for an air inlet; otherwise look at the surface with `pliant mesh --out "
                          "cavity.stl --surface ...`");
        }
        if (info.kind == PL_CHAMBER && !(info.rest > 0)) {
            pl_findings_add(findings, PL_DEFECT, NULL, 0,
                            "chamber '%s' encloses %.3g mm^3, expected a positive volume", info.name,
                            info.rest);
            pl_findings_advise(
                findings, "its faces must see the inside of the cavity: use `seen_from` with a point in it");
        }
    }
}

// Whether loading has said so already: a finding that names 'name' and says `words`.
static bool doctor_said(const pl_findings *findings, const char *name, const char *words)
{
    char quoted[200];
    snprintf(quoted, sizeof quoted, "'%s'", name);
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const char *text = pl_findings_at(findings, i)->text;
        if (strstr(text, quoted) && strstr(text, words)) {
            return true;
        }
    }
    return false;
}

static void doctor_markers(const pl_robot *robot, double edge, pl_findings *findings)
{
    for (int i = 0; i < pl_robot_marker_count(robot); ++i) {
        double place[3], distance = 0;
        pl_robot_marker_rest(robot, i, place, &distance);
        const char *name = pl_robot_marker_name(robot, i);
        if (distance > 1e-3 * edge && !doctor_said(findings, name, "off the body")) {
            pl_findings_add(findings, distance > 5 * edge ? PL_WARNING : PL_NOTE, NULL, 0,
                            "marker '%s' stands %.3g mm off the body at (%.4g, %.4g, %.4g)", name, distance,
                            cli_tidy(place[0], 6), cli_tidy(place[1], 6), cli_tidy(place[2], 6));
            pl_findings_advise(findings,
                               "it rides on the nearest face; if it should lie on the body, move its `at`");
            pl_findings_place(findings, place, NULL, 0);
        }
    }
}

// How far outside of the body the straight line from a to b runs: the largest distance, where, and the length
// outside.
static void doctor_segment(const pl_mesh *mesh, const double a[3], const double b[3], double *distance,
                           double place[3], double *outside)
{
    enum { SAMPLES = 40 };
    double length = 0;
    int out = 0;
    *distance = 0;
    for (int i = 0; i < 3; ++i) {
        length += (b[i] - a[i]) * (b[i] - a[i]);
    }
    for (int k = 1; k < SAMPLES; ++k) {
        double p[3];
        for (int i = 0; i < 3; ++i) {
            p[i] = a[i] + (b[i] - a[i]) * k / SAMPLES;
        }
        pl_embedding e;
        if (pl_mesh_embed(mesh, p, &e, NULL) != PL_OK) {
            return;
        }
        out += e.distance > 0;
        if (e.distance > *distance) {
            *distance = e.distance;
            memcpy(place, p, 3 * sizeof *place);
        }
    }
    *outside = sqrt(length) * out / SAMPLES;
}

static void doctor_cable(const pl_robot *robot, const char *name, const double *point, int count, double edge,
                         pl_findings *findings)
{
    const pl_mesh *mesh = pl_robot_mesh(robot);
    for (int k = 0; k < count; ++k) {
        pl_embedding e;
        if (pl_mesh_embed(mesh, point + 3 * k, &e, NULL) == PL_OK && e.distance > 0.01 * edge) {
            pl_findings_add(findings, PL_WARNING, NULL, 0,
                            "cable '%s': guide point %d at (%.4g, %.4g, %.4g) lies %.3g mm off the body",
                            name, k + 1, point[3 * k], point[3 * k + 1], point[3 * k + 2], e.distance);
            pl_findings_advise(findings,
                               "move the point into the body, or fix it in space if it is a pulley");
            pl_findings_place(findings, point + 3 * k, NULL, 0);
        }
    }
    for (int k = 0; k + 1 < count; ++k) {
        double distance = 0, place[3] = {0}, outside = 0;
        doctor_segment(mesh, point + 3 * k, point + 3 * k + 3, &distance, place, &outside);
        if (distance > 0.01 * edge) {
            pl_findings_add(
                findings, PL_NOTE, NULL, 0,
                "cable '%s' leaves the body between guide points %d and %d for %.3g mm, by %.3g mm at most, "
                "near (%.4g, %.4g, %.4g)",
                name, k + 1, k + 2, outside, distance, cli_tidy(place[0], 6), cli_tidy(place[1], 6),
                cli_tidy(place[2], 6));
            pl_findings_advise(findings,
                               "right where a tendon spans a notch; otherwise add guide points in between");
            pl_findings_place(findings, place, NULL, 0);
        }
    }
}

static int doctor_cables(const cli_args *args, const pl_robot *robot, double edge, pl_findings *findings)
{
    bool any = false;
    for (int i = 0; i < pl_robot_actuator_count(robot); ++i) {
        any = any || pl_robot_actuator(robot, i).kind == PL_CABLE;
    }
    if (!any) {
        return CLI_DONE;
    }
    pl_statics_options settings = pl_statics_options_default();
    pl_statics *statics = NULL;
    pl_state *state = NULL;
    pl_error err = {0};
    pl_status status = pl_state_create(robot, &state, &err);
    if (status == PL_OK) {
        status = pl_statics_create(robot, &settings, &statics, &err);
    }
    for (int i = 0; status == PL_OK && i < pl_robot_actuator_count(robot); ++i) {
        const pl_actuator_info info = pl_robot_actuator(robot, i);
        const int count = info.kind == PL_CABLE ? pl_statics_cable_points(statics, state, i, NULL, 0) : 0;
        double *point = count > 0 ? calloc(3 * (size_t)count, sizeof *point) : NULL;
        if (point) {
            pl_statics_cable_points(statics, state, i, point, count);
            doctor_cable(robot, info.name, point, count, edge, findings);
        }
        free(point);
    }
    pl_statics_destroy(statics);
    pl_state_destroy(state);
    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

static void doctor_supports(const pl_robot *robot, pl_findings *findings)
{
    if (pl_robot_fixed_count(robot) == 0) {
        pl_findings_add(findings, PL_WARNING, NULL, 0, "nothing holds the robot");
        pl_findings_advise(findings, "add `fixed: [{surface: base}]`");
    }
    if (pl_robot_marker_count(robot) == 0) {
        pl_findings_add(findings, PL_NOTE, NULL, 0, "no marker: `fk` will report no position");
        pl_findings_advise(findings, "add `markers: {tip: {surface: tip}}` or a point `{at: [x, y, z]}`");
    }
}

// ---- results
static int doctor_write(const cli_args *args, const pl_mesh *mesh, const pl_findings *findings)
{
    const char *path = cli_value(args, "out");
    if (!path) {
        return CLI_DONE;
    }
    const int32_t n = pl_mesh_get(mesh).element_count;
    double *mark = calloc((size_t)n + 1, sizeof *mark);
    if (!mark) {
        return cli_no_memory(args);
    }
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        pl_embedding e;
        for (int32_t k = 0; k < f->element_count; ++k) {
            mark[f->elements[k]] = i + 1;
        }
        if (f->has_place && f->element_count == 0 && pl_mesh_embed(mesh, f->place, &e, NULL) == PL_OK) {
            mark[e.element] = i + 1;
        }
    }
    const pl_data_array array = {.name = "defect", .value = mark, .components = 1, .on_elements = true};
    pl_error err = {0};
    const pl_status status =
        pl_shape_write_vtu(mesh, pl_mesh_get(mesh).position, &array, 1, NULL, 0, path, &err);
    free(mark);
    if (status != PL_OK) {
        return cli_fail_writing(args, &err);
    }
    cli_say(args, "  wrote %s (colour it by `defect`)\n", path);
    return CLI_DONE;
}

static json_t *doctor_json(const pl_robot *robot, const pl_findings *findings)
{
    static const char *const word[] = {"note", "warning", "error"};
    json_t *root = cli_json_head(robot, findings), *all = json_array();
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        json_t *one = json_object(), *elements = json_array();
        json_object_set_new(one, "severity", json_string(word[f->severity]));
        json_object_set_new(one, "file", f->file ? json_string(f->file) : json_null());
        json_object_set_new(one, "line", f->line > 0 ? json_integer(f->line) : json_null());
        json_object_set_new(one, "text", json_string(f->text));
        json_object_set_new(one, "advice", json_string(f->advice));
        json_object_set_new(one, "place", f->has_place ? cli_json_numbers(f->place, 3) : json_null());
        for (int32_t k = 0; k < f->element_count; ++k) {
            json_array_append_new(elements, json_integer(f->elements[k]));
        }
        json_object_set_new(one, "elements", elements);
        json_array_append_new(all, one);
    }
    json_object_set_new(root, "findings", all);
    return root;
}

// The summary and the exit status: 0 when there is nothing worse than notes.
static int doctor_verdict(const cli_args *args, const pl_findings *findings)
{
    int count[3] = {0};
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        ++count[pl_findings_at(findings, i)->severity];
    }
    if (count[PL_DEFECT] + count[PL_WARNING] == 0) {
        cli_say(args, count[PL_NOTE] ? "nothing wrong; notes: %d\n" : "nothing wrong\n", count[PL_NOTE]);
        return CLI_DONE;
    }
    cli_say(args, "errors: %d, warnings: %d, notes: %d\n", count[PL_DEFECT], count[PL_WARNING],
            count[PL_NOTE]);
    return CLI_BADLY;
}

static int doctor_examine(const cli_args *args, cli_robot *r)
{
    const pl_mesh *mesh = pl_robot_mesh(r->robot);
    const double edge = pl_mesh_measure_quality(mesh).mean_edge;
    doctor_elements(mesh, r->findings);
    doctor_parts(mesh, r->findings);
    doctor_walls(mesh, r->findings);
    doctor_chambers(r->robot, r->findings);
    doctor_markers(r->robot, edge, r->findings);
    doctor_supports(r->robot, r->findings);
    int status = doctor_overlaps(args, mesh, r->findings);
    status = status ? status : doctor_cables(args, r->robot, edge, r->findings);
    cli_findings(r->findings);
    status = status ? status : doctor_write(args, mesh, r->findings);
    status = status
                 ? status
                 : cli_json_write(args, cli_value(args, "json") ? doctor_json(r->robot, r->findings) : NULL);
    return status ? status : doctor_verdict(args, r->findings);
}

static int doctor_work(const cli_args *args, cli_robot *r)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, NULL);
    if (status) {
        return status;
    }
    r->path = cli_robot_path(args->plain[0]);
    r->findings = pl_findings_create();
    if (!r->path || !r->findings) {
        return cli_no_memory(args);
    }
    status = cli_check_outputs(args, NULL, r->path, NULL);
    if (status) {
        return status;
    }
    pl_error err = {0};
    const pl_status loaded = cli_robot_load(args, r->path, &r->robot, r->findings, &err);
    if (loaded == PL_OK) {
        return doctor_examine(args, r);
    }
    cli_findings(r->findings);
    err.status = loaded;
    status = CLI_WRONG;
    if (err.text[0] && (loaded != PL_BAD_INPUT || pl_findings_defect_count(r->findings) == 0)) {
        status = cli_fail(args, &err);
    }
    const int written = cli_json_write(args, cli_value(args, "json") ? doctor_json(NULL, r->findings) : NULL);
    doctor_verdict(args, r->findings);
    return written ? written : status;
}

static int doctor_run(cli_args *args)
{
    if (cli_is_reduced(args->plain[0])) {
        return cli_reduced_doctor(args);
    }
    cli_robot r = {0};
    const int status = doctor_work(args, &r);
    cli_robot_close(&r);
    return status;
}

const cli_verb cli_verb_doctor = {
    .name = "doctor",
    .summary = "what is wrong with a robot, where, and how to mend it",
    .usage = "ROBOT [options]",
    .about =
        "Looks for inverted and flat elements, walls one element thick, parts that hang loose, open "
        "cavities,\n"
        "cables that leave the body, markers off it, and implausible units. Exit status: 0 when nothing is\n"
        "worse than a note, 1 with warnings or errors, 2 when the robot cannot be loaded (all that is wrong\n"
        "with the file is listed).",
    .examples = "  pliant doctor finger\n"
                "  pliant doctor finger --out defects.vtu --json report.json\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = doctor_run,
};
