// conformance_items.c - what a store promises of items and notes, shown on any of them: with the
// contract alone (pons/ext/store.h), as conformance.c does for threads.
#include "conformance.h"
#include "conformance_ok.h"
#include "unit.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const conformance_backend *backend;

static int open_store(void **state)
{
    pons_store *s = calloc(1, sizeof *s);
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    if (!s || backend->open(s, &err)) {
        print_error("%s\n", pons_error_line(&err, line, sizeof line));
        free(s);
        return -1;
    }
    *state = s;
    return 0;
}

static int close_store(void **state)
{
    pons_store *s = *state;
    pons_store_close(s);
    free(s);
    if (backend->clean) {
        backend->clean();
    }
    return 0;
}

// ---- items as text ------------------------------------------------------------------------------

static pons_item_write put_of(const char *ns, const char *key, const char *value, const char *words,
                              int64_t now_ms, int64_t expires_ms)
{
    return (pons_item_write){.what = PONS_ITEM_PUT,
                             .row = {.ns = ns,
                                     .key = key,
                                     .value = bytes_of(value),
                                     .words = words,
                                     .updated_ms = now_ms,
                                     .ttl_ms = expires_ms ? expires_ms - now_ms : 0,
                                     .expires_ms = expires_ms}};
}

static void put(pons_store s, const char *ns, const char *key, const char *value, const char *words,
                int64_t now_ms, int64_t expires_ms)
{
    const pons_item_write w = put_of(ns, key, value, words, now_ms, expires_ms);
    OK(s.ops->items_write(s.self, &w, 1, PONS_SYNC_NORMAL, &err));
}

static int see_item(void *user, const pons_item_row *row)
{
    fprintf(user, "%s/%s=%.*s[%s]%" PRId64 "-%" PRId64 "+%" PRId64 ">%" PRId64 ";", row->ns,
            row->key, (int)row->value.len, (const char *)row->value.data, row->words,
            row->created_ms, row->updated_ms, row->ttl_ms, row->expires_ms);
    return 0;
}

// What a search gives, as text; the next call frees it.
static const char *found(pons_store s, const char *prefix, const char *words, int64_t now_ms)
{
    static char *text;
    size_t len;
    free(text);
    FILE *out = open_memstream(&text, &len);
    const pons_item_find find = {.prefix = prefix, .words = words, .now_ms = now_ms};
    OK(s.ops->items(s.self, &find, see_item, out, &err));
    fclose(out);
    return text;
}

static int see_name(void *user, const pons_item_row *row)
{
    fprintf(user, "%s/%s ", row->ns, row->key);
    return 0;
}

static const char *names(pons_store s, const char *prefix, const char *words, int64_t now_ms)
{
    static char *text;
    size_t len;
    free(text);
    FILE *out = open_memstream(&text, &len);
    const pons_item_find find = {.prefix = prefix, .words = words, .now_ms = now_ms};
    OK(s.ops->items(s.self, &find, see_name, out, &err));
    fclose(out);
    return text;
}

static int see_space(void *user, const char *ns)
{
    fprintf(user, "%s ", ns);
    return 0;
}

static const char *spaces(pons_store s, int64_t now_ms)
{
    static char *text;
    size_t len;
    free(text);
    FILE *out = open_memstream(&text, &len);
    OK(s.ops->item_spaces(s.self, now_ms, see_space, out, &err));
    fclose(out);
    return text;
}

static int get_status(pons_store s, const char *ns, const char *key, int64_t now_ms)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    const int rc = s.ops->item_get(s.self, ns, key, now_ms, see_item, out, NULL);
    fclose(out);
    free(text);
    return rc;
}

// ---- items --------------------------------------------------------------------------------------

static void test_put_keeps_created(void **state)
{
    pons_store s = *(pons_store *)*state;
    assert_string_equal(found(s, NULL, NULL, 0), "");
    assert_string_equal(spaces(s, 0), "");
    put(s, "a.b", "k", "{\"n\":1}", "one", 100, 0);
    put(s, "a.b", "k", "{\"n\":2}", "two", 250, 0);
    assert_string_equal(found(s, NULL, NULL, 0), "a.b/k={\"n\":2}[two]100-250+0>0;");
    assert_string_equal(found(s, NULL, "one", 0), ""); // the old words are gone
    assert_string_equal(names(s, NULL, "two", 0), "a.b/k ");
    const pons_item_write gone = {.what = PONS_ITEM_DELETE, .row = {.ns = "a.b", .key = "k"}};
    OK(s.ops->items_write(s.self, &gone, 1, PONS_SYNC_FULL, &err));
    OK(s.ops->items_write(s.self, &gone, 1, PONS_SYNC_NORMAL, &err)); // it is gone already
    assert_int_equal(get_status(s, "a.b", "k", 0), PONS_ENOTFOUND);
    put(s, "a.b", "k", "{}", "", 300, 0);
    assert_string_equal(found(s, NULL, NULL, 0), "a.b/k={}[]300-300+0>0;");
}

