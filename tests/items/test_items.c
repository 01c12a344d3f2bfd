// test_items.c - items through their own interface, on each store that there is: what is found by
// members, words and meaning and in which order, what a time to live does, which namespaces are listed,
// what is refused.
#include "pons/items.h"
#include "store/cluster.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum { MEMORY, SQLITE, POSTGRES, STORES } which;
static char dir[64];
static bool have_server;

typedef struct bed {
    pons_items it;
    pons_clock_manual time;
    pons_error err;
} bed;

static int setup(void **state)
{
    bed *b = calloc(1, sizeof *b);
    char path[96];
    int rc = PONS_OK;
    b->time.wall_epoch_ms = 1000;
    b->it.clock = pons_clock_from_manual(&b->time);
    if (which == MEMORY) {
        rc = pons_store_memory_open(&b->it.store, &b->err);
    } else if (which == SQLITE) {
        snprintf(dir, sizeof dir, "/tmp/pons-items-XXXXXX");
        snprintf(path, sizeof path, "%s/t.db", mkdtemp(dir) ? dir : "");
        rc = pons_store_sqlite_open(path, &b->it.store, &b->err);
    } else {
        rc = cluster_open(cluster_empty(""), &b->it.store, &b->err);
    }
    *state = b;
    return rc;
}

static int teardown(void **state)
{
    bed *b = *state;
    char command[96];
    pons_store_close(&b->it.store);
    free(b);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return which == SQLITE ? system(command) : 0;
}

