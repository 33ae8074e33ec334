// A last look at a state in contact: whether an obstacle overlaps the body, between the points of contact
// too.
#include "problem/term_contact.h"

void contact_examine(void *self, pl_problem *p, const double *x, pl_contact_fault *fault)
{
    const contact_term *t = self;
    for (int o = 0; o < t->obstacles; ++o) {
        const pl_pose pose = contact_pose(t, o, x, t->offset);
        double turned[3], translation[3];
        pl_mulv3(pose.R, pose.rest, turned);
        pl_sub3(pose.centre, turned, translation);
        pl_robot_obstacle_overlap(p->robot, o, pose.R, translation, x, fault);
    }
}
