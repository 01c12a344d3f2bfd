// wal_check.c - whether the write-ahead log beside a store is whole, asked before SQLite may read it.
//
// SQLite takes the first frame whose checksum does not fit for the log's end, as it must after a
// power cut, and says nothing: a damaged frame costs all that was committed in it and after it. So
// whoever opens a store reads the log here first, as https://www.sqlite.org/fileformat2.html#walformat
// has it:
//
//   header  magic, version, page size, checkpoint, salt[2], checksum[2]            8 big-endian words
//   frame   page, pages after a commit or 0, salt[2], checksum[2]                  6, then the page
//
// Each checksum goes on from the one before. Frames of an older log have other salts. The index
// (-shm) knows how many frames were committed. Who has the store open holds a lock on it; without
// such a lock the writer was killed. What is damage:
//
//   the store is open elsewhere      fewer frames fit than the index knows of
//   killed                           the same; or two commits lie at or behind the first frame that
//                                    does not fit: one may be the commit that was being written
//   killed, no index of this log     one does
//   killed, the host started since   two do: a power cut costs the end of a log that was not synced,
//                                    and the index is of no use. NAME-locks/boot has the boot id of
//                                    the last writer
//
// A damaged log is not opened, by who reads or writes: files stay as they are until `pons doctor
// --repair` has copied them. What is lost with it is told by comparing two private copies, one with
// the frames that fit, one with all frames of this log whose sums are made to fit.
//
// SQLite's locks on the index are a process's: they are gone as soon as it closes any descriptor of
// that file. So a process that has the index open does not open it here once more; it asked before.
#include "store/sqlite/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_MAGIC    0x377f0682u // the lowest bit: checksums of big-endian words
#define LOG_HEAD     32          // bytes
#define FRAME_HEAD   24
#define PAGE_BYTES   2048 // of a store
#define PAGE_MAX     65536
#define INDEX_HEAD   48 // of two equal copies
#define INDEX_BYTES  100
#define INDEX_INIT   12 // offsets in it
#define INDEX_FRAMES 16
#define INDEX_SALT   32
#define INDEX_MOVED  96  // frames that are in the file already
#define INDEX_USED   128 // the byte that each who has the store open holds a lock on
#define LOOKS_MAX    100 // at a log that is started anew at that moment
#define BOOT_BYTES   64
#define NAMES_MAX    12 // threads that are named

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
    bool there, used; // used: by another process
    int64_t frames, moved;
    uint8_t salt[8];
} log_index;

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER; // from the look to SQLite's first read

// ---- the look -----------------------------------------------------------------------------------

static bool judge(const log_state *log, const log_index *index, bool cut, char *why, size_t cap)
{
    const bool reported = index->there && (index->used || !cut);
    const bool same = reported && memcmp(index->salt, log->salt, sizeof log->salt) == 0;
    if (log->bytes == 0) {
        if (reported && index->frames > index->moved) {
            snprintf(why, cap, "the log (-wal) is gone, with %lld pages that only it had",
                     (long long)(index->frames - index->moved));
            return true;
        }
        return false;
    }
    if (index->used && index->there && !same && index->frames == 0) {
        return false; // started anew
    }
    if (log->head_bad) {
        snprintf(why, cap, "the log (-wal) has a damaged header: none of it can be read");
        return true;
    }
    if (same && index->frames > log->commits) { // an old page would stand for one in the file
        snprintf(why, cap, "the log (-wal) had %lld pages, of which %lld can be read",
                 (long long)index->frames, (long long)log->commits);
        return true;
    }
    if (index->used) {
        return false; // what lies behind is being written
    }
    const bool torn = cut || (same && index->frames >= log->commits); // one that was never told
    if (log->behind > torn) {
        snprintf(why, cap,
                 "page %lld of the log (-wal) is damaged; %lld commits lie at or behind it",
                 (long long)log->fit + 1, (long long)log->behind);
        return true;
    }
    return false;
}

static bool boot_id(char ret[BOOT_BYTES])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    const bool got = f && fgets(ret, BOOT_BYTES, f);
    if (f) {
        fclose(f);
    }
    return got;
}

