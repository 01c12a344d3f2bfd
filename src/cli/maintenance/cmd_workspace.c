// cmd_workspace.c - `pons onboard` and `pons workspace check|show|convert`: the protocol files of a
// folder, made, checked, shown and said in another dialect.
//
// What is wrong is one line each, FILE.md:LINE:COL: what, on standard error (with --json an object on
// standard output). Exit: 0 clean, 1 records were refused, 2 a file cannot be read.
#include "cli/cli.h"
#include "cli/fleet/fleet.h"
#include "pons/protected_files.h"
#include "pons/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG "config.json"

// ---- check --------------------------------------------------------------------------------------

static void tell_fault(const cli *c, const char *name, const pons_ws_fault *f)
{
    if (c->json) {
        pons_autovalue row = pons_object(
            "type", json_string("fault"), "file", json_string(name), "line", json_integer(f->line),
            "column", json_integer(f->column), "kind", json_string(f->kind), "id",
            pons_string(f->id), "what", pons_string(f->what), NULL);
        cli_print_json(row);
    } else {
        cli_err("%s:%u:%u: %s%s%s%s%s\n", name, f->line, f->column, f->kind, *f->id ? " " : "",
                f->id, *f->kind ? ": " : "", f->what);
    }
}

// The source of a text that cannot be read is NAME:LINE:COL.
static void tell_unreadable(const cli *c, const char *name, const pons_error *e)
{
    const char *source = strncmp(e->source, name, strlen(name)) == 0 ? e->source : name;
    if (c->json) {
        pons_autovalue row =
            pons_object("type", json_string("unreadable"), "file", json_string(name), "source",
                        json_string(source), "what", pons_string(e->message), NULL);
        cli_print_json(row);
    } else {
        cli_err("%s%s: %s%s%s\n", source, strchr(source, ':') ? "" : ":1:1", e->message,
                *e->cause ? ": " : "", e->cause);
    }
}

// A file's faults are told; *ret is NULL when it is not there or cannot be read.
static int load(const cli *c, const char *dir, pons_ws_file file, bool *faulty, bool *unreadable,
                pons_ws_doc **ret, pons_error *err)
{
    pons_error why = PONS_ERROR_INIT;
    size_t n = 0;
    *ret = NULL;
    const int rc = pons_ws_load(PONS_WS_BY_PERSON, dir, file, ret, &why);
    if (rc == PONS_ENOMEM) {
        *err = why;
        return rc;
    }
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        tell_unreadable(c, pons_ws_file_name(file), &why);
        *unreadable = true;
    }
    const pons_ws_fault *f = *ret ? pons_ws_faults(*ret, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        tell_fault(c, pons_ws_file_name(file), &f[i]);
        *faulty = true;
    }
    return rc == PONS_ENOTFOUND || rc == PONS_OK ? rc : PONS_OK;
}

static int check_dir(const char *dir, pons_error *err)
{
    struct stat st;
    if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode)) {
        return pons_error_set(err, PONS_EINVAL, "",
                              "there is no folder %s; `pons onboard` makes one", dir);
    }
    return PONS_OK;
}

// Copies that others left there hold somebody's words, and nobody reads them.
static void tell_strangers(const cli *c, const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        const char *what = pons_ws_stranger(e->d_name);
        if (what && c->json) {
            pons_autovalue row =
                pons_object("type", json_string("stranger"), "file", pons_string(e->d_name), "what",
                            json_string(what), NULL);
            cli_print_json(row);
        } else if (what) {
            cli_err("%s: %s\n", e->d_name, what);
        }
    }
    if (d) {
        closedir(d);
    }
}

