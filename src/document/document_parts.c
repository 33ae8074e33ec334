// The blocks about what bodies are made of and what holds them: materials, regions, fixed, rigid.
#include <stdio.h>
#include "document/document_reader.h"
#include "material/material.h"

static const char *const formulation_names[] = {"locking_free", "displacement"};

// A copy of a library entry, over which the file's constants are put.
static bool material_from_library(doc_robot_file *f, const doc_node *node, const doc_node *use,
                                  pl_material *material)
{
    if (doc_child(node, "model")) {
        doc_defect(f, use->key_line, "material '%s': 'use' and 'model' are both given, expected one of them",
                   node->key);
        return false;
    }

    // names of the library for the message
    if (!doc_expect(f, use, DOC_SCALAR, "material: use")) {
        return false;
    }

    const pl_material_entry *entry = pl_material_library_find(use->text);
    if (entry) {
        *material = entry->material;
        return true;
    }

    const char *known[256];
    int count = 0;
    for (int i = 0; i < pl_material_library_count() && count < PL_COUNT(known); ++i) {
        known[count++] = pl_material_library_at(i)->name;
    }
    doc_defect(f, use->line, "material '%s': the library has no '%s'%s", node->key, use->text,
               doc_did_you_mean(f, use->text, known, count));
    doc_advise(f, "`pliant materials` lists the library");

    return false;
}

// The shape parameter of the geometric papers: kept as the elastic solid it is at small strains, from which
// local_global gets weight and r_omega back to the last digits.
static bool material_shape(doc_robot_file *f, const doc_node *node, pl_material *material)
{
    const doc_node *weight = doc_child(node, "weight"), *r = doc_child(node, "r_omega");
    const doc_node *young = doc_child(node, "young");
    double w = 0, R = 0, E = 0;

    *material = (pl_material){.model = PL_LINEAR};
    if (!r || !weight == !young) {
        doc_defect(f, node->line, "material '%s': the model shape needs r_omega and one of weight and young",
                   node->key);
        return false;
    }

    if (!doc_read_quantity(f, r, "material: r_omega", PL_DIM_NUMBER, &R) ||
        !doc_read_quantity(f, weight ? weight : young, weight ? "material: weight" : "material: young",
                           PL_DIM_STRESS, weight ? &w : &E)) {
        return false;
    }

    if (!(R > 0 && R <= 1)) {
        doc_defect(f, r->line, "material '%s': r_omega is %g, must be above 0 and at most 1", node->key, R);
        return false;
    }

    // weight w = E (2 + R) / (6 R)
    pl_shape_to_elastic(weight ? w : E * (2 + R) / (6 * R), R, &material->young, &material->poisson);

    return true;
}

// The law by its name; constants are read later.
static bool material_from_model(doc_robot_file *f, const doc_node *node, const doc_node *model,
                                pl_material *material)
{
    if (!model) {
        doc_defect(f, node->line, "material '%s': 'use' (from the library) or 'model' is missing", node->key);
        return false;
    }

    const char *name[PL_MATERIAL_MODEL_COUNT + 1];
    for (int i = 0; i < PL_MATERIAL_MODEL_COUNT; ++i) {
        name[i] = pl_material_model_name((pl_material_model)i);
    }
    name[PL_MATERIAL_MODEL_COUNT] = "shape";
    const int i = doc_read_choice(f, model, "material: model", name, PL_MATERIAL_MODEL_COUNT + 1);
    if (i < 0) {
        return false;
    }
    if (i == PL_MATERIAL_MODEL_COUNT) {
        return material_shape(f, node, material);
    }

    // the rubber laws are nearly incompressible unless the file says otherwise
    *material = (pl_material){.model = (pl_material_model)i};
    if (pl_material_is_rubber(material->model) && !doc_child(node, "bulk")) {
        material->poisson = PL_POISSON_DEFAULT;
    }

    return true;
}

// Constants given in the file, over those of the library.
static bool material_constants(doc_robot_file *f, const doc_node *node, pl_material *material, bool shape)
{
    bool good = true;
    for (const doc_node *n = node->child; n; n = n->next) {
        for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
            const pl_material_constant constant = (pl_material_constant)c;
            if (strcmp(n->key, pl_material_constant_name(constant)) != 0 || (shape && constant == PL_YOUNG)) {
                continue;
            }
            char what[120];
            snprintf(what, sizeof what, "material '%.60s': %s", node->key, n->key);
            if (constant == PL_YOUNG && material->model == PL_NEO_HOOKEAN) {
                continue; // see material_young
            }
            if (!pl_material_has(material->model, constant) || (shape && constant == PL_POISSON)) {
                doc_defect(f, n->key_line, "%s is not a constant of the model %s", what,
                           shape ? "shape" : pl_material_model_name(material->model));
                good = false;
                continue;
            }

            good = doc_read_quantity(f, n, what, pl_material_constant_dimension(constant),
                                     pl_material_at(material, constant)) &&
                   good;
        }
    }

    // one of the two decides how compressible a rubber is: what the file says goes over the library
    const doc_node *poisson = doc_child(node, "poisson");
    if (poisson && doc_child(node, "bulk")) {
        doc_defect(f, poisson->line,
                   "material '%.60s': both poisson and bulk are given, and each decides how compressible it "
                   "is: keep one",
                   node->key);
        good = false;
    }

    if (doc_child(node, "poisson") && !doc_child(node, "bulk") && pl_material_is_rubber(material->model)) {
        material->bulk = 0;
    }

    return good;
}

