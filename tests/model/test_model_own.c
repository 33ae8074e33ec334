// A model of one's own behind pl_model, with as little as a type needs: what it leaves open is completed, its
// derivatives come by differences, its state is its commands; and what its info says is checked.
#include <string.h>
#include "check.h"
#include "pliant/model.h"

// Two links in the plane, lengths 3 and 2: tip = 3 e(a) + 2 e(a + b); the angle of the tip is a + b.
typedef struct links {
    pl_command_info command[2];
    pl_actuator_info actuator[2];
    double angle[2], marker[3], rotation[9];
    int solves;
    double limit; // beyond it there is no equilibrium
} links;

static const char *const links_marker[] = {"tip"};
static const double links_rest[3] = {5, 0, 0};

static void links_place(links *l)
{
    const double a = l->angle[0], b = a + l->angle[1],
                 R[9] = {cos(b), -sin(b), 0, sin(b), cos(b), 0, 0, 0, 1};
    l->marker[0] = 3 * cos(a) + 2 * cos(b);
    l->marker[1] = 3 * sin(a) + 2 * sin(b);
    l->marker[2] = 0;
    memcpy(l->rotation, R, sizeof R);
}

static void links_info(void *self, pl_model_info *out)
{
    links *l = self;
    *out = (pl_model_info){.name = "links",
                           .command_count = 2,
                           .command = l->command,
                           .actuator_count = 2,
                           .actuator = l->actuator,
                           .marker_count = 1,
                           .marker_name = links_marker,
                           .marker_at = links_rest,
                           .size = 5};
}

static pl_status links_fk(void *self, const double *command, pl_solve_report *report, pl_error *err)
{
    links *l = self;
    (void)err;
    ++l->solves;
    if (fabs(command[0]) > l->limit) {
        report->outcome = PL_STEP_LIMIT;
        return PL_OK;
    }

    report->outcome = PL_SOLVED;
    for (int i = 0; i < 2; ++i) {
        l->angle[i] = isnan(command[i]) ? 0 : command[i];
    }
    links_place(l);

    return PL_OK;
}

static void links_answer(void *self, pl_model_answer *out)
{
    const links *l = self;
    out->marker = l->marker;
    out->rotation = l->rotation;
}

static void links_reset(void *self)
{
    links *l = self;
    l->angle[0] = l->angle[1] = 0;
    links_place(l);
}

static const pl_model_type links_type = {
    .info = links_info, .fk = links_fk, .answer = links_answer, .reset = links_reset};

static pl_model *links_create(links *l)
{
    *l = (links){.limit = INFINITY};
    for (int i = 0; i < 2; ++i) {
        const char *name = i ? "b" : "a";
        l->command[i] = (pl_command_info){
            .name = name, .range = {-1, 2}, .has_range = true, .span = {-1, 2}, .actuator_count = 1};
        l->actuator[i] = (pl_actuator_info){.name = name, .command = i, .factor = 1, .rest = 1};
    }

    links_reset(l);
    pl_model *model = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_create(&links_type, l, &model, &err));

    return model;
}

static void go(pl_model *model, double a, double b)
{
    pl_solve_report report;
    pl_error err = {0};
    const double command[2] = {a, b};
    PL_CHECK_OK(pl_model_fk(model, command, &report, &err));
}

static void test_completed(void **state)
{
    (void)state;
    links l;
    pl_model *model = links_create(&l);
    pl_model_answer a = pl_model_get_answer(model);
    assert_string_equal(pl_model_get_info(model).kind, "own");
    assert_true(isnan(a.command[0]) && isnan(a.effort[1]) && isnan(a.measure[0]) && isnan(a.energy));
    go(model, 0.3, 0.4);
    a = pl_model_get_answer(model);
    PL_CHECK_NEAR(a.command[1], 0.4, 0);
    PL_CHECK_NEAR(a.marker[0], 3 * cos(0.3) + 2 * cos(0.7), 1e-15);
    assert_true(isnan(a.actuator[0].asked) && !a.actuator[0].slack);

    // nothing to draw, no lines, no fields; the check does not know
    const pl_mesh *body;
    pl_error err = {0};
    pl_model_check check;
    PL_CHECK_OK(pl_model_body(model, &body, &err));
    assert_null(body);
    assert_int_equal(pl_model_line(model, 0, NULL, 0), 0);
    assert_int_equal(pl_model_field(model, PL_FIELD_STRAIN, NULL, &err), PL_BAD_INPUT);
    PL_CHECK_OK(pl_model_verify(model, &check, &err));
    assert_true(isnan(check.residual));
    pl_model_reset(model);
    PL_CHECK_NEAR(pl_model_get_answer(model).marker[0], 5, 0);
    assert_true(isnan(pl_model_get_answer(model).command[0]));
    pl_model_destroy(model);
}

