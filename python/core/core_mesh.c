// Mesh: the arrays of a pl_mesh, which belongs to a model or to this object.
#include "core.h"

typedef struct core_mesh {
    PyObject_HEAD const pl_mesh *mesh;
    PyObject *base; // keeps it alive
} core_mesh;

static PyObject *mesh_type;

PyObject *core_mesh_new(const pl_mesh *mesh, PyObject *base)
{
    core_mesh *m = PyObject_New(core_mesh, (PyTypeObject *)mesh_type);
    if (m) {
        m->mesh = mesh;
        m->base = Py_NewRef(base);
    }

    return (PyObject *)m;
}

static void mesh_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((core_mesh *)self)->base);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *mesh_names(const char *const *name, int32_t count)
{
    PyObject *all = PyTuple_New(count);
    for (int32_t i = 0; all && i < count; ++i) {
        PyTuple_SetItem(all, i, PyUnicode_FromString(name[i]));
    }
    return all;
}

// The arrays of the library themselves.
static PyObject *mesh_arrays(PyObject *self, PyObject *unused)
{
    (void)unused;
    const pl_mesh_view v = pl_mesh_get(((core_mesh *)self)->mesh);
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "points",
                         core_array_view('d', v.vertex_count, 3, v.position, self), "kind",
                         core_array_view('B', v.element_count, 0, v.kind, self), "node_start",
                         core_array_view('q', (Py_ssize_t)v.element_count + 1, 0, v.node_start, self), "node",
                         core_array_view('i', (Py_ssize_t)v.node_start[v.element_count], 0, v.node, self),
                         "region", core_array_view('i', v.element_count, 0, v.region, self), "region_names",
                         mesh_names(v.region_name, v.region_count), "surface_names",
                         mesh_names(v.surface_name, v.surface_count));
}

// Faces of a surface by its number, of the whole boundary (-1), or those of an array.
static bool mesh_which(core_mesh *m, PyObject *which, core_numbers *given, const int64_t **face,
                       int64_t *count)
{
    *given = (core_numbers){0};
    const pl_mesh_view v = pl_mesh_get(m->mesh);
    if (!PyLong_Check(which)) {
        if (!core_numbers_get(which, 'q', -1, "faces", given)) {
            return false;
        }
        *face = given->data;
        *count = given->count;

        for (int64_t k = 0; k < *count; ++k) {
            const int64_t e = (*face)[k] / 8;
            if ((*face)[k] < 0 || e >= v.element_count ||
                (*face)[k] % 8 >= pl_element_face_count((pl_element_kind)v.kind[e])) {
                core_numbers_release(given);
                core_wrong("", "face %lld does not exist", (long long)(*face)[k]);
                return false;
            }
        }

        return true;
    }

    const long surface = PyLong_AsLong(which);
    if (surface == -1 && PyErr_Occurred()) {
        return false;
    }
    if (surface < -1 || surface >= v.surface_count) {
        core_wrong("", "surface %ld does not exist", surface);
        return false;
    }

    if (surface < 0) {
        *count = pl_mesh_boundary(m->mesh, face);
        return true;
    }

    *face = v.surface_face + v.surface_start[surface];
    *count = v.surface_start[surface + 1] - v.surface_start[surface];

    return true;
}

static PyObject *mesh_faces(PyObject *self, PyObject *which)
{
    core_mesh *m = (core_mesh *)self;
    core_numbers given;
    const int64_t *face;
    int64_t count;

    if (!mesh_which(m, which, &given, &face, &count)) {
        return NULL;
    }

    void *node;
    PyObject *out = core_array_new('i', (Py_ssize_t)count, PL_FACE_NODES_MAX, &node);
    for (int64_t k = 0; out && k < count; ++k) {
        int32_t *row = (int32_t *)node + PL_FACE_NODES_MAX * k;
        for (int i = pl_mesh_face_nodes(m->mesh, face[k], row); i < PL_FACE_NODES_MAX; ++i) {
            row[i] = -1;
        }
    }

    core_numbers_release(&given);

    return out;
}

