// A model of one's own behind pl_model: a planar arm of two bending segments in closed form. Four functions
// are enough; derivatives come by differences, the state is the commands, and inverse kinematics, paths,
// workspaces and sweeps work on it as on any robot.
//   ./own_model 80 45         x and y of the target, mm
#include <math.h>
#include <pliant/pliant.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS 2
#define LENGTH 50.0 // mm, of each segment

typedef struct arm {
    pl_command_info command[SEGMENTS];
    pl_actuator_info actuator[SEGMENTS];
    double pressure[SEGMENTS];
    double tip[3], rotation[9];
} arm;

// A segment bends by 60 degrees at 50 kPa, in a circular arc: chord L sin(t/2)/(t/2) at half the angle t.
static void arm_place(arm *a)
{
    double x = 0, y = 0, angle = 0;
    for (int k = 0; k < SEGMENTS; ++k) {
        const double t = a->pressure[k] / 0.05 * 1.0471975512;
        const double chord = fabs(t) < 1e-6 ? LENGTH : LENGTH * sin(0.5 * t) / (0.5 * t);
        x += chord * cos(angle + 0.5 * t);
        y += chord * sin(angle + 0.5 * t);
        angle += t;
    }

    const double tip[3] = {x, y, 0};
    const double R[9] = {cos(angle), -sin(angle), 0, sin(angle), cos(angle), 0, 0, 0, 1};
    memcpy(a->tip, tip, sizeof tip);
    memcpy(a->rotation, R, sizeof R);
}

// What the model consists of: names, units and ranges.
static void arm_info(void *self, pl_model_info *out)
{
    static const char *const marker[] = {"tip"};
    static const double rest[3] = {SEGMENTS * LENGTH, 0, 0};
    arm *a = self;

    *out = (pl_model_info){.name = "planar arm",
                           .kind = "two arcs",
                           .command_count = SEGMENTS,
                           .command = a->command,
                           .actuator_count = SEGMENTS,
                           .actuator = a->actuator,
                           .marker_count = 1,
                           .marker_name = marker,
                           .marker_at = rest,
                           .size = SEGMENTS * LENGTH};
}

// From commands (MPa; NAN: idle) to the shape. A model that cannot get there says so in the report.
static pl_status arm_fk(void *self, const double *command, pl_solve_report *report, pl_error *err)
{
    arm *a = self;
    (void)err;
    for (int k = 0; k < SEGMENTS; ++k) {
        a->pressure[k] = isnan(command[k]) ? 0 : command[k];
    }
    arm_place(a);
    report->outcome = PL_SOLVED;
    report->load_reached = 1;

    return PL_OK;
}

// What it knows where it stands; the rest stays open.
static void arm_answer(void *self, pl_model_answer *out)
{
    const arm *a = self;
    out->marker = a->tip;
    out->rotation = a->rotation;
    out->effort = a->pressure;
}

static void arm_reset(void *self)
{
    arm *a = self;
    memset(a->pressure, 0, sizeof a->pressure);
    arm_place(a);
}

static pl_model *arm_create(arm *a, pl_error *err)
{
    static const pl_model_type type = {
        .info = arm_info, .fk = arm_fk, .answer = arm_answer, .reset = arm_reset};
    static const char *const name[SEGMENTS] = {"root", "end"};

    *a = (arm){0};
    for (int k = 0; k < SEGMENTS; ++k) {
        const double range[2] = {-0.05, 0.1}; // MPa
        a->command[k] = (pl_command_info){
            .name = name[k], .drive = PL_DRIVE_PRESSURE, .has_range = true, .actuator_count = 1};
        memcpy(a->command[k].range, range, sizeof range);
        memcpy(a->command[k].span, range, sizeof range);
        a->actuator[k] = (pl_actuator_info){
            .name = name[k], .kind = PL_CHAMBER, .drive = PL_DRIVE_PRESSURE, .command = k, .factor = 1};
    }

    arm_reset(a);
    pl_model *model = NULL;
    pl_model_create(&type, a, &model, err); // NULL when it fails

    return model;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: own_model X Y\n");
        return 2;
    }

    arm a;
    pl_error err = {0};
    pl_ik *ik = NULL;
    pl_ik_report report;
    const pl_ik_options options = pl_ik_options_default();
    pl_objective tip = pl_objective_default(PL_OBJECTIVE_POSITION);
    tip.target[0] = strtod(argv[1], NULL);
    tip.target[1] = strtod(argv[2], NULL);
    pl_model *model = arm_create(&a, &err);
    int status = 3;
    if (!model || pl_ik_create(model, &tip, 1, &options, &ik, &err) != PL_OK ||
        pl_ik_solve(ik, NULL, &report, &err) != PL_OK) {
        fprintf(stderr, "own_model: %s\n", err.text);
    } else {
        printf("%s: %s\n", pl_ik_outcome_name(report.outcome), report.message);
        printf("tip at %.3f %.3f mm with %.2f and %.2f kPa\n", a.tip[0], a.tip[1], 1e3 * report.command[0],
               1e3 * report.command[1]);
        status = report.outcome == PL_IK_REACHED ? 0 : 1;
    }

    pl_ik_destroy(ik);
    pl_model_destroy(model);

    return status;
}
