// Building a reduced model: copies of what was described, stations along the centre line, and all memory the
// model will ever use.
#include <stdlib.h>
#include "reduced/reduced_impl.h"
#include "robot/robot_kind.h"

// Memory of a model: a list of blocks, all freed together.
typedef struct reduced_block {
    struct reduced_block *next;
    double data[]; // doubles keep it aligned
} reduced_block;

// At most 4 GiB at once; a larger size means a wrong count.
void *reduced_take(pl_reduced_model *m, size_t count, size_t size)
{
    if (size && count > ((size_t)1 << 32) / size) {
        return NULL;
    }

    reduced_block *b = pl_alloc(sizeof *b + count * size + sizeof(double));
    if (!b) {
        return NULL;
    }
    b->next = m->block;
    m->block = b;

    return b->data;
}

void reduced_destroy(void *self)
{
    pl_reduced_model *m = self;
    for (reduced_block *b = m->block; b;) {
        reduced_block *next = b->next;
        pl_free(b);
        b = next;
    }

    pl_mesh_destroy(m->tube);
    pl_error_map_destroy(m->errors);
    pl_free(m);
}

char *reduced_text(pl_reduced_model *m, const char *text)
{
    const size_t length = strlen(text) + 1;
    char *copy = REDUCED_TAKE(m, char, length);
    return copy ? memcpy(copy, text, length) : NULL;
}

// ---- stations
static int create_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// A point on the joint of two sections belongs to the upper one.
int reduced_section_at(const pl_reduced_model *m, double s)
{
    int i = 0;
    while (i + 1 < m->section_count && s >= m->section[i + 1].start) {
        ++i;
    }
    return i;
}

// Linear between the ends of a section, mm.
double reduced_diameter(const pl_reduced_model *m, double s)
{
    const reduced_section *c = &m->section[reduced_section_at(m, s)];
    const double f = fmin(fmax((s - c->start) / c->length, 0), 1);
    return c->diameter[0] + f * (c->diameter[1] - c->diameter[0]);
}

// Positions closer than 1e-7 of the length become one station.
pl_status reduced_stations(pl_reduced_model *m, const double *wanted, int wanted_count, pl_error *err)
{
    // positions that must be stations: ends of sections, and the wanted ones
    const int most = m->section_count + 1 + wanted_count;
    double *mark = PL_NEW_ARRAY(double, most);

    if (!mark) {
        return pl_fail_memory(err, "the reduced model's stations");
    }
    for (int i = 0; i < m->section_count; ++i) {
        mark[i] = m->section[i].start;
    }
    mark[m->section_count] = m->length;
    for (int i = 0; i < wanted_count; ++i) {
        mark[m->section_count + 1 + i] = fmin(fmax(wanted[i], 0), m->length);
    }
    qsort(mark, (size_t)most, sizeof *mark, create_compare);

    // count, then fill
    for (int pass = 0; pass < 2; ++pass) {
        int count = 1;
        double last = 0;

        for (int i = 1; i < most; ++i) {
            if (mark[i] - last <= 1e-7 * m->length) {
                continue;
            }
            const reduced_section *c = &m->section[reduced_section_at(m, 0.5 * (last + mark[i]))];
            // the section's piece length h divides the gap; 1e-6 keeps rounding from adding a piece
            const double h = c->length / c->pieces, gap = mark[i] - last;
            const int pieces = (int)fmax(1, ceil(gap / h - 1e-6));
            for (int k = 1; k <= pieces; ++k) {
                if (pass) {
                    m->station_s[count] = k == pieces ? mark[i] : last + gap * k / pieces;
                }
                ++count;
            }

            last = mark[i];
        }

        if (!pass) {
            m->station_count = count;
            m->station_s = count <= REDUCED_STATIONS_MAX ? REDUCED_TAKE(m, double, count) : NULL;

            if (!m->station_s) {
                pl_free(mark);
                return count <= REDUCED_STATIONS_MAX
                           ? pl_fail_memory(err, "the reduced model's stations")
                           : pl_fail(err, PL_BAD_INPUT, "model: %d pieces along the line, at most %d", count,
                                     REDUCED_STATIONS_MAX);
            }
        }
    }

    pl_free(mark);

    return PL_OK;
}

