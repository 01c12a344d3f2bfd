// task_writes.c - what a task has to say: its writes to channels, and where the run goes from it.
#include "graph/core/task_writes.h"

#include "graph/core/faults.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_random.h"
#include "graph/definition/io_schema.h"
#include "graph/engine.h"
#include "graph/state/messages.h"
#include "pons/growing_list.h"
#include "pons/log.h"

static void make_id(void *cx, char *ret)
{
    pons__cx_make_id(cx, ret);
}

int pons__cx_write(pons_cx *cx, uint32_t ch, pons_value *v, pons_error *err)
{
    if (cx->caller) {
        pons_value_unref(v);
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "task '%s' writes channel '%s': a task has its result alone",
                              cx->node->name, cx->run->g->channels[ch].name);
    }
    if (!v) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "node '%s' writes no value to '%s'",
                              cx->node->name, cx->run->g->channels[ch].name);
    }
    if (!pons_value_fits(v)) {
        pons_value_unref(v);
        return pons__too_deep(cx, "writes", err);
    }
    if (cx->run->g->channels[ch].kind >= PONS_CHANNEL_IS_LAST_STEP) {
        pons_value_unref(v);
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "node '%s' writes '%s', which the engine manages", cx->node->name,
                              cx->run->g->channels[ch].name);
    }
    if (cx->run->g->channels[ch].kind == PONS_CHANNEL_MESSAGES) {
        int st = pons__messages_prepare(make_id, cx, cx->run->g->channels[ch].chat, v, &v, err);
        if (st != PONS_OK) {
            pons_value_unref(v);
            return st;
        }
    }
    if (!pons_list_reserve(&cx->writes, &cx->cap_writes, cx->n_writes + 1, sizeof *cx->writes)) {
        pons_value_unref(v);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a write");
    }
    cx->writes[cx->n_writes++] = (pons__write){ch, v};
    for (size_t i = 0; i < cx->n_views; i++) { // a router that writes sees it from now on
        if (cx->views[i].ch == ch) {
            pons__task_hold(cx, cx->views[i].v);
            cx->views[i] = cx->views[--cx->n_views];
            break;
        }
    }
    return PONS_OK;
}

int pons__cx_input(pons_cx *cx, const pons_value *input, pons_error *err)
{
    int st = PONS_OK;
    if (!json_is_object(input)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "an input or an update is an object {channel: value}");
    }
    const bool from_outside = cx->node_ix == PONS__END || cx->outside;
    if (cx->node_ix == PONS__END && !cx->bare) { // a command's update is no input
        st = pons__check_input(cx->run->g, input, err);
    }
    pons_each_member(name, v, input) {
        uint32_t ch = pons__run_channel(cx->run, name);
        if (st == PONS_OK && ch != PONS__NONE && from_outside) {
            st = pons__check_value(cx->run->g, ch, v, err);
        }
        if (st != PONS_OK) {
            break;
        }
        if (ch == PONS__NONE && !from_outside) {
            pons__cx_dropped(cx, name);
        } else if (ch == PONS__NONE) {
            st = pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                                "an input or an update names unknown channel '%s'", name);
        } else {
            st = pons__cx_write(cx, ch, pons_value_ref(v), err);
        }
        if (st != PONS_OK) {
            break;
        }
    }
    return st;
}

void pons__cx_dropped(const pons_cx *cx, const char *channel)
{
    pons_log(PONS_LOG_WARN, PONS__MODULE,
             "thread %s step %lld: node '%s' writes unknown channel '%s': dropped", cx->run->t->id,
             (long long)cx->run->ns->step + 1, cx->node->name, channel ? channel : "");
}

int pons__cx_route(pons_cx *cx, uint32_t to, pons_value *arg)
{
    if (!arg) {
        if (!pons_list_reserve(&cx->gotos, &cx->cap_gotos, cx->n_gotos + 1, sizeof *cx->gotos)) {
            return PONS_ENOMEM;
        }
        cx->gotos[cx->n_gotos++] = to;
        return PONS_OK;
    }
    if (!pons_list_reserve(&cx->sends, &cx->cap_sends, cx->n_sends + 1, sizeof *cx->sends)) {
        pons_value_unref(arg);
        return PONS_ENOMEM;
    }
    cx->sends[cx->n_sends++] = (pons__sent){to, arg};
    return PONS_OK;
}

void pons__task_drop(pons_cx *cx)
{
    pons__task_drop_writes(cx);
    pons__out_clear(&cx->out);
    cx->router = NULL;
}

void pons__task_drop_routes(pons_cx *cx)
{
    for (size_t i = 0; i < cx->n_sends; i++) {
        pons_value_unref(cx->sends[i].arg);
    }
    cx->n_sends = cx->n_gotos = 0;
    cx->bare = true;
}

void pons__task_drop_writes(pons_cx *cx)
{
    if ((cx->n_writes | cx->n_views | cx->n_held | cx->n_sends) == 0 && !cx->escape) {
        cx->n_gotos = 0; // most often: nothing since the last time
        return;
    }
    for (size_t i = 0; i < cx->n_writes; i++) {
        pons_value_unref(cx->writes[i].v);
    }
    for (size_t i = 0; i < cx->n_views; i++) {
        pons_value_unref(cx->views[i].v);
    }
    for (size_t i = 0; i < cx->n_held; i++) {
        pons_value_unref(cx->held[i]);
    }
    for (size_t i = 0; i < cx->n_sends; i++) {
        pons_value_unref(cx->sends[i].arg);
    }
    if (cx->escape) {
        pons_value_unref(cx->escape);
        cx->escape = NULL;
    }
    cx->n_writes = cx->n_gotos = cx->n_views = cx->n_held = cx->n_sends = 0;
}
