// A first robot file for the user's own part. Surfaces (STL, OBJ) are judged by the library; CAD and volume
// meshes are meshed once and looked at here: cavities are places from which almost every ray meets a wall,
// the base is the larger flat end along the longest axis, the tip is the other end. What was guessed stands
// in comments.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "cli_guess.h"

#define GUESS_EYES 160     // faces looked at
#define GUESS_RAYS 96      // directions per eye
#define GUESS_CAVITIES 12  // most chambers written
#define GUESS_OPENING 0.03 // an inlet covers at most this part of a cavity; slots between bellows open wider
#define GUESS_SEEN 0.96    // part of the rays that must meet a wall

typedef struct guess_eye {
    double point[3];
    double clearance; // mm, to the walls in front and behind
} guess_eye;

typedef struct guess_end {
    bool flat;
    double at, area;
} guess_end;

typedef struct guess {
    const pl_mesh *mesh;
    const int64_t *face;
    int64_t face_count;
    double *triangle; // 9 numbers each
    int64_t triangle_count;
    double low[3], high[3], size;
    bool *taken; // per boundary face: belongs to a cavity found
    guess_eye eye[GUESS_CAVITIES];
    double volume[GUESS_CAVITIES];
    int rims[GUESS_CAVITIES];
    int cavity_count;
    int axis;
    guess_end end[2];
    int base; // which end
} guess;

// ---- geometry
static void guess_cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double guess_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Where a ray meets a triangle (Moeller and Trumbore): t, or a negative number.
static double guess_ray(const double o[3], const double d[3], const double *x)
{
    double u[3], v[3], s[3], p[3], q[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = x[3 + i] - x[i];
        v[i] = x[6 + i] - x[i];
        s[i] = o[i] - x[i];
    }
    guess_cross(d, v, p);
    const double det = guess_dot(u, p);
    if (fabs(det) < 1e-14) {
        return -1;
    }
    const double a = guess_dot(s, p) / det;
    guess_cross(s, u, q);
    const double b = guess_dot(d, q) / det;
    return a < 0 || b < 0 || a + b > 1 ? -1 : guess_dot(v, q) / det;
}

// Distance to the first wall beyond `start`; negative when there is none.
static double guess_cast(const guess *g, const double o[3], const double d[3], double start)
{
    double best = -1;
    for (int64_t k = 0; k < g->triangle_count; ++k) {
        const double t = guess_ray(o, d, g->triangle + 9 * k);
        if (t > start && (best < 0 || t < best)) {
            best = t;
        }
    }
    return best;
}

// The part of directions (a Fibonacci sphere) in which a wall is met.
static double guess_enclosed(const guess *g, const double o[3])
{
    int met = 0;
    for (int k = 0; k < GUESS_RAYS; ++k) {
        const double z = 1 - (2 * k + 1.0) / GUESS_RAYS, r = sqrt(1 - z * z), a = 2.39996322972865332 * k;
        met += guess_cast(g, o, (double[]){r * cos(a), r * sin(a), z}, 0) > 0;
    }
    return (double)met / GUESS_RAYS;
}

// Area vector and centroid of a face from its corners (outward).
static void guess_face(const guess *g, int64_t face, double area[3], double centre[3])
{
    const double *x = pl_mesh_get(g->mesh).position;
    int32_t node[PL_FACE_NODES_MAX];
    const int count = pl_mesh_face_nodes(g->mesh, face, node);
    const int corners = count == 3 || count == 6 ? 3 : 4;
    memset(area, 0, 3 * sizeof *area);
    memset(centre, 0, 3 * sizeof *centre);
    for (int k = 0; k < corners; ++k) {
        double c[3];
        guess_cross(x + 3 * node[k], x + 3 * node[(k + 1) % corners], c);
        for (int i = 0; i < 3; ++i) {
            area[i] += 0.5 * c[i];
            centre[i] += x[3 * node[k] + i] / corners;
        }
    }
}