// Wanted are the markers (left in station_s by create_kind) and both ends of every path.
pl_status reduced_line(pl_reduced_model *m, pl_error *err)
{
    const int markers = m->station_count, most = markers + 2 * (m->actuator_count + m->sensor_count);
    double *wanted = REDUCED_TAKE(m, double, most);

    if (!wanted) {
        return pl_fail_memory(err, "the reduced model's stations");
    }

    int count = 0;
    for (int i = 0; i < markers; ++i) {
        wanted[count++] = m->station_s[i];
    }
    for (int i = 0; i < m->actuator_count; ++i) {
        wanted[count++] = m->actuator[i].path.span[0];
        wanted[count++] = m->actuator[i].path.span[1];
    }

    for (int i = 0; i < m->sensor_count; ++i) {
        if (pl_sensor_is_line(m->sensor[i].kind)) {
            wanted[count++] = m->sensor[i].path.span[0];
            wanted[count++] = m->sensor[i].path.span[1];
        }
    }

    return reduced_stations(m, wanted, count, err);
}

// ---- copies
// A copy of a path; false when out of memory.
static bool create_path(pl_reduced_model *m, const pl_line_path_def *d, reduced_path *p)
{
    *p = (reduced_path){.span = {fmax(d->span[0], 0), fmin(d->span[1], m->length)},
                        .radius = {d->radius[0], d->radius[1]},
                        .angle = d->angle,
                        .turns = d->turns,
                        .waypoint_count = d->waypoint_count};
    if (d->waypoint_count > 0) {
        p->waypoint = REDUCED_TAKE(m, double, 3 * d->waypoint_count);
        if (!p->waypoint) {
            return false;
        }
        memcpy(p->waypoint, d->waypoint, 3 * (size_t)d->waypoint_count * sizeof(double));
    }

    return true;
}

// Pieces of a section where the file gives none: 20 elements, 8 gaps, 8 arcs in a cone.
static int create_default_pieces(const pl_reduced_def *d, const pl_section_def *s)
{
    const bool cone = s->diameter[0] != s->diameter[1];
    return s->share_count > 0                 ? s->share_count
           : s->pieces > 0                    ? s->pieces
           : d->kind == PL_VERTEBRAE          ? 8
           : d->kind == PL_CONSTANT_CURVATURE ? (cone ? 8 : 1)
                                              : 20;
}

// Copies of the sections with their start, weight and distributed loads.
static bool create_sections(pl_reduced_model *m, const pl_reduced_def *d)
{
    m->section = REDUCED_TAKE(m, reduced_section, d->section_count);
    m->section_count = d->section_count;
    for (int i = 0; m->section && i < d->section_count; ++i) {
        const pl_section_def *s = &d->section[i];
        reduced_section *c = &m->section[i];
        *c = (reduced_section){.start = m->length,
                               .length = s->length,
                               .EA = s->EA,
                               .GJ = s->GJ,
                               .mass = s->mass,
                               .pieces = create_default_pieces(d, s)};
        memcpy(c->diameter, s->diameter, sizeof c->diameter);
        memcpy(c->EI, s->EI, sizeof c->EI);
        memcpy(c->GA, s->GA, sizeof c->GA);
        m->length += s->length;

        // load per length in the world: weight and what acts on this section or on all
        for (int k = 0; k < 3; ++k) {
            c->load[k] = s->mass * d->gravity[k];
        }
        for (int j = 0; j < d->load_count; ++j) {
            if (!d->load[j].section || strcmp(d->load[j].section, s->name) == 0) {
                reduced_axpy3(1, d->load[j].force, c->load);
            }
        }

        c->name = reduced_text(m, s->name);
        c->share = REDUCED_TAKE(m, double, c->pieces);
        if (!c->name || !c->share) {
            return false;
        }

        // shares of the gaps: equal where none are given
        for (int k = 0; k < c->pieces; ++k) {
            c->share[k] = s->share_count > 0 ? s->share[k] : 1.0 / c->pieces;
        }
    }

    return m->section != NULL;
}

