// files.c - read_file, write_file, list_dir.
//
// Reading gives lines, as many as an output may have, and says where to go on. Writing makes a new
// file beside the old one, syncs it and renames it: a reader sees the old text or the new one, and
// after a crash the file is whole.
#include "tools/files.h"

#include "pons/buf.h"
#include "pons/rand.h"
#include "tools/core/call_ledger.h"
#include "tools/core/config.h"
#include "tools/core/core.h"
#include "tools/core/guards.h"
#include "tools/core/path.h"
#include "tools/core/text.h"

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

#define WRITE_KB     1024
#define LIST_ENTRIES 1000
#define LIST_SCANNED 100000 // entries of a folder that are looked at
#define SCAN_MAX     (256 * 1024 * 1024)
#define TEMP_NAME    32
#define NEW_MODE     0600
#define NEW_DIR_MODE 0755

// ---- read_file ----------------------------------------------------------------------------------

typedef struct window {
    int64_t first, last; // lines wanted
    int64_t line;        // that the next byte is of
    size_t room;
    pons_buf raw;
    bool full, partial; // partial: the cut is inside a line
} window;

static void take_bytes(window *v, const char *s, size_t n)
{
    for (size_t i = 0; i < n && !v->full;) {
        const char *nl = memchr(s + i, '\n', n - i);
        size_t len = (nl ? (size_t)(nl - s) + 1 : n) - i;
        if (v->line > v->last) {
            v->full = true;
            return;
        }
        if (v->line >= v->first) {
            if (v->raw.len + len > v->room) {
                len = v->room - v->raw.len;
                v->full = v->partial = true;
                nl = NULL;
            }
            pons_buf_bytes(&v->raw, s + i, len);
        }
        v->line += nl != NULL;
        i += len;
    }
}

int pons__read_file(pons__work *w, pons_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    int rc = pons__path_normal(w->core, pons_get_str(w->args, "path", ""), path, err);
    const int fd = rc < 0 ? rc : pons__path_read(w->core, path, &st, err);
    if (fd < 0) {
        return fd;
    }
    const int64_t lines = pons_get_int(w->args, "lines", INT32_MAX);
    window v = {.line = 1,
                .first = pons_get_int(w->args, "first_line", 1),
                .room = pons__conf_output(w->core)};
    v.last = v.first + (lines < INT32_MAX ? lines : INT32_MAX) - 1;
    char *chunk = malloc(PONS__CHUNK);
    int64_t seen = 0;
    bool ended = false;
    rc = chunk ? PONS_OK : pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room to read");
    while (rc >= 0 && !v.full && !ended) {
        const ssize_t n = read(fd, chunk, PONS__CHUNK);
        const char *kind = n > 0 && seen == 0 ? pons__binary_kind(chunk, (size_t)n) : NULL;
        if (n < 0) {
            rc = pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot read %s: %s", path,
                                strerror(errno));
        } else if (kind) {
            rc = pons_error_set(err, PONS_EUNSUPPORTED, PONS__TOOLS, "%s is %s (%" PRId64 " bytes)",
                                path, kind, (int64_t)st.st_size);
        } else if (pons__stopped(w)) {
            rc = pons__stopped_error(err);
        } else if ((seen += n) > SCAN_MAX) {
            rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                                "line %" PRId64 " of %s is beyond its first %d bytes", v.first,
                                path, SCAN_MAX);
        }
        ended = rc < 0 || n == 0;
        if (!ended) {
            take_bytes(&v, chunk, (size_t)n);
        }
    }
    free(chunk);
    close(fd);
    if (rc >= 0 && v.raw.len == 0 && v.first > 1) {
        rc =
            pons_error_set(err, PONS_EINVAL, PONS__TOOLS, "%s has no line %" PRId64, path, v.first);
    }
    if (rc >= 0) {
        size_t bad = 0, n = v.raw.len;
        n = v.partial ? pons__text_cut(v.raw.data, n) : n;
        pons__text_append(&w->out, v.raw.data ? v.raw.data : "", n, &bad);
        w->truncated = v.full && !(lines < INT32_MAX && v.line > v.last);
        if (w->truncated) {
            pons_buf_printf(&w->out, "\n[cut here: %s of %" PRId64 " bytes goes on; %s%" PRId64 "]",
                            path, (int64_t)st.st_size,
                            v.line > v.first ? "ask for first_line "
                                             : "this line is longer than an output, line ",
                            v.line);
        }
        w->data =
            pons_object("path", json_string(path), "bytes", json_integer(st.st_size), "first_line",
                        json_integer(v.first), "next_line", v.full ? json_integer(v.line) : NULL,
                        "invalid_bytes", bad ? json_integer((json_int_t)bad) : NULL, NULL);
    }
    pons_buf_fini(&v.raw);
    return rc;
}

// ---- write_file ---------------------------------------------------------------------------------

static void hash_text(const void *bytes, size_t n, char ret[65])
{
    uint8_t digest[32];
    pons_sha256(bytes, n, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        snprintf(ret + 2 * i, 3, "%02x", digest[i]);
    }
}

