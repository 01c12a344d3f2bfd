// run_files.c - the files of a workspace beside a run.
//
//     event -> rows (ACTION, TASK) -> dirty --poll, at most five writes a second a file--> place
//     telemetry -> the robot as it is now   --once a second, and when something ended--^
//     place -> what people have asked for (file_requests.c) -> words for the run; the row that was written is remembered by
//              its words, so that the task, and the skill, that comes of it are shown in that row and in no other
//
// A row that could not be written (a file that is half written, too many writes) stays dirty and is tried again.
#include "workspace/beside_run/run_files.h"

#include "pons/critic.h"
#include "pons/out_of_memory.h"
#include "pons/workspace_critic.h"
#include "workspace/hal/action_skills.h"
#include "workspace/hal/environment_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OBSERVE_MS   1000
#define REMEMBERED_M 0.5 // so near to where the world's file has it a thing is where it was
#define ROWS_MAX     200 // of a run's own that have ended, in ACTION.md
#define CONTEXT_MAX  8   // lessons that a planner is reminded of

// ---- rows ---------------------------------------------------------------------------------------

static row *row_of(pons_ws_live *l, pons_ws_file file, const char *of)
{
    for (size_t i = 0; i < l->n_rows; i++) {
        if (l->rows[i].file == file && strcmp(l->rows[i].of, of) == 0) {
            return &l->rows[i];
        }
    }
    return NULL;
}

static row *row_add(pons_ws_live *l, pons_ws_file file, const char *of, const char *id,
                    pons_value *take)
{
    l->rows = pons_need_more(l->rows, (l->n_rows + 1) * sizeof *l->rows);
    row *r = &l->rows[l->n_rows++];
    *r = (row){.file = file, .value = take, .dirty = true};
    snprintf(r->id, sizeof r->id, "%.63s", id);
    snprintf(r->of, sizeof r->of, "%.63s", of);
    return r;
}

static void row_drop(pons_ws_live *l, size_t at)
{
    json_decref(l->rows[at].value);
    l->n_rows--;
    memmove(&l->rows[at], &l->rows[at + 1], (l->n_rows - at) * sizeof *l->rows);
}

static void put(row *r, const char *key, pons_value *take)
{
    pons_value *v = json_copy(r->value); // what was given away stays as it was
    json_object_set_new(v, key, take);
    json_decref(r->value);
    r->value = v;
    r->dirty = true;
}

// Planner and HAL in one: what is pending is the one's, what runs the other's.
static pons_ws_role role_of(pons_ws_file file)
{
    return file == PONS_WS_ACTION ? PONS_WS_BY_HAL : PONS_WS_BY_PLANNER;
}

static bool is_dirty(const pons_ws_live *l, pons_ws_file file)
{
    for (size_t i = 0; i < l->n_rows; i++) {
        if (l->rows[i].file == file && l->rows[i].dirty) {
            return true;
        }
    }
    return false;
}

static void write_rows(pons_ws_live *l, pons_ws_file file)
{
    pons_ws_change *c = pons_need((l->n_rows + 1) * sizeof *c);
    pons_error err = PONS_ERROR_INIT;
    size_t n = 0;
    if (is_dirty(l, file) && pons_ws_place_look(l->place, file, &err) >= 0) {
        pons__wishes_look(l, file); // a row that was just taken out is not put back
    }
    for (size_t i = 0; i < l->n_rows; i++) {
        if (l->rows[i].file == file && l->rows[i].dirty) {
            c[n++] = (pons_ws_change){pons__live_kind(file), l->rows[i].id, l->rows[i].value};
        }
    }
    if (n && pons_ws_place_change_as(l->place, role_of(file), file, c, n, &err) >= 0) {
        for (size_t i = 0; i < l->n_rows; i++) {
            l->rows[i].dirty = l->rows[i].dirty && l->rows[i].file != file;
            l->rows[i].there = l->rows[i].there || l->rows[i].file == file;
        }
    }
    free(c);
}

