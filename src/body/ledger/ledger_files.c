// ledger_files.c - the files of the ledger.
//
//   body.ledger          the part that is written
//   body.ledger.N        a sealed part, read only
//   body.ledger.N.ids    of its goals, what the index has of them:
//
//     "ponsids1" | goals, 8 bytes | goals × (key, place), 8 bytes each | SHA-256 of all before
//
// Numbers are little-endian. While a part has its lines its ids can be made from them again; they
// alone stay when the lines are removed.
#include "body/ledger/ledger_files.h"

#include "body/safety/epoch_file.h"
#include "pons/buf.h"
#include "pons/growing_list.h"
#include "pons/random.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE      "ledger"
#define LINES_FIRST 4096u
#define LINES_MOST                                                                                 \
    (4u * 1024u * 1024u) // of one line, with room for every escape of the longest goal
#define IDS_MOST  (1024UL * 1024UL * 1024UL)
#define IDS_MAGIC "ponsids1"
#define IDS_HEAD  16u
#define IDS_EACH  16u
#define IDS_SUM   32u

// ---- lines --------------------------------------------------------------------------------------

void pons__lines_init(pons__lines *r, int fd, off_t at)
{
    struct stat st;
    *r = (pons__lines){.fd = fd, .at = at, .size = fstat(fd, &st) == 0 ? st.st_size : 0};
}

void pons__lines_fini(pons__lines *r)
{
    free(r->text);
    *r = (pons__lines){.fd = -1};
}

int pons__lines_next(pons__lines *r, const char **ret, size_t *ret_n, off_t *ret_at,
                     bool *ret_whole)
{
    size_t looked = 0; // of the line, for its newline
    for (;;) {
        const size_t have = r->n - r->from;
        const char *line = r->text ? r->text + r->from : "";
        const char *newline = have > looked ? memchr(line + looked, '\n', have - looked) : NULL;
        if (newline) {
            *ret = line;
            *ret_n = (size_t)(newline - line);
            *ret_at = r->at;
            *ret_whole = true;
            r->from += *ret_n + 1;
            r->at += (off_t)*ret_n + 1;
            return 1;
        }
        looked = have;
        if (have >= LINES_MOST) {
            return PONS_ECORRUPT;
        }
        if (r->from > 0) {
            memmove(r->text, line, have);
            r->n = have;
            r->from = 0;
        }
        if (r->n == r->cap) {
            const size_t cap = r->cap ? 4 * r->cap : LINES_FIRST;
            char *more = realloc(r->text, cap);
            if (!more) {
                return PONS_ENOMEM;
            }
            r->text = more;
            r->cap = cap;
        }
        const off_t from = r->at + (off_t)r->n;
        const size_t room = r->cap - r->n;
        const size_t most = from >= r->size                ? 0
                            : r->size - from < (off_t)room ? (size_t)(r->size - from)
                                                           : room;
        const ssize_t got = most > 0 ? pread(r->fd, r->text + r->n, most, from) : 0;
        if (got < 0 && errno != EINTR) {
            return PONS_EIO;
        }
        if (got == 0) {
            *ret = r->text;
            *ret_n = have;
            *ret_at = r->at;
            *ret_whole = false;
            r->at += (off_t)have;
            r->n = r->from = 0;
            return have > 0;
        }
        r->n += got > 0 ? (size_t)got : 0;
    }
}

// ---- parts --------------------------------------------------------------------------------------

char *pons__part_path(const char *path, uint32_t number, bool ids)
{
    char *ret = NULL;
    return asprintf(&ret, "%s.%u%s", path, number, ids ? ".ids" : "") < 0 ? NULL : ret;
}

// Is it BASE.NUMBER, or BASE.NUMBER.ids?
static int number_of(const char *name, const char *base, uint32_t *ret, bool *ret_ids)
{
    const size_t n = strlen(base);
    if (strncmp(name, base, n) != 0 || name[n] != '.' || name[n + 1] < '1' || name[n + 1] > '9') {
        return 0;
    }
    char *end = NULL;
    errno = 0;
    const unsigned long number = strtoul(name + n + 1, &end, 10);
    *ret_ids = strcmp(end, ".ids") == 0;
    *ret = (uint32_t)number;
    return errno == 0 && number <= PONS__PARTS_MAX && (*ret_ids || !*end);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = ((const pons__part *)a)->number, y = ((const pons__part *)b)->number;
    return (x > y) - (x < y);
}

