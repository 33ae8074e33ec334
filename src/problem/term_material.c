// Change of the gradient by a material constant. Every law is linear in its moduli, so the derivative of the
// forces is the force of a law that has only that modulus; constants that set two moduli (young, poisson) use
// both.
#include <math.h>
#include "problem/term_material.h"
#include "material/material.h"

// The law of a region whose constants are all 0 except for the derivative wanted; returns that of the
// corners' share of kappa, the plain share being PL_PLAIN_SHARE mu.
static double law_derivative(const pl_material *material, pl_material_constant constant, pl_law *law)
{
    double moduli[2];
    pl_material_moduli_derivative(material, constant, moduli);
    const bool rubber = pl_material_is_rubber(law->model);
    law->mu = rubber ? 0 : moduli[0];
    law->kappa = law->mixed ? PL_PLAIN_SHARE * moduli[0] : moduli[1];
    pl_law_constant_derivative(law, material, constant);

    return law->mixed ? moduli[1] - law->kappa : 0;
}

pl_status term_material_derivative(pl_problem *p, const pl_state *state, int material, int constant,
                                   double *full, pl_error *err)
{
    const pl_material *m = &p->robot->material[material];
    pl_elements *E = p->elements;
    pl_law *law = PL_NEW_ARRAY(pl_law, E->law_count);
    double *pressure = PL_NEW_ARRAY(double, E->pressure_count), *corner = PL_NEW_ARRAY(double, E->law_count);

    if (!law || !pressure || !corner) {
        pl_free(corner);
        pl_free(law);
        pl_free(pressure);
        return pl_fail_memory(err, "jacobian");
    }

    for (int r = 0; r < E->law_count; ++r) {
        law[r] = (pl_law){.model = E->law[r].model, .kernel = E->law[r].kernel, .mixed = E->law[r].mixed};
        if (p->robot->region_material[r] == material) {
            corner[r] = law_derivative(m, (pl_material_constant)constant, &law[r]);
        }
    }

    // locking-free: p = kappa dbar, so dp = dkappa dbar in the regions of this material
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        for (int c = 0; E->law[block->law].mixed && c < block->corner_count; ++c) {
            for (int l = 0; l < block->lane_count; ++l) {
                const int32_t k = block->pressure[c][l];
                pressure[k] = corner[block->law] * E->dilatation[k];
            }
        }
    }

    pl_elements_force_of(E, state->x, law, pressure, full);
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        full[i] = -full[i];
    }
    pl_free(corner);
    pl_free(law);
    pl_free(pressure);

    return PL_OK;
}

// ---- growth
// The law of the constants `m` as the elements have it; returns the corners' share of kappa.
static double law_of(const pl_material *m, bool mixed, pl_law *law)
{
    double mu, kappa;
    pl_material_moduli(m, &mu, &kappa);
    *law = (pl_law){.mixed = mixed, .mu = mu, .kappa = mixed ? PL_PLAIN_SHARE * mu : kappa};
    pl_law_constants(law, m);

    return kappa - law->kappa;
}

// Pressures p = kappa dbar of a region, `kappa` the corners' share.
static void region_pressures(pl_elements *E, int region, double kappa)
{
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        for (int c = 0; block->law == region && E->law[region].mixed && c < block->corner_count; ++c) {
            for (int l = 0; l < block->lane_count; ++l) {
                const int32_t k = block->pressure[c][l];
                E->pressure[k] = kappa * E->dilatation[k];
            }
        }
    }
}

// dE/dg is linear in most constants and smooth in the others: with a step of GROWTH_STEP the quotient is
// exact to 1e-10.
#define GROWTH_STEP 1e-5
double term_material_growth(pl_problem *p, int region, pl_growth_kind kind, const double *x, int constant)
{
    pl_elements *E = p->elements;
    pl_material m = p->robot->material[p->robot->region_material[region]];
    const pl_law own = E->law[region];
    const double corner = E->law_kappa[region];
    double rate[2][2], mu, kappa;

    pl_material_moduli(&m, &mu, &kappa);
    double *value = pl_material_at(&m, (pl_material_constant)constant);
    if (constant == PL_BULK) {
        *value = kappa; // whether it was given or follows from Poisson's ratio
    }
    const double middle = *value,
                 unit =
                     pl_material_constant_dimension((pl_material_constant)constant) == PL_DIM_STRESS ? mu : 1,
                 step = GROWTH_STEP * fmax(fabs(middle), unit);
    for (int side = 0; side < 2; ++side) {
        *value = middle + (side ? step : -step);
        region_pressures(E, region, law_of(&m, own.mixed, &E->law[region]));
        pl_elements_growth_rate(E, &p->mesh, region, kind, x, rate[side], 0, NULL);
    }

    E->law[region] = own;
    region_pressures(E, region, corner);

    return (rate[1][0] - rate[0][0]) / (2 * step);
}

// Weight per unit of density: int N_a dV g over the regions of the material.
void term_density_derivative(const pl_problem *p, const pl_state *state, int material, double *full)
{
    const pl_mesh_view *mesh = &p->mesh;
    for (int32_t e = 0; e < mesh->element_count; ++e) {
        if (p->robot->region_material[mesh->region[e]] != material) {
            continue;
        }
        double share[PL_ELEMENT_NODES_MAX];
        pl_element_shares(mesh, e, share);
        for (int64_t a = mesh->node_start[e]; a < mesh->node_start[e + 1]; ++a) {
            for (int i = 0; i < 3; ++i) {
                full[3 * (int64_t)mesh->node[a] + i] +=
                    state->load * share[a - mesh->node_start[e]] * p->robot->gravity[i];
            }
        }
    }
}