static pons_value *json(const char *text) // '…' may stand for "…"
{
    char buf[1024];
    pons_value *v = NULL;
    snprintf(buf, sizeof buf, "%s", text);
    for (char *c = buf; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    assert_int_equal(pons_value_parse(buf, strlen(buf), &v, NULL), PONS_OK);
    return v;
}

static void put(bed *b, const char *ns, const char *key, const char *value,
                const pons_item_put *opts)
{
    pons_autovalue v = json(value);
    b->time.now_ns += PONS_NS_PER_MS; // each later than the one before
    if (pons_items_put(&b->it, ns, key, v, opts, &b->err)) {
        fail_msg("%s", b->err.message);
    }
}

// Keys in the order found, with the score where there is one: "a b:0.50".
static void assert_found(bed *b, pons_items_query q, const char *want)
{
    pons_value *list = NULL, *item;
    char have[256] = "";
    size_t i, n = 0;
    if (pons_items_search(&b->it, &q, &list, &b->err)) {
        fail_msg("%s", b->err.message);
    }
    json_array_foreach(list, i, item) {
        const pons_value *score = pons_get(item, "score");
        n += (size_t)snprintf(have + n, sizeof have - n, "%s%s", i ? " " : "",
                              pons_get_str(item, "key", ""));
        if (json_is_real(score)) {
            n += (size_t)snprintf(have + n, sizeof have - n, ":%.2f", json_real_value(score));
        }
    }
    pons_value_unref(list);
    assert_string_equal(have, want);
}

static void assert_filtered(bed *b, const char *filter, const char *want)
{
    pons_autovalue f = json(filter);
    assert_found(b, (pons_items_query){.filter = f}, want);
}

// ---- searches -----------------------------------------------------------------------------------

static void test_members(void **state)
{
    bed *b = *state;
    put(b, "n", "a", "{'n':1,'s':'apple','deep':{'x':1,'y':2},'l':[1,2]}", NULL);
    put(b, "n", "b", "{'n':2.5,'s':'pear'}", NULL);
    put(b, "n", "c", "{'s':'plum','n':'2','none':null}", NULL);
    assert_filtered(b, "{}", "c b a");
    assert_filtered(b, "{'s':'pear'}", "b");
    assert_filtered(b, "{'n':{'$gt':1}}", "b");
    assert_filtered(b, "{'n':{'$gte':1,'$lt':2.5}}", "a");
    assert_filtered(b, "{'n':{'$ne':1}}", "c b");
    assert_filtered(b, "{'n':{'$eq':2.5}}", "b");
    assert_filtered(b, "{'n':{'$lte':'2'}}", "c"); // texts with texts
    assert_filtered(b, "{'s':{'$gt':'b'}}", "c b");
    assert_filtered(b, "{'deep':{'x':1}}", "a");
    assert_filtered(b, "{'deep':{'x':{'$gt':0},'y':2}}", "a");
    assert_filtered(b, "{'l':[1,2]}", "a");
    assert_filtered(b, "{'l':[1]}", "");
    assert_filtered(b, "{'none':null}", "c b a"); // what is not there is null
    assert_filtered(b, "{'gone':{'$ne':null}}", "");
    static const char *const wrong[] = {"{'n':{'$in':[1]}}", "{'$or':1}", "[1]",
                                        "{'n':{'$gt':1,'x':2}}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pons_autovalue f = json(wrong[i]);
        pons_value *list = NULL;
        assert_int_equal(
            pons_items_search(&b->it, &(pons_items_query){.filter = f}, &list, &b->err),
            PONS_EINVAL);
    }
}

static void test_words(void **state)
{
    bed *b = *state;
    put(b, "n", "a", "{'text':'The charger is in the KITCHEN.','n':42}", NULL);
    put(b, "n", "b",
        "{'text':'Mara likes the garden','more':['the Stra\xc3\x9f"
        "e',{'x':'garden'}]}",
        NULL);
    put(b, "n", "c",
        "{'text':'\xe5\x85\x85\xe7\x94\xb5\xe5\xba\xa7\xe5\x9c\xa8\xe5\x8e\xa8\xe6\x88\xbf'}",
        NULL);
    put(b, "n", "d", "{'text':'kitchen, kitchen, kitchen'}", &(pons_item_put){.unsearched = true});
    assert_found(b, (pons_items_query){.query = "kitchen"}, "a:1.00");
    assert_found(b, (pons_items_query){.query = "where is the charger?"}, "a:0.75 b:0.25");
    assert_found(b, (pons_items_query){.query = "42"}, "a:1.00");
    assert_found(b, (pons_items_query){.query = "text"}, ""); // names of members are no words
    assert_found(b, (pons_items_query){.query = "\xe5\x8e\xa8\xe6\x88\xbf"}, "c:1.00");
    assert_found(b,
                 (pons_items_query){.query = "STRA\xc3\x9f"
                                             "E"},
                 "b:1.00");
    assert_found(b, (pons_items_query){.query = "?! --"}, "");
    assert_found(b, (pons_items_query){.query = "garden", .prefix = "m"}, "");
    put(b, "n", "b", "{'text':'moved'}", NULL);
    assert_found(b, (pons_items_query){.query = "garden moved"}, "b:0.50");
    // Only some of it.
    static const char *const fields[] = {"title", "parts[*].name", NULL};
    put(b, "n", "e", "{'title':'boat','body':'water','parts':[{'name':'oar'},{'name':'keel'}]}",
        &(pons_item_put){.fields = fields});
    assert_found(b, (pons_items_query){.query = "boat keel"}, "e:1.00");
    assert_found(b, (pons_items_query){.query = "water"}, "");
}

static void test_pages(void **state)
{
    bed *b = *state;
    for (int i = 0; i < 13; i++) {
        char key[8];
        snprintf(key, sizeof key, "%02d", i);
        put(b, "n", key, i % 2 ? "{'odd':true}" : "{'odd':false}", NULL);
    }
    pons_autovalue odd = json("{'odd':true}");
    assert_found(b, (pons_items_query){.prefix = "n"}, "12 11 10 09 08 07 06 05 04 03");
    assert_found(b, (pons_items_query){.offset = 10}, "02 01 00");
    assert_found(b, (pons_items_query){.limit = 2, .offset = 3}, "09 08");
    assert_found(b, (pons_items_query){.limit = -1, .filter = odd}, "11 09 07 05 03 01");
    assert_found(b, (pons_items_query){.limit = 2, .offset = 1, .filter = odd}, "09 07");
    assert_found(b, (pons_items_query){.offset = 99}, "");
}

// How often a, b and c occur.
static int embed_letters(void *user, const char *const *texts, size_t n, float *ret,
                         pons_error *err)
{
    int *calls = user;
    ++*calls;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(texts[i], "broken") == 0) {
            return pons_error_set(err, PONS_EIO, "test", "no model");
        }
        for (const char *c = texts[i]; *c; c++) {
            if (*c >= 'a' && *c <= 'c') {
                ret[i * 3 + (size_t)(*c - 'a')] += 1.0F;
            }
        }
    }
    return PONS_OK;
}

