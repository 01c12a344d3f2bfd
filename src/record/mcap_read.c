// mcap_read.c - an MCAP file from its first byte to its last, and all that can be checked of it.
//
// Nothing is trusted: lengths are held against what is left of the file, what a chunk says it unpacks
// to has a limit, ids must have been told before. One record is in memory at a time. A record that the
// file ends in is no damage: that is how a recording looks whose writer was killed.
#include "pons/buf.h"
#include "pons/growing_list.h"
#include "pons/mcap.h"
#include "record/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lz4frame.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define MODULE     "record"
#define RECORD_MAX (64U * 1024U * 1024U) // of one, and of a chunk unpacked
#define IDS        65536

typedef struct topic {
    char *topic, *encoding, *schema;
    uint64_t messages, indexed; // in the file; in the newest chunk's indexes
    uint64_t in_chunk;
    bool counted; // it is in the list of those that have such numbers
} topic;

typedef struct entry { // of a message in the newest chunk
    uint16_t id;
    uint64_t time, offset;
} entry;

typedef struct place { // of a chunk
    uint64_t at, n;
} place;

typedef struct reader {
    const char *path;
    int fd;
    uint64_t size, at; // the record that is read
    uint32_t crc, summary_crc;
    uint64_t summary_at; // 0: it has not begun
    bool over;           // the data section has ended
    uint64_t indexed_chunks;
    pons_buf record, chunk;
    entry *entries; // (n_entries) of the newest chunk
    size_t n_entries, cap_entries;
    place *chunks; // (ret->chunks)
    size_t cap_chunks;
    char *schemas[IDS];
    topic *topics[IDS];
    size_t ids;            // above each id of a schema or topic
    uint16_t counted[IDS]; // (n_counted) the newest chunk's
    size_t n_counted;
    int (*on)(void *user, const pons_mcap_message *m);
    void *user;
    pons_mcap_about *ret;
} reader;

__attribute__((format(printf, 3, 4))) static int damaged(const reader *r, pons_error *err,
                                                         const char *fmt, ...)
{
    char text[160];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pons_error_set(err, PONS_ECORRUPT, MODULE, "%s", text);
    pons_error_source(err, "%s: byte %" PRIu64, r->path, r->at);
    return PONS_ECORRUPT;
}

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to read a recording with");
}

static int take_bytes(const reader *r, uint64_t at, void *into, size_t n, pons_error *err)
{
    size_t done = 0;
    while (done < n) {
        const ssize_t got = pread(r->fd, (char *)into + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            pons_error_set(err, PONS_EIO, MODULE, "cannot read: %s",
                           got < 0 ? strerror(errno) : "the file became shorter");
            pons_error_source(err, "%s", r->path);
            return PONS_EIO;
        }
        done += (size_t)got;
    }
    return PONS_OK;
}

// A text of the record; NULL: it does not fit, or is none.
static char *take_text(pons_bufread *b, size_t *ret_n)
{
    const size_t n = (size_t)pons__take(b, 4);
    const char *at = pons_bufread_bytes(b, n);
    bool good = at != NULL && !b->bad;
    for (size_t i = 0; good && i < n;) {
        const size_t k = pons_utf8_sequence(at + i, n - i);
        good = k > 0 && at[i] != '\0';
        i += k;
    }
    *ret_n = n;
    return good ? strndup(at, n) : NULL;
}

// ---- what is told before messages ---------------------------------------------------------------

static int on_schema(reader *r, pons_bufread b, pons_error *err)
{
    const uint16_t id = (uint16_t)pons__take(&b, 2);
    size_t n = 0;
    char *name = take_text(&b, &n);
    if (!name || id == 0) {
        free(name);
        return id == 0 ? PONS_OK : damaged(r, err, "a schema that cannot be read");
    }
    if (r->schemas[id] && strcmp(r->schemas[id], name) != 0) {
        free(name);
        return damaged(r, err, "schema %d is told twice, with another name", id);
    }
    free(r->schemas[id]);
    r->schemas[id] = name;
    r->ids = r->ids > id ? r->ids : (size_t)id + 1;
    return PONS_OK;
}

static void topic_free(topic *t)
{
    if (t) {
        free(t->topic);
        free(t->encoding);
        free(t->schema);
        free(t);
    }
}

