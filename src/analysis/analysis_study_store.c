// The store of a study: a line per point, each added in one write, so that an
// interrupted study can be resumed.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include "text/text_file.h"
#include "analysis/analysis_study.h"

// key, point, outcome, then the values; empty where not finite. Called with the lock held.
void analysis_study_keep(study_work *w, int point)
{
    pl_study *s = w->out;
    pl_text line = {0};

    if (w->store < 0) {
        return;
    }
    pl_text_add(&line, "%016" PRIx64 ",%d,%s", w->key, point, s->outcome[point]);
    for (int i = 0; i < s->quantity_count; ++i) {
        const double value = s->value[(size_t)point * (size_t)s->quantity_count + (size_t)i];
        pl_text_add(&line, isfinite(value) ? ",%.17g" : ",", value);
    }

    pl_text_add(&line, "\n");
    if (line.failed || write(w->store, line.data, line.length) != (ssize_t)line.length) {
        w->status = w->status == PL_OK ? pl_fail(&w->err, line.failed ? PL_NO_MEMORY : PL_BAD_FILE,
                                                 "%s: cannot be written: %s", w->def->store, strerror(errno))
                                       : w->status;
        atomic_store(&w->stop, true);
    }

    pl_text_clear(&line);
}

pl_status analysis_study_recall(study_work *w, pl_error *err)
{
    pl_study *s = w->out;
    char *text = NULL;
    size_t length = 0;
    const pl_status regular = text_regular(w->def->store, err);

    if (regular != PL_OK) {
        return regular;
    }

    // append only: several studies may share a file
    const int fd = open(w->def->store, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) {
        return pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", w->def->store, strerror(errno));
    }
    w->store = fd;

    // refuse to append to a file of another kind
    pl_status status = pl_file_read(w->def->store, &text, &length, err);
    if (status == PL_OK && length > 0 && (length < 18 || text[16] != ',')) {
        status =
            pl_fail(err, PL_BAD_INPUT, "%s: is not the store of a study; it is left as it is", w->def->store);
    }

    // a line that was cut by a kill is closed, so that the next one starts afresh
    if (status == PL_OK && length > 0 && text[length - 1] != '\n' && write(fd, "\n", 1) != 1) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be written", w->def->store);
    }

    // lines of this study
    for (char *at = text, *end; status == PL_OK && at && (end = strchr(at, '\n')); at = end + 1) {
        *end = 0;
        char *rest = NULL;
        const uint64_t key = strtoull(at, &rest, 16);
        const long point = rest && *rest == ',' ? strtol(rest + 1, &rest, 10) : -1;
        int cells = 0;
        for (const char *c = at; *c; ++c) {
            cells += *c == ',';
        }
        if (key != w->key || point < 0 || point >= s->count || *rest != ',' ||
            cells != s->quantity_count + 2 || s->outcome[point]) {
            continue;
        }

        // outcome and values
        const size_t n = strcspn(rest + 1, ",");
        s->outcome[point] = pl_alloc(n + 1);
        if (!s->outcome[point]) {
            status = pl_fail_memory(err, "the study");
            break;
        }

        memcpy(s->outcome[point], rest + 1, n);
        rest += 1 + n;
        for (int i = 0; i < s->quantity_count; ++i) {
            char *stop = NULL;
            const double value = pl_real_read(rest + 1, &stop);
            s->value[(size_t)point * (size_t)s->quantity_count + (size_t)i] = stop == rest + 1 ? NAN : value;
            rest = strchr(rest + 1, ',');
            if (!rest) {
                break;
            }
        }

        ++s->kept;
        ++s->done;
        s->solved += strcmp(s->outcome[point], "solved") == 0;
    }

    pl_file_free(text);

    return status;
}
