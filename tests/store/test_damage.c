// test_damage.c - a damaged store says so. A small store with every kind of row is damaged in many
// ways, each with several seeds that are printed when they matter: bits of the header, of interior,
// leaf, index, overflow, free and map pages; pages zeroed, swapped, doubled, filled with noise; the
// file cut; the log cut, damaged, removed; rows removed or changed with SQL; versions.
//
// What really is lost or altered is found out without pons: all tables and indexes are read with
// SQLite itself before and after. When that differs, or cannot be read, pons_store_check must name
// damage; when it does not, the check may say what it likes. Nothing may crash, and a look changes
// nothing.
#include "conformance.h"
#include "pons/buf.h"
#include "pons/random.h"
#include "pons/store.h"
#include "rounds.h"
#include "unit.h"

#include <sqlite3.h>

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE     2048
#define STEPS    60
#define REPAIR_S 60

static char dir[64], base[128], victim[128], probe[128];
static const char *const parts[] = {"", "-wal", "-shm"};

// What a power cut would do is not asked here, and hundreds of syncs take long.
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

// ---- files --------------------------------------------------------------------------------------

typedef struct bytes {
    uint8_t *at;
    size_t n;
} bytes;

static bytes load(const char *path)
{
    bytes b = {0};
    struct stat st;
    FILE *f = fopen(path, "rb");
    if (!f) {
        return b;
    }
    assert_int_equal(fstat(fileno(f), &st), 0);
    b = (bytes){malloc((size_t)st.st_size + 1), (size_t)st.st_size};
    assert_int_equal(fread(b.at, 1, b.n, f), b.n);
    fclose(f);
    return b;
}

static void save(const char *path, bytes b)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b.at, 1, b.n, f), b.n);
    fclose(f);
}

static void copy_all(const char *from, const char *to)
{
    for (size_t i = 0; i < 3; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s%s", from, parts[i]);
        bytes b = load(name);
        snprintf(name, sizeof name, "%s%s", to, parts[i]);
        if (b.at) {
            save(name, b);
        } else {
            unlink(name);
        }
        free(b.at);
    }
}

// ---- the store ----------------------------------------------------------------------------------

static void ok_at(int rc, const pons_error *err, int line)
{
    char text[1024];
    if (rc) {
        fail_msg("line %d: %s", line, pons_error_line(err, text, sizeof text));
    }
}
#define OK(call)                                                                                   \
    do {                                                                                           \
        pons_error err = PONS_ERROR_INIT;                                                          \
        ok_at((call), &err, __LINE__);                                                             \
    } while (0)

static void fill_thread(pons_store s, const char *thread, bool fat)
{
    pons_lease lease = {0};
    char big[7000], id[40], parent[40] = "";
    OK(s.ops->lease_acquire(s.self, thread, &lease, &err));
    for (int i = 0; i < STEPS; i++) {
        char text[64], effect[40];
        snprintf(text, sizeof text, "{\"step\":%d,\"at\":[%d,%d]}", i, i * 7, i * 13);
        snprintf(id, sizeof id, "01JD0000000000%c%011d", thread[1], i);
        memset(big, 'a' + i % 26, sizeof big);
        snprintf(big, sizeof big, "{\"step\":%d", i);
        big[strlen(big)] = ' ';
        big[sizeof big - 1] = '}';
        const bool wide = fat && i % 9 == 0; // several pages of overflow
        memset(big + 12, ' ', sizeof big - 13);
        pons_checkpoint_row cp = {.step = i,
                                  .snapshot = i % 20 == 0,
                                  .data = {wide ? big : text, wide ? sizeof big : strlen(text)}};
        snprintf(cp.id, sizeof cp.id, "%.26s", id);
        snprintf(cp.parent, sizeof cp.parent, "%.26s", parent);
        pons_record_row rec = {.idx = i % 3, .data = {text, strlen(text)}};
        snprintf(rec.checkpoint, sizeof rec.checkpoint, "%.26s", id);
        snprintf(rec.task, sizeof rec.task, "task-%d", i);
        pons_event_row ev[2] = {
            {.ns = "kernel", .ts_ms = 1000 + i, .type = "tick", .payload = {text, strlen(text)}},
            {.ns = "react",
             .ts_ms = 1000 + i,
             .type = "decision",
             .payload = {text, strlen(text)}}};
        snprintf(effect, sizeof effect, "%032x", i * 3 + thread[1]);
        pons_effect_row fx = {.ns = "react",
                              .state = i % 4,
                              .created = i,
                              .updated = i + 1,
                              .data = {text, strlen(text)}};
        memcpy(fx.id, effect, sizeof fx.id);
        pons_commit c = {.lease = &lease,
                         .ns = "kernel",
                         .checkpoints = &cp,
                         .n_checkpoints = 1,
                         .records = &rec,
                         .n_records = 1,
                         .effects = &fx,
                         .n_effects = i % 2,
                         .events = ev,
                         .n_events = 2};
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        const pons_item_write item = {.what = PONS_ITEM_PUT,
                                      .row = {.ns = thread[1] == '1' ? "robots.one" : "people",
                                              .key = key,
                                              .value = cp.data,
                                              .words = i % 2 ? "charger kitchen odd" : "door even",
                                              .vectors = {text, i % 4 ? 0 : 8},
                                              .updated_ms = i,
                                              .ttl_ms = i % 3 ? 0 : 500,
                                              .expires_ms = i % 3 ? 0 : 9000000 + i}};
        c.items = &item;
        c.n_items = 1;
        OK(s.ops->commit(s.self, &c, &err));
        snprintf(parent, sizeof parent, "%s", id);
        if (i % 5 == 0) {
            pons_inbox_row in = {.ns = "kernel", .kind = "say", .value = {text, strlen(text)}};
            int64_t seq;
            OK(s.ops->inbox_post(s.self, thread, &in, &seq, &err));
        }
    }
    s.ops->lease_release(s.self, &lease);
    OK(s.ops->thread_note(s.self, thread, (pons_bytes){"{\"of\":\"mara\"}", 13}, NULL, &err));
}

