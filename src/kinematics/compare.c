// Comparisons: one pose of a full body by several methods. Shapes are compared on the corner mesh, which all
// methods share: distances to the exact shape there are a method's error, the distance between the two exact
// shapes is the mesh's.
#include "kinematics/kinematics.h"
#include "kinematics/kinematics_impl.h"
#include "model/model.h"
#include "robot/robot_def.h"

// What the rows of one comparison share.
typedef struct compare {
    const pl_robot *robot;
    const pl_compare_def *def;
    const pl_statics_options *statics;
    const pl_geometric_options *geometric;
    pl_comparison *out;
    int32_t *vertex_of; // corner vertex -> vertex of the robot's mesh
    int32_t corner_count;
} compare;

void pl_comparison_clear(pl_comparison *c)
{
    for (int i = 0; i < c->row_count; ++i) {
        pl_free(c->row[i].ratio);
        pl_free(c->row[i].asked);
        pl_free(c->row[i].x);
    }

    pl_mesh_destroy(c->corner);
    *c = (pl_comparison){0};
}

// Whether the linear robot has the vertices of the corner mesh, in the same order and within 1e-6 mm.
static bool compare_alike(const pl_robot *linear, const pl_mesh *corner)
{
    const pl_mesh_view a = pl_mesh_get(pl_robot_mesh(linear)), b = pl_mesh_get(corner);
    if (a.vertex_count != b.vertex_count) {
        return false;
    }

    for (int64_t i = 0; i < 3 * (int64_t)a.vertex_count; ++i) {
        if (!(fabs(a.position[i] - b.position[i]) <= 1e-6)) {
            return false;
        }
    }

    return true;
}

// ---- one method
// A new row with its arrays; distances are NAN until they are computed.
static pl_status compare_add(compare *c, const char *name, const char *method, bool corners,
                             pl_compare_row **row, pl_error *err)
{
    const int actuators = pl_robot_actuator_count(c->robot);
    if (c->out->row_count == PL_COMPARE_ROWS) {
        return pl_fail(err, PL_BAD_INPUT, "compare: at most %d results can be compared", PL_COMPARE_ROWS);
    }

    pl_compare_row *r = *row = &c->out->row[c->out->row_count++];
    *r = (pl_compare_row){.name = name, .method = method, .corners = corners, .tip = {NAN, NAN, NAN}};
    r->from_corners = r->mean_corners = r->from_quadratic = NAN;
    r->ratio = PL_NEW_ARRAY(double, actuators);
    r->asked = PL_NEW_ARRAY(double, actuators);
    r->x = PL_NEW_ARRAY(double, 3 * (int64_t)c->corner_count);

    return r->ratio && r->asked && r->x ? PL_OK : pl_fail_memory(err, "the comparison");
}

// Solves the pose and takes what the model tells of it; `of` gives the model's vertex of a corner, NULL: the
// same.
static pl_status compare_solve(const compare *c, pl_model *model, const int32_t *of, pl_compare_row *row,
                               pl_error *err)
{
    const pl_status status = pl_model_fk(model, c->def->command, &row->report, err);
    if (status != PL_OK) {
        return status;
    }

    // shape on the corner mesh, tip, and what the actuators reached
    const pl_model_info info = pl_model_get_info(model);
    const pl_model_answer a = pl_model_get_answer(model);
    for (int32_t v = 0; v < c->corner_count; ++v) {
        memcpy(row->x + 3 * (int64_t)v, a.point + 3 * (int64_t)(of ? of[v] : v), 3 * sizeof *row->x);
    }
    if (info.marker_count > 0) {
        memcpy(row->tip, a.marker, sizeof row->tip);
    }
    for (int i = 0; i < info.actuator_count; ++i) {
        row->ratio[i] = a.actuator[i].reached;
        row->asked[i] = a.actuator[i].asked;
    }

    return PL_OK;
}

// The exact method on a mesh: linear elements need the displacement formulation, so that
// locking is part of the comparison.
static pl_status compare_exact_on(compare *c, const pl_robot *robot, const char *name, bool corners,
                                  pl_error *err)
{
    pl_statics_options o = *c->statics;
    o.displacement = o.displacement || corners;
    o.time_limit = c->def->time_limit > 0 ? c->def->time_limit : o.time_limit;
    pl_model *model = NULL;
    pl_compare_row *row;
    pl_status status = compare_add(c, name, "exact", corners, &row, err);
    if (status == PL_OK) {
        status = pl_model_from_robot(robot, &o, &model, err);
    }
    if (status == PL_OK) {
        status = compare_solve(c, model, corners ? NULL : c->vertex_of, row, err);
    }
    pl_model_destroy(model);

    return status;
}

