// Fields of a state for pictures and files: values at quadrature points, averaged to the vertices by volume.
#include "statics/statics_impl.h"

const char *pl_field_name(pl_field field)
{
    static const char *const name[PL_FIELD_COUNT] = {"displacement",     "strain",      "von_mises",
                                                     "stretch",          "J",           "J_bound",
                                                     "contact_pressure", "contact_gap", "stress"};
    return field < PL_FIELD_COUNT ? name[field] : "unknown";
}

const char *pl_field_label(pl_field field)
{
    static const char *const label[PL_FIELD_COUNT] = {[PL_FIELD_DISPLACEMENT] = "displacement_mm",
                                                      [PL_FIELD_STRAIN] = "strain",
                                                      [PL_FIELD_VON_MISES] = "von_mises_kpa",
                                                      [PL_FIELD_STRETCH] = "stretch",
                                                      [PL_FIELD_J] = "J",
                                                      [PL_FIELD_J_BOUND] = "J_bound",
                                                      [PL_FIELD_PRESSURE] = "contact_pressure_kpa",
                                                      [PL_FIELD_GAP] = "contact_gap_mm",
                                                      [PL_FIELD_STRESS] = "cauchy_stress_kpa"};
    return field < PL_FIELD_COUNT ? label[field] : "unknown";
}

double pl_field_scale(pl_field field)
{
    return field == PL_FIELD_VON_MISES || field == PL_FIELD_PRESSURE || field == PL_FIELD_STRESS ? 1e3 : 1;
}

int pl_field_components(pl_field field)
{
    return field == PL_FIELD_DISPLACEMENT ? 3 : field == PL_FIELD_STRAIN || field == PL_FIELD_STRESS ? 6 : 1;
}

bool pl_field_on_elements(pl_field field)
{
    return field == PL_FIELD_J || field == PL_FIELD_J_BOUND;
}

// Logarithmic strain, ln of the left stretch: 1/2 ln(F F^T), as xx yy zz xy yz zx.
static void field_strain(const double F[9], double out[6])
{
    double B[9], value[3], V[9], E[9] = {0};
    for (int i = 0; i < 9; ++i) {
        B[i] = pl_dot3(F + 3 * (i / 3), F + 3 * (i % 3));
    }
    pl_eigen3(B, value, V);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 9; ++i) {
            E[i] += 0.5 * log(value[k]) * V[3 * (i / 3) + k] * V[3 * (i % 3) + k];
        }
    }

    const double strain[6] = {E[0], E[4], E[8], E[1], E[5], E[6]};
    memcpy(out, strain, sizeof strain);
}

// Cauchy stress P F^T / J, as xx yy zz xy yz zx: the order of symmetric tensors in VTK.
static void field_stress(const double F[9], const double P[9], double T[6])
{
    static const int8_t row[6] = {0, 1, 2, 0, 1, 2}, column[6] = {0, 1, 2, 1, 2, 0};
    const double J = pl_det3(F);
    for (int k = 0; k < 6; ++k) {
        T[k] = pl_dot3(P + 3 * row[k], F + 3 * column[k]) / J;
    }
}

static double field_von_mises(const double T[6])
{
    const double a = T[0] - T[1], b = T[1] - T[2], c = T[2] - T[0];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3 * (T[3] * T[3] + T[4] * T[4] + T[5] * T[5]));
}

static void field_point(const pl_statics *s, const pl_block *block, int lane, int q, const double *x,
                        pl_field field, double out[6])
{
    double F[9], P[9], C[9], T[6], value[3];
    pl_elements_stress(s->problem->elements, block, lane, q, x, F, P);
    switch (field) {
    case PL_FIELD_STRAIN:
        field_strain(F, out);
        break;
    case PL_FIELD_VON_MISES:
        field_stress(F, P, T);
        out[0] = field_von_mises(T);
        break;
    case PL_FIELD_STRESS:
        field_stress(F, P, out);
        break;
    case PL_FIELD_STRETCH:
        for (int i = 0; i < 9; ++i) {
            C[i] = F[i / 3] * F[i % 3] + F[3 + i / 3] * F[3 + i % 3] + F[6 + i / 3] * F[6 + i % 3];
        }
        pl_eigen3(C, value, NULL);
        out[0] = sqrt(value[2]);
        break;
    default:
        out[0] = pl_det3(F);
        break;
    }
}

// Values averaged over each element, or over the elements around each vertex, at the stress-free shapes set.
static void field_average(const pl_statics *s, const pl_state *state, pl_field field, double *total,
                          double *out)
{
    const pl_elements *E = s->problem->elements;
    const int parts = pl_field_components(field);
    const bool on_elements = pl_field_on_elements(field);

    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            double mean = 0, volume = 0;
            for (int q = 0; q < block->point_count; ++q) {
                double value[6];
                const double w = block->weight[q * PL_LANES + l];
                field_point(s, block, l, q, state->x, field, value);
                mean += w * value[0];
                volume += w;
                for (int a = 0; !on_elements && a < block->node_count; ++a) {
                    const int32_t v = block->node[a][l];
                    total[v] += w;
                    for (int k = 0; k < parts; ++k) {
                        out[(int64_t)v * parts + k] += w * value[k];
                    }
                }
            }
            if (on_elements) {
                out[block->element[l]] = mean / volume;
            }
        }
    }

    for (int32_t v = 0; !on_elements && v < s->problem->mesh.vertex_count; ++v) {
        for (int k = 0; k < parts; ++k) {
            out[(int64_t)v * parts + k] = total[v] > 0                ? out[(int64_t)v * parts + k] / total[v]
                                          : field == PL_FIELD_STRETCH ? 1
                                                                      : 0; // inside rigid bodies
        }
    }
}

pl_status pl_statics_field(pl_statics *s, const pl_state *state, pl_field field, double *out, pl_error *err)
{
    pl_problem *p = s->problem;
    const int32_t vertices = p->mesh.vertex_count;
    const int parts = pl_field_components(field);

    if (field == PL_FIELD_DISPLACEMENT) {
        for (int64_t i = 0; i < 3 * (int64_t)vertices; ++i) {
            out[i] = state->x[i] - p->mesh.position[i];
        }
        return PL_OK;
    }

    if (field == PL_FIELD_PRESSURE || field == PL_FIELD_GAP) {
        memset(out, 0, (size_t)vertices * sizeof *out);
        pl_problem_contact_field(p, state, field == PL_FIELD_GAP, out);
        return PL_OK;
    }

    const bool on_elements = pl_field_on_elements(field);
    const int64_t count = on_elements ? p->mesh.element_count : vertices;
    for (int64_t i = 0; i < count * parts; ++i) {
        out[i] = on_elements ? 1 : 0; // rigid elements keep J = 1
    }

    double *total = PL_NEW_ARRAY(double, vertices);
    if (!total) {
        return pl_fail_memory(err, "statics: field");
    }
    pl_problem_recall(p, state);
    if (field == PL_FIELD_J_BOUND) {
        pl_elements_bound(p->elements, state->x, out, NULL);
    } else {
        pl_elements_energy(p->elements, state->x, NULL, NULL); // pressures
        field_average(s, state, field, total, out);
    }

    pl_problem_resume(p);
    pl_free(total);

    return PL_OK;
}