// The oldest of our ended actions go when there are too many; the store has them.
static void tidy(pons_ws_live *l)
{
    pons_ws_change c[32];
    char ids[32][64];
    size_t n = 0, ended = 0, drop = 0;
    const pons_ws_doc *d = pons_ws_place_doc(l->place, PONS_WS_ACTION);
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        const char *status = pons_get_str(all[i].value, "status", "");
        ended += pons_get(all[i].value, "claimed_by") && strcmp(status, "pending") != 0 &&
                 strcmp(status, "running") != 0;
    }
    for (size_t i = 0; i < n && ended > ROWS_MAX && drop < 32; i++) {
        const char *status = pons_get_str(all[i].value, "status", "");
        if (pons_get(all[i].value, "claimed_by") && strcmp(status, "pending") != 0 &&
            strcmp(status, "running") != 0 && strlen(all[i].id) < sizeof ids[0]) {
            snprintf(ids[drop], sizeof ids[0], "%s", all[i].id);
            c[drop] = (pons_ws_change){"action", ids[drop], NULL};
            drop++;
            ended--;
        }
    }
    pons_error err = PONS_ERROR_INIT;
    if (drop) {
        pons_ws_place_change_as(l->place, PONS_WS_BY_HAL, PONS_WS_ACTION, c, drop, &err);
    }
}

// ---- ACTION -------------------------------------------------------------------------------------

static row *new_action(pons_ws_live *l, const char *goal, const char *skill, const pons_value *args)
{
    char id[64], when[32];
    wish *w = pons__wish_of_skill(l, skill, args);
    const pons_ws_doc *d = pons_ws_place_doc(l->place, PONS_WS_ACTION);
    const pons_ws_record *theirs = w && d ? pons_ws_find(d, "action", w->id) : NULL;
    row *r;
    if (theirs) {
        r = row_add(l, PONS_WS_ACTION, goal, w->id, json_copy(theirs->value));
    } else {
        pons_value *params = NULL;
        const char *type = NULL;
        pons__ws_action_of(skill, args, &type, &params);
        pons_utc_text((int64_t)time(NULL) * 1000, when);
        snprintf(id, sizeof id, "act_%.12s", goal);
        r = row_add(l, PONS_WS_ACTION, goal, id,
                    pons_object("action_id", json_string(id), "action_type", json_string(type),
                                "params", params, "status", json_string("pending"), "robot_id",
                                json_string(l->robot_id), "created_at", json_string(when), NULL));
    }
    put(r, "claimed_by", json_string(l->who));
    if (w) {
        pons__wish_drop(l, w);
    }
    return r;
}

static void on_effect(pons_ws_live *l, const pons_value *e)
{
    static const struct {
        const char *state, *status;
    } states[] = {{"intended", "pending"}, {"dispatched", "running"}, {"accepted", "running"},
                  {"done", "completed"},   {"canceled", "cancelled"}, {"cancelled", "cancelled"}};
    const char *goal = pons_get_str(e, "goal_id", ""), *state = pons_get_str(e, "state", "");
    const char *status = "failed";
    char when[32];
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        status = strcmp(states[i].state, state) == 0 ? states[i].status : status;
    }
    row *r = row_of(l, PONS_WS_ACTION, goal);
    r = r ? r : new_action(l, goal, pons_get_str(e, "skill", ""), pons_get(e, "args"));
    if (r->ended) {
        return;
    }
    put(r, "status", json_string(status));
    r->ended = strcmp(status, "pending") != 0 && strcmp(status, "running") != 0;
    if (r->ended) {
        pons_utc_text((int64_t)time(NULL) * 1000, when);
        put(r, "completed_at", json_string(when));
        l->observed_ms = 0; // what is true now is worth a look
    }
    if (strcmp(status, "failed") == 0) {
        const char *why = pons_get_str(e, "reason", state);
        put(r, "error",
            pons_object("code",
                        json_string(strstr(state, "unknown") ? "OUTCOME_UNKNOWN" : "SKILL_FAILED"),
                        "message", pons_string(why), NULL));
    }
}

// ---- TASK ---------------------------------------------------------------------------------------

static const char *goal_says(const pons_value *goal)
{
    static const char *const keys[] = {"zone", "object", "target", "text"};
    const char *says = "";
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !*says; i++) {
        says = pons_get_str(goal, keys[i], "");
    }
    return says;
}

