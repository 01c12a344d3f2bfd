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

#include "intents/sentence/goal_add.h"
#include "intents/sentence/negation.h"
#include "intents/sentence/request.h"
#include "pons/language.h"

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
    return q->verb == WORD_NONE && !q->cancels && !q->denied && q->times == 0 &&
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

// "You nearly had my toes."
static bool is_remark(const clause *c)
{
    return c->addressed && c->unknown > 0 && !c->polite && !c->any;
}

static bool is_idle(reader *r)
{
    const request *q = &r->q;
    clause *c = &r->c;
    const bool waits = q->verb == WORD_WAIT;
    const unsigned has = pons__request_slots(q) & ~(waits ? (unsigned)SLOT_BIT_ME : 0U);
    const bool go = q->verb == WORD_GO && c->unknown == 0 && !q->denied && !r->joined; // "…, go!"
    const bool remark = is_remark(c); // "you look tired, …"
    if (has || q->cancels || q->times > 0 ||
        (!remark && (!says_little(q, c) || (r->wished && !go)))) {
        return false;
    }
    r->waits = r->waits || (waits && !c->asks && !c->others && json_array_size(r->s->goals) == 0);
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
    const bool misplaced = unwanted ? r->q.via && (r->q.verb == WORD_GO || r->q.verb == WORD_NONE)
                                    : r->q.c.nth && r->q.verb != WORD_REPEAT; // "go to the second"
    if (misplaced) {
        return 0;
    }
    const int rc = unwanted ? pons__request_add_unwanted(r) : pons__request_add(r);
    r->stated_zones = (pons__capture){0};
    r->thing = false;
    return rc;
}

static bool ends_sentence(const reader *r)
{
    size_t i = r->at;
    while (i < r->n &&
           (r->t[i].is == WORD_MARK || r->t[i].is == WORD_POLITE || r->t[i].is == WORD_IGNORED)) {
        i++;
    }
    return i == r->n;
}

// Whether a bare thing is to be brought: "not the apple, the mug", "please, the apple".
static bool brings_bare(const reader *r)
{
    const pons__parse_state *s = r->s;
    const bool first = json_array_size(s->goals) == 0;
    const bool other = json_array_size(s->undone) > 0 && !r->joined;
    const bool asked = s->polite && !s->asks && ends_sentence(r) && !r->stated_thing;
    return first && (other || asked) && r->q.verb == WORD_NONE;
}

// A thing or a task that is named and no more: what is wished of it may be said next.
static bool is_kept_for_later(reader *r, unsigned has)
{
    request *q = &r->q;
    const bool puts = q->verb == WORD_NONE || q->verb == WORD_PUT;
    const bool thing = has == SLOT_BIT_THING && puts && !q->there; // 苹果呢，拿给我
    const bool nth = has == SLOT_BIT_NTH && q->verb == WORD_NONE;  // "the second, cancel it"
    q->me = q->me || (thing && brings_bare(r));
    r->thing = r->thing || (thing && !q->me);
    r->nth = nth ? q->c.nth : r->nth;
    return nth || (thing && !q->me);
}

static void keep_statement(reader *r)
{
    const request *q = &r->q;
    r->stated_zones = q->c.zones_n > 0 ? q->c : r->stated_zones;
    r->stated_thing = q->c.object ? q->c.object : r->stated_thing;
    r->c.denied = r->c.denied || q->denied;
}

static int use_request(reader *r)
{
    request *q = &r->q;
    const unsigned has = pons__request_slots(q);
    const bool unwanted = q->cancels || q->denied;
    r->c.any = true;
    r->c.verb = r->c.verb || (q->verb != WORD_NONE && has) || unwanted;
    r->s->last = q->c.object ? q->c.object : r->s->last;
    if (!unwanted && is_kept_for_later(r, has)) {
        return 1;
    }
    r->stated_zone = q->c.zones_n > 0 ? q->c.zone[0] : r->stated_zone;
    const bool lies = q->verb == WORD_NONE && q->thing_first && q->before == WORD_WITHIN;
    r->c.others = r->c.others || (lies && !unwanted && !r->c.polite && !q->me); // 杯子应该在书房
    if (is_statement(r)) {
        keep_statement(r);
        return 1;
    }
    return add_request(r, unwanted);
}

// What is denied and named by no verb stays, behind what is cancelled ("cancel the kitchen, not the bedroom"). A denial alone
// is of all that was said ("…, don't").
static void deny(reader *r)
{
    request *q = &r->q;
    const bool named = pons__request_slots(q) != 0, cancelled = r->s->cancels || r->s->nth;
    q->kept = q->kept || (q->denied && q->verb == WORD_NONE && named && cancelled);
    r->s->stays = r->s->stays || q->kept;
    r->c.any = r->c.any || q->kept;
    if (q->denied && r->c.words == 1 && !named) {
        pons__goals_drop(r->s->goals, 0);
    }
}

