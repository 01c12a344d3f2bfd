// clause_reader.c - reads what no pattern has: clause by clause, by the meaning of the words.
//
// A sentence is tokens (tokens.h). A mark, "then" or "and" ends a clause, unless a list goes on. A clause is one of:
//
//     request      a verb and what it needs, and nothing left over. It becomes goals.
//     statement    somebody else does something, or something is so. It yields no goal; after "and" the
//                  subject is the same.
//     lead-in      neither verb nor name: "I'm thirsty", "sweetheart". It is dropped.
//     denied       what is not wanted. It is cancelled, as in negation.c.
//
// A question, a condition or reported speech yields no goal, and neither does a request with an unknown word: the function
// returns 0, and the person is asked.
//
// Within a request the verb may stand anywhere. A second verb is a part of the first ("go get"), takes its place, or begins
// the next request: `meetings` says which.
#include "intents/sentence/clause_reader.h"

#include "intents/sentence/negation.h"
#include "intents/sentence/request.h"

#include <string.h>

#define LEAD_IN_WORDS                                                                              \
    2 // unknown words of a lead-in that nobody is the subject of: a name for the robot
#define LEAD_IN_BYTES 12 // the same in Chinese

typedef pons__reader reader;
typedef pons__request request;
typedef pons__clause clause;

// ---- requests -----------------------------------------------------------------------------------

static bool is_empty(const request *q)
{
    return q->verb == WORD_NONE && !q->cancels && !q->denied &&
           !(pons__request_slots(q) & ~(unsigned)SLOT_BIT_ME);
}

static bool is_past(const clause *c)
{
    return c->past && !c->due;
}

// Whether a verb without anything around it says something before a wish: "go and", "wait, …", "I want a drink, …", 水开了.
static bool says_little(const request *q, const clause *c)
{
    const bool go = q->verb == WORD_GO, bare = q->verb == WORD_NONE;
    if (q->denied) { // "don't be silly, …"
        return (bare || go) && (c->unknown > 0 || c->others);
    }
    return (go && c->unknown == 0) || q->verb == WORD_WAIT || is_past(c) || q->verb == WORD_WISH;
}

static bool is_idle(reader *r)
{
    const request *q = &r->q;
    clause *c = &r->c;
    const bool waits = q->verb == WORD_WAIT;
    const unsigned has = pons__request_slots(q) & ~(waits ? (unsigned)SLOT_BIT_ME : 0U);
    const bool go = q->verb == WORD_GO && c->unknown == 0 && !q->denied && !r->joined; // "…, go!"
    if (has || q->cancels || !says_little(q, c) || (r->wished && !go)) {
        return false;
    }
    r->waits = r->waits || (waits && !c->asks && !c->others);
    c->others = c->others || c->unknown > 0;
    return true;
}

// Whether nobody is asked to do what the clause says; what it is about may be meant later.
static bool is_statement(const reader *r)
{
    const request *q = &r->q;
    const clause *c = &r->c;
    const bool unwanted = q->cancels || q->denied;
    return c->asks || (is_past(c) && !unwanted && q->verb != WORD_REPEAT) ||
           (c->others && !(q->c.nth && unwanted));
}

static int add_request(reader *r, bool unwanted)
{
    const bool misplaced =
        !unwanted && r->q.c.nth && r->q.verb != WORD_REPEAT; // "go to the second"
    if (misplaced) {
        return 0;
    }
    const int rc = unwanted ? pons__request_add_unwanted(r) : pons__request_add(r);
    r->thing = false;
    return rc;
}

static int use_request(reader *r)
{
    request *q = &r->q;
    const unsigned has = pons__request_slots(q);
    const bool unwanted = q->cancels || q->denied;
    const bool puts = q->verb == WORD_NONE || q->verb == WORD_PUT;
    r->c.any = true;
    r->c.verb = r->c.verb || q->verb != WORD_NONE || unwanted;
    r->s->last = q->c.object ? q->c.object : r->s->last;
    if (has == SLOT_BIT_THING && puts && !unwanted && !q->there) { // 苹果呢，拿给我
        r->thing = true;
        return 1;
    }
    if (has == SLOT_BIT_NTH && q->verb == WORD_NONE && !unwanted) { // "the second, cancel it"
        r->nth = q->c.nth;
        return 1;
    }
    r->stated_zone = q->c.zones_n > 0 ? q->c.zone[0] : r->stated_zone;
    if (is_statement(r)) {
        r->stated_thing = q->c.object ? q->c.object : r->stated_thing;
        r->c.denied = r->c.denied || q->denied;
        return 1;
    }
    return add_request(r, unwanted);
}

