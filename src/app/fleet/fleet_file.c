// fleet_file.c - fleet.yaml: which robots there are, and where they may drive.
//
//     map: map.yaml
//     robots:
//       - {id: r1, driver: kinematic, world: house, workspace: robots/r1, start: p1, enabled: true,
//          capabilities: [mobile], payload_kg: 5}
#include "app/fleet/fleet.h"
#include "pons/module.h"
#include "pons/out_of_memory.h"
#include "pons/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ROBOTS_MAX 5000

// A folder, by its spelling, and where it is there, by what it is.
typedef struct folder {
    const char *path;
    struct stat is;
    bool there;
} folder;

static void join(char *ret, const char *dir, const char *name)
{
    if (snprintf(ret, PATH_MAX, "%s%s%s", *name == '/' ? "" : dir, *name == '/' ? "" : "/", name) >=
        PATH_MAX) {
        *ret = '\0';
    }
}

// One spelling of a path: without "//", "/./" and a last "/". False: it has "..", or is too long.
static bool plain_path(char *path)
{
    char *to = path;
    for (const char *at = path; *at;) {
        const size_t n = strcspn(at, "/");
        if (n == 2 && at[0] == '.' && at[1] == '.') {
            return false;
        }
        if (n > 0 && !(n == 1 && *at == '.')) {
            memmove(to, at, n);
            to += n;
            *to = '/';
            to++;
        } else if (at == path) { // the root
            to += *at == '/';
        }
        at += n + (at[n] == '/');
    }
    to -= to > path + 1;
    *to = '\0';
    return *path != '\0';
}

static folder folder_of(const char *path)
{
    folder f = {.path = path};
    f.there = stat(path, &f.is) == 0;
    return f;
}

static bool one_folder(const folder *a, const folder *b)
{
    return strcmp(a->path, b->path) == 0 ||
           (a->there && b->there && a->is.st_dev == b->is.st_dev && a->is.st_ino == b->is.st_ino);
}

__attribute__((format(printf, 5, 6))) static int
wrong(const pons_yaml *yaml, size_t i, const char *key, pons_error *err, const char *fmt, ...)
{
    char pointer[64];
    va_list args;
    snprintf(pointer, sizeof pointer, "/robots/%zu/%s", i, key);
    va_start(args, fmt);
    const int rc = pons_yaml_vfault(yaml, pointer, "fleet", err, fmt, args);
    va_end(args);
    return rc;
}

// No two of them, and none the shared one.
static int check_folders(const app_fleet_file *f, const pons_yaml *yaml, pons_error *err)
{
    folder *all = pons_need((f->n + 1) * sizeof *all);
    int rc = PONS_OK;
    all[f->n] = folder_of(f->dir);
    for (size_t i = 0; i < f->n && rc >= 0; i++) {
        all[i] = folder_of(f->robots[i].dir);
        for (size_t k = 0; k <= i && rc >= 0; k++) {
            if (one_folder(&all[i], &all[k < i ? k : f->n])) {
                rc = wrong(yaml, i, "workspace", err, "robot %s has no workspace of its own: %s",
                           f->robots[i].is.id, f->robots[i].dir);
            }
        }
    }
    free(all);
    return rc;
}

static int capability(app_fleet_file *f, const char *name, uint32_t *bits)
{
    size_t k = 0;
    while (k < f->n_capabilities && strcmp(f->capabilities[k], name) != 0) {
        k++;
    }
    if (k == APP_FLEET_CAPABILITIES || !*name || strlen(name) >= PONS_FLEET_NAME_MAX) {
        return PONS_EINVAL;
    }
    if (k == f->n_capabilities) {
        snprintf(f->capabilities[f->n_capabilities++], PONS_FLEET_NAME_MAX, "%s", name);
    }
    *bits |= UINT32_C(1) << k;
    return PONS_OK;
}