// The folder of a path, made where it is not there; no link is followed.
static int open_parent(const pons__core *c, const char *path, pons_error *err)
{
    char part[PATH_MAX];
    int dir = fcntl(c->root_fd, F_DUPFD_CLOEXEC, 0);
    for (const char *at = path; dir >= 0;) {
        const char *slash = strchr(at, '/');
        if (!slash) {
            break;
        }
        snprintf(part, sizeof part, "%.*s", (int)(slash - at), at);
        if (mkdirat(dir, part, NEW_DIR_MODE) < 0 && errno != EEXIST) {
            break;
        }
        const int next = openat(dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int saved = errno;
        close(dir);
        dir = next;
        errno = saved;
        at = slash + 1;
    }
    if (dir < 0) {
        return pons_error_set(err, errno == ELOOP || errno == ENOTDIR ? PONS_EREFUSED : PONS_EIO,
                              PONS__TOOLS, "cannot write %s: %s", path,
                              errno == ENOTDIR || errno == ELOOP
                                  ? "a part of its path is a link or not a folder"
                                  : strerror(errno));
    }
    return dir;
}

static int fill(pons__work *w, int fd, const char *text, size_t n)
{
    while (n > 0) {
        const size_t piece = n < PONS__CHUNK ? n : PONS__CHUNK;
        const ssize_t wrote = write(fd, text, piece);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote < 0 || pons__stopped(w)) {
            return wrote < 0 ? PONS_EIO : PONS_ECANCELED;
        }
        text += wrote;
        n -= (size_t)wrote;
    }
    return fsync(fd) < 0 ? PONS_EIO : PONS_OK;
}

// Makes the temporary file whole and puts it in the old one's place.
static int replace(pons__work *w, int dir, const char *path, const char *text, size_t n,
                   const struct stat *old, bool refuse, pons_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char temp[TEMP_NAME];
    pons_rand rand;
    pons_rand_seed_os(&rand);
    snprintf(temp, sizeof temp, ".pons-%08x.tmp", (unsigned)pons_rand_u64(&rand));
    const int fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          old ? old->st_mode & 0777 : NEW_MODE);
    if (fd < 0) {
        return pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot write %s: %s", path,
                              strerror(errno));
    }
    int rc = fill(w, fd, text, n);
    if (rc >= 0 && renameat2(dir, temp, dir, name, refuse ? RENAME_NOREPLACE : 0) < 0) {
        rc = errno == EEXIST ? PONS_EEXIST : PONS_EIO;
    }
    const int saved = errno;
    close(fd);
    if (rc < 0) {
        unlinkat(dir, temp, 0);
        return rc == PONS_ECANCELED ? pons__stopped_error(err)
                                    : pons_error_set(err, rc, PONS__TOOLS, "cannot write %s: %s",
                                                     path, strerror(saved));
    }
    const int sync = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (sync >= 0) {
        fsync(sync);
        close(sync);
    }
    return PONS_OK;
}

int pons__write_file(pons__work *w, pons_error *err)
{
    char path[PATH_MAX], hash[65];
    const char *text = pons_get_str(w->args, "content", "");
    const size_t n = json_string_length(pons_get(w->args, "content"));
    const size_t most = (size_t)pons__conf(w->core, NULL, "write_kb", WRITE_KB) * PONS__KIB;
    const bool refuse = strcmp(pons_get_str(w->args, "if_exists", "replace"), "refuse") == 0;
    int rc = pons__path_normal(w->core, pons_get_str(w->args, "path", ""), path, err);
    if (rc < 0) {
        return rc;
    }
    if (n > most) {
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                              "%zu bytes are more than the %zu that may be written", n, most);
    }
    if (strcmp(path, ".") == 0 || pons__path_protected(w->core, path)) {
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                              "%s is protected by the configuration", path);
    }
    if (pons__stopped(w)) {
        return pons__stopped_error(err);
    }
    const int dir = open_parent(w->core, path, err);
    if (dir < 0) {
        return dir;
    }
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct stat st;
    const bool exists = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    char real[PATH_MAX];
    if (pons__guard_folder(w->core, dir) || pons__guard_target(w->core, exists ? &st : NULL) ||
        (pons__guard_real(w->core, dir, real) &&
         pons__guard_of(w->core, real) != PONS_GUARD_NONE)) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is protected by the configuration",
                            path);
    } else if (exists && !S_ISREG(st.st_mode)) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is %s, not a file", path,
                            pons__mode_name(st.st_mode));
    } else if (exists && pons__path_hidden(w->core, path, &st)) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is hidden by the configuration",
                            path);
    } else if (exists && refuse) {
        rc = pons_error_set(err, PONS_EEXIST, PONS__TOOLS, "%s exists already", path);
    } else {
        hash_text(text, n, hash);
        pons_autovalue what = pons_object("path", json_string(path), "sha256", json_string(hash),
                                          "bytes", json_integer((json_int_t)n), NULL);
        rc = pons__call_ledger_begin(w->core->ledger, w->key, what, err);
        rc = rc < 0 ? rc : replace(w, dir, path, text, n, exists ? &st : NULL, refuse, err);
    }
    close(dir);
    if (rc < 0) {
        return rc;
    }
    pons_buf_printf(&w->out, "%s %s, %zu bytes", exists ? "replaced" : "wrote", path, n);
    w->data = pons_object("path", json_string(path), "bytes", json_integer((json_int_t)n),
                          "created", json_boolean(!exists), NULL);
    return PONS_OK;
}