static int on_channel(reader *r, pons_bufread b, pons_error *err)
{
    const uint16_t id = (uint16_t)pons__take(&b, 2);
    const uint16_t schema = (uint16_t)pons__take(&b, 2);
    size_t n = 0;
    topic *t = calloc(1, sizeof *t);
    if (!t) {
        return no_memory(err);
    }
    t->topic = take_text(&b, &n);
    t->encoding = t->topic ? take_text(&b, &n) : NULL;
    const char *name = schema == 0 ? "" : r->schemas[schema];
    t->schema = name ? strdup(name) : NULL;
    topic *had = r->topics[id];
    const bool same = !had || (t->topic && strcmp(had->topic, t->topic) == 0 && t->schema &&
                               strcmp(had->schema, t->schema) == 0);
    if (!t->encoding || !t->schema || !same) {
        const bool unread = !t->encoding;
        topic_free(t);
        return damaged(r, err,
                       unread ? "a channel that cannot be read"
                       : same ? "channel %d has a schema that was not told"
                              : "channel %d is told twice, in another way",
                       id);
    }
    if (had) {
        topic_free(t);
    } else {
        r->topics[id] = t;
        r->ids = r->ids > id ? r->ids : (size_t)id + 1;
    }
    return PONS_OK;
}

// Numbers of the newest chunk, and where to find those that have some.
static void count(reader *r, uint16_t id, uint64_t in_chunk, uint64_t in_index)
{
    topic *t = r->topics[id];
    t->in_chunk += in_chunk;
    t->indexed += in_index;
    if (!t->counted) {
        t->counted = true;
        r->counted[r->n_counted++] = id;
    }
}

static int on_message(reader *r, pons_bufread b, uint64_t *ret_time, uint16_t *ret_id,
                      pons_error *err)
{
    const uint16_t id = (uint16_t)pons__take(&b, 2);
    const uint32_t sequence = (uint32_t)pons__take(&b, 4);
    const uint64_t time = pons__take(&b, 8);
    pons__take(&b, 8);
    topic *t = r->topics[id];
    if (b.bad || !t) {
        return damaged(r, err, b.bad ? "a message that is too short" : "a message of no channel");
    }
    const pons_mcap_message m = {.topic = t->topic,
                                 .encoding = t->encoding,
                                 .schema = t->schema,
                                 .sequence = sequence,
                                 .time_ns = time,
                                 .data = (const char *)b.at,
                                 .n = (size_t)(b.end - b.at)};
    pons_mcap_about *a = r->ret;
    a->start_ns = a->messages == 0 || time < a->start_ns ? time : a->start_ns;
    a->end_ns = a->messages == 0 || time > a->end_ns ? time : a->end_ns;
    a->messages++;
    t->messages++;
    count(r, id, 1, 0);
    *ret_time = time;
    *ret_id = id;
    return r->on ? r->on(r->user, &m) : PONS_OK;
}

// ---- chunks and their indexes -------------------------------------------------------------------

static bool note(reader *r, uint16_t id, uint64_t time, uint64_t offset)
{
    if (!pons_list_reserve(&r->entries, &r->cap_entries, r->n_entries + 1, sizeof *r->entries)) {
        return false;
    }
    r->entries[r->n_entries++] = (entry){id, time, offset};
    return true;
}

static int records_of_chunk(reader *r, const uint8_t *data, size_t n, uint64_t start, uint64_t end,
                            pons_error *err)
{
    size_t at = 0;
    while (at < n) {
        if (n - at < PONS__MCAP_HEAD) {
            return damaged(r, err, "a chunk ends in a record");
        }
        pons_bufread head = pons_bufread_of(data + at + 1, 8);
        const uint64_t length = pons__take(&head, 8);
        if (length > n - at - PONS__MCAP_HEAD) {
            return damaged(r, err, "a record is longer than its chunk");
        }
        const pons_bufread body = pons_bufread_of(data + at + PONS__MCAP_HEAD, (size_t)length);
        uint64_t time = 0;
        uint16_t id = 0;
        const int kind = data[at];
        int rc = kind == PONS__MCAP_SCHEMA    ? on_schema(r, body, err)
                 : kind == PONS__MCAP_CHANNEL ? on_channel(r, body, err)
                 : kind == PONS__MCAP_MESSAGE ? on_message(r, body, &time, &id, err)
                                              : PONS_OK;
        if (rc >= 0 && kind == PONS__MCAP_MESSAGE) {
            rc = time < start || time > end
                     ? damaged(r, err, "a message is not of its chunk's time")
                 : note(r, id, time, at) ? PONS_OK
                                         : no_memory(err);
        }
        if (rc < 0) {
            return rc;
        }
        at += PONS__MCAP_HEAD + (size_t)length;
    }
    return PONS_OK;
}

