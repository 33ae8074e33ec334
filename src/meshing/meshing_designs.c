// The table of parametric designs: finding one, checking its parameters, meshing it.
#include <stdio.h>
#include "mesh/mesh.h"
#include "meshing/meshing.h"
#include "meshing/meshing_impl.h"

#define DESIGN_PARAMETERS_MAX 16 // of one design

static const design *const design_table[] = {
    // robots
    &design_bending_finger,
    &design_fiber_bender,
    &design_cable_finger,
    &design_knuckle_finger,
    &design_gripper_finger,
    &design_tentacle,
    &design_parallel,
    &design_three_chamber,
    &design_bellows_trunk,
    &design_cbha,
    &design_segment,
    &design_planar_arm,
    &design_twister,
    &design_membrane,
    &design_pillows,
    &design_dea_crawler,
    // test bodies
    &design_specimen,
    &design_beam,
    &design_sphere_shell,
    &design_tube,
};

int pl_design_count(void)
{
    return PL_COUNT(design_table);
}

const pl_design *pl_design_at(int i)
{
    return i >= 0 && i < pl_design_count() ? &design_table[i]->open : NULL;
}

// NULL: none of that name.
static const design *design_find(const char *kind)
{
    for (int i = 0; kind && i < PL_COUNT(design_table); ++i) {
        if (strcmp(design_table[i]->open.kind, kind) == 0) {
            return design_table[i];
        }
    }

    return NULL;
}

const pl_design *pl_design_find(const char *kind)
{
    const design *d = design_find(kind);
    return d ? &d->open : NULL;
}

// "robot.yaml:12: " or nothing.
static void design_place(const char *file, int line, char *text, size_t size)
{
    text[0] = 0;
    if (file && line > 0) {
        snprintf(text, size, "%s:%d: ", file, line);
    } else if (file) {
        snprintf(text, size, "%s: ", file);
    }
}

// Names the nearest design and lists all.
static pl_status design_unknown(const char *place, const char *kind, pl_error *err)
{
    const char *known[PL_COUNT(design_table)];
    pl_text list = {0};

    for (int i = 0; i < PL_COUNT(design_table); ++i) {
        known[i] = design_table[i]->open.kind;
        pl_text_add(&list, "%s%s", i ? ", " : "", known[i]);
    }

    const char *near = kind ? pl_nearest_word(kind, known, PL_COUNT(known)) : NULL;
    const pl_status status = pl_fail(err, PL_BAD_INPUT, "%sno design is called %s%s%s%s; there are %s", place,
                                     kind ? kind : "(nothing)", near ? " (did you mean " : "",
                                     near ? near : "", near ? "?)" : "", list.data ? list.data : "none");
    pl_text_clear(&list);

    return status;
}

