// Looking into a mesh: its view, names, faces, bounds.
#include "mesh/mesh_impl.h"

pl_mesh_view pl_mesh_get(const pl_mesh *mesh)
{
    return mesh->view;
}

// Index of a name, or -1.
static int32_t view_find(int32_t count, const char *const *known, const char *name)
{
    for (int32_t i = 0; name && i < count; ++i) {
        if (strcmp(known[i], name) == 0) {
            return i;
        }
    }

    return -1;
}

int32_t pl_mesh_find_region(const pl_mesh *mesh, const char *name)
{
    return view_find(mesh->view.region_count, mesh->view.region_name, name);
}

int32_t pl_mesh_find_surface(const pl_mesh *mesh, const char *name)
{
    return view_find(mesh->view.surface_count, mesh->view.surface_name, name);
}

int64_t pl_mesh_boundary(const pl_mesh *mesh, const int64_t **face)
{
    if (face) {
        *face = mesh->boundary;
    }
    return mesh->boundary_count;
}

// Vertices of a face, corners first; 0 for a face that does not exist. A face is element * 8 + side.
int pl_mesh_face_nodes(const pl_mesh *mesh, int64_t face, int32_t node[PL_FACE_NODES_MAX])
{
    if (face < 0 || face / 8 >= mesh->view.element_count) {
        return 0;
    }

    int local[PL_FACE_NODES_MAX];
    const int64_t e = face / 8;
    const int count = pl_element_face_nodes((pl_element_kind)mesh->view.kind[e], (int)(face % 8), local);
    const int32_t *of_element = mesh->view.node + mesh->view.node_start[e];
    for (int i = 0; i < count; ++i) {
        node[i] = of_element[local[i]];
    }

    return count;
}

int pl_mesh_gather(const pl_mesh *mesh, int32_t element, double x[3 * PL_ELEMENT_NODES_MAX])
{
    const pl_mesh_view *v = &mesh->view;
    const int32_t *node = v->node + v->node_start[element];
    const int count = pl_element_node_count((pl_element_kind)v->kind[element]);

    for (int a = 0; a < count; ++a) {
        memcpy(x + 3 * a, v->position + 3 * (size_t)node[a], 3 * sizeof *x);
    }

    return count;
}

int pl_mesh_gather_face(const pl_mesh *mesh, int64_t face, double x[3 * PL_FACE_NODES_MAX])
{
    int32_t node[PL_FACE_NODES_MAX];
    const int count = pl_mesh_face_nodes(mesh, face, node);
    for (int a = 0; a < count; ++a) {
        memcpy(x + 3 * a, mesh->view.position + 3 * (size_t)node[a], 3 * sizeof *x);
    }
    return count;
}

void pl_mesh_bounds(const pl_mesh *mesh, double low[3], double high[3])
{
    memcpy(low, mesh->low, sizeof mesh->low);
    memcpy(high, mesh->high, sizeof mesh->high);
}

double pl_mesh_size(const pl_mesh *mesh)
{
    return pl_distance3(mesh->low, mesh->high);
}

void pl_mesh_free_indices(int32_t *indices)
{
    pl_free(indices);
}

void pl_mesh_free_faces(int64_t *face)
{
    pl_free(face);
}

pl_mesh_fit pl_mesh_get_fit(const pl_mesh *mesh)
{
    return mesh->fit;
}

void pl_mesh_set_fit(pl_mesh *mesh, const pl_mesh_fit *fit)
{
    mesh->fit = *fit;
}