static int check(cli *c, const char *dir, pons_error *err)
{
    bool faulty = false, unreadable = false;
    size_t files = 0;
    int rc = check_dir(dir, err);
    for (int f = 0; f < PONS_WS_FILES && rc >= 0; f++) {
        pons_ws_doc *d = NULL;
        const int is = load(c, dir, (pons_ws_file)f, &faulty, &unreadable, &d, err);
        rc = is == PONS_ENOTFOUND ? PONS_OK : is;
        files += is == PONS_OK;
        size_t n = 0;
        if (d && c->json) {
            pons_ws_records(d, &n);
            pons_autovalue row =
                pons_object("type", json_string("file"), "file",
                            json_string(pons_ws_file_name((pons_ws_file)f)), "dialect",
                            json_string(pons_ws_dialect_name(pons_ws_doc_dialect(d))), "records",
                            json_integer((json_int_t)n), NULL);
            cli_print_json(row);
        } else if (d) {
            pons_ws_records(d, &n);
            cli_out("%s: %s, %zu records\n", pons_ws_file_name((pons_ws_file)f),
                    pons_ws_dialect_name(pons_ws_doc_dialect(d)), n);
        }
        pons_ws_destroy(d);
    }
    if (rc >= 0) {
        tell_strangers(c, dir);
    }
    if (rc >= 0 && files == 0) {
        return pons_error_set(err, PONS_EINVAL, "",
                              "%s has none of the protocol files; `pons onboard` makes them", dir);
    }
    return rc < 0 ? rc : unreadable ? APP_FAULTY : faulty ? APP_NO_SUCCESS : PONS_OK;
}

// ---- show ---------------------------------------------------------------------------------------

static void print_record(const cli *c, const char *file, const pons_ws_record *r)
{
    if (c->json) {
        pons_autovalue row = pons_object("type", json_string("record"), "file", json_string(file),
                                         "kind", json_string(r->kind), "id", json_string(r->id),
                                         "value", pons_value_ref(r->value), NULL);
        char *text = NULL;
        // Keys in one order: what means the same is the same bytes.
        const long n = pons_value_dump(row, &text);
        if (n >= 0) {
            cli_out_json(text, (size_t)n);
            cli_out("\n");
        }
        free(text);
        return;
    }
    char *text = NULL;
    if (pons_value_line(r->value, &text) >= 0) {
        cli_out("%s:%u  %s %s  %s\n", file, r->line, r->kind, r->id, text);
    }
    free(text);
}

static int show(cli *c, const char *name, pons_error *err)
{
    bool faulty = false, unreadable = false, any = false;
    char dir[PATH_MAX];
    pons_ws_file only = PONS_WS_FILES;
    snprintf(dir, sizeof dir, "%s", c->app.workspace);
    if (name && pons_ws_file_of(name, &only) < 0) {
        return app_bad(err, "'%s' is none of the protocol files; ENVIRONMENT.md is one", name);
    }
    if (name && strchr(name, '/')) { // a file anywhere
        snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(name, '/') - name), name);
    }
    int rc = check_dir(dir, err);
    for (int f = 0; f < PONS_WS_FILES && rc >= 0; f++) {
        pons_ws_doc *d = NULL;
        if (only != PONS_WS_FILES && f != (int)only) {
            continue;
        }
        rc = load(c, dir, (pons_ws_file)f, &faulty, &unreadable, &d, err);
        any = any || rc == PONS_OK;
        rc = rc == PONS_ENOTFOUND ? PONS_OK : rc;
        size_t n = 0;
        const pons_ws_record *r = d ? pons_ws_records(d, &n) : NULL;
        for (size_t i = 0; i < n; i++) {
            print_record(c, pons_ws_file_name((pons_ws_file)f), &r[i]);
        }
        pons_ws_destroy(d);
    }
    if (rc >= 0 && !any) {
        return pons_error_set(err, PONS_EINVAL, "", "there is no %s in %s",
                              name ? pons_ws_file_name(only) : "protocol file", dir);
    }
    return rc < 0 ? rc : unreadable ? APP_FAULTY : faulty ? APP_NO_SUCCESS : PONS_OK;
}

// ---- convert ------------------------------------------------------------------------------------

