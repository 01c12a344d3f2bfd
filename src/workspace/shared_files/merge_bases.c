// merge_bases.c - the last texts of a file.
//
//     .pons/base/ACTION.md.41.9f86d081884c7d65     generation 41, whose text has this hash
//
// A base is written before the text that it is of takes the file's name, and is not synced: a machine that
// falls may leave half of one. Its hash tells, and an older one serves then.
#include "workspace/shared_files/merge_bases.h"

#include "pons/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHERE  "workspace"
#define FOLDER PONS__WS_FOLDER "/base"

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

uint64_t pons__ws_kept_of(const char *entry, const char *name, const char **ret_rest)
{
    const size_t n = strlen(name);
    char *end = NULL;
    if (strncmp(entry, name, n) != 0 || entry[n] != '.') {
        return 0;
    }
    const uint64_t g = strtoull(entry + n + 1, &end, 10);
    *ret_rest = end;
    return end > entry + n + 1 && *end == '.' ? g : 0;
}

// "NAME.41.9f86…": its generation; 0: another file's.
static uint64_t generation_of(const char *entry, const char *name)
{
    const char *rest = NULL;
    const uint64_t g = pons__ws_kept_of(entry, name, &rest);
    return g && strlen(rest) == PONS__WS_HASH ? g : 0;
}

static bool is_whole(const char *entry, const pons_buf *text)
{
    char hash[PONS__WS_HASH];
    pons__ws_hash(text->data ? text->data : "", text->len, hash);
    const char *dot = strrchr(entry, '.');
    return dot && strcmp(dot + 1, hash) == 0;
}

int pons__ws_base_text(const char *path, const char *text, size_t len, pons_error *err)
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

int pons__ws_base_save(const char *dir, const char *name, uint64_t generation, const char *text,
                       size_t len, int64_t since, pons_error *err)
{
    char path[PATH_MAX], hash[PONS__WS_HASH];
    pons__ws_hash(text, len, hash);
    snprintf(path, sizeof path, "%s/" FOLDER "/%s.%" PRIu64 ".%s", dir, name, generation, hash);
    const int rc = pons__ws_base_text(path, text, len, err);
    if (rc < 0) {
        return rc;
    }
    // Looking for old ones each time would cost more than writing.
    if (generation > PONS__WS_KEPT && generation % 16 == 0) {
        snprintf(path, sizeof path, "%s/" FOLDER, dir);
        DIR *d = opendir(path);
        for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
            const char *rest = NULL;
            const uint64_t g = pons__ws_kept_of(e->d_name, name, &rest); // and what is beside it
            struct stat st;
            if (g && g + PONS__WS_KEPT <= generation && fstatat(dirfd(d), e->d_name, &st, 0) == 0 &&
                since - st.st_mtime > PONS__WS_KEPT_S) {
                unlinkat(dirfd(d), e->d_name, 0);
            }
        }
        if (d) {
            closedir(d);
        }
    }
    return PONS_OK;
}

void pons__ws_base_drop(const char *dir, const char *name, uint64_t generation, const char *text,
                        size_t len)
{
    char path[PATH_MAX], hash[PONS__WS_HASH];
    pons__ws_hash(text, len, hash);
    snprintf(path, sizeof path, "%s/" FOLDER "/%s.%" PRIu64 ".%s", dir, name, generation, hash);
    unlink(path);
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

bool pons__ws_base_whole(const char *dir, const char *name, uint64_t generation, const char *hash)
{
    char path[PATH_MAX];
    pons_autobuf text = PONS_BUF_INIT;
    snprintf(path, sizeof path, "%s/" FOLDER "/%s.%" PRIu64 ".%s", dir, name, generation, hash);
    return pons__ws_read_file(path, &text, NULL) == PONS_OK && is_whole(path, &text);
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
