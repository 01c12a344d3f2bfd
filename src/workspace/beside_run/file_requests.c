// file_requests.c - what people ask a run for, in ACTION.md and TASK.md, and take back there.
//
//     a new row --look--> wish --say--> words for the run --> task.queued, effect: run_files.c shows it in that row
//     a row gone, or cancelled --look--> the wish is dropped, its task cancelled
//
// Words are said at the next poll, not when they are seen: that may be in the middle of the run's own work.
#include "pons/buf.h"
#include "pons/out_of_memory.h"
#include "workspace/beside_run/run_files.h"
#include "workspace/hal/action_skills.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pons__live_kind(pons_ws_file file)
{
    return file == PONS_WS_ACTION ? "action" : "subtask";
}

wish *pons__wish_of_skill(pons_ws_live *l, const char *skill, const pons_value *args)
{
    for (size_t i = 0; i < l->n_wishes; i++) {
        wish *w = &l->wishes[i];
        if (w->file == PONS_WS_ACTION && w->skill && strcmp(w->skill, skill) == 0 &&
            json_equal(w->args, (json_t *)args)) {
            return w;
        }
    }
    return NULL;
}

wish *pons__wish_of_words(pons_ws_live *l, const char *words)
{
    for (size_t i = 0; i < l->n_wishes; i++) {
        if (!*l->wishes[i].task && strcmp(l->wishes[i].words, words) == 0) {
            return &l->wishes[i];
        }
    }
    return NULL;
}

void pons__wish_drop(pons_ws_live *l, wish *w)
{
    free(w->words);
    free(w->skill);
    json_decref(w->args);
    l->n_wishes--;
    memmove(w, w + 1, (size_t)(&l->wishes[l->n_wishes] - w) * sizeof *w);
}

void pons__wish_cancel(pons_ws_live *l, const char *task, size_t len)
{
    json_array_append_new(l->cancels, json_stringn(task, len));
}

// What people have asked for since the last poll.
void pons__wishes_say(pons_ws_live *l)
{
    pons_error err = PONS_ERROR_INIT;
    for (size_t k = 0; k < l->n_wishes; k++) {
        wish *w = &l->wishes[k];
        if (w->said || !l->opened) {
            continue;
        }
        w->said = true;
        if (l->o.say(l->o.user, w->words, &err) < 0 && l->o.notice) {
            l->o.notice(l->o.user, pons_ws_file_name(w->file), err.message);
        }
    }
    pons_each(task, l->cancels) {
        if (l->opened && l->o.cancel) {
            l->o.cancel(l->o.user, json_string_value(task), &err);
        }
    }
    json_array_clear(l->cancels);
}

// A row that a run shows of its own: "t-1 task-3".
static bool is_shown(const pons_value *v)
{
    return *pons_get_str(v, "claimed_by", "") || strstr(pons_get_str(v, "note", ""), " task-");
}

// Whether a row that was there is given up: it is gone, or says so.
static bool is_given_up(const pons_ws_live *l, pons_ws_file file, const pons_value *seen,
                        const char *id)
{
    const pons_ws_doc *d = pons_ws_place_doc(l->place, file);
    const pons_ws_record *r = d ? pons_ws_find(d, pons__live_kind(file), id) : NULL;
    return pons_get(seen, id) &&
           (!r || strcmp(pons_get_str(r->value, "status", ""), "cancelled") == 0);
}

static bool is_wish(const pons_ws_live *l, pons_ws_file file, const char *id)
{
    for (size_t i = 0; i < l->n_wishes; i++) {
        if (l->wishes[i].file == file && strcmp(l->wishes[i].id, id) == 0) {
            return true;
        }
    }
    return false;
}

// What was asked for and is not wanted any more.
static void give_up(pons_ws_live *l, pons_ws_file file, const pons_value *seen)
{
    for (size_t i = l->n_wishes; i > 0; i--) {
        wish *w = &l->wishes[i - 1];
        if (w->file != file || !is_given_up(l, file, seen, w->id)) {
            continue;
        }
        if (*w->task) {
            pons__wish_cancel(l, w->task, strlen(w->task));
        }
        w->over = w->said; // a task that is not known yet is cancelled when it is
        if (*w->task || !w->said) {
            pons__wish_drop(l, w);
        }
    }
    for (size_t i = 0; i < l->n_rows; i++) {
        row *r = &l->rows[i];
        const char *status = pons_get_str(r->value, "status", "");
        if (r->there && r->file == file && file == PONS_WS_TASK &&
            is_given_up(l, file, seen, r->id) &&
            (strcmp(status, "pending") == 0 || strcmp(status, "running") == 0)) {
            pons__wish_cancel(l, r->of, strcspn(r->of, "/"));
            r->dirty = false;
        }
    }
}

static void take_wish(pons_ws_live *l, pons_ws_file file, const char *id, const pons_value *v)
{
    pons_autobuf words = PONS_BUF_INIT;
    pons__ws_call call = {0};
    if (!l->o.say || strlen(id) >= sizeof l->wishes->id) {
        return;
    }
    if (file == PONS_WS_ACTION) {
        char *args = NULL;
        pons__ws_call_of(v, NULL, l->world, pons_ws_place_doc(l->place, PONS_WS_ENVIRONMENT),
                         &call);
        const char *task = pons_get_str(pons_get(v, "params"), "nl_task", "");
        if (strcmp(pons_get_str(v, "action_type", ""), "real_execute") == 0) {
            pons_buf_str(&words, task); // the run plans it as what a person says
        } else if (pons_value_line(call.args, &args) >= 0) {
            pons_buf_printf(&words, "do %s %s", call.skill, args);
        }
        free(args);
    } else {
        pons_buf_str(&words, pons_get_str(v, "action", ""));
    }
    if (words.len) { // said at the next poll: this may be in the middle of the run's own work
        l->wishes = pons_need_more(l->wishes, (l->n_wishes + 1) * sizeof *l->wishes);
        wish *w = &l->wishes[l->n_wishes++];
        *w = (wish){.file = file, .words = strdup(words.data)};
        w->skill = call.skill ? strdup(call.skill) : NULL;
        w->args = call.args ? json_incref(call.args) : NULL;
        snprintf(w->id, sizeof w->id, "%.63s", id);
    }
    pons_value_unref(call.args);
}

// What is new in a file, and what is gone, whoever took it in: of several that have the folder open, the first to see an
// edit is told of it, and the others find what it made.
void pons__wishes_look(pons_ws_live *l, pons_ws_file file)
{
    size_t n = 0;
    pons_value **seen = &l->seen[file == PONS_WS_TASK];
    const pons_ws_doc *d = pons_ws_place_doc(l->place, file);
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
    give_up(l, file, *seen);
    pons_value *now = json_object();
    for (size_t i = 0; i < n; i++) {
        const pons_ws_record *r = &all[i];
        if (strcmp(r->kind, pons__live_kind(file)) != 0) {
            continue;
        }
        json_object_set_new(now, r->id, json_true());
        if (*seen && !pons_get(*seen, r->id) && !is_shown(r->value) &&
            strcmp(pons_get_str(r->value, "status", "pending"), "pending") == 0 &&
            !is_wish(l, file, r->id) && (file == PONS_WS_TASK || l->o.hal)) {
            take_wish(l, file, r->id, r->value);
        }
    }
    pons_value_unref(*seen);
    *seen = now;
}