static void test_meaning(void **state)
{
    bed *b = *state;
    static const char *const fields[] = {"t", "more[*]", NULL};
    int calls = 0;
    b->it.opts = (pons_items_options){
        .embed = embed_letters, .embed_user = &calls, .dims = 3, .fields = fields};
    put(b, "n", "x", "{'t':'aaa'}", NULL);
    put(b, "n", "y", "{'t':'ab'}", NULL);
    put(b, "n", "z", "{'t':'zzz','more':['c','bbb']}", NULL);
    put(b, "n", "none", "{'t':'a'}", &(pons_item_put){.unsearched = true});
    put(b, "n", "empty", "{}", NULL);
    assert_found(b, (pons_items_query){.query = "a"}, "x:1.00 y:0.71 z:0.00 empty none");
    assert_found(b, (pons_items_query){.query = "b"}, "z:1.00 y:0.71 x:0.00 empty none");
    assert_found(b, (pons_items_query){.query = "b", .limit = 1}, "z:1.00");
    assert_found(b, (pons_items_query){.query = "aaa", .by = PONS_ITEMS_BY_WORDS}, "x:1.00");
    pons_autovalue broken = json("{'t':'broken'}");
    assert_int_equal(pons_items_put(&b->it, "n", "x", broken, NULL, &b->err), PONS_EIO);
    assert_string_equal(b->err.message, "no model");
    assert_found(b, (pons_items_query){.query = "a", .limit = 1}, "x:1.00"); // as it was
    b->it.opts = (pons_items_options){0};
    pons_value *list = NULL;
    assert_int_equal(
        pons_items_search(&b->it, &(pons_items_query){.query = "a", .by = PONS_ITEMS_BY_MEANING},
                          &list, &b->err),
        PONS_EUNSUPPORTED);
    // Vectors of another length are none.
    b->it.opts = (pons_items_options){.embed = embed_letters, .embed_user = &calls, .dims = 5};
    assert_found(b, (pons_items_query){.query = "a", .limit = 1}, "empty");
}

// ---- times and names ----------------------------------------------------------------------------

static int64_t member(bed *b, const char *key, const char *name)
{
    pons_value *item = NULL;
    if (pons_items_get(&b->it, "n", key, &item, &b->err)) {
        return -1;
    }
    const int64_t n = pons_get_int(item, name, 0);
    pons_value_unref(item);
    return n;
}

static void test_time_to_live(void **state)
{
    bed *b = *state;
    b->it.opts.ttl_ms = 100;
    put(b, "n", "k", "{}", NULL); // at 1001
    put(b, "n", "long", "{}", &(pons_item_put){.ttl_ms = 1000});
    put(b, "n", "ever", "{}", &(pons_item_put){.ttl_ms = -1});
    assert_int_equal(member(b, "k", "expires_ms"), 1101);
    assert_int_equal(member(b, "ever", "expires_ms"), 0);
    b->time.now_ns = 90 * PONS_NS_PER_MS;
    b->it.opts.keep_read = true;
    assert_int_equal(member(b, "k", "expires_ms"), 1190);
    b->it.opts.keep_read = false;
    b->time.now_ns = 189 * PONS_NS_PER_MS;
    assert_int_equal(member(b, "k", "created_ms"), 1001);
    b->time.now_ns = 190 * PONS_NS_PER_MS;
    assert_int_equal(member(b, "k", "created_ms"), -1);
    assert_found(b, (pons_items_query){0}, "ever long");
    b->it.opts.keep_read = true; // a search reads, too
    assert_found(b, (pons_items_query){0}, "ever long");
    b->it.opts.keep_read = false;
    assert_int_equal(member(b, "long", "expires_ms"), 2190);
    int64_t removed = 0;
    assert_int_equal(pons_items_sweep(&b->it, &removed, &b->err), PONS_OK);
    assert_int_equal(removed, 1);
    b->time.now_ns = 0; // also a clock that is set back finds nothing
    assert_int_equal(member(b, "k", "created_ms"), -1);
}

