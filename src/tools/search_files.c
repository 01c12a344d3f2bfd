// search_files.c - search_files: names and lines, in a walk that is bounded in every direction.
//
// Folders are opened one below the other by descriptor and no link is followed, so the walk stays
// in the workspace. Bounds: depth, files, bytes of a file, hits, output, and seconds.
#include "tools/search_files.h"

#include "pons/buf.h"
#include "tools/core/bytes_to_text.h"
#include "tools/core/config.h"
#include "tools/core/core.h"
#include "tools/core/path.h"
#include "tools/core/read_write_guards.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX    32
#define SEARCH_FILES 20000
#define SEARCH_HITS  200
#define SEARCH_S     20
#define FILE_BYTES   (4 * 1024 * 1024) // of one file that are searched
#define LINE_SHOWN   300               // bytes

typedef struct search {
    pons__work *w;
    const char *name, *text; // NULL: any
    size_t text_n;
    bool ignore_case;
    size_t files, files_max, hits, hits_max, room;
    int64_t deadline_ns;
    const char *why; // it ended early
    char *buf;       // FILE_BYTES
    pons_value *found;
    size_t skipped; // binary or too deep
} search;

static bool over(search *s)
{
    if (s->why) {
        return true;
    }
    s->why = pons__stopped(s->w)                                ? "cancelled"
             : s->hits >= s->hits_max                           ? "more hits than are shown"
             : s->w->out.len >= s->room                         ? "more hits than are shown"
             : s->files >= s->files_max                         ? "more files than are searched"
             : pons_now_ns(&s->w->core->clock) > s->deadline_ns ? "it took too long"
                                                                : NULL;
    return s->why != NULL;
}

static const char *find_text(const search *s, const char *hay, size_t n)
{
    if (!s->ignore_case) {
        return memmem(hay, n, s->text, s->text_n);
    }
    for (size_t i = 0; i + s->text_n <= n; i++) {
        if (strncasecmp(hay + i, s->text, s->text_n) == 0) {
            return hay + i;
        }
    }
    return NULL;
}

static void hit(search *s, const char *path, size_t line, const char *text, size_t n)
{
    pons_autobuf shown = PONS_BUF_INIT;
    const size_t cut = n > LINE_SHOWN ? pons__text_cut(text, LINE_SHOWN) : n;
    pons__text_append(&shown, path, strlen(path), NULL);
    pons_autovalue row = pons_object("path", json_string(shown.data), NULL);
    if (line == 0) {
        pons_buf_printf(&s->w->out, "%s\n", shown.data);
    } else {
        pons_buf_printf(&s->w->out, "%s:%zu: ", shown.data, line);
        pons__text_append(&s->w->out, text, cut, NULL);
        pons_buf_str(&s->w->out, cut < n ? "…\n" : "\n");
        json_object_set_new(row, "line", json_integer((json_int_t)line));
    }
    json_array_append(s->found, row);
    s->hits++;
}

static void search_lines(search *s, const char *path, const char *text, size_t n)
{
    size_t line = 1;
    const char *counted = text;
    for (const char *at = text; !over(s);) {
        const char *found = find_text(s, at, n - (size_t)(at - text));
        if (!found) {
            return;
        }
        const char *begin = memrchr(text, '\n', (size_t)(found - text));
        const char *end = memchr(found, '\n', n - (size_t)(found - text));
        begin = begin ? begin + 1 : text;
        end = end ? end : text + n;
        for (; counted < begin; counted++) {
            line += *counted == '\n';
        }
        hit(s, path, line, begin, (size_t)(end - begin) - (end > begin && end[-1] == '\r'));
        if (end == text + n) {
            return;
        }
        at = end + 1;
    }
}

