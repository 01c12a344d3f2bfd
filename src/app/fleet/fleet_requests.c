// fleet_requests.c - words of other processes to a fleet that runs, and how it stands, for them.
#include "app/fleet/running.h"
#include "pons/items.h"

#include <stdlib.h>
#include <string.h>

// How things stand, for `pons fleet status` and pages: at most twice a second, when it has changed.
int app_fleet_put_now(app_fleet_running *r, pons_error *err)
{
    pons_autovalue v = app_fleet_now(r->fleet, r->map, r->units, r->n, r->lease.pid);
    char *text = NULL;
    if (pons_value_dump(v, &text) < 0 || (r->now_text && strcmp(text, r->now_text) == 0)) {
        free(text);
        return PONS_OK;
    }
    free(r->now_text);
    r->now_text = text;
    return app_fleet_put(r, APP_FLEET_NOW, "now", v, -1, false, 0, err);
}

int app_fleet_put_map(app_fleet_running *r, pons_error *err)
{
    pons_autovalue v = app_fleet_now_map(r->map);
    return app_fleet_put(r, APP_FLEET_NOW, "map", v, -1, false, 0, err);
}

// ---- words --------------------------------------------------------------------------------------

typedef struct word {
    int64_t seq;
    char kind[16];
    pons_value *value;
    bool found;
} word;

static int first_word(void *user, const pons_inbox_row *row)
{
    word *w = user;
    w->found = true;
    w->seq = row->seq;
    snprintf(w->kind, sizeof w->kind, "%s", row->kind);
    pons_value_parse(row->value.data, row->value.len, &w->value, NULL);
    return 1;
}

static int obey(app_fleet_running *r, const word *w, pons_error *err)
{
    const int64_t now = pons_wall_ms(&r->clock);
    const char *id = pons_get_str(w->value, "id", "");
    if (strcmp(w->kind, "task") == 0) {
        pons_fleet_task t;
        pons_autovalue there = NULL;
        pons_error none = PONS_ERROR_INIT;
        const pons_items items = {.store = r->store, .clock = r->clock};
        if (pons_items_get(&items, APP_FLEET_TASKS, id, &there, &none) >= 0) {
            return PONS_OK; // a life was killed between making it and taking the word
        }
        int rc = app_fleet_task_read(&r->file, r->map, r->robots, r->n, w->value, &t, err);
        r->live += rc >= 0;
        const pons_value *work = pons_get(w->value, "do");
        if (rc >= 0 && json_is_array(work)) {
            json_object_set(r->works, t.id, (pons_value *)work);
        }
        rc = rc < 0 ? rc : pons_fleet_add(r->fleet, &t, err);
        r->live -= rc < 0 && r->live > 0;
        if (rc < 0) {
            json_object_del(r->works, t.id);
        }
        return rc;
    }
    if (strcmp(w->kind, "block") == 0) {
        const int32_t zone = pons_fleet_map_find(r->map, id);
        const bool blocked = pons_get_bool(w->value, "blocked", true);
        if (zone < 0) {
            return pons_error_set(err, PONS_ENOTFOUND, "fleet", "the map has no zone '%s'", id);
        }
        pons_autovalue v =
            pons_object("zone", json_string(id), "blocked", json_boolean(blocked), NULL);
        const int rc = app_fleet_put(r, APP_FLEET_BLOCKS, id, v, -1, true, 0, err);
        if (rc < 0) {
            return r->failed = rc;
        }
        pons_fleet_block(r->fleet, zone, blocked, now);
        return PONS_OK;
    }
    if (strcmp(w->kind, "cancel") == 0) {
        return pons_fleet_cancel(r->fleet, id, now, err);
    }
    if (strcmp(w->kind, "settle") == 0) {
        return pons_fleet_settle(r->fleet, id, pons_get_bool(w->value, "done", false), err);
    }
    for (size_t i = 0; i < r->n && strcmp(w->kind, "clear") == 0; i++) {
        if (strcmp(r->robots[i].id, id) == 0) {
            pons_fleet_clear(r->fleet, (int32_t)i, now);
        }
    }
    return PONS_OK;
}

int app_fleet_take_words(app_fleet_running *r, pons_error *err)
{
    for (;;) {
        word w = {0};
        int rc = r->store.ops->inbox_read(r->store.self, APP_FLEET_THREAD, "fleet", 0, first_word,
                                          &w, err);
        if (rc < 0 || !w.found) {
            return rc;
        }
        pons_error why = PONS_ERROR_INIT;
        if (obey(r, &w, &why) < 0) {
            char line[1024];
            app_tell(r->c, "%s", pons_error_line(&why, line, sizeof line));
        }
        pons_value_unref(w.value);
        rc = r->failed < 0 ? r->failed : app_fleet_put(r, NULL, NULL, NULL, 0, true, w.seq, err);
        if (rc < 0) {
            return rc;
        }
    }
}