static int no_session(void *user, const pons_session_row *row)
{
    (void)user;
    (void)row;
    return 0;
}

// Two lanes: in one a session runs and two wait, in the other one has ended and one waits for its time.
static void fill_lanes(pons_store s)
{
    static const char *const ids[] = {"s0", "s1", "s2", "s3", "s4"};
    pons_lanes l;
    s.ops->lanes(s.self, &l);
    for (int i = 0; i < 5; i++) {
        const pons_session_row row = {.id = ids[i],
                                      .lane = i < 3 ? "arm" : "base",
                                      .priority = 2 - i % 3,
                                      .order_ms = i,
                                      .data = {"{\"skill\":\"pick\"}", 16}};
        OK(l.ops->enqueue(l.self, &row, 1, &err));
    }
    const pons_session_claim how = {.runner = "r1"};
    OK(l.ops->beat(l.self, "r1", &err));
    for (int i = 0; i < 3; i++) { // s2 of the arm; s4 and then s3 of the base
        OK(l.ops->claim(l.self, &how, no_session, NULL, &err));
        const pons_session_end end = {.id = i == 1 ? "s4" : "s3",
                                      .epoch = (uint64_t)i,
                                      .state = i == 1 ? PONS_SESSION_FAILED : PONS_SESSION_WAITING,
                                      .due_ms = 77};
        if (i > 0) {
            OK(l.ops->finish(l.self, &end, no_session, NULL, &err));
        }
    }
}

// With free pages, and closed: one file. Or, as a killed process leaves it, with a log and an index.
static void make_base(bool log)
{
    char name[160];
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", base, parts[i]);
        unlink(name);
    }
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        pons_store s = {0};
        OK(pons_store_sqlite_open(base, &s, &err));
        fill_thread(s, "t1", true);
        fill_thread(s, "t2", false);
        fill_thread(s, "t3", true);
        fill_lanes(s);
        OK(s.ops->thread_delete(s.self, "t3", &err));
        if (log) {
            _exit(0);
        }
        pons_store_close(&s);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

// ---- what is in it, as SQLite says --------------------------------------------------------------

