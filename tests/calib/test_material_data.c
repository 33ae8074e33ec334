// The library against its measurements: every fitted entry is repeated from its file in PLIANT_DATA/tensile
// (default:
// ../shared/data beside the sources) and must give the constants and the error the library states. Skipped,
// with a message, where the data are absent.
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "base/base.h"
#include "pliant/calib.h"

static char folder[600];

static bool data_present(void)
{
    const char *data = getenv("PLIANT_DATA");
    snprintf(folder, sizeof folder, "%s/tensile", data && *data ? data : PL_SOURCE_DIR "/../shared/data");
    char path[700];
    snprintf(path, sizeof path, "%s/Dragon_Skin_20.csv", folder);
    FILE *file = fopen(path, "rb");
    if (file) {
        fclose(file);
    }

    return file != NULL;
}

// Reads the test an entry names: the word before ".csv" in its source.
static void load(const pl_material_entry *entry, pl_tensile *test)
{
    const char *end = strstr(entry->source, ".csv");
    assert_non_null(end);
    const char *start = end;
    while (start > entry->source && start[-1] != ' ') {
        --start;
    }

    char path[800], text[1 << 17];
    snprintf(path, sizeof path, "%s/%.*s.csv", folder, (int)(end - start), start);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail_msg("%s: %s is missing", entry->name, path);
        return;
    }

    const size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(length < sizeof text);
    pl_error err = {0};
    PL_CHECK_OK(pl_tensile_parse(text, length, path, test, &err));
}

static void test_library_repeats_from_data(void **state)
{
    (void)state;
    if (!data_present()) {
        print_message("no tensile tests in %s (set PLIANT_DATA): skipped\n", folder);
        skip();
    }

    int repeated = 0;
    for (int i = 0; i < pl_material_library_count(); ++i) {
        const pl_material_entry *entry = pl_material_library_at(i);
        if (entry->fit_error < 0) {
            continue;
        }
        pl_tensile test = {0};
        pl_tensile_fit fit;
        pl_error err = {0};
        load(entry, &test);
        PL_CHECK_OK(pl_tensile_fit_model(&test, entry->material.model, entry->strain_high, &fit, &err));
        print_message("%-28s error %.4f, stated %.4f\n", entry->name, fit.error, entry->fit_error);
        assert_true(fit.stable);
        PL_CHECK_NEAR(fit.error, entry->fit_error, 6e-5);
        PL_CHECK_NEAR(fit.strain_high, entry->strain_high, 0.03);
        pl_material want = entry->material;
        for (int c = PL_C10; c <= PL_C30; ++c) {
            const double value = *pl_material_at(&want, (pl_material_constant)c);
            PL_CHECK_NEAR(*pl_material_at(&fit.material, (pl_material_constant)c), value, 1e-5 * fabs(value));
        }

        // the entry's own error, without the fit: the constants as printed are as good as they say
        double sum = 0, largest = 0;
        int count = 0;
        for (; count < test.count && test.strain[count] <= entry->strain_high; ++count) {
            const double e =
                pl_material_tensile(&entry->material, 1 + test.strain[count]) - test.stress[count];
            sum += e * e;
            largest = fmax(largest, fabs(test.stress[count]));
        }
        PL_CHECK_NEAR(sqrt(sum / count) / largest, entry->fit_error, 6e-5);
        pl_tensile_clear(&test);
        ++repeated;
    }

    assert_int_equal(repeated, 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_library_repeats_from_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
