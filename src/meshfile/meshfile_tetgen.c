// TetGen's .node, .ele and .face files. Numbers start at 0 or 1, as the first node says. Attributes of
// elements are regions, boundary markers of faces are surfaces. Our own writer keeps names in comments (`#
// region 1 skin`), which the reader understands and TetGen skips.
#include <stdio.h>
#include "meshfile/meshfile.h"
#include "meshfile/meshfile_build.h"

// Edges of the mid nodes as TetGen numbers them (1.5 and later), and as we do.
static const int tetgen_edge[6][2] = {{2, 3}, {0, 3}, {0, 1}, {1, 2}, {1, 3}, {0, 2}};
static const int our_edge[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};

// One of the files, read line by line; comments run from # to the end of the line.
typedef struct tetgen_file {
    char path[4096];
    char *data;
    const char *at, *end; // what is not read yet
    const char *p, *stop; // the current line
    int line;
    pl_names *names; // from comments; numbers[i] belongs to name i
    int64_t *numbers;
    int32_t numbers_room;
    const char *word; // "region" or "surface": which comments matter
} tetgen_file;

// Replaces the extension and reads the whole file.
static pl_status tetgen_open(tetgen_file *f, const char *path, const char *extension, pl_error *err)
{
    const char *dot = strrchr(path, '.');
    const int stem = (int)(dot ? dot - path : (long)strlen(path));

    if (snprintf(f->path, sizeof f->path, "%.*s%s", stem, path, extension) >= (int)sizeof f->path) {
        return pl_fail(err, PL_BAD_FILE, "%s: the path is too long", path);
    }

    size_t bytes;
    const pl_status status = pl_file_read(f->path, &f->data, &bytes, err);
    f->at = f->data;
    f->end = f->data ? f->data + bytes : NULL;
    f->line = 0;

    return status;
}

// `# region 1 skin`: a name for the number. Anything else is a plain comment.
static void tetgen_comment(tetgen_file *f, const char *p, const char *stop)
{
    char text[300], word[20], name[201];
    long long number;
    snprintf(text, sizeof text, "%.*s", (int)(stop - p < 290 ? stop - p : 290), p);
    if (f->names && sscanf(text, "# %19s %lld %200[^\r\n]", word, &number, name) == 3 &&
        strcmp(word, f->word) == 0 && f->names->count < 1000 && pl_names_find(f->names, name) < 0 &&
        pl_grow((void **)&f->numbers, &f->numbers_room, (int64_t)f->names->count + 1, sizeof(int64_t))) {
        const int32_t i = pl_names_add(f->names, name);
        if (i >= 0) {
            f->numbers[i] = number;
        }
    }
}

// Commas count as blanks.
static void tetgen_skip_space(tetgen_file *f)
{
    while (f->p < f->stop && (*f->p == ' ' || *f->p == '\t' || *f->p == '\r' || *f->p == ',')) {
        ++f->p;
    }
}

// The next line that holds something; false at the end of the file.
static bool tetgen_next(tetgen_file *f)
{
    while (f->at < f->end) {
        const char *newline = memchr(f->at, '\n', (size_t)(f->end - f->at));
        f->p = f->at;
        f->stop = newline ? newline : f->end;
        f->at = newline ? newline + 1 : f->end;
        f->line++;
        const char *hash = memchr(f->p, '#', (size_t)(f->stop - f->p));
        if (hash) {
            tetgen_comment(f, hash, f->stop);
            f->stop = hash;
        }

        tetgen_skip_space(f);
        if (f->p < f->stop) {
            return true;
        }
    }

    return false;
}

static bool tetgen_whole(tetgen_file *f, int64_t *value)
{
    tetgen_skip_space(f);
    return pl_scan_whole(&f->p, f->stop, value);
}

static bool tetgen_real(tetgen_file *f, double *value)
{
    tetgen_skip_space(f);
    return pl_scan_real(&f->p, f->stop, value);
}

// Names the line.
static pl_status tetgen_fail(const tetgen_file *f, pl_error *err, const char *what)
{
    return pl_fail(err, PL_BAD_INPUT, "%s:%d: %s", f->path, f->line, what);
}

// The first line: `want` whole numbers, later ones 0 when they are missing.
static pl_status tetgen_head(tetgen_file *f, int64_t *number, int want, int need, const char *what,
                             pl_error *err)
{
    if (!tetgen_next(f)) {
        return pl_fail(err, PL_BAD_INPUT, "%s: is empty, expected a first line with %s", f->path, what);
    }

    for (int i = 0; i < want; ++i) {
        number[i] = 0;
        if (!tetgen_whole(f, number + i) && i < need) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: the first line must give %s", f->path, f->line, what);
        }
    }

    // a line holds at least one character per number, so the file bounds the count
    if (number[0] < 0 || number[0] > (int64_t)(f->end - f->at)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s:%d: the header says %lld lines, but the file has only %lld characters left",
                       f->path, f->line, (long long)number[0], (long long)(f->end - f->at));
    }

    return PL_OK;
}