// Every row of every table and index as text; NULL: it cannot be read.
static char *content(const char *path)
{
    static const char *const reads[] = {
        "PRAGMA application_id",
        "PRAGMA user_version",
        "SELECT * FROM meta",
        "SELECT * FROM thread",
        "SELECT * FROM ns",
        "SELECT * FROM word",
        "SELECT * FROM checkpoint",
        "SELECT * FROM record",
        "SELECT * FROM inbox",
        "SELECT * FROM event",
        "SELECT * FROM effect",
        "SELECT id, key FROM effect INDEXED BY effect_id ORDER BY id",
        "SELECT name, tid FROM thread INDEXED BY sqlite_autoindex_thread_1 ORDER BY name",
        "SELECT tid, name, nid FROM ns INDEXED BY sqlite_autoindex_ns_1 ORDER BY tid, name",
        "SELECT text, wid FROM word INDEXED BY sqlite_autoindex_word_1 ORDER BY text",
        "SELECT * FROM item",
        "SELECT * FROM note",
        "SELECT ns, key, iid FROM item INDEXED BY sqlite_autoindex_item_1 ORDER BY ns, key",
        "SELECT expires_ms, iid FROM item INDEXED BY item_expires WHERE expires_ms<>0"
        " ORDER BY expires_ms, iid",
        "SELECT * FROM session",
        "SELECT * FROM lane",
        "SELECT id, sid FROM session INDEXED BY sqlite_autoindex_session_1 ORDER BY id",
        "SELECT lane, priority, order_ms, sid FROM session INDEXED BY session_next WHERE state=0"
        " ORDER BY lane, priority, order_ms, sid",
        "SELECT due_ms, sid FROM session INDEXED BY session_due WHERE state=1 ORDER BY due_ms, sid",
        "SELECT head_priority, head_order, head, name FROM lane INDEXED BY lane_ready"
        " WHERE head<>0 AND running=0 ORDER BY head_priority, head_order, head, name",
        "SELECT term, doc FROM temp.v ORDER BY term, doc"};
    sqlite3 *db = NULL;
    pons_buf b = PONS_BUF_INIT;
    bool good = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
    good = good && sqlite3_exec(db,
                                "CREATE VIRTUAL TABLE temp.v USING fts5vocab('main','item_words',"
                                "'instance')",
                                NULL, NULL, NULL) == SQLITE_OK;
    for (size_t i = 0; good && i < sizeof reads / sizeof *reads; i++) {
        sqlite3_stmt *st = NULL;
        int code = sqlite3_prepare_v2(db, reads[i], -1, &st, NULL);
        good = code == SQLITE_OK;
        while (good && (code = sqlite3_step(st)) == SQLITE_ROW) {
            for (int k = 0; k < sqlite3_column_count(st); k++) {
                const char *name = sqlite3_column_name(st, k);
                if (strcmp(name, "sum") == 0) {
                    continue; // of the content, no part of it
                }
                pons_buf_printf(&b, "|%d:", sqlite3_column_type(st, k));
                const void *blob = sqlite3_column_blob(st, k);
                const int n = sqlite3_column_bytes(st, k);
                for (int j = 0; j < n; j++) {
                    static const char digits[] = "0123456789abcdef";
                    const uint8_t byte = ((const uint8_t *)blob)[j];
                    pons_buf_byte(&b, digits[byte >> 4]);
                    pons_buf_byte(&b, digits[byte & 15]);
                }
            }
            pons_buf_byte(&b, '\n');
        }
        good = good && code == SQLITE_DONE;
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
    char *text = good ? pons_buf_take(&b, NULL) : NULL;
    pons_buf_fini(&b);
    return text;
}

// ---- ways to damage it --------------------------------------------------------------------------

typedef enum kind { LEAF, INNER, INDEX_LEAF, INDEX_INNER, OTHER } kind; // of a page

static kind kind_of(const bytes *b, size_t page) // from 0
{
    switch (b->at[page * PAGE + (page ? 0 : 100)]) {
    case 0x0d:
        return LEAF;
    case 0x05:
        return INNER;
    case 0x0a:
        return INDEX_LEAF;
    case 0x02:
        return INDEX_INNER;
    default:
        return OTHER;
    }
}

static size_t page_of(const bytes *b, pons_rand *r, kind want)
{
    size_t page = pons_rand_below(r, b->n / PAGE);
    for (size_t i = 0; i < b->n / PAGE; i++, page = (page + 1) % (b->n / PAGE)) {
        if (page > 1 && kind_of(b, page) == want) {
            break;
        }
    }
    return page;
}

static void flip(bytes *b, pons_rand *r, size_t from, size_t n)
{
    b->at[from + pons_rand_below(r, n)] ^= (uint8_t)(1u << pons_rand_below(r, 8));
}

static void flip_kind(bytes *b, pons_rand *r, kind k)
{
    flip(b, r, page_of(b, r, k) * PAGE, PAGE);
}

typedef void (*spoil_fn)(bytes *b, pons_rand *r);
static void flip_header(bytes *b, pons_rand *r)
{
    flip(b, r, 0, 100);
}
static void flip_schema(bytes *b, pons_rand *r)
{
    flip(b, r, 100, PAGE - 100);
}
static void flip_map(bytes *b, pons_rand *r)
{
    flip(b, r, PAGE, PAGE);
}
static void flip_leaf(bytes *b, pons_rand *r)
{
    flip_kind(b, r, LEAF);
}
static void flip_inner(bytes *b, pons_rand *r)
{
    flip_kind(b, r, INNER);
}
static void flip_index(bytes *b, pons_rand *r)
{
    flip_kind(b, r, INDEX_LEAF);
}
static void flip_index_inner(bytes *b, pons_rand *r)
{
    flip_kind(b, r, INDEX_INNER);
}
static void flip_other(bytes *b, pons_rand *r) // overflow and free pages
{
    flip_kind(b, r, OTHER);
}
static void flip_page_header(bytes *b, pons_rand *r)
{
    flip(b, r, (2 + pons_rand_below(r, b->n / PAGE - 2)) * PAGE, 12);
}
static void flip_anywhere(bytes *b, pons_rand *r)
{
    flip(b, r, 0, b->n);
}
static void zero_page(bytes *b, pons_rand *r)
{
    memset(b->at + pons_rand_below(r, b->n / PAGE) * PAGE, 0, PAGE);
}
static void swap_pages(bytes *b, pons_rand *r)
{
    uint8_t keep[PAGE];
    uint8_t *x = b->at + (1 + pons_rand_below(r, b->n / PAGE - 1)) * PAGE;
    uint8_t *y = b->at + (1 + pons_rand_below(r, b->n / PAGE - 1)) * PAGE;
    memcpy(keep, x, PAGE);
    memmove(x, y, PAGE);
    memcpy(y, keep, PAGE);
}
static void double_page(bytes *b, pons_rand *r)
{
    memmove(b->at + pons_rand_below(r, b->n / PAGE) * PAGE,
            b->at + pons_rand_below(r, b->n / PAGE) * PAGE, PAGE);
}
static void noise(bytes *b, pons_rand *r)
{
    const size_t at = pons_rand_below(r, b->n - 64);
    for (size_t i = 0; i < 64; i++) {
        b->at[at + i] = (uint8_t)pons_rand_below(r, 256);
    }
}
static void cut_page(bytes *b, pons_rand *r)
{
    b->n = (1 + pons_rand_below(r, b->n / PAGE - 1)) * PAGE;
}
static void cut_anywhere(bytes *b, pons_rand *r)
{
    b->n = pons_rand_below(r, b->n);
}
static void empty(bytes *b, pons_rand *r)
{
    (void)r;
    b->n = 0;
}
static void log_header(bytes *b, pons_rand *r)
{
    flip(b, r, 0, 32);
}
static void log_frame(bytes *b, pons_rand *r)
{
    const size_t frames = (b->n - 32) / (PAGE + 24);
    flip(b, r, 32 + pons_rand_below(r, frames) * (PAGE + 24), 24);
}
static void log_page(bytes *b, pons_rand *r)
{
    flip(b, r, 32, b->n - 32);
}
static void log_last(bytes *b, pons_rand *r)
{
    flip(b, r, b->n - PAGE - 24, PAGE + 24);
}
static void log_frames_gone(bytes *b, pons_rand *r)
{
    const size_t frames = (b->n - 32) / (PAGE + 24);
    b->n = 32 + pons_rand_below(r, frames) * (PAGE + 24);
}

static const struct way {
    const char *name;
    int part; // of the files: 0 the database, 1 the log
    spoil_fn spoil;
    int seeds;
} ways[] = {
    {"a bit of the header", 0, flip_header, 24},
    {"a bit of the schema's page", 0, flip_schema, 12},
    {"a bit of the map of pages", 0, flip_map, 8},
    {"a bit of a leaf", 0, flip_leaf, 40},
    {"a bit of an interior page", 0, flip_inner, 16},
    {"a bit of an index's leaf", 0, flip_index, 24},
    {"a bit of an index's interior page", 0, flip_index_inner, 12},
    {"a bit of an overflow or free page", 0, flip_other, 24},
    {"a bit of a page's header", 0, flip_page_header, 24},
    {"a bit anywhere", 0, flip_anywhere, 40},
    {"a page of zeros", 0, zero_page, 12},
    {"two pages swapped", 0, swap_pages, 12},
    {"a page over another", 0, double_page, 12},
    {"64 bytes of noise", 0, noise, 16},
    {"cut at a page", 0, cut_page, 6},
    {"cut anywhere", 0, cut_anywhere, 8},
    {"an empty file", 0, empty, 1},
    {"a bit of the log's header", 1, log_header, 12},
    {"a bit of a frame's header", 1, log_frame, 16},
    {"a bit of the log", 1, log_page, 16},
    {"a bit of the log's last frame", 1, log_last, 12},
    {"the log cut at a frame", 1, log_frames_gone, 8},
    {"the log cut anywhere", 1, cut_anywhere, 8},
    {"an empty log", 1, empty, 1},
};

static const char *const sql_ways[] = {
    "DELETE FROM meta",
    "UPDATE meta SET value=7",
    "DELETE FROM thread WHERE name='t1'",
    "UPDATE thread SET name='t9' WHERE name='t1'",
    "UPDATE thread SET inbox_seq=1",
    "UPDATE thread SET epoch=99",
    "DELETE FROM ns WHERE name='react'",
    "UPDATE ns SET name='other' WHERE name='kernel'",
    "DELETE FROM word WHERE text='tick'",
    "UPDATE word SET text='tock' WHERE text='tick'",
    "DELETE FROM event WHERE key IN (SELECT key FROM event ORDER BY key LIMIT 3 OFFSET 20)",
    "UPDATE event SET payload='{\"step\":' WHERE key=(SELECT max(key) FROM event)",
    "UPDATE event SET payload=CAST('{\"step\":9}' AS BLOB)"
    " WHERE key=(SELECT max(key) FROM event)",
    "UPDATE event SET ts_ms=ts_ms+1 WHERE key=(SELECT min(key) FROM event)",
    "UPDATE event SET type=type+1",
    "DELETE FROM effect WHERE key=(SELECT min(key) FROM effect)",
    "UPDATE effect SET state=3 WHERE state=1",
    "UPDATE effect SET data=x'00ff' WHERE key=(SELECT max(key) FROM effect)",
    "DELETE FROM checkpoint WHERE key IN (SELECT key FROM checkpoint ORDER BY key LIMIT 1 OFFSET "
    "7)",
    "UPDATE checkpoint SET data=substr(data,1,length(data)-1)",
    "UPDATE checkpoint SET parent=parent+1 WHERE meta>20",
    "UPDATE checkpoint SET meta=meta|1",
    "UPDATE record SET data=x'7b7d'",
    "UPDATE record SET idx=idx+7",
    "UPDATE inbox SET value=x'6e756c6c'",
    "UPDATE inbox SET key=key+9000 WHERE key=(SELECT max(key) FROM inbox)",
    // An event as a snapshot: every rule holds, and the sum would, were it of the columns alone.
    "INSERT INTO checkpoint SELECT key,nid,ts_ms,type,payload,sum FROM event WHERE type%2=1 AND"
    " key>>36=1 ORDER BY key DESC LIMIT 1",
    "UPDATE item SET value=x'7b7d' WHERE key='k3'",
    "UPDATE item SET words='window' WHERE key='k4'",
    "UPDATE item SET words='a           b' WHERE key='k4'",
    "UPDATE item SET expires_ms=expires_ms+1 WHERE key='k3'",
    "UPDATE item SET ns='people.' WHERE ns='people' AND key='k9'",
    "UPDATE item SET vectors=substr(vectors,2) WHERE key='k4'",
    "DELETE FROM item WHERE key='k7'", // its words are in the index still
    "INSERT INTO item_words(rowid,words) VALUES(9999,'nobody')",
    "INSERT INTO item_words(item_words,rowid,words) SELECT 'delete',iid,words FROM item LIMIT 1",
    "DROP TABLE item_words",
    "DROP INDEX item_expires",
    "DROP TABLE item",
    "DROP TABLE note",
    "UPDATE session SET data=x'7b7d' WHERE id='s1'",
    "UPDATE session SET state=3 WHERE id='s2'",
    "UPDATE session SET owner='r2' WHERE state=2",
    "UPDATE session SET lane='wrist' WHERE id='s0'",
    "UPDATE session SET id='s9' WHERE id='s4'",
    "DELETE FROM session WHERE id='s2'",
    "DELETE FROM session WHERE id='s1'", // the lane's head
    "UPDATE lane SET epoch=0 WHERE name='arm'",
    "UPDATE lane SET head=0 WHERE name='arm'",
    "DELETE FROM lane WHERE name='base'",
    "DROP TABLE lane",
    "DROP TABLE session",
    "DROP INDEX session_next",
    "DROP INDEX lane_ready",
    "UPDATE note SET data=x'7b7d'",
    "UPDATE note SET key=key+100",
    "PRAGMA user_version=9",
    "PRAGMA user_version=1048579",
    "PRAGMA application_id=1",
    "DROP TABLE record",
    "DROP INDEX effect_id",
    "PRAGMA journal_mode=DELETE",
};

// ---- the looks ----------------------------------------------------------------------------------

typedef struct received {
    char first[200];
    int64_t n;
} received;

static void hear(void *user, bool damage, const char *line)
{
    received *h = user;
    if (damage && h->n++ == 0) {
        snprintf(h->first, sizeof h->first, "%s", line);
    }
}

static struct tally {
    int damaged, named, same, same_named, repaired, lost;
} tally;

// A repair gives a sound store, keeps the damaged one, and says why when it cannot.
static void repair(const char *how, uint64_t seed)
{
    alarm(REPAIR_S); // a repair that does not end is told by the seed printed last
    char kept[PATH_MAX], line[PATH_MAX + 8];
    pons_error why = PONS_ERROR_INIT;
    int64_t n = 0;
    received h = {0};
    bytes before = load(victim);
    const int rc = pons_store_repair(victim, kept, sizeof kept, NULL, NULL, &why);
    bytes copy = load(kept);
    assert_int_equal(copy.n, before.n);
    assert_memory_equal(copy.at, before.at, before.n);
    if (rc == PONS_OK) {
        OK(pons_store_check(victim, hear, &h, &n, &err));
        if (n) {
            fail_msg("%s, seed %llu: repaired, and still: %s", how, (unsigned long long)seed,
                     h.first);
        }
        tally.repaired++;
    } else {
        bytes after = load(victim);
        assert_int_equal(after.n, before.n);
        assert_memory_equal(after.at, before.at, before.n);
        free(after.at);
        tally.lost++;
        printf("%s, seed %llu: %s\n", how, (unsigned long long)seed,
               pons_error_line(&why, line, sizeof line));
    }
    alarm(0);
    free(before.at);
    free(copy.at);
    for (size_t i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "%s%s", kept, parts[i]);
        unlink(line);
    }
}

