// What a mesh is examined for: every kind of defect is found where it was put, and a good mesh has none.
#include <string.h>
#include "box_mesh.h"
#include "check.h"

static pl_error err;

// The finding that says `words`; fails when there is none.
static const pl_finding *find(const pl_findings *findings, const char *words)
{
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        if (strstr(pl_findings_at(findings, i)->text, words)) {
            return pl_findings_at(findings, i);
        }
    }

    print_error("no finding says \"%s\"\n", words);
    fail();
    return NULL;
}

static pl_findings *examine(const pl_mesh *mesh)
{
    pl_findings *findings = pl_findings_create();
    PL_CHECK_OK(pl_mesh_examine(mesh, findings, &err));
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        print_message("%s\n", pl_findings_at(findings, i)->text);
    }
    return findings;
}

// The box's mesh with its vertices moved: those with x above `from` by `shift`.
static pl_mesh *moved(const pl_mesh *mesh, double from, const double shift[3])
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);

    memcpy(x, v.position, 3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        for (int k = 2; k >= 0; --k) {
            x[3 * i + k] += x[3 * i] > from ? shift[k] : 0;
        }
    }

    const pl_mesh_def def = {.vertex_count = v.vertex_count,
                             .position = x,
                             .element_count = v.element_count,
                             .kind = v.kind,
                             .node_start = v.node_start,
                             .node = v.node,
                             .region = v.region,
                             .region_count = v.region_count,
                             .region_name = v.region_name};
    pl_mesh *out = NULL;
    PL_CHECK_OK(pl_mesh_create(&def, &out, NULL, &err));
    free(x);

    return out;
}

static void test_good_mesh(void **state)
{
    (void)state;
    pl_mesh *mesh = NULL;
    PL_CHECK_OK(box_mesh(4, 3, 3, (double[]){4, 3, 3}, NULL, NULL, &mesh, &err));
    pl_findings *findings = examine(mesh);
    assert_int_equal(pl_findings_count(findings), 0);
    pl_findings_destroy(findings);
    pl_mesh_destroy(mesh);
}

// One layer of linear elements is a warning, of quadratic ones a note; all of its elements are named.
static void test_walls(void **state)
{
    (void)state;
    pl_mesh *mesh = NULL, *raised = NULL;
    PL_CHECK_OK(box_mesh(4, 4, 1, (double[]){8, 8, 1.5}, NULL, NULL, &mesh, &err));
    PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
    for (int i = 0; i < 2; ++i) {
        pl_findings *findings = examine(i ? raised : mesh);
        const pl_finding *f = find(findings, "the thinnest of these walls is 1.5 mm");
        assert_int_equal(f->severity, i ? PL_NOTE : PL_WARNING);
        assert_true(f->has_place && f->element_count > 60);
        pl_findings_destroy(findings);
    }

    pl_mesh_destroy(mesh);
    pl_mesh_destroy(raised);
}

// Two halves with a gap are distinguished; pushed into each other, the overlap is found between them.
static void test_parts_and_overlaps(void **state)
{
    (void)state;
    bool hole[5 * 2 * 2] = {0};
    int32_t region[5 * 2 * 2] = {0};
    for (int c = 0; c < 20; ++c) {
        hole[c] = c % 5 == 2;
        region[c] = c % 5 > 2;
    }

    pl_mesh *mesh = NULL;
    PL_CHECK_OK(box_mesh(5, 2, 2, (double[]){5, 2, 2}, hole, region, &mesh, &err));
    pl_findings *findings = examine(mesh);
    const pl_finding *f = find(findings, "part 2 of 2 (48 elements)");
    assert_int_equal(f->severity, PL_WARNING);
    assert_int_equal(f->element_count, 48);
    assert_int_equal(pl_findings_count(findings), 1);
    pl_findings_destroy(findings);

    // the halves end at x = 2 and begin at x = 3 - 1.3: 0.3 mm of each lie in the other
    pl_mesh *pushed = moved(mesh, 2.5, (double[]){-1.3, 0.2, 0.35});
    findings = examine(pushed);
    f = find(findings, "regions 'body' and 'second'");
    assert_int_equal(f->severity, PL_WARNING);
    assert_true(f->has_place && f->place[0] > 1.69 && f->place[0] < 2.01);
    pl_findings_destroy(findings);
    pl_mesh_destroy(pushed);
    pl_mesh_destroy(mesh);
}

// A layer squeezed flat: counted, with its elements.
static void test_flat(void **state)
{
    (void)state;
    pl_mesh *mesh = NULL;
    PL_CHECK_OK(box_mesh(3, 3, 3, (double[]){3, 3, 3}, NULL, NULL, &mesh, &err));
    pl_mesh *flat = moved(mesh, 1.5, (double[]){-0.99, 0, 0});
    pl_findings *findings = examine(flat);
    const pl_finding *f = find(findings, "elements are flat");
    assert_int_equal(f->severity, PL_WARNING);
    assert_int_equal(f->element_count, 6 * 9);
    pl_findings_destroy(findings);
    pl_mesh_destroy(flat);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good_mesh), cmocka_unit_test(test_walls),
                                       cmocka_unit_test(test_parts_and_overlaps),
                                       cmocka_unit_test(test_flat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