// Copies of the actuators; their commands follow later (reduced_create_commands).
static bool create_actuators(pl_reduced_model *m, const pl_reduced_def *d)
{
    const int count = d->actuator_count;
    m->actuator_count = count;
    m->actuator = REDUCED_TAKE(m, reduced_actuator, count);
    m->info.actuator_name = REDUCED_TAKE(m, const char *, count);
    if (!m->actuator || !m->info.actuator_name) {
        return false;
    }

    for (int i = 0; i < count; ++i) {
        const pl_line_actuator_def *s = &d->actuator[i];
        reduced_actuator *a = &m->actuator[i];
        *a = (reduced_actuator){.kind = s->kind,
                                .drive = s->drive,
                                .has_range = s->has_range,
                                .idle_hold = s->idle_hold,
                                .area = s->area,
                                .command = -1,
                                .factor = 1,
                                .rate = s->rate,
                                .hardware = s->hardware};
        memcpy(a->range, s->range, sizeof a->range);
        memcpy(a->effectiveness, s->effectiveness, sizeof a->effectiveness);
        a->name = reduced_text(m, s->name);
        if (!a->name || !create_path(m, &s->path, &a->path)) {
            return false;
        }
        m->info.actuator_name[i] = a->name;
    }

    return true;
}

static int create_find(const char *const *name, int count, const char *wanted)
{
    for (int i = 0; i < count; ++i) {
        if (strcmp(name[i], wanted) == 0) {
            return i;
        }
    }

    return -1;
}

// Sensors by length have a path, those of pressure and volume belong to a chamber.
static bool create_sensors(pl_reduced_model *m, const pl_reduced_def *d)
{
    m->sensor_count = d->sensor_count;
    m->sensor = REDUCED_TAKE(m, reduced_sensor, d->sensor_count);
    m->info.sensor_name = REDUCED_TAKE(m, const char *, d->sensor_count);
    m->info.sensor_kind = REDUCED_TAKE(m, pl_sensor_kind, d->sensor_count);
    if (!m->sensor || !m->info.sensor_name || !m->info.sensor_kind) {
        return false;
    }

    for (int i = 0; i < d->sensor_count; ++i) {
        const pl_line_sensor_def *s = &d->sensor[i];
        m->sensor[i] = (reduced_sensor){.kind = s->kind, .actuator = -1};
        m->info.sensor_kind[i] = s->kind;
        m->info.sensor_name[i] = reduced_text(m, s->name);
        if (!m->info.sensor_name[i]) {
            return false;
        }
        if (pl_sensor_is_line(s->kind)) {
            if (!create_path(m, &s->path, &m->sensor[i].path)) {
                return false;
            }
        } else {
            m->sensor[i].actuator = create_find(m->info.actuator_name, m->actuator_count, s->actuator);
        }
    }

    return true;
}

// Markers ride on the nearest station; what is left goes into their offset.
static void create_attach(const pl_reduced_model *m, double at, const double offset[3], reduced_marker *out)
{
    int best = 0;
    for (int i = 1; i < m->station_count; ++i) {
        best = fabs(m->station_s[i] - at) < fabs(m->station_s[best] - at) - 1e-9 * m->length ? i : best;
    }

    // the rest of the distance is an offset along the axis of the undeformed line
    out->station = best;
    memcpy(out->offset, offset, sizeof out->offset);
    if (fabs(at - m->station_s[best]) > 1e-7 * m->length) {
        out->offset[2] += at - m->station_s[best];
    }
    m->station_used[best] = true;
}

