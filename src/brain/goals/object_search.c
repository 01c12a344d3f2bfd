// object_search.c - goals of looking: `find` a thing, `see` what is here or in a zone, `look_at` a place or a thing.
//
//     find ....... where it was seen last; then by likelihood ÷ way: likely is where things of its kind were found, as
//                  often as they were, and every zone a little; zones that the person named are the only ones. In a zone
//                  from as many places as together see all of it (pons/viewpoints.h), its target first
//     see ........ the zone, if one is named
//     look_at .... the nearest pose from which it is ahead, in reach and hidden by nothing
//
//     at a place . find turns round; then it looks, and the place is among the visited ones of the goal, which the
//                  checkpoint keeps: a brain that died goes on behind it
//     found ...... it was seen since the goal began, or just before: what runs is stopped, where is said, and the goal is met
//     not found .. no place is left that can be reached, or no time (limits.find_s): the rules give up, and say where it was
//                  looked; where the wish was a question, no is the answer, and it is met
//     see, look_at what was seen while it looked is said
//
// Each step is a call of a skill like any other; a deadline and an empty battery end or delay it as any task. The brain's loop thread.
#include "brain/goals/object_search.h"

#include "brain/goals/seen_objects.h"
#include "pons/language.h"
#include "pons/viewpoints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_TARGET_M 0.6 // so near a zone's target, or a place to look from, is there
#define AT_YAW_RAD  0.3
#define LEAST       0.2 // likelihood of a zone where nothing of the kind was found yet
#define SETTLE_S    2.0 // after the last zone, for the memory
#define NEAR_M      1.0 // to every way: what is near is not infinitely better
#define LOOK_S      3.0 // for which it looks at what is to be told
#define HEIGHT_M    0.5 // of what is looked at, where nobody knows

enum {
    ZONES_MAX = 64,
    VIEWS_MAX = 4,   // of a zone
    AGAIN_MS = 1000, // what is searched may come into view on the way
    FRESH_MS =
        30000, // what was seen so short a time before counts: a memory that is told all the time writes no sooner
};

static bool is_find(const pons__goal *goal)
{
    return strcmp(goal->intent, "find") == 0;
}

bool pons__is_object_search(const pons__goal *goal)
{
    return is_find(goal) || strcmp(goal->intent, "see") == 0 ||
           strcmp(goal->intent, "look_at") == 0;
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

static double radius_of(const pons_brain *b)
{
    return pons_get_num(pons_get(b->port.hello, "limits"), "radius_m", NAN);
}

static double milli(double v)
{
    return round(v * 1e3) / 1e3;
}

// A place to look from: its name in `zones`, and in `views` where it is not a zone's target.
static void add_view(pons__goal *goal, pons_value *order, const char *name, const char *zone,
                     const pons_pose2 *at, bool yaw)
{
    json_array_append_new(order, json_string(name));
    pons__json(&goal->views,
               pons__with(goal->views, name,
                          pons_object("zone", json_string(zone), "x", json_real(milli(at->x)), "y",
                                      json_real(milli(at->y)), "yaw",
                                      yaw ? json_real(milli(at->yaw)) : NULL, NULL)));
}

// Its target, and what else is needed to see all of it.
static void add_views(const pons_brain *b, pons__goal *goal, pons_value *order, const place *p)
{
    pons_pose2 at[VIEWS_MAX];
    size_t n = 0;
    pons_error none = PONS_ERROR_INIT;
    const pons_pose2 first = {.x = p->at.x, .y = p->at.y};
    json_array_append_new(order, json_string(p->zone->id));
    if (pons_get(b->opts.map, "map")) {
        pons_zone_viewpoints(b->opts.map, radius_of(b), p->zone->polygon,
                             p->at.known ? &first : NULL, at, VIEWS_MAX, &n, &none);
    }
    for (size_t i = p->at.known; i < n; i++) {
        char name[128];
        snprintf(name, sizeof name, "%.80s (%zu)", p->zone->id, i + 1);
        add_view(goal, order, name, p->zone->id, &at[i], false);
    }
}

static pons_value *order_of(const pons_brain *b, pons__goal *goal)
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
        add_views(b, goal, order, &all[best]);
        from = all[best].at;
        all[best] = all[--n];
    }
    return order;
}