// The folder's config.json with another dialect; whatever else is in it stays.
// robot: of a new one; NULL: an existing one is changed.
static int write_config(const char *dir, pons_ws_dialect dialect, const pons_value *robot,
                        pons_error *err)
{
    const bool fresh = robot != NULL;
    char path[PATH_MAX], temp[PATH_MAX];
    snprintf(path, sizeof path, "%s/" CONFIG, dir);
    snprintf(temp, sizeof temp, "%s/.pons/" CONFIG ".new", dir);
    pons_value *config = NULL;
    pons_error why = PONS_ERROR_INIT;
    const int read = pons_value_load(path, &config, &why);
    if (read < 0 && read != PONS_ENOTFOUND) {
        *err = why;
        return read;
    }
    if (read < 0 && !fresh) {
        return PONS_OK; // it never had one
    }
    if (read >= 0 && fresh) {
        json_decref(config);
        return PONS_OK;
    }
    if (read < 0) {
        config = pons_object("version", json_integer(1), "dialect",
                             json_string(pons_ws_dialect_name(dialect)), "robot",
                             pons_value_ref(robot), NULL);
    }
    json_object_set_new(config, "dialect", json_string(pons_ws_dialect_name(dialect)));
    char *text = json_dumps(config, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    json_decref(config);
    const int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    const bool ok = f && fprintf(f, "%s\n", text) > 0 && fflush(f) == 0 && fsync(fd) == 0;
    const int e = errno;
    if (f) {
        fclose(f);
    }
    free(text);
    if (!ok || rename(temp, path) < 0) {
        pons_error_set(err, PONS_EIO, "workspace", "cannot write " CONFIG);
        return pons_error_cause(err, "%s", strerror(ok ? errno : e));
    }
    return PONS_OK;
}

// All files are converted in memory before the first one is written.
static int convert_all(cli *c, const char *dir, pons_ws_dialect to, pons_ws_doc **docs,
                       pons_buf *texts, pons_error *err)
{
    bool faulty = false, unreadable = false;
    int rc = PONS_OK;
    for (int f = 0; f < PONS_WS_FILES && rc >= 0; f++) {
        rc = load(c, dir, (pons_ws_file)f, &faulty, &unreadable, &docs[f], err);
        rc = rc == PONS_ENOTFOUND ? PONS_OK : rc;
    }
    if (rc < 0 || unreadable || faulty) {
        return rc < 0 ? rc : unreadable ? APP_FAULTY : APP_NO_SUCCESS;
    }
    for (int f = 0; f < PONS_WS_FILES && rc >= 0; f++) {
        rc = docs[f] ? pons_ws_convert(docs[f], to, &texts[f], err) : PONS_OK;
    }
    return rc;
}

static int convert(cli *c, const char *dir, const char *to, pons_error *err)
{
    pons_ws_dialect dialect;
    pons_ws_doc *docs[PONS_WS_FILES] = {NULL};
    pons_buf texts[PONS_WS_FILES] = {PONS_BUF_INIT};
    if (!to || pons_ws_dialect_of(to, &dialect) < 0) {
        return app_bad(err, "workspace convert: --to takes seed, paos1 or paos2");
    }
    int rc = check_dir(dir, err);
    rc = rc < 0 ? rc : pons_workspace_check(dir, err);
    rc = rc < 0 ? rc : convert_all(c, dir, dialect, docs, texts, err);
    for (int f = 0; f < PONS_WS_FILES; f++) {
        size_t len = 0;
        const char *was = docs[f] ? pons_ws_text(docs[f], &len) : NULL;
        const bool same =
            was && texts[f].len == len && (len == 0 || memcmp(was, texts[f].data, len) == 0);
        if (rc >= 0 && was && !same) {
            rc = pons_ws_write(PONS_WS_BY_PERSON, dir, (pons_ws_file)f, texts[f].data, texts[f].len,
                               was, len, err);
        }
        if (rc >= 0 && was) {
            const char *name = pons_ws_file_name((pons_ws_file)f);
            if (c->json) {
                pons_autovalue row =
                    pons_object("type", json_string("converted"), "file", json_string(name),
                                "changed", json_boolean(!same), NULL);
                cli_print_json(row);
            } else {
                cli_out("%s: %s\n", name, same ? "as it was" : to);
            }
        }
        pons_ws_destroy(docs[f]);
        pons_buf_fini(&texts[f]);
    }
    return rc < 0 ? rc : write_config(dir, dialect, NULL, err);
}

// ---- public functions ---------------------------------------------------------------------------

int cmd_workspace(cli *c, pons_error *err)
{
    const char *to = NULL;
    const cli_option options[] = {{"--to", "DIALECT", "convert: seed, paos1 or paos2", &to},
                                  {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    const char *verb = c->argc ? c->argv[0] : "";
    const char *what = c->argc > 1 ? c->argv[1] : NULL;
    if (c->argc > 2) {
        return app_bad(err, "workspace %s takes one name, not '%s' too", verb, c->argv[2]);
    }
    if (strcmp(verb, "check") == 0) {
        return check(c, what ? what : c->app.workspace, err);
    }
    if (strcmp(verb, "show") == 0) {
        return show(c, what, err);
    }
    if (strcmp(verb, "convert") == 0) {
        return convert(c, what ? what : c->app.workspace, to, err);
    }
    return app_bad(err, "workspace: use `pons workspace check [DIR]`, `show [FILE]` or "
                        "`convert [DIR] --to DIALECT`");
}

// ---- onboard ------------------------------------------------------------------------------------

static const pons_ws_file made[] = {
    PONS_WS_ENVIRONMENT, PONS_WS_EMBODIED, PONS_WS_ACTION,  PONS_WS_LESSONS,
    PONS_WS_TASK,        PONS_WS_SESSIONS, PONS_WS_TARGETS, PONS_WS_SKILLS,
};

int cmd_onboard(cli *c, pons_error *err)
{
    const char *name = "seed", *fleet = NULL;
    const char *id = "robot_001", *driver = app_driver_usual(), *world = "house";
    const cli_option options[] = {
        {"--dialect", "DIALECT", "seed (the default), paos1 or paos2: how new files are written",
         &name},
        {"--robot", "ID", "what config.json calls the robot; default robot_001", &id},
        {"--driver", "NAME", "of its body; default mujoco, where it is installed", &driver},
        {"--world", "NAME", "of its body; default house", &world},
        {"--fleet", NULL, "the shared workspace of a fleet, and its robots' own", &fleet},
        {NULL, NULL, NULL, NULL}};
    pons_ws_dialect dialect;
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    if (c->argc > 1) {
        return app_bad(err, "onboard takes one folder");
    }
    if (pons_ws_dialect_of(name, &dialect) < 0) {
        return app_bad(err, "onboard: --dialect takes seed, paos1 or paos2, not '%s'", name);
    }
    if (c->argc == 1) {
        char cwd[PATH_MAX] = ".";
        const bool absolute = c->argv[0][0] == '/';
        if (!absolute && !getcwd(cwd, sizeof cwd)) {
            cwd[0] = '.';
        }
        const int w = snprintf(c->app.workspace, sizeof c->app.workspace, "%.*s%s%s",
                               (int)(sizeof c->app.workspace / 2), absolute ? "" : cwd,
                               absolute ? "" : "/", c->argv[0]);
        const int r = snprintf(c->app.run_dir, sizeof c->app.run_dir, "%.*s/run",
                               (int)(sizeof c->app.run_dir - 5), c->app.workspace);
        if (w >= (int)sizeof c->app.workspace || r >= (int)sizeof c->app.run_dir) {
            return app_bad(err, "the workspace's path is too long");
        }
    }
    pons_autovalue there = NULL; // a world that is not there is told now, not by the first watchdog
    const int known = app_world(world, &there, err);
    if (known < 0) {
        return known;
    }
    if (!*id || strlen(id) >= PONS_NAME_MAX) {
        return app_bad(err, "onboard: --robot takes a name of up to %d bytes", PONS_NAME_MAX - 1);
    }
    if (fleet) {
        return cli_fleet_onboard(c, (int)dialect, err);
    }
    int rc = app_workspace(&c->app, true, err);
    for (size_t i = 0; i < sizeof made / sizeof made[0] && rc >= 0; i++) {
        pons_autobuf text = PONS_BUF_INIT;
        pons_error why = PONS_ERROR_INIT;
        pons_ws_template(made[i], dialect, &text);
        const int wrote = pons_ws_write(PONS_WS_BY_PERSON, c->app.workspace, made[i], text.data,
                                        text.len, NULL, 0, &why);
        if (wrote < 0 && wrote != PONS_ESTALE) { // stale: it is there already, and stays
            *err = why;
            rc = wrote;
        } else if (c->json) {
            pons_autovalue row = pons_object("type", json_string("made"), "file",
                                             json_string(pons_ws_file_name(made[i])), "new",
                                             json_boolean(wrote >= 0), NULL);
            cli_print_json(row);
        } else {
            cli_out("%s/%s%s\n", c->app.workspace, pons_ws_file_name(made[i]),
                    wrote < 0 ? " was there and stays" : "");
        }
    }
    pons_autovalue robot = pons_object("id", json_string(id), "driver", json_string(driver),
                                       "world", json_string(world), NULL);
    rc = rc < 0 ? rc : write_config(c->app.workspace, dialect, robot, err);
    if (rc >= 0 && !c->json) {
        cli_out("%s/" CONFIG "\n", c->app.workspace);
    }
    return rc;
}