// victim is damaged. What it has is known from probe, a copy.
static void judge(const char *was, const char *how, uint64_t seed)
{
    copy_all(victim, probe);
    bytes before = load(victim);
    received h = {0};
    int64_t n = 0;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_store_check(victim, hear, &h, &n, &err);
    assert_int_equal(n, h.n * (rc == PONS_OK));
    bytes after = load(victim); // a look may at most move a sound log
    if (n > 0 || rc) {
        assert_int_equal(after.n, before.n);
        assert_memory_equal(after.at, before.at, before.n);
    }
    free(before.at);
    free(after.at);
    char *is = content(probe);
    const bool same = is && strcmp(is, was) == 0;
    free(is);
    const bool named = rc != PONS_OK || n > 0;
    tally.damaged += !same;
    tally.named += !same && named;
    tally.same += same;
    tally.same_named += same && named;
    if (!same && !named) {
        fail_msg("%s, seed %llu: something is lost or altered, and the check says nothing", how,
                 (unsigned long long)seed);
    }
    if (rc == PONS_OK && n > 0 && seed % 3 == 0) {
        repair(how, seed);
    }
}

static void test_bytes(void **state)
{
    (void)state;
    char *was = NULL;
    const uint64_t first = 20261122;
    const long share = rounds(ROUNDS_store_damage);
    int tried = 0, all = 0;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        if (w == 0 || ways[w].part != ways[w - 1].part) {
            make_base(ways[w].part == 1);
            copy_all(base, probe);
            free(was);
            was = content(probe);
            assert_non_null(was);
            copy_all(base, victim);
            received h = {0};
            int64_t n = 0;
            OK(pons_store_check(victim, hear, &h, &n, &err));
            if (n) {
                fail_msg("a sound store is called damaged: %s", h.first);
            }
        }
        all += ways[w].seeds;
        for (int k = 0; k < ways[w].seeds; k++) {
            if (k > 0 && k * share / 100 == (k - 1) * share / 100) {
                continue;
            }
            tried++;
            pons_rand r;
            char path[160];
            const uint64_t seed = first + w * 1000 + (uint64_t)k;
            pons_rand_seed(&r, seed);
            copy_all(base, victim);
            snprintf(path, sizeof path, "%s%s", victim, parts[ways[w].part]);
            bytes b = load(path);
            ways[w].spoil(&b, &r);
            save(path, b);
            free(b.at);
            judge(was, ways[w].name, seed);
        }
    }
    free(was);
    printf("seeds from %llu: %d of %d with something lost or altered are named; %d lost nothing "
           "(%d of them are named too)\n",
           (unsigned long long)first, tally.named, tally.damaged, tally.same, tally.same_named);
    printf("%d could be repaired, of %d nothing could be read\n", tally.repaired, tally.lost);
    assert_true(tally.damaged > 150 * tried / all);
}