// The request ends: 1, 0: it is none that can be done, or an error.
static int end_request(reader *r)
{
    request *q = &r->q;
    // "The second is dropped": of all that is put somewhere, no task is.
    q->cancels = q->cancels || ((q->c.nth || q->all) && q->verb == WORD_PUT && !q->c.object);
    if (q->drops && !q->there && pons__request_slots(q) == SLOT_BIT_THING) { // "leave the cup"
        q->cancels = true;
        q->verb = WORD_NONE;
    }
    deny(r);
    const int rc = is_empty(q) || q->kept || is_idle(r) ? 1 : use_request(r);
    *q = (request){.verb = WORD_NONE, .before = WORD_NONE};
    return rc;
}

// ---- clauses ------------------------------------------------------------------------------------

static void begin_clause(reader *r, size_t first)
{
    r->c = (clause){.first = first, .goals = json_array_size(r->s->goals)};
}

// 去看看，有没有什么情况
static bool what_to_check(const reader *r)
{
    const pons_value *last = json_array_get(r->s->goals, json_array_size(r->s->goals) - 1);
    return r->c.asks && !r->c.others && !r->joined &&
           strcmp(pons_get_str(last, "intent", ""), "patrol") == 0;
}

// Whether a clause without verb and name may be dropped. Behind a wish it has somebody who does something, or is past.
static bool may_lead_in(const reader *r, bool asks, bool joins)
{
    const clause *c = &r->c;
    const bool short_one =
        !r->wished && (c->unknown <= LEAD_IN_WORDS || c->unknown_bytes <= LEAD_IN_BYTES);
    // "Go to the kitchen, right?"; but "could you go, my dear?"
    const bool queries = asks && r->wished && (c->asks || c->unknown > 0 || !r->polite);
    if ((c->unknown == 0 && !asks) || what_to_check(r)) {
        return true;
    }
    if (r->joined || (joins && !c->others) || queries) {
        return false;
    }
    return asks || c->others || c->reason || c->past || short_one;
}

// Somebody does something; the next clause may go on with it.
static bool names_doer(const clause *c)
{
    return c->others && c->verb && !c->denied;
}

static int end_wish(reader *r)
{
    const bool fewer = json_array_size(r->s->goals) < r->c.goals; // 苹果我看到了，不用找了
    const bool goes_on = r->stated && !r->c.you && !fewer;
    r->wished = true;
    r->stated = false;
    return r->c.unknown == 0 && !goes_on;
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
    const bool plain = !c->polite && !wish;
    const bool asks = c->asks || (c->tag && plain);
    c->others = c->others || is_remark(c);
    const bool tells = c->others ? !(c->addressed && c->acts) : c->words == 0;
    r->tells = r->tells && tells && !wish && !asks;
    if (!c->any) {
        return may_lead_in(r, asks, joins);
    }
    if (c->others || asks) {
        pons__goals_drop(r->s->goals, c->goals);
        r->stated = r->stated || (names_doer(c) && !wish);
        return !asks || (!r->wished && r->s->control == before);
    }
    r->polite = c->polite || wish;
    return end_wish(r);
}

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
    const bool comma = r->t[i].is == WORD_MARK;
    bool things, any = false, verb = false;
    if (!has_list(q, comma, &things)) {
        return false;
    }
    for (i++; i < r->n && !verb && !ends_list(r->t[i].is); i++) {
        const pons__token *t = &r->t[i];
        const bool looks = any && (t->is == WORD_PATROL || t->is == WORD_LOOK || // 厨房和卧室转转
                                   (t->is < WORD_VERBS && meeting(q, t->is) == 'k'));
        any = any || (t->is == WORD_NAME && t->name->object == things);
        verb = (t->is == WORD_CANCEL && (!any || comma)) || t->is == WORD_CORRECTS ||
               (!any && t->is == WORD_DENIES) ||
               (t->is < WORD_VERBS && q->verb != WORD_NONE && !looks);
    }
    return any && !verb;
}

// ---- words --------------------------------------------------------------------------------------

static bool is_word(const reader *r, const pons__words *words, const pons__token *t)
{
    return pons__word_at(words, r->s->f.s, t->lo, t->hi, NULL) == t->hi;
}

