// What is known of a robot without its mesh, and the memory of data sets and measurements.
#include "learned/learned.h"

// Owns the texts and arrays that a pl_about points to.
typedef struct about_memory {
    char **text;
    int count;
    void *array[8];
} about_memory;

void pl_about_clear(pl_about *about)
{
    about_memory *m = about->memory;
    if (m) {
        for (int i = 0; i < m->count; ++i) {
            pl_free(m->text[i]);
        }
        for (int i = 0; i < PL_COUNT(m->array); ++i) {
            pl_free(m->array[i]);
        }
        pl_free(m->text);
        pl_free(m);
    }

    *about = (pl_about){0};
}

// A copy owned by m; *failed when out of memory.
static const char *about_text(about_memory *m, const char *text, bool *failed)
{
    char *copy = pl_strdup(text ? text : "");
    if (!copy) {
        *failed = true;
        return "";
    }

    m->text[m->count++] = copy;
    return copy;
}

// What a robot is without its mesh: names, units, ranges, marker positions. Supports, readings and points
// belong to the mesh and are left out.
pl_status pl_about_copy(const pl_model_info *info, pl_about *out, pl_error *err)
{
    *out = (pl_about){.info = *info};
    pl_model_info *o = &out->info;
    const int texts =
        3 + info->command_count + info->actuator_count + info->marker_count + info->sensor_count;
    about_memory *m = out->memory = PL_NEW(about_memory);
    bool failed = !m || !(m->text = PL_NEW_ARRAY(char *, texts));
    pl_command_info *command = NULL;
    pl_actuator_info *actuator = NULL;
    const char **marker = NULL, **sensor = NULL;
    double *at = NULL;
    pl_sensor_kind *kind = NULL;

    if (!failed) {
        m->array[0] = command = PL_NEW_ARRAY(pl_command_info, info->command_count);
        m->array[1] = actuator = PL_NEW_ARRAY(pl_actuator_info, info->actuator_count);
        m->array[2] = marker = PL_NEW_ARRAY(const char *, info->marker_count);
        m->array[3] = at = PL_NEW_ARRAY(double, 3 * info->marker_count);
        m->array[4] = sensor = PL_NEW_ARRAY(const char *, info->sensor_count);
        m->array[5] = kind = PL_NEW_ARRAY(pl_sensor_kind, info->sensor_count);
        failed = !command || !actuator || !marker || !at || !sensor || !kind;
    }

    // copies
    if (!failed) {
        o->name = about_text(m, info->name, &failed);
        o->kind = about_text(m, info->kind, &failed);
        o->method = about_text(m, info->method, &failed);
        for (int i = 0; i < info->command_count; ++i) {
            command[i] = info->command[i];
            command[i].name = about_text(m, info->command[i].name, &failed);
        }

        for (int i = 0; i < info->actuator_count; ++i) {
            actuator[i] = info->actuator[i];
            actuator[i].name = about_text(m, info->actuator[i].name, &failed);
            actuator[i].axis = 0; // the machine belongs to the robot, not to what was learned from it
            actuator[i].hardware = NULL;
        }

        for (int i = 0; i < info->marker_count; ++i) {
            marker[i] = about_text(m, info->marker_name[i], &failed);
            memcpy(at + 3 * i, info->marker_at + 3 * i, 3 * sizeof *at);
        }

        for (int i = 0; i < info->sensor_count; ++i) {
            sensor[i] = about_text(m, info->sensor_name[i], &failed);
            kind[i] = info->sensor_kind[i];
        }
    }

    if (failed) {
        pl_about_clear(out);
        return pl_fail_memory(err, "the description of the robot");
    }

    o->command = command;
    o->actuator = actuator;
    o->marker_name = marker;
    o->marker_at = at;
    o->sensor_name = sensor;
    o->sensor_kind = kind;
    o->support_count = o->reading_count = 0;
    o->support_name = NULL;
    o->reading = NULL;
    o->point_count = 0;
    o->rest = NULL;
    o->fields = 0;
    o->approximate_derivative = false;

    return PL_OK;
}

void pl_dataset_clear(pl_dataset *data)
{
    pl_about_clear(&data->about);
    pl_free(data->robot_file);
    double *const arrays[] = {data->command,    data->marker,    data->rotation, data->sensor,
                              data->effort,     data->measure,   data->energy,   data->d_marker,
                              data->d_rotation, data->d_sensor,  data->d_effort, data->d_measure,
                              data->d_energy,   data->point_rest};
    for (int i = 0; i < PL_COUNT(arrays); ++i) {
        pl_free(arrays[i]);
    }
    pl_free(data->point);
    *data = (pl_dataset){0};
}

// Numbers of the derivatives of one sample.
int pl_dataset_slopes(const pl_model_info *info)
{
    return (6 * info->marker_count + info->sensor_count + 2 * info->actuator_count + 1) * info->command_count;
}

