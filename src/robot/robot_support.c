// Supports and rigid regions, resolved to vertices; supports that contradict each other are refused.
#include "robot/robot_impl.h"

// Vertices in a box, of one body or of all.
static void support_mark_box(robot_build *b, const pl_fixed_def *def)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);

    // a box of one body stands in that body's frame: x_body = R^T (x - t)
    const bool own = def->body >= 0 && def->body < b->def->body_count;
    const pl_body_def *body = own ? &b->def->body[def->body] : NULL;
    const char *prefix = own && b->def->body_count > 1 ? body->name : NULL;
    const size_t length = prefix ? strlen(prefix) : 0;

    // mm: faces of a box that coincide with those of the body
    const double slack = 1e-9 * b->size;

    for (int32_t e = 0; e < v.element_count; ++e) {
        const char *region = v.region_name[v.region[e]];
        if (prefix && (strncmp(region, prefix, length) != 0 || region[length] != '.')) {
            continue;
        }
        for (int64_t a = v.node_start[e]; a < v.node_start[e + 1]; ++a) {
            double x[3];
            memcpy(x, v.position + 3 * (size_t)v.node[a], sizeof x);
            if (own) {
                pl_sub3(x, body->translation, x);
                pl_mulTv3(body->rotation, x, x);
            }

            bool inside = true;
            for (int i = 0; i < 3; ++i) {
                inside = inside && x[i] >= def->low[i] - slack && x[i] <= def->high[i] + slack;
            }
            if (inside) {
                b->mark[v.node[a]] = true;
            }
        }
    }
}

// A surface may be held by several supports; the second one named base is base2.
static char *support_name(const pl_robot *robot, const char *wanted)
{
    pl_text name = {0};
    pl_text_add(&name, "%s", wanted);
    for (int twin = 2, s = 0; name.data && s < robot->support_count - 1; ++s) {
        if (robot->support[s].name && strcmp(robot->support[s].name, name.data) == 0) {
            pl_text_clear(&name);
            pl_text_add(&name, "%s%d", wanted, twin++);
            s = -1;
        }
    }

    return name.data;
}

// Name, motion and vertices of a support.
static pl_status support_read(robot_build *b, const pl_fixed_def *def, pl_support *s)
{
    s->name = support_name(b->robot, def->name ? def->name : "fixed");
    memcpy(s->axis, def->axis, sizeof s->axis);
    memcpy(s->move, def->move, sizeof s->move);
    memcpy(s->rotate, def->rotate, sizeof s->rotate);
    memcpy(s->about, def->about, sizeof s->about);

    // by box, surface or region
    bool found = true;
    if (def->has_box) {
        support_mark_box(b, def);
    } else if (def->surface) {
        const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
        const int32_t k = robot_find_surface(b, def->surface, "fixed", def->line);
        found = k >= 0;
        if (found) {
            robot_mark_faces(b, v.surface_face + v.surface_start[k],
                             v.surface_start[k + 1] - v.surface_start[k]);
        }
    } else {
        const int32_t k = robot_find_region(b, def->region, "fixed", def->line);
        found = k >= 0;
        if (found) {
            robot_mark_region(b, k);
        }
    }

    // a support of nothing is a mistake
    const pl_status status = robot_take_marks(b, &s->node, &s->node_count);
    if (status == PL_OK && found && s->node_count == 0) {
        ROBOT_DEFECT(b, def->line, "fixed: '%s' contains no vertex", s->name);

        if (def->has_box) {
            double low[3], high[3];
            pl_mesh_bounds(b->robot->mesh, low, high);
            pl_findings_advise(b->findings, "the mesh extends from (%g, %g, %g) to (%g, %g, %g) mm", low[0],
                               low[1], low[2], high[0], high[1], high[2]);
        }
    }

    return s->name ? status : robot_memory(b);
}

// Displacement of a vertex at full load: R(w) (X - c) + c + move - X.
static void support_motion(const pl_support *s, const double R[9], const double X[3], double u[3])
{
    double d[3], r[3];
    pl_sub3(X, s->about, d);
    pl_mulv3(R, d, r);
    for (int i = 0; i < 3; ++i) {
        u[i] = r[i] - d[i] + s->move[i];
    }
}

// Support `s` takes its vertices; where another holds the same axis there, both must move alike.
static void support_claim(robot_build *b, int s, int32_t *owner)
{
    const double *X = pl_mesh_get(b->robot->mesh).position;
    const pl_support *mine = &b->robot->support[s];
    double R[9], Q[9];

    pl_rotation_exp(mine->rotate, R);
    bool reported = false;
    for (int32_t k = 0; k < mine->node_count; ++k) {
        const int32_t v = mine->node[k];

        for (int i = 0; i < 3; ++i) {
            int32_t *slot = &owner[3 * (size_t)v + i];
            if (!mine->axis[i]) {
                continue;
            }

            // two supports may share a vertex if they move it alike; one finding is enough
            if (*slot >= 0 && !reported) {
                const pl_support *other = &b->robot->support[*slot];
                double u[3], w[3];
                pl_rotation_exp(other->rotate, Q);
                support_motion(mine, R, X + 3 * (size_t)v, u);
                support_motion(other, Q, X + 3 * (size_t)v, w);

                if (fabs(u[i] - w[i]) > 1e-9 * b->size) {
                    ROBOT_DEFECT(
                        b, b->def->fixed[s].line,
                        "fixed: '%s' moves a vertex by %g mm along %c, but '%s' (line %d) moves it by %g mm",
                        mine->name, u[i], "xyz"[i], other -> name, b -> def -> fixed[*slot].line, w[i]);
                    pl_findings_place(b->findings, X + 3 * (size_t)v, NULL, 0);
                    reported = true;
                }
            }

            *slot = s;
        }
    }
}

