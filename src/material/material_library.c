// The library of measured materials. Two kinds of entries: constants as a paper or tutorial prints them, and
// our own fits of tensile tests (tests/calib/test_material_data.c repeats every fit and compares;
// docs/materials.md tells how they were made). A published entry whose source states no range or error has
// strain_high 0 and fit_error -1.
#include <string.h>
#include "base/base.h"
#include "pliant/material.h"

#define YEOH(C10, C20, C30, DENSITY)                                                                         \
    {                                                                                                        \
        .model = PL_YEOH, .poisson = 0.49, .c10 = (C10), .c20 = (C20), .c30 = (C30), .density = (DENSITY)    \
    }
#define MOONEY(C10, C01, DENSITY)                                                                            \
    {                                                                                                        \
        .model = PL_MOONEY_RIVLIN, .poisson = 0.49, .c10 = (C10), .c01 = (C01), .density = (DENSITY)         \
    }
#define LINEAR(YOUNG, POISSON, DENSITY)                                                                      \
    {                                                                                                        \
        .model = PL_LINEAR, .young = (YOUNG), .poisson = (POISSON), .density = (DENSITY)                     \
    }

// of Young's modulus E and Poisson's ratio at small strain
#define NEO(E, POISSON, DENSITY)                                                                             \
    {                                                                                                        \
        .model = PL_NEO_HOOKEAN, .poisson = (POISSON), .c10 = (E) / (4 * (1 + (POISSON))),                   \
        .density = (DENSITY)                                                                                 \
    }

#define SHEET(MAKER)                                                                                         \
    "Young's modulus and density: typical values of the data sheet of " MAKER                                \
    ", small strain; Poisson's ratio assumed; printing changes them: test your own part"
#define GENT(HARDNESS, MAKER)                                                                                \
    "no modulus is published; E from Shore A " HARDNESS " (" MAKER                                           \
    ") by the relation of Gent 1958, good to about 30 %; density: the same data sheet"

#define TENSILE(FILE)                                                                                        \
    "fit of " FILE                                                                                           \
    ".csv, Soft Robotics Materials Database, Marechal et al. 2020, doi 10.1089/soro.2019.0115, "             \
    "ODbL 1.0; density: maker's data sheet"
#define TENSILE_GUESS(FILE)                                                                                  \
    "fit of " FILE                                                                                           \
    ".csv, Soft Robotics Materials Database, Marechal et al. 2020, doi 10.1089/soro.2019.0115, "             \
    "ODbL 1.0; density: 1070 kg/m^3 assumed, as of similar silicones"
#define FANG                                                                                                 \
    "Fang et al., Collision-Aware Fast Simulation for Soft Robots, IROS 2022; range and error not stated; "  \
    "density: "                                                                                              \
    "maker's data sheet"
#define PNEUNET "Soft Robotics Toolkit, PneuNets bending actuators, modeling; range and error not stated"

