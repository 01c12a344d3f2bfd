// read_tools.c - read_file, list_dir.
//
// Reading gives lines, as many as an output may have, and says where to go on.
#include "tools/read_tools.h"

#include "pons/buf.h"
#include "tools/core/bytes_to_text.h"
#include "tools/core/config.h"
#include "tools/core/core.h"
#include "tools/core/path.h"
#include "tools/core/read_write_guards.h"

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

#define LIST_ENTRIES 1000
#define LIST_SCANNED 100000 // entries of a folder that are looked at
#define SCAN_MAX     (256 * 1024 * 1024)

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

// Reads on until the window is full or the file ends.
static int read_window(pons__work *w, window *v, int fd, const char *path, int64_t size,
                       char *chunk, pons_error *err)
{
    for (int64_t seen = 0; !v->full;) {
        const ssize_t n = read(fd, chunk, PONS__CHUNK);
        if (n < 0) {
            return pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot read %s: %s", path,
                                  strerror(errno));
        }
        const char *kind = n > 0 && seen == 0 ? pons__binary_kind(chunk, (size_t)n) : NULL;
        if (kind) {
            return pons_error_set(err, PONS_EUNSUPPORTED, PONS__TOOLS,
                                  "%s is %s (%" PRId64 " bytes)", path, kind, size);
        }
        if (pons__stopped(w)) {
            return pons__stopped_error(err);
        }
        seen += n;
        if (seen > SCAN_MAX) {
            return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                                  "line %" PRId64 " of %s is beyond its first %d bytes", v->first,
                                  path, SCAN_MAX);
        }
        if (n == 0) {
            break;
        }
        take_bytes(v, chunk, (size_t)n);
    }
    return PONS_OK;
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
    rc = chunk ? read_window(w, &v, fd, path, (int64_t)st.st_size, chunk, err)
               : pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room to read");
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

// Reads what may be shown, `most` entries of it; *scanned: how many there are.
static size_t read_items(const pons__work *w, const char *path, DIR *dir, item *items, size_t most,
                         size_t *scanned)
{
    char child[PATH_MAX + NAME_MAX + 2];
    const bool top = strcmp(path, ".") == 0;
    size_t n = 0;
    for (const struct dirent *d = readdir(dir); d && *scanned < LIST_SCANNED; d = readdir(dir)) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0) {
            continue;
        }
        ++*scanned;
        snprintf(child, sizeof child, "%s%s%s", top ? "" : path, top ? "" : "/", d->d_name);
        item e;
        if (fstatat(dirfd(dir), d->d_name, &e.st, AT_SYMLINK_NOFOLLOW) < 0 ||
            pons__path_hidden(w->core, child, &e.st) || n == most) {
            continue;
        }
        snprintf(e.name, sizeof e.name, "%s", d->d_name);
        items[n++] = e;
    }
    return n;
}

int pons__list_dir(pons__work *w, pons_error *err)
{
    char path[PATH_MAX];
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
    size_t scanned = 0;
    if (!dir || !items) {
        dir ? closedir(dir) : close(fd);
        free(items);
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room to list %s", path);
    }
    const size_t n = read_items(w, path, dir, items, most, &scanned);
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