static bool guess_prepare(guess *g)
{
    const double *x = pl_mesh_get(g->mesh).position;
    pl_mesh_bounds(g->mesh, g->low, g->high);
    for (int i = 0; i < 3; ++i) {
        const double extent = g->high[i] - g->low[i];
        if (extent > 1.0001 * g->size) {
            g->size = extent;
            g->axis = i;
        }
    }
    g->face_count = pl_mesh_boundary(g->mesh, &g->face);
    g->triangle = malloc((size_t)g->face_count * 18 * sizeof *g->triangle + 1);
    g->taken = calloc((size_t)g->face_count + 1, sizeof *g->taken);
    if (!g->triangle || !g->taken) {
        return false;
    }
    for (int64_t f = 0; f < g->face_count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int count = pl_mesh_face_nodes(g->mesh, g->face[f], node);
        const int pieces = count == 3 || count == 6 ? 1 : 2;
        for (int p = 0; p < pieces; ++p) {
            const int corner[3] = {0, 1 + p, 2 + p};
            double *t = g->triangle + 9 * g->triangle_count++;
            for (int k = 0; k < 9; ++k) {
                t[k] = x[3 * node[corner[k / 3]] + k % 3];
            }
        }
    }
    return true;
}

// ---- cavities
static int guess_by_clearance(const void *a, const void *b)
{
    const double d = ((const guess_eye *)b)->clearance - ((const guess_eye *)a)->clearance;
    return (d > 0) - (d < 0);
}

static int guess_by_face(const void *a, const void *b)
{
    const int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    return (i > j) - (i < j);
}

// Eyes half-way between a face and the wall in front of it, roomiest first.
static int guess_eyes(const guess *g, guess_eye eye[GUESS_EYES])
{
    const int64_t stride = g->face_count / GUESS_EYES + 1;
    int count = 0;
    for (int64_t f = 0; f < g->face_count && count < GUESS_EYES; f += stride) {
        double n[3], c[3];
        guess_face(g, g->face[f], n, c);
        const double length = sqrt(guess_dot(n, n));
        for (int i = 0; i < 3; ++i) {
            n[i] /= length > 0 ? length : 1;
        }
        const double t = guess_cast(g, c, n, 1e-6 * g->size);
        if (t > 0) {
            guess_eye *e = &eye[count++];
            e->clearance = t;
            for (int i = 0; i < 3; ++i) {
                e->point[i] = c[i] + 0.5 * t * n[i];
            }
        }
    }
    qsort(eye, (size_t)count, sizeof *eye, guess_by_clearance);
    return count;
}

// The size of the opening of a set of faces: the area vectors of a closed surface cancel, so what is left is
// the cap.
static double guess_opening(const guess *g, const int64_t *face, int64_t count)
{
    double sum[3] = {0}, total = 0;
    for (int64_t k = 0; k < count; ++k) {
        double a[3], c[3];
        guess_face(g, face[k], a, c);
        total += sqrt(guess_dot(a, a));
        for (int i = 0; i < 3; ++i) {
            sum[i] += a[i];
        }
    }
    return total > 0 ? sqrt(guess_dot(sum, sum)) / total : 1;
}

static void guess_try_eye(guess *g, const guess_eye *eye)
{
    const pl_pick pick = {.kind = PL_PICK_SEEN_FROM, .point = {eye->point[0], eye->point[1], eye->point[2]}};
    int64_t *face = NULL, count = 0;
    pl_error err = {0};
    if (pl_mesh_pick(g->mesh, &pick, &face, &count, &err) != PL_OK || count == 0) {
        return;
    }
    bool fresh = true;
    for (int64_t k = 0; k < count && fresh; ++k) {
        const int64_t *at = bsearch(&face[k], g->face, (size_t)g->face_count, sizeof *at, guess_by_face);
        fresh = !at || !g->taken[at - g->face];
    }
    const double volume = pl_mesh_faces_enclosed(g->mesh, face, count);
    if (fresh && volume > 0 && guess_opening(g, face, count) < GUESS_OPENING) {
        pl_mesh_faces_closed(g->mesh, face, count, &g->rims[g->cavity_count]);
        g->volume[g->cavity_count] = volume;
        g->eye[g->cavity_count++] = *eye;
        for (int64_t k = 0; k < count; ++k) {
            const int64_t *at = bsearch(&face[k], g->face, (size_t)g->face_count, sizeof *at, guess_by_face);
            if (at) {
                g->taken[at - g->face] = true;
            }
        }
    }
    pl_mesh_free_faces(face);
}

