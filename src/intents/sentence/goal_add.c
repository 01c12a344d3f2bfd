// goal_add.c - from what was matched to goals.
#include "intents/sentence/goal_add.h"

#include "intents/sentence/parse_messages.h"
#include "intents/sentence/world_names.h"
#include "pons/language.h"

#include <string.h>

static pons_value *source_text(const pons__parse_state *s, pons__span w)
{
    pons__span o = pons__source_span(s, w);
    return json_stringn(s->text + o.lo, o.hi - o.lo);
}

static int ambiguous(const pons__parse_state *s, const pons__name *n)
{
    return pons_error_set(s->err, PONS_EINVAL, "rules",
                          pons_translate(s->zh, "\"%s\" may be %s or %s; use the name of one"),
                          n->s, n->id, n->other_id);
}

static int too_many(const pons__parse_state *s)
{
    return pons_error_set(s->err, PONS_EINVAL, "rules",
                          pons_translate(s->zh, "more than %zu goals in one sentence"),
                          s->r->goals_max);
}

int pons__goals_repeat(pons__parse_state *s, size_t kept, size_t times)
{
    const size_t n = json_array_size(s->goals) - kept;
    if (kept + n * times > s->r->goals_max) {
        return too_many(s);
    }
    for (size_t i = n; i < n * times; i++) {
        json_array_append(s->goals, json_array_get(s->goals, kept + i % n));
    }
    return PONS_OK;
}

int pons__goal_add(pons__parse_state *s, pons__intent intent, pons_value *slots, pons__span wish)
{
    if (json_array_size(s->goals) >= s->r->goals_max) {
        json_decref(slots);
        return too_many(s);
    }
    pons_value *goal = pons_object("intent", json_string(pons__intent_word(intent)), NULL);
    if (!goal || json_object_update_new(goal, slots) != 0 ||
        json_object_set_new(goal, "text", source_text(s, wish)) != 0 ||
        json_array_append(s->goals, goal) != 0) {
        json_decref(goal);
        return pons__parse_no_memory(s->err);
    }
    json_decref(goal);
    return PONS_OK;
}

void pons__goals_drop(pons_value *goals, size_t kept)
{
    while (json_array_size(goals) > kept) {
        json_array_remove(goals, json_array_size(goals) - 1);
    }
}

bool pons__goals_equal(const pons_value *a, const pons_value *b)
{
    pons_autovalue as = json_copy((json_t *)a);
    json_object_set((json_t *)as, "text", (json_t *)pons_get(b, "text"));
    return json_equal(as, (json_t *)b);
}

static bool is_said(const pons__capture *c, const char *id)
{
    for (size_t i = 0; i < c->zones_n; i++) {
        if (strcmp(c->zone[i]->id, id) == 0) {
            return true;
        }
    }
    return false;
}

// Without a zone all zones of the world; what a person has named there (`named`) is a point, and no zone of it.
static int patrol_add(pons__parse_state *s, const pons__capture *c, pons__span wish)
{
    pons_value *zones = json_array();
    const pons_value *all = pons_get(s->world, "zones");
    const bool listed = c->zones_n > 0 && !c->everywhere;
    for (size_t i = 0; !listed && i < json_array_size(all); i++) {
        const pons_value *zone = json_array_get(all, i);
        const char *id =
            json_is_string(zone) ? json_string_value(zone) : pons_get_str(zone, "id", NULL);
        if (id && !is_said(c, id) && !pons_get_bool(zone, "named", false)) {
            json_array_append_new(zones, json_string(id));
        }
    }
    for (size_t i = 0; listed && i < c->zones_n; i++) {
        json_array_append_new(zones, json_string(c->zone[i]->id));
    }
    if (json_array_size(zones) == 0) {
        json_decref(zones);
        return pons_error_set(s->err, PONS_EINVAL, "rules",
                              pons_translate(s->zh, "no zones are known to patrol"));
    }
    return pons__goal_add(s, INTENT_PATROL, pons_object("zones", zones, NULL), wish);
}

