// Writing Abaqus and CalculiX input: nodes, elements by region as element sets, surfaces by element sides.
// Numbers start at 1. Lines stay below CalculiX's 132 characters, numbers within its 20.
#include <ctype.h>
#include <stdio.h>
#include "meshfile/meshfile_inp.h"

void pl_inp_put_name(pl_text *text, const char *name)
{
    bool plain = true;
    for (const char *c = name; *c; ++c) {
        plain = plain && (isalnum((unsigned char)*c) || strchr("_-.", *c));
    }
    pl_text_add(text, plain ? "%s" : "\"%s\"", name);
}

// A real with as many digits as fit into 20 characters: all 17 for most, an error below 1e-15 of a millimetre
// for small negative ones.
void pl_inp_put_real(pl_text *text, double value)
{
    char number[40];
    int digits = 17;
    while (pl_format(number, sizeof number, "%.*g", digits, value) > 20 && digits > 1) {
        --digits;
    }
    pl_text_add(text, ", %s", number);
}

// Elements in their order; a new block begins where the region or the kind changes.
static void inp_put_elements(pl_text *text, const pl_mesh_view *v)
{
    for (int32_t e = 0; e < v->element_count; ++e) {
        if (e == 0 || v->region[e] != v->region[e - 1] || v->kind[e] != v->kind[e - 1]) {
            pl_text_add(text, "*ELEMENT, TYPE=%s, ELSET=", pl_element_get(v->kind[e])->abaqus);
            pl_inp_put_name(text, v->region_name[v->region[e]]);
            pl_text_add(text, "\n");
        }

        pl_text_add(text, "%d", (int)e + 1);
        const int32_t *node = v->node + v->node_start[e];
        const int count = (int)(v->node_start[e + 1] - v->node_start[e]);
        for (int a = 0; a < count; ++a) {
            pl_text_add(text, a == 10 ? ",\n%d" : ", %d", (int)node[a] + 1);
        }
        pl_text_add(text, "\n");
    }
}

// Which side of the element, in Abaqus' numbering, has these corners.
static int inp_side_of(const pl_mesh_view *v, int32_t e, const int32_t *corner, int count)
{
    const int32_t *node = v->node + v->node_start[e];
    for (int side = 1;; ++side) {
        int local[4];
        const int n = pl_inp_side_corners((pl_element_kind)v->kind[e], side, local);
        // a face of a mesh is a side of its element
        PL_ASSERT(n > 0);
        int same = 0;
        for (int a = 0; a < n && n == count; ++a) {
            for (int b = 0; b < count; ++b) {
                same += node[local[a]] == corner[b];
            }
        }

        if (n == 0 || same == count) {
            return side;
        }
    }
}

void pl_inp_put_surface(pl_text *text, const pl_mesh *mesh, const char *name, const int64_t *face,
                        int64_t faces)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_text_add(text, "*SURFACE, NAME=");
    pl_inp_put_name(text, name);
    pl_text_add(text, ", TYPE=ELEMENT\n");

    for (int64_t f = 0; f < faces; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int count = pl_mesh_face_nodes(mesh, face[f], node);
        const int32_t e = (int32_t)(face[f] / 8);
        pl_text_add(text, "%d, S%d\n", (int)e + 1,
                    inp_side_of(&v, e, node, count == 3 || count == 6 ? 3 : 4));
    }
}

void pl_inp_put_mesh(pl_text *text, const pl_mesh *mesh)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_text_add(text, "*NODE, NSET=Nall\n");
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *x = v.position + 3 * (int64_t)i;
        pl_text_add(text, "%d", (int)i + 1);
        for (int k = 0; k < 3; ++k) {
            pl_inp_put_real(text, x[k]);
        }
        pl_text_add(text, "\n");
    }

    inp_put_elements(text, &v);
    for (int32_t s = 0; s < v.surface_count; ++s) {
        pl_inp_put_surface(text, mesh, v.surface_name[s], v.surface_face + v.surface_start[s],
                           v.surface_start[s + 1] - v.surface_start[s]);
    }
}

pl_status pl_mesh_write_inp(const pl_mesh *mesh, const char *path, pl_error *err)
{
    pl_text text = {0};
    pl_text_add(&text, "** a mesh written by pliant; mm\n");
    pl_inp_put_mesh(&text, mesh);
    const pl_status status =
        text.failed ? pl_fail_memory(err, path) : pl_file_write(path, text.data, text.length, err);
    pl_text_clear(&text);

    return status;
}
