// orchestrator_page.c - how the fleet stands, for people: the three tables of ORCHESTRATOR.md (what runs, the
// pool, what waits) and ROBOTS.md. What people write between the tables stays.
#include "app/fleet/fleet.h"
#include "pons/growing_list.h"
#include "pons/out_of_memory.h"
#include "pons/workspace.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVERY_MS 1000

struct app_fleet_files {
    const app_fleet_file *fleet;
    pons_ws_place *orchestrator, *robots;
    int64_t shown_ms;
};

typedef struct rows { // as they are to be
    struct {
        const char *kind;
        char id[128];
        pons_value *value;
    } *at;
    size_t n, cap;
} rows;

typedef struct telling {
    const app_fleet_file *fleet;
    const pons_fleet *f;
    rows *rows;
} telling;

static int open_place(const app_fleet_file *f, pons_ws_role role, pons_ws_place **ret,
                      pons_error *err)
{
    const pons_ws_place_options o = {.role = role, .dialect = PONS_WS_SEED, .no_wait = true};
    return pons_ws_place_open(f->dir, &o, ret, err);
}

int app_fleet_files_open(const app_fleet_file *f, app_fleet_files **ret, pons_error *err)
{
    app_fleet_files *files = pons_need_zeroed(1, sizeof *files);
    files->fleet = f;
    int rc = open_place(f, PONS_WS_BY_ORCHESTRATOR, &files->orchestrator, err);
    rc = rc < 0 ? rc : open_place(f, PONS_WS_BY_FLEET, &files->robots, err);
    if (rc < 0) {
        app_fleet_files_close(files);
        return rc;
    }
    *ret = files;
    return PONS_OK;
}

void app_fleet_files_close(app_fleet_files *files)
{
    if (files) {
        pons_ws_place_close(files->orchestrator);
        pons_ws_place_close(files->robots);
        free(files);
    }
}

// Two tasks may have one name: the second is told from the first.
static void add(rows *r, const char *kind, const char *id, pons_value *value)
{
    pons_need_room(&r->at, &r->cap, r->n + 1, sizeof *r->at);
    r->at[r->n].kind = kind;
    r->at[r->n].value = value;
    snprintf(r->at[r->n].id, sizeof r->at[r->n].id, "%s", id);
    for (size_t i = 0; i < r->n; i++) {
        if (strcmp(r->at[i].kind, kind) == 0 && strcmp(r->at[i].id, id) == 0) {
            pons_value_unref(value);
            return;
        }
    }
    r->n++;
}