// All supports; a body that is held everywhere has nothing to solve for.
pl_status robot_supports(robot_build *b)
{
    const int32_t vertices = pl_mesh_get(b->robot->mesh).vertex_count;
    b->robot->support = PL_NEW_ARRAY(pl_support, b->def->fixed_count);
    int32_t *owner = PL_NEW_ARRAY(int32_t, 3 * (int64_t)vertices);
    pl_status status = b->robot->support && owner ? PL_OK : robot_memory(b);
    for (int64_t i = 0; owner && i < 3 * (int64_t)vertices; ++i) {
        owner[i] = -1;
    }

    for (int s = 0; status == PL_OK && s < b->def->fixed_count; ++s) {
        ++b->robot->support_count;
        status = support_read(b, &b->def->fixed[s], &b->robot->support[s]);
        if (status == PL_OK) {
            support_claim(b, s, owner);
        }
    }

    bool held = status == PL_OK && b->def->fixed_count > 0;
    for (int64_t i = 0; held && i < 3 * (int64_t)vertices; ++i) {
        held = owner[i] >= 0;
    }
    if (held) {
        ROBOT_DEFECT(b, b->def->fixed[0].line, "fixed: every vertex is fixed, nothing can move");
    }
    pl_free(owner);

    return status;
}

// Whether two supports impose the same rigid motion: equal rotations about axes that coincide.
static bool rigid_same_motion(const pl_support *a, const pl_support *b)
{
    double apart[3], off[3];
    pl_sub3(a->about, b->about, apart);
    pl_cross3(a->rotate, apart, off);
    return memcmp(a->move, b->move, sizeof a->move) == 0 &&
           memcmp(a->rotate, b->rotate, sizeof a->rotate) == 0 &&
           pl_norm3(off) <= 1e-9 * pl_norm3(a->rotate) * pl_norm3(apart);
}

// Two supports with different motions on one rigid region tear it; two rigid regions that share a vertex are
// one. Marks vertices for the search and clears the marks.
static void rigid_check(robot_build *b, int r, int32_t *owner)
{
    const pl_rigid *rigid = &b->robot->rigid[r];
    const int line = b->def->rigid[r].line;

    // vertices of another rigid region
    for (int32_t k = 0; k < rigid->node_count; ++k) {
        const int32_t other = owner[rigid->node[k]];
        if (other >= 0) {
            ROBOT_DEFECT(b, line, "rigid: '%s' shares vertices with '%s', so they would move as one",
                         rigid->name, b->robot->rigid[other].name);
            pl_findings_advise(b->findings,
                               "give both the same region name, or separate them by a soft region");
            return;
        }
    }

    for (int32_t k = 0; k < rigid->node_count; ++k) {
        owner[rigid->node[k]] = r;
        b->mark[rigid->node[k]] = true;
    }

    // supports that touch it
    const pl_support *first = NULL;
    bool clamped = false;
    for (int s = 0; s < b->robot->support_count; ++s) {
        const pl_support *support = &b->robot->support[s];
        bool touches = false;
        for (int32_t k = 0; k < support->node_count; ++k) {
            touches = touches || b->mark[support->node[k]];
        }
        if (!touches) {
            continue;
        }
        if (first && !rigid_same_motion(first, support)) {
            ROBOT_DEFECT(b, line, "rigid: '%s' is fixed by '%s' and by '%s', which move differently",
                         rigid->name, first->name, support->name);
            break;
        }

        clamped = clamped || (support->axis[0] && support->axis[1] && support->axis[2]);
        first = support;
    }

    // a rigid region that slides would need constraints between its six unknowns
    if (first && !clamped) {
        ROBOT_DEFECT(b, line,
                     "rigid: '%s' slides on '%s'; a rigid region must be clamped along all axes or be free",
                     rigid->name, first->name);
        pl_findings_advise(b->findings, "let the support fix deformable vertices, or fix all three axes");
    }

    for (int32_t k = 0; k < rigid->node_count; ++k) {
        b->mark[rigid->node[k]] = false;
    }
}

// Rigid regions of the def, then frames of free bodies.
pl_status robot_rigids(robot_build *b)
{
    const int32_t vertices = pl_mesh_get(b->robot->mesh).vertex_count;
    b->robot->rigid = PL_NEW_ARRAY(pl_rigid, b->def->rigid_count + robot_free_count(b));
    int32_t *owner = PL_NEW_ARRAY(int32_t, vertices);
    pl_status status = b->robot->rigid && owner ? PL_OK : robot_memory(b);
    for (int32_t i = 0; owner && i < vertices; ++i) {
        owner[i] = -1;
    }

    for (int r = 0; status == PL_OK && r < b->def->rigid_count; ++r) {
        const pl_rigid_def *def = &b->def->rigid[r];
        pl_rigid *rigid = &b->robot->rigid[b->robot->rigid_count++];
        rigid->name = pl_strdup(def->region);
        const int32_t region = robot_find_region(b, def->region, "rigid", def->line);
        if (region >= 0) {
            robot_mark_region(b, region);
        }
        status = rigid->name ? robot_take_marks(b, &rigid->node, &rigid->node_count) : robot_memory(b);
        if (status == PL_OK) {
            rigid_check(b, r, owner);
        }
    }

    pl_free(owner);

    return status == PL_OK ? robot_free_rigids(b) : status;
}