// The same, where more than the two verbs decides.
static char meeting_here(const reader *r, const pons__token *t)
{
    const request *q = &r->q;
    const char how = meeting(q, t->is), *word = r->s->f.s + t->lo;
    const bool carries = q->verb == WORD_BRING || q->verb == WORD_PUT || q->verb == WORD_PICK;
    if (how == 'n' && carries && !q->c.object && !r->s->last) {
        return 'r'; // "get some charge"
    }
    if (how == 'o' && strncmp(r->s->f.s + t->hi - 2, "ed", 2) == 0) {
        return 'r'; // "I want it checked"
    }
    if (t->is == WORD_GO && q->verb == WORD_CHARGE) { // 充完电去厨房, but 充电去
        return r->at + 1 < r->n && t[1].is == WORD_NAME ? 'n' : how;
    }
    const bool comes = strncmp(word, "come", 4) == 0 || strncmp(word, "return", 6) == 0;
    const bool brought = t->is == WORD_COME_BACK && q->c.object && q->verb == WORD_BRING;
    return brought && comes ? 'n' : how;
}

static int take_verb(reader *r, const pons__token *t)
{
    request *q = &r->q;
    const pons__word_class verb = t->is;
    if (verb == WORD_WISH && q->c.zones_n > 0) {
        return 0; // 书房需要杯子: it is not wanted here
    }
    const char how = q->cancels && q->verb == WORD_NONE ? 'r' : meeting_here(r, t);
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
    q->drops = verb == WORD_PUT && is_word(r, &r->s->r->lexicon.owned[WORD_CANCEL], t);
    q->more = q->more || verb == WORD_REPEAT;
    return 1;
}

// Whether the clause began with a name, of which something is told, then.
static bool named_first(const reader *r)
{
    size_t i = r->c.first;
    while (i < r->at && (r->t[i].is == WORD_IGNORED || r->t[i].is == WORD_IT)) {
        i++;
    }
    return i < r->at && r->t[i].is == WORD_NAME;
}

