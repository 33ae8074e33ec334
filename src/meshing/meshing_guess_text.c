// The robot file of a guess: every line that was guessed says so in a comment.
#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include "meshing/meshing_guess.h"

// The file as the robot file names it.
static const char *guess_name(const guess *g)
{
    const char *path = g->source->path, *slash = strrchr(path, '/');
    return g->source->reference ? g->source->reference : slash ? slash + 1 : path;
}

// "", "2", "3": the mesher names voids so.
static void guess_number(int i, char number[16])
{
    number[0] = 0;
    if (i > 0) {
        snprintf(number, 16, "%d", i + 1);
    }
}

// The unit, and the size that it gives the part, so that a wrong one is seen.
static void guess_write_unit(pl_text *text, const guess *g)
{
    const double unit = g->source->unit > 0 ? g->source->unit : 1;
    const char *known = unit == 10     ? "cm"
                        : unit == 1000 ? "m"
                        : unit == 1    ? "mm"
                        : unit == 25.4 ? "in"
                                       : NULL;
    char word[32];

    if (known) {
        snprintf(word, sizeof word, "%s", known);
    } else {
        pl_format(word, sizeof word, "%.9g mm", unit);
    }

    pl_text_add(text, "  unit: %-14s # %sthe part is then %.4g x %.4g x %.4g mm\n", word,
                g->source->unit > 0 ? "" : "assumed: the file does not say; ", g->high[0] - g->low[0],
                g->high[1] - g->low[1], g->high[2] - g->low[2]);
    if (g->length < 1 || g->length > 2000) {
        pl_text_add(text, "  #                      which is an unusual size for a robot: check the unit\n");
    }
}

// The source of the mesh: CAD, a mesh file, or a surface.
static void guess_write_mesh(pl_text *text, const guess *g)
{
    const char *name = guess_name(g);

    if (guess_is_cad(name)) {
        pl_text_add(text, "mesh:\n  step: \"%s\"\n", name);
        if (g->source->unit > 0) {
            guess_write_unit(text, g);
        }
        pl_text_add(
            text,
            "  # size: 3            # target edge length; without it, chosen from the wall thickness\n");
    } else if (g->source->mesh) {
        pl_text_add(text, "mesh:\n  file: \"%s\"\n", name);
        if (g->source->unit > 0) {
            guess_write_unit(text, g);
        }
    } else {
        pl_text_add(text, "mesh:\n  parts:\n    - {surface: \"%s\", region: body}\n", name);
        guess_write_unit(text, g);
        pl_text_add(text, "  size: %-14.3g # guessed", g->size);
        pl_text_add(text, g->wall > 0 ? " from walls of about %.3g mm\n" : ": a tenth of the length\n",
                    g->wall);
        if (g->wall > 0 && g->size > g->wall && (g->cavity_count > 0 || g->void_count > 0)) {
            pl_text_add(
                text,
                "  # larger than the walls, a fortieth of the length: smaller elements would take minutes,\n"
                "  # and so may these where flat walls buckle\n");
        }
    }

    pl_text_add(text,
                "  order: 2              # quadratic tetrahedra; linear ones are far too stiff in bending\n");
    if (guess_is_cad(name) || !g->source->mesh) {
        pl_text_add(
            text,
            "  # mesh error: up to 10 %% of the motion is possible with a mesh that is solved in seconds;\n"
            "  # `pliant fk` estimates it. Two thirds of the size: half the error, three times the "
            "elements\n");
    }
    pl_text_add(text, "\n");
}

// Cavities that the mesher will name, or points from which they are seen.
static void guess_write_cavities(pl_text *text, const guess *g)
{
    if (g->void_count > 0) {
        double largest = 0;
        for (int k = 0; k < g->cavity_count; ++k) {
            largest = fmax(largest, g->cavity[k].volume);
        }
        pl_text_add(text, "  # found: %d closed void%s inside the body; the mesher names %s\n", g->void_count,
                    g->void_count > 1 ? "s" : "",
                    g->void_count > 1 ? "them cavity, cavity2..." : "it cavity");
        pl_text_add(text, "  # (the volume of the largest is %.4g mm^3)\n", largest);
        return;
    }

    for (int k = 0; k < g->cavity_count; ++k) {
        const guess_cavity *c = &g->cavity[k];
        char number[16];
        guess_number(k, number);

        if (isnan(c->volume)) {
            pl_text_add(text,
                        "  # guessed: a cavity open to the outside; seen from this point, %.0f %% of all "
                        "directions end on a wall\n",
                        100 * c->enclosed);
        } else if (c->open) {
            pl_text_add(text, "  # found: %.4g mL with %d opening%s, capped flat\n", c->volume / 1000,
                        c->rims, c->rims == 1 ? "" : "s");
        } else {
            pl_text_add(text, "  # found: closed, %.4g mL\n", c->volume / 1000);
        }
        pl_text_add(text, "  cavity%s: {seen_from: [%.6g, %.6g, %.6g]}\n", number, c->eye[0], c->eye[1],
                    c->eye[2]);
    }

    if (g->cavity_count == 0) {
        pl_text_add(text, "  # no cavity was found. If there is one, give a point inside it:\n"
                          "  # cavity: {seen_from: [x, y, z]}\n");
    }
}

