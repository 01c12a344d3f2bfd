// bind_columns.c - what is bound to and read from statements, and the checksums of rows. An id that has bytes
// (id_bytes.c) is a blob, any other is text.
//
// The checksum of a row is the CRC-32 of its table's name and of its columns, each by its type, its
// length and its bytes. It is in the row's last column, so that a row in which any bit has changed,
// or that came from another table, is known by itself.
//
// Rows of a commit are summed here while they are bound, since a function call inside a statement takes
// longer than the sum; all others by the SQL function pons_sum(table, column...). pons_words(number,
// words) sums the words of an item, for the look whether its full-text index fits.

#include "store/sqlite/internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void pons__id_column(sqlite3_stmt *st, int at, char *ret, size_t cap)
{
    ret[0] = '\0';
    int type = sqlite3_column_type(st, at);
    if (type == SQLITE_TEXT) {
        const char *text = (const char *)sqlite3_column_text(st, at);
        size_t n = text ? strnlen(text, cap - 1) : 0;
        if (n) {
            memcpy(ret, text, n);
        }
        ret[n] = '\0';
    } else if (type == SQLITE_BLOB) {
        const uint8_t *bytes = sqlite3_column_blob(st, at);
        pons__id_unpack(bytes, (size_t)sqlite3_column_bytes(st, at), ret, cap);
    }
}

pons_bytes pons__bytes_column(sqlite3_stmt *st, int at)
{
    const void *data = sqlite3_column_blob(st, at);
    return (pons_bytes){.data = data ? data : "", .len = (size_t)sqlite3_column_bytes(st, at)};
}

const char *pons__text_column(sqlite3_stmt *st, int at)
{
    const char *text = (const char *)sqlite3_column_text(st, at);
    return text ? text : "";
}

// ---- checksums ----------------------------------------------------------------------------------

typedef struct row_sum { // of a row, in the order of its columns
    uint32_t crc;
    unsigned n; // bytes of at
    uint8_t at[240];
} row_sum;

static void empty(row_sum *s)
{
    s->crc = (uint32_t)crc32(s->crc, s->at, s->n);
    s->n = 0;
}

// The type and how many bytes its number has, that number - an integer's value, else the length -, the
// bytes. Gathered, because a small call takes longer than its bytes; __builtin_, because _FORTIFY_SOURCE
// would check here again what is checked above.
static void add_value(row_sum *s, int type, uint64_t head, const void *bytes)
{
    if (s->n + 1 + sizeof head > sizeof s->at) {
        empty(s);
    }
    const unsigned width = head ? (71U - (unsigned)__builtin_clzll(head)) / 8 : 0;
    const uint64_t wire = htole64(head);
    s->at[s->n] = (uint8_t)((unsigned)type | width << 4);
    __builtin_memcpy(s->at + s->n + 1, &wire, sizeof wire);
    s->n += 1 + width;
    if (!bytes) {
        return;
    }
    if (s->n + head > sizeof s->at) {
        empty(s);
    }
    if (head > sizeof s->at) {
        s->crc = (uint32_t)crc32_z(s->crc, bytes, head);
    } else {
        memcpy(s->at + s->n, bytes, head);
        s->n += (unsigned)head;
    }
}

static int32_t result(row_sum *s) // signed: four bytes in the file
{
    return (int32_t)(uint32_t)crc32(s->crc, s->at, s->n);
}

// ---- binding ------------------------------------------------------------------------------------

// A copy that SQLite made could fail, so it makes none: an id's bytes lie here until the statement has
// run, which is before the thread binds that many more.
#define BOUND_MAX 8

