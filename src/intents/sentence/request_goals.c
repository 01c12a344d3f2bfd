// request_goals.c - from one request to goals.
//
// Each verb has what it needs: somewhere, a thing, a time. What it has beside that makes it no request that is understood.
#include "intents/sentence/goal_add.h"
#include "intents/sentence/negation.h"
#include "intents/sentence/request.h"
#include "intents/sentence/world_names.h"

#include <string.h>

unsigned pons__request_slots(const pons__request *q)
{
    const pons__capture *c = &q->c;
    const bool has[] = {
        c->zones_n > 0 || c->everywhere, c->object, c->place, c->nth != 0, c->has_seconds, q->me};
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof has / sizeof *has; i++) {
        bits |= has[i] ? 1U << i : 0;
    }
    return bits;
}

static int add(pons__reader *r, pons__intent intent, const pons_value *skill)
{
    const pons__pattern as = {.means = {.intent = intent, .skill = skill}};
    const pons__span wish = {r->t[r->c.first].lo, r->t[r->at > 0 ? r->at - 1 : 0].hi};
    const size_t n = json_array_size(r->s->goals);
    if (r->q.c.has_seconds && intent != INTENT_WAIT) {
        return 0;
    }
    int rc = pons__goals_add(r->s, &as, &r->q.c, wish);
    // "Back, come back", "I want the apple, bring it": one of them
    const pons_value *goals = r->s->goals;
    if (rc == PONS_OK && n > 0 && r->q.times < 2 && json_array_size(goals) == n + 1) {
        if (pons__goals_equal(json_array_get(goals, n - 1), json_array_get(goals, n))) {
            json_array_remove(r->s->goals, n);
        }
    }
    if (rc == PONS_OK && r->q.returns && intent == INTENT_GO_TO) { // 来回跑两趟
        const pons__pattern back = {.means = {.intent = INTENT_COME_BACK}};
        rc = pons__goals_add(r->s, &back, &r->q.c, wish);
    }
    rc = rc == PONS_OK && r->q.times > 1 ? pons__goals_repeat(r->s, n, r->q.times) : rc;
    return rc == PONS_OK ? 1 : rc;
}

// "Do that twice", 一共三次: all that was wished for so far, so often. The same things said one by one are counted once.
static int add_times(pons__reader *r)
{
    pons_value *goals = r->s->goals;
    bool same = true;
    pons_each(goal, goals) {
        same = same && pons__goals_equal(goal, json_array_get(goals, 0));
    }
    if (json_array_size(goals) == 0 || r->q.times == 0) {
        return 0;
    }
    pons__goals_drop(goals, same && r->q.total ? 1 : json_array_size(goals));
    const int rc = pons__goals_repeat(r->s, 0, r->q.times + r->q.more);
    return rc == PONS_OK ? 1 : rc;
}

// The skill that looks around, where there is one.
static int add_look(pons__reader *r)
{
    pons_each(skill, pons_get(r->s->world, "skills")) {
        if (strcmp(pons_get_str(skill, "name", ""), "look") == 0) {
            return add(r, INTENT_DO, pons_get(skill, "name"));
        }
    }
    return 0;
}

// Where a thing is brought: a place, a zone, or "there", which was stated before. false: there are too many.
static bool find_place(pons__reader *r)
{
    pons__capture *c = &r->q.c;
    const bool zone = c->zones_n == 1 && !r->q.zone_is_source;
    if (c->has_seconds || c->zones_n > 1 || c->everywhere || (c->place && zone)) {
        return false;
    }
    c->place = zone ? c->zone[0] : c->place;
    c->zones_n = 0;
    c->place = !c->place && r->q.there ? r->stated_zone : c->place;
    return c->place || !(r->q.there || r->q.away);
}

static int add_bring(pons__reader *r, pons__intent intent)
{
    pons__request *q = &r->q;
    pons__capture *c = &q->c;
    const bool guide =
        intent == INTENT_BRING && q->me; // "take me to the kitchen", "give me five minutes"
    c->object = c->object ? c->object : r->s->last;
    if (!c->object && guide && (c->zones_n > 0 || c->has_seconds)) {
        return add(r, c->zones_n > 0 ? INTENT_GO_TO : INTENT_WAIT, NULL);
    }
    // "The cup and bring the apple" are two.
    const bool two = r->thing && r->joined && c->object != r->s->last;
    if (!c->object || two || !find_place(r) || (intent == INTENT_PUT && !c->place)) {
        return 0;
    }
    intent = intent == INTENT_PICK && c->place ? INTENT_BRING : intent;
    int rc = add(r, intent, NULL);
    for (size_t i = 0; rc == 1 && i < q->also_n; i++) {
        c->object = q->also[i];
        rc = add(r, intent, NULL);
    }
    return rc;
}

