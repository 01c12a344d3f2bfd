// search_knowledge.c - search_knowledge: full text over the workspace's documents, in SQLite's FTS5.
//
// run/knowledge.db is a cache of what the documents say. It may be deleted at any time: every
// search first walks the workspace, takes in what is new or changed (size, time, inode), and drops
// what is gone. A document is cut at its headings into passages; a passage's words, in FTS5, are
// the ones that word_tokens.c makes, so that a Chinese word of two characters is found as well as an
// English one.
//
// One connection, one search at a time; several processes may share the file.
#include "tools/search_knowledge.h"

#include "pons/buf.h"
#include "pons/random.h"
#include "tools/core/bytes_to_text.h"
#include "tools/core/config.h"
#include "tools/core/core.h"
#include "tools/core/path.h"
#include "tools/word_tokens.h"

#include <sqlite3.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME          "run/knowledge"
#define VERSION       1 // of what is in the file
#define FILES         5000
#define FILE_KB       1024
#define PASSAGE_BYTES 2000
#define HEADING_BYTES 200
#define DEPTH_MAX     16
#define RESULTS       5
#define RESULTS_MAX   50
#define BUSY_MS       5000

struct pons__knowledge {
    pthread_mutex_t mtx;
    sqlite3 *db; // [mtx] NULL until the first search
};

typedef struct walk {
    pons__work *w;
    sqlite3 *db;
    sqlite3_stmt *look, *drop_words, *drop_passages, *drop_file, *add_file, *add_passage,
        *add_words, *mark;
    const pons_value *suffixes;
    size_t files, files_max, skipped;
    int64_t file_bytes, now;
    char *buf;
    bool cut;
} walk;

// ---- the file -----------------------------------------------------------------------------------

static int db_error(sqlite3 *db, const char *what, pons_error *err)
{
    pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot %s " NAME, what);
    return pons_error_cause(err, "%s", sqlite3_errmsg(db));
}

static int user_version(sqlite3 *db)
{
    sqlite3_stmt *s = NULL;
    int version = -1;
    if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW) {
        version = sqlite3_column_int(s, 0);
    }
    sqlite3_finalize(s);
    return version;
}

static int try_open(const char *path, sqlite3 **ret)
{
    static const char tables[] =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
        "BEGIN IMMEDIATE;"
        "CREATE TABLE IF NOT EXISTS files(id INTEGER PRIMARY KEY, path TEXT UNIQUE, stamp TEXT, "
        "seen INTEGER);"
        "CREATE TABLE IF NOT EXISTS passages(id INTEGER PRIMARY KEY, file INTEGER, line INTEGER, "
        "heading TEXT, body TEXT);"
        "CREATE INDEX IF NOT EXISTS passages_file ON passages(file);"
        "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(heading, body, "
        "tokenize=\"unicode61 remove_diacritics 2 tokenchars '_'\");"
        "PRAGMA user_version=1;"
        "COMMIT;";
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                                 SQLITE_OPEN_NOFOLLOW,
                             NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(db, BUSY_MS);
        const int version = user_version(db);
        rc = version == 0 || version == VERSION ? sqlite3_exec(db, tables, NULL, NULL, NULL)
                                                : SQLITE_NOTADB;
    }
    *ret = db;
    return rc;
}

// A file that is not what it should be is only a cache: it is made anew.
static int open_db(pons__work *w, sqlite3 **ret, pons_error *err)
{
    char path[PATH_MAX + 64];
    mkdirat(w->core->state_fd, "run", 0700); // if it cannot be made, neither can the file
    snprintf(path, sizeof path, "%.*s/" NAME "%s.db", PATH_MAX, w->core->state, w->core->tag);
    sqlite3 *db = NULL;
    int rc = try_open(path, &db);
    if (rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT || rc == SQLITE_ERROR) {
        sqlite3_close(db);
        unlink(path);
        rc = try_open(path, &db);
    }
    if (rc != SQLITE_OK) {
        rc = db_error(db, "open", err);
        sqlite3_close(db);
        return rc;
    }
    *ret = db;
    return PONS_OK;
}

// ---- taking in documents ------------------------------------------------------------------------

static bool run(sqlite3_stmt *s)
{
    const int rc = sqlite3_step(s);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return rc == SQLITE_DONE || rc == SQLITE_ROW;
}