// The request ends: 1, 0: it is none that can be done, or an error.
static int end_request(reader *r)
{
    request *q = &r->q;
    // "The second is dropped": of all that is put somewhere, no task is.
    q->cancels = q->cancels || ((q->c.nth || q->all) && q->verb == WORD_PUT && !q->c.object);
    const int rc = is_empty(q) || is_idle(r) ? 1 : use_request(r);
    *q = (request){.verb = WORD_NONE, .before = WORD_NONE};
    return rc;
}

// ---- clauses ------------------------------------------------------------------------------------

static void begin_clause(reader *r, size_t first)
{
    r->c = (clause){.first = first, .goals = json_array_size(r->s->goals)};
}

static void drop_goals(pons_value *goals, size_t kept)
{
    while (json_array_size(goals) > kept) {
        json_array_remove(goals, json_array_size(goals) - 1);
    }
}

// Whether a clause without verb and name may be dropped. Behind a wish it has somebody who does something, or is past.
static bool may_lead_in(const reader *r, bool asks, bool joins)
{
    const clause *c = &r->c;
    const bool short_one = c->unknown <= LEAD_IN_WORDS || c->unknown_bytes <= LEAD_IN_BYTES;
    if (c->unknown == 0 && !asks) {
        return true;
    }
    if (r->joined || (joins && !c->others) ||
        (asks && r->wished && (c->asks || c->unknown > 0 || !r->polite))) {
        return false; // "go to the kitchen, right?"; but "could you go, my dear?"
    }
    return asks || c->others || c->reason || c->past || (short_one && !r->wished);
}

// joins: a word joins the clause to the next. 1: the clause is well; 0: the sentence is not understood.
static int end_clause(reader *r, bool joins)
{
    clause *c = &r->c;
    const pons__control before = r->s->control;
    const bool wish = r->q.verb == WORD_WISH;
    int rc = end_request(r);
    if (rc != 1) {
        return rc;
    }
    const bool asks = c->asks || (c->tag && !c->polite && !wish);
    if (!c->any) {
        return may_lead_in(r, asks, joins);
    }
    if (c->others || asks) {
        drop_goals(r->s->goals, c->goals);
        r->stated = r->stated || (c->others && c->verb && !c->denied && !wish);
        return !asks || (!r->wished && r->s->control == before);
    }
    rc = c->unknown == 0 && !(r->stated && !c->you);
    r->wished = true;
    r->polite = c->polite || wish;
    r->stated = false;
    return rc;
}

// Where a list of zones or things may go on behind this separator.
static bool has_list(const request *q, bool comma, bool *ret_things)
{
    const bool goes = q->verb == WORD_GO; // "go, the kitchen, please"
    const bool listed = q->verb == WORD_PATROL || q->verb == WORD_LOOK ||
                        (!comma && (q->verb == WORD_NONE || q->cancels || q->denied));
    const bool carries = q->verb == WORD_NONE || q->verb == WORD_BRING || q->verb == WORD_WISH ||
                         q->verb == WORD_PICK;
    *ret_things = q->c.object && !comma && !q->c.zones_n && carries;
    return *ret_things || (!q->c.object && (goes || (q->c.zones_n > 0 && listed)));
}

static bool ends_list(pons__word_class is)
{
    return is == WORD_MARK || is == WORD_THEN || is == WORD_AND;
}