// What was written of the last chunk has been indexed, or nothing of it.
static int indexed(reader *r, pons_error *err)
{
    for (size_t i = 0; i < r->n_counted; i++) {
        topic *t = r->topics[r->counted[i]];
        if (t->indexed > 0 && t->indexed != t->in_chunk) {
            return damaged(r, err, "the index of %s does not have all of its messages", t->topic);
        }
        t->indexed = t->in_chunk = 0;
        t->counted = false;
    }
    r->n_entries = r->n_counted = 0;
    return PONS_OK;
}

// Exactly n bytes from one frame or several; what follows them is padding. Frame by frame, which needs no window.
static bool unpack_zstd(const uint8_t *data, size_t size, uint8_t *into, size_t n)
{
    size_t done = 0;
    for (size_t at = 0; at < size && (at == 0 || done < n);) {
        const size_t frame = ZSTD_findFrameCompressedSize(data + at, size - at);
        const size_t gave =
            ZSTD_isError(frame) ? frame : ZSTD_decompress(into + done, n - done, data + at, frame);
        if (ZSTD_isError(gave)) {
            return false;
        }
        at += frame;
        done += gave;
    }
    return done == n;
}

static bool unpack_lz4(const uint8_t *data, size_t size, uint8_t *into, size_t n)
{
    LZ4F_dctx *d = NULL;
    size_t left = LZ4F_isError(LZ4F_createDecompressionContext(&d, LZ4F_VERSION)), done = 0;
    for (size_t at = 0;
         d && at < size && (at == 0 || left > 0 || done < n) && !LZ4F_isError(left);) {
        size_t took = size - at, gave = n - done;
        left = LZ4F_decompress(d, into + done, &gave, data + at, &took, NULL);
        at += took;
        done += gave;
        if (took == 0 && gave == 0) {
            break; // there is more than was said
        }
    }
    const bool whole = d && left == 0 && done == n;
    LZ4F_freeDecompressionContext(d);
    return whole;
}

static int unpack(reader *r, bool zstd, const uint8_t **data, size_t packed, size_t unpacked,
                  pons_error *err)
{
    pons_buf_clear(&r->chunk);
    if (pons_buf_reserve(&r->chunk, unpacked + 1) < 0) {
        return no_memory(err);
    }
    uint8_t *into = (uint8_t *)r->chunk.data;
    if (!(zstd ? unpack_zstd : unpack_lz4)(*data, packed, into, unpacked)) {
        return damaged(r, err, "a chunk cannot be unpacked");
    }
    *data = into;
    return PONS_OK;
}

static int note_chunk(reader *r, uint64_t record_n, pons_error *err)
{
    if (!pons_list_reserve(&r->chunks, &r->cap_chunks, r->ret->chunks + 1, sizeof *r->chunks)) {
        return no_memory(err);
    }
    r->chunks[r->ret->chunks++] = (place){r->at, record_n};
    return PONS_OK;
}

static int on_chunk(reader *r, pons_bufread b, uint64_t record_n, pons_error *err)
{
    const uint64_t start = pons__take(&b, 8), end = pons__take(&b, 8);
    const uint64_t unpacked = pons__take(&b, 8);
    const uint32_t crc = (uint32_t)pons__take(&b, 4);
    size_t n = 0;
    char *packing = take_text(&b, &n);
    const uint64_t packed = pons__take(&b, 8);
    const uint8_t *data = packing && packed <= RECORD_MAX ? pons_bufread_bytes(&b, packed) : NULL;
    const char *how = packing ? packing : "none";
    const bool zstd = strcmp(how, "zstd") == 0, lz4 = strcmp(how, "lz4") == 0, plain = !*how;
    int rc = indexed(r, err);
    if (rc >= 0 && (!data || unpacked > RECORD_MAX || (plain && packed != unpacked))) {
        rc = damaged(r, err, "a chunk whose lengths cannot be, or of more than 64 MiB unpacked");
    } else if (rc >= 0 && !zstd && !lz4 && !plain) {
        rc = pons_error_set(err, PONS_EUNSUPPORTED, MODULE, "chunks packed with %.20s", packing);
        pons_error_source(err, "%s: byte %" PRIu64, r->path, r->at);
    }
    free(packing);
    if (rc < 0) {
        return rc;
    }
    rc = plain ? PONS_OK : unpack(r, zstd, &data, (size_t)packed, (size_t)unpacked, err);
    if (rc < 0) {
        return rc;
    }
    if (crc != 0 && (uint32_t)crc32(crc32(0, NULL, 0), data, (uInt)unpacked) != crc) {
        return damaged(r, err, "a chunk has another CRC than it says");
    }
    rc = note_chunk(r, record_n, err);
    if (rc < 0) {
        return rc;
    }
    return records_of_chunk(r, data, (size_t)unpacked, start, end, err);
}

