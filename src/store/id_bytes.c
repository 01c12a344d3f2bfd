// id_bytes.c - ids as bytes.
//
// The engine's ids are 26 digits of Crockford's base 32 (128 bits) or 32 hex digits (128 bits).
// Stored as such they would be the better part of a small row, so the first become 16 bytes and the
// second 17 (a zero in front tells them apart); what is written differently is the store's matter.
#include "store/store.h"

#include <string.h>

#define ID_BYTES         16
#define CROCKFORD_DIGITS 26
#define CROCKFORD_BITS   5
#define HEX_DIGITS       32
#define TIME_BYTES       6 // of an id: wall clock in ms

__extension__ typedef unsigned __int128 uint128;

static const char crockford[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
static const char hex[] = "0123456789abcdef";

// ---- helpers ------------------------------------------------------------------------------------

// Digit values by character; -1 elsewhere. Crockford's aliases (o, i, l, lower case) are not taken:
// they would not come back as they were written.
static int crockford_value(char c)
{
    static const int8_t letters[] = {10, 11, 12, 13, 14, 15, 16, 17, -1, 18, 19, -1, 20,
                                     21, -1, 22, 23, 24, 25, 26, -1, 27, 28, 29, 30, 31};
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'A' && c <= 'Z' ? letters[c - 'A'] : -1;
}

static bool pack_crockford(const char *id, uint8_t *ret)
{
    if (id[0] > '7') { // 26 digits are 130 bits; the first two must be zero
        return false;
    }
    uint128 all = 0;
    for (int i = 0; i < CROCKFORD_DIGITS; i++) {
        int v = crockford_value(id[i]);
        if (v < 0) {
            return false;
        }
        all = all << CROCKFORD_BITS | (unsigned)v;
    }
    for (int i = ID_BYTES - 1; i >= 0; i--, all >>= 8) {
        ret[i] = (uint8_t)all;
    }
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool pack_hex(const char *id, uint8_t *ret)
{
    for (int i = 0; i < ID_BYTES; i++) {
        int high = hex_value(id[2 * i]), low = hex_value(id[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        ret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

size_t pons__id_pack(const char *id, uint8_t ret[PONS__ID_PACKED_MAX])
{
    size_t len = strlen(id);
    if (len == CROCKFORD_DIGITS && pack_crockford(id, ret)) {
        return ID_BYTES;
    }
    ret[0] = 0;
    return len == HEX_DIGITS && pack_hex(id, ret + 1) ? 1 + ID_BYTES : 0;
}

void pons__id_unpack(const uint8_t *bytes, size_t n, char *ret, size_t cap)
{
    ret[0] = '\0';
    if (n == ID_BYTES && cap > CROCKFORD_DIGITS) {
        uint128 id = 0;
        for (int i = 0; i < ID_BYTES; i++) {
            id = id << 8 | bytes[i];
        }
        for (int i = CROCKFORD_DIGITS - 1; i >= 0; i--, id >>= CROCKFORD_BITS) {
            ret[i] = crockford[id & 31];
        }
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
    if (strlen(id) != CROCKFORD_DIGITS || !pack_crockford(id, bytes)) {
        return 0;
    }
    int64_t ms = 0;
    for (int i = 0; i < TIME_BYTES; i++) {
        ms = ms << 8 | bytes[i];
    }
    return ms;
}
