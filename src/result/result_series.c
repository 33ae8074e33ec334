// Series of shapes, by extension; and the series of ParaView (PVD), an index of VTU files.
#include "result/result_series.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>
#include "meshfile/meshfile_vtu.h"

// ---- PVD
#define PVD_TAIL "</Collection>\n</VTKFile>\n"

// The entries of the files from `first` on; parts of one shape are numbered.
static void pvd_entries(const pl_series *s, int first, const double *time, pl_text *text)
{
    for (int i = first, part = 0; i < s->file_count; ++i) {
        part = i > 0 && s->file_shape[i] == s->file_shape[i - 1] ? part + 1 : 0;
        pl_text_add(text, "<DataSet timestep=\"%.17g\" part=\"%d\" name=\"",
                    result_series_time(time, s->file_shape[i]), part);
        pl_vtu_add_escaped(text, s->file_block[i]);
        pl_text_add(text, "\" file=\"");
        pl_vtu_add_escaped(text, s->file[i]);
        pl_text_add(text, "\"/>\n");
    }

    pl_text_add(text, PVD_TAIL);
}

static pl_status pvd_write(pl_series *s, const double *time, pl_error *err)
{
    pl_text text = {0};
    pl_text_add(&text,
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n");
    pvd_entries(s, 0, time, &text);
    const pl_status status =
        text.failed ? pl_fail_memory(err, s->path) : pl_file_write(s->path, text.data, text.length, err);
    pl_text_clear(&text);

    return status;
}

// The tail is overwritten by the entries and a new tail in one call, so the file is whole at any time.
static pl_status pvd_append(const pl_series *s, int first, pl_error *err)
{
    static const char tail[] = PVD_TAIL;
    char found[sizeof tail] = "";
    pl_text text = {0};

    pvd_entries(s, first, NULL, &text);
    const int fd = open(s->path, O_RDWR | O_CLOEXEC);
    const off_t at = fd < 0 ? -1 : lseek(fd, 0, SEEK_END) - (off_t)(sizeof tail - 1);
    pl_status status = PL_OK;
    if (text.failed) {
        status = pl_fail_memory(err, s->path);
    } else if (fd < 0) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", s->path, strerror(errno));
    } else if (at < 0 || pread(fd, found, sizeof tail - 1, at) != (ssize_t)(sizeof tail - 1) ||
               strcmp(found, tail) != 0) {
        status = pl_fail(err, PL_BAD_FILE, "%s: is not the series that was begun", s->path);
    } else if (pwrite(fd, text.data, text.length, at) != (ssize_t)text.length) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", s->path, strerror(errno));
        if (ftruncate(fd, at) == 0) {
            (void)!pwrite(fd, tail, sizeof tail - 1, at); // as it was
        }
    }

    if (fd >= 0 && close(fd) != 0 && status == PL_OK) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", s->path, strerror(errno));
    }
    pl_text_clear(&text);

    return status;
}

static bool pvd_room(pl_series *s)
{
    if (s->file_count < s->file_capacity) {
        return true;
    }

    const int capacity = 2 * s->file_capacity + 16;
    char **file = pl_resize_array(s->file, (size_t)capacity, sizeof *file);
    s->file = file ? file : s->file;
    int *shape = pl_resize_array(s->file_shape, (size_t)capacity, sizeof *shape);
    s->file_shape = shape ? shape : s->file_shape;
    const char **block = pl_resize_array(s->file_block, (size_t)capacity, sizeof *block);
    s->file_block = block ? block : s->file_block;
    s->file_capacity = file && shape && block ? capacity : s->file_capacity;

    return s->file_count < s->file_capacity;
}

// Takes over `path`, of a file that was written.
static bool pvd_note(pl_series *s, char *path, const char *block)
{
    if (!path || !pvd_room(s)) {
        pl_free(path);
        return false;
    }

    memmove(path, result_file_name(path), strlen(result_file_name(path)) + 1);
    s->file_shape[s->file_count] = s->count;
    s->file_block[s->file_count] = block;
    s->file[s->file_count++] = path;

    return true;
}

