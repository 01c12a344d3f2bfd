// test_sqlite_memory.c - every allocation of the SQLite store made to fail once, one at a time: its
// own (the linker wraps malloc and its kin for this program) and SQLite's (by SQLite's own hooks).
//
// One story uses every op. Where an op is told that there is no memory it is called again; a commit
// is then there once: whole if it was told to be made, and never half. At the end the store reads
// as in an undisturbed story, its file is sound, and nothing has leaked. There are thousands of
// them: some are tried (rounds.h), spread evenly.

#include "pons/ext/store.h"
#include "rounds.h"
#include "unit.h"

#include <sqlite3.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    long count; // allocations so far
    long fail;  // the one that fails; -1: none
    bool off;   // the test's own business
} oom = {.fail = -1, .off = true};

static bool fails(void)
{
    return !oom.off && oom.count++ == oom.fail;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}
void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}
char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}

// What a power cut would do is not asked here, and thousands of syncs take long.
int fsync(int fd)
{
    (void)fd;
    return 0;
}
int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

// SQLite's: with the size in front, as its interface wants it told.
#define HEAD 16

static void *sq_malloc(int n)
{
    char *p = fails() ? NULL : __real_malloc((size_t)n + HEAD);
    if (!p) {
        return NULL;
    }
    memcpy(p, &n, sizeof n);
    return p + HEAD;
}
static void sq_free(void *p)
{
    free(p ? (char *)p - HEAD : NULL);
}
static int sq_size(void *p)
{
    int n = 0;
    if (p) {
        memcpy(&n, (char *)p - HEAD, sizeof n);
    }
    return n;
}
static void *sq_realloc(void *p, int n)
{
    char *q = fails() ? NULL : __real_realloc((char *)p - HEAD, (size_t)n + HEAD);
    if (!q) {
        return NULL;
    }
    memcpy(q, &n, sizeof n);
    return q + HEAD;
}
static int sq_round(int n)
{
    return (n + 7) & ~7;
}
static int sq_init(void *user)
{
    (void)user;
    return SQLITE_OK;
}
static void sq_shutdown(void *user)
{
    (void)user;
}

// ---- the story ----------------------------------------------------------------------------------

static char path[64];
static bool in_process; // the memory store's turn
static pons_error err;