// Numbers must be consecutive from 0 or 1, which *first becomes.
static pl_status tetgen_read_nodes(tetgen_file *f, pl_build *build, int64_t *first, pl_error *err)
{
    int64_t head[4];
    pl_status status =
        tetgen_head(f, head, 4, 1, "the number of nodes, the dimension 3, attributes and markers", err);

    if (status != PL_OK) {
        return status;
    }
    if (head[1] != 3 && head[1] != 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: the dimension is %lld, expected 3", f->path, f->line,
                       (long long)head[1]);
    }

    for (int64_t v = 0; v < head[0]; ++v) {
        int64_t number;
        double x[3];
        if (!tetgen_next(f)) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: ends after %lld of %lld nodes", f->path, f->line,
                           (long long)v, (long long)head[0]);
        }

        if (!tetgen_whole(f, &number) || !tetgen_real(f, x) || !tetgen_real(f, x + 1) ||
            !tetgen_real(f, x + 2)) {
            return tetgen_fail(f, err, "a node needs its number and three coordinates");
        }

        if (v == 0) {
            *first = number;
        }
        if (number != *first + v || *first < 0 || *first > 1) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s:%d: found node number %lld, expected %lld (numbers start with 0 or 1)",
                           f->path, f->line, (long long)number, v ? (long long)(*first + v) : 0LL);
        }

        pl_build_vertex(build, x);
    }

    return PL_OK;
}

// A node number as an index.
static pl_status tetgen_node(tetgen_file *f, const pl_build *build, int64_t first, int32_t *node,
                             pl_error *err)
{
    int64_t number;
    if (!tetgen_whole(f, &number)) {
        return tetgen_fail(f, err, "a node number is missing");
    }

    if (number < first || number - first >= build->vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: refers to node %lld, nodes are numbered from %lld to %lld",
                       f->path, f->line, (long long)number, (long long)first,
                       (long long)(first + build->vertex_count - 1));
    }

    *node = (int32_t)(number - first);
    return PL_OK;
}

// Versions of TetGen number mid nodes differently, but always put them in the middle: each goes to the edge
// whose middle is nearest. Where that is no permutation the numbering of TetGen 1.5 decides.
static void tetgen_order_mids(const pl_build *build, int32_t node[10])
{
    const double *x = build->position;
    int32_t mid[6];
    unsigned taken = 0;

    for (int m = 0; m < 6; ++m) {
        const double *y = x + 3 * (int64_t)node[4 + m];
        int best = 0;
        double least = INFINITY;

        for (int e = 0; e < 6; ++e) {
            const double *a = x + 3 * (int64_t)node[our_edge[e][0]],
                         *b = x + 3 * (int64_t)node[our_edge[e][1]];
            double d2 = 0;
            for (int i = 0; i < 3; ++i) {
                const double d = y[i] - 0.5 * (a[i] + b[i]);
                d2 += d * d;
            }

            if (d2 < least) {
                least = d2;
                best = e;
            }
        }

        taken |= 1u << best;
        mid[best] = node[4 + m];
    }

    for (int m = 0; taken != 63 && m < 6; ++m) {
        for (int e = 0; e < 6; ++e) {
            if (tetgen_edge[m][0] == our_edge[e][0] && tetgen_edge[m][1] == our_edge[e][1]) {
                mid[e] = node[4 + m];
            }
        }
    }

    memcpy(node + 4, mid, sizeof mid);
}

// The index of a number among names from comments, or a new name `stem<number>`.
static int32_t tetgen_named(const tetgen_file *f, pl_names *names, const char *stem, int64_t number)
{
    for (int32_t i = 0; f->names && i < f->names->count; ++i) {
        if (f->numbers[i] == number) {
            return pl_names_add(names, f->names->name[i]);
        }
    }

    return pl_names_add_numbered(names, stem, (long long)number);
}

// The region of an element: its attribute, or `body`.
static pl_status tetgen_region(tetgen_file *f, pl_build *build, bool has_attribute, int32_t *region,
                               pl_error *err)
{
    double attribute = 0;
    if (has_attribute && (!tetgen_real(f, &attribute) || !(fabs(attribute) < 1e15))) {
        return tetgen_fail(f, err, "the attribute (a region number) is missing or not a number");
    }
    *region = has_attribute ? tetgen_named(f, &build->regions, "region", (int64_t)attribute)
                            : pl_names_add(&build->regions, "body");
    if (build->regions.count > 1000) {
        return tetgen_fail(f, err, "more than 1000 different region numbers");
    }

    return *region < 0 ? pl_fail_memory(err, f->path) : PL_OK;
}