// Binds one column, and adds it to the sum, if there is one. The statement is run and cleared before the
// call of the store returns, so texts and bytes need no copy.
static void bind(sqlite3_stmt *st, int at, const sql_arg *a, row_sum *sum)
{
    static _Thread_local uint8_t bound[BOUND_MAX][PONS__ID_PACKED_MAX];
    static _Thread_local unsigned next;
    int type = SQLITE_TEXT;
    pons_bytes v = {a->text, 0};
    if (a->type == ARG_INT) {
        sqlite3_bind_int64(st, at, a->number);
        type = SQLITE_INTEGER;
        v.len = (size_t)a->number;
    } else if (a->type == ARG_BYTES) { // no bytes are an empty blob, not NULL
        type = SQLITE_BLOB;
        v = (pons_bytes){a->bytes.len ? a->bytes.data : "", a->bytes.len};
    } else if (a->type == ARG_ID) {
        uint8_t *packed = bound[next++ % BOUND_MAX];
        const size_t n = pons__id_pack(a->text, packed);
        type = n ? SQLITE_BLOB : type;
        v = n ? (pons_bytes){packed, n} : v;
    } else if (!a->text) {
        sqlite3_bind_null(st, at);
        type = SQLITE_NULL;
    }
    if (type == SQLITE_TEXT) {
        v.len = strlen(a->text);
        sqlite3_bind_text(st, at, v.data, (int)v.len, SQLITE_STATIC);
    } else if (type == SQLITE_BLOB) {
        sqlite3_bind_blob64(st, at, v.data, v.len, SQLITE_STATIC);
    }
    if (sum) {
        add_value(sum, type, v.len, v.data);
    }
}

void pons__bind(sqlite3_stmt *st, sql_args args)
{
    for (size_t i = 0; i < args.n; i++) {
        bind(st, (int)i + 1, &args.at[i], NULL);
    }
}

void pons__bind_row(sqlite3_stmt *st, const char *table, sql_args args)
{
    row_sum sum;
    sum.crc = sum.n = 0;
    add_value(&sum, SQLITE_TEXT, strlen(table), table);
    for (size_t i = 0; i < args.n; i++) {
        bind(st, (int)i + 1, &args.at[i], &sum);
    }
    sqlite3_bind_int(st, (int)args.n + 1, result(&sum));
}

// ---- in SQL -------------------------------------------------------------------------------------

static void sum_of(sqlite3_context *cx, int n, sqlite3_value **v)
{
    row_sum s = {.crc = 0};
    for (int i = 0; i < n; i++) {
        const int type = sqlite3_value_type(v[i]);
        const void *bytes = NULL;
        uint64_t head = 0;
        if (type == SQLITE_INTEGER) {
            head = (uint64_t)sqlite3_value_int64(v[i]);
        } else if (type != SQLITE_NULL) { // a blob's bytes, a text's, or a number's as text
            bytes = type == SQLITE_BLOB ? sqlite3_value_blob(v[i])
                                        : (const void *)sqlite3_value_text(v[i]);
            head = (uint64_t)sqlite3_value_bytes(v[i]);
            if (!bytes && head) {
                sqlite3_result_error_nomem(cx);
                return;
            }
        }
        add_value(&s, type, head, bytes);
    }
    sqlite3_result_int(cx, result(&s));
}

typedef struct span {
    const char *at;
    size_t n;
} span;

static int by_bytes(const void *a, const void *b)
{
    const span *x = a, *y = b;
    const int order = memcmp(x->at, y->at, x->n < y->n ? x->n : y->n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

// pons_words(number, words): a number for the set of words that a row has, such that the sum of those
// of its words alone is that of all of them: so a full-text index is compared with its table.
static void words_of(sqlite3_context *cx, int n, sqlite3_value **v)
{
    const sqlite3_int64 row = sqlite3_value_int64(v[0]);
    const char *text = (const char *)sqlite3_value_text(v[1]);
    const size_t len = text ? strlen(text) : 0;
    span *words = malloc((len / 2 + 1) * sizeof *words);
    if (!words || !text) {
        free(words);
        sqlite3_result_error_nomem(cx);
        return;
    }
    size_t count = 0;
    for (const char *w = text + strspn(text, " "); *w;
         w += strspn(w, " ")) { // damage may be spaces
        words[count] = (span){w, strcspn(w, " ")};
        w += words[count++].n;
    }
    qsort(words, count, sizeof *words, by_bytes);
    sqlite3_int64 sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_bytes(&words[i - 1], &words[i]) != 0) {
            const uLong seed = crc32(0, (const Bytef *)&row, sizeof row);
            sum += (sqlite3_int64)crc32_z(seed, (const Bytef *)words[i].at, words[i].n);
        }
    }
    free(words);
    sqlite3_result_int64(cx, sum);
}

int pons__sum_register(sqlite3 *db)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int code =
        sqlite3_create_function_v2(db, "pons_sum", -1, flags, NULL, sum_of, NULL, NULL, NULL);
    return code != SQLITE_OK ? code
                             : sqlite3_create_function_v2(db, "pons_words", 2, flags, NULL,
                                                          words_of, NULL, NULL, NULL);
}
