// Time and peak memory of meshing a box, reading it back (VTU raw and base64, MSH binary and ASCII) and
// raising it to quadratic elements, at about 10k, 100k and 1M linear tetrahedra. Every piece of work has a
// process of its own; its peak holds what it needs to begin with. Exponents p of cost ~ elements^p between
// neighbours: 1 is linear.
//
//   bench_meshing [largest]      largest: leave out meshes above so many elements
#include "bench.h"
#include "mesh/mesh.h"
#include "meshfile/meshfile.h"
#include "meshing/meshing.h"

enum { ELEMENTS, CPU, WALL, PEAK_MB, RESULTS };

typedef struct task {
    const char *name, *file; // file: beside the others in `directory`
    bench_work work;
} task;

typedef struct job {
    double size; // edge length, mm
    char path[300];
    const char *directory;
} job;

static void finish(const pl_mesh *mesh, bench_clock start, double *result)
{
    const bench_clock t = bench_since(start);
    result[ELEMENTS] = pl_mesh_get(mesh).element_count;
    result[CPU] = t.cpu;
    result[WALL] = t.wall;
    result[PEAK_MB] = bench_peak_mb();
}

static bool write_all(const pl_mesh *mesh, const char *directory)
{
    char path[400];
    pl_error err = {0};
    bool done = true;

    for (int i = 0; done && i < 4; ++i) {
        static const char *const name[] = {"raw.vtu", "base64.vtu", "binary.msh", "ascii.msh"};
        snprintf(path, sizeof path, "%s/%s", directory, name[i]);
        done = (i < 2 ? pl_mesh_write_vtu(mesh, path, i == 0 ? PL_VTU_RAW : PL_VTU_BASE64, &err)
                      : pl_meshing_write_msh(mesh, path, i == 2, &err)) == PL_OK;
    }

    return done || bench_failed("writing", &err);
}

// The box 100 x 30 x 30 mm through Gmsh, order 1; left behind in all formats for those who read.
static bool work_mesh(const void *input, double *result)
{
    const job *j = input;
    const pl_mesh_source source = {
        .kind = PL_SOURCE_DESIGN, .design = "beam", .size = j->size, .order = 1, .unit = 1, .file = "bench"};
    const pl_mesher *mesher = pl_meshing_mesher();
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    const bench_clock start = bench_now();

    if (mesher->build(mesher->user, &source, NULL, &mesh, NULL, &err) != PL_OK) {
        return bench_failed("meshing", &err);
    }
    finish(mesh, start, result);
    const bool done = write_all(mesh, j->directory);
    pl_mesh_destroy(mesh);

    return done;
}

static pl_mesh *load(const char *path)
{
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    if (pl_mesh_load(path, 1, pl_meshing_mesher(), &mesh, NULL, &err) != PL_OK) {
        bench_failed(path, &err);
    }
    return mesh;
}

static bool work_read(const void *input, double *result)
{
    const job *j = input;
    const bench_clock start = bench_now();
    pl_mesh *mesh = load(j->path);

    if (!mesh) {
        return false;
    }
    finish(mesh, start, result);
    pl_mesh_destroy(mesh);

    return true;
}

static bool work_raise(const void *input, double *result)
{
    const job *j = input;
    pl_error err = {0};
    pl_mesh *mesh = load(j->path), *raised = NULL;

    if (!mesh) {
        return false;
    }

    const bench_clock start = bench_now();
    if (pl_mesh_raise(mesh, &raised, &err) != PL_OK) {
        return bench_failed("raising", &err);
    }
    finish(raised, start, result);
    pl_mesh_destroy(raised);
    pl_mesh_destroy(mesh);

    return true;
}

static const task tasks[] = {{"meshing", "", work_mesh},
                             {"reading VTU, raw", "raw.vtu", work_read},
                             {"reading VTU, base64", "base64.vtu", work_read},
                             {"reading MSH 4.1, binary", "binary.msh", work_read},
                             {"reading MSH 4.1, ASCII", "ascii.msh", work_read},
                             {"raising to quadratic", "raw.vtu", work_raise}};

static void clean(const char *directory)
{
    char path[400];
    for (int i = 0; i < PL_COUNT(tasks); ++i) {
        snprintf(path, sizeof path, "%s/%s", directory, tasks[i].file);
        if (tasks[i].file[0]) {
            unlink(path);
        }
    }

    rmdir(directory);
}

// One line per task and mesh; `before` holds the results of the mesh before, elements 0 when there is none.
static bool mesh_rows(double size, double before[][RESULTS])
{
    char directory[] = "/tmp/pliant-bench-XXXXXX";
    if (!mkdtemp(directory)) {
        printf("no directory for meshes could be made\n");
        return false;
    }

    bool done = true;
    for (int i = 0; done && i < PL_COUNT(tasks); ++i) {
        job j = {.size = size, .directory = directory};
        double r[RESULTS] = {0};
        snprintf(j.path, sizeof j.path, "%s/%s", directory, tasks[i].file);
        done = bench_apart(tasks[i].work, &j, r, RESULTS);
        if (!done) {
            printf("%-26s at edges of %g mm: no result\n", tasks[i].name, size);
            break;
        }
        printf("%-26s %9.0f %9.3f %9.3f %9.0f %12.2f", tasks[i].name, r[ELEMENTS], r[CPU], r[WALL],
               r[PEAK_MB], 1e6 * r[CPU] / r[ELEMENTS]);
        if (before[i][ELEMENTS] > 0) {
            const double from = before[i][ELEMENTS], to = r[ELEMENTS];
            printf(" %9.2f %9.2f", bench_exponent(before[i][CPU], r[CPU], from, to),
                   bench_exponent(before[i][PEAK_MB], r[PEAK_MB], from, to));
        }
        printf("\n");
        fflush(stdout);
        memcpy(before[i], r, sizeof r);
    }

    clean(directory);

    return done;
}

int main(int argc, char **argv)
{
    static const struct {
        double size, about;
    } mesh[] = {{3.55, 1e4}, {1.6, 1e5}, {0.74, 1e6}};
    const double largest = argc > 1 ? atof(argv[1]) : 1e9;
    double before[PL_COUNT(tasks)][RESULTS] = {0};
    bench_title("meshing, reading and raising a box");
    printf("\n%-26s %9s %9s %9s %9s %12s %9s %9s\n", "", "elements", "CPU s", "wall s", "peak MB",
           "us/element", "exp CPU", "exp peak");
    bool done = true;
    for (int i = 0; done && i < PL_COUNT(mesh) && mesh[i].about <= largest; ++i) {
        done = mesh_rows(mesh[i].size, before);
    }

    return done ? 0 : 1;
}
