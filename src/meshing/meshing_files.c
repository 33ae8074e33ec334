// Volume meshes in Gmsh's file formats: reading MSH 2.2 and 4.1 and UNV; writing MSH 4.1. Gmsh takes
// what it does not recognise for a script and runs it, so headers are checked before it sees a file.
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>
#include "meshing/meshing_impl.h"

// ---- the bytes of a file
pl_status meshing_load(const char *path, file_bytes *bytes, pl_error *err)
{
    *bytes = (file_bytes){0};
    FILE *file = fopen(path, "rb");
    if (!file) {
        return pl_fail(err, PL_BAD_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    }
    long size = -1;
    if (fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
        rewind(file);
    }
    pl_status status = size > 0 && size != LONG_MAX ? PL_OK : pl_fail(err, PL_BAD_FILE, "%s: is empty", path);
    if (status == PL_OK && !(bytes->data = pl_alloc((size_t)size + 1))) {
        status = pl_fail_memory(err, path);
    }
    if (status == PL_OK) {
        bytes->size = fread(bytes->data, 1, (size_t)size, file);
        if (bytes->size != (size_t)size) {
            status = pl_fail(err, PL_BAD_FILE, "%s: %zu of %ld bytes could be read", path, bytes->size, size);
            pl_free(bytes->data);
            bytes->data = NULL;
        }
    }
    fclose(file);
    return status;
}

// The place of a line that starts with `word`, or NULL; bytes of binary sections may be in between.
static const char *files_line(const file_bytes *bytes, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = bytes->data, *end = p + bytes->size; p && p + length <= end;) {
        if (memcmp(p, word, length) == 0) {
            return p;
        }
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    return NULL;
}

const char *meshing_extension(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot + 1 : "";
}

// ---- headers
static pl_status files_check_msh(const char *path, const file_bytes *bytes, pl_error *err)
{
    if (strncmp(bytes->data, "$MeshFormat", 11) != 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s:1: begins with \"%.20s\", expected $MeshFormat", path,
                       isprint((unsigned char)bytes->data[0]) ? bytes->data : "(no text)");
    }
    const char *line = strchr(bytes->data, '\n');
    double version = 0;
    int type = -1, size = 0;
    if (!line || sscanf(line, "%lf %d %d", &version, &type, &size) != 3) {
        return pl_fail(err, PL_BAD_INPUT, "%s:2: expected version, file type and data size, such as 4.1 0 8",
                       path);
    }
    if ((fabs(version - 2.2) > 1e-9 && fabs(version - 4.1) > 1e-9) || (type != 0 && type != 1) || size != 8) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s:2: MSH version %g, type %d, data size %d; expected 2.2 or 4.1, 0 or 1, 8", path,
                       version, type, size);
    }
    static const char *const section[] = {"$Nodes", "$EndNodes", "$Elements", "$EndElements"};
    for (int i = 0; i < PL_COUNT(section); ++i) {
        if (!files_line(bytes, section[i])) {
            return pl_fail(err, PL_BAD_INPUT, "%s: has no line %s; the file is cut off or holds no mesh",
                           path, section[i]);
        }
    }
    return meshing_check_msh(path, bytes, type == 1, version > 3, err);
}

static pl_status files_check(const char *path, pl_error *err)
{
    static const struct {
        const char *extension;
        pl_status (*check)(const char *path, const file_bytes *bytes, pl_error *err);
    } format[] = {{"msh", files_check_msh}, {"unv", meshing_check_unv}};
    for (int i = 0; i < PL_COUNT(format); ++i) {
        if (strcasecmp(meshing_extension(path), format[i].extension) == 0) {
            file_bytes bytes;
            pl_status status = meshing_load(path, &bytes, err);
            if (status == PL_OK) {
                status = format[i].check(path, &bytes, err);
            }
            pl_free(bytes.data);
            return status;
        }
    }
    return pl_fail(err, PL_BAD_INPUT,
                   "%s: .%s is read by the core, not through Gmsh (which reads .msh, .vtk, .unv)", path,
                   meshing_extension(path));
}