// On the quadratic mesh if there is one, and on the corner mesh.
static pl_status compare_exact(compare *c, pl_error *err)
{
    pl_status status = PL_OK;
    if (c->out->quadratic) {
        status = compare_exact_on(c, c->robot, "exact, quadratic", false, err);
    }
    if (status == PL_OK && (!c->out->quadratic || c->out->alike)) {
        status =
            compare_exact_on(c, c->out->quadratic ? c->def->linear : c->robot, "exact, corners", true, err);
    }

    return status;
}

// The row of the exact method on the corner mesh, or on the quadratic one; NULL when there is none.
static const pl_compare_row *compare_reference(const pl_comparison *c, bool corners)
{
    for (int i = 0; i < c->row_count; ++i) {
        if (strcmp(c->row[i].method, "exact") == 0 && c->row[i].corners == corners) {
            return &c->row[i];
        }
    }

    return NULL;
}

// The published growth knows volumes, not pressures: an actuator driven by effort is asked for the ratio that
// the exact method reached. A table says the ratio itself.
static void compare_ask(const compare *c, pl_geometric *g)
{
    const pl_compare_row *exact = compare_reference(c->out, true);
    exact = exact ? exact : compare_reference(c->out, false);
    for (int i = 0; exact && i < pl_robot_actuator_count(c->robot); ++i) {
        const pl_actuator_info a = pl_robot_actuator(c->robot, i);
        const bool commanded = a.command >= 0 && !isnan(c->def->command[a.command]);
        if (commanded && a.table_count == 0 && isnan(pl_robot_actuator_asked(c->robot, i, c->def->command))) {
            pl_geometric_ask(g, i, exact->ratio[i]);
        }
    }
}

// A published method or local_global with the options given.
static pl_status compare_geometric(compare *c, const char *method, pl_error *err)
{
    pl_geometric_options o = *c->geometric;
    pl_model *model = NULL;
    pl_compare_row *row;
    pl_status status = PL_OK;

    if (strcmp(method, "local_global") != 0) {
        status = pl_geometric_preset(method, &o, err);
    }
    o.time_limit = c->def->time_limit > 0 ? c->def->time_limit : o.time_limit;
    if (status == PL_OK) {
        status = compare_add(c, method, method, true, &row, err);
    }
    if (status == PL_OK) {
        status = pl_model_from_robot_geometric(c->robot, &o, &model, err);
    }

    if (status == PL_OK) {
        // efforts it cannot follow are replaced by the ratios that the exact method reached
        pl_geometric *g = pl_model_geometric(model);
        if (o.actuation == PL_ACTUATE_GROWTH || o.metric == PL_METRIC_VERTEX) {
            compare_ask(c, g);
        }
        status = compare_solve(c, model, c->vertex_of, row, err);
        row->report.factorizations = pl_geometric_get_info(g).factors;
    }

    pl_model_destroy(model);

    return status;
}

// ---- distances, mm
// Largest and mean distance between two shapes.
static double compare_apart(int32_t count, const double *a, const double *b, double *mean)
{
    double largest = 0, sum = 0;
    for (int64_t v = 0; v < count; ++v) {
        const double d = pl_distance3(a + 3 * v, b + 3 * v);
        largest = fmax(largest, d);
        sum += d / count;
    }

    *mean = sum;
    return largest;
}

// Distances of all rows to both exact shapes; NAN where there is none.
static void compare_distances(const compare *c)
{
    const pl_compare_row *corner = compare_reference(c->out, true),
                         *quadratic = compare_reference(c->out, false);
    for (int i = 0; i < c->out->row_count; ++i) {
        pl_compare_row *row = &c->out->row[i];
        double ignored;
        if (corner) {
            row->from_corners = compare_apart(c->corner_count, row->x, corner->x, &row->mean_corners);
        }
        if (quadratic) {
            row->from_quadratic = compare_apart(c->corner_count, row->x, quadratic->x, &ignored);
        }
    }
}

