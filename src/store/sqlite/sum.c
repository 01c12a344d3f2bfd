// sum.c - the checksum of a row: the CRC-32 of its table's name and of its columns, each by its type, its
// length and its bytes. It is in the row's last column, so that a row in which any bit has changed,
// or that came from another table, is known by itself.
//
// Rows of a commit are summed here while they are bound, since a function call inside a statement takes
// longer than the sum; all others by the SQL function pons_sum(table, column...).

#include "store/sqlite/crc.h"
#include "store/sqlite/sqlite.h"

#include <endian.h>
#include <string.h>

static void empty(row_sum *s)
{
    s->crc = pons__crc(s->crc, s->at, s->n);
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
        s->crc = pons__crc(s->crc, bytes, head);
    } else {
        memcpy(s->at + s->n, bytes, head);
        s->n += (unsigned)head;
    }
}

static int32_t result(row_sum *s) // signed: four bytes in the file
{
    return (int32_t)pons__crc(s->crc, s->at, s->n);
}

void pons__sum_start(row_sum *s, const char *table)
{
    s->crc = 0;
    s->n = 0;
    add_value(s, SQLITE_TEXT, strlen(table), table);
}

void pons__sum_int(row_sum *s, sqlite3_stmt *st, int at, int64_t v)
{
    sqlite3_bind_int64(st, at, v);
    add_value(s, SQLITE_INTEGER, (uint64_t)v, NULL);
}

void pons__sum_null(row_sum *s, sqlite3_stmt *st, int at)
{
    sqlite3_bind_null(st, at);
    add_value(s, SQLITE_NULL, 0, NULL);
}

void pons__sum_text(row_sum *s, sqlite3_stmt *st, int at, const char *text)
{
    sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
    add_value(s, SQLITE_TEXT, strlen(text), text);
}

void pons__sum_bytes(row_sum *s, sqlite3_stmt *st, int at, pons_bytes b)
{
    pons__bytes_bind(st, at, b);
    add_value(s, SQLITE_BLOB, b.len, b.len ? b.data : "");
}

void pons__sum_id(row_sum *s, sqlite3_stmt *st, int at, const char *id)
{
    const pons_bytes packed = pons__id_bind(st, at, id);
    if (packed.len) {
        add_value(s, SQLITE_BLOB, packed.len, packed.data);
    } else {
        add_value(s, SQLITE_TEXT, strlen(id), id);
    }
}

void pons__sum_end(row_sum *s, sqlite3_stmt *st, int at)
{
    sqlite3_bind_int(st, at, result(s));
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

int pons__sum_register(sqlite3 *db)
{
    pons__crc_init();
    return sqlite3_create_function_v2(db, "pons_sum", -1,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                      sum_of, NULL, NULL, NULL);
}
