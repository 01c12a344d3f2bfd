// zones.c - `pons map zones WORLD [add ID … | remove ID]`: zones, keep-out areas and slow zones of a
// world of the workspace.
//
// The file stays its writer's: one line is put in before the first entry of its list, or the lines of
// one entry are taken out, and all else, comments too, is as it was. What comes out is read as a world
// before it takes the file's place, so a zone that makes no sense changes nothing.
#include "cli/map/map.h"
#include "pons/buf.h"
#include "pons/file.h"
#include "pons/protected_files.h"
#include "pons/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POINTS_MAX = 64, KINDS = 3 };
static const char *const LISTS[KINDS] = {"zones", "keep_out", "speed_zones"};
static const char *const KIND_WORDS[KINDS] = {"zone", "keep-out", "slow"};

typedef struct edit {
    char path[PATH_MAX]; // of the world's file
    pons_yaml *yaml;
    char *text;
    pons_buf out;
} edit;

// ---- list ---------------------------------------------------------------------------------------

static void tell_zone(const cli *c, const pons_value *zone, int kind)
{
    const char *language;
    json_t *words;
    size_t i;
    json_t *word;
    if (c->json) {
        pons_autovalue row = json_copy((json_t *)(uintptr_t)zone);
        json_object_set_new(row, "type", json_string(KIND_WORDS[kind]));
        cli_print_json(row);
        return;
    }
    cli_out("%-9s %s", KIND_WORDS[kind], pons_get_str(zone, "id", ""));
    if (pons_get(zone, "percent")) {
        cli_out(" %g %%", pons_get_num(zone, "percent", 0.0));
    } else if (pons_get(zone, "speed_max_mps")) {
        cli_out(" %g m/s", pons_get_num(zone, "speed_max_mps", 0.0));
    }
    json_object_foreach((json_t *)(uintptr_t)pons_get(zone, "names"), language, words)
    {
        cli_out("  %s:", language);
        json_array_foreach(words, i, word)
        {
            cli_out("%s %s", i ? "," : "", json_string_value(word));
        }
    }
    if (pons_get(zone, "reason")) {
        cli_out("  (%s)", pons_get_str(zone, "reason", ""));
    }
    cli_out("\n");
}

static void list(const cli *c, const pons_value *world)
{
    for (int kind = 0; kind < KINDS; kind++) {
        size_t i;
        json_t *zone;
        json_array_foreach(pons_get(world, LISTS[kind]), i, zone)
        {
            tell_zone(c, zone, kind);
        }
    }
}

// ---- a zone from the command line ---------------------------------------------------------------

static int polygon_of(const char *text, pons_value **ret, pons_error *err)
{
    pons_autovalue all = json_array();
    for (const char *at = text; *at;) {
        char corner[80];
        pons_pose2 p;
        const size_t n = strcspn(at, " ;");
        if (n > 0) {
            snprintf(corner, sizeof corner, "%.*s", (int)n, at);
            const int rc = map_pose(corner, "--polygon's corner", &p, err);
            if (rc < 0) {
                return rc;
            }
            json_array_append_new(all, json_pack("[f,f]", p.x, p.y));
        }
        at += n + (at[n] != '\0');
    }
    if (json_array_size(all) < 3 || json_array_size(all) > POINTS_MAX) {
        return app_bad(err, "--polygon takes 3 to %d corners X,Y with blanks between, not %zu",
                       POINTS_MAX, json_array_size(all));
    }
    *ret = pons_value_ref(all);
    return PONS_OK;
}

static void add_words(pons_value *names, const char *language, const char *words)
{
    pons_value *all = json_array();
    for (const char *at = words ? words : ""; *at;) {
        const size_t n = strcspn(at, ",");
        if (n > 0) {
            json_array_append_new(all, json_stringn(at, n));
        }
        at += n + (at[n] != '\0');
    }
    if (json_array_size(all) > 0) {
        json_object_set(names, language, all);
    }
    pons_value_unref(all);
}

// The corners' mean, or what is given.
static int target_of(const map_zone *z, const pons_value *polygon, pons_value **ret,
                     pons_error *err)
{
    pons_pose2 p = {0};
    const double n = (double)json_array_size(polygon);
    size_t i;
    json_t *corner;
    if (z->target) {
        const int rc = map_pose(z->target, "--target", &p, err);
        if (rc < 0) {
            return rc;
        }
    }
    json_array_foreach(polygon, i, corner)
    {
        p.x += z->target ? 0.0 : json_number_value(json_array_get(corner, 0)) / n;
        p.y += z->target ? 0.0 : json_number_value(json_array_get(corner, 1)) / n;
    }
    *ret = json_pack("{s:f,s:f,s:f}", "x", p.x, "y", p.y, "yaw", p.yaw);
    return PONS_OK;
}

