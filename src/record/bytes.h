// bytes.h - numbers and texts as MCAP has them: little-endian, lengths of 32 bits before texts.
#pragma once

#include "pons/buf.h"

#include <string.h>

#define PONS__MCAP_MAGIC   "\x89MCAP0\r\n"
#define PONS__MCAP_MAGIC_N 8
#define PONS__MCAP_HEAD    9U // bytes before a record's content: its kind and length

enum { // kinds of records
    PONS__MCAP_HEADER = 0x01,
    PONS__MCAP_FOOTER = 0x02,
    PONS__MCAP_SCHEMA = 0x03,
    PONS__MCAP_CHANNEL = 0x04,
    PONS__MCAP_MESSAGE = 0x05,
    PONS__MCAP_CHUNK = 0x06,
    PONS__MCAP_MESSAGE_INDEX = 0x07,
    PONS__MCAP_CHUNK_INDEX = 0x08,
    PONS__MCAP_STATISTICS = 0x0b,
    PONS__MCAP_METADATA = 0x0c,
    PONS__MCAP_METADATA_INDEX = 0x0d,
    PONS__MCAP_SUMMARY_OFFSET = 0x0e,
    PONS__MCAP_DATA_END = 0x0f
};

static inline void pons__put(pons_buf *b, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        pons_buf_byte(b, (uint8_t)(v >> (8 * i)));
    }
}

static inline void pons__put_text(pons_buf *b, const char *text)
{
    pons__put(b, strlen(text), 4);
    pons_buf_str(b, text);
}

// A record's length is known when it has ended.
static inline size_t pons__record_begin(pons_buf *b, uint8_t kind)
{
    pons_buf_byte(b, kind);
    pons__put(b, 0, 8);
    return b->len;
}

// The bytes at `at`, which lie in b; nothing where b has failed.
static inline void pons__put_at(pons_buf *b, size_t at, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes && !b->failed; i++) {
        b->data[at + i] = (char)(uint8_t)(v >> (8 * i));
    }
}

static inline void pons__record_end(pons_buf *b, size_t begun)
{
    pons__put_at(b, begun - 8, b->len - begun, 8);
}

static inline uint64_t pons__take(pons_bufread *r, unsigned bytes)
{
    const uint8_t *at = pons_bufread_bytes(r, bytes);
    uint64_t v = 0;
    for (unsigned i = 0; at && i < bytes; i++) {
        v |= (uint64_t)at[i] << (8 * i);
    }
    return v;
}
