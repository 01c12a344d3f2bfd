// mcap_write.c - an MCAP file as it grows.
//
//     magic header                       at once
//     [chunk, its message indexes]…      each when it has CHUNK_BYTES, or at a flush
//     [metadata]…
//     data end                           CRC of all bytes before it
//     schemas channels chunk indexes metadata indexes statistics, offsets of these groups
//     footer magic
//
// A chunk holds the schemas and channels that are new in it before their first message, so that what
// was written before a kill can be read by itself. A chunk goes to the file with its indexes in one
// write; where that fails the file is cut back to the chunk before it, and the recording is over.
#include "pons/buf.h"
#include "pons/growing_list.h"
#include "pons/mcap.h"
#include "record/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define MODULE      "record"
#define CHUNK_BYTES (512U * 1024U)
#define LEVEL       3 // of Zstandard
#define IDS_MAX     65534

typedef struct channel {
    uint32_t sequence;
    pons_buf index; // (time, offset)… in the chunk that is open
} channel;

struct pons_mcap_writer {
    int fd;
    char path[PONS_ERROR_SOURCE_MAX];
    bool failed;
    uint64_t at;                     // bytes of the file, all whole
    uint32_t crc;                    // of them
    pons_buf chunk;                  // records of the one that is open
    uint64_t chunk_start, chunk_end; // log times
    uint64_t chunk_messages;
    uint64_t start, end, messages, chunks, metadata;
    pons_buf schemas, channels, chunk_indexes, metadata_indexes; // of the summary
    int n_schemas, n_channels;
    channel *list; // (n_channels)
};

static int no_memory(pons_mcap_writer *w, pons_error *err)
{
    w->failed = true;
    return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to record with");
}

// All of it is in the file, or nothing is.
static int put(pons_mcap_writer *w, const pons_buf *b, pons_error *err)
{
    size_t done = 0;
    while (done < b->len) {
        const ssize_t n = write(w->fd, b->data + done, b->len - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            const int saved = n < 0 ? errno : ENOSPC;
            w->failed = true;
            if (ftruncate(w->fd, (off_t)w->at) == 0) {
                lseek(w->fd, (off_t)w->at, SEEK_SET);
            }
            pons_error_set(err, PONS_EIO, MODULE, "cannot write the recording: %s",
                           strerror(saved));
            return pons_error_source(err, "%s", w->path), PONS_EIO;
        }
        done += (size_t)n;
    }
    w->crc = (uint32_t)crc32(w->crc, (const Bytef *)b->data, (uInt)b->len);
    w->at += b->len;
    return PONS_OK;
}

int pons_mcap_create(const char *path, pons_mcap_writer **ret, pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_mcap_writer *w = calloc(1, sizeof *w);
    if (!w) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to record with");
    }
    snprintf(w->path, sizeof w->path, "%s", path);
    w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (w->fd < 0) {
        const int saved = errno;
        free(w);
        pons_error_set(err, saved == EEXIST ? PONS_EEXIST : PONS_EIO, MODULE,
                       saved == EEXIST ? "the file is there already; a recording is a new one"
                                       : "cannot make the file: %s",
                       strerror(saved));
        pons_error_source(err, "%s", path);
        return saved == EEXIST ? PONS_EEXIST : PONS_EIO;
    }
    w->crc = (uint32_t)crc32(0, NULL, 0);
    pons_buf_bytes(&b, PONS__MCAP_MAGIC, PONS__MCAP_MAGIC_N);
    const size_t begun = pons__record_begin(&b, PONS__MCAP_HEADER);
    pons__put_text(&b, ""); // of no profile
    pons__put_text(&b, "pons " PONS_VERSION);
    pons__record_end(&b, begun);
    const int rc = b.failed ? no_memory(w, err) : put(w, &b, err);
    if (rc < 0) {
        close(w->fd);
        unlink(path);
        free(w);
        return rc;
    }
    *ret = w;
    return PONS_OK;
}

static int state_of(const pons_mcap_writer *w, pons_error *err)
{
    return w->failed ? pons_error_set(err, PONS_EIO, MODULE, "the recording has ended") : PONS_OK;
}

// A record into the open chunk, and a copy for the summary.
static int keep(pons_mcap_writer *w, pons_buf *summary, const pons_buf *record, pons_error *err)
{
    pons_buf_bytes(&w->chunk, record->data, record->len);
    pons_buf_bytes(summary, record->data, record->len);
    return record->failed || w->chunk.failed || summary->failed ? no_memory(w, err) : PONS_OK;
}