static void assert_spaces(bed *b, pons_items_spaces q, const char *want)
{
    pons_value *list = NULL;
    char *have = NULL, text[512];
    assert_int_equal(pons_items_namespaces(&b->it, &q, &list, &b->err), PONS_OK);
    assert_true(pons_value_dump(list, &have) > 0);
    pons_autovalue wanted = json(want);
    snprintf(text, sizeof text, "have %s, want %s", have, want);
    if (!json_equal(list, wanted)) {
        fail_msg("%s", text);
    }
    free(have);
    pons_value_unref(list);
}

static void test_namespaces(void **state)
{
    bed *b = *state;
    static const char *const at[] = {"a.b.c", "a.b.d.e", "a", "a-b.c", "b.c"};
    for (size_t i = 0; i < 5; i++) {
        put(b, at[i], "k", "{}", NULL);
        put(b, at[i], "k2", "{}", NULL);
    }
    assert_spaces(b, (pons_items_spaces){0},
                  "[['a'],['a','b','c'],['a','b','d','e'],['a-b','c'],['b','c']]");
    assert_spaces(b, (pons_items_spaces){.prefix = "a.b"}, "[['a','b','c'],['a','b','d','e']]");
    assert_spaces(b, (pons_items_spaces){.suffix = "c"}, "[['a','b','c'],['a-b','c'],['b','c']]");
    assert_spaces(b, (pons_items_spaces){.prefix = "*.c"}, "[['a-b','c'],['b','c']]");
    assert_spaces(b, (pons_items_spaces){.prefix = "a", .suffix = "*.e"}, "[['a','b','d','e']]");
    assert_spaces(b, (pons_items_spaces){.max_depth = 1}, "[['a'],['a-b'],['b']]");
    assert_spaces(b, (pons_items_spaces){.max_depth = 2, .limit = 2, .offset = 1},
                  "[['a','b'],['a-b','c']]");
    pons_items_delete(&b->it, "b.c", "k", NULL);
    pons_items_delete(&b->it, "b.c", "k2", NULL);
    assert_spaces(b, (pons_items_spaces){.prefix = "b"}, "[]");
}