static pl_status files_read(const char *path, double unit, pl_mesh **out, pl_mesh_report *report,
                            pl_error *err)
{
    pl_status status = files_check(path, err);
    gmsh_session g;
    if (status == PL_OK) {
        status = meshing_begin(&g, err);
    }
    if (status != PL_OK) {
        return status;
    }
    if (GMSH(&g, gmshMerge(path, &g.ierr))) {
        const extract_options extract = {.scale = unit, .source = path, .body = "body"};
        status = meshing_extract(&g, &extract, out, report, err);
    } else {
        status = meshing_fail(&g, path, err);
    }
    meshing_end(&g);
    return status;
}

pl_status pl_meshing_read(const char *path, double unit, pl_mesh **out, pl_findings *findings, pl_error *err)
{
    *out = NULL;
    if (!(unit > 0) || isinf(unit)) {
        return pl_fail(err, PL_BAD_INPUT, "%s: unit is %g mm, expected a positive length", path, unit);
    }
    pl_mesh_report report = {0};
    const pl_status status = strcasecmp(meshing_extension(path), "vtk") == 0
                                 ? meshing_read_vtk(path, unit, out, &report, err)
                                 : files_read(path, unit, out, &report, err);
    if (status == PL_OK) {
        meshing_report_findings(&report, path, findings);
    }
    return status;
}

// ---- writing
// Node order of our elements in Gmsh's lists (see meshing_extract.c): entry i of Gmsh is our node order[i].
static const struct {
    int type, count;
    int order[PL_ELEMENT_NODES_MAX];
} write_type[PL_ELEMENT_KIND_COUNT] = {
    [PL_TET4] = {4, 4, {0, 1, 2, 3}},
    [PL_TET10] = {11, 10, {0, 1, 2, 3, 4, 5, 6, 7, 9, 8}},
    [PL_PRISM6] = {6, 6, {0, 1, 2, 3, 4, 5}},
    [PL_PRISM15] = {18, 15, {0, 1, 2, 3, 4, 5, 6, 8, 12, 7, 13, 14, 9, 11, 10}},
};

// Faces in Gmsh: triangles and quadrilaterals of both orders, by node count.
static int write_face_type(int node_count)
{
    return node_count == 3 ? 2 : node_count == 6 ? 9 : node_count == 4 ? 3 : 16;
}

typedef struct writer {
    gmsh_session *g;
    const pl_mesh *mesh;
    pl_mesh_view view;
    size_t next; // number of the next element
    size_t *node, *tag;
} writer;

static void write_flush(writer *w, int entity, int type, size_t count, size_t nodes)
{
    for (size_t i = 0; i < count; ++i) {
        w->tag[i] = w->next++;
    }
    if (count) {
        GMSH(w->g, gmshModelMeshAddElementsByType(entity, type, w->tag, count, w->node, nodes, &w->g->ierr));
    }
}

static void write_group(writer *w, int dim, int entity, const char *name)
{
    GMSH(w->g, gmshModelAddPhysicalGroup(dim, &entity, 1, entity, &w->g->ierr));
    GMSH(w->g, gmshModelSetPhysicalName(dim, entity, name, &w->g->ierr));
}

static void write_region(writer *w, int32_t region)
{
    for (int kind = 0; kind < PL_ELEMENT_KIND_COUNT; ++kind) {
        size_t count = 0, nodes = 0;
        for (int32_t e = 0; e < w->view.element_count; ++e) {
            if (w->view.region[e] == region && w->view.kind[e] == kind) {
                for (int a = 0; a < write_type[kind].count; ++a) {
                    w->node[nodes++] =
                        (size_t)w->view.node[w->view.node_start[e] + write_type[kind].order[a]] + 1;
                }
                ++count;
            }
        }
        write_flush(w, region + 1, write_type[kind].type, count, nodes);
    }
}

static void write_surface(writer *w, int32_t surface)
{
    static const int node_count[] = {3, 6, 4, 8};
    for (int k = 0; k < PL_COUNT(node_count); ++k) {
        size_t count = 0, nodes = 0;
        for (int64_t f = w->view.surface_start[surface]; f < w->view.surface_start[surface + 1]; ++f) {
            int32_t node[PL_FACE_NODES_MAX];
            const int n = pl_mesh_face_nodes(w->mesh, w->view.surface_face[f], node);
            if (n == node_count[k]) {
                for (int a = 0; a < n; ++a) {
                    w->node[nodes++] = (size_t)node[a] + 1;
                }
                ++count;
            }
        }
        write_flush(w, surface + 1, write_face_type(node_count[k]), count, nodes);
    }
}

