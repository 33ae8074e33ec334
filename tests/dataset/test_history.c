// Models with memory on sequences with play (backlash), where the same commands lead to two poses: better
// than networks without memory, derivative, state, and the step that is taken against the one that is tried.
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "check.h"
#include "model/model.h"
#include "pliant/dataset.h"
#include "learned/learned.h"

enum { RUNS = 6, STEPS = 80 };

static double noise(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

// A marker that a command in [-1, 1] moves with play of 0.3 to either side: 20 mm per unit, on an arc.
static void write_rows(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_true(file != NULL);
    uint64_t seed = 11;
    fprintf(file, "run,u,v [mm],tip.x [mm],tip.y [mm],tip.z [mm]\n");
    for (int r = 0; r < RUNS; ++r) {
        double u = 0, v = 0, arm = 0;
        for (int t = 0; t < STEPS; ++t) {
            u = fmin(fmax(u + 0.8 * (noise(&seed) - 0.5), -1), 1);
            v = fmin(fmax(v + 0.8 * (noise(&seed) - 0.5), -1), 1);
            arm = fmin(fmax(arm, u - 0.3), u + 0.3);
            fprintf(file, "r%d,%.9g,%.9g,%.9g,%.9g,%.9g\n", r, u, v, 20 * sin(arm), 20 * cos(arm), 5 * v);
        }
    }

    fclose(file);
}

static double kept[12][3];
static bool keep_rows(void *user, const pl_sample *point)
{
    memcpy(((double(*)[3])user)[point->index], point->answer.marker, sizeof kept[0]);
    return true;
}

static void test_remembers(void **state)
{
    (void)state;
    const char *path = "history_rows.csv";
    write_rows(path);
    pl_sequences *q;
    pl_error err = {0};
    PL_CHECK_OK(pl_sequences_read(path, &q, &err));
    remove(path);
    assert_true(q->count == RUNS && q->data.count == RUNS * STEPS && q->data.about.info.command_count == 2);
    assert_true(q->data.about.info.command[1].drive == PL_DRIVE_SHORTENING);
    pl_history_options o = pl_history_options_default();
    o.cell_count = 6;
    o.train.epoch_limit = 60;
    pl_learned *l = NULL;
    pl_history_report r;
    PL_CHECK_OK(pl_learned_fit_history(q, &o, &l, &r, &err));
    assert_true(r.held_run_count == 1 && !r.by_time && r.held_count == STEPS - o.burn);
    printf("  present %.3g, last three %.3g, memory %.3g mm\n", r.all[0], r.all[1], r.all[2]);
    assert_true(r.all[PL_HISTORY_MEMORY] < 0.5 * r.all[PL_HISTORY_PRESENT]);

    // written and read again: the same answers; a step tried twice is the same, a step taken is not
    PL_CHECK_OK(pl_learned_write(l, NULL, "history_model.yaml", &err));
    pl_model *m = NULL, *again = NULL;
    PL_CHECK_OK(pl_learned_model(l, NULL, &m, &err));
    PL_CHECK_OK(pl_model_load("history_model.yaml", NULL, &again, NULL, &err));
    remove("history_model.yaml");
    pl_solve_report report;
    double tried[3], first[3] = {0};
    for (int t = 0; t < 12; ++t) {
        const double c[2] = {0.9 * sin(0.7 * t), 0.5 * cos(t)}, away[2] = {-0.8, 0.1};
        PL_CHECK_OK(pl_model_fk(m, away, &report, &err));
        PL_CHECK_OK(pl_model_fk(m, c, &report, &err));
        memcpy(tried, pl_model_get_answer(m).marker, sizeof tried);
        PL_CHECK_OK(pl_model_fk(again, c, &report, &err));
        for (int i = 0; i < 3; ++i) {
            PL_CHECK_NEAR(pl_model_get_answer(again).marker[i], tried[i], 1e-9);
        }
        // the derivative of this step against differences
        pl_model_derivative d;
        pl_jacobian_report jacobian;
        PL_CHECK_OK(pl_model_differentiate(m, PL_PART_MARKER, 0, &d, &jacobian, &err));
        double slope[6];
        memcpy(slope, d.marker, sizeof slope);
        for (int k = 0; k < 2; ++k) {
            double side[2][3];
            for (int s = 0; s < 2; ++s) {
                double x[2] = {c[0], c[1]};
                x[k] += s ? 1e-6 : -1e-6;
                PL_CHECK_OK(pl_model_fk(m, x, &report, &err));
                memcpy(side[s], pl_model_get_answer(m).marker, sizeof side[s]);
            }
            for (int i = 0; i < 3; ++i) {
                PL_CHECK_NEAR((side[1][i] - side[0][i]) / 2e-6, slope[2 * i + k], 1e-5);
            }
        }
        PL_CHECK_OK(pl_model_fk(m, c, &report, &err));
        assert_true(pl_model_commit(m) && pl_model_commit(again));
        if (t == 0) {
            memcpy(first, tried, sizeof first);
            PL_CHECK_OK(pl_model_keep(m, 3, &err));
        }
    }

    const double c0[2] = {0, 0.5};
    PL_CHECK_OK(pl_model_fk(m, c0, &report, &err));
    assert_true(fabs(pl_model_get_answer(m).marker[0] - first[0]) > 1e-3); // it came from elsewhere
    pl_model_reset(m);
    PL_CHECK_OK(pl_model_fk(m, c0, &report, &err));
    PL_CHECK_NEAR(pl_model_get_answer(m).marker[0], first[0], 1e-12);

    // a table row by row is the same sequence; a run begins from nothing remembered
    double command[2 * 12], last[3];
    bool fresh[12] = {0};
    for (int t = 0; t < 12; ++t) {
        command[2 * t] = 0.9 * sin(0.7 * (t % 6));
        command[2 * t + 1] = 0.5 * cos(t % 6);
    }

    fresh[6] = true;
    const pl_sweep_def def = {.table = command, .table_count = 12, .fresh = fresh};
    pl_sweep_report swept;
    pl_model_reset(m);
    PL_CHECK_OK(pl_sweep_run(m, &def, NULL, keep_rows, kept, &swept, &err));
    assert_true(swept.count == 12);
    pl_model_reset(again);
    for (int t = 0; t < 6; ++t) {
        PL_CHECK_OK(pl_model_fk(again, command + 2 * t, &report, &err));
        memcpy(last, pl_model_get_answer(again).marker, sizeof last);
        pl_model_commit(again);
        for (int i = 0; i < 3; ++i) {
            PL_CHECK_NEAR(kept[t][i], last[i], 1e-9);
            PL_CHECK_NEAR(kept[t + 6][i], last[i], 1e-9);
        }
    }

    pl_model_destroy(m);
    pl_model_destroy(again);
    pl_sequences_destroy(q);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } list[] = {
        {"u,tip.x,tip.y\n1,2,3\n", "'tip.z' is missing"},
        {"u,tip.y,tip.z\n1,2,3\n", "'tip.x' is missing"},
        {"u,v\n1,2\n", "no columns of a marker"},
        {"tip.x,tip.y,tip.z\n1,2,3\n", "no column of a command"},
        {"u [deg],tip.x,tip.y,tip.z\n1,2,3,4\n", "unit 'deg'"},
        {"u,tip.x,tip.y,tip.z\n1,2,3,4\n1,2,3,5\n", "same value in all rows"},
        {"u,tip.x,tip.y,tip.z\n1,2,3,4\n2,nan,3,5\n", ":3: column 2"},
        {"1,2,3,4\n", "names of the columns"},
        {"", "no rows"},
    };
    for (int k = 0; k < PL_COUNT(list); ++k) {
        FILE *file = fopen("history_bad.csv", "w");
        assert_true(file != NULL);
        fputs(list[k].text, file);
        fclose(file);
        pl_sequences *q;
        pl_error err = {0};
        assert_true(pl_sequences_read("history_bad.csv", &q, &err) != PL_OK);
        if (!strstr(err.text, list[k].words)) {
            printf("  expected '%s', got '%s'\n", list[k].words, err.text);
        }
        assert_true(strstr(err.text, list[k].words) != NULL);
    }

    remove("history_bad.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_remembers), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
