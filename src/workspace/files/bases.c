// bases.c - the last texts of a file.
//
//     .pons/base/ACTION.md.41.9f86d081884c7d65     generation 41, whose text has this hash
//
//     .pons/base/ACTION.md.41.seen.2c26b46b68ffc68f     somebody's edit of generation 41, when it was taken in
//
// An editor that goes on from its own text writes on an edit that has been taken in already: that text is
// what the next one is an edit of.
//
// A base is written before the text that it is of takes the file's name, and is not synced: a machine that
// falls may leave half of one. Its hash tells, and an older one serves then.
#include "workspace/files/bases.h"

#include "pons/rand.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WHERE  "workspace"
#define FOLDER PONS__WS_FOLDER "/base"
#define SEEN   ".seen."
#define KEPT   64
#define KEPT_S 60 // and what is younger: an editor may be as slow, however often pons writes

void pons__ws_hash(const char *text, size_t len, char ret[PONS__WS_HASH])
{
    uint8_t sum[32];
    pons_sha256(text, len, sum);
    for (size_t i = 0; i < (PONS__WS_HASH - 1) / 2; i++) {
        snprintf(ret + 2 * i, 3, "%02x", sum[i]);
    }
}

int pons__ws_bases_open(const char *dir, pons_error *err)
{
    static const char *const folders[] = {PONS__WS_FOLDER, FOLDER, PONS__WS_FOLDER "/old"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, folders[i]);
        if (mkdir(path, 0700) < 0 && errno != EEXIST) {
            return pons__ws_failed(err, "make the folder", path);
        }
    }
    return PONS_OK;
}

// "NAME.41.seen.9f86…": its generation; UINT64_MAX: none of those. An edit without a stamp has 0.
static uint64_t seen_of(const char *entry, const char *name)
{
    const size_t n = strlen(name);
    char *end = NULL;
    if (strncmp(entry, name, n) != 0 || entry[n] != '.') {
        return UINT64_MAX;
    }
    const uint64_t g = strtoull(entry + n + 1, &end, 10);
    return strncmp(end, SEEN, strlen(SEEN)) == 0 && strlen(end) == strlen(SEEN) + PONS__WS_HASH - 1
               ? g
               : UINT64_MAX;
}

// "NAME.41.9f86…": its generation; 0: another file's.
static uint64_t generation_of(const char *entry, const char *name)
{
    const size_t n = strlen(name);
    char *end = NULL;
    if (strncmp(entry, name, n) != 0 || entry[n] != '.') {
        return 0;
    }
    const uint64_t g = strtoull(entry + n + 1, &end, 10);
    return *end == '.' && strlen(end + 1) == PONS__WS_HASH - 1 ? g : 0;
}

static bool is_whole(const char *entry, const pons_buf *text)
{
    char hash[PONS__WS_HASH];
    pons__ws_hash(text->data, text->len, hash);
    const char *dot = strrchr(entry, '.');
    return dot && strcmp(dot + 1, hash) == 0;
}

static int save(const char *path, const char *text, size_t len, pons_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return pons__ws_failed(err, "keep a generation", path);
    }
    size_t at = 0;
    while (at < len) {
        const ssize_t n = write(fd, text + at, len - at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            const int rc = pons__ws_failed(err, "keep a generation", path);
            close(fd);
            unlink(path);
            return rc;
        }
        at += (size_t)n;
    }
    close(fd);
    return PONS_OK;
}

int pons__ws_seen_save(const char *dir, const char *name, uint64_t generation, const char *text,
                       size_t len, pons_error *err)
{
    char path[PATH_MAX], hash[PONS__WS_HASH];
    pons__ws_hash(text, len, hash);
    snprintf(path, sizeof path, "%s/" FOLDER "/%s.%" PRIu64 SEEN "%s", dir, name, generation, hash);
    return save(path, text, len, err);
}