// *out is owned by the caller (pl_comparison_clear), also after a failure.
pl_status pl_compare_solve(const pl_robot *robot, const pl_compare_def *def,
                           const pl_statics_options *statics, const pl_geometric_options *geometric,
                           pl_comparison *out, pl_error *err)
{
    compare c = {.robot = robot, .def = def, .statics = statics, .geometric = geometric, .out = out};
    *out = (pl_comparison){0};
    if (def->method_count < 1) {
        return pl_fail(err, PL_BAD_INPUT,
                       "compare: no method is given, expected exact, local_global or fang2020");
    }

    // the corner mesh, on which all shapes are compared
    const pl_mesh *mesh = pl_robot_mesh(robot);
    pl_status status = pl_mesh_corners(mesh, &out->corner, &c.vertex_of, err);
    if (status == PL_OK) {
        c.corner_count = pl_mesh_get(out->corner).vertex_count;
        out->quadratic = c.corner_count < pl_mesh_get(mesh).vertex_count;
        out->alike = out->quadratic && def->linear && compare_alike(def->linear, out->corner);
    }

    // methods in the order given: published ones use the results of the exact one
    for (int i = 0; status == PL_OK && i < def->method_count; ++i) {
        if (def->begin) {
            def->begin(def->user, def->method[i]);
        }
        status = strcmp(def->method[i], "exact") == 0 ? compare_exact(&c, err)
                                                      : compare_geometric(&c, def->method[i], err);
    }

    if (status == PL_OK) {
        compare_distances(&c);
    }
    pl_mesh_free_indices(c.vertex_of);

    return status;
}

// ---- strains
// The strain that all but 0.5 % of the volume stay below: a few elements in corners would stretch the axis.
// Quantile by a fine histogram: no sorting of all elements.
static double strain_reach(int32_t n, const double *strain, const double *volume)
{
    enum { FINE = 2000 };
    double share[FINE] = {0}, whole = 0, largest = 1e-6, sum = 0;
    for (int32_t e = 0; e < n; ++e) {
        largest = fmax(largest, strain[e]);
        whole += volume[e];
    }

    for (int32_t e = 0; e < n; ++e) {
        share[(int)fmin(FINE - 1, fmax(0, strain[e] / largest * FINE))] += volume[e];
    }

    int k = 0;
    while (k < FINE && (sum += share[k]) < 0.995 * whole) {
        ++k;
    }

    return largest * (k + 1) / FINE;
}

// Shares of the volume in %, per bin of `width`; strains beyond the last bin count there.
static void strain_bins(int32_t n, const double *strain, const double *volume, double width, int bins,
                        double *share)
{
    double whole = 0;
    memset(share, 0, (size_t)bins * sizeof *share);
    for (int32_t e = 0; e < n; ++e) {
        whole += volume[e];
    }
    for (int32_t e = 0; e < n; ++e) {
        share[(int)fmin(bins - 1, fmax(0, strain[e] / width))] += 100 * volume[e] / whole;
    }
}

// Histograms of all rows with common bins: `middle` has their strains, `share` `bins` numbers per row.
pl_status pl_comparison_strains(const pl_comparison *c, int bins, double *middle, double *share,
                                pl_error *err)
{
    const int32_t n = pl_mesh_get(c->corner).element_count;
    double *strain = PL_NEW_ARRAY(double, n), *volume = PL_NEW_ARRAY(double, n), largest = 1e-6;
    pl_status status = strain && volume ? PL_OK : pl_fail_memory(err, "the strains");

    // one axis for all rows
    for (int i = 0; status == PL_OK && i < c->row_count; ++i) {
        pl_mesh_strain(c->corner, c->row[i].x, strain, volume);
        largest = fmax(largest, strain_reach(n, strain, volume));
    }

    for (int i = 0; status == PL_OK && i < c->row_count; ++i) {
        pl_mesh_strain(c->corner, c->row[i].x, strain, volume);
        strain_bins(n, strain, volume, largest / bins, bins, share + (int64_t)i * bins);
    }

    for (int b = 0; b < bins; ++b) {
        middle[b] = (b + 0.5) * largest / bins;
    }
    pl_free(strain);
    pl_free(volume);

    return status;
}

double pl_compare_marker(const pl_model *model, int marker, const pl_model *other)
{
    const int twin = pl_model_find_marker(other, pl_model_get_info(model).marker_name[marker]);
    return twin < 0 ? NAN
                    : pl_distance3(pl_model_get_answer(model).marker + 3 * marker,
                                   pl_model_get_answer(other).marker + 3 * twin);
}