static void test_rows(void **state)
{
    (void)state;
    make_base(false);
    for (size_t i = 0; i < sizeof sql_ways / sizeof *sql_ways; i++) {
        sqlite3 *db = NULL;
        copy_all(base, victim);
        assert_int_equal(sqlite3_open(victim, &db), SQLITE_OK);
        char *why = NULL;
        if (sqlite3_exec(db, sql_ways[i], NULL, NULL, &why) != SQLITE_OK) {
            fail_msg("%s: %s", sql_ways[i], why);
        }
        sqlite3_close(db);
        received h = {0};
        int64_t n = 0;
        const int rc = pons_store_check(victim, hear, &h, &n, NULL);
        if (rc == PONS_OK && n == 0) {
            fail_msg("%s: the check says nothing", sql_ways[i]);
        }
        if (rc == PONS_OK && rounds_take(ROUNDS_store_repairs, (long)i,
                                         (long)(sizeof sql_ways / sizeof *sql_ways))) {
            repair(sql_ways[i], 0);
        }
    }
}

// ---- a damaged log is not opened ----------------------------------------------------------------

static void same_files(const bytes was[3], const char *how, int round)
{
    for (size_t i = 0; i < 3; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s%s", victim, parts[i]);
        bytes is = load(name);
        if (is.n != was[i].n || memcmp(is.at, was[i].at, is.n) != 0) {
            fail_msg("round %d: %s changed %s", round, how, name);
        }
        free(is.at);
    }
}