// Whether the clause behind the separator at token i only has more of what stands before it.
static bool list_goes_on(const reader *r, size_t i)
{
    const request *q = &r->q;
    bool things, any = false, verb = false;
    if (!has_list(q, r->t[i].is == WORD_MARK, &things)) {
        return false;
    }
    for (i++; i < r->n && !verb && !ends_list(r->t[i].is); i++) {
        const pons__token *t = &r->t[i];
        const bool looks = any && (t->is == WORD_PATROL || t->is == WORD_LOOK); // 厨房和卧室转转
        any = any || (t->is == WORD_NAME && t->name->object == things);
        verb = (!any && t->is == WORD_DENIES) ||
               (t->is < WORD_VERBS && q->verb != WORD_NONE && !looks);
    }
    return any && !verb;
}

// ---- words --------------------------------------------------------------------------------------

// A verb meets one that the request has: k it is a part of that, r it takes its place, l the same and was only gone for,
// n it begins the next request, o it is a statement.
static char meeting(const request *q, pons__word_class verb)
{
    //                                            go back bring put pick find look patrol charge wait repeat wish
    static const char *const meetings[] = {
        [WORD_GO] = "krrrrrrrrrrk",     [WORD_COME_BACK] = "kknnnnknrnkn",
        [WORD_BRING] = "kkkrknknnnkk",  [WORD_PUT] = "kknkknnnnnkn",
        [WORD_PICK] = "knrrknnnnnkn",   [WORD_FIND] = "knnknkknnnkn",
        [WORD_LOOK] = "knnnnrkrnnkn",   [WORD_PATROL] = "knnnnnkknnkn",
        [WORD_CHARGE] = "knnnnnnnknkn", [WORD_WAIT] = "nnnnnnnnnkkn",
        [WORD_REPEAT] = "rrrrrrrrrrkr", [WORD_WISH] = "oorornoooook"};
    static const char gone[] = "knnnnrlrnrkk"; // where it goes has been said
    const pons__capture *c = &q->c;
    if (q->verb == WORD_NONE) {
        return 'r';
    }
    if (q->verb == WORD_GO && (c->zones_n > 0 || c->everywhere)) {
        return gone[verb];
    }
    // "Take it to the study, come back": what it is brought to has been said.
    const bool placed = c->object && (c->place || c->zones_n > 0);
    return q->verb == WORD_BRING && placed && verb == WORD_COME_BACK ? 'n'
                                                                     : meetings[q->verb][verb];
}

static int take_verb(reader *r, pons__word_class verb)
{
    request *q = &r->q;
    if (verb == WORD_WISH && q->c.zones_n > 0) {
        return 0; // 书房需要杯子: it is not wanted here
    }
    const char how = q->cancels && q->verb == WORD_NONE ? 'r' : meeting(q, verb);
    if (how == 'n') {
        const pons__name *thing = q->verb == WORD_GO ? q->c.object : NULL;
        q->c.object = thing ? NULL : q->c.object;
        const int rc = end_request(r);
        if (rc != 1) {
            return rc;
        }
        q->c.object = thing; // 去厨房把苹果拿来
        q->verb = verb;
    } else if (how != 'k') {
        // Where it was before somebody said what to do with it: 厨房的苹果拿给我.
        q->zone_is_source =
            q->verb == WORD_NONE && q->c.zones_n > 0 && q->before != WORD_TO && verb != WORD_PUT;
        q->went = how == 'l';
        q->verb = verb;
        r->c.others = r->c.others || how == 'o';
    }
    if (verb == WORD_GO) {
        q->before = WORD_TO;
    }
    return 1;
}

static bool is_of(const reader *r, const pons__token *t)
{
    static const char of[] = "的";
    return strncmp(r->s->f.s + t->lo, of, strlen(of)) == 0;
}

static int take_zone(reader *r, const pons__name *zone)
{
    request *q = &r->q;
    const pons__token *t = &r->t[r->at];
    const bool owned = r->at + 2 < r->n && t[2].is == WORD_NAME && t[2].name->object &&
                       is_of(r, t + 1); // 书房的杯子
    const bool carries = q->verb == WORD_BRING || q->verb == WORD_PICK || q->verb == WORD_WISH;
    if (q->verb == WORD_WISH && q->before == WORD_WITHIN) {
        return 0; // where it is, or where it is wanted
    }
    if (q->before == WORD_FROM || (owned && q->verb != WORD_FIND) ||
        (carries && q->before == WORD_WITHIN && !q->kin)) {
        return 1; // where a thing is, finds itself
    }
    if (q->c.zones_n == LIST_MAX) {
        return 0;
    }
    q->thing_first = q->c.object != NULL;
    if (q->c.zones_n > 0 && q->c.zone[q->c.zones_n - 1] == zone) {
        return 1;
    }
    q->c.zone[q->c.zones_n++] = zone;
    return 1;
}