// Names the nearest parameter.
static pl_status design_unknown_parameter(const design *d, const char *place, const char *name, pl_error *err)
{
    const char *known[DESIGN_PARAMETERS_MAX];
    for (int i = 0; i < d->open.parameter_count; ++i) {
        known[i] = d->open.parameter[i].name;
    }

    const char *near = pl_nearest_word(name, known, d->open.parameter_count);
    return pl_fail(err, PL_BAD_INPUT, "%sdesign %s has no parameter %s%s%s%s", place, d->open.kind, name,
                   near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

// The values of all parameters: defaults, overridden by those given, each inside its limits, and together
// possible.
static pl_status design_values(const design *d, const char *file, int line, const pl_source_parameter *given,
                               int given_count, double value[DESIGN_PARAMETERS_MAX], pl_error *err)
{
    PL_ASSERT(d->open.parameter_count <= DESIGN_PARAMETERS_MAX);
    bool seen[DESIGN_PARAMETERS_MAX] = {false};

    // defaults
    for (int i = 0; i < d->open.parameter_count; ++i) {
        value[i] = d->open.parameter[i].value;
    }

    // those given, each inside its limits
    for (int k = 0; k < given_count; ++k) {
        char place[300];
        design_place(file, given[k].line, place, sizeof place);
        int i = 0;
        while (i < d->open.parameter_count && strcmp(d->open.parameter[i].name, given[k].name) != 0) {
            ++i;
        }
        if (i == d->open.parameter_count) {
            return design_unknown_parameter(d, place, given[k].name, err);
        }
        const pl_design_parameter *p = &d->open.parameter[i];
        const double v = given[k].value;
        if (seen[i]) {
            return pl_fail(err, PL_BAD_INPUT, "%sdesign %s: %s is given twice", place, d->open.kind, p->name);
        }
        if (!(v >= p->low && v <= p->high)) {
            return pl_fail(err, PL_BAD_INPUT, "%sdesign %s: %s is %g%s%s, expected between %g and %g", place,
                           d->open.kind, p->name, v, p->unit[0] ? " " : "", p->unit, p->low, p->high);
        }

        if (p->whole && v != floor(v)) {
            return pl_fail(err, PL_BAD_INPUT, "%sdesign %s: %s is %g, expected a whole number", place,
                           d->open.kind, p->name, v);
        }

        seen[i] = true;
        value[i] = v;
    }

    // all of them together
    const char *wrong = d->check ? d->check(value) : NULL;
    if (wrong) {
        char place[300];
        design_place(file, line, place, sizeof place);
        return pl_fail(err, PL_BAD_INPUT, "%sdesign %s: %s", place, d->open.kind, wrong);
    }

    return PL_OK;
}

double pl_design_volume(const char *kind, const pl_source_parameter *parameter, int parameter_count,
                        const char *name)
{
    const design *d = design_find(kind);
    double value[DESIGN_PARAMETERS_MAX];
    if (!d || !name || design_values(d, NULL, 0, parameter, parameter_count, value, NULL) != PL_OK) {
        return -1;
    }
    return d->volume(value, name);
}

// Mid-edge nodes halfway between the ends of their edges.
static void design_straighten(const pl_mesh_view *v, double *position)
{
    for (int32_t e = 0; e < v->element_count; ++e) {
        const int32_t *node = v->node + v->node_start[e];
        for (int k = 0; v->kind[e] == PL_TET10 && k < pl_element_edge_count(PL_TET10); ++k) {
            int edge[3];
            pl_element_edge_nodes(PL_TET10, k, edge);
            for (int i = 0; i < 3; ++i) {
                position[3 * (int64_t)node[edge[2]] + i] = 0.5 * (position[3 * (int64_t)node[edge[0]] + i] +
                                                                  position[3 * (int64_t)node[edge[1]] + i]);
            }
        }
    }
}

// Moves the vertices of a drawing to where the design places them; straight edges where curved ones would
// invert an element. Replaces *mesh.
static pl_status design_place_mesh(const design *d, const double *value, const char *name, pl_mesh **mesh,
                                   pl_error *err)
{
    // place every vertex, mid nodes too, then unbend elements that are poorly bent
    const pl_mesh_view v = pl_mesh_get(*mesh);
    double *position = PL_NEW_ARRAY(double, 3 * (int64_t)v.vertex_count);

    if (!position) {
        return pl_fail_memory(err, "the vertices of a design");
    }
    memcpy(position, v.position, 3 * (size_t)v.vertex_count * sizeof *position);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        d->place(value, position + 3 * (int64_t)i);
    }
    meshing_relax(v.element_count, v.kind, v.node_start, v.node, position);
    const pl_mesh_fit fit = pl_mesh_get_fit(*mesh);
    pl_mesh *moved = NULL;

    // inverted elements: straight edges
    pl_error why = {0};
    pl_status status = pl_mesh_moved(*mesh, position, &moved, &why);
    if (status == PL_BAD_INPUT) {
        design_straighten(&v, position);
        status = pl_mesh_moved(*mesh, position, &moved, &why);
    }

    if (status != PL_OK) {
        pl_fail(err, status, "%s: %s; a smaller mesh size follows the shape", name, why.text);
    } else {
        pl_mesh_set_fit(moved, &fit);
        pl_mesh_destroy(*mesh);
        *mesh = moved;
    }

    pl_free(position);

    return status;
}

pl_status meshing_check_design(const pl_mesh_source *source, pl_error *err)
{
    double value[DESIGN_PARAMETERS_MAX];
    const design *d = design_find(source->design);

    if (!d) {
        char place[300];
        design_place(source->file, source->line, place, sizeof place);
        return design_unknown(place, source->design, err);
    }

    return design_values(d, source->file, source->line, source->parameter, source->parameter_count, value,
                         err);
}

// Draws the design with the values of the source and meshes it.
pl_status meshing_from_design(const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                              pl_findings *findings, pl_error *err)
{
    char place[300];
    design_place(source->file, source->line, place, sizeof place);
    const design *d = design_find(source->design);
    if (!d) {
        return design_unknown(place, source->design, err);
    }

    double value[DESIGN_PARAMETERS_MAX];
    pl_status status =
        design_values(d, source->file, source->line, source->parameter, source->parameter_count, value, err);
    if (status == PL_OK) {
        status = meshing_stage(progress, 0, "drawing", err);
    }

    gmsh_session g;
    if (status == PL_OK) {
        status = meshing_begin(&g, err);
    }
    if (status != PL_OK) {
        return status;
    }

    // prisms from sheets, or solids
    char name[64];
    snprintf(name, sizeof name, "design %s", d->open.kind);
    if (d->sheets) {
        sheet list[SHEETS_MAX];
        const int count = d->sheets(value, list);
        status = meshing_shell(&g, list, count, source, name, out, err);
    } else {
        drawing work = {.g = &g, .fill = source->fill};
        d->draw(&work, value);
        status = drawing_mesh(&work, name, source->size, source->order, progress, out, findings, err);
        if (status == PL_OK && d->place) {
            status = design_place_mesh(d, value, name, out, err);
        }
    }

    meshing_end(&g);

    return status;
}