// Young's modulus of a neo-Hookean material: c10 = E / (4 (1 + poisson)); the bulk modulus follows from
// poisson.
static bool material_young(doc_robot_file *f, const doc_node *node, pl_material *material)
{
    const doc_node *young = doc_child(node, "young");
    double E = 0;
    char what[120];

    if (!young || material->model != PL_NEO_HOOKEAN) {
        return true;
    }
    snprintf(what, sizeof what, "material '%.60s': young", node->key);

    if (doc_child(node, "c10") || doc_child(node, "bulk")) {
        doc_defect(f, young->key_line,
                   "%s takes the place of c10 and bulk: give either these or young and poisson", what);
        return false;
    }

    if (!doc_read_quantity(f, young, what, PL_DIM_STRESS, &E)) {
        return false;
    }
    if (!(E > 0)) {
        doc_defect(f, young->key_line, "%s is %g MPa, must be > 0", what, E);
        return false;
    }

    if (!doc_child(node, "poisson")) {
        doc_warning(f, young->key_line, "%s without poisson: %g is taken", what, material->poisson);
    }
    material->c10 = E / (4 * (1 + material->poisson));
    material->bulk = 0;

    return true;
}

// prony: [{g: 0.08, tau: 0.3 s}, ...] replaces the branches of the library.
static bool material_prony(doc_robot_file *f, const doc_node *node, pl_material *material)
{
    typedef struct branch {
        double g, tau;
    } branch;
    static const doc_key keys[] = {
        {"g", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(branch, g), DOC_REQUIRED | DOC_POSITIVE},
        {"tau", DOC_QUANTITY, PL_DIM_TIME, offsetof(branch, tau), DOC_REQUIRED | DOC_POSITIVE},
    };
    const doc_node *list = doc_child(node, "prony");
    char what[120];
    if (!list) {
        return true;
    }
    snprintf(what, sizeof what, "material '%.60s': prony", node->key);
    if (!doc_expect(f, list, DOC_LIST, what)) {
        return false;
    }

    bool good = true;
    material->prony_count = 0;
    for (const doc_node *n = list->child; n; n = n->next) {
        branch b = {0};
        if (material->prony_count == PL_PRONY_TERMS) {
            doc_defect(f, n->line, "%s has more than %d branches", what, PL_PRONY_TERMS);
            return false;
        }

        good = doc_read_map(f, n, what, keys, PL_COUNT(keys), &b) && good;
        material->prony_g[material->prony_count] = b.g;
        material->prony_tau[material->prony_count++] = b.tau;
    }

    return good;
}

// mullins: {r: 1.5, m: 5 kPa, beta: 0.1}
static bool material_mullins(doc_robot_file *f, const doc_node *node, pl_material *material)
{
    static const doc_key keys[] = {
        {"r", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_material, mullins_r), DOC_REQUIRED | DOC_POSITIVE},
        {"m", DOC_QUANTITY, PL_DIM_STRESS, offsetof(pl_material, mullins_m), DOC_NOT_NEGATIVE},
        {"beta", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_material, mullins_beta), DOC_NOT_NEGATIVE},
    };
    const doc_node *map = doc_child(node, "mullins");
    char what[120];

    snprintf(what, sizeof what, "material '%.60s': mullins", node->key);
    return !map || doc_read_map(f, map, what, keys, PL_COUNT(keys), material);
}

// fibres: [[1, 0, 0], [0, 1, 0]], or one direction [1, 0, 0]
static bool material_fibres(doc_robot_file *f, const doc_node *node, pl_material *material)
{
    const doc_node *list = doc_child(node, "fibres");
    char what[120];

    snprintf(what, sizeof what, "material '%.60s': fibres", node->key);
    if (!list) {
        return true;
    }

    if (!pl_material_has_fibres(material->model)) {
        doc_defect(f, list->key_line, "%s: the model %s has none", what,
                   pl_material_model_name(material->model));
        return false;
    }

    if (!doc_expect(f, list, DOC_LIST, what)) {
        return false;
    }
    material->fibre_count = 0;
    if (list->child && list->child->kind != DOC_LIST) {
        material->fibre_count = 1;
        return doc_read_vector(f, list, what, PL_DIM_NUMBER, material->fibre[0]);
    }

    for (const doc_node *n = list->child; n; n = n->next) {
        if (material->fibre_count == PL_FIBRE_FAMILIES) {
            doc_defect(f, n->line, "%s: more than %d families", what, PL_FIBRE_FAMILIES);
            return false;
        }

        if (!doc_read_vector(f, n, what, PL_DIM_NUMBER, material->fibre[material->fibre_count++])) {
            return false;
        }
    }

    return true;
}

