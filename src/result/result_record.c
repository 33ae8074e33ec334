// The record of a result as JSON and as rows of a table: the one place that says what a result is called in
// files.
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "model/model_record.h"
#include "pliant/result.h"

// ---- JSON. Memory running out leaves NULL values behind, which jansson refuses to add; `record_set` notes
// it.
typedef struct record_json {
    bool failed;
} record_json;

static void record_set(record_json *j, json_t *object, const char *key, json_t *value)
{
    // a name that is not UTF-8 cannot be a key of JSON
    if (json_object_set_new(object, key, value) != 0) {
        j->failed = true;
    }
}

static json_t *record_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *record_numbers(const double *value, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; ++i) {
        json_array_append_new(array, record_number(value[i]));
    }
    return array;
}

static json_t *record_warnings(const pl_record *r, const pl_findings *findings)
{
    json_t *array = json_array();
    char text[300];

    if (pl_record_crossing_text(r, text, sizeof text)) {
        json_array_append_new(array, json_string(text));
    }
    if (pl_record_guard_text(r, text, sizeof text)) {
        json_array_append_new(array, json_string(text));
    }
    if (pl_record_contact_text(r, text, sizeof text)) {
        json_array_append_new(array, json_string(text));
    }
    if (pl_record_mesh_error_text(r, text, sizeof text)) {
        json_array_append_new(array, json_string(text));
    }

    for (int i = 0; findings && i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        if (f->severity != PL_NOTE) {
            json_array_append_new(array, json_string(f->text));
        }
    }

    return array;
}

static void record_report(record_json *j, json_t *root, const pl_solve_report *p)
{
    record_set(j, root, "converged", json_boolean(p->outcome == PL_SOLVED));
    record_set(j, root, "outcome", json_string(pl_outcome_name(p->outcome)));
    record_set(j, root, "message", json_string(p->message));
    record_set(j, root, "iterations", json_integer(p->iterations));
    record_set(j, root, "increments", json_integer(p->increments));
    record_set(j, root, "factorizations", json_integer(p->factorizations));
    record_set(j, root, "solves", json_integer(p->solves));
    record_set(j, root, "residual", record_number(p->residual));
    record_set(j, root, "step", record_number(p->step));
    record_set(j, root, "seconds", record_number(p->seconds));
    record_set(j, root, "energy", record_number(p->energy));
    record_set(j, root, "load_reached", record_number(p->load_reached));
    if (p->buckling_load > 0) {
        record_set(j, root, "buckling_load", record_number(p->buckling_load));
    }
    if (p->limit_load > 0) {
        record_set(j, root, "limit_load", record_number(p->limit_load));
    }
    record_set(j, root, "equilibrium", json_boolean(!p->no_state));
    json_t *history = json_array();
    for (int i = 0; i < PL_CONTACT_HISTORY && (i == 0 || i <= p->contact_updates); ++i) {
        json_array_append_new(history, record_number(p->contact_penetration[i]));
    }
    record_set(j, root, "contact_penetration", history);
}

static json_t *record_commands(record_json *j, const pl_record *r)
{
    json_t *all = json_object();
    for (int i = 0; i < r->command_count; ++i) {
        json_t *one = json_object();
        record_set(j, one, "value", record_number(r->command[i].value));
        record_set(j, one, "unit", json_string(r->command[i].unit));
        record_set(j, all, r->command[i].name, one);
    }

    return all;
}

static json_t *record_actuators(record_json *j, const pl_record *r)
{
    json_t *all = json_object();
    for (int i = 0; i < r->actuator_count; ++i) {
        const pl_record_actuator *a = &r->actuator[i];
        json_t *one = json_object();
        record_set(j, one, "kind", json_string(a->kind));
        record_set(j, one, "drive", json_string(a->drive));
        record_set(j, one, a->measure_name, record_number(a->measure));
        record_set(j, one, "ratio", record_number(a->ratio));
        record_set(j, one, a->effort_name, record_number(a->effort));
        if (a->cable) {
            record_set(j, one, "slack", json_boolean(a->slack));
        }
        record_set(j, one, "asked", record_number(a->asked));
        record_set(j, one, "growth", json_boolean(a->growth));
        record_set(j, all, a->name, one);
    }

    return all;
}