static void test_prefix_is_by_labels(void **state)
{
    pons_store s = *(pons_store *)*state;
    static const char *const at[] = {"a", "a.b", "a.b.c", "ab", "a-b", "b", "a.b-c", "a/b"};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        put(s, at[i], "k", "{}", "w", 5, 0);
    }
    assert_string_equal(names(s, NULL, NULL, 9), "a/k a-b/k a.b/k a.b-c/k a.b.c/k a/b/k ab/k b/k ");
    assert_string_equal(names(s, "a", NULL, 9), "a/k a.b/k a.b-c/k a.b.c/k ");
    assert_string_equal(names(s, "a.b", NULL, 9), "a.b/k a.b.c/k ");
    assert_string_equal(names(s, "a.b", "w x", 9), "a.b/k a.b.c/k ");
    assert_string_equal(names(s, "c", NULL, 9), "");
    assert_string_equal(spaces(s, 9), "a a-b a.b a.b-c a.b.c a/b ab b ");
}

static void test_newest_first(void **state)
{
    pons_store s = *(pons_store *)*state;
    put(s, "n", "one", "{}", "", 1, 0);
    put(s, "n", "three", "{}", "", 3, 0);
    put(s, "m", "two", "{}", "", 2, 0);
    put(s, "n", "also", "{}", "", 3, 0);
    assert_string_equal(names(s, NULL, NULL, 9), "n/also n/three m/two n/one ");
    put(s, "n", "one", "{}", "", 4, 0);
    assert_string_equal(names(s, NULL, NULL, 9), "n/one n/also n/three m/two ");
}

static void test_words(void **state)
{
    pons_store s = *(pons_store *)*state;
    put(s, "n", "1", "{}", "the cat sat", 1, 0);
    put(s, "n", "2", "{}", "a dog", 2, 0);
    put(s, "n", "3", "{}",
        "\xe5\x8e\xa8 \xe6\x88\xbf stra\xc3\x9f"
        "e 42",
        3, 0);
    assert_string_equal(names(s, NULL, "cat", 9), "n/1 ");
    assert_string_equal(names(s, NULL, "ca", 9), ""); // whole words
    assert_string_equal(names(s, NULL, "dog cat", 9), "n/2 n/1 ");
    assert_string_equal(names(s, NULL, "\xe6\x88\xbf", 9), "n/3 ");
    assert_string_equal(names(s, NULL,
                              "stra\xc3\x9f"
                              "e",
                              9),
                        "n/3 ");
    assert_string_equal(names(s, NULL, "and", 9), ""); // no word is a part of a query's language
    assert_string_equal(names(s, NULL, "", 9), "");
    put(s, "n", "4", "{}", "or not and near", 4, 0);
    assert_string_equal(names(s, NULL, "near", 9), "n/4 ");
    assert_string_equal(names(s, NULL, "or", 9), "n/4 ");
}

