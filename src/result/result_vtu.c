// A shape with its fields as a VTU file: elements, regions, and arrays on vertices and elements.
#include "pliant/result.h"
#include "meshfile/meshfile_build.h"
#include "meshfile/meshfile_vtu.h"

#define RESULT_ARRAYS_MAX 64

static pl_status result_check(const pl_data_array *array, int array_count, const char *path, pl_error *err)
{
    if (array_count < 0 || array_count > RESULT_ARRAYS_MAX) {
        return pl_fail(err, PL_BAD_INPUT, "%s: %d arrays, the limit is %d", path, array_count,
                       RESULT_ARRAYS_MAX);
    }

    for (int i = 0; i < array_count; ++i) {
        if (!array[i].name || !array[i].value || array[i].components < 1 || array[i].components > 9) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s: array %d needs a name, values and 1 to 9 components, has %d", path, i,
                           array[i].components);
        }
    }

    return PL_OK;
}

// Cells as in the mesh, whose node order is that of VTK; arrays of vertices and of elements apart.
pl_status pl_shape_write_vtu(const pl_mesh *mesh, const double *position, const pl_data_array *array,
                             int array_count, const char *path, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_status status = result_check(array, array_count, path, err);

    if (status != PL_OK) {
        return status;
    }

    int64_t *connectivity = PL_NEW_ARRAY(int64_t, v.node_start[v.element_count]);
    uint8_t *type = PL_NEW_ARRAY(uint8_t, v.element_count);
    if (!connectivity || !type) {
        status = pl_fail_memory(err, path);
    } else {
        for (int64_t i = 0; i < v.node_start[v.element_count]; ++i) {
            connectivity[i] = v.node[i];
        }
        for (int32_t e = 0; e < v.element_count; ++e) {
            type[e] = pl_vtu_cell_type((pl_element_kind)v.kind[e]);
        }
        pl_vtu_field on_points[RESULT_ARRAYS_MAX], on_cells[RESULT_ARRAYS_MAX + 1];
        int points = 0, cells = 0;
        on_cells[cells++] = (pl_vtu_field){"region", PL_VTU_INT32, 1, v.region};

        for (int i = 0; i < array_count; ++i) {
            const pl_vtu_field field = {array[i].name, PL_VTU_FLOAT64, array[i].components, array[i].value};
            if (array[i].on_elements) {
                on_cells[cells++] = field;
            } else {
                on_points[points++] = field;
            }
        }

        // names of regions as numbers of characters: readers differ in what they make of string arrays
        const pl_vtu_names names = {"region_names", v.region_name, v.region_count};
        const pl_vtu_grid grid = {
            .point_count = v.vertex_count,
            .cell_count = v.element_count,
            .point = position ? position : v.position,
            .connectivity = connectivity,
            .offset = v.node_start + 1,
            .type = type,
            .point_data = on_points,
            .point_data_count = points,
            .cell_data = on_cells,
            .cell_data_count = cells,
            .names = &names,
            .names_count = 1,
        };
        status = pl_vtu_write(&grid, PL_VTU_RAW, path, err);
    }

    pl_free(connectivity);
    pl_free(type);

    return status;
}