// One flat end: by its plane, or by a box around it where other faces share the plane.
static void guess_write_end(pl_text *text, const guess *g, const char *name, const double x[3],
                            const double n[3], const double box[6], double off)
{
    if (box[0] != box[3]) {
        pl_text_add(text, "  %s: {box: [[%.6g, %.6g, %.6g], [%.6g, %.6g, %.6g]]}\n", name, box[0], box[1],
                    box[2], box[3], box[4], box[5]);
        return;
    }

    pl_text_add(text, "  %s: {plane: {point: [%.9g, %.9g, %.9g], normal: [%.6g, %.6g, %.6g]", name, x[0],
                x[1], x[2], n[0] + 0.0, n[1] + 0.0, n[2] + 0.0);

    // all digits of the point (guess_round): one less is as much as a plane tolerates. Rounded normals put a
    // slanted face off its plane
    const bool slanted = fabs(n[0]) + fabs(n[1]) + fabs(n[2]) > 1 + 1e-9;
    pl_text_add(text, slanted || off > 2e-7 * g->length ? ", tolerance: %.2g}}\n" : "}}\n",
                2 * off + 1e-5 * g->length);
}

// Base and tip; without a flat end a slice.
static void guess_write_surfaces(pl_text *text, const guess *g)
{
    const double *b = g->base, *n = g->axis;
    pl_text_add(text, "# Surfaces, selected by position. ");
    pl_text_add(text,
                g->across ? "The part does not end on its longest axis; base and tip are [%.3g, %.3g, %.3g] "
                            "apart.\nsurfaces:\n"
                          : "The longest axis was found along [%.3g, %.3g, %.3g].\nsurfaces:\n",
                g->across ? g->tip[0] - b[0] : n[0], g->across ? g->tip[1] - b[1] : n[1],
                g->across ? g->tip[2] - b[2] : n[2]);
    if (g->base_area > 0) {
        pl_text_add(text, "  # guessed: the flat %s of %.4g mm^2\n", g->across ? "face" : "end",
                    g->base_area);
        guess_write_end(text, g, "base", b, g->base_normal, g->base_box, g->base_off);
    } else {
        // no flat end: everything within a tenth of the length
        double low[3], high[3];
        for (int i = 0; i < 3; ++i) {
            const double reach = fabs(n[i]) > 0.5 ? 0.1 * g->length : g->length;
            low[i] = b[i] - reach;
            high[i] = b[i] + reach;
        }

        pl_text_add(text,
                    "  # guessed: no flat end was found, so this is a slice at the end; check it. Its rim "
                    "follows the elements,\n"
                    "  # so results depend on the mesh: a flat foot in the drawing is better\n"
                    "  base: {box: [[%.6g, %.6g, %.6g], [%.6g, %.6g, %.6g]]}\n",
                    low[0], low[1], low[2], high[0], high[1], high[2]);
    }

    if (g->tip_area > 0) {
        pl_text_add(text, "  # guessed: %s flat end, of %.4g mm^2\n",
                    g->across ? "the other" : "the opposite", g->tip_area);
        guess_write_end(text, g, "tip", g->tip, g->tip_normal, g->tip_box, g->tip_off);
    }
}

#define GUESS_WASHER 4.0 // hole radii

// Cables along the holes. Each guide acts on the material within its radius: one and a half times the hole's
// reaches into the wall all around. Where the cable ends its whole tension acts along it, and a soft body
// yields under what is not wider than the hole.
static void guess_write_cables(pl_text *text, const guess *g)
{
    for (int c = 0; c < g->channel_count; ++c) {
        const pl_channel *h = &g->channel[c];
        char number[16];
        guess_number(c, number);
        pl_text_add(text,
                    "  # found: a narrow hole of radius %.3g mm, %.4g mm long\n"
                    "  - name: tendon%s\n    kind: cable\n    through:\n",
                    h->radius, h->length, number);
        for (int k = 0; k + 1 < h->point_count; ++k) {
            pl_text_add(text, "      - [%.6g, %.6g, %.6g]\n", h->point[k][0], h->point[k][1], h->point[k][2]);
        }
        const double *end = h->point[h->point_count - 1];
        pl_text_add(text,
                    "      - {at: [%.6g, %.6g, %.6g], radius: %.3g} # guessed: tied there to a washer\n",
                    end[0], end[1], end[2], GUESS_WASHER * h->radius);
        pl_text_add(text, "    radius: %.3g\n    drive: shortening\n    range: [0, %.2g]\n", 1.5 * h->radius,
                    0.1 * h->length);
    }
}