static void guess_cavities(guess *g)
{
    guess_eye eye[GUESS_EYES];
    const int count = guess_eyes(g, eye);
    for (int k = 0; k < count && g->cavity_count < GUESS_CAVITIES && !cli_interrupted(); ++k) {
        pl_embedding inside;
        pl_error err = {0};
        // half-way can lie in the material of a curved wall
        if (pl_mesh_embed(g->mesh, eye[k].point, &inside, &err) == PL_OK && inside.distance > 0 &&
            guess_enclosed(g, eye[k].point) >= GUESS_SEEN) {
            guess_try_eye(g, &eye[k]);
        }
    }
}

// ---- ends
static void guess_ends(guess *g)
{
    for (int side = 0; side < 2; ++side) {
        guess_end *end = &g->end[side];
        end->at = side ? g->high[g->axis] : g->low[g->axis];
        for (int64_t f = 0; f < g->face_count; ++f) {
            double a[3], c[3];
            guess_face(g, g->face[f], a, c);
            const double length = sqrt(guess_dot(a, a));
            if (fabs(c[g->axis] - end->at) < 1e-5 * g->size && fabs(a[g->axis]) > 0.9999 * length) {
                end->area += length;
            }
        }
        end->flat = end->area > 1e-4 * g->size * g->size;
    }
    g->base = g->end[1].area > 1.05 * g->end[0].area;
}

// ---- the file
static void guess_plane(FILE *to, const guess *g, const char *name, int side)
{
    double p[3], n[3] = {0};
    for (int i = 0; i < 3; ++i) {
        p[i] = 0.5 * (g->low[i] + g->high[i]);
    }
    p[g->axis] = g->end[side].at;
    n[g->axis] = side ? 1 : -1;
    fprintf(to, "  %s: {plane: {point: [%.6g, %.6g, %.6g], normal: [%g, %g, %g]}}   # flat, %.4g mm^2\n",
            name, p[0], p[1], p[2], n[0], n[1], n[2], g->end[side].area);
}

static void guess_surfaces(FILE *to, const guess *g)
{
    fprintf(to, "surfaces:\n");
    if (g->end[g->base].flat) {
        guess_plane(to, g, "base", g->base);
    } else {
        double low[3], high[3];
        for (int i = 0; i < 3; ++i) {
            low[i] = g->low[i] - 0.01 * g->size;
            high[i] = g->high[i] + 0.01 * g->size;
        }
        *(g->base ? &low[g->axis] : &high[g->axis]) = g->end[g->base].at + (g->base ? -0.1 : 0.1) * g->size;
        fprintf(to, "  # no flat end was found: everything within a tenth of the length is held\n");
        fprintf(to, "  base: {box: [[%.6g, %.6g, %.6g], [%.6g, %.6g, %.6g]]}\n", low[0], low[1], low[2],
                high[0], high[1], high[2]);
    }
    if (g->end[!g->base].flat) {
        guess_plane(to, g, "tip", !g->base);
    }
    for (int k = 0; k < g->cavity_count; ++k) {
        const double *p = g->eye[k].point;
        char name[24];
        snprintf(name, sizeof name, k ? "cavity%d" : "cavity", k + 1);
        fprintf(to, "  %s: {seen_from: [%.6g, %.6g, %.6g]}   # %.4g mL, ", name, p[0], p[1], p[2],
                g->volume[k] / 1000);
        fprintf(to, g->rims[k] ? "%d opening(s), capped\n" : "closed\n", g->rims[k]);
    }
}

static bool guess_is(const char *path, const char *one, const char *other)
{
    return strcasecmp(cli_extension(path), one) == 0 || strcasecmp(cli_extension(path), other) == 0;
}

static void guess_source(FILE *to, const cli_args *args, const char *name)
{
    const char *unit = cli_value(args, "unit");
    const bool cad = guess_is(name, ".step", ".stp");
    fprintf(to, "mesh:\n  %s: \"%s\"\n", cad ? "step" : "file", name);
    if (unit) {
        fprintf(to, "  unit: %s\n", unit);
    }
    if (cad) {
        fprintf(to, "  # size: 3   # target edge length; without it, chosen from the wall thickness\n");
    }
    fprintf(to, "  order: 2   # quadratic tetrahedra\n\n");
}

