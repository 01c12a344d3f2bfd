// lz4.c - see lz4.h.
//
//     frame   magic, flags, block size, [content size], [dictionary], header's checksum, block…, 0, [checksum]
//     block   its size (bit 31: it is not packed), data, [checksum]
//     data    (token, [more literals], literals, offset, [more of the match])…; the last one has literals alone
//
// A match reaches back over blocks of its frame, so all of them are unpacked into one place. Every length is held
// against what is left on both sides.
#include "record/lz4.h"

#include <string.h>

#define MAGIC       0x184D2204U
#define SKIPPED     0x184D2A50U // to …5F: nothing of ours
#define NOT_PACKED  0x80000000U
#define MATCH_LEAST 4

enum { BLOCKS_CHECKED = 0x10, HAS_SIZE = 0x08, CHECKED = 0x04, HAS_DICTIONARY = 0x01 };

typedef struct in {
    const uint8_t *at, *end;
    bool bad;
} in;

typedef struct out {
    uint8_t *at, *end;
} out;

static const uint8_t *take(in *i, size_t n)
{
    if (i->bad || n > (size_t)(i->end - i->at)) {
        i->bad = true;
        return NULL;
    }
    i->at += n;
    return i->at - n;
}

static uint32_t take_number(in *i, unsigned bytes)
{
    const uint8_t *at = take(i, bytes);
    uint32_t v = 0;
    for (unsigned k = 0; at && k < bytes; k++) {
        v |= (uint32_t)at[k] << (8 * k);
    }
    return v;
}

static bool put(out *o, const uint8_t *data, size_t n)
{
    if (!data || n > (size_t)(o->end - o->at)) {
        return false;
    }
    memcpy(o->at, data, n);
    o->at += n;
    return true;
}

// Of four bits; 15: more follows, until a byte is not 255.
static size_t length(in *i, unsigned four)
{
    size_t n = four;
    for (uint32_t more = four == 15 ? 255 : 0; more == 255 && !i->bad;) {
        more = take_number(i, 1);
        n += more;
    }
    return n;
}

static bool copy_match(out *o, size_t back, size_t n, const uint8_t *begin)
{
    if (back == 0 || back > (size_t)(o->at - begin) || n > (size_t)(o->end - o->at)) {
        return false;
    }
    for (size_t k = 0; k < n; k++) { // it may reach into itself
        o->at[k] = o->at[k - back];
    }
    o->at += n;
    return true;
}

static bool block(in b, out *o, const uint8_t *begin)
{
    while (b.at < b.end) {
        const uint32_t token = take_number(&b, 1);
        const size_t literals = length(&b, token >> 4);
        if (!put(o, take(&b, literals), literals)) {
            return false;
        }
        if (b.at == b.end) {
            return true;
        }
        const size_t back = take_number(&b, 2);
        const size_t n = length(&b, token & 15) + MATCH_LEAST;
        if (b.bad || !copy_match(o, back, n, begin)) {
            return false;
        }
    }
    return !b.bad;
}

static bool frame(in *i, out *o)
{
    const uint32_t flags = take_number(i, 1);
    const uint8_t *begin = o->at; // of what its matches may be
    take(i, 1);
    take(i, flags & HAS_SIZE ? 8 : 0);
    take(i, 1);
    if (i->bad || flags >> 6 != 1 || flags & HAS_DICTIONARY) {
        return false;
    }
    for (;;) {
        const uint32_t head = take_number(i, 4), n = head & ~NOT_PACKED;
        const uint8_t *data = take(i, n);
        if (!data) {
            return false;
        }
        if (head == 0) {
            break;
        }
        if (head & NOT_PACKED ? !put(o, data, n)
                              : !block((in){.at = data, .end = data + n}, o, begin)) {
            return false;
        }
        take(i, flags & BLOCKS_CHECKED ? 4 : 0);
    }
    take(i, flags & CHECKED ? 4 : 0);
    return !i->bad;
}

bool pons__lz4_unpack(const uint8_t *data, size_t size, uint8_t *into, size_t n)
{
    in i = {.at = data, .end = data + size};
    out o = {.at = into, .end = into + n};
    while (i.at < i.end) {
        const uint32_t magic = take_number(&i, 4);
        if ((magic & ~15U) == SKIPPED) {
            take(&i, take_number(&i, 4));
        } else if (magic != MAGIC || !frame(&i, &o)) {
            return false;
        }
        if (i.bad) {
            return false;
        }
    }
    return o.at == o.end;
}
