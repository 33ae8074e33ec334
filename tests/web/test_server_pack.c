// The messages of the view: what is packed can be read back byte by byte, as docs/reference/protocol.md says.
#include "check.h"
#include <string.h>
#include "server_pack.h"

static uint32_t word(const server_message *m, size_t at)
{
    uint32_t value;
    memcpy(&value, m->payload + at, sizeof value);
    return value;
}

// Header, table, JSON and arrays lie where the layout says, each array at a multiple of 4.
static void test_layout(void **state)
{
    (void)state;
    const float x[3] = {1, -2, 3.5f};
    const uint8_t region[5] = {1, 2, 3, 4, 5};
    const uint16_t value[3] = {7, 8, 65535};
    const server_array array[] = {
        {"x", SERVER_F32, x, 3}, {"region", SERVER_U8, region, 5}, {"value", SERVER_U16, value, 3}};
    server_message *m = server_pack(SERVER_KIND_SHAPE, "{\"a\":1}", array, 3);
    assert_non_null(m);
    assert_false(m->text);
    assert_memory_equal(m->payload, "PLV1", 4);
    assert_int_equal(word(m, 4), SERVER_KIND_SHAPE);
    assert_int_equal(word(m, 8), 8); // seven characters and a space
    assert_int_equal(word(m, 12), 3);
    assert_memory_equal(m->payload + 16, "x\0\0\0\0\0\0\0", 8);
    assert_int_equal(word(m, 24), SERVER_F32);
    assert_int_equal(word(m, 28), 3);
    assert_memory_equal(m->payload + 32, "region\0\0", 8);
    const size_t json = 16 + 3 * 16, first = json + 8, second = first + 12, third = second + 8;
    assert_memory_equal(m->payload + json, "{\"a\":1} ", 8);
    assert_memory_equal(m->payload + first, x, sizeof x);
    assert_memory_equal(m->payload + second, region, sizeof region);
    assert_memory_equal(m->payload + second + 5, "\0\0\0", 3);
    assert_memory_equal(m->payload + third, value, sizeof value);
    assert_int_equal(m->bytes, third + 8);
    server_message_free(m);
}

static void test_empty_and_wrong(void **state)
{
    (void)state;
    const server_array none = {"cable", SERVER_F32, NULL, 0};
    server_message *m = server_pack(SERVER_KIND_MESH, "{}", &none, 1);
    assert_non_null(m);
    assert_int_equal(m->bytes, 16 + 16 + 4);
    server_message_free(m);
    const server_array longer = {"ninechars", SERVER_F32, NULL, 0};
    assert_null(server_pack(SERVER_KIND_MESH, "{}", &longer, 1));
    server_message *text = server_pack_text("{\"type\":\"hello\"}");
    assert_true(text->text);
    assert_int_equal(text->bytes, 16);
    server_message_free(text);
}

// Sixteen bits cost at most half a step of 1/65535 of the range; what is not finite becomes the lowest value.
static void test_quantize(void **state)
{
    (void)state;
    double value[1000], low, high, worst = 0;
    uint16_t q[1000];
    for (int i = 0; i < 1000; ++i) {
        value[i] = sin(0.1 * i) * 37 - 5;
    }
    value[3] = NAN;
    value[4] = INFINITY;
    server_quantize(value, 1000, &low, &high, q);
    for (int i = 0; i < 1000; ++i) {
        if (isfinite(value[i])) {
            worst = fmax(worst, fabs(low + q[i] * (high - low) / 65535 - value[i]));
        }
    }

    PL_CHECK_BELOW(worst, 0.5001 * (high - low) / 65535);
    assert_int_equal(q[3], 0);
    assert_int_equal(q[4], 0);
    const double same[2] = {4, 4};
    server_quantize(same, 2, &low, &high, q);
    PL_CHECK_NEAR(low, 4, 0);
    assert_int_equal(q[1], 0);
    const double none[2] = {NAN, NAN};
    server_quantize(none, 2, &low, &high, q);
    PL_CHECK_NEAR(low, 0, 0);
    PL_CHECK_NEAR(high, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_empty_and_wrong),
        cmocka_unit_test(test_quantize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