static void guess_text(FILE *to, const cli_args *args, const guess *g, const char *name)
{
    const pl_mesh_view view = pl_mesh_get(g->mesh);
    const char *material =
        pl_material_library_find("dragon_skin_20") ? "dragon_skin_20" : pl_material_library_at(0)->name;
    fprintf(to, "# A first guess for %s: %.4g x %.4g x %.4g mm, %.4g mL of material.\n", name,
            g->high[0] - g->low[0], g->high[1] - g->low[1], g->high[2] - g->low[2],
            pl_mesh_region_volume(g->mesh, -1) / 1000);
    fprintf(to,
            "# Lines that end in a comment were guessed: check them. `pliant doctor` looks for mistakes.\n");
    fprintf(to, "pliant: 1\nname: \"%.*s\"\n", (int)(cli_extension(name) - name), name);
    guess_source(to, args, name);
    guess_surfaces(to, g);
    fprintf(to,
            "\nmaterials:\n  silicone: {use: %s}   # guessed: `pliant materials` lists others\nregions:\n",
            material);
    for (int32_t r = 0; r < view.region_count; ++r) {
        fprintf(to, "  \"%s\": silicone\n", view.region_name[r]);
    }
    fprintf(to, "\nfixed:\n  - {surface: base}   # guessed: the larger end along the longest axis\n\n");
    if (g->cavity_count > 0) {
        fprintf(to, "actuators:\n");
    } else {
        fprintf(to, "# No cavity was found. A tendon would read:\n# actuators:\n#   - {name: tendon, kind: "
                    "cable, through: "
                    "[[0, 0, 0], [50, 0, 0]], radius: 1, drive: shortening, range: [0, 10]}\n");
    }
    for (int k = 0; k < g->cavity_count; ++k) {
        char number[12] = "";
        if (k) {
            snprintf(number, sizeof number, "%d", k + 1);
        }
        fprintf(to,
                "  - {name: air%s, kind: chamber, surface: cavity%s, drive: pressure, range: [0 kPa, 20 "
                "kPa]}   # "
                "range guessed\n",
                number, number);
    }
    if (g->end[!g->base].flat) {
        fprintf(to, "\nmarkers:\n  tip: {surface: tip}   # guessed: the end opposite to the base\n");
    } else {
        double p[3];
        for (int i = 0; i < 3; ++i) {
            p[i] = 0.5 * (g->low[i] + g->high[i]);
        }
        p[g->axis] = g->end[!g->base].at;
        fprintf(to, "\nmarkers:\n  tip: {at: [%.6g, %.6g, %.6g]}   # guessed: the end opposite to the base\n",
                p[0], p[1], p[2]);
    }
    fprintf(to, "\n# loads:\n#   gravity: [0, 0, -9.81 m/s^2]\n");
}

static int guess_copy(const cli_args *args, const char *from, const char *folder, const char *name)
{
    char *to = cli_join(folder, name), *data = NULL;
    size_t bytes = 0;
    pl_error err = {0};
    struct stat s, t;
    if (!to) {
        return cli_no_memory(args);
    }
    int status = CLI_DONE;
    const bool same =
        stat(from, &s) == 0 && stat(to, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
    if (!same && cli_exists(to) && !cli_flag(args, "force")) {
        cli_error(args, "%s exists and is not overwritten", to);
        cli_advice("choose another folder, or add --force");
        status = CLI_WRONG;
    } else if (!same && pl_file_read(from, &data, &bytes, &err) != PL_OK) {
        status = cli_fail(args, &err);
    } else if (!same && pl_file_write(to, data, bytes, &err) != PL_OK) {
        status = cli_fail_writing(args, &err);
    }
    pl_file_free(data);
    free(to);
    return status;
}

// The exit status for a part that could not be read, after saying why; defects were printed with the
// findings.
static int guess_refuse(const cli_args *args, pl_status status, pl_findings *findings, pl_error *err)
{
    err->status = status;
    const int defects = pl_findings_defect_count(findings);
    return defects > 0 && status == PL_BAD_INPUT ? CLI_WRONG : cli_fail(args, err);
}

static int guess_mesh(const cli_args *args, const char *part, pl_mesh **mesh)
{
    pl_mesh_source source = {.kind = PL_SOURCE_STEP, .path = part, .order = 1, .file = part};
    if (!cli_unit(args, &source.unit)) {
        return CLI_WRONG;
    }
    pl_findings *findings = pl_findings_create();
    const pl_mesher *mesher = pl_meshing_mesher();
    pl_error err = {0};
    const pl_status status = guess_is(part, ".step", ".stp")
                                 ? mesher->build(mesher->user, &source, &cli_progress, mesh, findings, &err)
                                 : cli_mesh_read(part, source.unit, mesh, findings, &err);
    cli_findings(findings);
    const int refused = status == PL_OK ? CLI_DONE : guess_refuse(args, status, findings, &err);
    pl_findings_destroy(findings);
    return refused;
}

static int guess_save(const cli_args *args, const guess *g, const char *name, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to) {
        return cli_no_memory(args);
    }
    guess_text(to, args, g, name);
    const bool failed = ferror(to);
    pl_error err = {.status = PL_NO_MEMORY};
    const bool fine = fclose(to) == 0 && !failed && pl_file_write(path, text, bytes, &err) == PL_OK;
    free(text);
    return fine ? CLI_DONE : cli_fail_writing(args, &err);
}