static int take(pons__part **parts, size_t *n, uint32_t number, pons__part **ret)
{
    for (size_t i = 0; i < *n; i++) {
        if ((*parts)[i].number == number) {
            *ret = &(*parts)[i];
            return PONS_OK;
        }
    }
    if (!pons_list_reserve(parts, NULL, *n + 1, sizeof **parts)) {
        return PONS_ENOMEM;
    }
    (*parts)[*n] = (pons__part){.number = number};
    *ret = &(*parts)[(*n)++];
    return PONS_OK;
}

int pons__parts_list(const char *path, pons__part **ret, size_t *ret_n, pons_error *err)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    DIR *d = dir ? opendir(dir) : NULL;
    free(dir);
    if (!d && errno == ENOENT) {
        *ret = NULL;
        *ret_n = 0;
        return PONS_OK;
    }
    if (!d) {
        return errno == ENOMEM ? pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for parts")
                               : pons__io_error("cannot look beside", path, err);
    }
    pons__part *parts = NULL;
    size_t n = 0;
    int rc = PONS_OK;
    for (struct dirent *e; rc == PONS_OK && (e = readdir(d));) {
        uint32_t number;
        bool ids;
        struct stat st;
        pons__part *p = NULL;
        if (number_of(e->d_name, slash ? slash + 1 : path, &number, &ids) &&
            fstatat(dirfd(d), e->d_name, &st, 0) == 0) {
            rc = take(&parts, &n, number, &p);
        }
        if (p && ids) {
            p->ids = true;
        } else if (p) {
            p->lines = true;
            p->size = st.st_size;
            p->changed_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
        }
    }
    closedir(d);
    if (rc < 0) {
        free(parts);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for parts");
    }
    if (n > 0) {
        qsort(parts, n, sizeof *parts, by_number);
    }
    *ret = parts;
    *ret_n = n;
    return PONS_OK;
}

// ---- ids ----------------------------------------------------------------------------------------

static uint64_t get64(const char *at)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) {
        v = v << 8 | (uint8_t)at[i];
    }
    return v;
}

int pons__ids_load(const char *path, uint32_t number, pons__index *ix)
{
    char *name = pons__part_path(path, number, true), *text = NULL;
    size_t n = 0;
    uint8_t sum[IDS_SUM];
    int rc = name ? pons__read_run_file(name, IDS_MOST, &text, &n, NULL) : PONS_ENOMEM;
    free(name);
    if (rc == PONS_OK && (n < IDS_HEAD + IDS_SUM || memcmp(text, IDS_MAGIC, 8) != 0 ||
                          (n - IDS_HEAD - IDS_SUM) / IDS_EACH != get64(text + 8) ||
                          (n - IDS_HEAD - IDS_SUM) % IDS_EACH != 0)) {
        rc = PONS_ECORRUPT;
    }
    if (rc == PONS_OK) {
        pons_sha256(text, n - IDS_SUM, sum);
        rc = memcmp(sum, text + n - IDS_SUM, IDS_SUM) == 0 ? PONS_OK : PONS_ECORRUPT;
    }
    const size_t goals = rc == PONS_OK ? (n - IDS_HEAD - IDS_SUM) / IDS_EACH : 0;
    rc = rc < 0 ? rc : pons__index_reserve(ix, goals);
    for (size_t i = 0; rc == PONS_OK && i < goals; i++) {
        const char *each = text + IDS_HEAD + i * IDS_EACH;
        pons__index_put_raw(ix, get64(each), get64(each + 8));
    }
    free(text);
    return rc;
}

static void put64(pons_buf *b, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        pons_buf_byte(b, (uint8_t)(v >> (8 * i)));
    }
}

int pons__ids_save(const char *path, uint32_t number, const pons__index *ix, pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    uint64_t goals = 0, key;
    pons__place p;
    for (size_t at = 0; pons__index_next(ix, &at, &key, &p);) {
        goals += p.part == number;
    }
    pons_buf_bytes(&b, IDS_MAGIC, 8);
    put64(&b, goals);
    for (size_t at = 0; pons__index_next(ix, &at, &key, &p);) {
        if (p.part == number) {
            put64(&b, key);
            put64(&b, pons__index_raw(p));
        }
    }
    uint8_t sum[IDS_SUM];
    pons_sha256(b.data, b.len, sum);
    char *name = pons__part_path(path, number, true);
    int rc = name && pons_buf_bytes(&b, sum, sizeof sum) >= 0 ? PONS_OK : PONS_ENOMEM;
    if (rc < 0) {
        pons_error_set(err, rc, MODULE, "no memory for the goals of a part");
    } else {
        rc = pons__replace_file(name, (const char *)b.data, b.len, true, err);
    }
    free(name);
    return rc;
}