// The rows of a task that is over make room for the next; what people have written there stays.
static void clear_ended(pons_ws_live *l, const char *title)
{
    size_t n = 0, k = 0;
    const pons_ws_doc *d = pons_ws_place_doc(l->place, PONS_WS_TASK);
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
    pons_error err = PONS_ERROR_INIT;
    for (size_t i = 0; i < n; i++) {
        const char *status = pons_get_str(all[i].value, "status", "");
        if (strcmp(all[i].kind, "subtask") == 0 &&
            (strcmp(status, "pending") == 0 || strcmp(status, "running") == 0 ||
             strncmp(pons_get_str(all[i].value, "note", ""), "t-", 2) != 0)) {
            return; // somebody's plan is there: ours goes behind it
        }
    }
    pons_ws_change *c = pons_need((n + 1) * sizeof *c);
    char(*ids)[64] = pons_need((n + 1) * sizeof *ids);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].kind, "subtask") == 0 && strlen(all[i].id) < sizeof *ids) {
            snprintf(ids[k], sizeof *ids, "%s", all[i].id);
            c[k] = (pons_ws_change){"subtask", ids[k], NULL};
            k++;
        }
    }
    pons_autovalue head = pons_object("title", pons_string(title), NULL);
    c[k++] = (pons_ws_change){"task", "task", head};
    pons_ws_place_change_as(l->place, PONS_WS_BY_PLANNER, PONS_WS_TASK, c, k, &err);
    free(c);
    free(ids);
}

static int next_number(const pons_ws_live *l)
{
    size_t n = 0;
    int most = 0;
    const pons_ws_doc *d = pons_ws_place_doc(l->place, PONS_WS_TASK);
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        const int id = strcmp(all[i].kind, "subtask") == 0 ? atoi(all[i].id) : 0;
        most = id > most ? id : most;
    }
    for (size_t i = 0; i < l->n_rows; i++) {
        const int id = l->rows[i].file == PONS_WS_TASK ? atoi(l->rows[i].id) : 0;
        most = id > most ? id : most;
    }
    return most + 1;
}

static void add_task(pons_ws_live *l, const pons_value *task)
{
    const char *id = pons_get_str(task, "id", ""), *text = pons_get_str(task, "text", "");
    const pons_value *goals = pons_get(task, "goals");
    const size_t n = json_array_size(goals) ? json_array_size(goals) : 1;
    char of[64], number[16], note[160];
    wish *w = pons__wish_of_words(l, text);
    snprintf(of, sizeof of, "%.40s/0", id);
    if (row_of(l, PONS_WS_TASK, of)) {
        return;
    }
    if (w && w->over) {
        pons__wish_cancel(l, id, strlen(id));
        pons__wish_drop(l, w);
        return;
    }
    if (w) {
        snprintf(w->task, sizeof w->task, "%.63s", id);
    }
    if (w && w->file == PONS_WS_ACTION) {
        return; // it is shown where it was written
    }
    if (w) { // a person's own row
        const pons_ws_doc *d = pons_ws_place_doc(l->place, PONS_WS_TASK);
        const pons_ws_record *r = d ? pons_ws_find(d, "subtask", w->id) : NULL;
        if (r) {
            row_add(l, PONS_WS_TASK, of, w->id, json_copy(r->value))->there = true;
        }
        pons__wish_drop(l, w);
        return;
    }
    clear_ended(l, text);
    snprintf(note, sizeof note, "%s %s", l->who, id);
    for (size_t i = 0; i < n; i++) {
        const pons_value *goal = json_array_get(goals, i);
        snprintf(of, sizeof of, "%.40s/%zu", id, i);
        snprintf(number, sizeof number, "%d", next_number(l));
        row_add(l, PONS_WS_TASK, of, number,
                pons_object("n", json_string(number), "action",
                            pons_string(pons_get_str(goal, "text", text)), "goal",
                            pons_string(goal_says(goal)), "status", json_string("pending"), "note",
                            json_string(note), NULL));
    }
}