// Entries lie as their messages do; an index may be in another order, by time.
static const entry *entry_at(const reader *r, uint64_t offset)
{
    size_t from = 0, to = r->n_entries;
    while (from < to) {
        const size_t at = from + (to - from) / 2;
        if (r->entries[at].offset < offset) {
            from = at + 1;
        } else {
            to = at;
        }
    }
    return from < r->n_entries && r->entries[from].offset == offset ? &r->entries[from] : NULL;
}

static int on_message_index(reader *r, pons_bufread b, pons_error *err)
{
    const uint16_t id = (uint16_t)pons__take(&b, 2);
    const uint64_t n = pons__take(&b, 4);
    const topic *t = r->topics[id];
    if (b.bad || n % 16 != 0 || n > (uint64_t)(b.end - b.at) || !t) {
        return damaged(r, err, "an index that cannot be read");
    }
    for (uint64_t i = 0; i < n / 16; i++) {
        const uint64_t time = pons__take(&b, 8), offset = pons__take(&b, 8);
        const entry *e = entry_at(r, offset);
        if (!e || e->id != id || e->time != time) {
            return damaged(r, err, "the index of %s leads to no message of it", t->topic);
        }
    }
    count(r, id, 0, n / 16);
    return PONS_OK;
}

// ---- the end ------------------------------------------------------------------------------------

static const place *place_at(const reader *r, uint64_t byte)
{
    size_t from = 0, to = r->ret->chunks;
    while (from < to) {
        const size_t at = from + (to - from) / 2;
        if (r->chunks[at].at < byte) {
            from = at + 1;
        } else {
            to = at;
        }
    }
    return from < r->ret->chunks && r->chunks[from].at == byte ? &r->chunks[from] : NULL;
}

static int on_chunk_index(reader *r, pons_bufread b, pons_error *err)
{
    pons__take(&b, 8);
    pons__take(&b, 8);
    const uint64_t at = pons__take(&b, 8), n = pons__take(&b, 8);
    const place *of = place_at(r, at);
    r->indexed_chunks++;
    if (b.bad || !of || of->n != n) {
        return damaged(r, err, "the index of chunks leads to none");
    }
    return PONS_OK;
}

static int on_statistics(reader *r, pons_bufread b, pons_error *err)
{
    const uint64_t messages = pons__take(&b, 8);
    pons_bufread_bytes(&b, 2 + 4 + 4 + 4); // schemas, channels, attachments, metadata
    const uint32_t chunks = (uint32_t)pons__take(&b, 4);
    if (b.bad || messages != r->ret->messages || chunks != r->ret->chunks) {
        return damaged(r, err, "the statistics count other messages than there are");
    }
    return PONS_OK;
}

static int on_metadata(reader *r, pons_bufread b, pons_error *err)
{
    size_t n = 0;
    char *name = take_text(&b, &n);
    const uint64_t all = pons__take(&b, 4);
    pons_value *map = name ? json_object() : NULL;
    bool good = map && !b.bad && all <= (uint64_t)(b.end - b.at);
    b.end = good ? b.at + all : b.end; // a record may have more than is known of it
    while (good && b.at < b.end) {
        char *key = take_text(&b, &n);
        char *value = key ? take_text(&b, &n) : NULL;
        good = value && json_object_set_new(map, key, json_string(value)) == 0;
        free(key);
        free(value);
    }
    if (good) {
        json_object_set_new(r->ret->metadata, name, map);
    } else {
        pons_value_unref(map);
    }
    free(name);
    return good ? PONS_OK : damaged(r, err, "metadata that cannot be read");
}

