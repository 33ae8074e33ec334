// Samples of a workspace as a table, and as points for ParaView.
#include <ctype.h>
#include <stdio.h>
#include "result/result_motion.h"
#include "meshfile/meshfile_vtu.h"

pl_status pl_samples_model_error(pl_store_samples *samples, pl_model *model, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    const pl_model_answer now = pl_model_get_answer(model);

    if (!pl_answer_has_error(&now)) {
        return PL_OK;
    }
    pl_free(samples->model_error);
    samples->model_error = PL_NEW_ARRAY(double, (int64_t)samples->count *info.marker_count + 1);
    if (!samples->model_error) {
        return pl_fail_memory(err, "the errors of the samples");
    }

    for (int64_t k = 0; k < samples->count; ++k) {
        double *to = samples->model_error + k * info.marker_count;
        pl_solve_report report;
        const pl_status status = pl_model_fk(model, samples->command + k * info.command_count, &report, err);
        if (status != PL_OK) {
            return status;
        }
        const pl_model_answer answer = pl_model_get_answer(model);
        samples->confidence = answer.error.confidence;
        for (int m = 0; m < info.marker_count; ++m) {
            to[m] = answer.error.marker && report.outcome == PL_SOLVED ? answer.error.marker[m] : NAN;
        }
    }

    return PL_OK;
}

// A row per sample; the heading names every column with its unit.
pl_status pl_samples_write_csv(const pl_store_samples *samples, const pl_model *model, const char *path,
                               pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    pl_text text = {0};

    for (int c = 0; c < info.command_count; ++c) {
        pl_text_add(&text, c ? "," : "");
        pl_text_add_cell(&text, "%s [%s]", info.command[c].name, pl_drive_unit(info.command[c].drive));
    }

    for (int i = 0; i < 3 * info.marker_count; ++i) {
        pl_text_add(&text, ",");
        pl_text_add_cell(&text, "%s.%c [mm]", info.marker_name[i / 3], "xyz"[i % 3]);
    }

    for (int a = 0; a < info.actuator_count; ++a) {
        pl_text_add(&text, ",");
        pl_text_add_cell(&text, "%s.effort [%s]", info.actuator[a].name,
                         result_effort_unit(info.actuator[a].kind));
    }

    for (int m = 0; samples->model_error && m < info.marker_count; ++m) {
        pl_text_add(&text, ",");
        pl_text_add_cell(&text, "%s.model_error [mm]", info.marker_name[m]);
    }

    pl_text_add(&text, samples->model_error ? ",model_confidence [1]\n" : "\n");

    // commands and efforts in display units, positions in mm
    for (int64_t k = 0; k < samples->count; ++k) {
        for (int c = 0; c < info.command_count; ++c) {
            result_text_number(&text, c ? "," : "",
                               samples->command[k * info.command_count + c] /
                                   pl_drive_scale(info.command[c].drive));
        }

        for (int i = 0; i < 3 * info.marker_count; ++i) {
            result_text_number(&text, ",", samples->marker[k * 3 * info.marker_count + i]);
        }
        for (int a = 0; a < info.actuator_count; ++a) {
            result_text_number(&text, ",",
                               samples->effort[k * info.actuator_count + a] /
                                   result_effort_scale(info.actuator[a].kind));
        }

        for (int m = 0; samples->model_error && m < info.marker_count; ++m) {
            result_text_number(&text, ",", samples->model_error[k * info.marker_count + m]);
        }
        if (samples->model_error) {
            result_text_number(&text, ",", samples->confidence);
        }
        pl_text_add(&text, "\n");
    }

    return result_text_write(&text, path, err);
}

typedef struct samples_cloud {
    double *point, *data; // data: one block of `count` per command
    int64_t *connectivity, *offset;
    uint8_t *type;
    pl_vtu_field *field;
    char (*name)[96];
} samples_cloud;