// Rows of a task: which are done, and what the others are.
static void set_task(pons_ws_live *l, const char *id, const pons_value *goals, const char *status)
{
    const size_t len = strlen(id);
    for (size_t i = 0; i < l->n_rows; i++) {
        row *r = &l->rows[i];
        if (r->file != PONS_WS_TASK || strncmp(r->of, id, len) != 0 || r->of[len] != '/') {
            continue;
        }
        const size_t at = (size_t)atoi(r->of + len + 1);
        const bool done = pons_get_bool(json_array_get(goals, at), "done", false);
        const char *is = pons_get_str(r->value, "status", "");
        const char *to = done ? "done" : strcmp(is, "done") == 0 ? is : status;
        if (to && strcmp(to, is) != 0) {
            put(r, "status", json_string(to));
        }
    }
}

static void on_task_done(pons_ws_live *l, const pons_value *e)
{
    const char *id = pons_get_str(e, "task_id", ""), *status = pons_get_str(e, "status", "");
    const char *word = strcmp(status, "succeeded") == 0    ? "done"
                       : strncmp(status, "cancel", 6) == 0 ? "cancelled"
                                                           : "failed";
    set_task(l, id, NULL, word);
    for (size_t i = 0; i < l->n_wishes; i++) { // an action that became a task and never a skill
        wish *w = &l->wishes[i];
        const pons_ws_doc *d = pons_ws_place_doc(l->place, PONS_WS_ACTION);
        const pons_ws_record *r = d ? pons_ws_find(d, "action", w->id) : NULL;
        if (w->file == PONS_WS_ACTION && strcmp(w->task, id) == 0) {
            if (r) {
                char when[32];
                pons_utc_text((int64_t)time(NULL) * 1000, when);
                row *a = row_add(l, PONS_WS_ACTION, w->id, w->id, json_copy(r->value));
                put(a, "status", json_string(strcmp(word, "done") == 0 ? "completed" : word));
                put(a, "completed_at", json_string(when));
                if (strcmp(word, "failed") == 0) {
                    put(a, "error",
                        pons_object("code", json_string("CRITIC_REFUSED"), "message",
                                    pons_string(pons_get_str(e, "reason", "")), NULL));
                }
                a->ended = true;
            }
            pons__wish_drop(l, w);
            break;
        }
    }
}

static void on_notice(void *user, const char *file, const char *text)
{
    const pons_ws_live *l = user;
    if (l->o.notice) {
        l->o.notice(l->o.user, file, text);
    }
}

// ---- judging ------------------------------------------------------------------------------------

void pons_ws_live_judge(pons_ws_live *l, const char *skill, const pons_value *args, bool asked,
                        pons_value *rules)
{
    pons_autovalue params = NULL;
    const char *type = NULL;
    pons_ws_judgement j;
    pons_error err = PONS_ERROR_INIT;
    pons__ws_action_of(skill, args, &type, &params);
    const pons_ws_asked what = {
        .action_type = type, .params = params, .robot_id = l->robot_id, .robot = l->robot};
    pons_ws_judge(l->place, &what, &j);
    if (!j.ok && asked) {
        pons_ws_learn(l->place, &what, &j, &err);
    }
    pons_each(rule, j.rules) {
        pons_value *reported = json_copy(rule);
        json_object_set_new(reported, "skill", json_string(skill));
        json_object_set_new(reported, "lasts",
                            json_true()); // a robot that stands elsewhere asks anew
        json_array_append_new(rules, reported);
    }
    pons_ws_judgement_clear(&j);
}

bool pons_ws_live_suspended(const pons_ws_live *l, pons_ws_file file)
{
    return pons_ws_place_suspended(l->place, file);
}

static void add_some(pons_value *to, const char *title, const pons_ws_doc *d,
                     const char *const *kinds, size_t most)
{
    size_t n = 0;
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
    pons_value *list = json_array();
    for (size_t i = 0; i < n && json_array_size(list) < most; i++) {
        for (const char *const *k = kinds; *k; k++) {
            if (strcmp(all[i].kind, *k) == 0) {
                json_array_append(list, all[i].value);
            }
        }
    }
    if (json_array_size(list)) {
        json_object_set_new(to, title, list);
    } else {
        json_decref(list);
    }
}

