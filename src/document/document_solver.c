// The `solver:` block, read with the robot file and put over the defaults of statics.
#include "document/document_reader.h"

// Coarser than this a result is none: a residual of a hundredth of the forces, a step of a millimetre.
#define SOLVER_FORCE_MOST 0.01
#define SOLVER_LENGTH_MOST 1.0 // mm

static void solver_check_tolerances(doc_robot_file *f, const doc_node *node, const doc_solver *s)
{
    const doc_node *force = doc_child(node, "force_tolerance"), *length = doc_child(node, "length_tolerance");
    if (force && s->force_tolerance > SOLVER_FORCE_MOST) {
        doc_defect(
            f, force->line,
            "solver: force_tolerance is %g, expected at most %g: beyond it what is called solved is no "
            "equilibrium (default 1e-6)",
            s->force_tolerance, SOLVER_FORCE_MOST);
    }

    if (length && s->length_tolerance > SOLVER_LENGTH_MOST) {
        doc_defect(
            f, length->line,
            "solver: length_tolerance is %g mm, expected at most %g mm: beyond it what is called solved "
            "is no equilibrium (default 1e-5 mm)",
            s->length_tolerance, SOLVER_LENGTH_MOST);
    }
}

// Which keys were given matters: the others leave the library's defaults.
void doc_read_solver(doc_robot_file *f, const doc_node *node)
{
    static const doc_key keys[] = {
        {"method", DOC_OTHER, 0, 0, 0},
        {"force_tolerance", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_solver, force_tolerance), DOC_POSITIVE},
        {"length_tolerance", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(doc_solver, length_tolerance),
         DOC_POSITIVE},
        {"iteration_limit", DOC_WHOLE, 0, offsetof(doc_solver, iteration_limit), DOC_POSITIVE},
        {"increment_limit", DOC_WHOLE, 0, offsetof(doc_solver, increment_limit), DOC_POSITIVE},
        {"time_limit", DOC_QUANTITY, PL_DIM_TIME, offsetof(doc_solver, time_limit), DOC_NOT_NEGATIVE},
        {"linear_solver", DOC_OTHER, 0, 0, 0},
        {"formulation", DOC_OTHER, 0, 0, 0},
        {"warp", DOC_BOOL, 0, offsetof(doc_solver, warp), 0},
        // of local_global, read in document_geometric.c
        {"preset", DOC_OTHER, 0, 0, 0},
        {"metric", DOC_OTHER, 0, 0, 0},
        {"form", DOC_OTHER, 0, 0, 0},
        {"acceleration", DOC_OTHER, 0, 0, 0},
        {"window", DOC_OTHER, 0, 0, 0},
        {"stop", DOC_OTHER, 0, 0, 0},
        {"tip_tolerance", DOC_OTHER, 0, 0, 0},
        {"weights", DOC_OTHER, 0, 0, 0},
        {"actuation_weight", DOC_OTHER, 0, 0, 0},
        {"body_weight", DOC_OTHER, 0, 0, 0},
        {"actuation", DOC_OTHER, 0, 0, 0},
        {"distribution", DOC_OTHER, 0, 0, 0},
        {"strain_high", DOC_OTHER, 0, 0, 0},
        {"contact_spring", DOC_OTHER, 0, 0, 0},
        {"contact_offset", DOC_OTHER, 0, 0, 0},
        {"remesh", DOC_OTHER, 0, 0, 0},
        {"remesh_volume", DOC_OTHER, 0, 0, 0},
        {"remesh_stretch", DOC_OTHER, 0, 0, 0},
    };
    static const char *const linear[] = {"auto", "cholmod", "mumps", "multifrontal", "mumps_mpi"};
    static const char *const formulation[] = {"locking_free", "displacement"};
    doc_solver *s = &f->solver;

    doc_read_map(f, node, "solver", keys, PL_COUNT(keys), s);
    solver_check_tolerances(f, node, s);

    // a key with a wrong value is reported and counts as given
    s->has_force_tolerance = doc_child(node, "force_tolerance");
    s->has_length_tolerance = doc_child(node, "length_tolerance");
    s->has_iteration_limit = doc_child(node, "iteration_limit");
    s->has_increment_limit = doc_child(node, "increment_limit");
    s->has_time_limit = doc_child(node, "time_limit");
    s->has_warp = doc_child(node, "warp");
    doc_read_geometric(f, node);

    // words
    const doc_node *n = doc_child(node, "linear_solver");
    if (n) {
        const int i = doc_read_choice(f, n, "solver: linear_solver", linear, PL_COUNT(linear));
        s->has_linear_solver = i >= 0;
        s->linear_solver = (pl_linear_solver)i;
    }

    n = doc_child(node, "formulation");
    if (n) {
        s->displacement = doc_read_choice(f, n, "solver: formulation", formulation, 2) == 1;
        s->has_displacement = true;
    }
}