void pons__keep_control(pons__parse_state *s, pons__control c)
{
    if (c != CONTROL_NONE && (s->control == CONTROL_NONE || c < s->control)) {
        s->control = c;
    }
}

static pons_value *id_of(const pons__name *n)
{
    return n ? json_string(n->id) : NULL;
}

static bool repeats_last(const pons__parse_state *s, pons__intent intent)
{
    const pons_value *had = json_array_get(s->goals, json_array_size(s->goals) - 1);
    return strcmp(pons_get_str(had, "intent", ""), pons__intent_word(intent)) == 0;
}

static int go_add(pons__parse_state *s, const pons__capture *c, pons__span wish)
{
    if (c->coords_n >= 2) {
        pons_value *yaw = c->coords_n > 2 ? json_real(c->coords[2]) : NULL;
        pons_value *pose = pons_object("x", json_real(c->coords[0]), "y", json_real(c->coords[1]),
                                       "yaw", yaw, NULL);
        return pons__goal_add(s, INTENT_GO_TO, pons_object("pose", pose, NULL), wish);
    }
    if (c->everywhere) {
        return patrol_add(s, c, wish);
    }
    // a list is a goal each; the last zone only, for "from A to B"
    int rc = PONS_OK;
    for (size_t i = 0; i < c->zones_n && rc == PONS_OK; i++) {
        const pons_value *had = json_array_get(s->goals, json_array_size(s->goals) - 1);
        if (repeats_last(s, INTENT_GO_TO) &&
            strcmp(pons_get_str(had, "zone", ""), c->zone[i]->id) == 0) {
            continue; // 去客厅去客厅
        }
        rc = pons__goal_add(s, INTENT_GO_TO, pons_object("zone", id_of(c->zone[i]), NULL), wish);
    }
    return rc;
}

// About a thing, a zone or a pose, whichever was said.
static int place_add(pons__parse_state *s, pons__intent intent, const pons__capture *c,
                     pons__span wish)
{
    const pons__name *zone = c->zones_n ? c->zone[0] : c->place;
    const pons__name *named = c->object ? c->object : zone;
    pons_value *pose = NULL;
    if (c->coords_n >= 2) {
        pose = pons_object("x", json_real(c->coords[0]), "y", json_real(c->coords[1]), NULL);
    }
    return pons__goal_add(
        s, intent,
        pons_object(named && named->object ? "object" : "zone", id_of(named), "pose", pose, NULL),
        wish);
}

static int wait_add(pons__parse_state *s, const pons__capture *c, pons__span wish)
{
    double seconds = c->has_seconds        ? c->seconds
                     : s->r->moments.n > 0 ? s->r->moment_s[s->r->moments.n - 1]
                                           : 1;
    if (!(seconds > 0) || seconds > s->r->wait_max_s) {
        return pons_error_set(
            s->err, PONS_EINVAL, "rules",
            pons_translate(s->zh, "cannot wait %g s; more than 0 and at most %g s"), seconds,
            s->r->wait_max_s);
    }
    const int rc = c->zones_n > 0 ? go_add(s, c, wish) : PONS_OK; // where it waits
    return rc < 0 ? rc
                  : pons__goal_add(s, INTENT_WAIT, pons_object("seconds", json_real(seconds), NULL),
                                   wish);
}

// The arguments of a phrase, its {"number": factor} replaced by what was said times the factor.
static pons_value *args_of(const pons_value *args, const pons__capture *c)
{
    pons_value *ret = json_object();
    pons_each_member(key, v, args) {
        const pons_value *factor = pons_get(v, "number");
        if (json_is_number(factor)) {
            json_object_set_new(ret, key, json_real(c->number * json_number_value(factor)));
        } else {
            json_object_set(ret, key, v);
        }
    }
    return ret;
}

