// CalculiX on the mesh of a bench robot: writes its input, runs it on one thread, reads counts and
// displacements back.
#ifndef PL_BENCH_CCX_H
#define PL_BENCH_CCX_H

#include <errno.h>
#include <fcntl.h>
#include "bench.h"
#include "meshfile/meshfile.h"

typedef struct bench_ccx {
    double cpu, wall; // s
    int increments, iterations, factorizations;
    double tip[3]; // mm, mean displacement of the nodes of the tip
    char version[60];
} bench_ccx;

// The label of a face in CalculiX: P1 lies opposite of corner 4, P2 of 3, P3 of 1, P4 of 2.
static inline int bench_ccx_side(const pl_mesh *mesh, int64_t face)
{
    static const int side_of[4] = {3, 4, 2, 1};
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int32_t *node = v.node + v.node_start[face / 8];
    int32_t on[PL_FACE_NODES_MAX];

    pl_mesh_face_nodes(mesh, face, on);
    for (int a = 0; a < 4; ++a) {
        if (node[a] != on[0] && node[a] != on[1] && node[a] != on[2]) {
            return side_of[a];
        }
    }

    return 0;
}

static inline void bench_ccx_nodes(FILE *file, const pl_mesh *mesh, const char *surface)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int32_t s = pl_mesh_find_surface(mesh, surface);

    fprintf(file, "*NSET, NSET=N%s\n", surface);
    for (int64_t f = v.surface_start[s]; f < v.surface_start[s + 1]; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int count = pl_mesh_face_nodes(mesh, v.surface_face[f], node);
        for (int a = 0; a < count; ++a) {
            fprintf(file, "%d,\n", (int)node[a] + 1);
        }
    }
}

static inline void bench_ccx_material(FILE *file, const pl_robot *robot, int region, const char *set)
{
    const char *name = pl_robot_region_material(robot, region);
    pl_material m = {0};

    for (int i = 0; i < pl_robot_material_count(robot); ++i) {
        if (strcmp(pl_robot_material_name(robot, i), name) == 0) {
            m = pl_robot_material(robot, i);
        }
    }

    fprintf(file, "*MATERIAL, NAME=%s\n", name);
    if (m.model == PL_STVK) {
        fprintf(file, "*ELASTIC\n%.12g, %.12g\n", m.young, m.poisson);
    } else {
        double mu, bulk;
        pl_material_moduli(&m, &mu, &bulk);
        fprintf(file, "*HYPERELASTIC, NEO HOOKE\n%.12g, %.12g\n", m.c10, 2 / bulk);
    }

    fprintf(file, "*SOLID SECTION, ELSET=%s, MATERIAL=%s\n", set, name);
}

// Base clamped, pressures (MPa) on the named surfaces (the list ends with NULL), in increments from `first`
// of the load under default controls.
static inline bool bench_ccx_write(const pl_robot *robot, const char *const *surface, const double *pressure,
                                   double first, const char *directory)
{
    const pl_mesh *mesh = pl_robot_mesh(robot);
    const pl_mesh_view v = pl_mesh_get(mesh);
    char path[600];
    pl_error err;

    snprintf(path, sizeof path, "%s/mesh.inp", directory);
    if (pl_mesh_write_inp(mesh, path, &err) != PL_OK) {
        return bench_failed("mesh for CalculiX", &err);
    }
    snprintf(path, sizeof path, "%s/job.inp", directory);
    FILE *file = fopen(path, "w");
    if (!file) {
        return false;
    }
    fprintf(file, "*INCLUDE, INPUT=mesh.inp\n");
    for (int32_t r = 0; r < v.region_count; ++r) {
        bench_ccx_material(file, robot, r, v.region_name[r]);
    }
    bench_ccx_nodes(file, mesh, "base");
    bench_ccx_nodes(file, mesh, "tip");
    fprintf(file, "*BOUNDARY\nNbase, 1, 3\n*STEP, NLGEOM, INC=1000\n*STATIC\n%g, 1.\n*DLOAD\n", first);
    for (int k = 0; surface[k]; ++k) {
        const int32_t s = pl_mesh_find_surface(mesh, surface[k]);
        for (int64_t f = v.surface_start[s]; f < v.surface_start[s + 1]; ++f) {
            const int64_t face = v.surface_face[f];
            fprintf(file, "%d, P%d, %.12g\n", (int)(face / 8) + 1, bench_ccx_side(mesh, face), pressure[k]);
        }
    }

    fprintf(file, "*NODE PRINT, NSET=Ntip, FREQUENCY=1000\nU\n*END STEP\n");

    return fclose(file) == 0;
}