pons_value *pons_ws_live_context(pons_ws_live *l)
{
    static const char *const body[] = {"limits", "identity", NULL};
    static const char *const around[] = {"object", "edge", NULL}, *const work[] = {"subtask", NULL},
                             *const lessons[] = {"lesson", NULL};
    pons_value *all = json_object();
    add_some(all, "What this robot can (EMBODIED.md)",
             pons_ws_place_doc(l->place, PONS_WS_EMBODIED), body, CONTEXT_MAX);
    add_some(all, "Lessons: what failed before, and what to do instead (LESSONS.md)",
             pons_ws_place_doc(l->place, PONS_WS_LESSONS), lessons, CONTEXT_MAX);
    add_some(all, "Known around it (ENVIRONMENT.md)",
             pons_ws_place_doc(l->place, PONS_WS_ENVIRONMENT), around, 4 * CONTEXT_MAX);
    add_some(all, "Plan and progress (TASK.md)", pons_ws_place_doc(l->place, PONS_WS_TASK), work,
             4 * CONTEXT_MAX);
    return all;
}

// What the brain remembers of where things are (`last_seen_ms`): one that is where the world's file has it stays so; one that
// is elsewhere, or is in no file, is in the zone where it was seen.
static pons_value *remembered(const pons_value *objects, const pons_value *known)
{
    pons_value *all = json_array();
    pons_each(thing, known) {
        const pons_value *mapped = pons_find(objects, "id", pons_get_str(thing, "id", ""));
        const pons_value *at = pons_get(thing, "position"), *was = pons_get(mapped, "position");
        const pons_value *last = pons_get(thing, "last_seen_ms");
        const double away_m = hypot(
            json_number_value(json_array_get(at, 0)) - json_number_value(json_array_get(was, 0)),
            json_number_value(json_array_get(at, 1)) - json_number_value(json_array_get(was, 1)));
        const bool moved = last && (!mapped || away_m > REMEMBERED_M);
        pons_value *one = json_copy((json_t *)(uintptr_t)(mapped && !moved ? mapped : thing));
        if (last) {
            json_object_set(one, "last_seen_ms", (json_t *)(uintptr_t)last);
        }
        if (moved) {
            json_object_set_new(one, "seen", json_true());
            json_object_set_new(one, "on", json_string(pons_get_str(thing, "zone", "")));
            json_object_set_new(one, "relation", json_string("in"));
        }
        json_array_append_new(all, one);
    }
    return all;
}

// The world as its file has it, its objects where the body sees them, or were seen last; NULL: nobody knows it.
static pons_value *seen_world(const pons_ws_live *l)
{
    const pons_value *scene = pons_get(l->robot, "scene");
    pons_value *world = l->world ? json_copy(l->world) : NULL;
    if (world && json_array_size(l->known) > 0) {
        json_object_set_new(world, "objects", remembered(pons_get(world, "objects"), l->known));
    }
    if (world && scene) {
        json_object_set_new(world, "objects", pons_critic_seen(pons_get(world, "objects"), scene));
    }
    return world;
}

// ---- public -------------------------------------------------------------------------------------

int pons_ws_live_open(const pons_ws_live_options *o, pons_ws_live **ret, pons_error *err)
{
    pons_ws_live *l = pons_need_zeroed(1, sizeof *l);
    l->o = *o;
    l->cancels = json_array();
    l->world = pons_value_ref((pons_value *)(uintptr_t)o->world);
    snprintf(l->robot_id, sizeof l->robot_id, "%.63s", o->robot_id);
    snprintf(l->who, sizeof l->who, "%.63s", o->who);
    const pons_ws_place_options place = {.role = PONS_WS_BY_HAL,
                                         .dialect = o->dialect,
                                         .robot_id = l->robot_id,
                                         .writes_per_s = PONS_WS_WRITES_PER_S,
                                         .no_wait = o->no_wait,
                                         .notice = on_notice,
                                         .user = l};
    const int rc = pons_ws_place_open(o->dir, &place, &l->place, err);
    if (rc < 0) {
        pons_ws_live_close(l);
        return rc;
    }
    pons__wishes_look(l, PONS_WS_ACTION); // what is there already waits for a watchdog
    pons__wishes_look(l, PONS_WS_TASK);
    l->opened = true;
    *ret = l;
    return PONS_OK;
}