// Markers with their rest positions, and the forces that act at them.
static bool create_markers(pl_reduced_model *m, const pl_reduced_def *d)
{
    m->station_used = REDUCED_TAKE(m, bool, m->station_count);
    m->marker = REDUCED_TAKE(m, reduced_marker, d->marker_count);
    m->info.marker_name = REDUCED_TAKE(m, const char *, d->marker_count);
    m->info.marker_rest = REDUCED_TAKE(m, double, 3 * d->marker_count);
    m->force = REDUCED_TAKE(m, reduced_force, d->force_count);
    if (!m->station_used || !m->marker || !m->info.marker_name || !m->info.marker_rest || !m->force) {
        return false;
    }
    m->marker_count = d->marker_count;
    m->force_count = d->force_count;

    for (int i = 0; i < d->marker_count; ++i) {
        create_attach(m, d->marker[i].at, d->marker[i].offset, &m->marker[i]);
        m->info.marker_name[i] = reduced_text(m, d->marker[i].name);
        if (!m->info.marker_name[i]) {
            return false;
        }

        // position in the undeformed configuration, in the world
        const double local[3] = {m->marker[i].offset[0], m->marker[i].offset[1],
                                 m->marker[i].offset[2] + m->station_s[m->marker[i].station]};
        pl_mulv3(m->base.R, local, m->info.marker_rest + 3 * i);
        reduced_axpy3(1, m->base.r, m->info.marker_rest + 3 * i);
    }

    for (int i = 0; i < d->force_count; ++i) {
        const pl_line_force_def *s = &d->force[i];
        reduced_force *f = &m->force[i];
        const reduced_marker *at = &m->marker[create_find(m->info.marker_name, m->marker_count, s->marker)];
        f->station = at->station;
        f->follower = s->follower;
        memcpy(f->offset, at->offset, sizeof f->offset);
        memcpy(f->force, s->force, sizeof f->force);
        memcpy(f->moment, s->moment, sizeof f->moment);
    }

    return true;
}

// ---- memory for answers and derivatives
// One block for everything that a solve changes, so that a state is stored and restored by one copy.
static bool create_now(pl_reduced_model *m)
{
    const size_t frame = sizeof(reduced_frame) / sizeof(double) * (size_t)m->station_count;
    const size_t a = (size_t)m->actuator_count, k = (size_t)m->marker_count;

    m->now_count =
        frame + (size_t)m->command_count + 3 * a + 15 * k + (size_t)m->sensor_count + 1 + m->own_count;
    m->now = REDUCED_TAKE(m, double, m->now_count);
    if (!m->now) {
        return false;
    }

    // frames first; then commands, values and forces; then answers; the kind's unknowns last
    double *at = m->now;
    m->frame = (reduced_frame *)at, at += frame;
    m->command = at, at += m->command_count;
    m->value = at, at += a;
    m->acting = at, at += 3 * k;
    m->answer.effort = at, at += a;
    m->answer.measure = at, at += a;
    m->answer.marker = at, at += 3 * k;
    m->answer.rotation = at, at += 9 * k;
    m->answer.sensor = at, at += m->sensor_count;
    m->answer.energy = at, at += 1;
    m->own = at;

    return true;
}

// Rows of derivatives: by actuator values (`by`), then by commands (`d`).
static bool create_derivatives(pl_reduced_model *m)
{
    const int a = m->actuator_count, c = m->command_count, p = 3 * m->point_count;
    reduced_by *by = &m->by;
    double **const rows[] = {&by->twist,    &by->effort,  &by->measure,   &by->sensor,  &by->energy,
                             &by->point,    &m->d.marker, &m->d.rotation, &m->d.sensor, &m->d.effort,
                             &m->d.measure, &m->d.point,  &m->d.energy};
    const int count[] = {6 * m->station_count * a,
                         a * a,
                         a * a,
                         m->sensor_count * a,
                         a,
                         p * a,
                         3 * m->marker_count * c,
                         3 * m->marker_count * c,
                         m->sensor_count * c,
                         a * c,
                         a * c,
                         p * c,
                         c};

    for (int i = 0; i < PL_COUNT(count); ++i) {
        *rows[i] = REDUCED_TAKE(m, double, count[i]);
        if (!*rows[i]) {
            return false;
        }
    }

    return true;
}