static int zone_of(const char *id, const map_zone *z, int *ret_kind, pons_value **ret,
                   pons_error *err)
{
    pons_autovalue polygon = NULL;
    pons_autovalue target = NULL;
    double slow = 0.0;
    const bool limited = z->percent || z->speed;
    if (!z->polygon) {
        return app_bad(err, "zones add needs --polygon \"X,Y X,Y X,Y …\"");
    }
    if ((z->percent != NULL) + (z->speed != NULL) + z->keep_out > 1) {
        return app_bad(err, "zones add takes one of --keep-out, --percent and --speed");
    }
    int rc = polygon_of(z->polygon, &polygon, err);
    if (rc == PONS_OK && limited) {
        rc = z->percent ? cli_number(z->percent, "--percent", 1.0, 100.0, &slow, err)
                        : cli_number(z->speed, "--speed", 0.001, 100.0, &slow, err);
    }
    const int kind = z->keep_out ? 1 : limited ? 2 : 0;
    rc = rc < 0 || kind != 0 ? rc : target_of(z, polygon, &target, err);
    if (rc < 0) {
        return rc;
    }
    if (kind != 0 && z->target) {
        return app_bad(err, "--target goes with zones that one goes to");
    }
    pons_autovalue names = json_object();
    add_words(names, "zh", z->zh);
    add_words(names, "en", z->en ? z->en : z->zh || kind != 0 ? NULL : id);
    const bool named = kind == 0 || z->zh || z->en;
    *ret = pons_object(
        "id", json_string(id), "names", named ? pons_value_ref(names) : NULL, "polygon",
        pons_value_ref(polygon), "target", target ? pons_value_ref(target) : NULL, "percent",
        z->percent ? json_real(slow) : NULL, "speed_max_mps", z->speed ? json_real(slow) : NULL,
        "reason", z->reason ? json_string(z->reason) : NULL, NULL);
    *ret_kind = kind;
    return PONS_OK;
}

// ---- the file -----------------------------------------------------------------------------------

static int open_edit(cli *c, const char *name, edit *e, pons_error *err)
{
    pons_autovalue world = NULL;
    int rc = app_world(name, &world, err);
    if (rc < 0) {
        return rc;
    }
    snprintf(e->path, sizeof e->path, "%s", pons_get_str(world, "path", ""));
    const size_t n = strlen(c->app.workspace);
    if (!strchr(name, '/') && (strncmp(e->path, c->app.workspace, n) != 0 || e->path[n] != '/')) {
        return app_bad(
            err, "the world %s is one that pons ships: copy it to worlds/ of the workspace", name);
    }
    rc = pons_yaml_load(e->path, &e->yaml, err);
    FILE *f = rc < 0 ? NULL : pons_file_read(e->path);
    size_t cap = 0;
    if (rc == PONS_OK && (!f || getdelim(&e->text, &cap, '\0', f) < 0)) {
        rc = pons_error_set(err, PONS_EIO, "map", "cannot read %s: %s", e->path, strerror(errno));
    }
    if (f) {
        fclose(f);
    }
    return rc;
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
    return app_bad(err,
                   "%s: its %s are not written one below the other with dashes: edit it by hand",
                   e->path, list);
}

static int put_in(edit *e, int kind, const pons_value *zone, pons_error *err)
{
    const char *list = LISTS[kind];
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

static int take_out(edit *e, int kind, size_t i, pons_error *err)
{
    const char *list = LISTS[kind];
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

static int add(cli *c, edit *e, const char *id, const map_zone *zone, pons_error *err)
{
    pons_autovalue v = NULL;
    int kind = 0;
    int rc = zone_of(id, zone, &kind, &v, err);
    rc = rc < 0 ? rc : put_in(e, kind, v, err);
    rc = rc < 0 ? rc : save(e, err);
    if (rc == PONS_OK) {
        tell_zone(c, v, kind);
    }
    return rc;
}

static int drop(cli *c, edit *e, const char *id, pons_error *err)
{
    for (int kind = 0; kind < KINDS; kind++) {
        size_t i;
        json_t *zone;
        json_array_foreach(pons_get(pons_yaml_value(e->yaml), LISTS[kind]), i, zone)
        {
            if (strcmp(pons_get_str(zone, "id", ""), id) == 0) {
                int rc = take_out(e, kind, i, err);
                rc = rc < 0 ? rc : save(e, err);
                if (rc == PONS_OK && !c->json) {
                    cli_out("%s %s is no more\n", KIND_WORDS[kind], id);
                }
                return rc;
            }
        }
    }
    return pons_error_set(err, PONS_ENOTFOUND, "map", "%s has no zone %s", e->path, id);
}

int map_zones(cli *c, const char *world, const char *verb, const char *id, const map_zone *zone,
              pons_error *err)
{
    if (!verb) {
        pons_autovalue w = NULL;
        const int rc = app_world(world, &w, err);
        if (rc == PONS_OK) {
            list(c, w);
        }
        return rc;
    }
    if (strcmp(verb, "add") != 0 && strcmp(verb, "remove") != 0) {
        return app_bad(err, "map zones: add ID or remove ID, not '%s'", verb);
    }
    edit *e = calloc(1, sizeof *e);
    if (!e) {
        return pons_error_set(err, PONS_ENOMEM, "map", "no memory");
    }
    int rc = open_edit(c, world, e, err);
    if (rc == PONS_OK) {
        rc = *verb == 'a' ? add(c, e, id, zone, err) : drop(c, e, id, err);
    }
    close_edit(e);
    free(e);
    return rc;
}