int pons_mcap_schema(pons_mcap_writer *w, const char *name, const char *encoding, const char *text,
                     pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    const int there = state_of(w, err);
    if (there < 0 || w->n_schemas >= IDS_MAX) {
        return there < 0 ? there : pons_error_set(err, PONS_EINVAL, MODULE, "too many schemas");
    }
    const size_t begun = pons__record_begin(&b, PONS__MCAP_SCHEMA);
    pons__put(&b, (uint64_t)w->n_schemas + 1, 2);
    pons__put_text(&b, name);
    pons__put_text(&b, encoding);
    pons__put_text(&b, text);
    pons__record_end(&b, begun);
    const int rc = keep(w, &w->schemas, &b, err);
    return rc < 0 ? rc : ++w->n_schemas;
}

int pons_mcap_channel(pons_mcap_writer *w, int schema, const char *topic, const char *encoding,
                      pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    const int there = state_of(w, err);
    if (there < 0 || w->n_channels >= IDS_MAX) {
        return there < 0 ? there : pons_error_set(err, PONS_EINVAL, MODULE, "too many topics");
    }
    if (!pons_list_reserve(&w->list, NULL, (size_t)w->n_channels + 1, sizeof *w->list)) {
        return no_memory(w, err);
    }
    w->list[w->n_channels] = (channel){.index = PONS_BUF_INIT};
    const size_t begun = pons__record_begin(&b, PONS__MCAP_CHANNEL);
    pons__put(&b, (uint64_t)w->n_channels + 1, 2);
    pons__put(&b, (uint64_t)schema, 2);
    pons__put_text(&b, topic);
    pons__put_text(&b, encoding);
    pons__put(&b, 0, 4); // of no metadata
    pons__record_end(&b, begun);
    const int rc = keep(w, &w->channels, &b, err);
    return rc < 0 ? rc : ++w->n_channels;
}

int pons_mcap_write(pons_mcap_writer *w, int id, int64_t time_ns, const void *data, size_t n,
                    pons_error *err)
{
    const uint64_t t = time_ns > 0 ? (uint64_t)time_ns : 0;
    const int there = state_of(w, err);
    if (there < 0) {
        return there;
    }
    channel *c = &w->list[id - 1];
    pons__put(&c->index, t, 8);
    pons__put(&c->index, w->chunk.len, 8);
    const size_t begun = pons__record_begin(&w->chunk, PONS__MCAP_MESSAGE);
    pons__put(&w->chunk, (uint64_t)id, 2);
    pons__put(&w->chunk, ++c->sequence, 4);
    pons__put(&w->chunk, t, 8);
    pons__put(&w->chunk, t, 8);
    pons_buf_bytes(&w->chunk, data, n);
    pons__record_end(&w->chunk, begun);
    if (w->chunk.failed || c->index.failed) {
        return no_memory(w, err);
    }
    w->chunk_start = w->chunk_messages == 0 || t < w->chunk_start ? t : w->chunk_start;
    w->chunk_end = w->chunk_messages == 0 || t > w->chunk_end ? t : w->chunk_end;
    w->chunk_messages++;
    return w->chunk.len >= CHUNK_BYTES ? pons_mcap_flush(w, err) : PONS_OK;
}

// Puts the chunk's records behind its head, packed. Returns their packed size, or 0.
static size_t pack(const pons_buf *records, pons_buf *out)
{
    const size_t most = ZSTD_compressBound(records->len);
    if (pons_buf_reserve(out, most) < 0) {
        return 0;
    }
    const size_t n = ZSTD_compress(out->data + out->len, most, records->data, records->len, LEVEL);
    if (ZSTD_isError(n)) {
        return 0;
    }
    out->len += n;
    out->data[out->len] = '\0';
    return n;
}

static void index_chunk(pons_mcap_writer *w, uint64_t from, uint64_t chunk_n, size_t packed,
                        uint64_t index_n, const pons_buf *offsets)
{
    pons_buf *x = &w->chunk_indexes;
    const size_t index = pons__record_begin(x, PONS__MCAP_CHUNK_INDEX);
    pons__put(x, w->chunk_start, 8);
    pons__put(x, w->chunk_end, 8);
    pons__put(x, from, 8);
    pons__put(x, chunk_n, 8);
    pons__put(x, offsets->len, 4);
    pons_buf_bytes(x, offsets->data ? offsets->data : "", offsets->len);
    pons__put(x, index_n, 8);
    pons__put_text(x, "zstd");
    pons__put(x, packed, 8);
    pons__put(x, w->chunk.len, 8);
    pons__record_end(x, index);
}