// asked: it is answered from what is known, and nobody goes there. A robot that remembers what it sees searches.
static int look_add(pons__parse_state *s, const pons__capture *c, const pons_value *args,
                    pons__span wish)
{
    const bool asked = pons_get_bool(args, "asked", false);
    const pons__name *zone = c->zones_n > 0 ? c->zone[0] : NULL;
    const pons_value *had = json_array_get(s->goals, json_array_size(s->goals) - 1);
    pons_value *where = zone ? id_of(zone) : NULL;
    if (asked || !pons_get_bool(s->world, "remembers", false)) {
        const int rc = zone && !asked ? go_add(s, c, wish) : PONS_OK;
        if (rc != PONS_OK) {
            json_decref(where);
            return rc;
        }
        if (!zone && !asked && strcmp(pons_get_str(had, "intent", ""), "go_to") == 0) {
            where = pons_value_ref(pons_get(had, "zone")); // "go to the study and find the cup"
        }
        return pons__goal_add(s, INTENT_LOOK_FOR,
                              pons_object("object", id_of(c->object), "zone", where, NULL), wish);
    }
    return pons__goal_add(s, INTENT_FIND,
                          pons_object("object", id_of(c->object), "zone", where, "asks",
                                      pons_optional(pons_get(args, "asks")), NULL),
                          wish);
}

// "Get the apple and bring it to the study" is one way: what was only to be fetched is brought there.
static void drop_fetched(pons__parse_state *s, const pons__capture *c)
{
    const size_t n = json_array_size(s->goals);
    const pons_value *had = json_array_get(s->goals, n - 1);
    const char *intent = pons_get_str(had, "intent", "");
    const bool fetched = strcmp(intent, "bring") == 0 || strcmp(intent, "pick") == 0;
    if (n > 0 && c->object == s->last && fetched && !pons_get(had, "place") &&
        strcmp(pons_get_str(had, "object", ""), c->object->id) == 0) {
        json_array_remove(s->goals, n - 1);
    }
}

static const pons__name *of_two(const pons__capture *c)
{
    const pons__name *of = c->object && c->object->other_id ? c->object : NULL;
    of = c->place && c->place->other_id ? c->place : of;
    for (size_t i = 0; i < c->zones_n && !of; i++) {
        of = c->zone[i]->other_id ? c->zone[i] : NULL;
    }
    return of;
}

int pons__goals_add(pons__parse_state *s, const pons__pattern *p, const pons__capture *c,
                    pons__span wish)
{
    const pons__name *two = of_two(c);
    pons__capture with = *c; // "… and put it there", 拿起来放到那里
    if (two) {
        return ambiguous(s, two);
    }
    if (!c->object && p->means.intent == INTENT_PUT) {
        with.object = s->last;
        c = &with;
        if (!s->last) {
            return pons__not_understood(s, wish);
        }
    }
    s->last = c->object ? c->object : s->last;
    switch (p->means.intent) {
    case INTENT_GO_TO:
        return go_add(s, c, wish);
    case INTENT_BRING:
        drop_fetched(s, c);
        // fall through
    case INTENT_PUT:
    case INTENT_PICK:
    case INTENT_PUT_DOWN:
        return pons__goal_add(
            s, p->means.intent,
            pons_object("object", id_of(c->object), "place", id_of(c->place), NULL), wish);
    case INTENT_LOOK_FOR: // where it is looked for, and then whether it is there
        return look_add(s, c, p->means.args, wish);
    case INTENT_WHERE:
    case INTENT_SEE:
    case INTENT_LOOK_AT:
    case INTENT_STATE:
        return place_add(s, p->means.intent, c, wish);
    case INTENT_WAIT:
        return wait_add(s, c, wish);
    case INTENT_DO:
        return pons__goal_add(s, INTENT_DO,
                              pons_object("skill", pons_value_ref(p->means.skill), "args",
                                          args_of(p->means.args, c), NULL),
                              wish);
    case INTENT_SAY:
        return pons__goal_add(s, INTENT_SAY, json_object(), c->text);
    case INTENT_PATROL:
        return patrol_add(s, c, wish);
    case INTENT_CANCEL:
        s->nth = c->nth;
        s->numbered = c->numbered;
        pons__keep_control(s, CONTROL_CANCEL);
        return PONS_OK;
    default: // 回来回来
        return repeats_last(s, p->means.intent)
                   ? PONS_OK
                   : pons__goal_add(s, p->means.intent, json_object(), wish);
    }
}