static void add_passage(walk *k, int64_t file, int line, const char *heading, size_t heading_n,
                        const char *body, size_t n)
{
    size_t blank = 0;
    while (blank < n && strchr(" \t\r\n", body[blank])) {
        blank++;
    }
    if (blank == n && heading_n == 0) {
        return;
    }
    sqlite3_bind_int64(k->add_passage, 1, file);
    sqlite3_bind_int(k->add_passage, 2, line);
    sqlite3_bind_text(k->add_passage, 3, heading, (int)heading_n, SQLITE_TRANSIENT);
    sqlite3_bind_text(k->add_passage, 4, body, (int)n, SQLITE_TRANSIENT);
    run(k->add_passage);
    pons_autobuf head = PONS_BUF_INIT;
    pons_autobuf words = PONS_BUF_INIT;
    pons__tokens_index(&head, heading, heading_n);
    pons__tokens_index(&words, body, n);
    sqlite3_bind_int64(k->add_words, 1, sqlite3_last_insert_rowid(k->db));
    sqlite3_bind_text(k->add_words, 2, head.data ? head.data : "", (int)head.len, SQLITE_TRANSIENT);
    sqlite3_bind_text(k->add_words, 3, words.data ? words.data : "", (int)words.len,
                      SQLITE_TRANSIENT);
    run(k->add_words);
}

// The # that a heading's line begins with; 0 for another line.
static size_t heading_marks(const char *line, size_t n)
{
    size_t marks = 0;
    while (marks < n && line[marks] == '#') {
        marks++;
    }
    return marks <= 6 && marks < n && line[marks] == ' ' ? marks : 0;
}

// Passages end at a heading, and at the first empty line or line end after PASSAGE_BYTES.
static void add_document(walk *k, int64_t file, const char *text, size_t n)
{
    const char *heading = "", *begin = text;
    size_t heading_n = 0;
    int line = 1, begin_line = 1;
    for (size_t i = 0; i <= n;) {
        const char *nl = i < n ? memchr(text + i, '\n', n - i) : NULL;
        const size_t len = nl ? (size_t)(nl - (text + i)) : n - i;
        const size_t marks = heading_marks(text + i, len);
        const bool is_heading = marks > 0;
        const size_t so_far = (size_t)(text + i - begin);
        if (is_heading || i == n || so_far + len > PASSAGE_BYTES) {
            add_passage(k, file, begin_line, heading, heading_n, begin, so_far);
            begin = text + i;
            begin_line = line;
        }
        if (i == n) {
            break;
        }
        if (is_heading) {
            heading = text + i + marks + 1;
            heading_n = len - marks - 1;
            heading_n =
                heading_n > HEADING_BYTES ? pons__text_cut(heading, HEADING_BYTES) : heading_n;
            begin = nl ? nl + 1 : text + n;
            begin_line = line;
        }
        // One line without end is cut into passages too.
        while (!is_heading && len > PASSAGE_BYTES &&
               (size_t)(text + i + len - begin) > PASSAGE_BYTES) {
            const size_t cut = pons__text_cut(begin, PASSAGE_BYTES);
            add_passage(k, file, begin_line, heading, heading_n, begin, cut);
            begin += cut;
        }
        i += len + (nl != NULL);
        line++;
        if (!nl && i < n) {
            i = n;
        }
    }
}

static void forget(walk *k, int64_t file)
{
    sqlite3_bind_int64(k->drop_words, 1, file);
    run(k->drop_words);
    sqlite3_bind_int64(k->drop_passages, 1, file);
    run(k->drop_passages);
    sqlite3_bind_int64(k->drop_file, 1, file);
    run(k->drop_file);
}

