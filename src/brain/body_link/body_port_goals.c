// body_port_goals.c - the goals that are out, as the port follows them until each has ended.
#include "brain/body_link/body_port.h"
#include "brain/records/await_fields.h"
#include "brain/records/kernel_fields.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINISHED_GOALS_KEPT 32 // a node that runs again may ask for them

pons__body_goal *pons__port_goal(pons__port *p, const char *id)
{
    for (pons__body_goal *g = p->goals; g; g = g->next) {
        if (strcmp(g->id, id) == 0) {
            return g;
        }
    }
    return NULL;
}

// Of its own: what goal points to may go.
void pons__port_keep(pons__body_goal *g, const pons_message_goal *goal, const char *boot_id)
{
    pons_autovalue json =
        pons_message_encode(&(pons_message){.type = PONS_MESSAGE_GOAL, .as.goal = *goal});
    pons_message_clear(&g->message);
    pons_message_decode(json, &g->message, NULL); // whether it is a good one, the body decides
    snprintf(g->boot_id, sizeof g->boot_id, "%s", boot_id);
}

static void goal_free(pons__body_goal *g)
{
    pons_message_clear(&g->message);
    pons_value_unref(g->accept);
    pons_value_unref(g->result);
    pons_value_unref(g->feedback);
    free(g);
}

// The list is newest first: what is finished and beyond the count is old enough to forget.
static void drop_finished(pons__port *p)
{
    int finished = 0;
    for (pons__body_goal **at = &p->goals; *at;) {
        pons__body_goal *g = *at;
        if (g->result && ++finished > FINISHED_GOALS_KEPT) {
            *at = g->next;
            goal_free(g);
        } else {
            at = &g->next;
        }
    }
}

pons__body_goal *pons__port_track(pons__port *p, const char *id)
{
    pons__body_goal *g = pons__port_goal(p, id);
    if (!g) {
        g = pons_need_zeroed(1, sizeof *g);
        snprintf(g->id, sizeof g->id, "%s", id);
        g->window_distance = -1.0;
        g->left_m = g->driven_m = g->remaining = NAN;
        g->next = p->goals;
        p->goals = g;
        drop_finished(p);
    }
    return g;
}

void pons__port_refuse(pons__body_goal *g, const char *why)
{
    if (!g->result) {
        pons_value_unref(g->accept);
        g->accept = pons__word_rejected(PONS__REARBITRATED, why);
        g->result = pons_value_ref(g->accept);
    }
}

void pons__goals_clear(pons__port *p)
{
    for (pons__body_goal *g = p->goals; g;) {
        pons__body_goal *next = g->next;
        goal_free(g);
        g = next;
    }
    p->goals = NULL;
}

// status: done, failed, canceled or outcome_unknown.
void pons__goal_finish(pons__body_goal *g, const char *status, const pons_report_end *end)
{
    if (!g->result) {
        pons_autovalue none = json_object();
        g->result =
            PONS__WRITE(ended, .goal_id = g->id, .status = status, .error_code = end->error_code,
                        .error_msg = end->error_msg, .metrics = end->metrics ? end->metrics : none);
    }
    g->recovering = false;
    if (!g->accept) {
        g->accept = pons_value_ref(g->result);
    }
}

void pons__goal_unknown(pons__body_goal *g, const char *why)
{
    pons__goal_finish(g, pons__end_words[PONS_END_UNKNOWN], &(pons_report_end){.error_msg = why});
}