// Whether the host was started since the log was written, as far as that is known.
static bool cut_off(const char *path)
{
    char name[PATH_MAX], now[BOOT_BYTES], was[BOOT_BYTES] = "";
    snprintf(name, sizeof name, "%s-locks/boot", path);
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : pread(fd, was, sizeof was - 1, 0);
    if (fd >= 0) {
        close(fd);
    }
    return n > 0 && boot_id(now) && strcmp(was, now) != 0;
}

static uint32_t word_at(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
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
    const size_t size = FRAME_HEAD + (size_t)(ret->head_bad ? PAGE_BYTES : page);
    frame = malloc(size);
    ret->head_bad = ret->head_bad || !frame;
    while (frame && fread(frame, 1, size, f) == size) {
        if (ret->head_bad && ret->frames == 0) {
            memcpy(ret->salt, frame + 8, sizeof ret->salt); // as the header had it
        }
        const bool mine = memcmp(frame + 8, ret->salt, sizeof ret->salt) == 0;
        const bool commit = word_at(frame + 4) != 0;
        sum_words(big, frame, 8, s);
        sum_words(big, frame + FRAME_HEAD, size - FRAME_HEAD, s);
        const bool sums = s[0] == word_at(frame + 16) && s[1] == word_at(frame + 20);
        if (!ret->head_bad && mine && sums && ret->fit == ret->frames) {
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
    struct flock probe = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = INDEX_USED, .l_len = 1};
    ret->used = fd >= 0 && fcntl(fd, F_GETLK, &probe) == 0 && probe.l_type != F_UNLCK;
    if (fd >= 0) {
        close(fd);
    }
    if (n != (ssize_t)sizeof b || memcmp(b, b + INDEX_HEAD, INDEX_HEAD) != 0 || !b[INDEX_INIT]) {
        return;
    }
    uint32_t frames, moved; // in the machine's order
    memcpy(&frames, b + INDEX_FRAMES, sizeof frames);
    memcpy(&moved, b + INDEX_MOVED, sizeof moved);
    ret->there = true;
    ret->frames = frames;
    ret->moved = moved;
    memcpy(ret->salt, b + INDEX_SALT, sizeof ret->salt);
}

static bool damaged(const char *path, log_state *log, char *why, size_t cap)
{
    const bool cut = cut_off(path);
    for (int i = 0; i < LOOKS_MAX; i++) {
        log_index index = {0}, later = {0};
        *log = (log_state){0};
        read_index(path, &index);
        read_log(path, log);
        if (!judge(log, &index, cut, why, cap)) {
            return false;
        }
        // Beside others it is looked at once more if the log was started anew, or moved, meanwhile.
        read_index(path, &later);
        if (index.used == later.used && index.there == later.there &&
            index.frames <= later.frames &&
            memcmp(index.salt, later.salt, sizeof later.salt) == 0 &&
            (index.there || !index.used)) {
            return true;
        }
    }
    return false; // it changes all the time, so SQLite can read it
}

// Whether this process has the index open: SQLite in it, that is.
static bool index_is_ours(const char *path)
{
    char name[PATH_MAX];
    struct stat index, st;
    snprintf(name, sizeof name, "%s-shm", path);
    if (stat(name, &index) != 0) {
        return false;
    }
    bool found = false;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e = d ? readdir(d) : NULL; e && !found; e = readdir(d)) {
        found = fstat(atoi(e->d_name), &st) == 0 && st.st_dev == index.st_dev &&
                st.st_ino == index.st_ino;
    }
    if (d) {
        closedir(d);
    }
    return found || !d;
}

static void put_word(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> (24 - 8 * i));
    }
}

// ---- what is lost -------------------------------------------------------------------------------

#define COPY_FIT "fit.db" // the store with the frames that fit
#define COPY_ALL "all.db" // and with all

// Threads that have more in all frames than in those that fit, or something else.
#define LAST_OF(table)                                                                             \
    "(SELECT max(key) FROM " table " WHERE key BETWEEN t.tid<<36 AND (t.tid<<36)+68719476735)"