// False after a defect; what could be read is in `material` all the same.
static bool material_read(doc_robot_file *f, const doc_node *node, pl_material *material)
{
    doc_key keys[9 + PL_MATERIAL_CONSTANT_COUNT] = {
        {"use", DOC_OTHER, 0, 0, 0},         {"model", DOC_OTHER, 0, 0, 0},
        {"formulation", DOC_OTHER, 0, 0, 0}, {"damping", DOC_RESERVED, 0, 0, 0},
        {"prony", DOC_OTHER, 0, 0, 0},       {"weight", DOC_OTHER, 0, 0, 0},
        {"r_omega", DOC_OTHER, 0, 0, 0},     {"fibres", DOC_OTHER, 0, 0, 0},
        {"mullins", DOC_OTHER, 0, 0, 0},
    };

    // keys: those of all laws, so that a constant of another law gets its own message
    for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
        keys[9 + c] = (doc_key){pl_material_constant_name((pl_material_constant)c), DOC_OTHER, 0, 0, 0};
    }

    char what[100];
    snprintf(what, sizeof what, "material '%.60s'", node->key);
    bool good = doc_read_map(f, node, what, keys, PL_COUNT(keys), NULL);
    if (node->kind != DOC_MAP) {
        return false;
    }

    // the law
    const doc_node *use = doc_child(node, "use");
    if (!(use ? material_from_library(f, node, use, material)
              : material_from_model(f, node, doc_child(node, "model"), material))) {
        return false;
    }

    const doc_node *model = doc_child(node, "model");
    const bool shape = !use && model && strcmp(model->text, "shape") == 0;
    for (const doc_node *n = node->child; n && !shape; n = n->next) {
        if (strcmp(n->key, "weight") == 0 || strcmp(n->key, "r_omega") == 0) {
            doc_defect(f, n->key_line, "material '%s': %s is only for the model shape", node->key, n->key);
            good = false;
        }
    }

    // its constants
    good = material_constants(f, node, material, shape) && good;
    good = material_young(f, node, material) && good;
    good = material_prony(f, node, material) && good;
    good = material_mullins(f, node, material) && good;
    good = material_fibres(f, node, material) && good;
    const doc_node *formulation = doc_child(node, "formulation");

    if (formulation) {
        const int i = doc_read_choice(f, formulation, "material: formulation", formulation_names,
                                      PL_COUNT(formulation_names));
        material->formulation = i == 1 ? PL_DISPLACEMENT : PL_LOCKING_FREE;
        good = good && i >= 0;
    }

    return good;
}

void doc_read_materials(doc_robot_file *f, const doc_node *node)
{
    if (!doc_expect(f, node, DOC_MAP, "materials")) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_material material = {0};
        if (!material_read(f, n, &material)) {
            doc_mark_broken(f, n->key_line);
        }
        pl_material_def *def = doc_append(f, &f->material, sizeof *def);
        if (def) {
            *def = (pl_material_def){.name = n->key, .material = material, .line = n->key_line};
        }
    }
}

// A region is a word, or a block with its stress-free shape.
void doc_read_regions(doc_robot_file *f, const doc_node *node, const doc_scope *scope)
{
    if (!doc_expect(f, node, DOC_MAP, "regions")) {
        return;
    }

    static const doc_key keys[] = {
        {"material", DOC_TEXT, 0, offsetof(pl_region_def, material), DOC_REQUIRED},
        {"rest_area", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_region_def, rest_area), DOC_POSITIVE},
        {"rest_volume", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_region_def, rest_volume), DOC_POSITIVE},
    };

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_region_def region = {.material = n->text, .line = n->key_line};
        char what[100];
        snprintf(what, sizeof what, "region '%.60s'", n->key);

        if (n->kind != DOC_SCALAR && n->kind != DOC_MAP) {
            doc_defect(f, n->line,
                       "regions: %s: expected the name of a material, or {material: ...}, found %s", n->key,
                       doc_kind_name(n));
            doc_mark_broken(f, n->key_line);
            continue;
        }

        if (n->kind == DOC_MAP && !doc_read_map(f, n, what, keys, PL_COUNT(keys), &region)) {
            doc_mark_broken(f, n->key_line);
            continue;
        }

        region.region = doc_scoped(f, scope, n->key);
        pl_region_def *def = doc_append(f, &f->region, sizeof *def);
        if (def) {
            *def = region;
        }
    }
}