// Where that is which is to be looked at; false: nobody knows.
static bool target_of(const pons_brain *b, const pons__goal *goal, double ret[3])
{
    const pons__zone *zone = *goal->zone ? pons__zone_find(b, goal->zone) : NULL;
    pons_autovalue seen = *goal->object ? pons__seen_find(b, goal->object, 0) : NULL;
    const pons_value *mapped = pons_get(b->port.greeting.as.hello.world, "objects");
    const pons_value *best = json_array_get(seen, 0);
    const pons_value *at =
        pons_get(best ? best : pons__find(mapped, "id", goal->object), "position");
    const pons__pose to = pons__pose_of(zone ? zone->target : goal->pose);
    ret[0] = to.known ? to.x : json_number_value(json_array_get(at, 0));
    ret[1] = to.known ? to.y : json_number_value(json_array_get(at, 1));
    ret[2] = to.known ? HEIGHT_M : json_number_value(json_array_get(at, 2));
    return to.known || json_array_size(at) >= 2;
}

static int look_at_begin(const pons_brain *b, pons__goal *goal, pons_error *err)
{
    const pons__pose here = pons__pose_of(pons__place_now(b));
    const char *zone = *goal->zone ? goal->zone : "that";
    const char *what = *goal->object ? goal->object : zone;
    const pons_pose2 from = {here.x, here.y, here.yaw};
    double at[3];
    pons_pose2 view = from;
    if (!target_of(b, goal, at)) {
        return pons_error_set(err, PONS_ENOTFOUND, "brain", "nobody knows where %.64s is", what);
    }
    if (!here.known) {
        return pons_error_set(err, PONS_EAGAIN, "brain",
                              "the robot is not sure where it is: it cannot turn to %.64s", what);
    }
    view.yaw = atan2(at[1] - here.y, at[0] - here.x);
    const int rc = pons_get(b->opts.map, "map")
                       ? pons_viewpoint_of(b->opts.map, radius_of(b), &from, at, &view, err)
                       : PONS_OK; // without a map it can turn
    if (rc >= 0) {
        pons_value *order = json_array();
        add_view(goal, order, what, "", &view, true);
        pons__json(&goal->zones, order);
    }
    return rc;
}

int pons__object_search_begin(const pons_brain *b, pons__goal *goal, pons_error *err)
{
    goal->since_ms = pons__wall_ms(b) - FRESH_MS;
    pons__json(&goal->views, NULL);
    if (strcmp(goal->intent, "look_at") == 0) {
        return look_at_begin(b, goal, err);
    }
    if (is_find(goal)) {
        pons__json(&goal->zones, order_of(b, goal));
    } else if (*goal->zone) {
        pons__json(&goal->zones, json_pack("[s]", goal->zone));
    }
    return PONS_OK;
}

// ---- the steps ----------------------------------------------------------------------------------

static bool has_time(const pons_brain *b, const pons__goal *goal)
{
    const double passed_s = (double)(pons__wall_ms(b) - goal->since_ms - FRESH_MS) / 1000.0;
    return goal->since_ms <= 0 || passed_s < b->rules.find_s;
}

typedef struct view {       // a place to look from
    const char *name;       // NULL: none
    const pons__zone *zone; // NULL: it is in none
    const pons_value *pose; // NULL: the zone's target
} view;