// Sixteen bytes of the log of a killed process are bad, anywhere: whoever opens the store next, to
// read or to write, is told, and how much is lost, and of which threads where that can be known; so
// is the next one; the files are as they were.
static void test_opened(void **state)
{
    (void)state;
    int named = 0, tried = 0;
    make_base(true);
    char log[160];
    snprintf(log, sizeof log, "%s-wal", victim);
    for (int round = 0; round < 100; round++) {
        if (!rounds_take(ROUNDS_store_log, round, 100)) {
            continue;
        }
        tried++;
        pons_rand r;
        pons_rand_seed(&r, 34000 + (uint64_t)round);
        copy_all(base, victim);
        bytes b = load(log);
        const size_t at = pons_rand_below(&r, b.n - 16);
        for (size_t i = 0; i < 16; i++) {
            b.at[at + i] ^= 0x5a;
        }
        save(log, b);
        free(b.at);
        bytes was[3];
        for (size_t i = 0; i < 3; i++) {
            char name[160];
            snprintf(name, sizeof name, "%s%s", victim, parts[i]);
            was[i] = load(name);
        }
        char first[1200] = "", line[1200];
        for (int look = 0; look < 5; look++) {
            pons_store s = {0};
            pons_error why = PONS_ERROR_INIT;
            received h = {0};
            int64_t n = 0;
            if (look == 3) { // a look at all of it changes nothing either
                OK(pons_store_check(victim, hear, &h, &n, &err));
                assert_true(n > 0);
                same_files(was, "the check", round);
                continue;
            }
            const int rc = look % 2 ? pons_store_sqlite_open(victim, &s, &why)
                                    : pons_store_open_read(victim, &s, &why);
            if (rc != PONS_ECORRUPT) {
                fail_msg("round %d, byte %zu of the log, look %d: it is opened", round, at, look);
            }
            pons_error_line(&why, line, sizeof line);
            if (look == 0) {
                snprintf(first, sizeof first, "%s", line);
            }
            assert_string_equal(line, first);
            same_files(was, "an open", round);
        }
        assert_non_null(strstr(first, "cannot be read"));
        named += strstr(first, "commits of threads t") || strstr(first, "of no thread cannot");
        for (size_t i = 0; i < 3; i++) {
            free(was[i].at);
        }
    }
    printf("%d of %d damaged logs are refused, %d with the threads' names\n", tried, tried, named);
    assert_true(named >= tried * 8 / 10);
}