// What a robot may say of itself. A slip in a key, or text where a number is meant, is no default.
static int check_keys(const pons_yaml *yaml, size_t i, pons_value *row, pons_error *err)
{
    static const struct {
        const char *key;
        json_type type; // JSON_REAL: any number
        double least, most;
    } known[] = {{"id", JSON_STRING, 0, 0},          {"driver", JSON_STRING, 0, 0},
                 {"world", JSON_STRING, 0, 0},       {"workspace", JSON_STRING, 0, 0},
                 {"profile", JSON_STRING, 0, 0},     {"start", JSON_STRING, 0, 0},
                 {"capabilities", JSON_ARRAY, 0, 0}, {"enabled", JSON_TRUE, 0, 0},
                 {"payload_kg", JSON_REAL, 0, 1e6},  {"speed_mps", JSON_REAL, 0.001, 100},
                 {"pct_per_m", JSON_REAL, 0, 100},   {"charge_pct_per_s", JSON_REAL, 0.001, 100}};
    const char *key;
    json_t *v;
    json_object_foreach(row, key, v) {
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(known[k].key, key) != 0) {
            k++;
        }
        if (k == sizeof known / sizeof *known) {
            return wrong(yaml, i, key, err, "a robot has no `%.40s`", key);
        }
        const double x = json_number_value(v);
        if (known[k].type == JSON_REAL &&
            (!json_is_number(v) || !(x >= known[k].least && x <= known[k].most))) {
            return wrong(yaml, i, key, err, "`%s` is a number from %g to %g", key, known[k].least,
                         known[k].most);
        }
        if (known[k].type == JSON_TRUE
                ? !json_is_boolean(v)
                : known[k].type != JSON_REAL && json_typeof(v) != known[k].type) {
            return wrong(yaml, i, key, err, "`%s` is %s", key,
                         known[k].type == JSON_TRUE    ? "true or false"
                         : known[k].type == JSON_ARRAY ? "a list"
                                                       : "text");
        }
    }
    return PONS_OK;
}

// A file by its path, from fleet.yaml's folder on; or by a name: profiles/NAME.md there, else of the installation.
// "": none, and *ret is empty.
static bool find_profile(const app_fleet_file *f, const char *name, char *ret)
{
    char relative[128], path[PATH_MAX];
    pons_error none = PONS_ERROR_INIT;
    struct stat st;
    *ret = '\0';
    if (*name && strchr(name, '/')) {
        join(ret, f->dir, name);
    } else if (*name && *name != '.') {
        snprintf(relative, sizeof relative, "profiles/%.80s.md", name);
        join(ret, f->dir, relative);
        if (stat(ret, &st) != 0 && pons_share_path(relative, path, sizeof path, &none) >= 0) {
            join(ret, "", path);
        }
    }
    return !*name || (*ret && stat(ret, &st) == 0 && S_ISREG(st.st_mode));
}

static bool is_id(const char *id)
{
    bool plain = *id && strlen(id) < PONS_FLEET_NAME_MAX && *id != '.';
    for (const char *c = id; *c; c++) {
        plain = plain && (unsigned char)*c > ' ' && *c != 0x7f && *c != '/' && *c != '|';
    }
    return plain;
}

static int read_robot(app_fleet_file *f, const pons_yaml *yaml, size_t i, pons_error *err)
{
    pons_value *row = json_array_get(pons_get(pons_yaml_value(yaml), "robots"), i);
    const pons_value *capabilities = pons_get(row, "capabilities");
    app_fleet_robot *r = &f->robots[i];
    const char *id = pons_get_str(row, "id", "");
    const int rc = check_keys(yaml, i, row, err);
    if (rc < 0) {
        return rc;
    }
    if (!is_id(id)) {
        return wrong(yaml, i, "id", err,
                     "a robot's `id` has 1 to %d bytes, without blanks, '/' and '|'",
                     PONS_FLEET_NAME_MAX - 1);
    }
    for (size_t k = 0; k < i; k++) {
        if (strcmp(f->robots[k].is.id, id) == 0) {
            return wrong(yaml, i, "id", err, "robot %s is there twice", id);
        }
    }
    char own[PONS_FLEET_NAME_MAX + 16];
    snprintf(own, sizeof own, "robots/%s", id);
    snprintf(r->is.id, sizeof r->is.id, "%s", id);
    snprintf(r->driver, sizeof r->driver, "%s", pons_get_str(row, "driver", "kinematic"));
    snprintf(r->world, sizeof r->world, "%s", pons_get_str(row, "world", "house"));
    if (!find_profile(f, pons_get_str(row, "profile", ""), r->profile)) {
        return wrong(yaml, i, "profile", err, "robot %s: there is no profile '%.80s'", id,
                     pons_get_str(row, "profile", ""));
    }
    snprintf(r->start, sizeof r->start, "%s", pons_get_str(row, "start", ""));
    join(r->dir, f->dir, pons_get_str(row, "workspace", own));
    if (!plain_path(r->dir)) {
        return wrong(yaml, i, "workspace", err, "robot %s: `workspace` is a path without '..'", id);
    }
    r->enabled = pons_get_bool(row, "enabled", true);
    r->is.payload_kg = pons_get_num(row, "payload_kg", 0.0);
    r->is.speed_mps = pons_get_num(row, "speed_mps", 0.5);
    r->is.pct_per_m = pons_get_num(row, "pct_per_m", 0.2);
    r->is.charge_pct_per_s = pons_get_num(row, "charge_pct_per_s", 1.0);
    for (size_t k = 0; k < json_array_size(capabilities); k++) {
        const char *name = json_string_value(json_array_get(capabilities, k));
        if (!name || capability(f, name, &r->is.capabilities) < 0) {
            return wrong(yaml, i, "capabilities", err,
                         "robot %s: capabilities are words, at most %d in a fleet", id,
                         APP_FLEET_CAPABILITIES);
        }
    }
    return PONS_OK;
}