// A tendon that this part could have, as a comment.
static void guess_write_example(pl_text *text, const guess *g)
{
    pl_text_add(text, "\n# No actuator was found: the part has neither a cavity nor a narrow hole. ");
    if (g->example_count == 0) {
        pl_text_add(text,
                    "A tendon runs straight from guide to guide:\n"
                    "# actuators:\n"
                    "#   - {name: tendon, kind: cable, through: [[x, y, z], [x, y, z]], radius: 1,\n"
                    "#      drive: shortening, range: [0, %.2g]}\n",
                    0.1 * g->length);
        return;
    }

    pl_text_add(text, "A tendon in the material on one side\n"
                      "# of it, for example (remove the # signs):\n"
                      "# actuators:\n#   - name: tendon\n#     kind: cable\n#     through:\n");
    for (int k = 0; k < g->example_count; ++k) {
        pl_text_add(text, "#       - [%.6g, %.6g, %.6g]\n", g->example[k][0], g->example[k][1],
                    g->example[k][2]);
    }
    pl_text_add(text, "#     radius: %.3g\n#     drive: shortening\n#     range: [0, %.2g]\n",
                g->example_radius, 0.1 * g->length);
}

// kPa to which a cavity can be inflated without ballooning: half of the largest pressure of a sphere of
// rubber with shear modulus mu, p = 2.48 mu t / b of a thin one with wall t and width b, here of the part
// across (the middle of its three dimensions, between two walls), and 2.5 mu of a thick one. Two digits.
// Without walls what most fingers of silicone stand.
#define GUESS_SHEAR 0.1 // MPa, about that of the guessed silicone
static double guess_pressure(const guess *g)
{
    double d[3];
    pl_sub3(g->high, g->low, d);
    const double most = fmax(d[0], fmax(d[1], d[2])), least = fmin(d[0], fmin(d[1], d[2])),
                 width = d[0] + d[1] + d[2] - most - least - 2 * g->wall;
    if (!(g->wall > 0) || !(width > 0)) {
        return 20;
    }

    const double half = 1e3 * 0.5 * GUESS_SHEAR * fmin(2.48 * g->wall / width, 2.5),
                 digit = pow(10, floor(log10(half)) - 1);
    return digit * floor(half / digit);
}

// Tendons in holes, air in cavities, and a marker at the tip.
static void guess_write_actuators(pl_text *text, const guess *g)
{
    for (int c = g->channel_count; c < g->channel_count + g->crossing_count; ++c) {
        const pl_channel *h = &g->channel[c];
        const double *end = h->point[h->point_count - 1];
        pl_text_add(
            text,
            "\n# found: a narrow hole of radius %.3g mm from [%.6g, %.6g, %.6g] to [%.6g, %.6g, %.6g].\n"
            "# It runs across the part, for a screw or a pin rather than for a tendon: nothing acts there.\n",
            h->radius, h->point[0][0], h->point[0][1], h->point[0][2], end[0], end[1], end[2]);
    }

    if (g->channel_count > 0) {
        pl_text_add(text, "\n# Tendons in the narrow holes of the body.\nactuators:\n");
        guess_write_cables(text, g);
    }

    if (g->cavity_count > 0) {
        pl_text_add(
            text, "%s",
            g->channel_count > 0
                ? "  # Air under gauge pressure; start low.\n"
                : "\n# Air under gauge pressure. The range is guessed for a silicone, from the walls:\n"
                  "# thin ones balloon early, and a solve far beyond that takes long.\nactuators:\n");
        const int count = g->void_count > 0 ? g->void_count : g->cavity_count;

        for (int i = 0; i < count; ++i) {
            char number[16];
            guess_number(i, number);
            pl_text_add(text,
                        "  - {name: air%s, kind: chamber, surface: cavity%s, drive: pressure, range: [0 kPa, "
                        "%g kPa]}\n",
                        number, number, guess_pressure(g));
        }
    } else if (g->channel_count == 0) {
        guess_write_example(text, g);
    }

    // the marker
    pl_text_add(text, "\n# Points whose displacement is reported.\nmarkers:\n");
    if (g->tip_area > 0) {
        pl_text_add(text, "  tip: {surface: tip}\n");
    } else {
        pl_text_add(text, "  tip: {at: [%.6g, %.6g, %.6g]}   # guessed: the point farthest from the base\n",
                    g->tip[0], g->tip[1], g->tip[2]);
    }
}

