// files.c - the files of the workspace, to look at.
//
//     GET /v1/files?path=notes           {path, entries: [{name, folder, bytes, ts_ms}]}
//     GET /v1/files?path=notes/a.md      {path, bytes, text}     text null: it is none, or too large
//
// An operator's, for notes are private. Nothing outside the workspace can be named: the kernel
// resolves the path beneath it and follows no link (openat2). Three things in it are kept back: run/,
// which has the tokens; config/, in which keys may stand; the store's own files; and whatever begins
// with a point.
#include "serve/door/reply.h"
#include "serve/robot/robot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES_MAX 500
#define TEXT_MAX    (256 * 1024)

static bool kept_back(const char *name)
{
    return name[0] == '.' || strcmp(name, "run") == 0 || strcmp(name, "config") == 0 ||
           strncmp(name, "pons.db", 7) == 0;
}

// Each part of it may be shown.
static bool may_show(const char *path)
{
    char part[256];
    while (*path) {
        const size_t n = strcspn(path, "/");
        if (n >= sizeof part) {
            return false;
        }
        memcpy(part, path, n);
        part[n] = '\0';
        if (n == 0 || kept_back(part)) {
            return false;
        }
        path += n + (path[n] == '/');
    }
    return true;
}

static int open_beneath(const char *root, const char *path)
{
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                                 .resolve =
                                     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    const int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int fd =
        dir < 0 ? -1 : (int)syscall(SYS_openat2, dir, *path ? path : ".", &how, sizeof how);
    const int why = errno;
    if (dir >= 0) {
        close(dir);
    }
    errno = why;
    return fd;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(pons_get_str(*(json_t *const *)a, "name", ""),
                  pons_get_str(*(json_t *const *)b, "name", ""));
}

// Takes fd.
static pons_value *entries(int fd)
{
    json_t *found[ENTRIES_MAX];
    size_t n = 0;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return NULL;
    }
    for (const struct dirent *e; n < ENTRIES_MAX && (e = readdir(d));) {
        struct stat st;
        if (kept_back(e->d_name) || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
            continue;
        }
        json_t *entry = pons_object(
            "name", json_string(e->d_name), "folder", json_boolean(S_ISDIR(st.st_mode)), "bytes",
            json_integer(st.st_size), "ts_ms",
            json_integer(st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000), NULL);
        if (entry) {
            found[n++] = entry;
        }
    }
    closedir(d);
    qsort(found, n, sizeof found[0], by_name);
    pons_value *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, found[i]);
    }
    return list;
}

// A text that is UTF-8, or null.
static pons_value *text_of(int fd, int64_t size)
{
    char *text = size <= TEXT_MAX ? malloc((size_t)size + 1) : NULL;
    size_t n = 0;
    for (ssize_t got = 1; text && n < (size_t)size && got > 0; n += got > 0 ? (size_t)got : 0) {
        got = read(fd, text + n, (size_t)size - n);
    }
    pons_value *v = text ? json_stringn(text, n) : NULL;
    free(text);
    return v ? v : json_null();
}

static void files(pons__request *r)
{
    struct stat st;
    const char *path = r->s->http->query(r->x, "path");
    path = path ? path : "";
    const int fd = r->s->o.workspace && may_show(path) ? open_beneath(r->s->o.workspace, path) : -1;
    if (fd < 0 || fstat(fd, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
        if (fd >= 0) {
            close(fd);
        }
        pons__reply_error(r, 404, "there is no such file to show");
    } else if (S_ISDIR(st.st_mode)) {
        pons__reply_json(r, 200,
                         pons_object("path", json_string(path), "entries", entries(fd), NULL));
    } else {
        pons__reply_json(r, 200,
                         pons_object("path", json_string(path), "bytes", json_integer(st.st_size),
                                     "text", text_of(fd, st.st_size), NULL));
        close(fd);
    }
}

const pons__route pons__files_routes[] = {
    {"GET", "/v1/files", PONS__OPERATOR, files},
    {NULL, NULL, PONS__NOBODY, NULL},
};
