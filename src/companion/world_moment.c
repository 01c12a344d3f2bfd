// world_moment.c - what a life's world says at this minute: who sleeps, what is urgent, when a thing
// ends.
#include "companion/world_moment.h"

#include "companion/world_view_queries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool pons__co_sleeping(const pons_companion *c)
{
    return c->world.current.what && strcmp(c->world.current.what->id, "sleep") == 0;
}

// In the morning's window, and for whoever sleeps from the minute on when sleep was to end.
bool pons__co_is_morning(const pons_companion *c)
{
    return (pons__co_sleeping(c) && c->minute >= c->world.current.until) ||
           pons__co_in_window(c->view, "morning", c->seed, c->minute, NULL);
}

int64_t pons__co_ends_at(const pons_companion *c, const pons__co_activity *a)
{
    int64_t end = c->minute + a->minutes, closes;
    if (a->commute) {
        end = c->minute + pons__co_commute_min(c->view, c->seed, c->minute);
    } else if (*a->until_window && !a->until_closes) {
        end = pons__co_window_opens(c->view, a->until_window, c->seed, c->minute);
    } else if (*a->until_window) {
        end = c->minute;
        (void)pons__co_in_window(c->view, a->until_window, c->seed, c->minute, &end);
    }
    // Nothing that needs a place goes on when the place has closed.
    const pons__co_place *place =
        *a->place && !*a->to ? pons__co_place_of(c->view, a->place) : NULL;
    if (place && pons__co_place_open(c->view, place, c->minute, &closes) && closes < end) {
        end = closes;
    }
    return end;
}

// ---- messages -----------------------------------------------------------------------------------

bool pons__co_is_urgent(const pons_companion *c, const pons__co_message *m)
{
    const pons_value *rules = pons_get(c->view->doc, "messages");
    bool urgent = m->urgent;
    pons_each(s, pons_get(rules, "urgent_from")) {
        urgent = urgent || (m->from && strcasecmp(m->from, json_string_value(s)) == 0);
    }
    pons_each(s, pons_get(rules, "urgent_words")) {
        urgent = urgent || strcasestr(m->text, json_string_value(s));
    }
    return urgent;
}

// Idle, and in anything that the model might be asked during, messages are read as they come.
// Sleep, lessons and the like only give way to what the world view allows.
const pons__co_message *pons__co_message_that_may(const pons_companion *c, char *ret_reason,
                                                  size_t cap)
{
    const pons__co_activity *now = c->world.current.what;
    *ret_reason = '\0';
    if (now && !now->interruptible) {
        snprintf(ret_reason, cap, "%s cannot be ended early", now->id);
        return NULL;
    }
    const bool any = !now || now->ask_model || c->view->interrupt == 'a';
    for (size_t i = 0; i < c->world.n_messages; i++) {
        if (any || (c->view->interrupt == 'u' && pons__co_is_urgent(c, &c->world.messages[i]))) {
            return &c->world.messages[i];
        }
    }
    if (c->world.n_messages > 0) {
        snprintf(ret_reason, cap, "%s, and the message %s", now->id,
                 c->view->interrupt == 'n' ? "waits, as all do" : "is not urgent");
    }
    return NULL;
}

void pons__co_message_fini(pons__co_message *m)
{
    free(m->text);
    free(m->from);
    *m = (pons__co_message){0};
}
