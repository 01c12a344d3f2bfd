// object_search.c - the goal `find`: where a thing may be, in which order, and what is done there.
//
//     order ...... where it was seen last; then by likelihood ÷ way: likely is where things of its kind were found, as
//                  often as they were, and every zone a little; zones that the person named are the only ones
//     in a zone .. go there, turn round, look; then the zone is among the visited ones of the goal, which the checkpoint
//                  keeps: a brain that died goes on behind it
//     found ...... it was seen since the goal began, or just before; where is said, and the goal is met
//     not found .. no zone is left that can be reached, or no time (limits.find_s): the rules give up, and say where it was looked
//
// Each step is a call of a skill like any other; a deadline and an empty battery end or delay it as any task. The brain's loop thread.
#include "brain/goals/object_search.h"

#include "brain/goals/seen_objects.h"
#include "pons/language.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_TARGET_M 0.6 // so near a zone's target is in the zone
#define LEAST       0.2 // likelihood of a zone where nothing of the kind was found yet
#define SETTLE_S    2.0 // after the last zone, for the memory
#define NEAR_M      1.0 // to every way: what is near is not infinitely better

enum {
    ZONES_MAX = 64,
    FRESH_MS =
        30000, // what was seen so short a time before counts: a memory that is told all the time writes no sooner
};

bool pons__is_object_search(const pons__goal *goal)
{
    return strcmp(goal->intent, "find") == 0;
}

// ---- the order ----------------------------------------------------------------------------------

typedef struct place {
    const pons__zone *zone;
    pons__pose at;
    double likely;
} place;

// How likely it is there, by what was seen: in which zones, how often, and what is believed now.
static double likely(const pons_value *seen, const char *zone)
{
    double sum = LEAST;
    pons_each(thing, seen) {
        const double times = fmin(pons_get_num(pons_get(thing, "zones"), zone, 0.0), 10.0);
        const bool here = strcmp(pons_get_str(thing, "zone", ""), zone) == 0;
        sum += 0.1 * times + (here ? 10.0 * pons_get_num(thing, "belief", 0.0) : 0.0);
    }
    return sum;
}

static size_t places_of(const pons_brain *b, const pons__goal *goal, place *ret)
{
    pons_autovalue seen = pons__seen_find(b, goal->object, 0);
    size_t n = 0;
    for (size_t i = 0; i < b->port.zones.n && n < ZONES_MAX; i++) {
        const pons__zone *zone = b->port.zones.at[i];
        const pons__pose at = pons__pose_of(zone->target);
        const bool meant = *goal->zone ? strcmp(goal->zone, zone->id) == 0
                                       : !goal->zones || pons__has(goal->zones, zone->id);
        if (meant && (at.known || *goal->zone)) {
            ret[n++] = (place){.zone = zone, .at = at, .likely = likely(seen, zone->id)};
        }
    }
    return n;
}

static pons_value *order_of(const pons_brain *b, const pons__goal *goal)
{
    place all[ZONES_MAX];
    size_t n = places_of(b, goal, all);
    pons__pose from = pons__pose_of(b->seen ? b->seen->pose : NULL);
    pons_value *order = json_array();
    while (n > 0) {
        size_t best = 0;
        double most = -1.0;
        for (size_t i = 0; i < n; i++) {
            const double way_m =
                from.known ? hypot(all[i].at.x - from.x, all[i].at.y - from.y) : 0.0;
            const double worth = all[i].likely / (way_m + NEAR_M);
            best = worth > most ? i : best;
            most = fmax(most, worth);
        }
        json_array_append_new(order, json_string(all[best].zone->id));
        from = all[best].at;
        all[best] = all[--n];
    }
    return order;
}

void pons__object_search_begin(const pons_brain *b, pons__goal *goal)
{
    goal->since_ms = pons__wall_ms(b) - FRESH_MS;
    pons__json(&goal->zones, order_of(b, goal));
}

// ---- the steps ----------------------------------------------------------------------------------

static bool has_time(const pons_brain *b, const pons__goal *goal)
{
    const double passed_s = (double)(pons__wall_ms(b) - goal->since_ms - FRESH_MS) / 1000.0;
    return goal->since_ms <= 0 || passed_s < b->rules.find_s;
}