// A request without a verb: "the kitchen, please", "the apple for me", "the cup to the study".
static int add_bare(pons__reader *r)
{
    const pons__request *q = &r->q;
    const unsigned has = pons__request_slots(q);
    const bool to = q->c.zones_n == 1 && q->before == WORD_TO;
    if (has & SLOT_BIT_PLACE) { // "the apple in the basket"; 苹果在篮子里 is a statement
        return r->s->zh ? 0 : add_bring(r, INTENT_PUT);
    }
    if (has & SLOT_BIT_THING || (r->thing && to)) {
        return q->me || to ? add_bring(r, INTENT_BRING) : 0;
    }
    if (q->light || r->thing || q->all) {
        return 0;
    }
    if (has & SLOT_BIT_ZONES && q->before != WORD_WITHIN) {
        return add(r, INTENT_GO_TO, NULL);
    }
    return (q->me || r->waits) && q->c.has_seconds ? add(r, INTENT_WAIT, NULL) : 0;
}

static int add_go(pons__reader *r)
{
    pons__capture *c = &r->q.c;
    if (r->q.there && c->zones_n == 0 && r->stated_zone) {
        c->zone[c->zones_n++] = r->stated_zone;
    }
    const bool there = c->zones_n > 0 || c->everywhere;
    if (r->q.me && !there && !c->object) { // 来找我
        return add(r, INTENT_COME_BACK, NULL);
    }
    if (r->q.thing_first && c->zones_n == 1) { // "run the apple over to the study"
        return add_bring(r, INTENT_BRING);
    }
    return there && !c->object && !c->has_seconds ? add(r, INTENT_GO_TO, NULL) : 0;
}

// What was stated to be somewhere or lost, where nothing is wished for yet: "I lost my cup, look in the study".
static const pons__name *lost_thing(const pons__reader *r)
{
    const pons__name *lost = r->thing ? r->s->last : r->stated_thing;
    return json_array_size(r->s->goals) == 0 ? lost : NULL;
}

static int add_look_for(pons__reader *r)
{
    pons__capture *c = &r->q.c;
    const bool lost = lost_thing(r) && c->object == lost_thing(r);
    if (c->zones_n == 0 && r->stated_zone && (lost || r->q.there)) {
        c->zone[c->zones_n++] = r->stated_zone;
    }
    return c->object && c->zones_n <= 1 ? add(r, INTENT_LOOK_FOR, NULL) : 0;
}

// "There's a noise in the kitchen, go and check": what was stated is looked at, where nothing else is said.
static void take_stated_zones(pons__reader *r)
{
    pons__capture *c = &r->q.c;
    if (json_array_size(r->s->goals) == 0 && c->zones_n == 0 && !c->everywhere && !c->object) {
        memcpy(c->zone, r->stated_zones.zone, sizeof c->zone);
        c->zones_n = r->stated_zones.zones_n;
    }
}

static int add_look_or_find(pons__reader *r)
{
    pons__capture *c = &r->q.c;
    if (!lost_thing(r)) {
        take_stated_zones(r);
    }
    const bool rooms = c->zones_n > 0 || c->everywhere, finds = r->q.verb == WORD_FIND;
    const pons_value *last = json_array_get(r->s->goals, json_array_size(r->s->goals) - 1);
    c->object = c->object ? c->object : lost_thing(r);
    if (!c->object && !rooms && !r->q.it &&
        strcmp(pons_get_str(last, "intent", ""), "patrol") == 0) {
        return 1; // "go round, and make sure all is well"
    }
    if (finds && !c->object && (!rooms || r->q.it)) {
        c->object = r->s->last;
    }
    if (c->object || (finds && !rooms)) {
        return add_look_for(r);
    }
    if (r->q.went && !c->everywhere) { // 去厨房看看
        return add(r, INTENT_GO_TO, NULL);
    }
    return rooms ? add(r, INTENT_PATROL, NULL) : add_look(r);
}

static int add_plain(pons__reader *r)
{
    const pons__capture *c = &r->q.c;
    if (r->q.verb == WORD_PATROL && !lost_thing(r)) {
        take_stated_zones(r);
    }
    const bool zones = c->zones_n > 0 || c->everywhere;
    switch (r->q.verb) {
    case WORD_PATROL:
        if (c->object || (!zones && lost_thing(r))) { // "is the cup in the study? go and check"
            return add_look_or_find(r);
        }
        return !c->object && !c->has_seconds ? add(r, INTENT_PATROL, NULL) : 0;
    case WORD_CHARGE:
        return !c->object && !zones ? add(r, INTENT_CHARGE, NULL) : 0;
    case WORD_WAIT:
        if (c->object) {
            return 0;
        }
        return add(r, c->has_seconds ? INTENT_WAIT : INTENT_GO_TO, NULL);
    case WORD_REPEAT:
        return !c->object && !zones && c->nth <= 0 ? add(r, INTENT_REPEAT, NULL) : 0;
    default: // WORD_COME_BACK
        if (c->object || zones) {
            return c->object ? 0 : add_go(r);
        }
        return add(r, INTENT_COME_BACK, NULL);
    }
}