// Fills the Gmsh model: one discrete volume per region, one discrete surface per name.
static pl_status write_model(writer *w, pl_error *err)
{
    const pl_mesh_view *v = &w->view;
    size_t faces = 0;
    for (int32_t s = 0; s < v->surface_count; ++s) {
        const size_t n = (size_t)(v->surface_start[s + 1] - v->surface_start[s]);
        faces = n > faces ? n : faces;
    }
    const size_t nodes = (size_t)v->node_start[v->element_count],
                 most = nodes > 8 * faces ? nodes : 8 * faces;
    w->node = PL_NEW_ARRAY(size_t, most > (size_t)v->vertex_count ? most : (size_t)v->vertex_count);
    w->tag = PL_NEW_ARRAY(size_t, (size_t)v->element_count > faces ? (size_t)v->element_count : faces);
    double *position = PL_NEW_ARRAY(double, 3 * (size_t)v->vertex_count);
    if (!w->node || !w->tag || !position) {
        pl_free(position);
        return pl_fail_memory(err, "a mesh to write");
    }
    memcpy(position, v->position, 3 * (size_t)v->vertex_count * sizeof *position);
    for (int32_t r = 0; r < v->region_count; ++r) {
        GMSH(w->g, gmshModelAddDiscreteEntity(3, r + 1, NULL, 0, &w->g->ierr));
    }
    for (int32_t s = 0; s < v->surface_count; ++s) {
        GMSH(w->g, gmshModelAddDiscreteEntity(2, s + 1, NULL, 0, &w->g->ierr));
    }
    for (int32_t i = 0; i < v->vertex_count; ++i) {
        w->node[i] = (size_t)i + 1;
    }
    GMSH(w->g, gmshModelMeshAddNodes(3, 1, w->node, (size_t)v->vertex_count, position,
                                     3 * (size_t)v->vertex_count, NULL, 0, &w->g->ierr));
    pl_free(position);
    for (int32_t r = 0; r < v->region_count; ++r) {
        write_region(w, r);
        write_group(w, 3, r + 1, v->region_name[r]);
    }
    for (int32_t s = 0; s < v->surface_count; ++s) {
        write_surface(w, s);
        write_group(w, 2, s + 1, v->surface_name[s]);
    }
    return PL_OK;
}

pl_status meshing_write(const pl_mesh *mesh, const char *path, double version, bool binary, pl_error *err)
{
    pl_text beside = {0};
    pl_text_add(&beside, "%s.%ld.part.msh", path, (long)getpid());
    if (beside.failed) {
        pl_text_clear(&beside);
        return pl_fail_memory(err, "a file name");
    }
    gmsh_session g;
    pl_status status = meshing_begin(&g, err);
    if (status == PL_OK) {
        writer w = {.g = &g, .mesh = mesh, .view = pl_mesh_get(mesh), .next = 1};
        status = write_model(&w, err);
        pl_free(w.node);
        pl_free(w.tag);
        GMSH(&g, gmshOptionSetNumber("Mesh.MshFileVersion", version, &g.ierr));
        GMSH(&g, gmshOptionSetNumber("Mesh.Binary", binary, &g.ierr));
        if (status == PL_OK && !GMSH(&g, gmshWrite(beside.data, &g.ierr))) {
            status = meshing_fail(&g, path, err);
        }
        meshing_end(&g);
    }
    if (status == PL_OK && rename(beside.data, path) != 0) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", path, strerror(errno));
    }
    if (status != PL_OK) {
        remove(beside.data);
    }
    pl_text_clear(&beside);
    return status;
}

pl_status pl_meshing_write_msh(const pl_mesh *mesh, const char *path, bool binary, pl_error *err)
{
    return meshing_write(mesh, path, 4.1, binary, err);
}
