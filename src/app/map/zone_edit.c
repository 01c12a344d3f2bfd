// zone_edit.c - zones, keep-out areas, slow zones and the charger in the file of a world.
//
// The file stays its writer's: one line is put in before the first entry of its list, or the lines of
// one entry are taken out, and all else, comments too, is as it was. What comes out is read as a world
// before it takes the file's place, so a zone that makes no sense changes nothing.
//
// An edit holds a lock on the folder from the read until the file is renamed, so two edits at once are both kept.
#include "app/map/world_files.h"
#include "pons/file.h"
#include "pons/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const app_zone_lists[APP_ZONE_KINDS] = {"zones", "keep_out", "speed_zones"};

static const double CONTACT_M = 0.12; // default distance of a new charger's contact

enum { FILE_MOST = 16 * 1024 * 1024 };

typedef struct edit {
    char path[PATH_MAX]; // of the world's file
    int folder;          // the locked folder; -1: none
    pons_yaml *yaml;
    char *text;
    pons_buf out;
} edit;

static int lock_folder(edit *e, int wait_ms, pons_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", e->path);
    const char *folder = dirname(path);
    e->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int why = e->folder < 0 ? errno : -pons_file_lock(e->folder, wait_ms);
    if (why == EWOULDBLOCK) {
        return pons_error_set(err, PONS_EAGAIN, "map",
                              "%s: another program has held a lock on its folder for %d ms",
                              e->path, wait_ms);
    }
    return why == 0
               ? PONS_OK
               : pons_error_set(err, PONS_EIO, "map", "cannot lock %s: %s", folder, strerror(why));
}

static int open_edit(const char *path, int wait_ms, edit *e, pons_error *err)
{
    size_t n = 0;
    snprintf(e->path, sizeof e->path, "%s", path);
    int rc = lock_folder(e, wait_ms, err);
    rc = rc < 0 ? rc : pons_yaml_load(path, &e->yaml, err);
    e->text = rc < 0 ? NULL : pons_file_text(path, FILE_MOST, &n);
    return rc < 0 || e->text
               ? rc
               : pons_error_set(err, PONS_EIO, "map", "cannot read %s: %s", path, strerror(errno));
}

static void close_edit(edit *e)
{
    pons_yaml_destroy(e->yaml);
    free(e->text);
    pons_buf_fini(&e->out);
    if (e->folder >= 0) {
        close(e->folder); // this releases the lock
    }
}

// The line of a node, from 1; 0: there is none.
static int line_of(const edit *e, const char *pointer)
{
    char where[PONS_ERROR_SOURCE_MAX];
    pons_yaml_position(e->yaml, pointer, where, sizeof where);
    char *column = strrchr(where, ':');
    if (!column) {
        return 0;
    }
    *column = '\0';
    const char *line = strrchr(where, ':');
    return line ? atoi(line + 1) : 0;
}

static const char *line_start(const char *text, int line)
{
    for (; line > 1 && text; line--) {
        const char *end = strchr(text, '\n');
        text = end ? end + 1 : text + strlen(text);
    }
    return text;
}

// Where the entry begins, when its line is one of a block: "  - …". NULL: it is not.
static const char *entry_at(const edit *e, const char *list, size_t i, size_t *ret_indent)
{
    char pointer[80];
    snprintf(pointer, sizeof pointer, "/%s/%zu", list, i);
    const int line = line_of(e, pointer);
    const char *at = line > 0 ? line_start(e->text, line) : NULL;
    *ret_indent = at ? strspn(at, " ") : 0;
    return at && at[*ret_indent] == '-' && at[*ret_indent + 1] == ' ' ? at : NULL;
}

static int not_a_block(const edit *e, const char *list, pons_error *err)
{
    return pons_error_set(
        err, PONS_EINVAL, "",
        "%s: its %s are not written one below the other with dashes: edit it by hand", e->path,
        list);
}