static void test_time_to_live(void **state)
{
    pons_store s = *(pons_store *)*state;
    put(s, "n", "k", "{}", "w", 100, 200);
    put(s, "n", "stays", "{}", "w", 100, 0);
    assert_int_equal(get_status(s, "n", "k", 199), PONS_OK);
    assert_int_equal(get_status(s, "n", "k", 200), PONS_ENOTFOUND);
    assert_string_equal(names(s, "n", "w", 200), "n/stays ");
    pons_item_write touch = {.what = PONS_ITEM_TOUCH,
                             .row = {.ns = "n", .key = "k", .updated_ms = 150, .expires_ms = 250}};
    OK(s.ops->items_write(s.self, &touch, 1, PONS_SYNC_NORMAL, &err));
    assert_int_equal(get_status(s, "n", "k", 249), PONS_OK);
    // What is over does not come back by being touched, and a new one begins anew.
    touch.row.updated_ms = 250;
    touch.row.expires_ms = 900;
    OK(s.ops->items_write(s.self, &touch, 1, PONS_SYNC_NORMAL, &err));
    assert_int_equal(get_status(s, "n", "k", 260), PONS_ENOTFOUND);
    put(s, "n", "k", "{}", "w", 300, 400);
    assert_string_equal(found(s, "n", NULL, 301),
                        "n/k={}[w]300-300+100>400;n/stays={}[w]100-100+0>0;");
    int64_t removed = -1;
    put(s, "o", "k", "{}", "w", 300, 350);
    OK(s.ops->items_sweep(s.self, 350, &removed, &err));
    assert_int_equal(removed, 1);
    assert_string_equal(spaces(s, 0), "n "); // also by a clock that has been set back
    OK(s.ops->items_sweep(s.self, 400, &removed, &err));
    assert_int_equal(removed, 1);
    assert_string_equal(names(s, NULL, "w", 0), "n/stays ");
}

static void test_all_or_none(void **state)
{
    pons_store s = *(pons_store *)*state;
    const pons_item_write good = put_of("n", "k", "{}", "", 1, 0);
    const pons_item_write bad[] = {
        put_of("", "k", "{}", "", 1, 0),      put_of("a..b", "k", "{}", "", 1, 0),
        put_of(".a", "k", "{}", "", 1, 0),    put_of("a.", "k", "{}", "", 1, 0),
        put_of("n", "", "{}", "", 1, 0),      put_of(NULL, "k", "{}", "", 1, 0),
        put_of("n", "k", "{}", "A", 1, 0),    put_of("n", "k", "{}", " a", 1, 0),
        put_of("n", "k", "{}", "a  b", 1, 0), put_of("n", "k", "{}", "it's", 1, 0),
        put_of("n", "k", "{}", NULL, 1, 0),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const pons_item_write both[] = {good, bad[i]};
        REFUSED(PONS_EINVAL, s.ops->items_write(s.self, both, 2, PONS_SYNC_NORMAL, &err));
    }
    char *long_name = calloc(1, PONS_ITEM_MAX + 1);
    memset(long_name, 'x', PONS_ITEM_MAX);
    const pons_item_write both[] = {good, put_of("n", long_name, "{}", "", 1, 0)};
    REFUSED(PONS_EINVAL, s.ops->items_write(s.self, both, 2, PONS_SYNC_NORMAL, &err));
    free(long_name);
    assert_string_equal(names(s, NULL, NULL, 9), "");
    // In their order, each seeing those before it.
    const pons_item_write story[] = {
        put_of("n", "a", "{\"v\":1}", "x", 1, 0),
        {.what = PONS_ITEM_DELETE, .row = {.ns = "n", .key = "a"}},
        put_of("n", "b", "{\"v\":2}", "y", 2, 0),
        put_of("n", "a", "{\"v\":3}", "z", 3, 0),
        put_of("n", "a", "{\"v\":4}", "z", 4, 0),
    };
    OK(s.ops->items_write(s.self, story, 5, PONS_SYNC_NORMAL, &err));
    assert_string_equal(found(s, NULL, NULL, 9),
                        "n/a={\"v\":4}[z]3-4+0>0;n/b={\"v\":2}[y]2-2+0>0;");
}