// Calls again what found no memory. Anything else is a fault.
#define AGAIN(call)                                                                                \
    do {                                                                                           \
        int st_ = (call);                                                                          \
        for (int i_ = 0; i_ < 3 && st_ != PONS_OK; i_++) {                                         \
            if (st_ != PONS_ENOMEM && st_ != PONS_EIO && st_ != PONS_EENV)                         \
                fail_msg("allocation %ld: %s: %s %s", oom.fail, #call, err.message, err.cause);    \
            st_ = (call);                                                                          \
        }                                                                                          \
        if (st_ != PONS_OK)                                                                        \
            fail_msg("allocation %ld: %s: %s %s", oom.fail, #call, err.message, err.cause);        \
    } while (0)

static char seen[4096]; // what reading told

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    size_t n = strlen(seen);
    va_list args;
    va_start(args, format);
    vsnprintf(seen + n, sizeof seen - n, format, args);
    va_end(args);
}

static int on_checkpoint(void *user, const pons_checkpoint_row *row)
{
    (void)user;
    say("%s<%s@%d ", row->id, row->parent, (int)row->step);
    return 0;
}
static int on_record(void *user, const pons_record_row *row)
{
    (void)user;
    say("%s.%d=%.*s ", row->task, (int)row->idx, (int)row->data.len, (const char *)row->data.data);
    return 0;
}
static int on_inbox(void *user, const pons_inbox_row *row)
{
    (void)user;
    say("%s ", row->kind);
    return 0;
}
static int on_event(void *user, const pons_event_row *row)
{
    (void)user;
    say("%d:%s ", (int)row->seq, row->type);
    return 0;
}
static int on_effect(void *user, const pons_effect_row *row)
{
    (void)user;
    say("%s/%d ", row->id, (int)row->state);
    return 0;
}
static int on_thread(void *user, const pons_thread_info *info)
{
    (void)user;
    say("%s(%d,%d) ", info->thread, (int)info->checkpoints, (int)info->events);
    return 0;
}
static int on_ns(void *user, const char *ns)
{
    (void)user;
    say("[%s] ", ns);
    return 0;
}

static int on_item(void *user, const pons_item_row *row)
{
    (void)user;
    say("%s/%s=%.*s[%s] ", row->ns, row->key, (int)row->value.len, (const char *)row->value.data,
        row->words);
    return 0;
}
static int on_note(void *user, const pons_thread_info *info)
{
    (void)user;
    say("%s:%.*s ", info->thread, (int)info->note.len,
        info->note.len ? (const char *)info->note.data : "");
    return 0;
}

// A reading that failed half-way is told anew.
#define READ(call)                                                                                 \
    do {                                                                                           \
        size_t at_ = strlen(seen);                                                                 \
        AGAIN((seen[at_] = '\0', (call)));                                                         \
        say("| ");                                                                                 \
    } while (0)

static void commit(pons_store s, const pons_lease *lease, int i, bool async)
{
    pons_checkpoint_row cp = {.step = i, .snapshot = i == 0, .data = {"data", 4}};
    pons_record_row record = {.task = "t", .idx = i, .data = {"r", 1}};
    pons_inbox_row mail = {.ns = "other", .kind = "note", .value = {"1", 1}};
    pons_effect_row effect = {.id = "e1", .ns = "n", .state = i, .data = {"{}", 2}};
    pons_event_row event = {.ns = "n", .ts_ms = i, .type = "step", .payload = {"{}", 2}};
    snprintf(cp.id, sizeof cp.id, "c%d", i);
    if (i) {
        snprintf(cp.parent, sizeof cp.parent, "c%d", i - 1);
    }
    strcpy(record.checkpoint, cp.id);
    pons_commit c = {.lease = lease,
                     .ns = "n",
                     .checkpoints = &cp,
                     .n_checkpoints = 1,
                     .records = &record,
                     .n_records = 1,
                     .posts = &mail,
                     .n_posts = 1,
                     .effects = &effect,
                     .n_effects = 1,
                     .events = &event,
                     .n_events = 1};
    char key[8];
    snprintf(key, sizeof key, "k%d", i / 2); // each twice: a new one, and one in its place
    const pons_item_write item = {.what = PONS_ITEM_PUT,
                                  .row = {.ns = "n.m",
                                          .key = key,
                                          .value = {"{}", 2},
                                          .words = i % 2 ? "odd" : "even",
                                          .updated_ms = i}};
    c.items = &item;
    c.n_items = 1;
    if (!async) {
        AGAIN(s.ops->commit(s.self, &c, &err));
        return;
    }
    // One that failed on its way is told by the flush; it is then not there, and made again.
    AGAIN(s.ops->commit_async(s.self, &c, &err));
    int st = s.ops->flush(s.self, lease, &err);
    if (st != PONS_OK) {
        AGAIN(s.ops->commit(s.self, &c, &err));
    }
}

static void story(void)
{
    pons_store s = {0};
    pons_lease lease = {0};
    seen[0] = '\0';
    AGAIN(in_process ? pons_store_memory_open(&s, &err) : pons_store_sqlite_open(path, &s, &err));
    pons_inbox_row mail = {.ns = "n", .kind = "first", .value = {"{}", 2}};
    AGAIN(s.ops->inbox_post(s.self, "t1", &mail, NULL, &err));
    AGAIN(s.ops->lease_acquire(s.self, "t1", &lease, &err));
    for (int i = 0; i < 4; i++) {
        commit(s, &lease, i, i % 2);
    }
    READ(s.ops->head(s.self, "t1", "n", on_checkpoint, NULL, &err));
    READ(s.ops->checkpoint(s.self, "t1", "n", "c1", on_checkpoint, NULL, &err));
    READ(s.ops->history(s.self, "t1", "n", "", 0, on_checkpoint, NULL, &err));
    READ(s.ops->records(s.self, "t1", "n", "c2", on_record, NULL, &err));
    READ(s.ops->inbox_read(s.self, "t1", NULL, 0, on_inbox, NULL, &err));
    READ(s.ops->events(s.self, "t1", 1, 0, on_event, NULL, &err));
    READ(s.ops->effects(s.self, "t1", UINT32_MAX, on_effect, NULL, &err));
    READ(s.ops->effect_get(s.self, "t1", "e1", on_effect, NULL, &err));
    READ(s.ops->namespaces(s.self, "t1", on_ns, NULL, &err));
    const pons_item_write writes[] = {
        {.what = PONS_ITEM_PUT,
         .row = {.ns = "n", .key = "over", .value = {"{}", 2}, .words = "a b", .expires_ms = 9}},
        {.what = PONS_ITEM_TOUCH, .row = {.ns = "n", .key = "over", .expires_ms = 8}},
        {.what = PONS_ITEM_DELETE, .row = {.ns = "n.m", .key = "k1"}}};
    AGAIN(s.ops->items_write(s.self, writes, 3, PONS_SYNC_NORMAL, &err));
    const pons_item_find find = {.prefix = "n", .words = "odd a", .now_ms = 1};
    READ(s.ops->items(s.self, &find, on_item, NULL, &err));
    READ(s.ops->item_get(s.self, "n.m", "k0", 1, on_item, NULL, &err));
    READ(s.ops->item_spaces(s.self, 1, on_ns, NULL, &err));
    AGAIN(s.ops->items_sweep(s.self, 20, NULL, &err));
    AGAIN(s.ops->thread_note(s.self, "t1", (pons_bytes){"note", 4}, NULL, &err));
    READ(s.ops->thread_list(s.self, NULL, false, on_note, NULL, &err));
    const pons_item_write last = {.what = PONS_ITEM_DELETE, .row = {.ns = "n.m", .key = "k0"}};
    AGAIN(s.ops->items_write(s.self, &last, 1, PONS_SYNC_NORMAL, &err));
    AGAIN(s.ops->thread_copy(s.self, "t1", "t2", &err));
    READ(s.ops->threads(s.self, on_thread, NULL, &err));
    static const char *const thin[] = {"*", NULL};
    pons_trim old = {.lease = &lease, .limit = 2, .ns = "n", .before = "c3", .thin_before = 3};
    old.thin_types = thin;
    old.effects_before_ms = INT64_MAX;
    old.effect_states = UINT32_MAX;
    AGAIN(s.ops->trim(s.self, &old, NULL, &err));
    READ(s.ops->history(s.self, "t1", "n", "", 0, on_checkpoint, NULL, &err));
    pons_prune what = {.lease = &lease, .events_since_ms = 2, .keep_last = 1};
    AGAIN(s.ops->prune(s.self, "t1", &what, NULL, &err));
    READ(s.ops->threads(s.self, on_thread, NULL, &err));
    s.ops->lease_release(s.self, &lease);
    AGAIN(s.ops->thread_delete(s.self, "t2", &err));
    AGAIN(s.ops->thread_delete(s.self, "t1", &err));
    READ(s.ops->threads(s.self, on_thread, NULL, &err));
    pons_store_close(&s);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    char dir[] = "/tmp/pons-oom-XXXXXX", command[96], want[sizeof seen];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.db", dir);
    long n = 0, tried = 0;
    const char *one = getenv("PONS_TEST_AT"); // this allocation alone
    for (long i = -1; i < n; i++) {
        if (i >= 0 && (one ? i != atol(one) : !rounds_take(ROUNDS_store_allocations, i, n))) {
            continue;
        }
        tried++;
        oom.count = 0;
        oom.fail = i;
        oom.off = false;
        story();
        oom.off = true;
        if (i < 0) {
            n = oom.count;
            memcpy(want, seen, sizeof want);
        } else if (strcmp(seen, want) != 0) {
            fail_msg("allocation %ld: %s instead of %s", i, seen, want);
        }
        if (i < 0) { // the next ones find the file there, as most do
            story();
        }
    }
    print_message("  %ld of %ld allocations failed\n", tried - 1, n);
    assert_true(n > 200);
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(st, 0), "ok");
    sqlite3_finalize(st);
    sqlite3_close(db);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

// The same of the store that lives in the process.
static void every_allocation_of_the_memory_store(void **state)
{
    (void)state;
    char want[sizeof seen];
    long n = 0;
    in_process = true;
    for (long i = -1; i < n; i++) {
        if (i >= 0 && !rounds_take(ROUNDS_store_allocations, i, n)) {
            continue;
        }
        oom.count = 0;
        oom.fail = i;
        oom.off = false;
        story();
        oom.off = true;
        if (i < 0) {
            n = oom.count;
            memcpy(want, seen, sizeof want);
        } else if (strcmp(seen, want) != 0) {
            fail_msg("allocation %ld: %s instead of %s", i, seen, want);
        }
    }
    print_message("  of %ld allocations each that is tried failed\n", n);
    assert_true(n > 50);
    in_process = false;
}

int main(void)
{
    const sqlite3_mem_methods methods = {sq_malloc, sq_free, sq_realloc,  sq_size,
                                         sq_round,  sq_init, sq_shutdown, NULL};
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_once),
                                       cmocka_unit_test(every_allocation_of_the_memory_store)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