size_t pons__ws_seen_load(const char *dir, const char *name, uint64_t generation,
                          pons_buf texts[PONS__WS_SEEN_MAX])
{
    char path[PATH_MAX], names[PONS__WS_SEEN_MAX][NAME_MAX + 1];
    struct timespec when[PONS__WS_SEEN_MAX];
    size_t n = 0, read = 0;
    snprintf(path, sizeof path, "%s/" FOLDER, dir);
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        struct stat st;
        if (seen_of(e->d_name, name) != generation || fstatat(dirfd(d), e->d_name, &st, 0) < 0) {
            continue;
        }
        size_t at = n; // the oldest makes room
        for (size_t i = 0; n == PONS__WS_SEEN_MAX && i < n; i++) {
            const bool older =
                when[i].tv_sec < st.st_mtim.tv_sec ||
                (when[i].tv_sec == st.st_mtim.tv_sec && when[i].tv_nsec < st.st_mtim.tv_nsec);
            at =
                older && (at == n || when[i].tv_sec < when[at].tv_sec ||
                          (when[i].tv_sec == when[at].tv_sec && when[i].tv_nsec < when[at].tv_nsec))
                    ? i
                    : at;
        }
        if (at < PONS__WS_SEEN_MAX) {
            snprintf(names[at], sizeof names[at], "%s", e->d_name);
            when[at] = st.st_mtim;
            n += at == n;
        }
    }
    if (d) {
        closedir(d);
    }
    for (size_t i = 0; i < n; i++) {
        texts[read] = (pons_buf)PONS_BUF_INIT;
        snprintf(path, sizeof path, "%s/" FOLDER "/%s", dir, names[i]);
        if (pons__ws_read_file(path, &texts[read], NULL) == PONS_OK &&
            is_whole(names[i], &texts[read])) {
            read++;
        } else {
            pons_buf_fini(&texts[read]);
        }
    }
    return read;
}

int pons__ws_base_save(const char *dir, const char *name, uint64_t generation, const char *text,
                       size_t len, pons_error *err)
{
    char path[PATH_MAX], hash[PONS__WS_HASH];
    pons__ws_hash(text, len, hash);
    snprintf(path, sizeof path, "%s/" FOLDER "/%s.%" PRIu64 ".%s", dir, name, generation, hash);
    const int rc = save(path, text, len, err);
    if (rc < 0) {
        return rc;
    }
    // Looking for old ones each time would cost more than writing.
    if (generation > KEPT && generation % 16 == 0) {
        snprintf(path, sizeof path, "%s/" FOLDER, dir);
        DIR *d = opendir(path);
        for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
            const uint64_t seen = seen_of(e->d_name, name);
            const uint64_t g = seen != UINT64_MAX ? seen + 1 : generation_of(e->d_name, name);
            struct stat st;
            if (g && g + KEPT <= generation && fstatat(dirfd(d), e->d_name, &st, 0) == 0 &&
                time(NULL) - st.st_mtime > KEPT_S) {
                unlinkat(dirfd(d), e->d_name, 0);
            }
        }
        if (d) {
            closedir(d);
        }
    }
    return PONS_OK;
}

int pons__ws_base_load(const char *dir, const char *name, uint64_t generation, pons_buf *text,
                       uint64_t *ret_generation, pons_error *err)
{
    char path[PATH_MAX], best_name[NAME_MAX + 1] = "";
    uint64_t below = UINT64_MAX;
    for (;;) { // the newest that is whole
        uint64_t best = 0;
        snprintf(path, sizeof path, "%s/" FOLDER, dir);
        DIR *d = opendir(path);
        for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
            const uint64_t g = generation_of(e->d_name, name);
            if (g > best && g < below && (generation == 0 || g == generation)) {
                best = g;
                snprintf(best_name, sizeof best_name, "%s", e->d_name);
            }
        }
        if (d) {
            closedir(d);
        }
        if (!best) {
            return pons_error_set(err, PONS_ENOTFOUND, WHERE, "no generation of %s is kept", name);
        }
        snprintf(path, sizeof path, "%s/" FOLDER "/%s", dir, best_name);
        pons_buf_clear(text);
        if (pons__ws_read_file(path, text, NULL) == PONS_OK && is_whole(best_name, text)) {
            *ret_generation = best;
            return PONS_OK;
        }
        below = best;
    }
}

bool pons__ws_base_known(const char *dir, const char *name, const char *text, size_t len)
{
    char path[PATH_MAX], hash[PONS__WS_HASH];
    bool known = false;
    pons__ws_hash(text, len, hash);
    snprintf(path, sizeof path, "%s/" FOLDER, dir);
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e && !known; e = readdir(d)) {
        const char *dot = strrchr(e->d_name, '.');
        known = generation_of(e->d_name, name) && dot && strcmp(dot + 1, hash) == 0;
    }
    if (d) {
        closedir(d);
    }
    return known;
}