static void test_in_a_commit(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = {0};
    OK(s.ops->lease_acquire(s.self, "t", &lease, &err));
    const pons_item_write items[] = {put_of("n", "a", "{}", "w", 1, 0),
                                     put_of("n", "b", "{}", "w", 2, 0)};
    pons_checkpoint_row row = {.id = "01", .snapshot = true, .data = bytes_of("x")};
    pons_commit c = {.lease = &lease,
                     .ns = "kernel",
                     .checkpoints = &row,
                     .n_checkpoints = 1,
                     .items = items,
                     .n_items = 2};
    OK(s.ops->commit(s.self, &c, &err));
    assert_string_equal(names(s, NULL, "w", 9), "n/b n/a ");
    // The checkpoint is there already: nothing of the commit is applied.
    const pons_item_write more[] = {put_of("n", "c", "{}", "w", 3, 0),
                                    {.what = PONS_ITEM_DELETE, .row = {.ns = "n", .key = "a"}}};
    c.items = more;
    REFUSED(PONS_EEXIST, s.ops->commit(s.self, &c, &err));
    assert_string_equal(names(s, NULL, "w", 9), "n/b n/a ");
    const pons_item_write wrong = put_of("n", "c", "{}", "No", 3, 0);
    strcpy(row.id, "02");
    c.items = &wrong;
    c.n_items = 1;
    REFUSED(PONS_EINVAL, s.ops->commit(s.self, &c, &err));
    // Queued: the store's own copy.
    char key[] = "q";
    pons_item_write queued = put_of("n", key, "{}", "w", 4, 0);
    c.items = &queued;
    OK(s.ops->commit_async(s.self, &c, &err));
    key[0] = '?';
    OK(s.ops->drain(s.self, &err));
    assert_string_equal(names(s, NULL, "w", 9), "n/q n/b n/a ");
    pons_lease old = lease;
    s.ops->lease_release(s.self, &lease);
    OK(s.ops->lease_acquire(s.self, "t", &lease, &err));
    c.lease = &old;
    strcpy(row.id, "03");
    c.items = more;
    c.n_items = 2;
    REFUSED(PONS_ESTALE, s.ops->commit(s.self, &c, &err));
    assert_string_equal(names(s, NULL, "w", 9), "n/q n/b n/a ");
    s.ops->lease_release(s.self, &lease);
    OK(s.ops->thread_delete(s.self, "t", &err)); // items belong to no thread
    assert_string_equal(names(s, NULL, "w", 9), "n/q n/b n/a ");
}

static int stop_at_first(void *user, const pons_item_row *row)
{
    (void)row;
    return ++*(int *)user;
}

typedef struct inner {
    pons_store s;
    int n;
} inner;

static int put_more(void *user, const pons_item_row *row)
{
    inner *in = user;
    char key[32];
    snprintf(key, sizeof key, "%s.%d", row->key, in->n++);
    put(in->s, "more", key, "{}", "w", 5, 0);
    assert_int_equal(get_status(in->s, "more", key, 9), PONS_OK);
    return 0;
}

static void test_callbacks(void **state)
{
    pons_store s = *(pons_store *)*state;
    put(s, "n", "a", "{}", "w", 1, 0);
    put(s, "n", "b", "{}", "w", 2, 0);
    int n = 0;
    const pons_item_find all = {.now_ms = 9};
    OK(s.ops->items(s.self, &all, stop_at_first, &n, &err));
    assert_int_equal(n, 1);
    inner in = {.s = s};
    const pons_item_find some = {.prefix = "n", .now_ms = 9};
    OK(s.ops->items(s.self, &some, put_more, &in, &err));
    assert_int_equal(in.n, 2);
    assert_string_equal(names(s, "more", NULL, 9), "more/a.1 more/b.0 ");
}

static void test_bytes(void **state)
{
    pons_store s = *(pons_store *)*state;
    const size_t big = 300000;
    char *value = malloc(big);
    memset(value, 'v', big);
    pons_item_write w = put_of("n", "it's \"quoted\" \\ \xe5\x8e\xa8", "", "", 1, 0);
    w.row.value = (pons_bytes){value, big};
    w.row.vectors = (pons_bytes){"\0\1\2\377", 4};
    OK(s.ops->items_write(s.self, &w, 1, PONS_SYNC_NORMAL, &err));
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    OK(s.ops->item_get(s.self, "n", w.row.key, 9, see_item, out, &err));
    fclose(out);
    assert_true(len > big);
    free(text);
    free(value);
}

// ---- at once ------------------------------------------------------------------------------------

enum { WRITERS = 4, ROUNDS = 40 };

typedef struct writer {
    pons_store s;
    int id;
    int failed;
} writer;

// Every writer writes the same two items, in the one order and in the other.
static void *write_both(void *arg)
{
    writer *w = arg;
    for (int i = 0; i < ROUNDS; i++) {
        char value[40];
        snprintf(value, sizeof value, "{\"w\":%d,\"i\":%d}", w->id, i);
        const bool up = (w->id + i) % 2;
        const pons_item_write both[] = {put_of("n", up ? "a" : "b", value, "w", 1, 0),
                                        put_of("n", up ? "b" : "a", value, "w", 1, 0)};
        w->failed += w->s.ops->items_write(w->s.self, both, 2, PONS_SYNC_NORMAL, NULL) != PONS_OK;
    }
    return NULL;
}

