// search_lessons.c - search_lessons: entries of the workspace's LESSONS.md, the ones that fit best first.
//
// An entry is a heading of the second level and what stands below it, as the critic writes them, or an
// item of the list of a file that is YAML:
//
//     ## 2025-04-01 12:00:05 — grasp failed: object beyond reach
//     - **cause**: …
//
// They are few and short, so the index is made of them as they are, in memory, at each search: none can be
// out of date. It is two tables of SQLite's FTS5: trigrams, which find any piece of three characters or more,
// also within a word; and words (word_tokens.c), which find a Chinese word of two characters. What has the whole
// text that is looked for comes first, then what has all its words; where nothing has, what has any of them.
#include "tools/search_lessons.h"

#include "pons/buf.h"
#include "tools/core/bytes_to_text.h"
#include "tools/core/core.h"
#include "tools/core/path.h"
#include "tools/word_tokens.h"

#include <sqlite3.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME   "LESSONS.md"
#define FILE_BYTES  (4 * 1024 * 1024)
#define RESULTS     5
#define RESULTS_MAX 20
#define ENTRY_SHOWN 2000 // bytes

typedef struct lesson {
    const char *text; // of the whole entry
    size_t n, head_n;
    int line;
    bool yaml;
} lesson;

static bool add_lesson(lesson **list, size_t *found, lesson l)
{
    if (*found % 32 == 0) {
        lesson *grown = realloc(*list, (*found + 32) * sizeof *grown);
        if (!grown) {
            return false;
        }
        *list = grown;
    }
    (*list)[(*found)++] = l;
    return true;
}

// Entries of a page, or (yaml) of a list of YAML: its items, at the first one's indentation.
static size_t split(const char *text, size_t n, bool yaml, lesson **ret)
{
    size_t found = 0, indent = SIZE_MAX;
    int line = 1;
    bool open = false;
    for (size_t i = 0; i < n; line++) {
        const char *nl = memchr(text + i, '\n', n - i);
        const size_t len = nl ? (size_t)(nl - (text + i)) : n - i;
        size_t blank = 0;
        while (blank < len && text[i + blank] == ' ') {
            blank++;
        }
        const char *mark = yaml ? "- " : "## ";
        const size_t mark_n = strlen(mark);
        const bool item = len > blank + mark_n && memcmp(text + i + blank, mark, mark_n) == 0;
        if (item && (yaml ? indent == SIZE_MAX || blank == indent : blank == 0)) {
            indent = blank;
            open = add_lesson(
                ret, &found, (lesson){.text = text + i, .head_n = len, .line = line, .yaml = yaml});
        } else if ((!yaml && len > 2 && memcmp(text + i, "# ", 2) == 0) ||
                   (len >= 3 && memcmp(text + i, "```", 3) == 0) ||
                   (len >= 4 && memcmp(text + i, "<!--", 4) == 0)) {
            open = false;
        }
        i += len + (nl != NULL);
        if (open) {
            lesson *l = &(*ret)[found - 1];
            l->n = (size_t)(text + i - l->text);
        }
    }
    return found;
}

// ---- the index ----------------------------------------------------------------------------------

static bool exec(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool insert(sqlite3_stmt *s, size_t id, const char *head, size_t head_n, const char *body,
                   size_t body_n)
{
    sqlite3_bind_int64(s, 1, (sqlite3_int64)id + 1);
    sqlite3_bind_text64(s, 2, head, head_n, SQLITE_TRANSIENT, SQLITE_UTF8);
    sqlite3_bind_text64(s, 3, body, body_n, SQLITE_TRANSIENT, SQLITE_UTF8);
    const bool ok = sqlite3_step(s) == SQLITE_DONE;
    sqlite3_reset(s);
    return ok;
}

static bool fill(sqlite3 *db, const lesson *list, size_t n)
{
    sqlite3_stmt *words = NULL, *pieces = NULL;
    bool ok = exec(db, "CREATE VIRTUAL TABLE words USING fts5(head,body);"
                       "CREATE VIRTUAL TABLE pieces USING fts5(head,body,tokenize='trigram')") &&
              sqlite3_prepare_v2(db, "INSERT INTO words(rowid,head,body) VALUES(?1,?2,?3)", -1,
                                 &words, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, "INSERT INTO pieces(rowid,head,body) VALUES(?1,?2,?3)", -1,
                                 &pieces, NULL) == SQLITE_OK;
    for (size_t i = 0; ok && i < n; i++) {
        const lesson *l = &list[i];
        pons_autobuf head = PONS_BUF_INIT, body = PONS_BUF_INIT;
        pons__tokens_index(&head, l->text, l->head_n);
        pons__tokens_index(&body, l->text + l->head_n, l->n - l->head_n);
        ok = !head.failed && !body.failed &&
             insert(words, i, head.data ? head.data : "", head.len, body.data ? body.data : "",
                    body.len) &&
             insert(pieces, i, l->text, l->head_n, l->text + l->head_n, l->n - l->head_n);
    }
    sqlite3_finalize(words);
    sqlite3_finalize(pieces);
    return ok;
}

typedef struct hits {
    size_t at[RESULTS_MAX];
    size_t n, most;
} hits;

static bool ask(sqlite3 *db, const char *table, const char *match, hits *h)
{
    pons_autobuf sql = PONS_BUF_INIT;
    sqlite3_stmt *s = NULL;
    pons_buf_printf(&sql, // newest stand first
                    "SELECT rowid FROM %s WHERE %s MATCH ?1 ORDER BY bm25(%s,3.0,1.0),rowid", table,
                    table, table);
    if (sql.failed || sqlite3_prepare_v2(db, sql.data, -1, &s, NULL) != SQLITE_OK) {
        return false;
    }
    sqlite3_bind_text(s, 1, match, -1, SQLITE_STATIC);
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW && h->n < h->most) {
        const size_t id = (size_t)sqlite3_column_int64(s, 0) - 1;
        bool seen = false;
        for (size_t i = 0; i < h->n; i++) {
            seen = seen || h->at[i] == id;
        }
        if (!seen) {
            h->at[h->n++] = id;
        }
    }
    sqlite3_finalize(s);
    return rc == SQLITE_DONE || rc == SQLITE_ROW;
}