static json_t *record_markers(record_json *j, const pl_record *r)
{
    json_t *all = json_object();
    for (int i = 0; i < r->marker_count; ++i) {
        const pl_record_marker *m = &r->marker[i];
        json_t *one = json_object();
        record_set(j, one, "position", record_numbers(m->position, 3));
        record_set(j, one, "displacement", record_numbers(m->displacement, 3));
        record_set(j, one, "rotation", m->has_rotation ? record_numbers(m->rotation, 9) : json_null());
        record_set(j, one, "turned_deg", record_number(m->has_rotation ? m->turned : NAN));
        record_set(j, one, "bend_deg", record_number(m->bend));
        record_set(j, one, "bend_axis", isfinite(m->bend) ? record_numbers(m->bend_axis, 3) : json_null());
        if (r->model_error.source != PL_ERROR_NONE) {
            record_set(j, one, "model_error", record_number(m->model_error));
        }
        record_set(j, all, m->name, one);
    }

    return all;
}

static bool record_pulled(const pl_record_marker *m)
{
    return m->force[0] != 0 || m->force[1] != 0 || m->force[2] != 0;
}

// Forces at markers beside the loads of the robot file.
static json_t *record_forces(record_json *j, const pl_record *r)
{
    json_t *all = json_object();
    for (int i = 0; i < r->marker_count; ++i) {
        if (record_pulled(&r->marker[i])) {
            record_set(j, all, r->marker[i].name, record_numbers(r->marker[i].force, 3));
        }
    }

    return all;
}

static void record_sensors(record_json *j, json_t *root, const pl_record *r)
{
    json_t *all = json_object(), *units = json_object();
    for (int i = 0; i < r->sensor_count; ++i) {
        record_set(j, all, r->sensor[i].name, record_number(r->sensor[i].value));
        record_set(j, units, r->sensor[i].name, json_string(r->sensor[i].unit));
    }

    record_set(j, root, "sensors", all);
    record_set(j, root, "sensor_units", units);
}

static json_t *record_reactions(record_json *j, const pl_record *r)
{
    json_t *all = json_object();
    for (int i = 0; i < r->reaction_count; ++i) {
        json_t *one = json_object();
        record_set(j, one, "force", record_numbers(r->reaction[i].force, 3));
        record_set(j, one, "moment", record_numbers(r->reaction[i].moment, 3));
        record_set(j, all, r->reaction[i].name, one);
    }

    return all;
}

// How many pairs of surface triangles cross, and a point of the first pair; null where nobody has looked.
static json_t *record_crossings(record_json *j, const pl_crossings *c)
{
    if (c->count < 0) {
        return json_null();
    }

    json_t *one = json_object();
    record_set(j, one, "pairs", json_integer(c->count));
    record_set(j, one, "at", c->count > 0 ? record_numbers(c->at, 3) : json_null());
    return one;
}

// The error of a surrogate; null: the model is none.
static json_t *record_model_error(record_json *j, const pl_record_error *e)
{
    if (e->source == PL_ERROR_NONE) {
        return json_null();
    }

    json_t *one = json_object();
    record_set(j, one, "mm", record_number(e->mm));
    record_set(j, one, "confidence", record_number(e->confidence));
    record_set(j, one, "source", json_string(pl_error_source_name(e->source)));

    return one;
}

// Where a solve got stuck; null where it did not.
static json_t *record_place(record_json *j, const pl_solve_report *p)
{
    if (!p->has_place) {
        return json_null();
    }

    json_t *one = json_object();
    record_set(j, one, "position", record_numbers(p->place, 3));
    record_set(j, one, "region", json_string(p->place_region));
    record_set(j, one, "element", json_integer(p->place_element));

    return one;
}

// The object under `key`, made when it is not there.
static json_t *record_group(record_json *j, json_t *object, const char *key)
{
    json_t *group = json_object_get(object, key);
    if (!group) {
        record_set(j, object, key, json_object());
        group = json_object_get(object, key);
    }

    return group;
}