static int take_thing(reader *r, const pons__name *thing)
{
    request *q = &r->q;
    pons__capture *c = &q->c;
    const bool puts = q->verb == WORD_PUT,
               somewhere = q->before == WORD_TO || q->before == WORD_WITHIN;
    if (c->object == thing || q->before == WORD_FROM) {
        return 1;
    }
    if (!c->place && ((puts && (r->thing || (somewhere && (c->object || q->it)))) ||
                      (c->object && (puts || (q->verb == WORD_NONE && somewhere) ||
                                     (q->verb == WORD_BRING && somewhere))))) {
        c->place = thing;
    } else if (!c->object) {
        c->object = thing;
    } else if (q->list && q->also_n < PONS__ALSO_MAX) {
        q->also[q->also_n++] = thing;
    } else {
        return 0;
    }
    return 1;
}

static bool is_word(const reader *r, const pons__words *words, const pons__token *t)
{
    return pons__word_at(words, r->s->f.s, t->lo, t->hi, NULL) == t->hi;
}

// Whether a verb or a name stands behind this word in its clause.
static bool more_follows(const reader *r)
{
    for (size_t i = r->at + 1; i < r->n; i++) {
        const pons__word_class is = r->t[i].is;
        if (is < WORD_VERBS || is == WORD_NAME) {
            return true;
        }
        if (is == WORD_MARK || is == WORD_THEN || is == WORD_AND) {
            return false;
        }
    }
    return false;
}

// Whether nothing but what changes nothing stands behind this word in its clause.
static bool ends_here(const reader *r)
{
    size_t i = r->at + 1;
    while (i < r->n && r->t[i].is == WORD_IGNORED) {
        i++;
    }
    return i == r->n || r->t[i].is == WORD_MARK;
}

// A word that denies: a question's tag (找到没有), "no, …", or what is not wanted. Behind a verb, what follows it:
// "the bedroom not the kitchen".
static int take_denial(reader *r)
{
    request *q = &r->q;
    const pons__token *t = &r->t[r->at];
    const bool ends = ends_here(r);
    if (ends && r->c.words == 1 && is_word(r, &r->s->r->control[CONTROL_NO], t)) {
        return !r->wished;
    }
    if (ends && is_word(r, &r->s->r->lexicon.owned[WORD_TAGS], t)) {
        r->c.tag = r->c.tag || q->verb != WORD_LOOK;
        return 1;
    }
    if (q->denied || q->cancels) {
        return r->c.others; // not not
    }
    // 去卧室的事不用了 is about all of it
    const bool name = r->at + 1 < r->n && t[1].is == WORD_NAME;
    const bool said = q->verb != WORD_NONE || (q->c.zones_n > 0 && name);
    const int rc = said && more_follows(r) ? end_request(r) : 1;
    q->denied = true;
    return rc;
}

// Whether what stands here is whom or what something is for.
static bool behind_for(const reader *r)
{
    size_t i = r->at;
    while (i > r->c.first && (r->t[i - 1].is == WORD_IGNORED || r->t[i - 1].is == WORD_UNKNOWN)) {
        i--;
    }
    return i > r->c.first && r->t[i - 1].is == WORD_FOR &&
           (unsigned char)r->s->f.s[r->t[i - 1].lo] < 0x80;
}