// clang-format off
static const pl_material_entry library[] = {
    {"body_double_silk", "Body Double SILK (Smooth-On)", YEOH(0.0606977, 0.00108063, 0.0, 1.07e-09), 0.0, 2.0, 0.0316, TENSILE_GUESS("BodyDouble_SILK")},
    {"dragon_skin_10_medium", "Dragon Skin 10 MEDIUM (Smooth-On)", YEOH(0.021152, 0.00322917, -0.000129732, 1.07e-09), 0.0, 2.0, 0.0039, TENSILE("Dragon_Skin_10_MEDIUM")},
    {"dragon_skin_20", "Dragon Skin 20 (Smooth-On)", YEOH(0.0584041, 0.00951272, -0.000491947, 1.08e-09), 0.0, 2.0, 0.0116, TENSILE("Dragon_Skin_20")},
    {"dragon_skin_30", "Dragon Skin 30 (Smooth-On)", YEOH(0.0885387, 0.0104555, -0.000492727, 1.08e-09), 0.0, 2.0, 0.0059, TENSILE("Dragon_Skin_30")},
    {"dragon_skin_fx_pro", "Dragon Skin FX-Pro (Smooth-On)", YEOH(0.013823, 0.00113611, -4.96354e-05, 1.06e-09), 0.0, 2.0, 0.0074, TENSILE("Dragon_Skin_FX_Pro")},
    {"dragon_skin_fx_pro_slacker", "Dragon Skin FX-Pro with Slacker (Smooth-On)", YEOH(0.00138256, -1.15112e-05, 1.88959e-06, 1.07e-09), 0.0, 2.0, 0.0209, TENSILE_GUESS("Dragon_Skin_FX_Pro_Slacker")},
    {"ecoflex_00_10", "Ecoflex 00-10 (Smooth-On)", YEOH(0.00352621, 0.000180164, -5.0376e-06, 1.04e-09), 0.0, 2.0, 0.0113, TENSILE("Ecoflex_00-10")},
    {"ecoflex_00_30", "Ecoflex 00-30 (Smooth-On)", YEOH(0.00732321, 0.000284566, -1.72746e-05, 1.07e-09), 0.0, 2.0, 0.0117, TENSILE("Ecoflex_00-30")},
    {"ecoflex_00_35_fast", "Ecoflex 00-35 FAST (Smooth-On)", YEOH(0.0129001, 0.000771849, -2.41191e-05, 1.07e-09), 0.0, 2.0, 0.0054, TENSILE("Ecoflex_00-35_FAST")},
    {"ecoflex_00_50", "Ecoflex 00-50 (Smooth-On)", YEOH(0.00996363, 0.000511564, -2.57145e-05, 1.07e-09), 0.0, 2.0, 0.0094, TENSILE("Ecoflex_00-50")},
    {"mold_star_16_fast", "Mold Star 16 FAST (Smooth-On)", YEOH(0.0407308, 0.00337316, -8.2238e-05, 1.18e-09), 0.0, 2.0, 0.0017, TENSILE("Mold_Star_16_FAST")},
    {"mold_star_20t", "Mold Star 20T (Smooth-On)", YEOH(0.0538898, 0.00386866, -8.31881e-05, 1.08e-09), 0.0, 2.0, 0.0043, TENSILE("Mold_Star_20T")},
    {"platsil_gel_10", "PlatSil Gel 10 (Polytek)", YEOH(0.0263403, 0.00444857, -0.000245762, 1.07e-09), 0.0, 2.0, 0.0113, TENSILE_GUESS("PlatSil_Gel_10")},
    {"psycho_paint", "Psycho Paint (Smooth-On)", YEOH(0.0585881, 0.00360001, -8.38113e-05, 1.07e-09), 0.0, 2.0, 0.0041, TENSILE_GUESS("Psycho_Paint")},
    {"rtv615", "RTV615 (Momentive)", YEOH(0.165428, 0.0129084, 0.00103949, 1.02e-09), 0.0, 1.932, 0.0023, TENSILE("RTV615")},
    {"rebound_25", "Rebound 25 (Smooth-On)", YEOH(0.047736, 0.00527592, -0.000193564, 1.07e-09), 0.0, 2.0, 0.0026, TENSILE_GUESS("Rebound_25")},
    {"soloplast_150318", "Soloplast 150318 (Soloplast-Vosschemie)", YEOH(0.0327557, 0.00228813, -8.12303e-05, 1.07e-09), 0.0, 2.0, 0.0091, TENSILE_GUESS("SOLOPLAST_150318")},
    {"sorta_clear_40", "SORTA-Clear 40 (Smooth-On)", YEOH(0.138406, 0.00591788, -4.21043e-05, 1.08e-09), 0.0, 2.0, 0.0013, TENSILE("SortaClear_40")},
    {"wagnersil_20_nf", "Wagnersil 20 NF", YEOH(0.0542136, 0.0101883, -0.000418645, 1.07e-09), 0.0, 2.0, 0.0059, TENSILE_GUESS("WAGNERSIL_20_NF")},
    {"ecoflex_00_30_fang", "Ecoflex 00-30 (Smooth-On), published constants", MOONEY(0.0418, 0.0106, 1.07e-09), 0.0, 0.0, -1.0, FANG},
    {"dragon_skin_20_fang", "Dragon Skin 20 (Smooth-On), published constants", MOONEY(0.119, 0.023, 1.08e-09), 0.0, 0.0, -1.0, FANG},
    {"elastosil_m4601", "Elastosil M 4601 (Wacker), published constants", YEOH(0.11, 0.02, 0.0, 1.13e-09), 0.0, 0.0, -1.0, PNEUNET},
    {"tpu_95a", "TPU 95A, printed", NEO(26.0, 0.48, 1.22e-09), 0.0, 0.0, -1.0, SHEET("Ultimaker TPU 95A")},
    {"ninjaflex", "NinjaFlex 85A (NinjaTek), printed", NEO(12.0, 0.48, 1.19e-09), 0.0, 0.0, -1.0, SHEET("NinjaTek NinjaFlex")},
    {"agilus30", "Agilus30 (Stratasys), printed", NEO(1.15, 0.49, 1.14e-09), 0.0, 0.0, -1.0, GENT("30", "Stratasys Agilus30 FLX935")},
    {"tango_plus", "TangoPlus (Stratasys), printed", NEO(1.01, 0.49, 1.12e-09), 0.0, 0.0, -1.0, GENT("27", "Stratasys TangoPlus FLX930")},
    {"pla", "PLA, printed", LINEAR(2350.0, 0.35, 1.24e-09), 0.0, 0.0, -1.0, SHEET("Ultimaker PLA")},
    {"polyamide_12", "Polyamide 12, laser sintered", LINEAR(1650.0, 0.4, 0.93e-09), 0.0, 0.0, -1.0, SHEET("EOS PA 2200")},
    {"paper", "Paper, the inextensible layer of a PneuNet", LINEAR(6500.0, 0.2, 0.75e-09), 0.0, 0.0, -1.0, PNEUNET},
};
// clang-format on

int pl_material_library_count(void)
{
    return PL_COUNT(library);
}

const pl_material_entry *pl_material_library_at(int i)
{
    return i >= 0 && i < PL_COUNT(library) ? &library[i] : NULL;
}

const pl_material_entry *pl_material_library_find(const char *name)
{
    for (int i = 0; name && i < PL_COUNT(library); ++i) {
        if (strcmp(library[i].name, name) == 0) {
            return &library[i];
        }
    }
    return NULL;
}