#define STATE_OF(of)                                                                               \
    "SELECT t.name, t.epoch, t.inbox_seq, " LAST_OF(of ".event") ", " LAST_OF(                     \
        of ".inbox") ", " LAST_OF(of ".effect") ", (SELECT max(updated_ms) FROM " of ".effect"     \
                                                " WHERE key BETWEEN t.tid<<36 AND "                \
                                                "(t.tid<<36)+68719476735), (SELECT sum((SELECT "   \
                                                "max(c.key)"                                       \
                                                " FROM " of                                        \
                                                ".checkpoint c WHERE c.key BETWEEN n.nid<<36 AND " \
                                                "(n.nid<<36)+68719476735)) FROM " of               \
                                                ".ns n WHERE n.tid=t.tid) FROM " of ".thread t"

// The log with the frames up to the last commit that fits, or with all that are of it, summed anew.
static bool copy_log(const char *path, const char *to, const log_state *log, bool all)
{
    char name[PATH_MAX];
    uint8_t head[LOG_HEAD], pages[2];
    snprintf(name, sizeof name, "%s-wal", path);
    FILE *in = fopen(name, "re"), *db = fopen(path, "re"), *out = fopen(to, "wxe");
    uint32_t s[2] = {0, 0}, page = 0;
    uint8_t *frame = NULL;
    bool good = in && db && out && fseeko(db, 16, SEEK_SET) == 0 && fread(pages, 1, 2, db) == 2 &&
                fread(head, 1, LOG_HEAD, in) == LOG_HEAD;
    if (good) {
        page = (uint32_t)pages[0] << 8 | pages[1];
        page = page == 1 ? PAGE_MAX : page;
        frame = page >= 512 ? malloc(FRAME_HEAD + (size_t)page) : NULL;
        good = frame && fread(frame, 1, FRAME_HEAD, in) == FRAME_HEAD;
    }
    if (good) {
        if (log->head_bad) { // what it must have said
            put_word(head, LOG_MAGIC);
            put_word(head + 4, 3007000);
            put_word(head + 8, page);
            memcpy(head + 16, frame + 8, 8);
        }
        const bool big = word_at(head) & 1;
        sum_words(big, head, LOG_HEAD - 8, s);
        put_word(head + 24, s[0]);
        put_word(head + 28, s[1]);
        good = fwrite(head, 1, LOG_HEAD, out) == LOG_HEAD && fseeko(in, LOG_HEAD, SEEK_SET) == 0;
        for (int64_t i = 0; good && (all || i < log->commits) &&
                            fread(frame, 1, FRAME_HEAD + page, in) == FRAME_HEAD + page;
             i++) {
            if (memcmp(frame + 8, head + 16, 8) != 0 && i > log->fit) {
                break; // of an older log
            }
            memcpy(frame + 8, head + 16, 8);
            sum_words(big, frame, 8, s);
            sum_words(big, frame + FRAME_HEAD, page, s);
            put_word(frame + 16, s[0]);
            put_word(frame + 20, s[1]);
            good = fwrite(frame, 1, FRAME_HEAD + page, out) == FRAME_HEAD + page;
        }
    }
    free(frame);
    good = out && fclose(out) == 0 && good;
    if (db) {
        fclose(db);
    }
    if (in) {
        fclose(in);
    }
    return good;
}

bool pons__copy_file(const char *from, const char *to)
{
    char chunk[65536];
    size_t n;
    FILE *in = fopen(from, "re"), *out = in ? fopen(to, "wxe") : NULL;
    bool good = in && out;
    while (good && (n = fread(chunk, 1, sizeof chunk, in)) > 0) {
        good = fwrite(chunk, 1, n, out) == n;
    }
    good = good && !ferror(in);
    if (out) {
        good = fclose(out) == 0 && good;
    }
    if (in) {
        fclose(in);
    }
    return good;
}

