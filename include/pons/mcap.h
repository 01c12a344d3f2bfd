// mcap.h - MCAP files: messages of a robot with their times, topics and schemas, for tools that others
// wrote (docs/reference/recording.md).
//
// A writer makes chunks that are compressed with Zstandard and have a CRC, an index behind each, and
// at the end a summary with the index of chunks and statistics. What is cut off anywhere is still
// readable up to its last whole chunk. A reader checks all of it: CRCs, the index, the statistics.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

typedef struct pons_mcap_writer pons_mcap_writer; // one thread at a time

// Makes the file, mode 0600. PONS_EEXIST: it is there already, and is left alone. PONS_EIO.
int pons_mcap_create(const char *path, pons_mcap_writer **ret, pons_error *err);
// Ids, from 1. encoding: what the text is, "jsonschema" or "ros2msg". PONS_EINVAL: there are 65,534 already.
int pons_mcap_schema(pons_mcap_writer *w, const char *name, const char *encoding, const char *text,
                     pons_error *err);
// encoding: of its messages, "json" or "cdr".
int pons_mcap_channel(pons_mcap_writer *w, int schema, const char *topic, const char *encoding,
                      pons_error *err);
// time_ns: since 1970. After a failure (PONS_EIO: the disk is full) the file ends with its last whole
// chunk, and every later call fails.
int pons_mcap_write(pons_mcap_writer *w, int channel, int64_t time_ns, const void *data, size_t n,
                    pons_error *err);
// pairs: name, value, …, NULL.
int pons_mcap_metadata(pons_mcap_writer *w, const char *name, const char *const *pairs,
                       pons_error *err);
// What was written so far goes to the file.
int pons_mcap_flush(pons_mcap_writer *w, pons_error *err);
uint64_t pons_mcap_size(const pons_mcap_writer *w); // bytes of the file
// Flushes, writes the summary and syncs; after a failure the summary too, where there is room for it.
// Frees w in any case. NULL-safe. What the file has then, in messages and bytes; both may be NULL.
int pons_mcap_close(pons_mcap_writer *w, uint64_t *ret_messages, uint64_t *ret_bytes,
                    pons_error *err);

typedef struct pons_mcap_message {
    const char *topic, *encoding, *schema; // borrowed for the call, as data
    uint32_t sequence;                     // of its channel
    uint64_t time_ns;                      // log time
    const char *data;                      // (n)
    size_t n;
} pons_mcap_message;

typedef struct pons_mcap_about {
    bool whole;                // it ends as a file should: summary, footer, magic
    char why[120];             // it is not: where it ends
    uint64_t bytes, read;      // of the file; up to the end of its last whole record
    uint64_t messages, chunks; // that were read
    uint64_t start_ns, end_ns; // log times of its messages; 0: there are none
    pons_value *topics;        // [{topic, schema, encoding, messages}]
    pons_value *metadata;      // {name: {key: value}}
} pons_mcap_about;

// Reads the whole file in its order and checks it. on (NULL: none) gets each message and ends the
// reading with a negative status, which is returned. A file that is cut off is PONS_OK, with what is
// whole of it and `whole` false; one that is no MCAP file is PONS_EINVAL; one that is damaged, or whose
// index does not fit its messages, is PONS_ECORRUPT with path:byte; what it is packed with and we cannot
// unpack is PONS_EUNSUPPORTED. *ret is filled as far as it was read, in any case; the caller clears it.
int pons_mcap_read(const char *path, int (*on)(void *user, const pons_mcap_message *m), void *user,
                   pons_mcap_about *ret, pons_error *err);
void pons_mcap_about_clear(pons_mcap_about *a);

PONS_C_END
