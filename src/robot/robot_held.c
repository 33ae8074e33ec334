// Is every piece of the mesh held? A piece that can still move rigidly has no unique equilibrium. The
// supports of a piece hold it when no rigid motion u = a + b x (X - c) vanishes at every held vertex along
// every held axis, that is when the 6 x 6 matrix sum r r^T over held (vertex, axis) pairs has full rank, r
// the pair's row of the six motions.
#include "robot/robot_impl.h"

// The root of v's piece, with path halving.
static int32_t held_root(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }

    return v;
}

// The lower root wins, so that roots do not depend on the order of elements.
static void held_join(int32_t *parent, int32_t a, int32_t b)
{
    const int32_t p = held_root(parent, a), q = held_root(parent, b);
    parent[p > q ? p : q] = p > q ? q : p;
}

// Vertices are joined by elements and by rigid regions; the root is the lowest vertex of the piece.
static void held_pieces(const pl_robot *robot, int32_t *parent)
{
    const pl_mesh_view v = pl_mesh_get(robot->mesh);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        parent[i] = i;
    }

    for (int32_t e = 0; e < v.element_count; ++e) {
        for (int64_t a = v.node_start[e] + 1; a < v.node_start[e + 1]; ++a) {
            held_join(parent, v.node[v.node_start[e]], v.node[a]);
        }
    }

    for (int r = 0; r < robot->rigid_count; ++r) {
        for (int32_t k = 1; k < robot->rigid[r].node_count; ++k) {
            held_join(parent, robot->rigid[r].node[0], robot->rigid[r].node[k]);
        }
    }
}

// Rank of a positive semidefinite 6 x 6 matrix by elimination with diagonal pivots; destroys it.
static int held_rank(double A[36])
{
    // pivots are compared with the largest: the rows are scaled by the size of the robot
    double largest = 0;
    for (int i = 0; i < 6; ++i) {
        largest = A[7 * i] > largest ? A[7 * i] : largest;
    }

    bool used[6] = {false};
    for (int rank = 0; rank < 6; ++rank) {
        int p = -1;

        for (int i = 0; i < 6; ++i) {
            if (!used[i] && (p < 0 || A[7 * i] > A[7 * p])) {
                p = i;
            }
        }

        if (!(A[7 * p] > 1e-12 * largest)) {
            return rank;
        }

        // eliminate row and column p from the rest
        used[p] = true;
        for (int i = 0; i < 6; ++i) {
            const double f = used[i] ? 0 : A[6 * i + p] / A[7 * p];
            for (int j = 0; j < 6 && f != 0; ++j) {
                A[6 * i + j] -= f * A[6 * p + j];
            }
        }
    }

    return 6;
}

// Rows of the six motions at a held vertex and axis, about the first vertex of the piece, lengths over
// `size`.
static void held_add(double A[36], const double X[3], const double centre[3], double size, int axis)
{
    const double d[3] = {(X[0] - centre[0]) / size, (X[1] - centre[1]) / size, (X[2] - centre[2]) / size};
    double r[6] = {0};

    r[axis] = 1;

    // (e_k x d)_axis
    const int p = (axis + 1) % 3, q = (axis + 2) % 3;
    r[3 + p] = d[q];
    r[3 + q] = -d[p];

    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            A[6 * i + j] += r[i] * r[j];
        }
    }
}

// One defect, by how much of the piece is free.
static void held_report(robot_build *b, int rank, int pieces, const double place[3])
{
    const int line = b->def->fixed_count > 0 ? b->def->fixed[0].line : b->def->body[0].line;
    if (rank == 0 && pieces == 1) {
        ROBOT_DEFECT(b, line, "the body has no support: without 'fixed' it has no unique equilibrium");
        pl_findings_advise(b->findings, "add fixed: [{surface: ...}]");
    } else if (rank == 0) {
        ROBOT_DEFECT(
            b, line,
            "the part of the mesh at (%g, %g, %g) has no support: the mesh has %d disconnected parts",
            place[0], place[1], place[2], pieces);
        pl_findings_advise(b->findings, "fix it, or merge it with the rest where they touch");
    } else {
        ROBOT_DEFECT(b, line, "the supports leave %d rigid-body motion%s free", 6 - rank,
                     rank == 5 ? "" : "s");
        pl_findings_advise(b->findings, "fix more axes, or vertices that do not lie on one line");
    }

    pl_findings_place(b->findings, place, NULL, 0);
}

pl_status robot_check_held(robot_build *b)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    if (robot_has_defects(b)) {
        return PL_OK; // a support that was not found would be blamed twice
    }

    int32_t *parent = PL_NEW_ARRAY(int32_t, v.vertex_count), *piece = PL_NEW_ARRAY(int32_t, v.vertex_count);
    if (!parent || !piece) {
        pl_free(parent);
        pl_free(piece);
        return robot_memory(b);
    }

    // pieces and their numbers in the order of their first vertices
    held_pieces(b->robot, parent);
    int32_t count = 0;
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        piece[i] = held_root(parent, i) == i ? count++ : piece[held_root(parent, i)];
    }

    // one 6 x 6 matrix per piece
    double *gram = PL_NEW_ARRAY(double, 36 * (int64_t)count);
    for (int s = 0; gram && s < b->robot->support_count; ++s) {
        const pl_support *support = &b->robot->support[s];

        for (int32_t k = 0; k < support->node_count; ++k) {
            const int32_t j = support->node[k];
            const double *centre = v.position + 3 * (size_t)held_root(parent, j);

            for (int i = 0; i < 3; ++i) {
                if (support->axis[i]) {
                    held_add(gram + 36 * (size_t)piece[j], v.position + 3 * (size_t)j, centre, b->size, i);
                }
            }
        }
    }

    // free bodies are held by contact, or not at all, which only the solver can find out
    for (int r = 0; gram && r < b->robot->rigid_count; ++r) {
        for (int i = 0; b->robot->rigid[r].free && i < 6; ++i) {
            gram[36 * (size_t)piece[b->robot->rigid[r].node[0]] + 7 * (size_t)i] = 1;
        }
    }

    // the first few; more would say the same
    int reported = 0;
    for (int32_t i = 0; gram && i < v.vertex_count && reported < 5; ++i) {
        if (parent[i] == i) {
            const int rank = held_rank(gram + 36 * (size_t)piece[i]);
            if (rank < 6) {
                held_report(b, rank, count, v.position + 3 * (size_t)i);
                ++reported;
            }
        }
    }

    const bool good = gram != NULL;
    pl_free(gram);
    pl_free(parent);
    pl_free(piece);

    return good ? PL_OK : robot_memory(b);
}