static bool wanted(const walk *k, const char *name)
{
    static const char *const usual[] = {".md", ".txt", ".rst", ".adoc", ".org"};
    const size_t n = strlen(name);
    size_t i;
    pons_each(v, k->suffixes) {
        const size_t len = json_string_length(v);
        if (n > len && strcasecmp(name + n - len, json_string_value(v)) == 0) {
            return true;
        }
    }
    for (i = 0; !k->suffixes && i < sizeof usual / sizeof usual[0]; i++) {
        const size_t len = strlen(usual[i]);
        if (n > len && strcasecmp(name + n - len, usual[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void take_in(walk *k, int dir, const char *name, const char *path)
{
    const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    char stamp[96];
    snprintf(stamp, sizeof stamp, "%" PRIu64 ":%" PRId64 ":%" PRId64 ".%09ld", (uint64_t)st.st_ino,
             (int64_t)st.st_size, (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    sqlite3_bind_text(k->look, 1, path, -1, SQLITE_STATIC);
    const bool known = sqlite3_step(k->look) == SQLITE_ROW;
    const int64_t id = known ? sqlite3_column_int64(k->look, 0) : 0;
    const bool same = known && strcmp((const char *)sqlite3_column_text(k->look, 1), stamp) == 0;
    sqlite3_reset(k->look);
    if (same) {
        sqlite3_bind_int64(k->mark, 1, k->now);
        sqlite3_bind_int64(k->mark, 2, id);
        run(k->mark);
        close(fd);
        return;
    }
    if (known) {
        forget(k, id);
    }
    const ssize_t n = read(fd, k->buf, (size_t)k->file_bytes);
    close(fd);
    k->cut |= st.st_size > k->file_bytes;
    sqlite3_bind_text(k->add_file, 1, path, -1, SQLITE_STATIC);
    sqlite3_bind_text(k->add_file, 2, stamp, -1, SQLITE_STATIC);
    sqlite3_bind_int64(k->add_file, 3, k->now);
    if (!run(k->add_file) || n <= 0 || pons__binary_kind(k->buf, (size_t)n)) {
        k->skipped++;
        return;
    }
    const int64_t file = sqlite3_last_insert_rowid(k->db);
    pons_autobuf text = PONS_BUF_INIT;
    pons__text_append(&text, k->buf, pons__text_cut(k->buf, (size_t)n), NULL);
    if (!text.failed) {
        add_document(k, file, text.data, text.len);
    }
}

// Takes the descriptor.
static void walk_dir(walk *k, int fd, const char *path, int depth)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return;
    }
    for (const struct dirent *d = readdir(dir); d && !pons__stopped(k->w); d = readdir(dir)) {
        char child[PATH_MAX];
        struct stat st;
        const int n =
            snprintf(child, sizeof child, "%s%s%s", *path ? path : "", *path ? "/" : "", d->d_name);
        if (d->d_name[0] == '.' || n >= (int)sizeof child ||
            pons_utf8_sequence(d->d_name, strlen(d->d_name)) == 0 || strcmp(child, "run") == 0 ||
            strcmp(child, "config") == 0 || strcmp(d->d_name, "node_modules") == 0 ||
            fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            continue;
        }
        if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
            const int sub = openat(fd, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (sub >= 0) {
                walk_dir(k, sub, child, depth + 1);
            }
        } else if (S_ISREG(st.st_mode) && wanted(k, d->d_name) &&
                   !pons__path_hidden(k->w->core, child, &st)) {
            if (k->files++ >= k->files_max) {
                k->cut = true;
                break;
            }
            take_in(k, fd, d->d_name, child);
        }
    }
    closedir(dir);
}

static bool prepare(sqlite3 *db, sqlite3_stmt **ret, const char *sql)
{
    return sqlite3_prepare_v2(db, sql, -1, ret, NULL) == SQLITE_OK;
}

static int drop_gone(walk *k)
{
    sqlite3_stmt *gone = NULL;
    if (!prepare(k->db, &gone, "SELECT id FROM files WHERE seen<>?1")) {
        return PONS_EIO;
    }
    sqlite3_bind_int64(gone, 1, k->now);
    int64_t ids[256];
    size_t n;
    do { // in pieces: a statement that is read may not see its table change
        n = 0;
        while (n < sizeof ids / sizeof ids[0] && sqlite3_step(gone) == SQLITE_ROW) {
            ids[n++] = sqlite3_column_int64(gone, 0);
        }
        sqlite3_reset(gone);
        for (size_t i = 0; i < n; i++) {
            forget(k, ids[i]);
        }
    } while (n == sizeof ids / sizeof ids[0]);
    sqlite3_finalize(gone);
    return PONS_OK;
}

// What tells this look at the workspace from every other one.
static int64_t random_mark(void)
{
    pons_rand rand;
    pons_rand_seed_os(&rand);
    return (int64_t)(pons_rand_u64(&rand) >> 1);
}

static int refresh(pons__work *w, sqlite3 *db, bool *ret_cut, pons_error *err)
{
    walk k = {.w = w,
              .db = db,
              .suffixes = pons__conf_value(w->core, "knowledge", "suffixes"),
              .files_max = (size_t)pons__conf(w->core, "knowledge", "files", FILES),
              .file_bytes = pons__conf(w->core, "knowledge", "file_kb", FILE_KB) * PONS__KIB,
              .now = random_mark()};
    k.buf = malloc((size_t)k.file_bytes);
    const int root = openat(w->core->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = PONS_OK;
    const bool ready =
        k.buf && root >= 0 && sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
        prepare(db, &k.look, "SELECT id,stamp FROM files WHERE path=?1") &&
        prepare(db, &k.drop_words,
                "DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE file=?1)") &&
        prepare(db, &k.drop_passages, "DELETE FROM passages WHERE file=?1") &&
        prepare(db, &k.drop_file, "DELETE FROM files WHERE id=?1") &&
        prepare(db, &k.add_file, "INSERT INTO files(path,stamp,seen) VALUES(?1,?2,?3)") &&
        prepare(db, &k.add_passage,
                "INSERT INTO passages(file,line,heading,body) VALUES(?1,?2,?3,?4)") &&
        prepare(db, &k.add_words, "INSERT INTO words(rowid,heading,body) VALUES(?1,?2,?3)") &&
        prepare(db, &k.mark, "UPDATE files SET seen=?1 WHERE id=?2");
    if (ready) {
        walk_dir(&k, root, "", 0);
        rc = pons__stopped(w) ? pons__stopped_error(err) : drop_gone(&k);
    } else {
        rc = db_error(db, "read", err);
        if (root >= 0) {
            close(root);
        }
    }
    sqlite3_stmt *all[] = {k.look,     k.drop_words,  k.drop_passages, k.drop_file,
                           k.add_file, k.add_passage, k.add_words,     k.mark};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sqlite3_finalize(all[i]);
    }
    free(k.buf);
    if (!sqlite3_get_autocommit(db) &&
        sqlite3_exec(db, rc >= 0 ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK) {
        const int failed = db_error(db, "write", err);
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        return failed;
    }
    *ret_cut = k.cut;
    return rc;
}

// ---- asking -------------------------------------------------------------------------------------

static int query(pons__work *w, sqlite3 *db, const char *match, int64_t most, pons_value *rows,
                 pons_error *err)
{
    static const char sql[] =
        "SELECT f.path, p.line, p.heading, p.body FROM words JOIN passages p ON p.id=words.rowid "
        "JOIN files f ON f.id=p.file WHERE words MATCH ?1 ORDER BY bm25(words, 4.0, 1.0), f.path, "
        "p.line LIMIT ?2";
    sqlite3_stmt *s = NULL;
    if (!prepare(db, &s, sql)) {
        return db_error(db, "search", err);
    }
    sqlite3_bind_text(s, 1, match, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, most);
    const size_t room = pons__conf_output(w->core);
    int step = SQLITE_DONE;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *path = (const char *)sqlite3_column_text(s, 0);
        const int line = sqlite3_column_int(s, 1);
        const char *heading = (const char *)sqlite3_column_text(s, 2);
        const char *body = (const char *)sqlite3_column_text(s, 3);
        if (!path || !heading || !body || w->out.len + strlen(body) > room) {
            w->truncated = true;
            continue;
        }
        pons_buf_printf(&w->out, "%s%s:%d%s%s\n%s\n", w->out.len ? "\n" : "", path, line,
                        *heading ? " — " : "", heading, body);
        json_array_append_new(rows,
                              pons_object("path", json_string(path), "line", json_integer(line),
                                          "heading", json_string(heading), NULL));
    }
    const int rc = step == SQLITE_DONE ? PONS_OK : db_error(db, "search", err);
    sqlite3_finalize(s);
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__knowledge_open(pons__core *c, pons__knowledge **ret, pons_error *err)
{
    pons__knowledge *k = calloc(1, sizeof *k);
    if (!k) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for the tools");
    }
    pthread_mutex_init(&k->mtx, NULL);
    *ret = k;
    return PONS_OK;
}

void pons__knowledge_close(pons__knowledge *k)
{
    if (k) {
        sqlite3_close_v2(k->db);
        pthread_mutex_destroy(&k->mtx);
        free(k);
    }
}

static int search(pons__work *w, sqlite3 *db, pons_error *err)
{
    const char *text = pons_get_str(w->args, "query", "");
    int64_t most =
        pons_get_int(w->args, "results", pons__conf(w->core, "knowledge", "results", RESULTS));
    most = most > RESULTS_MAX ? RESULTS_MAX : most;
    bool cut = false;
    int rc = refresh(w, db, &cut, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue rows = json_array();
    for (int any = 0; any <= 1 && rc >= 0 && json_array_size(rows) == 0; any++) {
        pons_autobuf match = PONS_BUF_INIT; // all words first; else any of them
        const int words = pons__tokens_query(&match, text, strlen(text), any);
        if (words <= 0) {
            return pons_error_set(err, PONS_EINVAL, PONS__TOOLS, "the query has no word");
        }
        rc = query(w, db, match.data, most, rows, err);
    }
    if (rc >= 0 && json_array_size(rows) == 0) {
        pons_buf_str(&w->out, "no document says anything about that\n");
    }
    if (rc >= 0 && cut) {
        w->truncated = true;
        pons_buf_str(&w->out, "[not all documents were read: there are too many, or too large]\n");
    }
    w->data = pons_object("passages", pons_value_ref(rows), NULL);
    return rc;
}

int pons__search_knowledge(pons__work *w, pons_error *err)
{
    pons__knowledge *k = w->core->knowledge;
    pthread_mutex_lock(&k->mtx);
    int rc = pons__stopped(w) ? pons__stopped_error(err) : PONS_OK;
    if (rc >= 0 && !k->db) {
        rc = open_db(w, &k->db, err);
    }
    rc = rc < 0 ? rc : search(w, k->db, err);
    pthread_mutex_unlock(&k->mtx);
    return rc;
}