void pl_measured_clear(pl_measured *measured)
{
    pl_free(measured->command);
    pl_free(measured->marker);
    pl_free(measured->extra);
    pl_free(measured->extra_name);
    pl_free(measured->line);
    *measured = (pl_measured){0};
}

void pl_sequences_clear(pl_sequences *sequences)
{
    pl_dataset_clear(&sequences->data);
    pl_free(sequences->start);
    pl_free(sequences->name);
    pl_free(sequences->line);
    *sequences = (pl_sequences){0};
}

void pl_adaptation_destroy(pl_adaptation *a)
{
    if (a) {
        pl_free(a->marker);
        pl_free(a->extra_name);
        pl_free(a->extra);
        pl_network_destroy(a->network);
        pl_gp_destroy(a->gp);
        pl_free(a->sample);
        pl_free(a->residual);
        pl_error_map_destroy(a->errors);
        pl_free(a);
    }
}

void pl_learned_destroy(pl_learned *l)
{
    if (!l) {
        return;
    }
    pl_about_clear(&l->about);
    pl_free(l->robot_file);
    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        pl_network_destroy(l->network[p]);
    }

    void *const arrays[] = {l->known,    l->framed, l->point_rest, l->point_mean, l->mode, l->sample,
                            l->residual, l->low,    l->high,       l->scratch,    l->past, l->bound};
    for (int i = 0; i < PL_COUNT(arrays); ++i) {
        pl_free(arrays[i]);
    }
    pl_adaptation_destroy(l->adaptation);
    pl_error_map_destroy(l->errors);
    pl_lstm_destroy(l->history);
    pl_free(l);
}

const pl_about *pl_learned_about(const pl_learned *learned)
{
    return &learned->about;
}

const pl_network *pl_learned_network(const pl_learned *learned, pl_learned_part part)
{
    return part >= 0 && part < PL_LEARN_PART_COUNT ? learned->network[part] : NULL;
}

const char *pl_learned_part_name(pl_learned_part part)
{
    static const char *const names[PL_LEARN_PART_COUNT] = {"position", "rotation", "sensor",   "actuator",
                                                           "energy",   "shape",    "jacobian", "inverse"};
    return part >= 0 && part < PL_LEARN_PART_COUNT ? names[part] : "";
}

pl_dataset_info pl_dataset_get_info(const pl_dataset *data)
{
    return (pl_dataset_info){.robot = &data->about.info,
                             .planned = data->planned,
                             .count = data->count,
                             .failed = data->failed,
                             .damaged = data->damaged,
                             .first_damaged = data->first_damaged,
                             .unchecked = data->unchecked,
                             .derivatives = data->d_marker};
}

void pl_dataset_thin(pl_dataset *d, int count)
{
    if (count < 0 || count >= d->count) {
        return;
    }

    // every array of the data set, with its numbers per sample
    const size_t C = (size_t)d->about.info.command_count, M = (size_t)d->about.info.marker_count,
                 S = (size_t)d->about.info.sensor_count, A = (size_t)d->about.info.actuator_count;
    const struct {
        double *value;
        size_t width;
    } list[] = {{d->command, C},      {d->marker, 3 * M},       {d->rotation, 9 * M},
                {d->sensor, S},       {d->effort, A},           {d->measure, A},
                {d->energy, 1},       {d->d_marker, 3 * M * C}, {d->d_rotation, 3 * M * C},
                {d->d_sensor, S * C}, {d->d_effort, A * C},     {d->d_measure, A * C},
                {d->d_energy, C}};

    for (int k = 0; k < count; ++k) {
        const size_t from = (size_t)((long long)k * d->count / count);
        for (int i = 0; i < PL_COUNT(list); ++i) {
            if (list[i].value) {
                memmove(list[i].value + (size_t)k * list[i].width, list[i].value + from * list[i].width,
                        list[i].width * sizeof *list[i].value);
            }
        }

        if (d->point) {
            const size_t n = 3 * (size_t)d->point_count;
            memmove(d->point + (size_t)k * n, d->point + from * n, n * sizeof *d->point);
        }
    }

    d->planned -= d->count - count; // those left out are not missing
    d->count = count;
}

void pl_dataset_destroy(pl_dataset *data)
{
    if (data) {
        pl_dataset_clear(data);
    }
    pl_free(data);
}

int pl_sequences_row_count(const pl_sequences *sequences)
{
    return sequences->data.count;
}

void pl_sequences_destroy(pl_sequences *sequences)
{
    if (sequences) {
        pl_sequences_clear(sequences);
    }
    pl_free(sequences);
}

const pl_model_info *pl_learned_robot(const pl_learned *learned)
{
    return &pl_learned_about(learned)->info;
}