bool pons__write_done(const pons__core *c, const pons_value *what)
{
    pons_error ignored = PONS_ERROR_INIT;
    struct stat st;
    const int64_t bytes = pons_get_int(what, "bytes", -1);
    const int fd = pons__path_read(c, pons_get_str(what, "path", "."), &st, &ignored);
    if (fd < 0) {
        return false;
    }
    bool same = false;
    char *text = st.st_size == bytes ? malloc((size_t)bytes + 1) : NULL;
    if (text && read(fd, text, (size_t)bytes + 1) == bytes) {
        char hash[65];
        hash_text(text, (size_t)bytes, hash);
        same = strcmp(hash, pons_get_str(what, "sha256", "")) == 0;
    }
    free(text);
    close(fd);
    return same;
}

// ---- list_dir -----------------------------------------------------------------------------------

typedef struct item {
    char name[NAME_MAX + 1];
    struct stat st;
} item;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const item *)a)->name, ((const item *)b)->name);
}

static const char *kind_word(mode_t mode)
{
    return S_ISDIR(mode) ? "dir" : S_ISREG(mode) ? "file" : S_ISLNK(mode) ? "link" : "other";
}

static void print_item(pons__work *w, const item *e, pons_value *entries)
{
    pons_autobuf name = PONS_BUF_INIT;
    pons__text_append(&name, e->name, strlen(e->name), NULL);
    for (size_t i = 0; i < name.len; i++) { // a name may have newlines; a line of the list may not
        name.data[i] = name.data[i] == '\n' || name.data[i] == '\r' ? '?' : name.data[i];
    }
    pons_buf_printf(&w->out, "%-5s %10" PRId64 "  %s%s\n", kind_word(e->st.st_mode),
                    S_ISREG(e->st.st_mode) ? (int64_t)e->st.st_size : 0, name.data,
                    S_ISDIR(e->st.st_mode) ? "/" : "");
    json_array_append_new(
        entries,
        pons_object("name", json_string(name.data), "kind", json_string(kind_word(e->st.st_mode)),
                    "bytes", json_integer(S_ISREG(e->st.st_mode) ? e->st.st_size : 0), NULL));
}

int pons__list_dir(pons__work *w, pons_error *err)
{
    char path[PATH_MAX], child[PATH_MAX + NAME_MAX + 2];
    const size_t most = (size_t)pons__conf(w->core, "files", "list_entries", LIST_ENTRIES);
    int rc = pons__path_normal(w->core, pons_get_str(w->args, "path", "."), path, err);
    if (rc >= 0 && pons__path_hidden(w->core, path, NULL)) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is hidden by the configuration",
                            path);
    }
    const int fd = rc < 0 ? rc : pons__path_open(w->core, path, O_RDONLY | O_DIRECTORY, true, err);
    if (fd < 0) {
        return fd;
    }
    char real[PATH_MAX];
    if (pons__guard_real(w->core, fd, real) && pons__guard_of(w->core, real) == PONS_GUARD_HIDDEN) {
        close(fd);
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is hidden by the configuration",
                              path);
    }
    DIR *dir = fdopendir(fd);
    item *items = calloc(most, sizeof *items);
    size_t n = 0, scanned = 0;
    if (!dir || !items) {
        dir ? closedir(dir) : close(fd);
        free(items);
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room to list %s", path);
    }
    for (const struct dirent *d = readdir(dir); d && scanned < LIST_SCANNED; d = readdir(dir)) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0) {
            continue;
        }
        scanned++;
        snprintf(child, sizeof child, "%s%s%s", strcmp(path, ".") == 0 ? "" : path,
                 strcmp(path, ".") == 0 ? "" : "/", d->d_name);
        item e;
        if (fstatat(fd, d->d_name, &e.st, AT_SYMLINK_NOFOLLOW) < 0 ||
            pons__path_hidden(w->core, child, &e.st) || n == most) {
            continue;
        }
        snprintf(e.name, sizeof e.name, "%s", d->d_name);
        items[n++] = e;
    }
    closedir(dir);
    qsort(items, n, sizeof *items, by_name);
    pons_autovalue entries = json_array();
    const size_t room = pons__conf_output(w->core);
    size_t shown = 0;
    for (; shown < n && w->out.len < room; shown++) {
        print_item(w, &items[shown], entries);
    }
    free(items);
    w->truncated = shown < n || (n == most && scanned > most);
    if (w->truncated) {
        pons_buf_printf(&w->out, "[cut here: %zu of at least %zu entries]\n", shown, scanned);
    } else if (n == 0) {
        pons_buf_printf(&w->out, "%s is empty\n", path);
    }
    w->data = pons_object("path", json_string(path), "entries", pons_value_ref(entries), NULL);
    return PONS_OK;
}
