// CAD: STEP files through the OpenCASCADE kernel. Solids that touch share their faces afterwards; regions
// take the names of the file's products, or of their colours where it has no names.
#include <ctype.h>
#include <stdio.h>
#include "meshing/meshing_impl.h"

// The last word of a label such as "Shapes/finger/body"; NULL when there is none, or one made up by the
// writer.
static const char *step_label(const char *label)
{
    const char *slash = label ? strrchr(label, '/') : NULL;
    const char *word = slash ? slash + 1 : label;
    return word && word[0] && strncmp(word, "Open CASCADE", 12) != 0 ? word : NULL;
}

// Solids of the file; owns both arrays.
typedef struct step_solids {
    int *tag;
    char (*name)[128];
    int32_t count;
} step_solids;

// The word for the colour of a solid; NULL: it has none.
static const char *step_colour(gmsh_session *g, int tag)
{
    int value[3] = {0}, alpha = 0;
    GMSH(g, gmshModelGetColor(3, tag, &value[0], &value[1], &value[2], &alpha, &g->ierr));
    if (g->failed || alpha == 0) {
        return NULL;
    }

    // the kernel has linear values; hue, saturation and value are those of sRGB, here with exponent 2.2
    double c[3];
    for (int k = 0; k < 3; ++k) {
        c[k] = pow(value[k] / 255.0, 1 / 2.2);
    }
    const double high = fmax(c[0], fmax(c[1], c[2])), low = fmin(c[0], fmin(c[1], c[2])), range = high - low;
    if (high < 0.25) {
        return "black";
    }
    if (range < 0.15 * high) {
        return high > 0.9 ? "white" : "grey";
    }

    // sectors of the hue, in degrees: 0 is red
    const double sector = high == c[0]   ? (c[1] - c[2]) / range
                          : high == c[1] ? 2 + (c[2] - c[0]) / range
                                         : 4 + (c[0] - c[1]) / range;
    const double hue = fmod(60 * sector + 360, 360);
    static const struct {
        double end;
        const char *word;
    } hues[] = {{15, "red"},   {45, "orange"},  {70, "yellow"}, {165, "green"}, {195, "cyan"},
                {260, "blue"}, {290, "purple"}, {340, "pink"},  {360, "red"}};
    int k = 0;
    while (hue > hues[k].end) {
        ++k;
    }

    return hues[k].word;
}

// Names from labels; without labels those of colours, if they differ; otherwise, or where two are equal,
// body, body2...
static void step_name(gmsh_session *g, step_solids *solids)
{
    bool colours = false;
    const char *first = step_colour(g, solids->tag[0]);
    for (int32_t i = 1; i < solids->count; ++i) {
        const char *colour = step_colour(g, solids->tag[i]);
        colours = colours || (first && colour && strcmp(first, colour) != 0);
    }

    for (int32_t i = 0; i < solids->count; ++i) {
        char *label = NULL;
        GMSH(g, gmshModelGetEntityName(3, solids->tag[i], &label, &g->ierr));
        const char *word = step_label(label), *colour = colours ? step_colour(g, solids->tag[i]) : NULL;
        word = word ? word : colour;
        bool taken = !word;
        for (int32_t k = 0; k < i && !taken; ++k) {
            taken = strcmp(solids->name[k], word) == 0;
        }
        if (!taken) {
            snprintf(solids->name[i], sizeof solids->name[i], "%s", word);
            for (char *p = solids->name[i]; *p; ++p) {
                *p = isspace((unsigned char)*p) || strchr(":,{}[]#\"'", *p) ? '_' : *p;
            }
        } else {
            snprintf(solids->name[i], sizeof solids->name[i], i ? "%s%d" : "%s", colour ? colour : "body",
                     i + 1);
        }
        gmshFree(label);
    }
}

// All solids of the file, split against each other.
static pl_status step_import(gmsh_session *g, const char *path, double unit, step_solids *solids,
                             pl_error *err)
{
    int *shape = NULL;
    size_t shape_n = 0;

    // the kernel converts the file's unit
    GMSH(g, gmshOptionSetString("Geometry.OCCTargetUnit", "MM", &g->ierr));
    GMSH(g, gmshOptionSetNumber("Geometry.OCCScaling", unit > 0 ? unit : 1, &g->ierr));
    GMSH(g, gmshModelOccImportShapes(path, &shape, &shape_n, 1, "step", &g->ierr));

    // solids that touch share faces afterwards
    if (!g->failed && shape_n > 2) {
        int *out = NULL, **map = NULL;
        size_t out_n = 0, *map_n = NULL, map_nn = 0;
        GMSH(g, gmshModelOccFragment(shape, 2, shape + 2, shape_n - 2, &out, &out_n, &map, &map_n, &map_nn,
                                     -1, 1, 1, &g->ierr));
        gmshFree(out);
        for (size_t i = 0; i < map_nn; ++i) {
            gmshFree(map[i]);
        }
        gmshFree(map);
        gmshFree(map_n);
    }

    gmshFree(shape);
    GMSH(g, gmshModelOccSynchronize(&g->ierr));

    // what came out
    int *entity = NULL;
    size_t entity_n = 0;
    GMSH(g, gmshModelGetEntities(&entity, &entity_n, 3, &g->ierr));
    pl_status status = g->failed ? meshing_fail(g, path, err) : PL_OK;
    if (status == PL_OK && entity_n < 2) {
        status = pl_fail(err, PL_BAD_INPUT,
                         "%s: contains no solid; export solids, not separate faces or curves", path);
    }

    solids->count = (int32_t)(entity_n / 2);
    solids->tag = PL_NEW_ARRAY(int, solids->count);
    solids->name = pl_alloc_array((size_t)solids->count, sizeof *solids->name);
    if (status == PL_OK && (!solids->tag || !solids->name)) {
        status = pl_fail_memory(err, "the solids of a STEP file");
    }
    for (int32_t i = 0; status == PL_OK && i < solids->count; ++i) {
        solids->tag[i] = entity[2 * i + 1];
    }
    gmshFree(entity);

    return status;
}