// Elements of one kind; numbers are not used.
static pl_status tetgen_read_elements(tetgen_file *f, pl_build *build, int64_t first, bool *quadratic,
                                      pl_error *err)
{
    int64_t head[3];
    pl_status status = tetgen_head(
        f, head, 3, 1, "the number of tetrahedra, the nodes of each (4 or 10) and attributes", err);

    if (status != PL_OK) {
        return status;
    }

    // a missing number of nodes means 4
    const int nodes = head[1] == 10 ? 10 : 4;
    if (head[1] != 4 && head[1] != 10 && head[1] != 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: tetrahedra have %lld nodes, expected 4 or 10", f->path,
                       f->line, (long long)head[1]);
    }

    *quadratic = nodes == 10;
    for (int64_t e = 0; e < head[0]; ++e) {
        int64_t number;
        int32_t node[10], region = 0;
        if (!tetgen_next(f)) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: ends after %lld of %lld tetrahedra", f->path, f->line,
                           (long long)e, (long long)head[0]);
        }

        if (!tetgen_whole(f, &number)) {
            return tetgen_fail(f, err, "a tetrahedron must begin with its number");
        }
        for (int a = 0; status == PL_OK && a < nodes; ++a) {
            status = tetgen_node(f, build, first, node + a, err);
        }
        if (status == PL_OK) {
            status = tetgen_region(f, build, head[2] > 0, &region, err);
        }
        if (status != PL_OK) {
            return status;
        }
        if (nodes == 10) {
            tetgen_order_mids(build, node);
        }
        pl_build_element(build, (pl_element_kind)pl_element_find_nodes(nodes), node, region);
    }

    return PL_OK;
}

// Faces with a marker other than 0. Second order files list six nodes per face; the columns show which.
static pl_status tetgen_read_faces(tetgen_file *f, pl_build *build, int64_t first, bool quadratic,
                                   pl_error *err)
{
    int64_t head[2];
    pl_status status = tetgen_head(f, head, 2, 1, "the number of faces and whether they have markers", err);

    for (int64_t i = 0; status == PL_OK && head[1] > 0 && i < head[0]; ++i) {
        int64_t number[12];
        int count = 0;
        if (!tetgen_next(f)) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: ends after %lld of %lld faces", f->path, f->line,
                           (long long)i, (long long)head[0]);
        }

        // all numbers of the line: their count shows how many nodes a face has
        while (count < PL_COUNT(number) && tetgen_whole(f, number + count)) {
            ++count;
        }
        const int nodes = quadratic && count >= 8 ? 6 : 3;
        if (count < nodes + 2) {
            return tetgen_fail(f, err, "a face needs its number, its nodes and a marker");
        }
        int32_t corner[3];

        for (int a = 0; a < 3; ++a) {
            const int64_t v = number[1 + a] - first;
            if (v < 0 || v >= build->vertex_count) {
                return pl_fail(err, PL_BAD_INPUT, "%s:%d: refers to node %lld, which does not exist", f->path,
                               f->line, (long long)number[1 + a]);
            }

            corner[a] = (int32_t)v;
        }

        // after the number and the nodes
        const int64_t marker = number[1 + nodes];
        if (marker == 0) {
            continue;
        }
        const int32_t surface = tetgen_named(f, &build->surfaces, "marker", marker);
        if (build->surfaces.count > 1000) {
            return tetgen_fail(f, err, "more than 1000 different markers");
        }
        if (surface < 0) {
            return pl_fail_memory(err, f->path);
        }
        pl_build_face(build, surface, corner, 3);
    }

    return status;
}

// Also forgets the names of the file before.
static void tetgen_close(tetgen_file *f)
{
    pl_file_free(f->data);
    pl_free(f->numbers);
    f->data = NULL;
    f->numbers = NULL;
    f->numbers_room = 0;
    if (f->names) {
        pl_names_clear(f->names);
    }
}