static void search_file(search *s, int dir, const char *name, const char *path,
                        const struct stat *st)
{
    s->files++;
    if (s->name && fnmatch(s->name, name, FNM_PERIOD) != 0) {
        return;
    }
    if (!s->text) {
        hit(s, path, 0, "", 0);
        return;
    }
    if (st->st_size == 0) {
        return;
    }
    const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat now;
    if (fd < 0) {
        return;
    }
    const ssize_t n =
        fstat(fd, &now) == 0 && S_ISREG(now.st_mode) ? read(fd, s->buf, FILE_BYTES) : -1;
    close(fd);
    if (n > 0 && pons__binary_kind(s->buf, (size_t)n)) {
        s->skipped++;
    } else if (n > 0) {
        search_lines(s, path, s->buf, (size_t)n);
    }
}

// Takes the descriptor.
static void search_dir(search *s, int fd, const char *path, int depth)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return;
    }
    for (const struct dirent *d = readdir(dir); d && !over(s); d = readdir(dir)) {
        char child[PATH_MAX];
        struct stat st;
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
            strcmp(d->d_name, ".git") == 0) {
            continue;
        }
        const int n = strcmp(path, ".") == 0
                          ? snprintf(child, sizeof child, "%s", d->d_name)
                          : snprintf(child, sizeof child, "%s/%s", path, d->d_name);
        if (n >= (int)sizeof child || fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            pons__path_hidden(s->w->core, child, &st)) {
            continue;
        }
        if (S_ISREG(st.st_mode)) {
            search_file(s, fd, d->d_name, child, &st);
        } else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
            const int sub = openat(fd, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (sub >= 0) {
                search_dir(s, sub, child, depth + 1);
            }
        }
    }
    closedir(dir);
}

int pons__search_files(pons__work *w, pons_error *err)
{
    char path[PATH_MAX];
    const pons__core *c = w->core;
    search s = {.w = w,
                .name = pons_get_str(w->args, "name", NULL),
                .text = pons_get_str(w->args, "text", NULL),
                .ignore_case = pons_get_bool(w->args, "ignore_case", false),
                .files_max = (size_t)pons__conf(c, "files", "search_files", SEARCH_FILES),
                .hits_max = (size_t)pons__conf(c, "files", "search_hits", SEARCH_HITS),
                .room = pons__conf_output(c),
                .deadline_ns = pons_now_ns(&c->clock) +
                               pons__conf(c, "files", "search_s", SEARCH_S) * PONS_NS_PER_S};
    s.text_n = s.text ? strlen(s.text) : 0;
    s.text = s.text_n ? s.text : NULL;
    if (!s.name && !s.text) {
        return pons_error_set(err, PONS_EINVAL, PONS__TOOLS,
                              "search_files needs a name, a text, or both");
    }
    int rc = pons__path_normal(c, pons_get_str(w->args, "path", "."), path, err);
    const int fd = rc < 0 ? rc : pons__path_open(c, path, O_RDONLY | O_DIRECTORY, true, err);
    if (fd < 0) {
        return fd;
    }
    char real[PATH_MAX];
    if (pons__path_hidden(c, path, NULL) ||
        (pons__guard_real(c, fd, real) && pons__guard_of(c, real) == PONS_GUARD_HIDDEN)) {
        close(fd);
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is hidden by the configuration",
                              path);
    }
    s.buf = s.text ? malloc(FILE_BYTES) : NULL;
    s.found = json_array();
    if ((s.text && !s.buf) || !s.found) {
        close(fd);
        free(s.buf);
        pons_value_unref(s.found);
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room to search");
    }
    search_dir(&s, fd, path, 0);
    free(s.buf);
    if (pons__stopped(w)) {
        pons_value_unref(s.found);
        return pons__stopped_error(err);
    }
    if (s.hits == 0) {
        pons_buf_str(&w->out, "nothing found\n");
    }
    w->truncated = s.why != NULL;
    if (s.why) {
        pons_buf_printf(&w->out, "[cut here: %s]\n", s.why);
    }
    w->data =
        pons_object("found", s.found, "files", json_integer((json_int_t)s.files), "binary_skipped",
                    s.skipped ? json_integer((json_int_t)s.skipped) : NULL, NULL);
    return PONS_OK;
}