static int put_in(edit *e, app_zone_kind kind, const pons_value *zone, pons_error *err)
{
    const char *list = app_zone_lists[kind];
    const pons_value *old = pons_get(pons_yaml_value(e->yaml), list);
    size_t indent = 2;
    char *line = json_dumps(zone, JSON_COMPACT | JSON_REAL_PRECISION(10));
    if (json_array_size(old) > 0) {
        const char *at = entry_at(e, list, 0, &indent);
        if (!at) {
            free(line);
            return not_a_block(e, list, err);
        }
        pons_buf_printf(&e->out, "%.*s%*s- %s\n%s", (int)(at - e->text), e->text, (int)indent, "",
                        line, at);
    } else if (old) { // an empty list
        free(line);
        return not_a_block(e, list, err);
    } else {
        const size_t n = strlen(e->text);
        pons_buf_printf(&e->out, "%s%s%s:\n  - %s\n", e->text,
                        n > 0 && e->text[n - 1] == '\n' ? "" : "\n", list, line);
    }
    free(line);
    return PONS_OK;
}

// From its dash to the next line that is not deeper than that, without comments and blanks at its end.
static const char *entry_end(const char *at, size_t indent)
{
    const char *end = strchr(at, '\n');
    for (const char *next = end ? end + 1 : NULL; next && *next;) {
        const size_t deep = strspn(next, " ");
        const char *after = strchr(next, '\n');
        const bool empty = next[deep] == '\n' || next[deep] == '#';
        if (!empty && deep <= indent) {
            break;
        }
        end = empty ? end : after;
        next = after ? after + 1 : NULL;
    }
    return end ? end + 1 : at + strlen(at);
}

// The line of a top-level key; NULL: there is none.
static const char *line_of_key(const edit *e, const char *key)
{
    const size_t n = strlen(key);
    for (const char *at = e->text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
        if (strncmp(at, key, n) == 0 && at[n] == ':') {
            return at;
        }
    }
    return NULL;
}

static int take_out(edit *e, app_zone_kind kind, size_t i, pons_error *err)
{
    const char *list = app_zone_lists[kind];
    const pons_value *old = pons_get(pons_yaml_value(e->yaml), list);
    size_t indent = 0;
    const char *at = entry_at(e, list, i, &indent);
    if (!at) {
        return not_a_block(e, list, err);
    }
    const char *from = at;
    if (json_array_size(old) == 1) { // the key goes with its last entry
        const char *key = line_of_key(e, list);
        from = key ? key : at;
    }
    const char *kept = from == at ? at : line_start(from, 2); // comments between key and entry
    pons_buf_printf(&e->out, "%.*s%.*s%s", (int)(from - e->text), e->text, (int)(at - kept), kept,
                    entry_end(at, indent));
    return PONS_OK;
}

// Replaces the entry by one line.
static int put_instead(edit *e, app_zone_kind kind, size_t i, const pons_value *zone,
                       pons_error *err)
{
    size_t indent = 0;
    const char *at = entry_at(e, app_zone_lists[kind], i, &indent);
    if (!at) {
        return not_a_block(e, app_zone_lists[kind], err);
    }
    char *line = json_dumps(zone, JSON_COMPACT | JSON_REAL_PRECISION(10));
    pons_buf_printf(&e->out, "%.*s%*s- %s\n%s", (int)(at - e->text), e->text, (int)indent, "", line,
                    entry_end(at, indent));
    free(line);
    return PONS_OK;
}

// As a draft beside it, which is read as a world before it is one.
static int save(edit *e, pons_error *err)
{
    char draft[PATH_MAX + 32];
    pons_autovalue world = NULL;
    snprintf(draft, sizeof draft, "%s.new-XXXXXX", e->path);
    const int fd = mkstemp(draft);
    const size_t n = e->out.len;
    struct stat was;
    if (fd < 0 || stat(e->path, &was) < 0 || fchmod(fd, was.st_mode & 07777) < 0 ||
        write(fd, e->out.data, n) != (ssize_t)n || fsync(fd) < 0) {
        const int rc =
            pons_error_set(err, PONS_EIO, "map", "cannot write %s: %s", draft, strerror(errno));
        if (fd >= 0) {
            close(fd);
            unlink(draft);
        }
        return rc;
    }
    close(fd);
    int rc = pons_world_load(draft, &world, err);
    if (rc == PONS_OK && (rename(draft, e->path) < 0 || pons_file_sync_folder(e->path) < 0)) {
        rc = pons_error_set(err, PONS_EIO, "map", "cannot write %s: %s", e->path, strerror(errno));
    }
    if (rc < 0) {
        unlink(draft);
        if (err && strncmp(err->source, draft, strlen(draft)) == 0) { // the lines are the file's
            char where[PONS_ERROR_SOURCE_MAX];
            snprintf(where, sizeof where, "%s", err->source + strlen(draft));
            pons_error_source(err, "%s%s", e->path, where);
        }
    }
    return rc;
}