static int keep_value(void *user, const pons_item_row *row)
{
    char(*values)[40] = user;
    snprintf(values[row->key[0] - 'a'], 40, "%.*s", (int)row->value.len,
             (const char *)row->value.data);
    return 0;
}

static void test_writers_at_once(void **state)
{
    writer w[WRITERS];
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        w[i] = (writer){.s = *(pons_store *)*state, .id = i};
        assert_int_equal(pthread_create(&threads[i], NULL, write_both, &w[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(w[i].failed, 0);
    }
    char values[2][40] = {{0}};
    const pons_item_find all = {.now_ms = 9};
    OK(w[0].s.ops->items(w[0].s.self, &all, keep_value, values, &err));
    assert_string_equal(values[0], values[1]); // never half of one and half of another
    assert_true(values[0][0] == '{');
}

// ---- notes --------------------------------------------------------------------------------------

static int see_note(void *user, const pons_thread_info *info)
{
    fprintf(user, "%s:%.*s%s ", info->thread, (int)info->note.len,
            info->note.len ? (const char *)info->note.data : "", info->holder_pid ? "!" : "");
    return 0;
}

static const char *notes(pons_store s, const char *thread, bool sizes)
{
    static char *text;
    size_t len;
    free(text);
    FILE *out = open_memstream(&text, &len);
    OK(s.ops->thread_list(s.self, thread, sizes, see_note, out, &err));
    fclose(out);
    return text;
}

static void test_notes(void **state)
{
    pons_store s = *(pons_store *)*state;
    REFUSED(PONS_ENOTFOUND, s.ops->thread_list(s.self, "t", false, see_note, NULL, &err));
    OK(s.ops->thread_note(s.self, "t", bytes_of("{\"a\":1}"), NULL, &err)); // makes it
    assert_string_equal(notes(s, "t", true), "t:{\"a\":1} ");
    // Only if it is what it was.
    const pons_bytes was = bytes_of("{\"a\":1}"), wrong = bytes_of("{}"), none = {0};
    REFUSED(PONS_EEXIST, s.ops->thread_note(s.self, "t", bytes_of("x"), &wrong, &err));
    REFUSED(PONS_EEXIST, s.ops->thread_note(s.self, "t", bytes_of("x"), &none, &err));
    REFUSED(PONS_EEXIST, s.ops->thread_note(s.self, "new", bytes_of("x"), &wrong, &err));
    REFUSED(PONS_ENOTFOUND, s.ops->thread_list(s.self, "new", false, see_note, NULL, &err));
    OK(s.ops->thread_note(s.self, "t", bytes_of("y"), &was, &err));
    OK(s.ops->thread_note(s.self, "u", bytes_of("z"), &none, &err));
    pons_lease lease = {0};
    OK(s.ops->lease_acquire(s.self, "t", &lease, &err));
    OK(s.ops->thread_note(s.self, "t", bytes_of("held"), NULL, &err)); // needs no lease
    assert_string_equal(notes(s, NULL, false), "t:held! u:z ");
    assert_string_equal(notes(s, NULL, true), "t:held! u:z ");
    s.ops->lease_release(s.self, &lease);
    OK(s.ops->thread_copy(s.self, "t", "v", &err));
    OK(s.ops->thread_note(s.self, "t", none, NULL, &err));
    assert_string_equal(notes(s, NULL, false), "t: u:z v:held ");
    OK(s.ops->thread_delete(s.self, "v", &err));
    OK(s.ops->lease_acquire(s.self, "v", &lease, &err)); // a new one of that name
    s.ops->lease_release(s.self, &lease);
    assert_string_equal(notes(s, "v", false), "v: ");
}

int conformance_items_run(const conformance_backend *b)
{
    backend = b;
    char name[80];
    snprintf(name, sizeof name, "%s: items", b->name);
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_store, close_store)
    const struct CMUnitTest tests[] = {
        TEST(test_put_keeps_created),
        TEST(test_prefix_is_by_labels),
        TEST(test_newest_first),
        TEST(test_words),
        TEST(test_time_to_live),
        TEST(test_all_or_none),
        TEST(test_in_a_commit),
        TEST(test_callbacks),
        TEST(test_bytes),
        TEST(test_writers_at_once),
        TEST(test_notes),
    };
#undef TEST
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}