static void record_readings(record_json *j, json_t *root, const pl_record *r)
{
    for (int i = 0; i < r->reading_count; ++i) {
        const pl_record_reading *k = &r->reading[i];
        json_t *object = record_group(j, record_group(j, root, k->group), k->name);
        // x, y and z of a vector make one array
        const size_t length = strlen(k->quantity);
        char vector[64];
        if (length > 2 && length < sizeof vector && strcmp(k->quantity + length - 2, "_x") == 0 &&
            i + 2 < r->reading_count) {
            snprintf(vector, sizeof vector, "%.*s", (int)length - 2, k->quantity);
            json_t *array = json_array();
            for (int a = 0; a < 3; ++a) {
                json_array_append_new(array, record_number(k[a].value));
            }
            record_set(j, object, vector, array);
            i += 2;
            continue;
        }

        record_set(j, object, k->quantity, record_number(k->value));
    }
}

char *pl_record_json(const pl_record *r, const pl_findings *findings)
{
    const pl_solve_report *p = &r->report;
    record_json state = {0}, *j = &state;
    char hash[20];

    snprintf(hash, sizeof hash, "%016" PRIx64, r->hash);
    json_t *root = json_object();
    record_set(j, root, "format", json_integer(1));
    record_set(j, root, "pliant", json_string(pl_version()));
    record_set(j, root, "robot", json_string(hash));
    record_set(j, root, "warnings", record_warnings(r, findings));
    record_set(j, root, "model", json_string(r->kind));
    record_set(j, root, "method", json_string(r->method));
    record_report(j, root, p);
    record_set(j, root, "vertices", json_integer(r->vertex_count));
    record_set(j, root, "elements", json_integer(r->element_count));
    record_set(j, root, "commands", record_commands(j, r));
    record_set(j, root, "actuators", record_actuators(j, r));
    record_set(j, root, "markers", record_markers(j, r));
    record_set(j, root, "forces", record_forces(j, r));
    record_sensors(j, root, r);
    record_set(j, root, "reactions", record_reactions(j, r));
    record_set(j, root, "contacts", json_object());
    record_set(j, root, "crossings", record_crossings(j, &r->crossings));
    record_set(j, root, "mesh_error", record_number(r->mesh_error.relative));
    record_set(j, root, "mesh_error_factor", record_number(r->mesh_error.factor));
    record_set(j, root, "model_error", record_model_error(j, &r->model_error));
    record_readings(j, root, r);
    record_set(j, root, "min_J", record_number(p->min_J));
    record_set(j, root, "max_stretch", record_number(p->max_stretch));
    record_set(j, root, "failed_at", record_place(j, p));
    record_set(j, root, "negative_count",
               p->negative_count < 0 ? json_null() : json_integer(p->negative_count));
    char *dump = j->failed ? NULL : json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(root);
    char *text = dump ? pl_strdup(dump) : NULL; // to be freed like every text of this room
    free(dump);

    return text;
}

// ---- tables
static char *record_end(pl_text *t)
{
    pl_text_add(t, "\n");
    if (t->failed) {
        pl_text_clear(t);
        return NULL;
    }

    return t->data;
}

static const char axis_name[] = "xyz";

static bool record_any_pulled(const pl_record *r)
{
    for (int i = 0; i < r->marker_count; ++i) {
        if (record_pulled(&r->marker[i])) {
            return true;
        }
    }

    return false;
}

static void record_marker_head(pl_text *t, const pl_record_marker *m)
{
    for (int k = 0; k < 3; ++k) {
        pl_text_add(t, ",");
        pl_text_add_cell(t, "%s.%c [mm]", m->name, axis_name[k]);
    }

    pl_text_add(t, ",");
    pl_text_add_cell(t, "%s.turned [deg]", m->name);
    pl_text_add(t, ",");
    pl_text_add_cell(t, "%s.bend [deg]", m->name);
}

