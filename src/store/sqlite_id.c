// sqlite_id.c - ids as bytes, and what is bound to and read from statements.
//
// The engine's ids are 26 digits of Crockford's base 32 (128 bits) or 32 hex digits (128 bits).
// Stored as such they would be the better part of a small row, so the first become 16 bytes and the
// second 17 (a zero in front tells them apart); whatever is written differently stays text.

#include "sqlite_internal.h"

#include <string.h>

#define CROCKFORD_DIGITS 26
#define CROCKFORD_BITS   5
#define HEX_DIGITS       32
#define TIME_BYTES       6 // of an id: wall clock in ms

__extension__ typedef unsigned __int128 uint128;

static const char crockford[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
static const char hex[] = "0123456789abcdef";

static bool pack_crockford(const char *id, uint8_t ret[ID_BYTES]);
static bool pack_hex(const char *id, uint8_t ret[ID_BYTES]);

int pons__id_bind(sqlite3_stmt *st, int at, const char *id)
{
    uint8_t bytes[1 + ID_BYTES] = {0};
    size_t len = strlen(id);
    if (len == CROCKFORD_DIGITS && pack_crockford(id, bytes))
        return sqlite3_bind_blob(st, at, bytes, ID_BYTES, SQLITE_TRANSIENT);
    if (len == HEX_DIGITS && pack_hex(id, bytes + 1))
        return sqlite3_bind_blob(st, at, bytes, 1 + ID_BYTES, SQLITE_TRANSIENT);
    return sqlite3_bind_text(st, at, id, (int)len, SQLITE_TRANSIENT);
}

void pons__id_column(sqlite3_stmt *st, int at, char *ret, size_t cap)
{
    ret[0] = '\0';
    int type = sqlite3_column_type(st, at);
    if (type == SQLITE_TEXT) {
        const char *text = (const char *)sqlite3_column_text(st, at);
        size_t n = text ? strnlen(text, cap - 1) : 0;
        if (n)
            memcpy(ret, text, n);
        ret[n] = '\0';
        return;
    }
    if (type != SQLITE_BLOB)
        return;
    const uint8_t *bytes = sqlite3_column_blob(st, at);
    int n = sqlite3_column_bytes(st, at);
    if (n == ID_BYTES && cap > CROCKFORD_DIGITS) {
        uint128 id = 0;
        for (int i = 0; i < ID_BYTES; i++)
            id = id << 8 | bytes[i];
        for (int i = CROCKFORD_DIGITS - 1; i >= 0; i--, id >>= CROCKFORD_BITS)
            ret[i] = crockford[id & 31];
        ret[CROCKFORD_DIGITS] = '\0';
    } else if (n == 1 + ID_BYTES && cap > HEX_DIGITS) {
        for (int i = 0; i < ID_BYTES; i++) {
            ret[2 * i] = hex[bytes[1 + i] >> 4];
            ret[2 * i + 1] = hex[bytes[1 + i] & 15];
        }
        ret[HEX_DIGITS] = '\0';
    }
}

int64_t pons__id_wall_ms(const char *id)
{
    uint8_t bytes[ID_BYTES];
    if (strlen(id) != CROCKFORD_DIGITS || !pack_crockford(id, bytes))
        return 0;
    int64_t ms = 0;
    for (int i = 0; i < TIME_BYTES; i++)
        ms = ms << 8 | bytes[i];
    return ms;
}

int pons__bytes_bind(sqlite3_stmt *st, int at, pons_bytes b)
{
    // No bytes are an empty blob, not NULL. The statement is run and cleared before the call of the
    // store returns, so the bytes need no copy.
    return sqlite3_bind_blob64(st, at, b.len ? b.data : "", b.len, SQLITE_STATIC);
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

// ---------------------------------------------------------------- helpers

// Digit values by character; -1 elsewhere. Crockford's aliases (o, i, l, lower case) are not taken:
// they would not come back as they were written.
static int crockford_value(char c)
{
    static const int8_t letters[] = {10, 11, 12, 13, 14, 15, 16, 17, -1, 18, 19, -1, 20,
                                     21, -1, 22, 23, 24, 25, 26, -1, 27, 28, 29, 30, 31};
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'Z' ? letters[c - 'A'] : -1;
}

static bool pack_crockford(const char *id, uint8_t ret[ID_BYTES])
{
    if (id[0] > '7') // 26 digits are 130 bits; the first two must be zero
        return false;
    uint128 all = 0;
    for (int i = 0; i < CROCKFORD_DIGITS; i++) {
        int v = crockford_value(id[i]);
        if (v < 0)
            return false;
        all = all << CROCKFORD_BITS | (unsigned)v;
    }
    for (int i = ID_BYTES - 1; i >= 0; i--, all >>= 8)
        ret[i] = (uint8_t)all;
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool pack_hex(const char *id, uint8_t ret[ID_BYTES])
{
    for (int i = 0; i < ID_BYTES; i++) {
        int high = hex_value(id[2 * i]), low = hex_value(id[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        ret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