// Central differences in the middle, one-sided at a bound and where one side has no equilibrium: all of
// second order. d tip / da = (-y, x), d tip / db = 2 e'(a + b); the tip turns by 1 about z.
static void test_differences(void **state)
{
    (void)state;
    static const struct {
        double a, limit;
        bool one_sided;
    } place[] = {{0.3, INFINITY, false}, {-1, INFINITY, true}, {2, INFINITY, true}, {0.5, 0.5, true}};
    for (int k = 0; k < 4; ++k) {
        links l;
        pl_model *model = links_create(&l);
        pl_model_derivative d;
        pl_jacobian_report report;
        pl_error err = {0};
        l.limit = place[k].limit;
        go(model, place[k].a, 0.4);
        const double *p = l.marker, x = p[0], y = p[1], b = place[k].a + 0.4;
        PL_CHECK_OK(pl_model_differentiate(model, PL_PART_MARKER | PL_PART_ROTATION, 0, &d, &report, &err));
        assert_int_equal(report.one_sided, place[k].one_sided);
        const double want[6] = {-y, -2 * sin(b), x, 2 * cos(b), 0, 0};
        double off = 0;
        for (int i = 0; i < 6; ++i) {
            off = fmax(off, fabs(d.marker[i] - want[i]));
            off = fmax(off, fabs(d.rotation[i] - (i >= 4)));
        }
        print_message("at %g: off by %.2g\n", place[k].a, off);
        PL_CHECK_BELOW(off, 3e-7);
        assert_null(d.sensor);
        PL_CHECK_NEAR(pl_model_get_answer(model).command[0], place[k].a, 0); // stands where it stood
        pl_model_destroy(model);
    }

    // no equilibrium on either side
    links l;
    pl_model *model = links_create(&l);
    pl_model_derivative d;
    pl_jacobian_report report;
    pl_error err = {0};
    go(model, 0.5, 0);
    l.command[0].has_range = false;
    l.limit = 0.5;
    l.angle[0] = 0.5;
    go(model, 0.5, 0);
    l.limit = -1;
    assert_int_not_equal(pl_model_differentiate(model, PL_PART_MARKER, 0, &d, &report, &err), PL_OK);
    assert_true(err.text[0] != 0);
    pl_model_destroy(model);
}

// Without a packed state the commands are the state: recalling is one forward solve, and says when it fails.
static void test_keep(void **state)
{
    (void)state;
    links l;
    pl_model *model = links_create(&l);
    pl_error err = {0};
    go(model, 0.3, 0.4);
    const double x = l.marker[0];
    assert_int_equal(pl_model_state_size(model), 2);
    PL_CHECK_OK(pl_model_keep(model, 0, &err));
    go(model, 1, 1);
    const int solves = l.solves;
    PL_CHECK_OK(pl_model_recall(model, 0, &err));
    PL_CHECK_NEAR(l.marker[0], x, 0);
    assert_int_equal(l.solves, solves + 1);
    l.limit = 0.1;
    assert_int_equal(pl_model_recall(model, 0, &err), PL_FAILED);
    assert_true(err.text[0] != 0);
    assert_int_equal(pl_model_keep(model, 4, &err), PL_BAD_INPUT);
    pl_model_destroy(model);
}

static bool destroyed;
static void note_destroy(void *self)
{
    (void)self;
    destroyed = true;
}
static void wrong_info(void *self, pl_model_info *out)
{
    links_info(self, out);
    out->marker_at = NULL;
}

static void test_wrong(void **state)
{
    (void)state;
    links l;
    pl_model_destroy(links_create(&l));
    pl_error err = {0};
    pl_model *model = NULL;
    pl_model_type type = links_type;
    type.destroy = note_destroy;
    type.info = wrong_info;
    assert_int_equal(pl_model_create(&type, &l, &model, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "markers"));
    assert_null(model);
    assert_true(destroyed);
    type = links_type;
    type.reset = NULL;
    assert_int_equal(pl_model_create(&type, &l, &model, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "reset"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_completed),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
