// picture_store.c - a folder of pictures, each in a file with the SHA-256 of its bytes for a name.
//
//     .new-XXXXXX --write, fsync--> renamed NAME.jpg --fsync of the folder--> it is kept
#include "picture/scaled_rows.h"
#include "pons/file.h"
#include "pons/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".jpg"
#define FRESH  ".new-"

enum { HEX = PONS_PICTURE_NAME - 1 };

static void name_of(const void *bytes, size_t n, char ret[PONS_PICTURE_NAME])
{
    uint8_t hash[HEX / 2];
    pons_sha256(bytes, n, hash);
    for (int i = 0; i < HEX / 2; i++) {
        snprintf(ret + (size_t)2 * (size_t)i, 3, "%02x", hash[i]);
    }
}

static bool is_name(const char *name, const char *end)
{
    return strspn(name, "0123456789abcdef") == HEX && strcmp(name + HEX, end) == 0;
}

static int failed(const char *path, pons_error *err)
{
    pons_error_set(err, PONS_EIO, PONS__PICTURE, "cannot keep pictures: %s", strerror(errno));
    return pons_error_source(err, "%s", path);
}

static bool whole(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        const ssize_t did = write(fd, bytes, n);
        if (did < 0 && errno != EINTR) {
            return false;
        }
        bytes += did > 0 ? did : 0;
        n -= did > 0 ? (size_t)did : 0;
    }
    return fsync(fd) == 0;
}

int pons_picture_get(const char *folder, const char *name, void **ret, size_t *ret_n,
                     pons_error *err)
{
    char path[PATH_MAX + 128], has[PONS_PICTURE_NAME];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%.*s" SUFFIX, folder, HEX, name);
    char *bytes = is_name(name, "") ? pons_file_text(path, PONS_PICTURE_BYTES_MAX, &n) : NULL;
    if (!bytes) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__PICTURE, "there is no picture %.12s",
                              name);
    }
    name_of(bytes, n, has);
    if (strcmp(has, name) != 0) {
        free(bytes);
        pons_error_set(err, PONS_ECORRUPT, PONS__PICTURE, "the picture is not what was kept");
        return pons_error_source(err, "%s", path);
    }
    *ret = bytes;
    *ret_n = n;
    return PONS_OK;
}

int pons_picture_put(const char *folder, const void *bytes, size_t n, char ret[PONS_PICTURE_NAME],
                     pons_error *err)
{
    char name[PONS_PICTURE_NAME], path[PATH_MAX + 128], fresh[PATH_MAX + 128];
    name_of(bytes, n, name);
    snprintf(path, sizeof path, "%s/%s" SUFFIX, folder, name);
    snprintf(fresh, sizeof fresh, "%s/" FRESH "XXXXXX", folder);
    if (mkdir(folder, 0700) < 0 && errno != EEXIST) {
        return failed(folder, err);
    }
    void *old = NULL;
    size_t n_old = 0;
    pons_error none = PONS_ERROR_INIT;
    if (pons_picture_get(folder, name, &old, &n_old, &none) == PONS_OK) {
        free(old);
        utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); // as if it were new, for a prune
        memcpy(ret, name, sizeof name);
        return PONS_OK;
    }
    const int fd = mkostemp(fresh, O_CLOEXEC);
    if (fd < 0) {
        return failed(fresh, err);
    }
    const bool wrote = whole(fd, bytes, n);
    close(fd);
    if (!wrote || rename(fresh, path) < 0) {
        failed(path, err);
        unlink(fresh);
        return PONS_EIO;
    }
    const int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = dir >= 0 && fsync(dir) == 0;
    if (dir >= 0) {
        close(dir);
    }
    if (!synced) {
        return failed(folder, err);
    }
    memcpy(ret, name, sizeof name);
    return PONS_OK;
}

// Each picture of the folder, and what a write left; false: it cannot be read.
static bool each_file(const char *folder,
                      void (*on)(void *user, int dir, const char *name, const struct stat *st),
                      void *user)
{
    DIR *d = opendir(folder);
    struct stat st;
    if (!d) {
        return errno == ENOENT;
    }
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        if ((is_name(e->d_name, SUFFIX) || strncmp(e->d_name, FRESH, strlen(FRESH)) == 0) &&
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            on(user, dirfd(d), e->d_name, &st);
        }
    }
    closedir(d);
    return true;
}

typedef struct sums {
    size_t n;
    uint64_t bytes;
} sums;

static void count_one(void *user, int dir, const char *name, const struct stat *st)
{
    sums *s = user;
    s->n += *name != '.';
    s->bytes += *name != '.' ? (uint64_t)st->st_size : 0;
}

void pons_picture_usage(const char *folder, size_t *ret_n, uint64_t *ret_bytes)
{
    sums s = {0};
    each_file(folder, count_one, &s);
    *ret_n = s.n;
    *ret_bytes = s.bytes;
}

typedef struct pruning {
    int64_t before_ms;
    bool (*held)(void *user, const char *name);
    void *user;
    int gone;
} pruning;

static void prune_one(void *user, int dir, const char *file, const struct stat *st)
{
    pruning *p = user;
    char name[PONS_PICTURE_NAME];
    snprintf(name, sizeof name, "%.*s", HEX, file);
    const int64_t put_ms = st->st_mtim.tv_sec * INT64_C(1000) + st->st_mtim.tv_nsec / 1000000;
    if (put_ms < p->before_ms && (*file == '.' || !p->held(p->user, name)) &&
        unlinkat(dir, file, 0) == 0) {
        p->gone += *file != '.';
    }
}

int pons_picture_prune(const char *folder, int64_t before_wall_ms,
                       bool (*held)(void *user, const char *name), void *user, pons_error *err)
{
    pruning p = {.before_ms = before_wall_ms, .held = held, .user = user};
    return each_file(folder, prune_one, &p) ? p.gone : failed(folder, err);
}