// Axes of the world that are held; all without the key.
static bool fixed_axes(doc_robot_file *f, const doc_node *node, bool axis[3])
{
    static const char *const names[] = {"x", "y", "z"};
    if (!doc_expect(f, node, DOC_LIST, "fixed: axes")) {
        return false;
    }
    if (node->count == 0) {
        doc_defect(f, node->line, "fixed: axes is empty, expected some of x, y, z");
        return false;
    }

    axis[0] = axis[1] = axis[2] = false;
    for (const doc_node *n = node->child; n; n = n->next) {
        const int i = doc_read_choice(f, n, "fixed: axes", names, 3);
        if (i < 0) {
            return false;
        }
        axis[i] = true;
    }

    return true;
}

// The imposed motion, in the frame of the world.
static bool fixed_motion(doc_robot_file *f, const doc_node *node, const doc_scope *scope, pl_fixed_def *def)
{
    const doc_node *rotate = doc_child(node, "rotate");
    if (rotate) {
        if (!doc_read_rotation(f, rotate, "fixed: rotate", def->rotate, def->about)) {
            return false;
        }
        doc_place_vector(scope, def->rotate);
        doc_place_point(scope, def->about);
    }

    doc_place_vector(scope, def->move);
    return true;
}

// Where it holds, then how.
static bool fixed_read(doc_robot_file *f, const doc_node *node, const doc_scope *scope, pl_fixed_def *def)
{
    static const doc_key keys[] = {
        {"surface", DOC_TEXT, 0, offsetof(pl_fixed_def, surface), 0},
        {"region", DOC_TEXT, 0, offsetof(pl_fixed_def, region), 0},
        {"box", DOC_OTHER, 0, 0, 0},
        {"name", DOC_NAME, 0, offsetof(pl_fixed_def, name), 0},
        {"axes", DOC_OTHER, 0, 0, 0},
        {"move", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_fixed_def, move), 0},
        {"rotate", DOC_OTHER, 0, 0, 0},
    };
    if (!doc_read_map(f, node, "fixed", keys, PL_COUNT(keys), def)) {
        return false;
    }

    const doc_node *box = doc_child(node, "box");
    if ((def->surface != NULL) + (def->region != NULL) + (box != NULL) != 1) {
        doc_defect(f, node->line, "fixed: expected exactly one of surface, region, box");
        return false;
    }

    def->has_box = box != NULL;
    if (box && !doc_read_box(f, box, "fixed: box", def->low, def->high)) {
        return false;
    }

    const doc_node *axes = doc_child(node, "axes");

    return (!axes || fixed_axes(f, axes, def->axis)) && fixed_motion(f, node, scope, def);
}

// fixed:
//   - {surface: base}                                 held along x, y and z
//   - {box: [[..], [..]], axes: [z]}                  held along the world's z only
//   - {region: plug, move: [0, 0, 5]}                 driven: displaced by 5 mm at full load
//   - {surface: tip, rotate: {axis: [0, 0, 1], angle: 90 deg, about: [x, y, z]}}     driven: turned, then
//   moved
void doc_read_fixed(doc_robot_file *f, const doc_node *node, const doc_scope *scope)
{
    if (!doc_expect(f, node, DOC_LIST, "fixed")) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_fixed_def def = {.axis = {true, true, true}, .body = scope->body, .line = n->line};
        if (!fixed_read(f, n, scope, &def)) {
            doc_mark_broken(f, n->line);
        }
        // the name that results use: given, or that of what is held
        const char *name = def.name ? def.name : def.surface ? def.surface : def.region;
        name = name ? name : doc_arena_format(&f->arena, "fixed%d", f->fixed.count + 1);
        def.name = name ? doc_scoped(f, scope, name) : "fixed";
        def.surface = doc_scoped(f, scope, def.surface);
        def.region = doc_scoped(f, scope, def.region);
        pl_fixed_def *slot = doc_append(f, &f->fixed, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

void doc_read_rigid(doc_robot_file *f, const doc_node *node, const doc_scope *scope)
{
    static const doc_key keys[] = {{"region", DOC_TEXT, 0, offsetof(pl_rigid_def, region), DOC_REQUIRED}};
    if (!doc_expect(f, node, DOC_LIST, "rigid")) {
        return;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_rigid_def def = {.line = n->line};
        if (!doc_read_map(f, n, "rigid", keys, PL_COUNT(keys), &def)) {
            doc_mark_broken(f, n->line);
            continue;
        }

        def.region = doc_scoped(f, scope, def.region);
        pl_rigid_def *slot = doc_append(f, &f->rigid, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}