static int take_others(reader *r)
{
    const pons__token *t = &r->t[r->at], *before = r->at > r->c.first ? t - 1 : NULL;
    const bool kin = is_word(r, &r->s->r->lexicon.owned[WORD_KIN], t);
    const bool receives = before && (before->is == WORD_FOR || before->is == WORD_TO);
    if (kin && (receives || r->q.verb == WORD_BRING || r->q.verb == WORD_COME_BACK ||
                (r->q.verb == WORD_GO && r->q.c.zones_n == 0))) {
        r->q.me = r->q.me || (before && before->is != WORD_FOR);
        r->q.kin = true;
        r->c.you = true;
    } else if (r->q.verb == WORD_FIND || r->q.cancels ||
               (r->q.verb != WORD_NONE && behind_for(r))) { // "see if I left it there"
        r->c.you = true;
    } else if (r->q.verb != WORD_NONE && !r->c.others) {
        r->c.unknown++;
    } else {
        r->c.others = true;
    }
    return 1;
}

// Why, or before what: the rest of the clause, where it names nothing.
static int take_reason(reader *r)
{
    bool you = false;
    r->c.reason = true;
    while (r->at + 1 < r->n && r->t[r->at + 1].is != WORD_MARK) {
        const pons__word_class is = r->t[++r->at].is;
        you = you || is == WORD_YOU;
        if (is == WORD_NAME || is == WORD_NTH || is == WORD_CANCEL || (you && is < WORD_VERBS)) {
            return 0;
        }
    }
    return 1;
}

static int next_clause(reader *r, size_t first, bool joined)
{
    const int rc = end_clause(r, joined);
    r->joined = joined;
    begin_clause(r, first);
    return rc;
}

static int separate(reader *r, const pons__token *t)
{
    request *q = &r->q;
    const char *source = r->s->text + r->s->f.at[t->lo];
    const bool without = q->c.everywhere && is_word(r, &r->s->r->except, t);
    r->c.tag = r->c.tag || *source == '?' || strncmp(source, "？", strlen("？")) == 0;
    if (without || list_goes_on(r, r->at)) {
        q->list = true;
        return 1;
    }
    if (r->s->f.s[t->lo] == ':' && r->c.unknown > 0) { // it is quoted
        return 0;
    }
    return next_clause(r, r->at + 1, t->is != WORD_MARK);
}

static int take_correction(reader *r)
{
    if (r->at == r->c.first) {
        drop_goals(r->s->goals, 0);
    }
    return 1;
}

// What a word says of the request.
static int take_slot_word(reader *r, const pons__token *t)
{
    request *q = &r->q;
    const bool last = r->at + 1 == r->n;
    switch (t->is) {
    case WORD_TO:
    case WORD_WITHIN:
    case WORD_FROM:
        q->before = t->is;
        break;
    case WORD_IT:
        q->it = last || t[1].is != WORD_NAME; // "that apple"
        break;
    case WORD_THERE:
        q->there = last || !is_of(r, t + 1);
        break;
    case WORD_TASKS:
        q->tasks = true;
        break;
    case WORD_ALL:
        q->all = true;
        break;
    case WORD_LIGHT:
        q->light = true;
        break;
    case WORD_EVERYWHERE:
        q->c.everywhere = true;
        break;
    case WORD_EXCEPT: // of some zones nothing is left out
        if (q->c.zones_n > 0 && !q->c.everywhere) {
            return 0;
        }
        q->c.everywhere = true;
        break;
    case WORD_URGENT:
        r->s->urgent = true;
        break;
    default:
        return t->is != WORD_SUPPOSES;
    }
    return 1;
}

// "Is …" asks at the beginning, and states behind it. 不是厨房，是卧室 does neither.
static void take_is(reader *r, const pons__token *t, bool looks)
{
    const bool corrects = r->at == r->c.first && is_word(r, &r->s->r->corrections, t);
    const bool begins = r->c.words == 1;
    if (!looks && !corrects) {
        r->c.asks = r->c.asks || begins;
        r->c.others = r->c.others || !begins;
    }
}

