// The `solver:` block, read with the robot file and put over the defaults of statics.
#include "io/io_robot.h"

// Coarser than this a result is none: a residual of a hundredth of the forces, a step of a millimetre.
#define SOLVER_FORCE_MOST 0.01
#define SOLVER_LENGTH_MOST 1.0 // mm

static void solver_check_tolerances(io_robot_file *f, const io_node *node, const io_solver *s)
{
    const io_node *force = io_child(node, "force_tolerance"), *length = io_child(node, "length_tolerance");
    if (force && s->force_tolerance > SOLVER_FORCE_MOST) {
        io_defect(f, force->line,
                  "solver: force_tolerance is %g, expected at most %g: beyond it what is called solved is no "
                  "equilibrium (default 1e-6)",
                  s->force_tolerance, SOLVER_FORCE_MOST);
    }
    if (length && s->length_tolerance > SOLVER_LENGTH_MOST) {
        io_defect(
            f, length->line,
            "solver: length_tolerance is %g mm, expected at most %g mm: beyond it what is called solved "
            "is no equilibrium (default 1e-5 mm)",
            s->length_tolerance, SOLVER_LENGTH_MOST);
    }
}

void io_read_solver(io_robot_file *f, const io_node *node)
{
    static const io_key keys[] = {
        {"method", IO_OTHER, 0, 0, 0},
        {"force_tolerance", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_solver, force_tolerance), IO_POSITIVE},
        {"length_tolerance", IO_QUANTITY, PL_DIM_LENGTH, offsetof(io_solver, length_tolerance), IO_POSITIVE},
        {"iteration_limit", IO_WHOLE, 0, offsetof(io_solver, iteration_limit), IO_POSITIVE},
        {"increment_limit", IO_WHOLE, 0, offsetof(io_solver, increment_limit), IO_POSITIVE},
        {"time_limit", IO_QUANTITY, PL_DIM_TIME, offsetof(io_solver, time_limit), IO_NOT_NEGATIVE},
        {"linear_solver", IO_OTHER, 0, 0, 0},
        {"formulation", IO_OTHER, 0, 0, 0},
        {"warp", IO_BOOL, 0, offsetof(io_solver, warp), 0},
        // of local_global, read in io_robot_geometric.c
        {"preset", IO_OTHER, 0, 0, 0},
        {"metric", IO_OTHER, 0, 0, 0},
        {"form", IO_OTHER, 0, 0, 0},
        {"acceleration", IO_OTHER, 0, 0, 0},
        {"window", IO_OTHER, 0, 0, 0},
        {"stop", IO_OTHER, 0, 0, 0},
        {"tip_tolerance", IO_OTHER, 0, 0, 0},
        {"weights", IO_OTHER, 0, 0, 0},
        {"actuation_weight", IO_OTHER, 0, 0, 0},
        {"body_weight", IO_OTHER, 0, 0, 0},
        {"actuation", IO_OTHER, 0, 0, 0},
        {"distribution", IO_OTHER, 0, 0, 0},
        {"strain_high", IO_OTHER, 0, 0, 0},
        {"contact_spring", IO_OTHER, 0, 0, 0},
        {"contact_offset", IO_OTHER, 0, 0, 0},
        {"remesh", IO_OTHER, 0, 0, 0},
        {"remesh_volume", IO_OTHER, 0, 0, 0},
        {"remesh_stretch", IO_OTHER, 0, 0, 0},
    };
    static const char *const linear[] = {"auto", "cholmod", "mumps", "multifrontal", "mumps_mpi"};
    static const char *const formulation[] = {"locking_free", "displacement"};
    io_solver *s = &f->solver;
    io_read_map(f, node, "solver", keys, PL_COUNT(keys), s);
    solver_check_tolerances(f, node, s);
    s->has_force_tolerance = io_child(node, "force_tolerance");
    s->has_length_tolerance = io_child(node, "length_tolerance");
    s->has_iteration_limit = io_child(node, "iteration_limit");
    s->has_increment_limit = io_child(node, "increment_limit");
    s->has_time_limit = io_child(node, "time_limit");
    s->has_warp = io_child(node, "warp");
    io_read_geometric(f, node);
    const io_node *n = io_child(node, "linear_solver");
    if (n) {
        const int i = io_read_choice(f, n, "solver: linear_solver", linear, PL_COUNT(linear));
        s->has_linear_solver = i >= 0;
        s->linear_solver = (pl_linear_solver)i;
    }
    n = io_child(node, "formulation");
    if (n) {
        s->displacement = io_read_choice(f, n, "solver: formulation", formulation, 2) == 1;
        s->has_displacement = true;
    }
}
