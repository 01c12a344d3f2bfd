// workspace_files.c - the files of the workspace, to look at.
//
//     GET /v1/files?path=notes           {path, entries: [{name, folder, bytes, ts_ms}]}
//     GET /v1/files?path=notes/a.md      {path, bytes, text}     text null: it is none, or too large
//     GET /v1/files?path=ACTION.md       and protocol: {dialect, generation, records: [{kind, id, line, value}],
//                                        faults: [{line, column, kind, id, what}]}, or {error: what is wrong}
//
// An operator's, for notes are private. What may be shown is what the tools may read (pons_tools_view):
// beneath the workspace, no link followed, nothing that the table of guards or the configuration hides,
// under whatever name. Kept back as well: config/, and whatever begins with a point.
#include "pons/protected_files.h"
#include "pons/tools.h"
#include "pons/workspace.h"
#include "serve/access/reply.h"
#include "serve/robot/robot.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 500
#define TEXT_MAX    (256 * 1024)
#define RECORDS_MAX 500

static bool kept_back(const char *name)
{
    return name[0] == '.' || strcasecmp(name, PONS_DIR_CONFIG) == 0;
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

static int by_name(const void *a, const void *b)
{
    return strcmp(pons_get_str(*(json_t *const *)a, "name", ""),
                  pons_get_str(*(json_t *const *)b, "name", ""));
}

// Takes fd.
static pons_value *entries(const pons_tools_view *view, const char *path, int fd)
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
            !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) ||
            !pons_tools_view_names(view, path, e->d_name, &st)) {
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

static pons_value *records_of(const pons_ws_doc *doc)
{
    size_t n = 0;
    const pons_ws_record *all = pons_ws_records(doc, &n);
    pons_value *list = json_array();
    for (size_t i = 0; i < n && i < RECORDS_MAX; i++) {
        json_array_append_new(list,
                              pons_object("kind", json_string(all[i].kind), "id",
                                          json_string(all[i].id), "line", json_integer(all[i].line),
                                          "value", pons_value_ref(all[i].value), NULL));
    }
    return list;
}

static pons_value *faults_of(const pons_ws_doc *doc)
{
    size_t n = 0;
    const pons_ws_fault *all = pons_ws_faults(doc, &n);
    pons_value *list = json_array();
    for (size_t i = 0; i < n && i < RECORDS_MAX; i++) {
        json_array_append_new(
            list, pons_object("line", json_integer(all[i].line), "column",
                              json_integer(all[i].column), "kind", json_string(all[i].kind), "id",
                              json_string(all[i].id), "what", json_string(all[i].what), NULL));
    }
    return list;
}

// What a protocol file says, and where it is wrong; NULL: the path is none.
static pons_value *protocol(const char *path, const pons_value *text)
{
    pons_ws_file file;
    pons_ws_doc *doc = NULL;
    pons_error err = PONS_ERROR_INIT;
    char line[512];
    const size_t n = json_string_length(text);
    if (!json_is_string(text) || !strstr(path, ".md") || pons_ws_file_of(path, &file) < 0) {
        return NULL;
    }
    if (pons_ws_read(file, json_string_value(text), n, path, &doc, &err) < 0) {
        return pons_object("error", json_string(pons_error_line(&err, line, sizeof line)), NULL);
    }
    pons_value *is =
        pons_object("dialect", json_string(pons_ws_dialect_name(pons_ws_doc_dialect(doc))),
                    "generation", json_integer((json_int_t)pons_ws_generation(doc)), "records",
                    records_of(doc), "faults", faults_of(doc), NULL);
    pons_ws_destroy(doc);
    return is;
}

static int files(pons__request *r)
{
    struct stat st;
    const char *path = pons_get_str(r->query, "path", "");
    pons_error none = PONS_ERROR_INIT;
    const pons_tools_view *view = r->s->view;
    const int fd = view && may_show(path) ? pons_tools_view_file(view, path, &none) : -1;
    if (fd < 0 || fstat(fd, &st) < 0) {
        if (fd >= 0) {
            close(fd);
        }
        return pons__reply_error(r, 404, "there is no such file to show");
    }
    if (S_ISDIR(st.st_mode)) {
        return pons__reply_json(
            r, 200,
            pons_object("path", json_string(path), "entries", entries(view, path, fd), NULL));
    }
    pons_value *text = text_of(fd, st.st_size);
    close(fd);
    return pons__reply_json(r, 200,
                            pons_object("path", json_string(path), "bytes",
                                        json_integer(st.st_size), "protocol", protocol(path, text),
                                        "text", text, NULL));
}

const pons__route pons__files_routes[] = {
    {"GET", "/v1/files", PONS__OPERATOR, files},
    {NULL, NULL, PONS__NOBODY, NULL},
};