// What a word says of the clause, or of the request in it.
static int take_word(reader *r, const pons__token *t)
{
    request *q = &r->q;
    clause *c = &r->c;
    const bool looks = q->verb == WORD_FIND || q->verb == WORD_LOOK;
    switch (t->is) {
    case WORD_ME:
        q->me = c->you = true;
        break;
    case WORD_POLITE: // "I am thirsty please bring the cup"
        if (c->others && !c->asks && is_empty(q) && next_clause(r, r->at, false) != 1) {
            return 0;
        }
        c->polite = c->you = true;
        break;
    case WORD_YOU:
        c->you = true;
        break;
    case WORD_DUE:
        c->due = c->you = true;
        c->polite = c->polite || is_word(r, &r->s->r->polite, t);
        break;
    case WORD_HEDGES:
        c->others = true;
        break;
    case WORD_TAGS:
        c->tag = true;
        break;
    case WORD_ASKS: // but "find out where it is"
        c->asks = c->asks || !(looks || q->verb == WORD_PATROL);
        break;
    case WORD_IS:
        take_is(r, t, looks);
        break;
    case WORD_PAST:
        c->past = c->past || !looks;
        break;
    case WORD_UNKNOWN:
        if (q->verb == WORD_NONE || !behind_for(r)) { // but "a cup for my tea"
            c->unknown++;
            c->unknown_bytes += t->hi - t->lo;
        }
        break;
    default:
        return take_slot_word(r, t);
    }
    return 1;
}

static int take(reader *r, const pons__token *t)
{
    request *q = &r->q;
    r->c.words += t->is != WORD_IGNORED && t->is != WORD_URGENT;
    if (t->is < WORD_VERBS) {
        return take_verb(r, t->is);
    }
    switch (t->is) {
    case WORD_NAME:
        return t->name->object ? take_thing(r, t->name) : take_zone(r, t->name);
    case WORD_DURATION:
        q->c.seconds += t->number;
        q->c.has_seconds = true;
        return 1;
    case WORD_NTH:
        q->c.nth = t->nth;
        q->c.numbered = t->numbered;
        return 1;
    case WORD_TIMES:
        q->times = (size_t)t->number;
        return t->number >= 1 && q->times <= r->s->r->goals_max;
    case WORD_CANCEL:
        q->cancels = true;
        return 1;
    case WORD_DENIES:
        return take_denial(r);
    case WORD_OTHERS:
    case WORD_KIN:
        return take_others(r);
    case WORD_REASONS:
        return take_reason(r);
    case WORD_CORRECTS:
        return take_correction(r);
    case WORD_MARK:
    case WORD_THEN:
    case WORD_AND:
        return separate(r, t);
    default:
        return take_word(r, t);
    }
}

static bool has_wait(const pons__parse_state *s)
{
    pons_each(goal, s->goals) {
        if (strcmp(pons_get_str(goal, "intent", ""), "wait") == 0) {
            return true;
        }
    }
    return false;
}

// Only a wait, or nothing at all, may have a word in it that stops.
static bool moves_in_spite_of_stop(const reader *r)
{
    bool stops = false;
    for (size_t i = 0; i < r->n; i++) {
        const pons__token *t = &r->t[i];
        stops =
            stops || pons__word_at(&r->s->r->anywhere, r->s->f.s, t->lo, r->s->f.n, NULL) >= t->hi;
    }
    pons_each(goal, r->s->goals) {
        if (stops && strcmp(pons_get_str(goal, "intent", ""), "wait") != 0) {
            return true;
        }
    }
    return stops && json_array_size(r->s->goals) == 0;
}

int pons__read_clauses(pons__parse_state *s)
{
    reader r = {.s = s, .q = {.verb = WORD_NONE, .before = WORD_NONE}};
    int rc = 1;
    r.n = s->confirms ? 0 : pons__tokens_of(s, r.t);
    begin_clause(&r, r.at);
    for (; rc == 1 && r.at < r.n; r.at++) {
        rc = take(&r, &r.t[r.at]);
    }
    rc = rc == 1 ? end_clause(&r, false) : rc;
    const bool any = json_array_size(s->goals) > 0 || s->control != CONTROL_NONE;
    if (rc == 1 &&
        (!any || r.nth || moves_in_spite_of_stop(&r) || r.thing || (r.waits && !has_wait(s)))) {
        rc = 0;
    }
    if (rc == 1) {
        pons__leave_out(s);
    }
    return rc;
}