static int on_data_end(reader *r, pons_bufread b, pons_error *err)
{
    const uint32_t crc = (uint32_t)pons__take(&b, 4);
    const int rc = indexed(r, err);
    if (rc < 0 || b.bad || (crc != 0 && crc != r->crc)) {
        return rc < 0 ? rc : damaged(r, err, "the messages have another CRC than the file says");
    }
    r->over = true;
    r->summary_crc = (uint32_t)crc32(0, NULL, 0);
    return PONS_OK;
}

static int on_footer(reader *r, pons_bufread b, const uint8_t *whole, pons_error *err)
{
    const uint64_t summary = pons__take(&b, 8);
    pons__take(&b, 8);
    const uint32_t crc = (uint32_t)pons__take(&b, 4);
    const uint32_t is = (uint32_t)crc32(r->summary_crc, whole, PONS__MCAP_HEAD + 16);
    if (b.bad || (summary != 0 && summary != r->summary_at)) {
        return damaged(r, err, "the footer leads to no summary");
    }
    if (crc != 0 && crc != is) {
        return damaged(r, err, "the summary has another CRC than it says");
    }
    if (r->indexed_chunks > 0 && r->indexed_chunks != r->ret->chunks) {
        return damaged(r, err, "the index of chunks does not have all of them");
    }
    return PONS_OK;
}

static int one(reader *r, uint8_t kind, const uint8_t *whole, size_t n, pons_error *err)
{
    const pons_bufread body = pons_bufread_of(whole + PONS__MCAP_HEAD, n - PONS__MCAP_HEAD);
    uint64_t time = 0;
    uint16_t id = 0;
    if (r->over) {
        r->summary_at = r->summary_at ? r->summary_at : r->at;
    }
    switch (kind) {
    case PONS__MCAP_SCHEMA:
        return on_schema(r, body, err);
    case PONS__MCAP_CHANNEL:
        return on_channel(r, body, err);
    case PONS__MCAP_MESSAGE:
        return r->over ? damaged(r, err, "a message behind the end of messages")
                       : on_message(r, body, &time, &id, err);
    case PONS__MCAP_CHUNK:
        return r->over ? damaged(r, err, "a chunk behind the end of messages")
                       : on_chunk(r, body, n, err);
    case PONS__MCAP_MESSAGE_INDEX:
        return on_message_index(r, body, err);
    case PONS__MCAP_CHUNK_INDEX:
        return on_chunk_index(r, body, err);
    case PONS__MCAP_STATISTICS:
        return on_statistics(r, body, err);
    case PONS__MCAP_METADATA:
        return on_metadata(r, body, err);
    case PONS__MCAP_DATA_END:
        return on_data_end(r, body, err);
    default:
        return PONS_OK; // a newer kind, or one that is of no use here
    }
}

__attribute__((format(printf, 2, 3))) static void cut_off(reader *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->ret->why, sizeof r->ret->why, fmt, ap);
    va_end(ap);
}

// Reads the record at r->at into r->record. 1: it is there; 0: the file is cut off, which is told.
static int next_record(reader *r, size_t *ret_whole, pons_error *err)
{
    uint8_t head[PONS__MCAP_HEAD];
    const uint64_t left = r->size - r->at;
    r->ret->read = r->at;
    if (left < PONS__MCAP_HEAD) {
        cut_off(r, left ? "it ends in a record" : "it has no end: no summary, no footer");
        return 0;
    }
    int rc = take_bytes(r, r->at, head, sizeof head, err);
    if (rc < 0) {
        return rc;
    }
    pons_bufread length = pons_bufread_of(head + 1, 8);
    const uint64_t n = pons__take(&length, 8);
    if (n > left - PONS__MCAP_HEAD) {
        cut_off(r, "it ends in a record of %" PRIu64 " bytes, %" PRIu64 " of them there", n,
                left - PONS__MCAP_HEAD);
        return 0;
    }
    if (head[0] == 0 && n == 0) { // of a disk that had the length already, and not the bytes
        cut_off(r, "zeros follow: it has no end");
        return 0;
    }
    if (head[0] == 0 || n > RECORD_MAX) {
        return damaged(r, err, "no record, or one of more than 64 MiB");
    }
    *ret_whole = PONS__MCAP_HEAD + (size_t)n;
    pons_buf_clear(&r->record);
    if (pons_buf_reserve(&r->record, *ret_whole + 1) < 0) {
        return no_memory(err);
    }
    rc = take_bytes(r, r->at, r->record.data, *ret_whole, err);
    return rc < 0 ? rc : 1;
}

