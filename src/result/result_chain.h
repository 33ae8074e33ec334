// Inside result: a body as a chain of rigid links with springs in its joints.
#ifndef PL_RESULT_CHAIN_H
#define PL_RESULT_CHAIN_H

#include "base/base.h"
#include "pliant/result.h"

enum { CHAIN_STRETCH, CHAIN_BEND_X, CHAIN_BEND_Y, CHAIN_TWIST, CHAIN_DOFS }; // of a joint, in this order

// A joint: a slide along z of the link before it, then hinges about x, y and z.
typedef struct chain_joint {
    double value[CHAIN_DOFS];              // mm, rad: at the solved commands
    double compliance[CHAIN_DOFS];         // mm/N, rad/(N mm)
    double reference[CHAIN_DOFS];          // value at which the spring is free, at the solved commands
    double *slope[CHAIN_DOFS];             // derivative of the value by each command, internal units
    double centre[3], axis[CHAIN_DOFS][3]; // where it is and points to at the solution
} chain_joint;

// What hangs on a joint, in the frame of its link: z along the chain, the origin in the joint behind which it
// comes (link 0: in the support).
typedef struct chain_link {
    double mass;       // t
    double centre[3];  // mm, of its mass
    double inertia[6]; // t mm^2 about its centre: xx yy zz xy xz yz
    double radius;     // mm, for pictures and collisions
    double extent[2];  // mm along z
} chain_link;

typedef struct chain {
    const char *name, *marker;
    int link_count;    // behind the support: joints 1 .. link_count
    double base[3];    // mm, of the support
    double frame[9];   // rows x, y, z of the links at rest, in the world
    double pitch;      // mm between two joints
    double gravity[3]; // mm/s^2
    bool density_assumed;
    chain_joint *joint; // link_count
    chain_link *link;   // link_count + 1
    int command_count;
    const pl_command_info *command;
    const double *at; // the solved commands, internal units; NAN: idle
} chain;

// Poses of the links' ends and of the marker for given joint values: 3 numbers and 9 (row-major, from the
// undeformed configuration). `frame` (may be NULL) gets the centres and axes of the joints.
void result_chain_pose(const chain *chain, const double (*value)[CHAIN_DOFS], double tip[3],
                       double rotation[9], chain_joint *joint);

// The file, by extension: .urdf, .sdf, .mjcf or .xml.
void result_chain_write(const chain *chain, const pl_chain_report *report, const char *path, pl_text *out);

#endif