// A sound log of a killed process: who reads it changes nothing but the index, which may be made.
// One that was cut by a power cut, on a host that was started since, is opened.
static void test_sound_log(void **state)
{
    (void)state;
    char path[200];
    pons_store s = {0};
    make_base(true);
    copy_all(base, victim);
    bytes was[3];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", victim, parts[i]);
        was[i] = load(path);
    }
    for (int index = 1; index >= 0; index--) {
        OK(pons_store_open_read(victim, &s, &err));
        int64_t last = 0;
        OK(s.ops->event_last(s.self, "t1", &last, &err));
        assert_int_equal(last, 2 * STEPS);
        pons_store_close(&s);
        bytes now[2];
        for (size_t i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "%s%s", victim, parts[i]);
            now[i] = load(path);
            assert_int_equal(now[i].n, was[i].n);
            assert_memory_equal(now[i].at, was[i].at, was[i].n);
            free(now[i].at);
        }
        unlink(path); // and without an index
        snprintf(path, sizeof path, "%s-wal", victim);
        save(path, was[1]);
        snprintf(path, sizeof path, "%s-shm", victim);
        unlink(path);
    }
    // The last commit did not reach the disk whole.
    copy_all(base, victim);
    snprintf(path, sizeof path, "%s-wal", victim);
    bytes b = load(path);
    for (size_t i = b.n - 100; i < b.n; i++) {
        b.at[i] ^= 0x5a;
    }
    save(path, b);
    free(b.at);
    assert_int_equal(pons_store_open_read(victim, &s, NULL), PONS_ECORRUPT);
    snprintf(path, sizeof path, "%s-locks", victim);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s-locks/boot", victim);
    save(path, (bytes){(uint8_t *)"an earlier one\n", 15});
    OK(pons_store_open_read(victim, &s, &err));
    pons_store_close(&s);
    unlink(path);
    for (size_t i = 0; i < 3; i++) {
        free(was[i].at);
    }
}

