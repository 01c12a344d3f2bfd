// bind.c - what is bound to and read from statements. An id that has bytes (id.c) is a blob,
// any other is text.

#include "store/sqlite/sqlite.h"

#include <string.h>

// A copy that SQLite made could fail, so it makes none: the bytes lie here until the statement has
// run, which is before the thread binds that many more.
#define BOUND_MAX 8

pons_bytes pons__id_bind(sqlite3_stmt *st, int at, const char *id)
{
    static _Thread_local uint8_t bound[BOUND_MAX][PONS__ID_PACKED_MAX];
    static _Thread_local unsigned next;
    uint8_t *bytes = bound[next++ % BOUND_MAX];
    size_t n = pons__id_pack(id, bytes);
    if (n) {
        sqlite3_bind_blob(st, at, bytes, (int)n, SQLITE_STATIC);
    } else {
        sqlite3_bind_text(st, at, id, -1, SQLITE_STATIC);
    }
    return (pons_bytes){.data = bytes, .len = n};
}

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

void pons__bytes_bind(sqlite3_stmt *st, int at, pons_bytes b)
{
    // No bytes are an empty blob, not NULL. The statement is run and cleared before the call of the
    // store returns, so the bytes need no copy.
    sqlite3_bind_blob64(st, at, b.len ? b.data : "", b.len, SQLITE_STATIC);
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
