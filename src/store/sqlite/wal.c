// wal.c - whether the write-ahead log beside a store is whole.
//
// SQLite takes the first frame whose checksum does not fit for the log's end, as it must after a
// power cut, and says nothing: a damaged frame costs all that was committed in it and after it. So
// the log is read here once more, as https://www.sqlite.org/fileformat2.html#walformat has it:
//
//   header  magic, version, page size, checkpoint, salt[2], checksum[2]            8 big-endian words
//   frame   page, pages after a commit or 0, salt[2], checksum[2]                  6, then the page
//
// Each checksum goes on from the one before. Frames of an older log have other salts. There is damage
// when the index (-shm), which the last process left when it was killed, knows of more frames than
// can be read; or, without an index of this log, when a commit of this log lies at or behind the
// first frame that does not fit.
#include "store/sqlite/parts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_MAGIC    0x377f0682u // the lowest bit: checksums of big-endian words
#define LOG_HEAD     32          // bytes
#define FRAME_HEAD   24
#define PAGE_MAX     65536
#define INDEX_HEAD   48 // of two equal copies
#define INDEX_BYTES  100
#define INDEX_INIT   12 // offsets in it
#define INDEX_FRAMES 16
#define INDEX_SALT   32
#define INDEX_MOVED  96 // frames that are in the file already

typedef struct log_state {
    int64_t bytes;
    int64_t frames;  // whole ones in the file
    int64_t fit;     // from the first on, with checksums that fit
    int64_t commits; // of these, up to the last commit
    int64_t behind;  // commits of this log that lie behind those that fit
    bool head_bad;
    uint8_t salt[8];
} log_state;

typedef struct log_index {
    bool there;
    int64_t frames, moved;
    uint8_t salt[8];
} log_index;

static bool judge(const log_state *log, const log_index *index, char *why, size_t cap);
static void read_log(const char *path, log_state *ret);
static void read_index(const char *path, log_index *ret);
static void sum_words(bool big, const uint8_t *p, size_t n, uint32_t s[2]);
static uint32_t word_at(const uint8_t *p);

bool pons__log_damaged(sql_conn *c, const char *path, char *why, size_t cap)
{
    log_state log = {0};
    log_index index = {0}, later = {0};
    read_index(path, &index);
    read_log(path, &log);
    if (!c || !judge(&log, &index, why, cap)) {
        return judge(&log, &index, why, cap);
    }
    // Beside others the end may have been looked at while it was written: once more, while nobody
    // may. What the index said before counts, unless it has grown: SQLite has made it anew by now
    // if nobody else was there, from what it could read.
    const bool alone = sqlite3_exec(c->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    log = (log_state){0};
    read_index(path, &later);
    read_log(path, &log);
    const bool grown = later.there && (memcmp(later.salt, index.salt, sizeof later.salt) != 0 ||
                                       later.frames >= index.frames);
    const bool damaged = judge(&log, grown && index.there ? &later : &index, why, cap);
    if (alone) {
        sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return damaged;
}

static bool judge(const log_state *log, const log_index *index, char *why, size_t cap)
{
    if (log->bytes == 0) {
        if (index->there && index->frames > index->moved) {
            snprintf(why, cap, "the log (-wal) is gone, with %lld pages that only it had",
                     (long long)(index->frames - index->moved));
            return true;
        }
        return false;
    }
    if (log->head_bad) {
        snprintf(why, cap, "the log (-wal) has a damaged header: none of it can be read");
        return true;
    }
    const bool same = index->there && memcmp(index->salt, log->salt, sizeof log->salt) == 0;
    if (same && index->frames > log->commits) { // an old page would stand for one in the file
        snprintf(why, cap, "the log (-wal) had %lld pages, of which %lld can be read",
                 (long long)index->frames, (long long)log->commits);
        return true;
    }
    if ((!same || index->frames < log->commits) && log->behind > 0) {
        snprintf(why, cap,
                 "page %lld of the log (-wal) is damaged; %lld commits lie at or behind it",
                 (long long)log->fit + 1, (long long)log->behind);
        return true;
    }
    return false;
}

// Without a log, or one that cannot be read, there are no bytes.
static void read_log(const char *path, log_state *ret)
{
    char name[PATH_MAX];
    uint8_t head[LOG_HEAD], *frame = NULL;
    snprintf(name, sizeof name, "%s-wal", path);
    FILE *f = fopen(name, "re");
    if (!f) {
        return;
    }
    fseeko(f, 0, SEEK_END);
    ret->bytes = (int64_t)ftello(f);
    rewind(f);
    if (ret->bytes < LOG_HEAD) {
        ret->head_bad = ret->bytes > 0;
        fclose(f);
        return;
    }
    uint32_t s[2] = {0, 0};
    const bool got = fread(head, 1, LOG_HEAD, f) == LOG_HEAD;
    const uint32_t magic = word_at(head), page = word_at(head + 8);
    const bool big = magic & 1;
    sum_words(big, head, LOG_HEAD - 8, s);
    ret->head_bad = !got || (magic & ~1u) != LOG_MAGIC || page < 512 || page > PAGE_MAX ||
                    (page & (page - 1)) || s[0] != word_at(head + 24) || s[1] != word_at(head + 28);
    memcpy(ret->salt, head + 16, sizeof ret->salt);
    const size_t size = FRAME_HEAD + (size_t)page;
    frame = ret->head_bad ? NULL : malloc(size);
    ret->head_bad = ret->head_bad || !frame;
    while (frame && fread(frame, 1, size, f) == size) {
        const bool mine = memcmp(frame + 8, ret->salt, sizeof ret->salt) == 0;
        const bool commit = word_at(frame + 4) != 0;
        sum_words(big, frame, 8, s);
        sum_words(big, frame + FRAME_HEAD, page, s);
        const bool sums = s[0] == word_at(frame + 16) && s[1] == word_at(frame + 20);
        if (mine && sums && ret->fit == ret->frames) {
            ret->fit++;
            ret->commits = commit ? ret->fit : ret->commits;
        } else if ((mine || sums) && commit) {
            ret->behind++;
        }
        ret->frames++;
    }
    free(frame);
    fclose(f);
}

static void read_index(const char *path, log_index *ret)
{
    char name[PATH_MAX];
    uint8_t b[INDEX_BYTES];
    snprintf(name, sizeof name, "%s-shm", path);
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : pread(fd, b, sizeof b, 0);
    if (fd >= 0) {
        close(fd);
    }
    if (n != (ssize_t)sizeof b || memcmp(b, b + INDEX_HEAD, INDEX_HEAD) != 0 || !b[INDEX_INIT]) {
        return;
    }
    uint32_t frames, moved; // in the machine's order
    memcpy(&frames, b + INDEX_FRAMES, sizeof frames);
    memcpy(&moved, b + INDEX_MOVED, sizeof moved);
    *ret = (log_index){.there = true, .frames = frames, .moved = moved};
    memcpy(ret->salt, b + INDEX_SALT, sizeof ret->salt);
}

// The log's own checksum, a sum of sums of pairs of words.
static void sum_words(bool big, const uint8_t *p, size_t n, uint32_t s[2])
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        for (size_t k = 0; k < 2; k++) {
            const uint8_t *w = p + i + 4 * k;
            const uint32_t one = big ? word_at(w)
                                     : (uint32_t)w[0] | (uint32_t)w[1] << 8 | (uint32_t)w[2] << 16 |
                                           (uint32_t)w[3] << 24;
            s[k] += one + s[1 - k];
        }
    }
}

static uint32_t word_at(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