// "air_kpa": the command and its unit.
static void samples_name(char *name, size_t room, const pl_command_info *command)
{
    const char *unit = pl_drive_unit(command->drive);
    snprintf(name, room, "%.70s%s%s", command->name, strcmp(unit, "1") ? "_" : "",
             strcmp(unit, "1") ? unit : "");
    for (char *c = name + strlen(name) - (strcmp(unit, "1") ? strlen(unit) : 0); *c; ++c) {
        *c = (char)tolower((unsigned char)*c);
    }
}

static int samples_fields(const pl_store_samples *s, const pl_model_info *info)
{
    return info->command_count + (s->model_error != NULL);
}

static void samples_fill(const pl_store_samples *s, const pl_model_info *info, int marker,
                         samples_cloud *cloud)
{
    const int error = info->command_count;
    for (int64_t k = 0; k < s->count; ++k) {
        memcpy(cloud->point + 3 * k, s->marker + (k * info->marker_count + marker) * 3, 3 * sizeof(double));
        cloud->connectivity[k] = k;
        cloud->offset[k] = k + 1;
        cloud->type[k] = 1; // a VTK vertex
        for (int c = 0; c < info->command_count; ++c) {
            cloud->data[(int64_t)c * s->count + k] =
                s->command[k * info->command_count + c] / pl_drive_scale(info->command[c].drive);
        }

        if (s->model_error) {
            cloud->data[(int64_t)error * s->count + k] = s->model_error[k * info->marker_count + marker];
        }
    }

    if (s->model_error) {
        cloud->field[error] =
            (pl_vtu_field){"model_error_mm", PL_VTU_FLOAT64, 1, cloud->data + (int64_t)error * s->count};
    }

    for (int c = 0; c < info->command_count; ++c) {
        samples_name(cloud->name[c], sizeof cloud->name[c], &info->command[c]);
        cloud->field[c] =
            (pl_vtu_field){cloud->name[c], PL_VTU_FLOAT64, 1, cloud->data + (int64_t)c * s->count};
    }
}

pl_status pl_samples_write_vtu(const pl_store_samples *samples, const pl_model *model, int marker,
                               const char *path, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    const int64_t n = samples->count;

    if (marker < 0 || marker >= info.marker_count || n == 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: %s to write", path,
                       n == 0 ? "there is no sample" : "there is no marker");
    }

    samples_cloud cloud = {
        .point = PL_NEW_ARRAY(double, 3 * n),
        .data = PL_NEW_ARRAY(double, n *(info.command_count + 1) + 1),
        .connectivity = PL_NEW_ARRAY(int64_t, n),
        .offset = PL_NEW_ARRAY(int64_t, n),
        .type = PL_NEW_ARRAY(uint8_t, n),
        .field = PL_NEW_ARRAY(pl_vtu_field, info.command_count + 1),
        .name = pl_alloc_array((size_t)info.command_count + 1, sizeof *cloud.name),
    };
    pl_status status;
    if (!cloud.point || !cloud.data || !cloud.connectivity || !cloud.offset || !cloud.type || !cloud.field ||
        !cloud.name) {
        status = pl_fail_memory(err, path);
    } else {
        samples_fill(samples, &info, marker, &cloud);
        const pl_vtu_grid grid = {.point_count = n,
                                  .cell_count = n,
                                  .point = cloud.point,
                                  .connectivity = cloud.connectivity,
                                  .offset = cloud.offset,
                                  .type = cloud.type,
                                  .point_data = cloud.field,
                                  .point_data_count = samples_fields(samples, &info)};
        status = pl_vtu_write(&grid, PL_VTU_RAW, path, err);
    }

    void *const blocks[] = {cloud.point, cloud.data,  cloud.connectivity, cloud.offset,
                            cloud.type,  cloud.field, cloud.name};
    for (int i = 0; i < PL_COUNT(blocks); ++i) {
        pl_free(blocks[i]);
    }

    return status;
}