static pl_status pvd_add(pl_series *s, pl_error *err)
{
    result_blocks b;
    pl_text stem = {0};
    const int first = s->file_count;

    pl_text_add(&stem, "%.*s_%04d", (int)s->stem, s->path, s->count);
    pl_status status =
        result_blocks_take(&b, s->model, RESULT_BLOCKS_FIELDS | RESULT_BLOCKS_PARTS, "pvd", err);
    for (int i = -1; status == PL_OK && i < b.count; ++i) {
        pl_text body = {0};
        if (i < 0) {
            pl_text_add(&body, "%s.vtu", stem.data ? stem.data : "");
        }
        char *path = stem.failed || body.failed ? NULL
                     : i < 0                    ? body.data
                                                : result_block_path(stem.data, stem.length, &b, i);
        if (path) {
            status = i < 0 ? result_blocks_write_body(&b, path, err)
                           : result_blocks_write_block(&b, &b.block[i], path, err);
        }

        // names of blocks belong to the model
        if (status == PL_OK && !pvd_note(s, path, i < 0 ? "body" : b.block[i].name)) {
            status = pl_fail_memory(err, s->path);
        } else if (status != PL_OK) {
            pl_free(path);
        }
    }

    if (status == PL_OK) {
        status = s->count == 0 ? pvd_write(s, NULL, err) : pvd_append(s, first, err);
    }
    result_blocks_clear(&b);
    pl_text_clear(&stem);

    return status;
}

// ---- all kinds
pl_status pl_series_create(pl_model *model, const char *path, pl_field color, pl_series **out, pl_error *err)
{
    *out = NULL;
    const char *dot = strrchr(result_file_name(path), '.');
    pl_series *s = PL_NEW(pl_series);
    char *copy = pl_strdup(path);

    if (!s || !copy) {
        pl_free(s);
        pl_free(copy);
        return pl_fail_memory(err, path);
    }

    *s = (pl_series){.model = model,
                     .path = copy,
                     .stem = dot ? (size_t)(dot - path) : strlen(path),
                     .numbers = {.stream = {.fd = -1}}};
    pl_status status = PL_OK;
    if (dot && strcasecmp(dot, ".pvd") == 0) {
        s->add = pvd_add;
        s->finish = pvd_write;
    } else if (dot && strcasecmp(dot, ".xdmf") == 0) {
        status = result_xdmf_begin(s, err);
    } else if (dot && strcasecmp(dot, ".glb") == 0) {
        status = result_glb_begin(s, color, err);
    } else if (dot && strcasecmp(dot, ".usda") == 0) {
        status = result_usd_begin(s, color, err);
    } else if (result_film_is(path)) {
        status = result_film_begin(s, color, err);
    } else {
        status = pl_fail(err, PL_BAD_INPUT,
                         "%s: series are written as .pvd, .xdmf, .glb, .usda, .gif, .webm, .mp4 or "
                         "NAME_%%04d.png",
                         path);
    }

    if (status != PL_OK) {
        pl_series_destroy(s);
        return status;
    }

    *out = s;

    return PL_OK;
}

void pl_series_set_picture(pl_series *series, const pl_picture *picture)
{
    if (series->film) {
        result_film_look(series->film, picture);
    }
}

pl_status pl_series_add(pl_series *series, pl_error *err)
{
    const pl_status status = series->add(series, err);
    series->count += status == PL_OK;
    return status;
}

pl_status pl_series_finish(pl_series *series, const double *time, pl_error *err)
{
    return series->count > 0 ? series->finish(series, time, err)
                             : pl_fail(err, PL_BAD_INPUT, "%s: the series has no shape", series->path);
}

void pl_series_destroy(pl_series *s)
{
    if (!s) {
        return;
    }
    for (int i = 0; i < s->file_count; ++i) {
        pl_free(s->file[i]);
    }
    pl_free(s->file);
    pl_free(s->file_shape);
    pl_free(s->file_block);
    result_hdf5_clear(&s->numbers);
    result_animation_destroy(s->animation);
    result_film_destroy(s->film);
    pl_free(s->path);
    pl_free(s);
}
