// body_port_awaits.c - the awaits of the inner loop that the port serves: their requests and answers are in await_fields.h.
//
// Nothing here decides: the port carries words between the ledger's two ends. What is waited for follows from the
// request and from the goals that the port follows, so a wait that a death cut short is taken up by starting it
// again. The brain's loop thread.
#include "brain/body_link/body_port.h"
#include "brain/goals/object_search.h"
#include "brain/records/await_fields.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pons__port_wait port_wait;

// ---- answers ------------------------------------------------------------------------------------

static pons_value *tell(pons__await_answer await_answer)
{
    await_answer.distance_remaining_m = await_answer.for_s = NAN;
    return pons__record_write(&pons__await_answer_record, &await_answer);
}

static pons_value *lost(const char *goal_id, const char *why)
{
    pons_autovalue none = json_object();
    return PONS__WRITE(ended, .goal_id = goal_id, .status = pons__end_words[PONS_END_UNKNOWN],
                       .error_msg = why, .metrics = none);
}

static pons_value *skill_answer(pons__port *p, const port_wait *w)
{
    pons_autovalue results = json_array();
    pons_autovalue feedback = json_array();
    pons__body_goal *stuck = NULL;
    pons_each(id, w->request->goals) {
        pons__body_goal *g = pons__port_goal(p, json_string_value(id));
        if (!g) {
            json_array_append_new(results,
                                  lost(json_string_value(id), "the goal is not followed any more"));
            continue;
        }
        if (g->result) {
            json_array_append(results, g->result);
        }
        if (g->feedback) {
            json_array_append(feedback, g->feedback);
        }
        stuck = g->no_progress ? g : stuck;
    }
    if (json_array_size(results) > 0) {
        return tell((pons__await_answer){.event = "result", .results = results});
    }
    if (stuck) {
        stuck->no_progress = false;
        return PONS__WRITE(await_answer, .event = "no_progress", .goal_id = stuck->id,
                           .distance_remaining_m = stuck->window_distance,
                           .for_s = p->brain->rules.no_progress_s);
    }
    const double waited_ms = (double)(pons__port_robot_ms(p) - w->since_robot_ms);
    const double wanted_s = w->request->look_s;
    const double look_s = isnan(wanted_s) ? p->brain->rules.check_in_s : wanted_s;
    if (p->ready && look_s > 0.0 && // 0: woken by news alone
        (waited_ms >= look_s * 1e3 || pons__object_search_found(p->brain))) {
        return tell((pons__await_answer){.event = "check_in", .feedback = feedback});
    }
    return NULL;
}

// The answer, or NULL while there is none. New reference.
static pons_value *wait_answer(pons__port *p, const port_wait *w)
{
    const char *id = w->request->goal_id ? w->request->goal_id : "";
    const pons__body_goal *g = pons__port_goal(p, id);
    const int64_t waited = pons_now_ms(&p->brain->opts.clock) - w->since_host_ms;
    switch (w->request->wait) {
    case PONS_WAIT_LINK:
        return p->ready && p->telemetry
                   ? PONS__WRITE(linked, .ready = true, .epoch = pons__port_epoch(p),
                                 .boot_id = pons__port_boot(p),
                                 .robot_id = p->greeting.as.hello.robot_id)
                   : NULL;
    case PONS_WAIT_ACCEPT:
        return g ? pons_value_ref(g->accept)
                 : lost(id, "the goal is not in the ledger of open goals");
    case PONS_WAIT_END:
        return g ? pons_value_ref(g->result) : lost(id, "the goal is not followed any more");
    case PONS_WAIT_REST:
        return waited >= w->request->ms ? tell((pons__await_answer){.event = "rested"}) : NULL;
    default:
        return skill_answer(p, w);
    }
}

static void wait_free(port_wait *w)
{
    pons__record_free(&pons__wait_record, w->request);
    free(w);
}

void pons__port_waits_clear(pons__port *p)
{
    while (p->waits) {
        port_wait *gone = p->waits;
        p->waits = gone->next;
        wait_free(gone);
    }
}

void pons__port_await_start(void *user, pons_run *run, const char *id, const pons_value *request,
                            bool restarted)
{
    (void)restarted; // goals were loaded from the ledger, so a restarted await finds them
    pons__port *p = &((pons_brain *)user)->port;
    port_wait *w = pons_need_zeroed(1, sizeof *w);
    snprintf(w->await, sizeof w->await, "%s", id);
    w->request = pons__record_read(&pons__wait_record, request);
    w->since_robot_ms = pons__port_robot_ms(p);
    w->since_host_ms = pons_now_ms(&p->brain->opts.clock);
    port_wait **at = &p->waits;
    while (*at) {
        at = &(*at)->next;
    }
    *at = w;
}

void pons__port_await_cancel(void *user, pons_run *run, const char *id)
{
    pons__port *p = &((pons_brain *)user)->port;
    for (port_wait **at = &p->waits; *at; at = &(*at)->next) {
        if (strcmp((*at)->await, id) == 0) {
            port_wait *gone = *at;
            *at = gone->next;
            wait_free(gone);
            return;
        }
    }
}

int pons__port_answer(pons__port *p, pons_error *err)
{
    int answered = 0;
    for (port_wait **at = &p->waits; *at && p->brain->react_run;) {
        port_wait *w = *at;
        pons_value *answer = wait_answer(p, w);
        if (!answer) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        const int rc = pons_run_answer(p->brain->react_run, w->await, answer, err);
        wait_free(w);
        if (rc < 0 && rc != PONS_ENOTPENDING) {
            return rc;
        }
        answered = 1;
    }
    return answered;
}