// Where it is to look from now; none: none is left.
static view view_of(const pons_brain *b, const pons__goal *goal)
{
    pons_each(id, has_time(b, goal) ? goal->zones : NULL) {
        const char *name = json_is_string(id) ? json_string_value(id) : "";
        const pons_value *pose = pons_get(goal->views, name);
        const pons__zone *zone = pons__zone_find(b, pose ? pons_get_str(pose, "zone", "") : name);
        if ((zone || pose) && !pons__has(goal->visited, name) &&
            !(zone && pons_get(b->unreachable, zone->id))) {
            return (view){name, zone, pose};
        }
    }
    return (view){0};
}

static bool is_in(const pons_brain *b, const view *v)
{
    const pons__pose at = pons__pose_of(b->seen && pons__place_sure(b) ? b->seen->pose : NULL);
    const pons__pose to = pons__pose_of(v->pose ? v->pose : v->zone->target);
    const bool near = to.known && hypot(at.x - to.x, at.y - to.y) < AT_TARGET_M;
    const bool turned =
        !pons_get(v->pose, "yaw") || fabs(remainder(at.yaw - to.yaw, 2.0 * M_PI)) < AT_YAW_RAD;
    return at.known && ((near && turned) || (!to.known && pons__zone_contains(v->zone, &at)));
}

