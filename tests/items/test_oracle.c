// test_oracle.c - items beside LangGraph's BaseStore: seeded stories told to its InMemoryStore (PyPI)
// and to each store here, and every answer compared. Python with langgraph is $PONS_LANGGRAPH_PYTHON,
// or that of `./dev bench` (build/peers/langgraph-python); without it the test says so and is skipped.
//
// Left out of the comparison, because it differs by intent:
//   the order of a search without a query: newest put first here; there, the order of first insertion
//   a filter that compares what can't be compared: fits nothing here; there, the call fails
//   true and 1, "3" and 3: different here; there, Python's == and float()
//   created_at: kept over a second put here (as by its PostgreSQL store); InMemoryStore renews it
#include "pons/items.h"
#include "pons/random.h"
#include "unit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORIES = 20, OPS = 400, ALL = 100000 };

static char python[PATH_MAX];

static bool find_python(void)
{
    const char *given = getenv("PONS_LANGGRAPH_PYTHON");
    char command[PATH_MAX + 64];
    snprintf(python, sizeof python, "%s",
             given ? given : PONS_SOURCE_DIR "/build/peers/langgraph-python/venv/bin/python");
    snprintf(command, sizeof command, "'%s' -c 'import langgraph.store.memory' 2>/dev/null",
             python);
    return access(python, X_OK) == 0 && system(command) == 0;
}

// ---- stories ------------------------------------------------------------------------------------

static const char *const labels[] = {"users", "mara", "ben", "notes", "a-b", "a"};

static void random_ns(pons_rand *r, int most, char ret[128])
{
    const int n = 1 + (int)pons_rand_below(r, (uint64_t)most);
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        at += (size_t)snprintf(ret + at, 128 - at, "%s%s", i ? "." : "",
                               labels[pons_rand_below(r, 6)]);
    }
}

static pons_value *random_value(pons_rand *r)
{
    static const char *const colours[] = {"red", "green", "blue"};
    pons_value *v = json_object();
    json_object_set_new(v, "n", json_integer(2 + (json_int_t)pons_rand_below(r, 6)));
    if (pons_rand_below(r, 2)) {
        json_object_set_new(v, "colour", json_string(colours[pons_rand_below(r, 3)]));
    }
    if (pons_rand_below(r, 3) == 0) {
        json_object_set_new(v, "deep",
                            json_pack("{s[ii]so}", "list", 4, 5, "x",
                                      pons_rand_below(r, 2) ? json_null() : json_string("y")));
    }
    return v;
}