static bool search(sqlite3 *db, const char *query, hits *h)
{
    pons_autobuf phrase = PONS_BUF_INIT, all = PONS_BUF_INIT, any = PONS_BUF_INIT;
    pons_buf_byte(&phrase, '"');
    for (const char *p = query; *p; p++) {
        pons_buf_str(&phrase, *p == '"' ? "\"\"" : (char[2]){*p, 0});
    }
    pons_buf_byte(&phrase, '"');
    const size_t n = strlen(query);
    const int words = pons__tokens_query(&all, query, n, false);
    pons__tokens_query(&any, query, n, true);
    if (phrase.failed || all.failed || any.failed) {
        return false;
    }
    bool ok = ask(db, "pieces", phrase.data, h);
    ok = ok && (words <= 0 || ask(db, "words", all.data, h));
    return ok && (words <= 0 || h->n > 0 || ask(db, "words", any.data, h));
}

// ---- the tool -----------------------------------------------------------------------------------

static void put(pons__work *w, pons_value *rows, const lesson *l)
{
    const size_t shown = l->n > ENTRY_SHOWN ? pons__text_cut(l->text, ENTRY_SHOWN) : l->n;
    size_t skip = 0;
    pons_buf_bytes(&w->out, l->text, shown);
    if (shown < l->n) {
        pons_buf_str(&w->out, "…\n");
        w->truncated = true;
    } else if (shown && l->text[shown - 1] != '\n') {
        pons_buf_byte(&w->out, '\n');
    }
    while (skip < l->head_n && strchr("#- ", l->text[skip])) {
        skip++;
    }
    json_array_append_new(
        rows, pons_object("heading", json_stringn(l->text + skip, l->head_n - skip), "line",
                          json_integer(l->line), "text", json_stringn(l->text, shown), NULL));
}

static int search_text(pons__work *w, const char *text, size_t n, const char *query, int64_t most,
                       pons_error *err)
{
    lesson *list = NULL;
    sqlite3 *db = NULL;
    hits h = {.most = (size_t)(most < 1 ? 1 : most > RESULTS_MAX ? RESULTS_MAX : most)};
    size_t found = split(text, n, false, &list);
    found = found ? found : split(text, n, true, &list);
    const bool ok = sqlite3_open(":memory:", &db) == SQLITE_OK && fill(db, list, found) &&
                    search(db, query, &h);
    int rc = PONS_OK;
    if (ok) {
        pons_value *rows = json_array();
        for (size_t i = 0; i < h.n; i++) {
            put(w, rows, &list[h.at[i]]);
        }
        if (h.n == 0) {
            pons_buf_printf(&w->out, "none of the %zu lessons fits\n", found);
        }
        w->data = pons_object("lessons", rows, "of", json_integer((json_int_t)found), NULL);
    } else {
        rc = pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot search " FILE_NAME);
        pons_error_cause(err, "%s", db ? sqlite3_errmsg(db) : "no memory");
    }
    sqlite3_close(db);
    free(list);
    return rc;
}

// Beside a working folder: whatever has that name there is a file like others, and no lesson.
static int open_of_workspace(const pons__core *c, struct stat *ret_st, pons_error *err)
{
    const int fd = openat(c->state_fd, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        return PONS_ENOTFOUND;
    }
    if (fd < 0 || fstat(fd, ret_st) < 0 || !S_ISREG(ret_st->st_mode)) {
        if (fd >= 0) {
            close(fd);
        }
        return pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot read %s/" FILE_NAME, c->state);
    }
    return fd;
}

int pons__search_lessons(pons__work *w, pons_error *err)
{
    const char *query = pons_get_str(w->args, "query", "");
    struct stat st;
    pons_error missing = PONS_ERROR_INIT;
    const int fd = w->core->tag[0] ? open_of_workspace(w->core, &st, &missing)
                                   : pons__path_read(w->core, FILE_NAME, &st, &missing);
    if (fd == PONS_ENOTFOUND) {
        pons_buf_str(&w->out, "there is no " FILE_NAME " yet: nothing has gone wrong so far\n");
        w->data = pons_object("lessons", json_array(), "of", json_integer(0), NULL);
        return PONS_OK;
    }
    if (fd < 0) {
        *err = missing;
        return fd;
    }
    char *raw = malloc(FILE_BYTES);
    const ssize_t n = raw ? read(fd, raw, FILE_BYTES) : -1;
    close(fd);
    if (n < 0) {
        free(raw);
        return pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot read " FILE_NAME);
    }
    pons_autobuf text = PONS_BUF_INIT;
    pons__text_append(&text, raw, (size_t)n, NULL);
    free(raw);
    return search_text(w, text.data ? text.data : "", text.len, query,
                       pons_get_int(w->args, "results", RESULTS), err);
}