// Points of the drawn centre line; a kind without points of its own uses the stations.
static bool create_points(pl_reduced_model *m)
{
    if (!m->point_s) {
        m->point_count = m->station_count;
        m->point_s = m->station_s;
    }

    m->answer.point = REDUCED_TAKE(m, double, 3 * m->point_count);
    m->answer.point_R = REDUCED_TAKE(m, double, 9 * m->point_count);
    m->info.rest = REDUCED_TAKE(m, double, 3 * m->point_count);
    if (!m->answer.point || !m->answer.point_R || !m->info.rest) {
        return false;
    }

    for (int i = 0; i < m->point_count; ++i) {
        const double local[3] = {0, 0, m->point_s[i]};
        pl_mulv3(m->base.R, local, m->info.rest + 3 * i);
        reduced_axpy3(1, m->base.r, m->info.rest + 3 * i);
    }

    return true;
}

// Everything that decides the answers, as numbers: a stored error or data set belongs to this hash.
static void create_hash(pl_reduced_model *m, const pl_reduced_def *d)
{
    uint64_t h = pl_hash_bytes(PL_HASH_SEED, &d->kind, sizeof d->kind);
    h = pl_hash_bytes(h, &d->as_published, sizeof d->as_published);
    h = pl_hash_bytes(h, &m->base, sizeof m->base);

    for (int i = 0; i < m->section_count; ++i) {
        const reduced_section *s = &m->section[i];
        h = pl_hash_bytes(h, &s->start, offsetof(reduced_section, pieces) - offsetof(reduced_section, start));
        h = pl_hash_bytes(h, &s->pieces, sizeof s->pieces);
        h = pl_hash_bytes(h, s->share, (size_t)s->pieces * sizeof *s->share);
    }

    for (int i = 0; i < m->actuator_count; ++i) {
        const reduced_actuator *a = &m->actuator[i];
        const double numbers[] = {a->area,
                                  a->effectiveness[0],
                                  a->effectiveness[1],
                                  a->factor,
                                  a->path.angle,
                                  a->path.turns,
                                  a->path.span[0],
                                  a->path.span[1],
                                  a->path.radius[0],
                                  a->path.radius[1],
                                  (double)a->kind,
                                  (double)a->drive,
                                  (double)a->command,
                                  (double)a->idle_hold,
                                  (double)a->one_sided};
        h = pl_hash_bytes(h, numbers, sizeof numbers);
        h = pl_hash_bytes(h, a->path.waypoint, 3 * (size_t)a->path.waypoint_count * sizeof(double));
    }

    for (int i = 0; i < m->marker_count; ++i) {
        h = pl_hash_bytes(h, m->marker[i].offset, sizeof m->marker[i].offset);
        h = pl_hash_bytes(h, &m->marker[i].station, sizeof m->marker[i].station);
    }

    for (int i = 0; i < m->force_count; ++i) {
        h = pl_hash_bytes(h, d->force[i].force, sizeof d->force[i].force);
        h = pl_hash_bytes(h, d->force[i].moment, sizeof d->force[i].moment);
        h = pl_hash_bytes(h, &d->force[i].follower, sizeof d->force[i].follower);
    }

    m->hash = h;
}