// Flat triangles of faces and the region of each.
static PyObject *mesh_triangles(PyObject *self, PyObject *which)
{
    core_mesh *m = (core_mesh *)self;
    core_numbers given;
    const int64_t *face;
    int64_t count, triangles = 0;

    if (!mesh_which(m, which, &given, &face, &count)) {
        return NULL;
    }

    const pl_mesh_view v = pl_mesh_get(m->mesh);
    const int8_t(*part)[3];
    int32_t node[PL_FACE_NODES_MAX];
    for (int64_t k = 0; k < count; ++k) {
        triangles += pl_face_triangles(pl_mesh_face_nodes(m->mesh, face[k], node), &part);
    }

    void *corner, *region;
    PyObject *corners = core_array_new('i', (Py_ssize_t)triangles, 3, &corner);
    PyObject *regions = corners ? core_array_new('i', (Py_ssize_t)triangles, 0, &region) : NULL;
    int64_t at = 0;

    for (int64_t k = 0; regions && k < count; ++k) {
        const int parts = pl_face_triangles(pl_mesh_face_nodes(m->mesh, face[k], node), &part);
        for (int t = 0; t < parts; ++t, ++at) {
            for (int i = 0; i < 3; ++i) {
                ((int32_t *)corner)[3 * at + i] = node[part[t][i]];
            }
            ((int32_t *)region)[at] = v.region[face[k] / 8];
        }
    }

    core_numbers_release(&given);
    if (!regions) {
        Py_XDECREF(corners);
        return NULL;
    }

    return Py_BuildValue("(NN)", corners, regions);
}

// Flat tetrahedra that fill the elements, and the region of each.
static PyObject *mesh_cells(PyObject *self, PyObject *unused)
{
    (void)unused;
    const pl_mesh_view v = pl_mesh_get(((core_mesh *)self)->mesh);
    const int8_t(*part)[4];
    int64_t cells = 0, at = 0;
    for (int32_t e = 0; e < v.element_count; ++e) {
        cells += pl_element_tets((pl_element_kind)v.kind[e], &part);
    }

    void *corner, *region;
    PyObject *corners = core_array_new('i', (Py_ssize_t)cells, 4, &corner);
    PyObject *regions = corners ? core_array_new('i', (Py_ssize_t)cells, 0, &region) : NULL;

    for (int32_t e = 0; regions && e < v.element_count; ++e) {
        const int parts = pl_element_tets((pl_element_kind)v.kind[e], &part);
        for (int t = 0; t < parts; ++t, ++at) {
            for (int i = 0; i < 4; ++i) {
                ((int32_t *)corner)[4 * at + i] = v.node[v.node_start[e] + part[t][i]];
            }
            ((int32_t *)region)[at] = v.region[e];
        }
    }

    if (!regions) {
        Py_XDECREF(corners);
        return NULL;
    }

    return Py_BuildValue("(NN)", corners, regions);
}

static PyObject *mesh_volume(PyObject *self, PyObject *arg)
{
    const pl_mesh *mesh = ((core_mesh *)self)->mesh;
    const long region = PyLong_AsLong(arg);

    if (region == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (region < -1 || region >= pl_mesh_get(mesh).region_count) {
        return core_wrong("", "region %ld does not exist", region);
    }

    return PyFloat_FromDouble(pl_mesh_region_volume(mesh, (int32_t)region));
}

static PyObject *mesh_quality(PyObject *self, PyObject *unused)
{
    (void)unused;
    pl_mesh_quality q;
    CORE_RUN(NULL, q = pl_mesh_measure_quality(((core_mesh *)self)->mesh));
    return Py_BuildValue("{s:i,s:i,s:d,s:d,s:d,s:d,s:d}", "inverted", q.inverted_count, "slivers",
                         q.sliver_count, "worst", q.worst, "mean", q.mean, "shortest_edge", q.shortest_edge,
                         "longest_edge", q.longest_edge, "mean_edge", q.mean_edge);
}

static PyObject *mesh_address(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr((void *)pl_mesh_get(((core_mesh *)self)->mesh).position);
}

static PyMethodDef mesh_methods[] = {
    {"arrays", mesh_arrays, METH_NOARGS, "The arrays of the library, without a copy, and the names."},
    {"faces", mesh_faces, METH_O,
     "Vertices of the faces of a surface (-1: the boundary), 8 per face, -1 for none."},
    {"triangles", mesh_triangles, METH_O, "Flat triangles of the faces, and their regions."},
    {"cells", mesh_cells, METH_NOARGS, "Flat tetrahedra of the elements, and their regions."},
    {"volume", mesh_volume, METH_O, "Volume of a region (-1: all), mm^3."},
    {"quality", mesh_quality, METH_NOARGS, "Quality of the elements; edges in mm."},
    {0}};
static PyGetSetDef mesh_members[] = {
    {"address", mesh_address, NULL, "Address of the vertex positions in the library.", NULL}, {0}};
static PyType_Slot mesh_slots[] = {{Py_tp_doc, "A mesh of the library."},
                                   {Py_tp_dealloc, mesh_dealloc},
                                   {Py_tp_methods, mesh_methods},
                                   {Py_tp_getset, mesh_members},
                                   {0, NULL}};
static PyType_Spec mesh_spec = {.name = "pliant._core.Mesh",
                                .basicsize = sizeof(core_mesh),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = mesh_slots};

int core_mesh_init(PyObject *module)
{
    mesh_type = PyType_FromSpec(&mesh_spec);
    return mesh_type ? PyModule_AddObjectRef(module, "Mesh", mesh_type) : -1;
}
