// test_items.c - `pons items` as a person types it: what is put is found, in its order, and what can't
// be is one clear line.
#include "cli_bench.h"
#include "unit.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// What a command prints as JSON lines, one member of each, a space between two.
static void prints(bench *b, const char *words, const char *member, const char *want)
{
    proc p = {0};
    char have[512] = "";
    json_t *line;
    size_t i, n = 0;
    bench_start(b, &p, NULL, words);
    bench_must_exit(&p, 0);
    json_array_foreach(p.events, i, line) {
        n += (size_t)snprintf(have + n, sizeof have - n, "%s%s", i ? " " : "",
                              pons_get_str(line, member, "?"));
    }
    bench_free(&p);
    assert_string_equal(have, want);
}

static void put_and_found(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "items put users.mara food {\"likes\":\"ramen\",\"n\":9}"), 0);
    assert_int_equal(bench_run(&b, "items put users.ben food {\"likes\":\"soup\",\"n\":3}"), 0);
    assert_int_equal(bench_run(&b, "items put rooms dock {\"likes\":\"quiet\"} --ttl 86400"), 0);
    prints(&b, "items --json", "key", "dock food food");
    prints(&b, "items list users --json", "key", "food food");
    prints(&b, "items search soup --json", "key", "food");
    prints(&b, "items search quiet users --json", "key", "");
    prints(&b, "items list --filter {\"n\":{\"$gt\":5}} --json", "key", "food");
    prints(&b, "items get rooms dock --json", "key", "dock");
    assert_int_equal(bench_run(&b, "items namespaces --prefix users"), 0);
    assert_int_equal(bench_run(&b, "items delete rooms dock"), 0);
    assert_int_equal(bench_run(&b, "items get rooms dock"), 2);
    assert_int_equal(bench_run(&b, "items sweep"), 0);
    prints(&b, "items --json", "key", "food food");
    bench_close(&b);
}

static void refused(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "items put a..b k {}"), 2);
    assert_int_equal(bench_run(&b, "items put langgraph k {}"), 2);
    assert_int_equal(bench_run(&b, "items put a k [1]"), 2);
    assert_int_equal(bench_run(&b, "items put a k"), 2);
    assert_int_equal(bench_run(&b, "items list --filter {\"n\":{\"$near\":5}}"), 2);
    assert_int_equal(bench_run(&b, "items forget"), 2);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(put_and_found), cmocka_unit_test(refused)};
    return cmocka_run_group_tests_name("items", tests, NULL, NULL);
}