static void guess_tell(const cli_args *args, const guess *g)
{
    if (g->size < 5 || g->size > 3000) {
        fprintf(stderr, "warning: the part is %.4g mm long; if that is wrong, name its unit with --unit\n",
                g->size);
    }
    cli_say(args, "%.4g x %.4g x %.4g mm; base: %s end of %c%s; ", g->high[0] - g->low[0],
            g->high[1] - g->low[1], g->high[2] - g->low[2], g->base ? "high" : "low", 'x' + g->axis,
            g->end[g->base].flat ? "" : " (not flat)");
    cli_say(args, g->cavity_count ? "cavities:" : "no cavity found");
    for (int k = 0; k < g->cavity_count; ++k) {
        cli_say(args, "%s %.4g mL %s", k ? "," : "", g->volume[k] / 1000, g->rims[k] ? "(open)" : "(closed)");
    }
    cli_say(args, "\n");
}

// A surface: the library writes the text.
static int guess_surface(const cli_args *args, const char *part, const char *folder, const char *name,
                         const char *path)
{
    double unit = 0;
    if (!cli_unit(args, &unit)) {
        return CLI_WRONG;
    }
    pl_findings *findings = pl_findings_create();
    pl_error err = {0};
    char *text = NULL;
    const pl_status guessed =
        pl_meshing_guess(part, cli_value(args, "unit") ? unit : 0, name, &text, findings, &err);
    cli_findings(findings);
    int status = guessed == PL_OK ? CLI_DONE : guess_refuse(args, guessed, findings, &err);
    pl_findings_destroy(findings);
    status = status ? status : guess_copy(args, part, folder, name);
    if (status == CLI_DONE && pl_file_write(path, text, strlen(text), &err) != PL_OK) {
        status = cli_fail_writing(args, &err);
    }
    pl_meshing_free_text(text);
    return status;
}

int cli_guess_write(const cli_args *args, const char *part, const char *folder, const char *path)
{
    const char *slash = strrchr(part, '/');
    const char *name = slash ? slash + 1 : part;
    if (guess_is(part, ".stl", ".obj")) {
        return guess_surface(args, part, folder, name, path);
    }
    if (cli_value(args, "unit") && guess_is(part, ".step", ".stp")) {
        cli_error(args, "--unit %s: a STEP file tells its own unit", cli_value(args, "unit"));
        return CLI_WRONG;
    }
    pl_mesh *mesh = NULL;
    int status = guess_mesh(args, part, &mesh);
    if (status) {
        return status;
    }
    guess g = {.mesh = mesh};
    if (guess_prepare(&g)) {
        guess_cavities(&g);
        guess_ends(&g);
        guess_tell(args, &g);
        status = guess_copy(args, part, folder, name);
        status = status ? status : guess_save(args, &g, name, path);
    } else {
        status = cli_no_memory(args);
    }
    free(g.triangle);
    free(g.taken);
    pl_mesh_destroy(mesh);
    return status;
}