// One region per solid.
static pl_status step_groups(gmsh_session *g, step_solids *solids, pl_error *err)
{
    step_name(g, solids);
    const char **name = pl_alloc_array((size_t)solids->count, sizeof *name);
    if (!name) {
        return pl_fail_memory(err, "the solids of a STEP file");
    }
    for (int32_t i = 0; i < solids->count; ++i) {
        name[i] = solids->name[i];
    }

    const pl_status status = meshing_group(g, 3, solids->tag, name, solids->count, err);
    pl_free(name);

    return status;
}

// Whether a unit of the file is the millimetre: SI_UNIT(.MILLI.,.METRE.), with blanks and line ends anywhere
// between its words.
static bool step_millimetres(const char *text)
{
    static const char milli[] = ".MILLI.", metre[] = ".METRE.";

    for (const char *at = text; (at = strstr(at, milli));) {
        at += strlen(milli);
        const char *comma = at + strspn(at, " \t\r\n");
        const char *word = comma + (*comma == ',');
        word += strspn(word, " \t\r\n");
        if (*comma == ',' && strncmp(word, metre, strlen(metre)) == 0) {
            return true;
        }
    }

    return false;
}

// Whether the file is complete: the CAD kernel may crash on one that is not. A unit of the robot file is for
// a file that says millimetres but was drawn in another unit; one that states inches is converted already.
static pl_status step_check(const char *path, double unit, pl_error *err)
{
    file_bytes bytes;
    pl_status status = meshing_load(path, &bytes, err);

    if (status != PL_OK) {
        return status;
    }

    if (strncmp(bytes.data, "ISO-10303-21", 12) != 0) {
        status = pl_fail(err, PL_BAD_INPUT, "%s:1: is not a STEP file; expected ISO-10303-21", path);
    } else if (!strstr(bytes.data, "END-ISO-10303-21")) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: ends without END-ISO-10303-21; the file is truncated", path);
    } else if (unit > 0 && unit != 1 && (strstr(bytes.data, "'INCH'") || !step_millimetres(bytes.data))) {
        status = pl_fail(err, PL_BAD_INPUT,
                         "%s: states a unit other than mm, which is converted; remove the unit given", path);
    }

    pl_free(bytes.data);

    return status;
}

pl_status meshing_from_step(const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                            pl_findings *findings, pl_error *err)
{
    pl_status status = step_check(source->path, source->unit, err);
    if (status == PL_OK) {
        status = meshing_stage(progress, 0, "reading STEP", err);
    }

    gmsh_session g;
    if (status == PL_OK) {
        status = meshing_begin(&g, err);
    }
    if (status != PL_OK) {
        return status;
    }

    step_solids solids = {0};
    status = step_import(&g, source->path, source->unit, &solids, err);
    if (status == PL_OK) {
        status = step_groups(&g, &solids, err);
    }

    // the size follows from the largest dimension where none is given
    double low[3] = {0}, high[3] = {0};
    GMSH(&g,
         gmshModelGetBoundingBox(-1, -1, &low[0], &low[1], &low[2], &high[0], &high[1], &high[2], &g.ierr));
    if (status == PL_OK && g.failed) {
        status = meshing_fail(&g, source->path, err);
    }

    if (status == PL_OK) {
        const double length = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
        const volume_options options = {.source = source->path,
                                        .size = source->size > 0 ? source->size : length / 10,
                                        .walls = source->size > 0 ? 2 : 1.3,
                                        .order = source->order,
                                        .follow = true};
        status = meshing_volume(&g, &options, progress, out, findings, err);
    }

    if (status == PL_OK) {
        status = meshing_name_voids(out, err);
    }
    pl_free(solids.tag);
    pl_free(solids.name);
    meshing_end(&g);
    if (status != PL_OK) {
        pl_mesh_destroy(*out);
        *out = NULL;
    }

    return status;
}