static int find(const edit *e, const char *id, app_zone_kind *ret_kind, size_t *ret,
                pons_error *err)
{
    for (int kind = 0; kind < APP_ZONE_KINDS; kind++) {
        size_t i;
        json_t *zone;
        json_array_foreach(pons_get(pons_yaml_value(e->yaml), app_zone_lists[kind]), i, zone) {
            if (strcmp(pons_get_str(zone, "id", ""), id) == 0) {
                *ret_kind = (app_zone_kind)kind;
                *ret = i;
                return PONS_OK;
            }
        }
    }
    return pons_error_set(err, PONS_ENOTFOUND, "map", "%s has no zone %s", e->path, id);
}

static int put_charger(edit *e, pons_pose2 at, pons_error *err)
{
    const pons_value *had = pons_get(pons_yaml_value(e->yaml), "charger");
    const char *end = e->text + strlen(e->text), *from = end, *after = end;
    if (had) {
        from = line_of_key(e, "charger");
        if (!from) {
            return pons_error_set(err, PONS_EINVAL, "",
                                  "%s: its charger is not in a line of its own: edit it by hand",
                                  e->path);
        }
        after = entry_end(from, 0);
    }
    pons_buf_printf(&e->out, "%.*s", (int)(from - e->text), e->text);
    if (from > e->text && from[-1] != '\n') {
        pons_buf_str(&e->out, "\n");
    }
    pons_buf_printf(&e->out, "charger: {pose: {x: %.3f, y: %.3f, yaw: %.4f}, contact_m: %.10g}\n%s",
                    at.x, at.y, at.yaw, pons_get_num(had, "contact_m", CONTACT_M), after);
    return PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

static int begin(const char *path, int wait_ms, edit **ret, pons_error *err)
{
    *ret = calloc(1, sizeof **ret);
    if (!*ret) {
        return pons_error_set(err, PONS_ENOMEM, "map", "no memory");
    }
    (*ret)->folder = -1;
    return open_edit(path, wait_ms, *ret, err);
}

static int finish(edit *e, int rc, pons_error *err)
{
    if (e) {
        rc = rc < 0 ? rc : save(e, err);
        close_edit(e);
        free(e);
    }
    return rc;
}

int app_zone_put(const char *path, app_zone_kind kind, const pons_value *zone, int wait_ms,
                 pons_error *err)
{
    edit *e = NULL;
    int rc = begin(path, wait_ms, &e, err);
    rc = rc < 0 ? rc : put_in(e, kind, zone, err);
    return finish(e, rc, err);
}

int app_zone_rename(const char *path, const char *id, const pons_value *names, int wait_ms,
                    pons_value **ret, pons_error *err)
{
    size_t at = 0;
    edit *e = NULL;
    app_zone_kind kind = APP_ZONE;
    pons_autovalue zone = NULL;
    int rc = begin(path, wait_ms, &e, err);
    rc = rc < 0 ? rc : find(e, id, &kind, &at, err);
    if (rc == PONS_OK) {
        const pons_value *all = pons_get(pons_yaml_value(e->yaml), app_zone_lists[kind]);
        zone = json_copy(json_array_get(all, at));
        json_object_set(zone, "names", (pons_value *)(uintptr_t)names);
        rc = put_instead(e, kind, at, zone, err);
    }
    rc = finish(e, rc, err);
    if (rc == PONS_OK) {
        *ret = pons_value_ref(zone);
    }
    return rc;
}

int app_zone_remove(const char *path, const char *id, app_zone_kind *ret_kind, pons_error *err)
{
    size_t at = 0;
    edit *e = NULL;
    int rc = begin(path, APP_EDIT_MS, &e, err);
    rc = rc < 0 ? rc : find(e, id, ret_kind, &at, err);
    rc = rc < 0 ? rc : take_out(e, *ret_kind, at, err);
    return finish(e, rc, err);
}

int app_charger_put(const char *path, pons_pose2 at, int wait_ms, pons_error *err)
{
    edit *e = NULL;
    int rc = begin(path, wait_ms, &e, err);
    rc = rc < 0 ? rc : put_charger(e, at, err);
    return finish(e, rc, err);
}