// 127 when there is no such program.
static inline int bench_ccx_execute(const char *directory)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int out = chdir(directory) == 0 ? open("job.out", O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
        static const char *const threads[] = {"OMP_NUM_THREADS",     "OPENBLAS_NUM_THREADS",
                                              "CCX_NPROC_STIFFNESS", "CCX_NPROC_EQUATION_SOLVER",
                                              "CCX_NPROC_RESULTS",   "NUMBER_OF_CPUS"};
        for (int i = 0; i < PL_COUNT(threads); ++i) {
            setenv(threads[i], "1", 1);
        }
        if (out >= 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2) {
            execlp("ccx", "ccx", "job", (char *)NULL);
        }
        _exit(errno == ENOENT ? 127 : 126);
    }

    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return 126;
    }

    return WEXITSTATUS(status);
}

static inline void bench_ccx_count(const char *directory, bench_ccx *c)
{
    char path[600], line[400];
    snprintf(path, sizeof path, "%s/job.out", directory);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        int number;
        c->iterations += sscanf(line, " iteration %d", &number) == 1;
        c->factorizations += strncmp(line, " Factoring the system", 21) == 0;
        c->increments += strstr(line, "convergence") != NULL && strstr(line, "no convergence") == NULL;
        if (strstr(line, "Version")) {
            sscanf(strstr(line, "Version"), "Version %50[^,\n]", c->version);
        }
    }

    if (file) {
        fclose(file);
    }
}

// The mean over the entries of the last table; false when there is none.
static inline bool bench_ccx_tip(const char *directory, double tip[3])
{
    char path[600], line[400];
    int count = 0;

    snprintf(path, sizeof path, "%s/job.dat", directory);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        int node;
        double u[3];
        if (strstr(line, "displacements")) {
            count = 0;
            tip[0] = tip[1] = tip[2] = 0;
        } else if (sscanf(line, "%d %lf %lf %lf", &node, &u[0], &u[1], &u[2]) == 4) {
            ++count;
            for (int k = 0; k < 3; ++k) {
                tip[k] += (u[k] - tip[k]) / count;
            }
        }
    }

    if (file) {
        fclose(file);
    }

    return count > 0;
}

static inline void bench_ccx_remove(const char *directory)
{
    static const char *const name[] = {"mesh.inp", "job.inp", "job.out", "job.dat",    "job.frd",
                                       "job.sta",  "job.cvg", "job.12d", "spooles.out"};
    char path[600];

    for (int i = 0; i < PL_COUNT(name); ++i) {
        snprintf(path, sizeof path, "%s/%s", directory, name[i]);
        unlink(path);
    }

    rmdir(directory);
}

// From rest; false, with a sentence, when there is no CalculiX or it gave up.
static inline bool bench_ccx_run_loads(const pl_robot *robot, const char *const *surface,
                                       const double *pressure, double first, bench_ccx *out)
{
    char directory[] = "/tmp/pliant-bench-XXXXXX";
    *out = (bench_ccx){0};
    if (!mkdtemp(directory) || !bench_ccx_write(robot, surface, pressure, first, directory)) {
        printf("no input for CalculiX could be written\n");
        return false;
    }

    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    const double start = pl_seconds();
    const int code = bench_ccx_execute(directory);
    out->wall = pl_seconds() - start;
    getrusage(RUSAGE_CHILDREN, &after);
    out->cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
                        before.ru_stime.tv_sec) +
               1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec -
                               before.ru_stime.tv_usec);
    bench_ccx_count(directory, out);
    const bool done = code == 0 && bench_ccx_tip(directory, out->tip);
    if (!done) {
        printf(code == 127
                   ? "CalculiX (ccx, package calculix-ccx) is not installed: the comparison is skipped\n"
                   : "CalculiX gave up with exit code %d\n",
               code);
    }

    bench_ccx_remove(directory);

    return done;
}

static inline bool bench_ccx_run(const pl_robot *robot, double pressure, bench_ccx *out)
{
    static const char *const surface[] = {"cavity", NULL};
    return bench_ccx_run_loads(robot, surface, &pressure, 0.1, out);
}

#endif
