// pliant materials: the library of measured materials.
#include <string.h>
#include "cli.h"

static const cli_option options[] = {CLI_JSON, {0}};

// "c10 0.0418, c01 0.0106"
static void materials_constants(const pl_material *material, char *buffer, size_t size)
{
    pl_material copy = *material;
    buffer[0] = 0;
    for (int c = 0; c < PL_DENSITY; ++c) {
        const double value = *pl_material_at(&copy, (pl_material_constant)c);
        const bool plain = c != PL_POISSON || material->young > 0; // of rubber it only gives the bulk modulus
        if (pl_material_has(material->model, (pl_material_constant)c) && value != 0 && plain) {
            const size_t at = strlen(buffer);
            snprintf(buffer + at, size - at, "%s%s %.4g", at ? ", " : "",
                     pl_material_constant_name((pl_material_constant)c), value);
        }
    }
}

// One entry of the library.
static json_t *materials_json(const pl_material_entry *entry)
{
    pl_material copy = entry->material;
    json_t *one = json_object(), *constants = json_object();

    for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
        if (pl_material_has(copy.model, (pl_material_constant)c) && c != PL_DENSITY) {
            json_object_set_new(constants, pl_material_constant_name((pl_material_constant)c),
                                cli_json_number(*pl_material_at(&copy, (pl_material_constant)c)));
        }
    }

    json_object_set_new(one, "title", json_string(entry->title));
    json_object_set_new(one, "model", json_string(pl_material_model_name(copy.model)));
    json_object_set_new(one, "constants", constants);
    json_object_set_new(one, "density_kg_m3", cli_json_number(copy.density * 1e12));
    json_object_set_new(one, "strain_range",
                        cli_json_numbers((double[]){entry->strain_low, entry->strain_high}, 2));
    json_object_set_new(one, "fit_error",
                        entry->fit_error < 0 ? json_null() : cli_json_number(entry->fit_error));
    json_object_set_new(one, "source", json_string(entry->source));

    return one;
}

// All about one material, with stresses over the strains it was fitted to.
static void materials_print_one(const cli_args *args, const pl_material_entry *entry)
{
    char constants[200];
    double mu = 0, kappa = 0;

    materials_constants(&entry->material, constants, sizeof constants);
    pl_material_moduli(&entry->material, &mu, &kappa);
    cli_say(args, "%s: %s\n", entry->name, entry->title);
    cli_say(args, "  model       %s: %s (MPa)\n", pl_material_model_name(entry->material.model), constants);
    cli_say(args, "  small strains: shear modulus %.4g MPa, bulk term %.4g MPa\n", mu, kappa);
    cli_say(args, "  density     %.4g kg/m^3\n", entry->material.density * 1e12);
    if (entry->strain_high > 0) {
        cli_say(args, "  fitted over strains %.3g to %.3g", entry->strain_low, entry->strain_high);
    } else {
        cli_say(args, "  not fitted: constants as published");
    }
    if (entry->fit_error >= 0) {
        cli_say(args, ", error %.2g %% of the largest stress", 100 * entry->fit_error);
    }
    cli_say(args, "\n  source      %s\n", entry->source);

    // stresses over the strains of the test, if there was one
    for (int k = 1; k <= 6 && entry->strain_high > 0; ++k) {
        cli_say(args, "%s", k == 1 ? "\n  stretch  stress MPa (uniaxial)\n" : "");
        const double strain = entry->strain_high * k / 6;
        cli_say(args, "  %7.3f  %.4f\n", 1 + strain, pl_material_tensile(&entry->material, 1 + strain));
    }

    cli_say(args, "\nin a robot file:\n  materials:\n    silicone: {use: %s}\n", entry->name);
}

// One line per material.
static void materials_print_all(const cli_args *args)
{
    cli_table table = {0};
    cli_row(&table, "name\tmodel\tconstants (MPa)\tstrain up to\tfit error\tshear modulus MPa");
    for (int i = 0; i < pl_material_library_count(); ++i) {
        const pl_material_entry *entry = pl_material_library_at(i);
        char constants[200], error[40] = "-", strain[40] = "-";
        double mu = 0, kappa = 0;
        materials_constants(&entry->material, constants, sizeof constants);
        pl_material_moduli(&entry->material, &mu, &kappa);
        if (entry->fit_error >= 0) {
            snprintf(error, sizeof error, "%.1f %%", 100 * entry->fit_error);
        }
        if (entry->strain_high > 0) {
            snprintf(strain, sizeof strain, "%.2f", entry->strain_high);
        }
        cli_row(&table, "%s\t%s\t%s\t%s\t%s\t%.4f", entry->name,
                pl_material_model_name(entry->material.model), constants, strain, error, mu);
    }

    cli_table_print(args, &table);
    cli_say(args, "\n`pliant materials NAME` shows source and stresses; in a robot file: {use: NAME}\n");
}

// Suggests the nearest one.
static int materials_unknown(const cli_args *args, const char *name)
{
    const char *known[200];
    int count = 0;

    for (; count < pl_material_library_count() && count < 200; ++count) {
        known[count] = pl_material_library_at(count)->name;
    }

    const char *near = cli_nearest(name, known, count);
    cli_error(args, "the library has no material '%s'%s%s%s", name, near ? "; did you mean '" : "",
              near ? near : "", near ? "'?" : "");
    cli_advice("`pliant materials` lists them");

    return CLI_EXIT_USAGE;
}

static int materials_run(cli_args *args)
{
    const int status = cli_check_outputs(args, NULL, NULL, NULL);
    if (status) {
        return status;
    }

    const char *name = args->plain_count ? args->plain[0] : NULL;
    const pl_material_entry *entry = name ? pl_material_library_find(name) : NULL;
    if (name && !entry) {
        return materials_unknown(args, name);
    }

    json_t *root = cli_json_head(0, NULL), *all = json_object();
    for (int i = 0; i < pl_material_library_count(); ++i) {
        const pl_material_entry *e = pl_material_library_at(i);
        if (!entry || e == entry) {
            json_object_set_new(all, e->name, materials_json(e));
        }
    }

    json_object_set_new(root, "materials", all);
    if (entry) {
        materials_print_one(args, entry);
    } else {
        materials_print_all(args);
    }

    return cli_json_write(args, root);
}

const cli_verb cli_verb_materials = {
    .name = "materials",
    .summary = "the material library",
    .usage = "[NAME] [options]",
    .about =
        "Without a name: the whole library. With one: its constants, the strains they were fitted over, the\n"
        "fit error, the source and its licence.",
    .examples = "  pliant materials\n"
                "  pliant materials dragon_skin_20\n"
                "  pliant materials --json - | jq '.materials | keys'\n",
    .option = options,
    .least = 0,
    .most = 1,
    .run = materials_run,
    .stopping = "stopping",
};