// Where a thing is, finds itself: "that apple off the kitchen table".
static bool lies_there(const request *q)
{
    return (q->verb == WORD_BRING || q->verb == WORD_PICK) &&
           (q->via || q->before == WORD_FROM || (q->before == WORD_WITHIN && q->c.object));
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
    q->via = q->via || q->before == WORD_FROM;
    if (q->before == WORD_FROM || (owned && q->verb != WORD_FIND) ||
        (carries && q->before == WORD_WITHIN && !q->kin && !q->via)) {
        q->before = q->before == WORD_FROM ? WORD_NONE : q->before;
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
        q->before = q->before == WORD_FROM ? WORD_NONE : q->before;
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

// Whether a verb or a name stands behind this word in its clause.
static bool more_follows(const reader *r)
{
    for (size_t i = r->at + 1; i < r->n; i++) {
        const pons__word_class is = r->t[i].is;
        if (is < WORD_VERBS || is == WORD_NAME || is == WORD_NTH) {
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

static bool name_follows(const reader *r)
{
    size_t i = r->at + 1;
    while (i < r->n && r->t[i].is == WORD_IGNORED) {
        i++;
    }
    return i < r->n && r->t[i].is == WORD_NAME;
}

// "No, I meant the bedroom", "no, not the bedroom": it stands before what is meant.
static bool is_bare_no(const reader *r, const pons__token *t)
{
    const bool more = r->at + 1 < r->n && (t[1].is == WORD_DENIES || t[1].is == WORD_CANCEL);
    return ends_here(r) || (more && !is_word(r, &r->s->r->negation, t));
}

// A word that denies: a question's tag (找到没有), "no, …", or what is not wanted. Behind a verb, what follows it:
// "the bedroom not the kitchen".
static int take_denial(reader *r)
{
    request *q = &r->q;
    const pons__token *t = &r->t[r->at];
    const bool ends = ends_here(r);
    if (r->c.words == 1 && is_word(r, &r->s->r->control[CONTROL_NO], t) && is_bare_no(r, t)) {
        pons__goals_drop(r->s->goals, ends ? 0 : json_array_size(r->s->goals));
        return 1;
    }
    if (ends && is_word(r, &r->s->r->lexicon.owned[WORD_TAGS], t)) {
        r->c.tag = r->c.tag || q->verb != WORD_LOOK;
        return 1;
    }
    if (q->denied || (q->cancels && !pons__request_slots(q))) {
        return r->c.others; // not not
    }
    // 去卧室的事不用了 is about all of it
    const bool said = q->verb != WORD_NONE || q->cancels || (q->c.zones_n > 0 && name_follows(r));
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

static int next_clause(reader *r, size_t first, bool joined)
{
    const int rc = end_clause(r, joined);
    const bool polite = joined && r->c.polite; // "could you go there and look for it?"
    r->joined = joined;
    begin_clause(r, first);
    r->c.polite = polite;
    return rc;
}

// The word before this one that changes something: WORD_NONE at the beginning of the clause.
static pons__word_class word_before(const reader *r)
{
    size_t i = r->at;
    while (i > r->c.first && r->t[i - 1].is == WORD_IGNORED) {
        i--;
    }
    return i > r->c.first ? r->t[i - 1].is : WORD_NONE;
}

// Somebody who gets something: the speaker, by another name, or another ("take it to her in the study").
static bool take_receiver(reader *r)
{
    request *q = &r->q;
    const pons__word_class before = word_before(r);
    const bool kin = is_word(r, &r->s->r->lexicon.owned[WORD_KIN], &r->t[r->at]);
    const bool receives = before == WORD_FOR || before == WORD_TO, brings = q->verb == WORD_BRING;
    const bool comes = q->verb == WORD_COME_BACK || (q->verb == WORD_GO && q->c.zones_n == 0);
    if (kin && (receives || brings || comes)) {
        q->me = q->me || (before != WORD_NONE && before != WORD_FOR);
        q->kin = true;
    } else if (receives && (brings || (q->verb == WORD_NONE && (q->c.object || r->s->last)))) {
        q->kin = q->away = true;
    } else {
        return false;
    }
    return r->c.you = true;
}

static int take_others(reader *r)
{
    const request *q = &r->q;
    if (take_receiver(r)) {
        return 1;
    }
    if (q->verb == WORD_FIND || q->cancels || (q->verb != WORD_NONE && behind_for(r))) {
        r->c.you = true; // "see if I left it there"
        return 1;
    }
    const bool new_clause =
        q->verb != WORD_NONE && !r->c.others; // "come back, I miss you" without a comma
    const int rc = new_clause ? next_clause(r, r->at, false) : 1;
    r->c.others = true;
    r->c.words += new_clause;
    return rc;
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

static int separate(reader *r, const pons__token *t)
{
    request *q = &r->q;
    const char *source = r->s->text + r->s->f.at[t->lo];
    const bool without = q->c.everywhere && (is_word(r, &r->s->r->except, t) ||
                                             (q->excepts && q->verb == WORD_NONE)); // 除了厨房，…
    r->c.tag = r->c.tag || *source == '?' || strncmp(source, "？", strlen("？")) == 0;
    const bool so = strncmp(r->s->f.s + t->lo, "so", t->hi - t->lo) == 0;
    if (without || (!so && list_goes_on(r, r->at))) {
        q->list = true;
        return 1;
    }
    if (r->s->f.s[t->lo] == ':' && r->c.unknown > 0) { // it is quoted
        return 0;
    }
    return next_clause(r, r->at + 1, t->is != WORD_MARK && !so);
}

// "Oh no, …" takes back all that was said; "…, scrap the study" only what it names.
static int take_correction(reader *r)
{
    bool names = false, unwanted = false;
    size_t i = r->at + 1;
    while (i < r->n && r->t[i].is == WORD_MARK) {
        i++;
    }
    for (; i < r->n && r->t[i].is != WORD_MARK; i++) {
        const pons__token *t = &r->t[i];
        names = names || t->is == WORD_NAME || t->is == WORD_NTH || t->is < WORD_VERBS;
        unwanted = unwanted || t->is == WORD_DENIES || t->is == WORD_CANCEL ||
                   is_word(r, &r->s->r->lexicon.owned[WORD_CANCEL], t);
    }
    if (r->at == r->c.first && !(names && unwanted)) {
        pons__goals_drop(r->s->goals, 0);
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
        q->there = (last || !is_of(r, t + 1)) && q->before != WORD_FROM;
        break;
    case WORD_TASKS:
        q->tasks = true;
        break;
    case WORD_ALL:
        q->all = true;
        break;
    case WORD_VIA:
        q->via = true;
        break;
    case WORD_RETURNS:
        q->returns = true;
        break;
    case WORD_TOTAL:
        q->total = true;
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
        q->c.everywhere = q->excepts = true;
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

// 没别的事了 and 他等着喝水呢 tell something.
static void take_tag(reader *r, const pons__token *t)
{
    static const char goes_on[] = "呢";
    clause *c = &r->c;
    const char *word = r->s->f.s + t->lo;
    c->others = c->others || (c->words == 1 && (unsigned char)*word >= 0x80);
    c->tag = c->tag || !c->others || (ends_here(r) && strncmp(word, goes_on, strlen(goes_on)) != 0);
}

// "The apple fell off the table"; but "a cup for my tea"
static void take_unknown(reader *r, const pons__token *t)
{
    const request *q = &r->q;
    clause *c = &r->c;
    c->others = c->others || (q->verb == WORD_NONE && !c->polite && named_first(r));
    if (q->verb == WORD_NONE || !(behind_for(r) || lies_there(q))) {
        c->unknown++;
        c->unknown_bytes += t->hi - t->lo;
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
        c->others = c->unsure = true;
        break;
    case WORD_TAGS:
        take_tag(r, t);
        break;
    case WORD_ASKS: // but "find out where it is"
        c->asks = c->asks || !(looks || c->unsure || (q->verb == WORD_PATROL && !ends_here(r)));
        break;
    case WORD_IS:
        take_is(r, t, looks);
        break;
    case WORD_PAST:
        c->past = c->past || !looks;
        break;
    case WORD_UNKNOWN:
        take_unknown(r, t);
        break;
    default:
        return take_slot_word(r, t);
    }
    return 1;
}

// "Two rounds of the house" has its verb in what is counted.
static bool is_round(const reader *r, const pons__token *t)
{
    size_t lo = t->hi;
    while (lo > t->lo && r->s->f.s[lo - 1] != ' ') {
        lo--;
    }
    return pons__word_at(&r->s->r->lexicon.owned[WORD_PATROL], r->s->f.s, lo, t->hi, NULL) == t->hi;
}

static int take(reader *r, const pons__token *t)
{
    request *q = &r->q;
    r->c.words += t->is != WORD_IGNORED && t->is != WORD_URGENT;
    r->c.addressed = r->c.addressed || (r->c.words == 1 && t->is == WORD_YOU &&
                                        is_word(r, &r->s->r->lexicon.owned[WORD_COURTESY], t));
    if (t->is < WORD_VERBS) {
        r->c.acts = true;
        return take_verb(r, t);
    }
    const bool denies = t->is == WORD_TAGS && is_word(r, &r->s->r->negation, t) && !ends_here(r);
    switch (denies ? WORD_DENIES : t->is) { // 能不能不去
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
        q->verb = q->verb == WORD_NONE && is_round(r, t) ? WORD_PATROL : q->verb;
        return t->number >= 1 && q->times <= r->s->r->goals_max;
    case WORD_CANCEL: // "don't cancel the third"
        if (r->wished && ends_here(r) && is_word(r, &r->s->r->corrections, t)) { // 算了，书房不去了
            return take_correction(r);
        }
        q->kept = q->denied;
        q->cancels = true;
        q->tasks = q->tasks || is_word(r, &r->s->r->control[CONTROL_CANCEL], t);
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

static bool is_wished(const pons__parse_state *s, const pons__name *thing)
{
    pons_each(goal, s->goals) {
        if (thing && strcmp(pons_get_str(goal, "object", ""), thing->id) == 0) {
            return true;
        }
    }
    return false;
}

static int read_all(reader *r)
{
    int rc = 1;
    r->n = r->s->confirms ? 0 : pons__tokens_of(r->s, r->t);
    r->tells = r->n > 0;
    begin_clause(r, r->at);
    for (; rc == 1 && r->at < r->n; r->at++) {
        rc = take(r, &r->t[r->at]);
    }
    return rc == 1 ? end_clause(r, false) : rc;
}

bool pons__only_tells(const pons__intents *r, const char *text)
{
    pons__parse_state s;
    pons_error err = PONS_ERROR_INIT;
    if (pons__parse_state_init(&s, r, text, NULL, &err) != PONS_OK) {
        return false;
    }
    reader one = {.s = &s, .q = {.verb = WORD_NONE, .before = WORD_NONE}};
    const bool tells = read_all(&one) == 1 && one.tells && s.control == CONTROL_NONE;
    pons__parse_state_fini(&s);
    return tells;
}

int pons__read_clauses(pons__parse_state *s)
{
    reader r = {.s = s, .q = {.verb = WORD_NONE, .before = WORD_NONE}};
    const int rc = read_all(&r);
    if (rc != 1) {
        return rc;
    }
    pons__leave_out(s);
    const bool any = json_array_size(s->goals) > 0 || s->control != CONTROL_NONE;
    if (s->stays && !any) {
        return pons_error_set(s->err, PONS_EINVAL, "rules",
                              pons_translate(s->zh, "nothing is cancelled"));
    }
    const bool thing = r.thing && !is_wished(s, s->last); // "…, just the apple"
    return any && !r.nth && !thing && !moves_in_spite_of_stop(&r) && (!r.waits || has_wait(s));
}