int pons_mcap_flush(pons_mcap_writer *w, pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_autobuf offsets = PONS_BUF_INIT;
    const int there = state_of(w, err);
    if (there < 0 || w->chunk.len == 0) {
        return there;
    }
    const uint64_t from = w->at;
    const size_t begun = pons__record_begin(&b, PONS__MCAP_CHUNK);
    pons__put(&b, w->chunk_start, 8);
    pons__put(&b, w->chunk_end, 8);
    pons__put(&b, w->chunk.len, 8);
    pons__put(&b, crc32(crc32(0, NULL, 0), (const Bytef *)w->chunk.data, (uInt)w->chunk.len), 4);
    pons__put_text(&b, "zstd");
    pons__put(&b, 0, 8);
    const size_t length_at = b.len - 8;
    const size_t packed = b.failed ? 0 : pack(&w->chunk, &b);
    pons__put_at(&b, length_at, packed, 8);
    pons__record_end(&b, begun);
    const uint64_t chunk_n = b.len;
    for (int i = 0; i < w->n_channels; i++) {
        const pons_buf *index = &w->list[i].index;
        if (index->len > 0) {
            pons__put(&offsets, (uint64_t)i + 1, 2);
            pons__put(&offsets, from + b.len, 8);
            const size_t record = pons__record_begin(&b, PONS__MCAP_MESSAGE_INDEX);
            pons__put(&b, (uint64_t)i + 1, 2);
            pons__put(&b, index->len, 4);
            pons_buf_bytes(&b, index->data, index->len);
            pons__record_end(&b, record);
        }
    }
    if (b.failed || offsets.failed || packed == 0) {
        return no_memory(w, err);
    }
    const int rc = put(w, &b, err);
    if (rc < 0) {
        return rc;
    }
    index_chunk(w, from, chunk_n, packed, b.len - chunk_n, &offsets);
    if (w->chunk_messages > 0) {
        w->start = w->messages == 0 || w->chunk_start < w->start ? w->chunk_start : w->start;
        w->end = w->messages == 0 || w->chunk_end > w->end ? w->chunk_end : w->end;
    }
    w->messages += w->chunk_messages;
    w->chunks++;
    w->chunk_messages = w->chunk_start = w->chunk_end = 0;
    pons_buf_clear(&w->chunk);
    for (int i = 0; i < w->n_channels; i++) {
        pons_buf_clear(&w->list[i].index);
    }
    return w->chunk_indexes.failed ? no_memory(w, err) : PONS_OK;
}

int pons_mcap_metadata(pons_mcap_writer *w, const char *name, const char *const *pairs,
                       pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    const int rc = pons_mcap_flush(w, err);
    if (rc < 0) {
        return rc;
    }
    const size_t begun = pons__record_begin(&b, PONS__MCAP_METADATA);
    pons__put_text(&b, name);
    pons__put(&b, 0, 4);
    const size_t from = b.len;
    for (; pairs[0]; pairs += 2) {
        pons__put_text(&b, pairs[0]);
        pons__put_text(&b, pairs[1]);
    }
    pons__put_at(&b, from - 4, b.len - from, 4);
    pons__record_end(&b, begun);
    const uint64_t at = w->at;
    const int put_rc = b.failed ? no_memory(w, err) : put(w, &b, err);
    if (put_rc < 0) {
        return put_rc;
    }
    pons_buf *x = &w->metadata_indexes;
    const size_t index = pons__record_begin(x, PONS__MCAP_METADATA_INDEX);
    pons__put(x, at, 8);
    pons__put(x, b.len, 8);
    pons__put_text(x, name);
    pons__record_end(x, index);
    w->metadata++;
    return x->failed ? no_memory(w, err) : PONS_OK;
}

uint64_t pons_mcap_size(const pons_mcap_writer *w)
{
    return w->at;
}

static void statistics(const pons_mcap_writer *w, pons_buf *b)
{
    const size_t begun = pons__record_begin(b, PONS__MCAP_STATISTICS);
    pons__put(b, w->messages, 8);
    pons__put(b, (uint64_t)w->n_schemas, 2);
    pons__put(b, (uint64_t)w->n_channels, 4);
    pons__put(b, 0, 4); // of no attachments
    pons__put(b, w->metadata, 4);
    pons__put(b, w->chunks, 4);
    pons__put(b, w->start, 8);
    pons__put(b, w->end, 8);
    pons__put(b, (uint64_t)w->n_channels * 10, 4);
    for (int i = 0; i < w->n_channels; i++) {
        pons__put(b, (uint64_t)i + 1, 2);
        pons__put(b, w->list[i].sequence, 8);
    }
    pons__record_end(b, begun);
}