int app_fleet_load(const app_context *c, app_fleet_file *ret, pons_error *err)
{
    app_fleet_file f = {0};
    char path[PATH_MAX + 16];
    pons_yaml *yaml = NULL;
    snprintf(path, sizeof path, "%s/fleet.yaml", c->workspace);
    int rc = pons_yaml_load(path, &yaml, err);
    if (rc < 0) {
        return rc == PONS_ENOTFOUND
                   ? app_bad(err, "there is no %s; `pons onboard --fleet` makes one", path)
                   : rc;
    }
    const pons_value *all = pons_yaml_value(yaml), *list = pons_get(all, "robots");
    snprintf(f.dir, sizeof f.dir, "%s", c->workspace);
    join(f.map, f.dir, pons_get_str(all, "map", "map.yaml"));
    f.n = json_array_size(list);
    if (f.n == 0) {
        rc = pons_yaml_fault(yaml, "/robots", "fleet", err, "a fleet has `robots`, a list");
    } else if (f.n > ROBOTS_MAX) {
        rc = pons_yaml_fault(yaml, "/robots", "fleet", err, "a fleet has at most %d robots",
                             ROBOTS_MAX);
    }
    f.robots = pons_need_zeroed(rc < 0 ? 1 : f.n + 1, sizeof *f.robots);
    for (size_t i = 0; i < f.n && rc >= 0; i++) {
        rc = read_robot(&f, yaml, i, err);
    }
    rc = rc < 0 ? rc : check_folders(&f, yaml, err);
    pons_yaml_destroy(yaml);
    if (rc < 0) {
        app_fleet_free(&f);
        return rc;
    }
    *ret = f;
    return PONS_OK;
}

void app_fleet_free(app_fleet_file *f)
{
    free(f->robots);
    f->robots = NULL;
}

// ---- capabilities -------------------------------------------------------------------------------

int app_fleet_needs(const app_fleet_file *f, const char *text, uint32_t *ret, pons_error *err)
{
    char words[256], *save = NULL;
    uint32_t bits = 0;
    snprintf(words, sizeof words, "%s", text);
    for (char *w = strtok_r(words, "+, ", &save); w; w = strtok_r(NULL, "+, ", &save)) {
        size_t k = 0;
        while (k < f->n_capabilities && strcmp(f->capabilities[k], w) != 0) {
            k++;
        }
        if (k == f->n_capabilities) {
            return app_bad(err, "no robot of the fleet has the capability '%s'", w);
        }
        bits |= UINT32_C(1) << k;
    }
    *ret = bits;
    return PONS_OK;
}

void app_fleet_needs_text(const app_fleet_file *f, uint32_t bits, char *buf, size_t cap)
{
    size_t n = 0;
    buf[0] = '\0';
    for (size_t k = 0; k < f->n_capabilities && n < cap; k++) {
        if (bits & UINT32_C(1) << k) {
            n += (size_t)snprintf(buf + n, cap - n, "%s%s", n ? "+" : "", f->capabilities[k]);
        }
    }
}