static pons_value *random_filter(pons_rand *r)
{
    static const char *const compares[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"};
    switch (pons_rand_below(r, 7)) {
    case 0:
        return json_pack("{ss}", "colour", "red");
    case 1:
        return json_pack("{sn}", "colour");
    case 2:
        return json_pack("{s{ss}}", "colour", "$ne", "blue");
    case 3:
        return json_pack("{s{s[ii]}}", "deep", "list", 4, 5);
    case 4:
        return json_pack("{s{si}ss}", "n", "$gt", 3, "colour", "green");
    default:
        return json_pack("{s{siss}}", "n", compares[pons_rand_below(r, 6)],
                         2 + (int)pons_rand_below(r, 6), "$ne", "no number");
    }
}

static pons_value *random_op(pons_rand *r)
{
    static const char *const suffixes[] = {"", "", "mara", "*.notes", "ben.*"};
    static const char *const prefixes[] = {"", "", "users", "users.*", "*.mara"};
    char ns[128], key[8];
    random_ns(r, 3, ns);
    snprintf(key, sizeof key, "k%d", (int)pons_rand_below(r, 4));
    const uint64_t what = pons_rand_below(r, 20);
    if (what < 9) {
        return json_pack("{ssssssso}", "op", "put", "ns", ns, "key", key, "value", random_value(r));
    }
    if (what < 12) {
        return json_pack("{ssssss}", "op", "delete", "ns", ns, "key", key);
    }
    if (what < 14) {
        return json_pack("{ssssss}", "op", "get", "ns", ns, "key", key);
    }
    if (what < 18) {
        const bool page = pons_rand_below(r, 3) == 0;
        pons_value *op =
            json_pack("{sssssisi}", "op", "search", "ns",
                      pons_rand_below(r, 4) ? labels[pons_rand_below(r, 6)] : "", "limit",
                      page ? 3 : ALL, "offset", page ? (int)pons_rand_below(r, 6) : 0);
        if (pons_rand_below(r, 3)) {
            json_object_set_new(op, "filter", random_filter(r));
        }
        return op;
    }
    pons_value *op =
        json_pack("{sssssssisi}", "op", "spaces", "prefix", prefixes[pons_rand_below(r, 5)],
                  "suffix", suffixes[pons_rand_below(r, 5)], "limit",
                  pons_rand_below(r, 2) ? 4 : ALL, "offset", (int)pons_rand_below(r, 3));
    if (pons_rand_below(r, 2)) {
        json_object_set_new(op, "depth", json_integer(1 + (json_int_t)pons_rand_below(r, 3)));
    }
    return op;
}

// ---- our answers --------------------------------------------------------------------------------

static pons_value *found_of(const pons_value *list, int64_t limit)
{
    if (limit < 1000) {
        return json_integer((json_int_t)json_array_size(list));
    }
    pons_value *found = json_object(), *item;
    size_t i;
    json_array_foreach(list, i, item) {
        char ns[PONS_ITEM_MAX], name[2 * PONS_ITEM_MAX];
        assert_int_equal(pons_items_ns(pons_get(item, "namespace"), ns, sizeof ns, NULL), PONS_OK);
        snprintf(name, sizeof name, "%s|%s", ns, pons_get_str(item, "key", ""));
        json_object_set(found, name, (pons_value *)(uintptr_t)pons_get(item, "value"));
    }
    return found;
}

static pons_value *answer(const pons_items *it, const pons_value *op)
{
    const char *what = pons_get_str(op, "op", ""), *ns = pons_get_str(op, "ns", ""),
               *key = pons_get_str(op, "key", "");
    const int64_t limit = pons_get_int(op, "limit", 0), offset = pons_get_int(op, "offset", 0);
    pons_autovalue got = NULL;
    pons_error err = PONS_ERROR_INIT;
    int st = PONS_OK;
    if (strcmp(what, "put") == 0) {
        st = pons_items_put(it, ns, key, pons_get(op, "value"), NULL, &err);
    } else if (strcmp(what, "delete") == 0) {
        st = pons_items_delete(it, ns, key, &err);
    } else if (strcmp(what, "get") == 0) {
        st = pons_items_get(it, ns, key, &got, &err);
        return st == PONS_OK ? pons_value_ref(pons_get(got, "value")) : json_null();
    } else if (strcmp(what, "search") == 0) {
        const pons_items_query q = {
            .prefix = ns, .filter = pons_get(op, "filter"), .limit = limit, .offset = offset};
        st = pons_items_search(it, &q, &got, &err);
        return st == PONS_OK ? found_of(got, limit) : json_string(err.message);
    } else {
        const pons_items_spaces q = {.prefix = pons_get_str(op, "prefix", ""),
                                     .suffix = pons_get_str(op, "suffix", ""),
                                     .max_depth = pons_get_int(op, "depth", 0),
                                     .limit = limit,
                                     .offset = offset};
        st = pons_items_namespaces(it, &q, &got, &err);
        return st == PONS_OK ? pons_value_ref(got) : json_string(err.message);
    }
    return st == PONS_OK ? json_null() : json_string(err.message);
}

// ---- both ---------------------------------------------------------------------------------------

static struct {
    int compared, unanswered;
} tally;

static void told_to(pons_store s, FILE *said, const pons_value *ops, uint64_t seed,
                    const char *name)
{
    const pons_items it = {.store = s, .clock = pons_clock_real()};
    char *line = NULL;
    size_t cap = 0, i;
    pons_value *op;
    rewind(said);
    json_array_foreach(ops, i, op) {
        pons_autovalue theirs = NULL;
        const ssize_t n = getline(&line, &cap, said);
        if (n <= 0) {
            fail_msg("seed %" PRIu64 ": the oracle ended at %zu", seed, i);
        }
        assert_int_equal(pons_value_parse(line, (size_t)n, &theirs, NULL), PONS_OK);
        pons_autovalue ours = answer(&it, op);
        if (json_is_object(theirs) && json_object_get(theirs, "error")) {
            tally.unanswered++;
            continue;
        }
        tally.compared++;
        if (!json_equal(ours, theirs)) {
            char *what = NULL, *have = NULL;
            pons_value_dump(op, &what);
            pons_value_dump(ours, &have);
            fail_msg("%s, seed %" PRIu64 ", op %zu: %s\nours   %s\ntheirs %s", name, seed, i, what,
                     have, line);
        }
    }
    free(line);
}

static void story(uint64_t seed, const char *dir)
{
    char script[128], said[128], command[PATH_MAX + 512], db[128];
    pons_rand r;
    pons_autovalue ops = json_array();
    pons_value *op;
    size_t i;
    pons_rand_seed(&r, seed);
    snprintf(script, sizeof script, "%s/script", dir);
    snprintf(said, sizeof said, "%s/said", dir);
    FILE *out = fopen(script, "w");
    assert_non_null(out);
    for (int k = 0; k < OPS; k++) {
        json_array_append_new(ops, random_op(&r));
    }
    json_array_foreach(ops, i, op) {
        char *text = NULL;
        assert_true(pons_value_dump(op, &text) > 0);
        fprintf(out, "%s\n", text);
        free(text);
    }
    fclose(out);
    snprintf(command, sizeof command, "'%s' '%s/tests/items/oracle.py' '%s' >'%s'", python,
             PONS_SOURCE_DIR, script, said);
    assert_int_equal(system(command), 0);
    out = fopen(said, "r");
    assert_non_null(out);
    pons_store s = {0};
    assert_int_equal(pons_store_memory_open(&s, NULL), PONS_OK);
    told_to(s, out, ops, seed, "memory");
    pons_store_close(&s);
    snprintf(db, sizeof db, "%s/%" PRIu64 ".db", dir, seed);
    assert_int_equal(pons_store_sqlite_open(db, &s, NULL), PONS_OK);
    told_to(s, out, ops, seed, "sqlite");
    pons_store_close(&s);
    fclose(out);
}

static void test_beside_langgraph(void **state)
{
    (void)state;
    if (!find_python()) {
        print_message("skipped: no Python with langgraph; ./dev bench graph installs one\n");
        skip();
    }
    char dir[] = "/tmp/pons-oracle-XXXXXX", command[96];
    const uint64_t first = 20261122;
    assert_non_null(mkdtemp(dir));
    for (uint64_t k = 0; k < STORIES; k++) {
        story(first + k, dir);
    }
    print_message("seeds from %" PRIu64 ": %d answers are the same, %d it did not give\n", first,
                  tally.compared, tally.unanswered);
    assert_true(tally.compared > STORIES * OPS);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_beside_langgraph)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