static int all_records(reader *r, pons_error *err)
{
    uint8_t magic[PONS__MCAP_MAGIC_N];
    for (bool ended = false; !ended;) {
        size_t whole = 0;
        int rc = next_record(r, &whole, err);
        if (rc <= 0) {
            return rc;
        }
        const uint8_t *data = (const uint8_t *)r->record.data;
        uint32_t *crc = r->over ? &r->summary_crc : &r->crc;
        ended = data[0] == PONS__MCAP_FOOTER;
        if (ended) {
            const size_t n = whole - PONS__MCAP_HEAD;
            rc = on_footer(r, pons_bufread_of(data + PONS__MCAP_HEAD, n), data, err);
        } else {
            rc = one(r, data[0], data, whole, err);
            *crc = (uint32_t)crc32(*crc, data, (uInt)whole);
        }
        if (rc < 0) {
            return rc;
        }
        r->at += whole;
    }
    if (r->size - r->at < sizeof magic) {
        cut_off(r, "it ends in its last magic bytes");
        return PONS_OK;
    }
    const int rc = take_bytes(r, r->at, magic, sizeof magic, err);
    if (rc >= 0 &&
        (memcmp(magic, PONS__MCAP_MAGIC, sizeof magic) != 0 || r->at + sizeof magic != r->size)) {
        return damaged(r, err, "something lies behind the footer");
    }
    r->ret->whole = rc >= 0;
    r->ret->read = r->size;
    return rc;
}

static int begin(reader *r, pons_error *err)
{
    struct stat st;
    char magic[PONS__MCAP_MAGIC_N] = "";
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (r->fd < 0 || fstat(r->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        const bool no_file = r->fd < 0;
        const int status = no_file && errno == ENOENT ? PONS_ENOTFOUND : PONS_EIO;
        pons_error_set(err, status, MODULE, "%s", no_file ? strerror(errno) : "it is no file");
        pons_error_source(err, "%s", r->path);
        return status;
    }
    r->size = r->ret->bytes = (uint64_t)st.st_size;
    const size_t n = r->size < sizeof magic ? (size_t)r->size : sizeof magic;
    const int rc = take_bytes(r, 0, magic, n, err);
    if (rc >= 0 && memcmp(magic, PONS__MCAP_MAGIC, n) != 0) {
        pons_error_set(err, PONS_EINVAL, MODULE, "this is no MCAP file");
        pons_error_source(err, "%s: byte 0", r->path);
        return PONS_EINVAL;
    }
    r->at = n;
    r->crc = (uint32_t)crc32(crc32(0, NULL, 0), (const Bytef *)magic, (uInt)n);
    return rc;
}

static void tell_topics(reader *r)
{
    for (size_t i = 0; i < r->ids; i++) {
        const topic *t = r->topics[i];
        if (t) {
            json_array_append_new(r->ret->topics,
                                  pons_object("topic", json_string(t->topic), "schema",
                                              json_string(t->schema), "encoding",
                                              json_string(t->encoding), "messages",
                                              json_integer((json_int_t)t->messages), NULL));
        }
    }
}

int pons_mcap_read(const char *path, int (*on)(void *user, const pons_mcap_message *m), void *user,
                   pons_mcap_about *ret, pons_error *err)
{
    *ret = (pons_mcap_about){.topics = json_array(), .metadata = json_object()};
    reader *r = calloc(1, sizeof *r);
    if (!r || !ret->topics || !ret->metadata) {
        free(r);
        return no_memory(err);
    }
    r->path = path;
    r->on = on;
    r->user = user;
    r->ret = ret;
    int rc = begin(r, err);
    rc = rc < 0 ? rc : all_records(r, err);
    tell_topics(r);
    if (r->fd >= 0) {
        close(r->fd);
    }
    for (size_t i = 0; i < r->ids; i++) {
        free(r->schemas[i]);
        topic_free(r->topics[i]);
    }
    free(r->entries);
    free(r->chunks);
    pons_buf_fini(&r->record);
    pons_buf_fini(&r->chunk);
    free(r);
    return rc;
}

void pons_mcap_about_clear(pons_mcap_about *a)
{
    pons_value_unref(a->topics);
    pons_value_unref(a->metadata);
    *a = (pons_mcap_about){.whole = false};
}
