// test_map.c - maps: what is wrong with one is said with its place, and what is written is read again.
#include "pons/fleet.h"
#include "unit.h"

#include <string.h>

static const char ring[] = "name: ring\n"
                           "zones:\n"
                           "  - {id: a, x: 0, y: 0, to: [b]}\n"
                           "  - {id: b, x: 3, y: 0, to: [c]}\n"
                           "  - {id: c, x: 3, y: 4, to: [a]}\n"
                           "  - {id: p, kind: park, x: 0, y: -2, at: a}\n"
                           "  - {id: s, kind: station, x: 5, y: 0, at: b, to: [c]}\n";

static void ways_go_one_way(void **state)
{
    (void)state;
    pons_fleet_map *map = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_fleet_map_read(ring, strlen(ring), "ring.yaml", &map, &err), 0);
    const size_t a = (size_t)pons_fleet_map_find(map, "a"),
                 p = (size_t)pons_fleet_map_find(map, "p");
    const size_t b = (size_t)pons_fleet_map_find(map, "b"),
                 s = (size_t)pons_fleet_map_find(map, "s");
    assert_true(pons_fleet_map_way(map, a, b) == 3.0);
    assert_true(pons_fleet_map_way(map, b, a) == 9.0);
    assert_true(pons_fleet_map_way(map, p, s) == 7.0);
    assert_int_equal(pons_fleet_map_count(map, PONS_FLEET_STATION), 1);
    double far = 0.0;
    assert_int_equal(pons_fleet_map_near(map, 4.6, 0.1, &far), s);
    pons_fleet_map_destroy(map);
}

static void comes_back_from_its_text(void **state)
{
    (void)state;
    pons_fleet_map *hall = NULL, *again = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_autobuf one = PONS_BUF_INIT, two = PONS_BUF_INIT;
    assert_int_equal(pons_fleet_map_hall(30, &hall, &err), 0);
    assert_true(pons_fleet_map_count(hall, PONS_FLEET_PARK) >= 30);
    assert_int_equal(pons_fleet_map_write(hall, &one), 0);
    assert_int_equal(pons_fleet_map_read(one.data, one.len, "hall.yaml", &again, &err), 0);
    assert_int_equal(pons_fleet_map_write(again, &two), 0);
    assert_string_equal(one.data, two.data);
    pons_fleet_map_destroy(hall);
    pons_fleet_map_destroy(again);
}

// An exit is kept as a byte: who has more is refused, and not looked for for ever.
static void too_many_exits(void **state)
{
    (void)state;
    for (int n = 254; n <= 300; n += 46) {
        pons_autobuf text = PONS_BUF_INIT;
        pons_fleet_map *map = NULL;
        pons_error err = PONS_ERROR_INIT;
        pons_buf_str(&text, "zones:\n  - {id: hub, x: 0, y: 0, to: [a0");
        for (int i = 1; i < n; i++) {
            pons_buf_printf(&text, ", a%d", i);
        }
        pons_buf_str(&text, "]}\n");
        for (int i = 0; i < n; i++) {
            pons_buf_printf(&text, "  - {id: a%d, x: %d, y: 1, to: [hub]}\n", i, i);
        }
        const int rc = pons_fleet_map_read(text.data, text.len, "m.yaml", &map, &err);
        assert_int_equal(rc, n < 256 ? PONS_OK : PONS_EINVAL);
        assert_true(n < 256 || strstr(err.message, "255") != NULL);
        pons_fleet_map_destroy(map);
    }
}

// What YAML would not take for text is written in quotes.
static void ids_of_any_kind(void **state)
{
    (void)state;
    static const char odd[] = "name: 'no'\nzones:\n  - {id: '7', x: 0, y: 0, to: [\"a, b\"]}\n"
                              "  - {id: \"a, b\", x: 1, y: 0, to: ['7']}\n"
                              "  - {id: 'yes', kind: park, x: 1, y: 1, at: \"a, b\"}\n";
    pons_fleet_map *map = NULL, *again = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_autobuf text = PONS_BUF_INIT;
    assert_int_equal(pons_fleet_map_read(odd, strlen(odd), "odd.yaml", &map, &err), 0);
    assert_int_equal(pons_fleet_map_write(map, &text), 0);
    assert_int_equal(pons_fleet_map_read(text.data, text.len, "odd.yaml", &again, &err), 0);
    assert_string_equal(pons_fleet_map_name(again), "no");
    assert_true(pons_fleet_map_find(again, "7") >= 0 && pons_fleet_map_find(again, "a, b") >= 0);
    assert_true(pons_fleet_map_find(again, "yes") >= 0);
    pons_fleet_map_destroy(map);
    pons_fleet_map_destroy(again);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what, *where;
    } bad[] = {
        {"zones: []\n", "`zones`", "m.yaml:1:"},
        {"zones:\n  - {x: 0, y: 0}\n", "`id`", "m.yaml:2:"},
        {"zones:\n  - {id: a, x: 0, y: 0, to: [a]}\n", "no other zone", "m.yaml:2:"},
        {"zones:\n  - {id: a, x: 0, y: 0}\n  - {id: a, x: 1, y: 0}\n", "twice", "m.yaml:3:"},
        {"zones:\n  - {id: a, x: zero, y: 0}\n", "metres", "m.yaml:2:"},
        {"zones:\n  - {id: a, kind: hole, x: 0, y: 0}\n", "'hole'", "m.yaml:2:"},
        {"zones:\n  - {id: a, x: 0, y: 0, to: [b]}\n  - {id: b, x: 1, y: 0}\n", "leads no way to a",
         "m.yaml:3:"},
        {"zones:\n  - {id: a, x: 0, y: 0}\n  - {id: b, x: 1, y: 0, to: [a]}\n",
         "cannot be reached from a", "m.yaml:3:"},
        {"zones:\n  - {id: a, x: 0, y: 0, two_ways: true}\n", "no `two_ways`", "m.yaml:2:"},
        {"zones:\n  - {id: a, x: 0, y: 0, two_way: maybe}\n", "true or false", "m.yaml:2:"},
        {"zones:\n  - {id: a, x: 0, y: 0}\n  - {id: p, kind: park, x: 1, y: 0}\n", "`at`",
         "m.yaml:3:"},
        {"zones:\n  - {id: p, kind: park, x: 1, y: 0, at: q}\n"
         "  - {id: q, kind: park, x: 1, y: 0, at: p}\n",
         "bays are at lanes", "m.yaml:2:"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pons_fleet_map *map = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_fleet_map_read(bad[i].text, strlen(bad[i].text), "m.yaml", &map, &err);
        assert_int_equal(rc, PONS_EINVAL);
        assert_null(map);
        if (!strstr(err.message, bad[i].what) || strncmp(err.source, bad[i].where, 9) != 0) {
            fail_msg("%zu: %s [%s]", i, err.message, err.source);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_go_one_way),    cmocka_unit_test(comes_back_from_its_text),
        cmocka_unit_test(too_many_exits),     cmocka_unit_test(ids_of_any_kind),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