int pons__request_add(pons__reader *r)
{
    const bool again = r->q.times > 0 && !(pons__request_slots(&r->q) & ~(unsigned)SLOT_BIT_ME);
    const bool bare =
        r->q.verb == WORD_NONE || r->q.verb == WORD_REPEAT || r->q.verb == WORD_GO; // 就这样来五遍
    if (again && (r->q.total || (bare && json_array_size(r->s->goals) > 0))) {
        return add_times(r);
    }
    switch (r->q.verb) {
    case WORD_NONE:
        return add_bare(r);
    case WORD_GO:
        return add_go(r);
    case WORD_BRING:
    case WORD_WISH:
        return add_bring(r, INTENT_BRING);
    case WORD_PUT:
        return add_bring(r, INTENT_PUT);
    case WORD_PICK:
        return add_bring(r, INTENT_PICK);
    case WORD_FIND:
    case WORD_LOOK:
        return add_look_or_find(r);
    default:
        return add_plain(r);
    }
}

// Goals that are not wanted: what the request would be.
static int add_denied(pons__reader *r)
{
    pons__parse_state *s = r->s;
    pons_value *wanted = s->goals;
    if (!(s->goals = json_array())) {
        s->goals = wanted;
        return pons__parse_no_memory(s->err);
    }
    const int rc = pons__request_add(r);
    pons_value *unwanted = s->goals;
    s->goals = wanted;
    if (rc == 1) {
        pons__not_wanted(s, unwanted, r->q.cancels);
    }
    json_decref(unwanted);
    return rc;
}

// A task by its place: "the second", "what you just did".
static int cancel_task(pons__reader *r, bool slots)
{
    const pons__request *q = &r->q;
    r->s->nth = q->c.nth ? q->c.nth : -1;
    r->s->numbered = q->c.numbered;
    pons__keep_control(r->s, CONTROL_CANCEL);
    return slots ? 0 : 1;
}

static int cancel_all(pons__reader *r)
{
    const pons__request *q = &r->q;
    const bool it = q->it && !r->s->last; // "cancel that, …"
    const bool all = q->cancels && !q->denied && (q->all || q->tasks || q->c.everywhere || it);
    if (!all || (q->verb != WORD_NONE && q->verb != WORD_WAIT && q->verb != WORD_PUT)) {
        return 0;
    }
    r->s->control = CONTROL_CANCEL; // also behind a stop
    return 1;
}

// Whether something was wished of the thing that is meant; it is not wanted, then: "the apple is not needed", 苹果我看到了，不用找了.
static bool drops_all_of(pons__reader *r, bool slots)
{
    const pons__request *q = &r->q;
    const bool carries = q->verb == WORD_FIND || q->verb == WORD_BRING || q->verb == WORD_PICK;
    const pons__name *said = q->verb == WORD_NONE ? q->c.object : NULL;
    const pons__name *thing = !slots && carries ? r->s->last : said;
    pons_autovalue unwanted = json_array();
    pons_each(goal, r->s->goals) {
        if (thing && strcmp(pons_get_str(goal, "object", ""), thing->id) == 0) {
            json_array_append((json_t *)unwanted, (json_t *)goal);
        }
    }
    pons__not_wanted(r->s, unwanted, q->cancels);
    return json_array_size(unwanted) > 0;
}

int pons__request_add_unwanted(pons__reader *r)
{
    pons__request *q = &r->q;
    const bool slots = q->c.zones_n > 0 || q->c.object, bare = q->verb == WORD_NONE;
    const bool plain =
        q->verb == WORD_PATROL || q->verb == WORD_CHARGE || q->verb == WORD_COME_BACK;
    if (!q->c.nth && bare && !slots && r->nth) { // "the second, cancel it"
        q->c.nth = r->nth;
        r->nth = 0;
    }
    if (q->c.nth || (q->verb == WORD_REPEAT && !slots)) {
        return cancel_task(r, slots);
    }
    if (drops_all_of(r, slots)) {
        return 1;
    }
    if (!slots && !plain) {
        return cancel_all(r);
    }
    if (bare && q->c.everywhere) { // all but that
        return 0;
    }
    q->verb = bare && q->c.object ? WORD_BRING : q->verb;
    return add_denied(r);
}