char *pl_record_csv_head(const pl_record *r)
{
    pl_text t = {0};
    for (int i = 0; i < r->command_count; ++i) {
        pl_text_add_cell(&t, "%s [%s]", r->command[i].name, r->command[i].unit);
        pl_text_add(&t, ",");
    }

    pl_text_add(&t, "converged,outcome");
    for (int i = 0; i < r->marker_count; ++i) {
        record_marker_head(&t, &r->marker[i]);
        if (r->model_error.source > PL_ERROR_UNMEASURED) {
            pl_text_add(&t, ",");
            pl_text_add_cell(&t, "%s.model_error [mm]", r->marker[i].name);
        }
    }

    for (int i = 0; i < r->actuator_count; ++i) {
        const pl_record_actuator *a = &r->actuator[i];
        pl_text_add(&t, ",");
        pl_text_add_cell(&t, "%s.%s [%s]", a->name, a->measure_name, a->measure_unit);
        pl_text_add(&t, ",");
        pl_text_add_cell(&t, "%s.effort [%s]", a->name, a->effort_unit);
    }

    for (int i = 0; i < r->sensor_count; ++i) {
        pl_text_add(&t, ",");
        pl_text_add_cell(&t, "%s [%s]", r->sensor[i].name, r->sensor[i].unit);
    }

    for (int i = 0; i < r->reading_count; ++i) {
        pl_text_add(&t, ",");
        pl_text_add_cell(&t, "%s.%s [%s]", r->reading[i].name, r->reading[i].quantity, r->reading[i].unit);
    }

    for (int i = 0; record_any_pulled(r) && i < 3 * r->marker_count; ++i) {
        pl_text_add(&t, ",");
        pl_text_add_cell(&t, "%s.force.%c [N]", r->marker[i / 3].name, axis_name[i % 3]);
    }

    pl_text_add(&t, r->model_error.source > PL_ERROR_UNMEASURED ? ",model_confidence [1]" : "");
    pl_text_add(&t, ",min_J [1],max_stretch [1],energy [mJ],residual [N],seconds [s]");

    return record_end(&t);
}

static void record_cell(pl_text *t, double value)
{
    if (isfinite(value)) {
        pl_text_add(t, ",%.10g", value);
    } else {
        pl_text_add(t, ",");
    }
}

char *pl_record_csv_row(const pl_record *r)
{
    const pl_solve_report *p = &r->report;
    pl_text t = {0};

    for (int i = 0; i < r->command_count; ++i) {
        if (isfinite(r->command[i].value)) {
            pl_text_add(&t, "%.10g", r->command[i].value);
        }
        pl_text_add(&t, ",");
    }

    pl_text_add(&t, "%d,%s", p->outcome == PL_SOLVED, pl_outcome_name(p->outcome));
    for (int i = 0; i < r->marker_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            record_cell(&t, r->marker[i].position[k]);
        }
        record_cell(&t, r->marker[i].turned);
        record_cell(&t, r->marker[i].bend);
        if (r->model_error.source > PL_ERROR_UNMEASURED) {
            record_cell(&t, r->marker[i].model_error);
        }
    }

    for (int i = 0; i < r->actuator_count; ++i) {
        record_cell(&t, r->actuator[i].measure);
        record_cell(&t, r->actuator[i].effort);
    }

    for (int i = 0; i < r->sensor_count; ++i) {
        record_cell(&t, r->sensor[i].value);
    }
    for (int i = 0; i < r->reading_count; ++i) {
        record_cell(&t, r->reading[i].value);
    }
    for (int i = 0; record_any_pulled(r) && i < 3 * r->marker_count; ++i) {
        record_cell(&t, r->marker[i / 3].force[i % 3]);
    }
    if (r->model_error.source > PL_ERROR_UNMEASURED) {
        record_cell(&t, r->model_error.confidence);
    }

    const double rest[] = {p->min_J, p->max_stretch, p->energy, p->residual, p->seconds};
    for (int i = 0; i < PL_COUNT(rest); ++i) {
        record_cell(&t, rest[i]);
    }

    return record_end(&t);
}