void pons_ws_live_close(pons_ws_live *l)
{
    if (!l) {
        return;
    }
    if (l->place) {
        l->o.say = NULL; // what is asked for from now on stays in the file
        l->opened = false;
        pons_ws_place_unlimit(l->place); // the last words are written whatever was written just now
        l->observed_ms = 0;
        pons_ws_live_poll(l);
    }
    while (l->n_rows) {
        row_drop(l, l->n_rows - 1);
    }
    while (l->n_wishes) {
        pons__wish_drop(l, &l->wishes[l->n_wishes - 1]);
    }
    free(l->rows);
    free(l->wishes);
    pons_ws_place_close(l->place);
    pons_value_unref(l->world);
    pons_value_unref(l->robot);
    pons_value_unref(l->known);
    pons_value_unref(l->seen[0]);
    pons_value_unref(l->seen[1]);
    json_decref(l->cancels);
    free(l);
}

void pons_ws_live_event(pons_ws_live *l, const char *type, const pons_value *payload)
{
    const pons_value *task = pons_get(payload, "task");
    if (strcmp(type, "telemetry") == 0) {
        pons_value_unref(l->robot);
        l->robot = pons_value_ref((pons_value *)(uintptr_t)payload);
        l->moved = true;
    } else if (strcmp(type, "effect") == 0) {
        on_effect(l, payload);
    } else if (strcmp(type, "task.queued") == 0) {
        add_task(l, task);
    } else if (strcmp(type, "task.active") == 0) {
        add_task(l, task);
        set_task(l, pons_get_str(task, "id", ""), pons_get(task, "goals"), "running");
    } else if (strcmp(type, "observation") == 0) {
        const pons_value *robot = pons_get(pons_get(payload, "observation"), "robot");
        const pons_value *world = pons_get(pons_get(payload, "observation"), "world");
        task = pons_get(pons_get(payload, "observation"), "task");
        pons_value_unref(l->known);
        l->known = pons_value_ref((pons_value *)(uintptr_t)pons_get(world, "objects"));
        if (pons_get(robot, "pose")) { // telemetry is told once a second; this is newer
            pons_value *now = l->robot ? json_copy(l->robot) : json_object();
            json_object_update(now, (json_t *)(uintptr_t)robot);
            pons_value_unref(l->robot);
            l->robot = now;
            l->moved = true;
        }
        set_task(l, pons_get_str(task, "id", ""), pons_get(task, "goals"), NULL);
    } else if (strcmp(type, "task.done") == 0) {
        on_task_done(l, payload);
    }
}

int pons_ws_live_poll(pons_ws_live *l)
{
    static const pons_ws_file shown[] = {PONS_WS_ACTION, PONS_WS_TASK};
    const int64_t now = pons_now_ms(&l->o.clock);
    const int wait = pons_ws_place_poll(l->place, now);
    pons__wishes_look(l, PONS_WS_ACTION);
    pons__wishes_look(l, PONS_WS_TASK);
    pons__wishes_say(l);
    for (size_t i = 0; i < 2; i++) {
        if (pons_ws_place_may_write(l->place, shown[i])) {
            write_rows(l, shown[i]);
        }
    }
    for (size_t i = l->n_rows; i > 0; i--) {
        if (l->rows[i - 1].ended && !l->rows[i - 1].dirty && l->n_rows > ROWS_MAX) {
            row_drop(l, i - 1);
        }
    }
    tidy(l);
    if (l->o.hal && l->moved && (!l->observed_ms || now - l->observed_ms >= OBSERVE_MS) &&
        pons_ws_place_may_write(l->place, PONS_WS_ENVIRONMENT)) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue world = seen_world(l);
        pons_autovalue status = pons_object("robot", pons_value_ref(l->robot), "world",
                                            world ? pons_value_ref(world) : PONS_ABSENT, NULL);
        pons__ws_observe(l->place, l->robot_id, status, &err);
        l->observed_ms = now;
        l->moved = false;
    }
    return wait;
}

int pons_ws_live_fd(const pons_ws_live *l)
{
    return pons_ws_place_fd(l->place);
}