static size_t root_of(sqlite3 *db, const char *name)
{
    sqlite3_stmt *st = NULL;
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_master WHERE name=?1", -1, &st, NULL),
        SQLITE_OK);
    sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    const size_t page = (size_t)sqlite3_column_int(st, 0) - 1;
    sqlite3_finalize(st);
    return page;
}

// Names are lost, and the index that has them once more has another index's, or table's, pages: what
// is read there are no names.
static void test_pages_of_others(void **state)
{
    (void)state;
    static const char *const index[] = {"sqlite_autoindex_ns_1",
                                        "sqlite_autoindex_thread_1",
                                        "sqlite_autoindex_word_1",
                                        "effect_id",
                                        "event",
                                        "record"};
    static const char *const table[] = {"ns", "thread", "word"};
    make_base(false);
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < sizeof index / sizeof *index; k++) {
            char how[200];
            sqlite3 *db = NULL;
            copy_all(base, victim);
            bytes b = load(victim);
            assert_int_equal(sqlite3_open(base, &db), SQLITE_OK);
            memset(b.at + root_of(db, table[i]) * PAGE, 0, PAGE);
            memmove(b.at + root_of(db, index[i]) * PAGE, b.at + root_of(db, index[k]) * PAGE, PAGE);
            sqlite3_close(db);
            save(victim, b);
            free(b.at);
            snprintf(how, sizeof how, "%s without %s, its index has the pages of %s", base,
                     table[i], index[k]);
            const int lost = tally.lost;
            repair(how, 0);
            if (tally.lost != lost) {
                fail_msg("%s: cannot be repaired", how);
            }
        }
    }
}

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/pons-damage-XXXXXX");
    if (!mkdtemp(dir)) {
        return -1;
    }
    snprintf(base, sizeof base, "%s/base.db", dir);
    snprintf(victim, sizeof victim, "%s/victim.db", dir);
    snprintf(probe, sizeof probe, "%s/probe.db", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return getenv("PONS_TEST_KEEP") ? 0 : system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),           cmocka_unit_test(test_opened),
        cmocka_unit_test(test_sound_log),       cmocka_unit_test(test_rows),
        cmocka_unit_test(test_pages_of_others),
    };
    return cmocka_run_group_tests_name("damage", tests, setup, teardown);
}