static void clock_text(int64_t wall_ms, char buf[16])
{
    const time_t s = (time_t)(wall_ms / 1000);
    struct tm tm;
    localtime_r(&s, &tm);
    snprintf(buf, 16, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static int tell_task(void *user, const pons_fleet_task *t)
{
    const telling *x = user;
    char needs[256], at[16];
    const char *name = *t->name ? t->name : t->id;
    if (t->state == PONS_FLEET_WAITING) {
        app_fleet_needs_text(x->fleet, t->capabilities, needs, sizeof needs);
        clock_text(t->created_ms, at);
        add(x->rows, "waiting", name,
            pons_object("task", json_string(name), "requirements",
                        json_string(*needs ? needs : "-"), "priority",
                        json_string(pons_fleet_priorities[t->priority]), "queued_at",
                        json_string(at), NULL));
    } else if (t->robot >= 0) {
        const pons_fleet_robot *r = pons_fleet_robot_at(x->f, (size_t)t->robot);
        add(x->rows, "assignment", name,
            pons_object("task", json_string(name), "assigned_to", json_string(r->id), "priority",
                        json_string(pons_fleet_priorities[t->priority]), "status",
                        json_string(t->state == PONS_FLEET_UNKNOWN ? "outcome_unknown" : "running"),
                        NULL));
    }
    return 0;
}

static int show(pons_ws_place *place, pons_ws_file file, const rows *r, pons_error *err)
{
    size_t n_old = 0, n = 0;
    pons_ws_place_look(place, file, err);
    const pons_ws_doc *doc = pons_ws_place_doc(place, file);
    const pons_ws_record *old = doc ? pons_ws_records(doc, &n_old) : NULL;
    pons_ws_change *changes = pons_need_zeroed(r->n + n_old + 1, sizeof *changes);
    for (size_t i = 0; i < n_old; i++) {
        bool stays = false;
        for (size_t k = 0; k < r->n && !stays; k++) {
            stays = strcmp(r->at[k].kind, old[i].kind) == 0 && strcmp(r->at[k].id, old[i].id) == 0;
        }
        if (!stays) {
            changes[n++] = (pons_ws_change){.kind = old[i].kind, .id = old[i].id};
        }
    }
    for (size_t k = 0; k < r->n; k++) {
        const pons_ws_record *was = doc ? pons_ws_find(doc, r->at[k].kind, r->at[k].id) : NULL;
        if (!was || !json_equal(was->value, r->at[k].value)) {
            changes[n++] = (pons_ws_change){r->at[k].kind, r->at[k].id, r->at[k].value};
        }
    }
    const int rc = n > 0 || !doc ? pons_ws_place_change(place, file, changes, n, err) : PONS_OK;
    free(changes);
    // Suspended, or another process is writing it: the next time.
    return rc == PONS_EBUSY || rc == PONS_EAGAIN ? PONS_OK : rc;
}

int app_fleet_files_show(app_fleet_files *files, const pons_fleet *fleet, const pons_fleet_map *map,
                         int64_t wall_ms, pons_error *err)
{
    if (wall_ms >= files->shown_ms && wall_ms - files->shown_ms < EVERY_MS) {
        return PONS_OK;
    }
    files->shown_ms = wall_ms;
    rows tables = {0}, robots = {0};
    telling x = {files->fleet, fleet, &tables};
    pons_fleet_tasks(fleet, tell_task, &x);
    for (size_t i = 0; i < pons_fleet_robots(fleet); i++) {
        const pons_fleet_robot *r = pons_fleet_robot_at(fleet, i);
        const app_fleet_robot *e = NULL;
        for (size_t k = 0; k < files->fleet->n; k++) {
            e = strcmp(files->fleet->robots[k].is.id, r->id) == 0 ? &files->fleet->robots[k] : e;
        }
        pons_fleet_view v;
        char seen[16];
        pons_fleet_look(fleet, (int32_t)i, &v);
        clock_text(v.seen_ms, seen);
        const char *task = v.task ? (*v.task->name ? v.task->name : v.task->id) : "-";
        const char *state =
            v.state == PONS_FLEET_UNSEEN ? "lost" : pons_fleet_robot_states[v.state];
        add(&tables, "pool", r->id,
            pons_object("robot", json_string(r->id), "status", json_string(state), "last_heartbeat",
                        json_string(seen), "task", json_string(task), NULL));
        add(&robots, "robot", r->id,
            pons_object(
                "id", json_string(r->id), "driver", json_string(e ? e->driver : "-"), "workspace",
                json_string(e ? e->dir : "-"), "status", json_string(state), "last_heartbeat",
                json_string(seen), "pose",
                json_string(v.zone >= 0 ? pons_fleet_map_zone(map, (size_t)v.zone)->id : "-"),
                "task", json_string(task), NULL));
    }
    int rc = show(files->orchestrator, PONS_WS_ORCHESTRATOR, &tables, err);
    rc = rc < 0 ? rc : show(files->robots, PONS_WS_ROBOTS, &robots, err);
    for (size_t i = 0; i < tables.n; i++) {
        pons_value_unref(tables.at[i].value);
    }
    for (size_t i = 0; i < robots.n; i++) {
        pons_value_unref(robots.at[i].value);
    }
    free(tables.at);
    free(robots.at);
    return rc;
}