// Writes " of threads a, b", of which the two copies do not have the same. false: it cannot be known.
static bool name_threads(const char *dir, char *ret, size_t cap)
{
    sql_conn c = {0};
    pons_error ignored = PONS_ERROR_INIT;
    char path[PATH_MAX + 16], sql[PATH_MAX + 64];
    sqlite3_stmt *st = NULL;
    snprintf(path, sizeof path, "%s/" COPY_ALL, dir);
    snprintf(sql, sizeof sql, "ATTACH '%s/" COPY_FIT "' AS fit", dir);
    bool good =
        !pons__sql_open(&c, path, "the copy", SQLITE_OPEN_READWRITE, &ignored) &&
        sqlite3_exec(c.db, sql, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(c.db,
                           "SELECT DISTINCT name FROM"
                           " (SELECT * FROM (" STATE_OF("main") " EXCEPT " STATE_OF(
                               "fit") ")"
                                      " UNION SELECT * FROM (" STATE_OF("fit") " EXCEPT " STATE_OF(
                                          "main") "))"
                                                  " ORDER BY name",
                           -1, &st, NULL) == SQLITE_OK;
    size_t at = 0;
    int n = 0, code = SQLITE_DONE;
    while (good && (code = sqlite3_step(st)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 0);
        if (n < NAMES_MAX && name && at < cap) {
            at += (size_t)snprintf(ret + at, cap - at, "%s %s", n ? "," : " of threads", name);
        }
        n++;
    }
    if (n > NAMES_MAX && at < cap) {
        snprintf(ret + at, cap - at, " and %d more", n - NAMES_MAX);
    } else if (n == 0) {
        snprintf(ret, cap, " of no thread"); // of items, sessions, or what was the same again
    }
    sqlite3_finalize(st);
    pons__sql_close(&c);
    return good && code == SQLITE_DONE;
}

// "12 commits of threads t1, t2 cannot be read".
static void name_lost(const char *path, const log_state *log, char *ret, size_t cap)
{
    static const char *const files[] = {COPY_FIT, COPY_ALL};
    static const char *const parts[] = {"", "-wal", "-shm"};
    char dir[PATH_MAX], to[PATH_MAX + 16], threads[400] = "";
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/pons-lost-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    bool good = log->behind > 0 && mkdtemp(dir);
    for (size_t i = 0; good && i < 2; i++) {
        snprintf(to, sizeof to, "%s/%s", dir, files[i]);
        good = pons__copy_file(path, to);
        snprintf(to, sizeof to, "%s/%s-wal", dir, files[i]);
        // Without a header that fits there is no frame that does.
        good = good && (i == 1 || log->commits > 0 ? copy_log(path, to, log, i == 1) : true);
    }
    good = good && name_threads(dir, threads, sizeof threads);
    for (size_t i = 0; log->behind > 0 && i < 6; i++) {
        snprintf(to, sizeof to, "%s/%s%s", dir, files[i / 3], parts[i % 3]);
        unlink(to);
    }
    rmdir(dir);
    if (log->behind > 0) {
        snprintf(ret, cap, "%lld commit%s%s cannot be read", (long long)log->behind,
                 log->behind == 1 ? "" : "s", good ? threads : " of threads that cannot be known");
    } else {
        snprintf(ret, cap, "commits cannot be read, how many cannot be known");
    }
}

// ---- public functions ---------------------------------------------------------------------------

int pons__log_begin(const char *path, pons_error *err)
{
    pthread_mutex_lock(&opening);
    log_state log = {0};
    char why[160];
    if (index_is_ours(path) || !damaged(path, &log, why, sizeof why)) {
        return PONS_OK;
    }
    char lost[512];
    name_lost(path, &log, lost, sizeof lost);
    pons_error_set(err, PONS_ECORRUPT, "store",
                   "the log is damaged: %s; `pons doctor --repair` keeps it "
                   "and goes on without that",
                   lost);
    pons_error_source(err, "%s-wal", path);
    pons_error_cause(err, "%s", why);
    pthread_mutex_unlock(&opening);
    return PONS_ECORRUPT;
}

void pons__log_done(sql_conn *c)
{
    if (c && c->db) { // from here on SQLite holds the index
        sqlite3_exec(c->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    }
    pthread_mutex_unlock(&opening);
}

void pons__log_sign(const char *locks)
{
    char path[PATH_MAX], now[BOOT_BYTES], was[BOOT_BYTES] = "";
    if (!boot_id(now) || snprintf(path, sizeof path, "%s/boot", locks) >= (int)sizeof path) {
        return;
    }
    (void)mkdir(locks, 0700);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const ssize_t n = fd < 0 ? -1 : pread(fd, was, sizeof was - 1, 0);
    if (n >= 0 && strcmp(was, now) != 0) {
        (void)!pwrite(fd, now, strlen(now), 0);
    }
    if (fd >= 0) {
        close(fd);
    }
}