static void test_refused(void **state)
{
    bed *b = *state;
    static const char *const wrong[] = {"", ".", "a.", ".a", "a..b", "langgraph", "langgraph.x"};
    pons_autovalue v = json("{}");
    pons_autovalue list = json("['a','b.c']");
    pons_value *none = NULL;
    char ns[PONS_ITEM_MAX];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(pons_items_put(&b->it, wrong[i], "k", v, NULL, &b->err), PONS_EINVAL);
    }
    assert_int_equal(pons_items_put(&b->it, "langgraphs", "k", v, NULL, &b->err), PONS_OK);
    assert_int_equal(pons_items_put(&b->it, "n", "", v, NULL, &b->err), PONS_EINVAL);
    assert_int_equal(pons_items_put(&b->it, "n", "k", list, NULL, &b->err), PONS_EINVAL);
    assert_int_equal(pons_items_put(&b->it, "n", "k", NULL, NULL, &b->err), PONS_EINVAL);
    assert_int_equal(pons_items_put(&b->it, "\xff\xfe", "k", v, NULL, &b->err), PONS_EINVAL);
    assert_int_equal(pons_items_put(&b->it, "n", "\xc3(", v, NULL, &b->err), PONS_EINVAL);
    pons_value *deep = json_object();
    for (int i = 0; i <= PONS_VALUE_DEPTH_MAX; i++) {
        deep = pons_object("a", deep, NULL);
    }
    assert_int_equal(pons_items_put(&b->it, "n", "k", deep, NULL, &b->err), PONS_EINVAL);
    pons_value_unref(deep);
    static const char *const paths[] = {"a[", NULL};
    assert_int_equal(
        pons_items_put(&b->it, "n", "k", v, &(pons_item_put){.fields = paths}, &b->err),
        PONS_EINVAL);
    assert_int_equal(pons_items_get(&b->it, "n", "k", &none, &b->err), PONS_ENOTFOUND);
    assert_int_equal(pons_items_ns(list, ns, sizeof ns, &b->err), PONS_EINVAL);
    assert_int_equal(
        pons_items_put(&(pons_items){.clock = b->it.clock}, "n", "k", v, NULL, &b->err),
        PONS_EUNSUPPORTED);
}

// Whatever a program may put can be read again, by itself and among others.
static void test_odd_values(void **state)
{
    bed *b = *state;
    pons_value *found = NULL, *v = json_object();
    pons_value *deep = json_object();
    for (int i = 2; i < PONS_VALUE_DEPTH_MAX; i++) {
        deep = pons_object("a", deep, NULL);
    }
    json_object_set_new(v, "deep", deep);
    json_object_set_new(v, "zero", json_stringn("a\0b", 3));
    assert_int_equal(
        pons_items_put(&b->it, "odd", "k", v, &(pons_item_put){.ttl_ms = INT64_MAX}, &b->err),
        PONS_OK);
    assert_int_equal(pons_items_get(&b->it, "odd", "k", &found, &b->err), PONS_OK);
    assert_true(json_equal((pons_value *)(uintptr_t)pons_get(found, "value"), v));
    assert_int_equal(pons_get_int(found, "expires_ms", 0), INT64_MAX); // no time is later
    pons_value_unref(found);
    assert_int_equal(pons_items_search(&b->it, &(pons_items_query){.limit = -1}, &found, &b->err),
                     PONS_OK);
    assert_true(json_array_size(found) >= 1);
    pons_value_unref(found);
    pons_value_unref(v);
}

// A text of many words, longer than the index may have: the first ones count, and nothing breaks.
static void test_long_text(void **state)
{
    bed *b = *state;
    enum { WORDS = 120000 };
    char *text = malloc(WORDS * 8 + 1), *at = text;
    for (int i = 0; i < WORDS; i++) {
        at += sprintf(at, "w%d ", i);
    }
    memset(text + 40, 'x', 400); // and one that is very long
    pons_autovalue v = json_pack("{ss}", "t", text);
    free(text);
    assert_int_equal(pons_items_put(&b->it, "n", "long", v, NULL, &b->err), PONS_OK);
    assert_found(b, (pons_items_query){.query = "w3"}, "long:1.00");
    assert_found(b, (pons_items_query){.query = "w119999"}, "");
    assert_int_equal(pons_items_delete(&b->it, "n", "long", &b->err), PONS_OK);
    assert_found(b, (pons_items_query){.query = "w3"}, "");
}

int main(void)
{
    static const char *const names[] = {"memory", "sqlite", "postgres"};
    int failed = 0;
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_members), TEST(test_words),        TEST(test_pages),
        TEST(test_meaning), TEST(test_time_to_live), TEST(test_namespaces),
        TEST(test_refused), TEST(test_long_text),    TEST(test_odd_values),
    };
#undef TEST
    have_server = cluster_share();
    for (int i = 0; i < STORES - !have_server; i++) {
        which = i;
        failed += cmocka_run_group_tests_name(names[i], tests, NULL, NULL);
    }
    if (have_server) {
        cluster_stop();
    }
    return failed;
}
