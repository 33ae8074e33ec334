// The library of measured materials. Two kinds of entries: constants as a paper or tutorial prints them, and
// our own fits of tensile tests (tests/calib/test_material_data.c repeats every fit and compares;
// docs/reference/materials.md tells how they were made). A published entry whose source states no range or
// error has strain_high 0 and fit_error -1.
#include <string.h>
#include "base/base.h"
#include "pliant/material.h"

// The constants of fits belong to this Poisson's ratio (docs/reference/materials.md).
#define YEOH(C10, C20, C30, DENSITY)                                                                         \
    {                                                                                                        \
        .model = PL_YEOH, .poisson = PL_POISSON_DEFAULT, .c10 = (C10), .c20 = (C20), .c30 = (C30),           \
        .density = (DENSITY)                                                                                 \
    }
#define MOONEY(C10, C01, DENSITY)                                                                            \
    {                                                                                                        \
        .model = PL_MOONEY_RIVLIN, .poisson = PL_POISSON_DEFAULT, .c10 = (C10), .c01 = (C01),                \
        .density = (DENSITY)                                                                                 \
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
    {"body_double_silk", "Body Double SILK (Smooth-On)", YEOH(0.0609342, 0.0014011, 0.0, 1.07e-09), 0.0, 2.0, 0.0315, TENSILE_GUESS("BodyDouble_SILK")},
    {"dragon_skin_10_medium", "Dragon Skin 10 MEDIUM (Smooth-On)", YEOH(0.0212005, 0.00354869, -0.00012003, 1.07e-09), 0.0, 2.0, 0.0038, TENSILE("Dragon_Skin_10_MEDIUM")},
    {"dragon_skin_20", "Dragon Skin 20 (Smooth-On)", YEOH(0.0582724, 0.0107254, -0.000534205, 1.08e-09), 0.0, 2.0, 0.0104, TENSILE("Dragon_Skin_20")},
    {"dragon_skin_30", "Dragon Skin 30 (Smooth-On)", YEOH(0.0887753, 0.011645, -0.000510451, 1.08e-09), 0.0, 2.0, 0.0049, TENSILE("Dragon_Skin_30")},
    {"dragon_skin_fx_pro", "Dragon Skin FX-Pro (Smooth-On)", YEOH(0.0138832, 0.00127159, -5.11765e-05, 1.06e-09), 0.0, 2.0, 0.0070, TENSILE("Dragon_Skin_FX_Pro")},
    {"dragon_skin_fx_pro_slacker", "Dragon Skin FX-Pro with Slacker (Smooth-On)", YEOH(0.00139564, -9.93707e-06, 2.24356e-06, 1.07e-09), 0.0, 2.0, 0.0208, TENSILE_GUESS("Dragon_Skin_FX_Pro_Slacker")},
    {"ecoflex_00_10", "Ecoflex 00-10 (Smooth-On)", YEOH(0.00354757, 0.000202823, -4.54802e-06, 1.04e-09), 0.0, 2.0, 0.0114, TENSILE("Ecoflex_00-10")},
    {"ecoflex_00_30", "Ecoflex 00-30 (Smooth-On)", YEOH(0.00736338, 0.000334166, -1.97592e-05, 1.07e-09), 0.0, 2.0, 0.0117, TENSILE("Ecoflex_00-30")},
    {"ecoflex_00_35_fast", "Ecoflex 00-35 FAST (Smooth-On)", YEOH(0.0129802, 0.000859536, -2.17911e-05, 1.07e-09), 0.0, 2.0, 0.0054, TENSILE("Ecoflex_00-35_FAST")},
    {"ecoflex_00_50", "Ecoflex 00-50 (Smooth-On)", YEOH(0.0100165, 0.000586221, -2.81846e-05, 1.07e-09), 0.0, 2.0, 0.0093, TENSILE("Ecoflex_00-50")},
    {"mold_star_16_fast", "Mold Star 16 FAST (Smooth-On)", YEOH(0.0410137, 0.00365336, -5.33123e-05, 1.18e-09), 0.0, 2.0, 0.0017, TENSILE("Mold_Star_16_FAST")},
    {"mold_star_20t", "Mold Star 20T (Smooth-On)", YEOH(0.0542765, 0.00420117, -4.87265e-05, 1.08e-09), 0.0, 2.0, 0.0043, TENSILE("Mold_Star_20T")},
    {"platsil_gel_10", "PlatSil Gel 10 (Polytek)", YEOH(0.0262797, 0.00501741, -0.000270629, 1.07e-09), 0.0, 2.0, 0.0094, TENSILE_GUESS("PlatSil_Gel_10")},
    {"psycho_paint", "Psycho Paint (Smooth-On)", YEOH(0.0590049, 0.00394634, -5.79569e-05, 1.07e-09), 0.0, 2.0, 0.0041, TENSILE_GUESS("Psycho_Paint")},
    {"rtv615", "RTV615 (Momentive)", YEOH(0.168444, 0.0115265, 0.0019457, 1.02e-09), 0.0, 1.932, 0.0017, TENSILE("RTV615")},
    {"rebound_25", "Rebound 25 (Smooth-On)", YEOH(0.0479758, 0.00577083, -0.000172794, 1.07e-09), 0.0, 2.0, 0.0021, TENSILE_GUESS("Rebound_25")},
    {"soloplast_150318", "Soloplast 150318 (Soloplast-Vosschemie)", YEOH(0.032935, 0.00254947, -7.76033e-05, 1.07e-09), 0.0, 2.0, 0.0090, TENSILE_GUESS("SOLOPLAST_150318")},
    {"sorta_clear_40", "SORTA-Clear 40 (Smooth-On)", YEOH(0.139531, 0.00648207, 2.96748e-05, 1.08e-09), 0.0, 2.0, 0.0013, TENSILE("SortaClear_40")},
    {"wagnersil_20_nf", "Wagnersil 20 NF", YEOH(0.0541895, 0.0112413, -0.000387626, 1.07e-09), 0.0, 2.0, 0.0048, TENSILE_GUESS("WAGNERSIL_20_NF")},
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
