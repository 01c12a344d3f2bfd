// zone_edit.c - zones, keep-out areas, slow zones and the charger in the file of a world.
//
// The file stays its writer's: one line is put in before the first entry of its list, or the lines of
// one entry are taken out, and all else, comments too, is as it was. What comes out is read as a world
// before it takes the file's place, so a zone that makes no sense changes nothing.
#include "app/map/world_files.h"
#include "pons/file.h"
#include "pons/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const app_zone_lists[APP_ZONE_KINDS] = {"zones", "keep_out", "speed_zones"};

static const double CONTACT_M = 0.12; // of a charger that nobody has measured

typedef struct edit {
    char path[PATH_MAX]; // of the world's file
    pons_yaml *yaml;
    char *text;
    pons_buf out;
} edit;

static int open_edit(const char *path, edit *e, pons_error *err)
{
    size_t cap = 0;
    snprintf(e->path, sizeof e->path, "%s", path);
    const int rc = pons_yaml_load(path, &e->yaml, err);
    FILE *f = rc < 0 ? NULL : pons_file_read(path);
    const bool read = f && getdelim(&e->text, &cap, '\0', f) >= 0;
    if (f) {
        fclose(f);
    }
    return rc < 0 || read
               ? rc
               : pons_error_set(err, PONS_EIO, "map", "cannot read %s: %s", path, strerror(errno));
}

static void close_edit(edit *e)
{
    pons_yaml_destroy(e->yaml);
    free(e->text);
    pons_buf_fini(&e->out);
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

static int take_out(edit *e, app_zone_kind kind, size_t i, pons_error *err)
{
    const char *list = app_zone_lists[kind];
    const pons_value *old = pons_get(pons_yaml_value(e->yaml), list);
    size_t indent = 0;
    const char *at = entry_at(e, list, i, &indent);
    if (!at) {
        return not_a_block(e, list, err);
    }
    const char *end = entry_end(at, indent), *from = at;
    if (json_array_size(old) == 1) { // the key goes with its last entry
        char pointer[40];
        snprintf(pointer, sizeof pointer, "/%s", list);
        const int key = line_of(e, pointer);
        from = line_start(e->text, key);
        while (from > e->text && strncmp(from, list, strlen(list)) != 0) {
            from = from - 1;
            while (from > e->text && from[-1] != '\n') {
                from--;
            }
        }
    }
    pons_buf_printf(&e->out, "%.*s%s", (int)(from - e->text), e->text, end);
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
    if (fd < 0 || write(fd, e->out.data, n) != (ssize_t)n || fsync(fd) < 0) {
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
    if (rc == PONS_OK && rename(draft, e->path) < 0) {
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

// The edit goes on with what came out of it so far.
static int go_on(edit *e, pons_error *err)
{
    pons_yaml_destroy(e->yaml);
    e->yaml = NULL;
    free(e->text);
    e->text = e->out.data;
    const int rc = pons_yaml_parse(e->text, e->out.len, e->path, &e->yaml, err);
    e->out = (pons_buf)PONS_BUF_INIT;
    return rc;
}

// Its line at the margin; NULL: there is none.
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

static int begin(const char *path, edit **ret, pons_error *err)
{
    *ret = calloc(1, sizeof **ret);
    return *ret ? open_edit(path, *ret, err) : pons_error_set(err, PONS_ENOMEM, "map", "no memory");
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

int app_zone_put(const char *path, app_zone_kind kind, const pons_value *zone, const char *replaces,
                 pons_error *err)
{
    edit *e = NULL;
    app_zone_kind was = kind;
    size_t at = 0;
    int rc = begin(path, &e, err);
    if (rc == PONS_OK && replaces) {
        rc = find(e, replaces, &was, &at, err);
        rc = rc < 0 ? rc : take_out(e, was, at, err);
        rc = rc < 0 ? rc : go_on(e, err);
    }
    rc = rc < 0 ? rc : put_in(e, kind, zone, err);
    return finish(e, rc, err);
}

int app_zone_remove(const char *path, const char *id, app_zone_kind *ret_kind, pons_error *err)
{
    size_t at = 0;
    edit *e = NULL;
    int rc = begin(path, &e, err);
    rc = rc < 0 ? rc : find(e, id, ret_kind, &at, err);
    rc = rc < 0 ? rc : take_out(e, *ret_kind, at, err);
    return finish(e, rc, err);
}

int app_charger_put(const char *path, pons_pose2 at, pons_error *err)
{
    edit *e = NULL;
    int rc = begin(path, &e, err);
    rc = rc < 0 ? rc : put_charger(e, at, err);
    return finish(e, rc, err);
}