// The zone that is searched now; NULL: none is left.
static const pons__zone *zone_of(const pons_brain *b, const pons__goal *goal)
{
    pons_each(id, has_time(b, goal) ? goal->zones : NULL) {
        const char *name = json_is_string(id) ? json_string_value(id) : "";
        const pons__zone *zone = pons__zone_find(b, name);
        if (zone && !pons__has(goal->visited, name) && !pons_get(b->unreachable, zone->id)) {
            return zone;
        }
    }
    return NULL;
}

static bool is_in(const pons_brain *b, const pons__zone *zone)
{
    const pons__pose at = pons__pose_of(b->seen && pons__place_sure(b) ? b->seen->pose : NULL);
    const pons__pose to = pons__pose_of(zone->target);
    const bool near = to.known && hypot(at.x - to.x, at.y - to.y) < AT_TARGET_M;
    return at.known && (near || (!to.known && pons__zone_contains(zone, &at)));
}

static pons__means *says(const pons_brain *b, pons__means_fn means_for, const pons__goal *goal,
                         const pons_value *thing)
{
    const bool zh = pons_language_chinese(goal->text);
    pons_autobuf text = PONS_BUF_INIT;
    pons_buf_printf(&text, pons_in(zh, "I found the %s: it is in "),
                    pons__seen_called(b, goal->object, zh));
    pons__seen_place(b, thing, zh, &text);
    pons_buf_str(&text, zh ? "。" : ".");
    return text.failed ? NULL : means_for(b, "say", "text", pons_string(text.data));
}

static pons_value *found_of(const pons_brain *b, const pons__goal *goal)
{
    pons_autovalue seen = pons__seen_find(b, goal->object, goal->since_ms);
    pons_each(thing, seen) {
        const char *zone = pons_get_str(thing, "zone", "");
        if (pons_get_bool(thing, "known", false) &&
            (!*goal->zone || strcmp(goal->zone, zone) == 0)) {
            return (pons_value *)(uintptr_t)pons_value_ref(thing);
        }
    }
    return NULL;
}

pons__means *pons__object_search_next(const pons_brain *b, pons__means_fn means_for,
                                      const pons__goal *goal)
{
    pons_autovalue found = found_of(b, goal);
    pons__means *m = found ? says(b, means_for, goal, found) : NULL;
    if (found) {
        return m;
    }
    const pons__zone *zone = zone_of(b, goal);
    if (!zone && (goal->reached || json_array_size(goal->visited) == 0)) {
        return NULL;
    }
    if (!zone) { // the memory is a moment behind the eye
        m = means_for(b, "wait", "seconds", json_real(SETTLE_S));
    } else if (!is_in(b, zone)) {
        m = means_for(b, "go_to", "zone", json_string(zone->id));
    } else if (!goal->reached) {
        m = means_for(b, "look_round", NULL, NULL);
    }
    m = m || !zone ? m : means_for(b, "look", NULL, NULL);
    if (m) {
        pons__set_text(&m->intent, goal->intent);
        pons__set_textf(&m->says, "%s for %s in %s", "look", goal->object,
                        zone ? zone->id : "what was just seen");
        pons__json(&m->test, NULL);
        m->each = true;
    }
    return m;
}

bool pons__object_search_met(const pons_brain *b, pons__means_fn means_for, const pons__goal *goal)
{
    pons_autovalue found = goal->done ? NULL : found_of(b, goal);
    PONS__AUTO(means) say = found ? says(b, means_for, goal, found) : NULL;
    return goal->done || (found && !say);
}

void pons__object_search_ended(const pons_brain *b, pons__means_fn means_for, pons__goal *goal,
                               const char *skill)
{
    pons_autovalue found = found_of(b, goal);
    const pons__zone *zone = zone_of(b, goal);
    PONS__AUTO(means) say = means_for(b, "say", "text", json_string("?"));
    PONS__AUTO(means) look = means_for(b, "look", NULL, NULL);
    PONS__AUTO(means) round = means_for(b, "look_round", NULL, NULL);
    const bool turned = round && strcmp(round->skill, skill) == 0;
    if (found && say && strcmp(say->skill, skill) == 0) {
        goal->done = true;
    } else if (!zone) {
        goal->reached = true;
    } else if (zone && is_in(b, zone)) {
        const bool looked =
            !look ? turned : strcmp(look->skill, skill) == 0 && (goal->reached || !round);
        goal->reached = turned;
        if (looked) {
            pons_value *visited =
                goal->visited ? json_copy((pons_value *)(uintptr_t)goal->visited) : json_array();
            json_array_append_new(visited, json_string(zone->id));
            pons__json(&goal->visited, visited);
            goal->reached = false;
        }
    }
}
