// The Gmsh session: quiet, without configuration files, the same result every time. It lives in the mesher's
// own process (see meshing_child.c), so Gmsh's global state is nobody else's.
#include "meshing/meshing_impl.h"

pl_status meshing_begin(gmsh_session *g, pl_error *err)
{
    *g = (gmsh_session){0};
    const pl_status loaded = meshing_gmsh_load(err);
    if (loaded != PL_OK) {
        return loaded;
    }
    gmshInitialize(0, NULL, 0, &g->ierr);
    if (g->ierr) {
        return pl_fail(err, PL_FAILED, "meshing: Gmsh does not start");
    }

    // one thread and a fixed seed: the same mesh every time
    static const struct {
        const char *name;
        double value;
    } option[] = {
        {"General.Terminal", 0},
        {"General.Verbosity", 1},
        {"General.NumThreads", 1},
        {"General.AbortOnError", 2},
        {"Mesh.RandomSeed", 1},
        {"Mesh.MaxNumThreads1D", 1},
        {"Mesh.MaxNumThreads2D", 1},
        {"Mesh.MaxNumThreads3D", 1},
        {"Mesh.RandomFactor", 1e-9},
        {"Mesh.Algorithm", 6},
        {"Mesh.Algorithm3D", 1},
        {"Mesh.Optimize", 1},
        {"Mesh.OptimizeThreshold", 0.4},
        {"Mesh.MeshSizeFromPoints", 0},
        {"Mesh.MeshSizeExtendFromBoundary", 0},
        {"Mesh.MeshSizeFromCurvature", 0},
        {"Mesh.ElementOrder", 1},
        {"Geometry.Tolerance", 1e-8},
    };
    for (int i = 0; i < PL_COUNT(option); ++i) {
        GMSH(g, gmshOptionSetNumber(option[i].name, option[i].value, &g->ierr));
    }
    GMSH(g, gmshModelAdd("pliant", &g->ierr));

    if (g->failed) {
        const pl_status status = meshing_fail(g, "meshing: Gmsh does not take its options", err);
        meshing_end(g);
        return status;
    }

    return PL_OK;
}

void meshing_end(gmsh_session *g)
{
    gmshFinalize(&g->ierr);
}

pl_status meshing_fail(gmsh_session *g, const char *what, pl_error *err)
{
    char *text = NULL;
    int ierr = 0;

    gmshLoggerGetLastError(&text, &ierr);
    const bool said = !ierr && text && text[0];
    const pl_status status = pl_fail(err, PL_BAD_INPUT, "%s: %s", what, said ? text : "Gmsh gives no reason");
    gmshFree(text);
    g->failed = true;

    return status;
}

pl_status meshing_stage(const pl_progress *progress, double fraction, const char *what, pl_error *err)
{
    if (!pl_progress_step(progress, fraction, what)) {
        return pl_fail(err, PL_INTERRUPTED, "meshing: interrupted before %s", what);
    }
    return PL_OK;
}

// One physical group per name, over the entities whose name_of is that name.
pl_status meshing_group(gmsh_session *g, int dim, const int *tag, const char *const *name_of, int32_t count,
                        pl_error *err)
{
    int *member = PL_NEW_ARRAY(int, count);
    if (!member) {
        return pl_fail_memory(err, "the names of a model");
    }

    // the first entity of each name collects all others
    for (int32_t i = 0; i < count; ++i) {
        bool first = name_of[i] != NULL;
        for (int32_t k = 0; k < i && first; ++k) {
            first = !name_of[k] || strcmp(name_of[k], name_of[i]) != 0;
        }
        if (!first) {
            continue;
        }
        size_t n = 0;

        for (int32_t k = i; k < count; ++k) {
            if (name_of[k] && strcmp(name_of[k], name_of[i]) == 0) {
                member[n++] = tag[k];
            }
        }

        int group = 0;
        GMSH(g, group = gmshModelAddPhysicalGroup(dim, member, n, -1, &g->ierr));
        GMSH(g, gmshModelSetPhysicalName(dim, group, name_of[i], &g->ierr));
    }

    pl_free(member);
    return PL_OK;
}
