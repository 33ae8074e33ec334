// Springs: between two markers, or from a marker to a point in space.
#include "robot/robot_impl.h"

// Index, or -1: fixed in space.
static int spring_marker(const pl_robot *robot, const char *name)
{
    for (int m = 0; name && m < robot->marker_count; ++m) {
        if (robot->marker[m].name && strcmp(robot->marker[m].name, name) == 0) {
            return m;
        }
    }

    return -1;
}

// mm: the undeformed place of one end.
static const double *spring_end(const pl_robot *robot, const pl_spring *s, bool to)
{
    return to && s->to < 0 ? s->point : robot->marker[to ? s->to : s->from].point.rest;
}

// A force on a marker off the body acts at the nearest point of the body.
static void spring_warn_arm(robot_build *b, const pl_spring_def *def, int marker)
{
    if (marker >= 0 && b->robot->marker[marker].distance > 0.5) {
        ROBOT_FIND(b, PL_WARNING, def->line,
                   "spring '%s': marker '%s' stands %.3g mm off the body; the spring pulls at the nearest "
                   "point of the body",
                   def->name, b->robot->marker[marker].name, b->robot->marker[marker].distance);
        pl_findings_advise(b->findings, "move the marker onto the body");
    }
}

// Without a rest length a spring is relaxed in the undeformed robot.
pl_status robot_springs(robot_build *b)
{
    pl_robot *robot = b->robot;
    robot->spring = PL_NEW_ARRAY(pl_spring, b->def->spring_count);
    if (!robot->spring) {
        return robot_memory(b);
    }

    for (int i = 0; i < b->def->spring_count; ++i) {
        const pl_spring_def *def = &b->def->spring[i];
        pl_spring *s = &robot->spring[robot->spring_count++];
        *s = (pl_spring){.name = pl_strdup(def->name),
                         .from = spring_marker(robot, def->from),
                         .to = spring_marker(robot, def->to),
                         .point = {def->point[0], def->point[1], def->point[2]},
                         .stiffness = def->stiffness,
                         .tension_only = def->tension_only};
        if (!s->name) {
            return robot_memory(b);
        }
        s->distance = pl_distance3(spring_end(robot, s, false), spring_end(robot, s, true));
        s->rest = def->has_rest ? def->rest : s->distance;

        if (!(s->distance > 1e-6 * b->size)) {
            ROBOT_DEFECT(b, def->line,
                         "spring '%s': its ends lie in one point, so it has no direction to pull in",
                         def->name);
        }

        spring_warn_arm(b, def, s->from);
        spring_warn_arm(b, def, s->to);
    }

    return PL_OK;
}
