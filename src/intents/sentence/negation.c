// negation.c - what is not wanted is taken out of what is.
#include "intents/sentence/negation.h"

#include "intents/sentence/goal_add.h"

#include <string.h>

void pons__not_wanted(pons__parse_state *s, const pons_value *not_wanted, bool cancels)
{
    pons_each(goal, not_wanted) {
        for (size_t i = json_array_size(s->goals); i-- > 0;) {
            if (pons__goals_equal(json_array_get(s->goals, i), goal)) {
                json_array_remove(s->goals, i);
            }
        }
    }
    if (json_array_size(not_wanted) > 0) {
        json_array_extend(s->undone, (json_t *)not_wanted);
        s->cancels = s->cancels || cancels;
        pons__keep_control(s, CONTROL_CANCEL);
    }
}

// Takes a zone out of the patrols among the goals; one without zones is none. Whether there was one.
static bool drop_zone(pons__parse_state *s, const char *zone)
{
    bool dropped = false;
    for (size_t i = json_array_size(s->goals); zone && i-- > 0;) {
        json_t *zones = (json_t *)pons_get(json_array_get(s->goals, i), "zones");
        for (size_t k = json_array_size(zones); k-- > 0;) {
            if (strcmp(json_string_value(json_array_get(zones, k)), zone) == 0) {
                json_array_remove(zones, k);
                dropped = true;
            }
        }
        if (zones && json_array_size(zones) == 0) {
            json_array_remove(s->goals, i);
        }
    }
    return dropped;
}

void pons__leave_out(pons__parse_state *s)
{
    bool any = false;
    for (size_t i = json_array_size(s->undone); i-- > 0;) {
        const pons_value *not_wanted = json_array_get(s->undone, i);
        bool dropped = drop_zone(s, pons_get_str(not_wanted, "zone", NULL));
        pons_each(zone, pons_get(not_wanted, "zones")) {
            dropped = drop_zone(s, json_string_value(zone)) || dropped;
        }
        if (dropped) {
            json_array_remove(s->undone, i);
            any = true;
        }
    }
    if (any && s->control == CONTROL_CANCEL && json_array_size(s->undone) == 0 && !s->nth) {
        s->control = CONTROL_NONE;
    }
}
