// Marks: what terms have accepted, noted before a step that may fail, and gone back to.
#include "problem/problem_impl.h"

pl_status pl_mark_create(const pl_problem *p, pl_mark *mark)
{
    int64_t count = 0;
    PROBLEM_STEPS(p, t, save)
    {
        count += t->kind->steps->save(t->self, NULL);
    }

    *mark = (pl_mark){.history = count > 0 ? PL_NEW_ARRAY(double, count) : NULL};

    return count > 0 && !mark->history ? PL_NO_MEMORY : PL_OK;
}

void pl_mark_clear(pl_mark *mark)
{
    pl_free(mark->history);
    *mark = (pl_mark){0};
}

void pl_problem_mark(const pl_problem *p, pl_mark *mark)
{
    for (int i = 0; i < p->row_count; ++i) {
        mark->active[i] = p->row[i].active;
    }

    double *out = mark->history;
    PROBLEM_STEPS(p, t, save)
    {
        const int64_t count = t->kind->steps->save(t->self, NULL);
        if (count > 0) {
            t->kind->steps->save(t->self, out);
            out += count;
        }
    }
}

void pl_problem_revert(pl_problem *p, const pl_mark *mark)
{
    for (int i = 0; i < p->row_count; ++i) {
        p->row[i].active = mark->active[i];
    }

    const double *saved = mark->history;
    PROBLEM_STEPS(p, t, save)
    {
        const int64_t count = t->kind->steps->save(t->self, NULL);
        if (count > 0) {
            t->kind->steps->revert(t->self, p, saved);
            saved += count;
        }
    }
}