// Words in the names of parts that say what they are made of: an entry of the material library.
static const struct {
    const char *word, *material;
} guess_words[] = {
    {"tpu", "tpu_95a"},
    {"ninjaflex", "ninjaflex"},
    {"agilus", "agilus30"},
    {"tango", "tango_plus"},
    {"nylon", "polyamide_12"},
    {"pa12", "polyamide_12"},
    {"paper", "paper"},
    {"fabric", "paper"},
    {"ecoflex", "ecoflex_00_30"},
    {"dragon", "dragon_skin_20"},
    {"silicone", "dragon_skin_20"},
    {"pla", "pla"},
    {"abs", "pla"},
    {"petg", "pla"},
    {"steel", "pla"},
    {"alu", "pla"},
    {"metal", "pla"},
    {"rigid", "pla"},
    {"stiff", "pla"},
    {"hard", "pla"},
    {"insert", "pla"},
    {"mount", "pla"},
    {"bracket", "pla"},
    {"flange", "pla"},
    {"frame", "pla"},
    {"bone", "pla"},
    {"screw", "pla"},
};

// The material that the name of a part says; NULL: none. A word counts from the start of a word of the name
// (`base_plate` has `pla`, `display` has not).
static const char *guess_named_material(const char *name)
{
    for (size_t k = 0; k < sizeof guess_words / sizeof guess_words[0]; ++k) {
        const size_t n = strlen(guess_words[k].word);
        for (const char *c = name; *c; ++c) {
            const bool starts = c == name || !isalpha((unsigned char)c[-1]) ||
                                (isupper((unsigned char)c[0]) && islower((unsigned char)c[-1]));
            if (starts && strncasecmp(c, guess_words[k].word, n) == 0) {
                return guess_words[k].material;
            }
        }
    }

    return NULL;
}

bool guess_names_materials(const guess *g)
{
    const pl_mesh_view view = g->source->mesh ? pl_mesh_get(g->source->mesh) : (pl_mesh_view){0};
    for (int32_t r = 0; r < view.region_count; ++r) {
        if (guess_named_material(view.region_name[r])) {
            return true;
        }
    }
    return false;
}

// Materials by the names of regions, silicone for all others.
static void guess_write_regions(pl_text *text, const guess *g)
{
    const pl_mesh_view view = g->source->mesh ? pl_mesh_get(g->source->mesh) : (pl_mesh_view){0};
    pl_text_add(text, "\n# guessed: a soft silicone. `pliant materials` lists the measured materials.\n"
                      "materials:\n  silicone: {use: dragon_skin_20}\n");

    // each material that a name says, once
    for (int32_t r = 0; r < view.region_count; ++r) {
        const char *material = guess_named_material(view.region_name[r]);
        bool listed = !material;
        for (int32_t k = 0; k < r && !listed; ++k) {
            const char *before = guess_named_material(view.region_name[k]);
            listed = before && strcmp(before, material) == 0;
        }

        if (!listed) {
            pl_text_add(text, "  %s: {use: %s}\n", material, material);
        }
    }

    if (!g->source->mesh) {
        pl_text_add(text, "regions: {body: silicone}\n");
        return;
    }

    pl_text_add(
        text,
        view.region_count == 1 ? "regions:\n"
        : guess_names_materials(g)
            ? "# By the names of the parts; `pliant info` gives the centre and size of each.\nregions:\n"
            : "# No name of a part says what it is made of: which of them are stiff? `pliant info` gives "
              "the\n"
              "# centre and size of each; a stiff one: add {stiff: {use: pla}} to materials.\nregions:\n");
    for (int32_t r = 0; r < view.region_count; ++r) {
        const char *material = guess_named_material(view.region_name[r]);
        pl_text_add(text, "  \"%s\": %s%s\n", view.region_name[r], material ? material : "silicone",
                    material ? " # guessed from its name" : "");
    }
}

// The file in the order of the reference: mesh, surfaces, materials, supports, actuators, markers.
// *robot_yaml is owned by the caller.
pl_status guess_write(const guess *g, char **robot_yaml, pl_error *err)
{
    const char *reference = guess_name(g), *slash = strrchr(reference, '/');
    char name[64];

    snprintf(name, sizeof name, "%s", slash ? slash + 1 : reference);
    char *dot = strrchr(name, '.');
    if (dot && dot != name) {
        *dot = 0;
    }

    pl_text text = {0};
    pl_text_add(&text,
                "# A first version for %s. Check the lines marked \"guessed\"; `pliant doctor` checks the "
                "rest.\n# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\npliant: "
                "1\nname: \"%s\"\n\n",
                reference, name);
    guess_write_mesh(&text, g);
    guess_write_surfaces(&text, g);
    guess_write_cavities(&text, g);
    guess_write_regions(&text, g);
    pl_text_add(&text, "\nfixed:\n  - {surface: base}\n");
    guess_write_actuators(&text, g);
    if (text.failed) {
        pl_text_clear(&text);
        return pl_fail_memory(err, "a robot file");
    }

    *robot_yaml = text.data;

    return PL_OK;
}