// A group of records of one kind, and where it lies.
static void group(pons_buf *b, pons_buf *offsets, uint64_t base, uint8_t kind,
                  const pons_buf *records)
{
    if (records->len == 0) {
        return;
    }
    const size_t begun = pons__record_begin(offsets, PONS__MCAP_SUMMARY_OFFSET);
    pons_buf_byte(offsets, kind);
    pons__put(offsets, base + b->len, 8);
    pons__put(offsets, records->len, 8);
    pons__record_end(offsets, begun);
    pons_buf_bytes(b, records->data, records->len);
}

static int finish(pons_mcap_writer *w, pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_autobuf offsets = PONS_BUF_INIT;
    pons_autobuf stats = PONS_BUF_INIT;
    const size_t end = pons__record_begin(&b, PONS__MCAP_DATA_END);
    pons__put(&b, w->crc, 4);
    pons__record_end(&b, end);
    const size_t summary = b.len;
    statistics(w, &stats);
    group(&b, &offsets, w->at, PONS__MCAP_SCHEMA, &w->schemas);
    group(&b, &offsets, w->at, PONS__MCAP_CHANNEL, &w->channels);
    group(&b, &offsets, w->at, PONS__MCAP_CHUNK_INDEX, &w->chunk_indexes);
    group(&b, &offsets, w->at, PONS__MCAP_METADATA_INDEX, &w->metadata_indexes);
    group(&b, &offsets, w->at, PONS__MCAP_STATISTICS, &stats);
    const size_t offset = b.len;
    pons_buf_bytes(&b, offsets.data ? offsets.data : "", offsets.len);
    const size_t footer = pons__record_begin(&b, PONS__MCAP_FOOTER);
    pons__put(&b, w->at + summary, 8);
    pons__put(&b, w->at + offset, 8);
    pons__put(&b, 0, 4);
    pons__record_end(&b, footer);
    if (b.failed || offsets.failed || stats.failed) {
        return no_memory(w, err);
    }
    const size_t crc_at = b.len - 4;
    pons__put_at(
        &b, crc_at,
        crc32(crc32(0, NULL, 0), (const Bytef *)b.data + summary, (uInt)(crc_at - summary)), 4);
    pons_buf_bytes(&b, PONS__MCAP_MAGIC, PONS__MCAP_MAGIC_N);
    const int rc = b.failed ? no_memory(w, err) : put(w, &b, err);
    if (rc >= 0 && fsync(w->fd) < 0 && errno != EINVAL && errno != EROFS) {
        pons_error_set(err, PONS_EIO, MODULE, "cannot sync the recording: %s", strerror(errno));
        pons_error_source(err, "%s", w->path);
        return PONS_EIO;
    }
    return rc;
}

int pons_mcap_close(pons_mcap_writer *w, uint64_t *ret_messages, uint64_t *ret_bytes,
                    pons_error *err)
{
    pons_error none = PONS_ERROR_INIT;
    if (!w) {
        return PONS_OK;
    }
    // What the disk had no room for is lost; the summary is of what is there.
    const bool lost = w->failed;
    const int flushed = lost ? PONS_OK : pons_mcap_flush(w, err);
    const bool short_of = w->failed;
    for (int i = 0; short_of && i < w->n_channels; i++) {
        w->list[i].sequence -= (uint32_t)(w->list[i].index.len / 16);
    }
    const int rc = finish(w, short_of ? &none : err);
    if (ret_messages) {
        *ret_messages = w->messages;
    }
    if (ret_bytes) {
        *ret_bytes = w->at;
    }
    close(w->fd);
    for (int i = 0; i < w->n_channels; i++) {
        pons_buf_fini(&w->list[i].index);
    }
    free(w->list);
    pons_buf_fini(&w->chunk);
    pons_buf_fini(&w->schemas);
    pons_buf_fini(&w->channels);
    pons_buf_fini(&w->chunk_indexes);
    pons_buf_fini(&w->metadata_indexes);
    free(w);
    return flushed < 0 ? flushed : short_of ? PONS_OK : rc;
}