// Three files: nodes and elements are required.
pl_status pl_mesh_read_tetgen(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                              pl_error *err)
{
    *out = NULL;
    pl_build build = {0};
    pl_names names = {0};
    tetgen_file f = {0};
    int64_t first = 0;
    bool quadratic = false;
    pl_status status = tetgen_open(&f, path, ".node", err);
    if (status == PL_OK) {
        status = tetgen_read_nodes(&f, &build, &first, err);
    }
    tetgen_close(&f);
    f.names = &names;
    f.word = "region";
    if (status == PL_OK) {
        status = tetgen_open(&f, path, ".ele", err);
    }
    if (status == PL_OK && !build.failed) {
        status = tetgen_read_elements(&f, &build, first, &quadratic, err);
    }
    tetgen_close(&f);

    // the faces are welcome, not required
    f.word = "surface";
    pl_error none;
    if (status == PL_OK && !build.failed && tetgen_open(&f, path, ".face", &none) == PL_OK) {
        status = tetgen_read_faces(&f, &build, first, quadratic, err);
    }
    tetgen_close(&f);
    if (status == PL_OK) {
        status = pl_build_finish(&build, path, unit, out, findings, err);
    }
    pl_build_clear(&build);

    return status;
}

// ---- writing

// Clears `text` in any case.
static pl_status tetgen_write_file(const char *path, const char *extension, pl_text *text, pl_error *err)
{
    char name[4096];
    const char *dot = strrchr(path, '.');
    const int stem = (int)(dot ? dot - path : (long)strlen(path));
    pl_status status;

    if (snprintf(name, sizeof name, "%.*s%s", stem, path, extension) >= (int)sizeof name) {
        status = pl_fail(err, PL_BAD_FILE, "%s: the path is too long", path);
    } else if (text->failed) {
        status = pl_fail_memory(err, name);
    } else {
        status = pl_file_write(name, text->data, text->length, err);
    }

    pl_text_clear(text);

    return status;
}

// Names of regions as comments, which TetGen skips.
static void tetgen_put_elements(pl_text *text, const pl_mesh_view *v, bool quadratic)
{
    for (int32_t r = 0; r < v->region_count; ++r) {
        pl_text_add(text, "# region %d %s\n", (int)r + 1, v->region_name[r]);
    }
    pl_text_add(text, "%d %d 1\n", (int)v->element_count, quadratic ? 10 : 4);

    for (int32_t e = 0; e < v->element_count; ++e) {
        const int32_t *node = v->node + v->node_start[e];
        pl_text_add(text, "%d  %d %d %d %d", (int)e, (int)node[0], (int)node[1], (int)node[2], (int)node[3]);

        for (int m = 0; quadratic && m < 6; ++m) {
            for (int a = 0; a < 6; ++a) {
                if (tetgen_edge[m][0] == our_edge[a][0] && tetgen_edge[m][1] == our_edge[a][1]) {
                    pl_text_add(text, " %d", (int)node[4 + a]);
                }
            }
        }

        pl_text_add(text, " %d\n", (int)v->region[e] + 1);
    }
}

// The same for surfaces.
static void tetgen_put_faces(pl_text *text, const pl_mesh *mesh, const pl_mesh_view *v)
{
    for (int32_t s = 0; s < v->surface_count; ++s) {
        pl_text_add(text, "# surface %d %s\n", (int)s + 1, v->surface_name[s]);
    }

    const int64_t count = v->surface_count ? v->surface_start[v->surface_count] : 0;
    pl_text_add(text, "%lld 1\n", (long long)count);
    for (int32_t s = 0; s < v->surface_count; ++s) {
        for (int64_t f = v->surface_start[s]; f < v->surface_start[s + 1]; ++f) {
            int32_t node[PL_FACE_NODES_MAX];
            const int nodes = pl_mesh_face_nodes(mesh, v->surface_face[f], node);
            pl_text_add(text, "%lld ", (long long)f);
            for (int a = 0; a < nodes; ++a) {
                pl_text_add(text, " %d", (int)node[a]);
            }
            pl_text_add(text, " %d\n", (int)s + 1);
        }
    }
}

// Numbers start at 0.
pl_status pl_mesh_write_tetgen(const pl_mesh *mesh, const char *path, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    for (int32_t e = 0; e < v.element_count; ++e) {
        if (!pl_element_is_tet(v.kind[e]) || v.kind[e] != v.kind[0]) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "%s: TetGen files contain tetrahedra of one order only; element %d is of another kind", path,
                (int)e);
        }
    }

    pl_text text = {0};
    pl_text_add(&text, "%d 3 0 0\n", (int)v.vertex_count);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *x = v.position + 3 * (int64_t)i;
        pl_text_add(&text, "%d %.17g %.17g %.17g\n", (int)i, x[0], x[1], x[2]);
    }

    pl_status status = tetgen_write_file(path, ".node", &text, err);
    if (status == PL_OK) {
        tetgen_put_elements(&text, &v, pl_element_is_quadratic(v.kind[0]));
        status = tetgen_write_file(path, ".ele", &text, err);
    }

    if (status == PL_OK) {
        tetgen_put_faces(&text, mesh, &v);
        status = tetgen_write_file(path, ".face", &text, err);
    }

    return status;
}