// What there is to say; empty: nothing yet.
static void answer_of(const pons_brain *b, const pons__goal *goal, const pons_value *found,
                      pons_buf *ret)
{
    const bool zh = pons_language_chinese(goal->text);
    if (found) {
        pons_buf_printf(ret,
                        pons_translate(zh, goal->asks ? "Yes, I see the %s: it is in "
                                                      : "I found the %s: it is in "),
                        pons__seen_called(b, goal->object, zh));
        pons__seen_place(b, found, zh, ret);
        pons_buf_str(ret, zh ? "。" : ".");
    } else if (*goal->finding) {
        pons_buf_str(ret, goal->finding);
    }
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

static pons__means *says(const pons_brain *b, pons__means_fn means_for, const pons__goal *goal)
{
    pons_autovalue found = is_find(goal) ? found_of(b, goal) : NULL;
    pons_autobuf text = PONS_BUF_INIT;
    answer_of(b, goal, found, &text);
    return text.len > 0 ? means_for(b, "say", "text", pons_string(text.data)) : NULL;
}

// Whether there is something to say, or nobody to say it.
static bool has_answer(const pons_brain *b, const pons__goal *goal)
{
    pons_autovalue found = is_find(goal) ? found_of(b, goal) : NULL;
    return found || *goal->finding;
}

static pons__means *way_to(const pons_brain *b, pons__means_fn means_for, const view *v)
{
    if (!v->pose) {
        return means_for(b, "go_to", "zone", json_string(v->zone->id));
    }
    pons_value *pose = json_copy((pons_value *)(uintptr_t)v->pose);
    json_object_del(pose, "zone");
    return means_for(b, "go_to", "pose", pose);
}

pons__means *pons__object_search_next(const pons_brain *b, pons__means_fn means_for,
                                      const pons__goal *goal)
{
    if (has_answer(b, goal)) {
        return says(b, means_for, goal);
    }
    const view v = view_of(b, goal);
    if (!v.name && (is_find(goal) ? goal->reached || json_array_size(goal->visited) == 0
                                  : json_array_size(goal->zones) > 0)) {
        return NULL;
    }
    pons__means *m = NULL;
    if (!v.name && is_find(goal)) { // the memory is a moment behind the eye
        m = means_for(b, "wait", "seconds", json_real(SETTLE_S));
    } else if (v.name && !is_in(b, &v)) {
        m = way_to(b, means_for, &v);
    } else if (is_find(goal) && !goal->reached) {
        m = means_for(b, "look_round", NULL, NULL);
    } else if (!is_find(goal)) {
        m = means_for(b, "look", "seconds", json_real(LOOK_S));
    }
    m = m || (!v.name && is_find(goal)) ? m : means_for(b, "look", NULL, NULL);
    if (m) {
        pons__set_text(&m->intent, goal->intent);
        if (is_find(goal)) {
            pons__set_textf(&m->says, "look for %s in %s", goal->object,
                            v.name ? v.name : "what was just seen");
        } else {
            pons__set_textf(&m->says, "look at %s", v.name ? v.name : "what is here");
        }
        pons__json(&m->test, NULL);
        m->each = true;
    }
    return m;
}

bool pons__object_search_met(const pons_brain *b, pons__means_fn means_for, const pons__goal *goal)
{
    PONS__AUTO(means) say = goal->done ? NULL : says(b, means_for, goal);
    return goal->done || (has_answer(b, goal) && !say);
}

bool pons__object_search_found(pons_brain *b)
{
    const pons__react *r = pons__inner_of(b);
    const int64_t now_ms = pons_now_ms(&b->opts.clock);
    const pons__goal *goal = NULL;
    for (size_t i = 0; r && r->task && !goal && i < r->task->goals.n; i++) {
        goal = ((pons__goal *)r->task->goals.at[i])->done ? NULL : r->task->goals.at[i];
    }
    if (!goal || !is_find(goal) || now_ms - b->searched_ms < AGAIN_MS) {
        return false;
    }
    b->searched_ms = now_ms;
    return has_answer(b, goal);
}

static void visit(pons__goal *goal, const char *name)
{
    pons_value *visited =
        goal->visited ? json_copy((pons_value *)(uintptr_t)goal->visited) : json_array();
    json_array_append_new(visited, json_string(name));
    pons__json(&goal->visited, visited);
    goal->reached = false;
}

void pons__object_search_no_way(const pons_brain *b, pons__goal *goal)
{
    const view v = view_of(b, goal);
    if (v.name && v.pose) {
        visit(goal, v.name);
    }
}

// No is the answer to a question.
static void tell_none(const pons_brain *b, pons__goal *goal)
{
    const bool zh = pons_language_chinese(goal->text);
    const pons__zone *zone = pons__zone_find(b, goal->zone);
    pons_autovalue there = pons_object("zone", json_string(zone ? zone->id : ""), NULL);
    const char *what = pons__seen_called(b, goal->object, zh);
    pons_autobuf text = PONS_BUF_INIT;
    pons_buf_str(&text, zh ? "没有，我看过" : "No, I looked in ");
    if (zone) {
        pons__seen_place(b, there, zh, &text);
    } else {
        pons_buf_str(&text, zh ? "各处" : "every room");
    }
    pons_buf_printf(&text, zh ? "，没看到%s。" : " and saw no %s.", what);
    pons__set_text(&goal->finding, text.data ? text.data : "-");
}

void pons__object_search_ended(const pons_brain *b, pons__means_fn means_for, pons__goal *goal,
                               const char *skill)
{
    PONS__AUTO(means) say = means_for(b, "say", "text", json_string("?"));
    PONS__AUTO(means) look = means_for(b, "look", NULL, NULL);
    PONS__AUTO(means) round = means_for(b, "look_round", NULL, NULL);
    const bool turned = round && strcmp(round->skill, skill) == 0;
    const bool looks = look && strcmp(look->skill, skill) == 0;
    const view v = view_of(b, goal);
    if (has_answer(b, goal) && say && strcmp(say->skill, skill) == 0) {
        goal->done = true;
    } else if (!is_find(goal)) {
        if (looks && (!v.name || is_in(b, &v))) {
            pons_autobuf text = PONS_BUF_INIT;
            pons__seen_tell(b, goal, &text);
            pons__set_text(&goal->finding, text.data ? text.data : "-");
        }
    } else if (!v.name) {
        goal->reached = true;
        if (goal->asks && json_array_size(goal->visited) > 0) {
            tell_none(b, goal);
        }
    } else if (is_in(b, &v)) {
        const bool looked = look ? looks && (goal->reached || !round) : turned;
        goal->reached = turned;
        if (looked) {
            visit(goal, v.name);
        }
    }
}
