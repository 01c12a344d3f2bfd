// test_random.c - clocks, random numbers, ids and SHA-256.
//
// Known answers from the publications (splitmix64-seeded xoshiro256**, FIPS 180-4's examples),
// and properties that hold for a fixed seed whatever the machine.
#include "pons/random.h"
#include "unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED UINT64_C(20260101)

static void test_real_clock(void **state)
{
    (void)state;
    const pons_clock c = pons_clock_real();
    const int64_t a = pons_now_ns(&c), boot_a = c.boot_ns(c.ctx);
    assert_true(a > 0 && boot_a > 0);
    assert_true(pons_now_ns(&c) >= a);
    assert_true(c.boot_ns(c.ctx) >= boot_a);
    assert_true(pons_wall_ms(&c) > INT64_C(1600000000000)); // after 2020
}

static void test_manual_clock(void **state)
{
    (void)state;
    pons_clock_manual m = {.now_ns = 0, .wall_epoch_ms = 1000};
    const pons_clock c = pons_clock_from_manual(&m);
    assert_int_equal(pons_now_ns(&c), 0);
    assert_int_equal(pons_wall_ms(&c), 1000);
    m.now_ns += 2500 * PONS_NS_PER_MS;
    assert_int_equal(pons_now_ms(&c), 2500);
    assert_int_equal(pons_wall_ms(&c), 3500);
    assert_int_equal(c.boot_ns(c.ctx), pons_now_ns(&c));
}

static void test_known_sequence(void **state)
{
    (void)state;
    // xoshiro256** from the state 1, 2, 3, 4, as its reference code gives it.
    static const uint64_t expected[] = {UINT64_C(11520), UINT64_C(0), UINT64_C(1509978240),
                                        UINT64_C(1215971899390074240)};
    pons_rand r = {.s = {1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(pons_rand_u64(&r) == expected[i]);
    }
    // The state comes from splitmix64, whose first output for seed 0 is well known.
    pons_rand_seed(&r, 0);
    assert_true(r.s[0] == UINT64_C(0xe220a8397b1dcdaf));
    pons_rand a, b;
    pons_rand_seed(&a, SEED);
    pons_rand_seed(&b, SEED);
    for (int i = 0; i < 100; i++) {
        assert_true(pons_rand_u64(&a) == pons_rand_u64(&b));
    }
    pons_rand_seed_os(&a);
    pons_rand_seed_os(&b);
    assert_true(pons_rand_u64(&a) != pons_rand_u64(&b)); // equal once in 2^64 runs
}

static void test_distributions(void **state)
{
    (void)state;
    enum { N = 200000 };
    pons_rand r;
    pons_rand_seed(&r, SEED);
    print_message("seed %" PRIu64 "\n", SEED);
    double sum = 0, normal = 0, normal2 = 0;
    for (int i = 0; i < N; i++) {
        const double u = pons_rand_unit(&r);
        assert_true(u >= 0 && u < 1);
        sum += u;
        const double x = pons_rand_normal(&r, 3, 2);
        assert_true(isfinite(x));
        normal += x;
        normal2 += (x - 3) * (x - 3);
    }
    // Bounds are some six standard errors wide; the seed is fixed, so they hold or they don't.
    assert_true(fabs(sum / N - 0.5) < 0.005);
    assert_true(fabs(normal / N - 3) < 0.03);
    assert_true(fabs(normal2 / N - 4) < 0.1);
    int counts[7] = {0};
    for (int i = 0; i < 70000; i++) {
        counts[pons_rand_below(&r, 7)]++;
    }
    for (int i = 0; i < 7; i++) {
        assert_true(abs(counts[i] - 10000) < 600);
    }
    for (int i = 0; i < 100; i++) {
        assert_true(pons_rand_below(&r, 1) == 0);
        assert_true(pons_rand_below(&r, UINT64_MAX) < UINT64_MAX);
        assert_true(pons_rand_below(&r, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63);
    }
}

static void test_ids(void **state)
{
    (void)state;
    pons_clock_manual m = {.wall_epoch_ms = INT64_C(1469918176385)};
    pons_rand r;
    pons_rand_seed(&r, SEED);
    pons_id_source s;
    pons_id_source_init(&s, pons_clock_from_manual(&m), &r);
    char last[PONS_ID_MAX], id[PONS_ID_MAX];
    pons_id_make(&s, last);
    assert_int_equal(strlen(last), 26);
    assert_memory_equal(last, "01ARYZ6S41", 10); // the time of the ULID specification's example
    assert_int_equal(strspn(last, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"), 26);
    for (int i = 0; i < 2000; i++) {
        // Mostly the same millisecond, sometimes a later one, sometimes one that was before.
        if (i % 100 == 50) {
            m.now_ns += 3 * PONS_NS_PER_MS;
        }
        if (i % 100 == 75) {
            m.now_ns -= 2 * PONS_NS_PER_MS;
        }
        pons_id_make(&s, id);
        assert_true(strcmp(last, id) < 0);
        memcpy(last, id, sizeof id);
    }
    // When a millisecond's random part is used up, the next one is borrowed.
    memset(s.last, 0xff, sizeof s.last);
    const int64_t ms = s.last_ms;
    memcpy(last, id, sizeof id);
    pons_id_make(&s, id);
    assert_true(strcmp(last, id) < 0);
    assert_int_equal(s.last_ms, ms + 1);
}

static void test_same_seed_same_ids(void **state)
{
    (void)state;
    char ids[2][PONS_ID_MAX];
    for (int i = 0; i < 2; i++) {
        pons_clock_manual m = {.wall_epoch_ms = 5};
        pons_rand r;
        pons_rand_seed(&r, SEED);
        pons_id_source s;
        pons_id_source_init(&s, pons_clock_from_manual(&m), &r);
        pons_id_make(&s, ids[i]);
    }
    assert_string_equal(ids[0], ids[1]);
}

static void assert_sha256(const void *data, size_t n, const char *expected)
{
    uint8_t digest[32];
    char hex[65];
    pons_sha256(data, n, digest);
    for (int i = 0; i < 32; i++) {
        snprintf(hex + (ptrdiff_t)2 * i, 3, "%02x", digest[i]);
    }
    assert_string_equal(hex, expected);
}

static void test_sha256(void **state)
{
    (void)state;
    assert_sha256("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_sha256("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    assert_sha256(two, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    assert_sha256(million, 1000000,
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_clock),
        cmocka_unit_test(test_manual_clock),
        cmocka_unit_test(test_known_sequence),
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_same_seed_same_ids),
        cmocka_unit_test(test_sha256),
    };
    return cmocka_run_group_tests_name("base/rand", tests, NULL, NULL);
}