// After the commands, which say what drives an actuator.
static bool create_actuator_info(pl_reduced_model *m)
{
    m->info.actuator = REDUCED_TAKE(m, pl_actuator_info, m->actuator_count);
    m->info.state = REDUCED_TAKE(m, pl_actuator_state, m->actuator_count);
    for (int i = 0; m->info.actuator && i < m->actuator_count; ++i) {
        const reduced_actuator *a = &m->actuator[i];
        m->info.actuator[i] = (pl_actuator_info){.name = a->name,
                                                 .kind = a->kind,
                                                 .drive = a->drive,
                                                 .range = {a->range[0], a->range[1]},
                                                 .has_range = a->has_range,
                                                 .idle_hold = a->idle_hold,
                                                 .rest = a->rest,
                                                 .command = a->command,
                                                 .factor = a->factor,
                                                 .one_sided = a->one_sided,
                                                 .rate = a->rate,
                                                 .axis = a->hardware.axis,
                                                 .hardware = &a->hardware};
    }

    return m->info.actuator && m->info.state;
}

// A beam as published is a kind of its own; otherwise beams are rods (chains of the same element).
static const reduced_ops *create_ops(const pl_reduced_def *d)
{
    return d->kind == PL_CONSTANT_CURVATURE        ? &reduced_cc_ops
           : d->kind == PL_VERTEBRAE               ? &reduced_vertebrae_ops
           : d->kind == PL_BEAM && d->as_published ? &reduced_beam_ops
                                                   : &reduced_rod_ops;
}

// The identity where no frame is given (all zeros).
static void create_base(pl_reduced_model *m, const pl_reduced_def *d)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    bool given = false;

    for (int i = 0; i < 9; ++i) {
        given = given || d->frame[i] != 0;
    }
    memcpy(m->base.R, given ? d->frame : identity, sizeof m->base.R);
    memcpy(m->base.r, d->base, sizeof m->base.r);
}

// The kind creates the stations; it reads the wanted positions of the markers from station_s.
static pl_status create_kind(pl_reduced_model *m, const pl_reduced_def *d, pl_error *err)
{
    double *wanted = REDUCED_TAKE(m, double, d->marker_count + 1);
    if (!wanted) {
        return pl_fail_memory(err, "the reduced model");
    }
    for (int i = 0; i < d->marker_count; ++i) {
        wanted[i] = d->marker[i].at;
    }
    m->station_s = wanted;
    m->station_count = d->marker_count;

    return m->ops->create(m, err);
}

pl_status pl_reduced_create(const pl_reduced_def *def, pl_model **out, pl_findings *findings, pl_error *err)
{
    *out = NULL;
    pl_status status = pl_reduced_check(def, findings, err);
    if (status != PL_OK) {
        return status;
    }

    // copies of the description
    pl_reduced_model *m = PL_NEW(pl_reduced_model);
    if (!m) {
        return pl_fail_memory(err, "the reduced model");
    }
    m->kind = def->kind;
    m->as_published = def->as_published;
    m->ops = create_ops(def);
    m->name = reduced_text(m, def->name ? def->name : "robot");
    create_base(m, def);
    bool ok = m->name && create_sections(m, def) && create_actuators(m, def) && create_sensors(m, def);
    status = ok ? create_kind(m, def, err) : PL_OK;

    // the kind, then everything whose size follows from its stations
    // the kind measures its actuators at rest, which the commands' own rest values need
    ok = ok && status == PL_OK && reduced_create_commands(m, def) && create_points(m) &&
         create_markers(m, def) && create_now(m) && create_derivatives(m) && create_actuator_info(m) &&
         reduced_create_loads(m);
    if (!ok) {
        reduced_destroy(m);
        return status != PL_OK ? status : pl_fail_memory(err, "the reduced model");
    }

    // identity, measured errors, and the state at rest
    create_hash(m, def);
    status = reduced_errors_create(m, def, err);
    if (status != PL_OK) {
        reduced_destroy(m);
        return status;
    }

    reduced_type.reset(m);

    return pl_model_create(&reduced_type, m, out, err);
}
