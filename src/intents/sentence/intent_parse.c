// intent_parse.c - from what a person says to goals.
//
// A sentence is folded, cut into wishes at its separators, and each wish is matched against the
// patterns. "And" and "," are ambiguous ("the kitchen and the bedroom", "the kitchen and wait"), so
// they cut only where another wish begins. A wish is tried in this order:
//
//   1. as a control word (stop, cancel, pause, yes …);
//   2. strictly: every slot holds a name that the world knows, longest name first;
//   3. as two wishes without a separator, as Chinese allows (去厨房等5秒);
//   4. loosely: a slot holds any words. That never makes a goal; it makes the message that says
//      which zone or object is unknown, and which are known.
//
// A sentence that is not understood so is read once more, by the meaning of its words (clause_reader.c), and then answered
// where it is a question (`topics`). The message of step 4 is what a person is told when nothing helps.
//
// A wish behind a word that negates ("not the kitchen", 不要去厨房) is none: it is what is cancelled. One behind a word
// that corrects ("no wait", 不对) takes the place of those before it. What is asked moves nothing, unless it is asked
// politely. What cannot be understood but holds a word that stops ("anywhere" in the intents) is a stop.
#include "intents/sentence/clause_reader.h"
#include "intents/sentence/clause_split.h"
#include "intents/sentence/goal_add.h"
#include "intents/sentence/negation.h"
#include "intents/sentence/parse_messages.h"
#include "intents/sentence/slot_match.h"
#include "intents/sentence/wish_match.h"
#include "intents/sentence/world_names.h"
#include "pons/language.h"
#include "pons/yes_no.h"

#include <stdlib.h>
#include <string.h>

static bool alone_urgent(const pons__parse_state *s)
{
    const pons_value *only = json_array_get(s->goals, 0);
    if (json_array_size(s->goals) != 1 || strcmp(pons_get_str(only, "intent", ""), "say") == 0) {
        return false;
    }
    for (size_t i = 0; i < s->f.n;) {
        const pons__name *n;
        size_t after = pons__name_here(s, i, s->f.n, &n);
        if (!after && pons__word_at(&s->r->urgent_alone, s->f.s, i, s->f.n, NULL)) {
            return true;
        }
        i = after ? after : i + pons__char_len(s->f.s, i);
    }
    return false;
}

// A yes is said outright, with nothing beside it that makes it another word.
static bool outright(const pons__parse_state *s)
{
    const pons__words *yes = &s->r->control[CONTROL_YES], *beside = &s->r->beside_yes;
    const pons_yes_no_words more = {.yes = (const char *const *)yes->v,
                                    .beside = (const char *const *)beside->v,
                                    .n_yes = yes->n,
                                    .n_beside = beside->n};
    return pons_yes_no_of(s->text, &more, NULL) == PONS_SAID_YES;
}

pons__control pons__policy_control(const pons__intents *r, const char *text)
{
    pons__parse_state s;
    if (pons__parse_state_init(&s, r, text, NULL, NULL) != PONS_OK) {
        return CONTROL_NONE;
    }
    for (size_t pos = 0; pos < s.f.n;) {
        pons__span w = {.lo = pos};
        pons__next_cut(&s, pos, &w.hi, &pos);
        pons__keep_control(&s, pons__wish_control(&s, w));
    }
    if (outright(&s)) {
        s.control = CONTROL_YES;
    } else if (s.control == CONTROL_YES) {
        s.control = CONTROL_NONE;
    }
    pons__parse_state_fini(&s);
    return s.control;
}

// "Hello" and "do it again" are words before a wish, or a yes, but where they are all that is said. 1: they are.
static int parse_alone(pons__parse_state *s, pons__span w, pons__control control)
{
    pons__capture c;
    const bool bare =
        control == CONTROL_YES || (control == CONTROL_NONE && pons__wish_is_blank(s, w));
    const pons__pattern *p = bare ? pons__match_strictly(s, w, &c) : NULL;
    const int rc = p ? pons__goals_add(s, p, &c, w) : 0;
    return p && rc == PONS_OK ? 1 : rc;
}

// What is no wish: a question that can be answered, or what is wrong with it. all: it is the whole sentence.
static int ask_back(pons__parse_state *s, pons__span wish)
{
    pons__capture c = {0};
    const pons__pattern *p = pons__match_loosely(s, wish, &c);
    const bool unknown = p && c.unknown_n, moves = unknown && p->means.intent < INTENT_WHERE;
    s->answerable = !unknown || moves || p->means.intent == INTENT_LOOK_FOR;
    if (moves && s->asks && !s->polite) {
        return pons__only_asked(s);
    }
    if (pons__has_approximate(s, wish)) {
        return pons__not_understood(s, wish);
    }
    return unknown ? pons__unknown_name(s, &c) : pons__not_understood(s, wish);
}

// 最后那个不做了 is about one task, though 不做了 is about all. "Don't stop" beside another wish is nothing of its own.
static int parse_control(pons__parse_state *s, pons__span w, pons__control control)
{
    pons__capture c;
    const pons__pattern *p = control == CONTROL_CANCEL ? pons__match_strictly(s, w, &c) : NULL;
    if (p && p->means.intent == INTENT_CANCEL) {
        return pons__goals_add(s, p, &c, w);
    }
    if (control == CONTROL_NO && json_array_size(s->goals) > 0) {
        json_array_clear(s->goals);
        s->took_back = true;
        return PONS_OK;
    }
    size_t at[STARTS_MAX];
    const size_t n = control == CONTROL_CONTINUE ? pons__wish_starts(s, w.lo, w.hi, at) : 0;
    if (json_array_size(s->goals) == 0 || n == 0 ||
        !pons__word_at(&s->r->negation, s->f.s, at[n - 1], w.hi, NULL)) {
        pons__keep_control(s, control);
    }
    if (control == CONTROL_CANCEL && s->control == CONTROL_STOP) {
        s->control = control; // "stop, stop, forget all that"
    }
    return PONS_OK;
}

// "Turn left and stop", 前进一米然后停下: a stop at the end, joined to what moves by a word, is how that ends. from: where the
// wish before it ended.
static bool ends_motion(const pons__parse_state *s, size_t from)
{
    const size_t end = s->f.n;
    size_t pos = pons__skip_punctuation(s, from, end), after;
    bool hard, joined = false;
    while ((after = pons__separator_at(s, pos, end, &hard))) {
        joined = true;
        pos = pons__skip_punctuation(s, after, end);
    }
    after = joined ? pons__word_at(&s->r->control[CONTROL_STOP], s->f.s, pos, end, NULL) : 0;
    // and not "stop now"
    const bool plain =
        after == pons__word_at(&s->r->anywhere, s->f.s, pos, end, NULL) ||
        after == pons__word_at(&s->r->lexicon.owned[WORD_WAIT], s->f.s, pos, end, NULL);
    return after && plain && pons__skip_punctuation(s, after, end) == end;
}

// Whether a word in it denies, cancels or takes back, or it tells what is done (机器人去厨房了, 快到厨房了): the clause reader
// knows what.
static bool takes_away(const pons__parse_state *s, pons__span w)
{
    static const char done[] = "了";
    const pons__words *words[] = {&s->r->negation, &s->r->undone, &s->r->corrections};
    bool any = w.hi - w.lo >= strlen(done) &&
               strncmp(s->f.s + w.hi - strlen(done), done, strlen(done)) == 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        any = any || pons__has_word(s, words[i], w);
    }
    return any;
}

// Where its words begin: "，然后说…".
static size_t behind_separators(const pons__parse_state *s, pons__span w)
{
    size_t lo = pons__skip_punctuation(s, w.lo, w.hi), after;
    bool hard;
    while (lo < w.hi && (after = pons__separator_at(s, lo, w.hi, &hard)) > lo) {
        lo = pons__skip_punctuation(s, after, w.hi);
    }
    return lo;
}

// Understands the wish [w->lo, w->hi); w->hi moves when a hurry is cut out.
static int parse_wish(pons__parse_state *s, pons__span *w)
{
    const bool all = w->lo == 0 && pons__skip_punctuation(s, w->hi, s->f.n) == s->f.n;
    pons__control control = pons__wish_control(s, *w);
    const int alone = all ? parse_alone(s, *w, control) : 0;
    if (alone != 0) {
        return alone < 0 ? alone : PONS_OK;
    }
    if (control != CONTROL_NONE) {
        return parse_control(s, *w, control);
    }
    const size_t lo = behind_separators(s, *w);
    bool say = pons__wish_begins(s, lo, w->hi, false, NULL) == INTENT_SAY &&
               !pons__word_at(&s->r->corrections, s->f.s, lo, w->hi, NULL);
    if (!say && pons__cut_words(s, w, &s->r->urgent)) {
        s->urgent = true;
    }
    if (pons__wish_is_blank(s, *w)) {
        return PONS_OK;
    }
    pons__span wish = {pons__skip_punctuation(s, w->lo, w->hi), w->hi};
    bool in_quotes = wish.lo > w->lo && s->f.s[wish.lo - 1] == '"';
    while (wish.hi > wish.lo && strchr(in_quotes ? " ,;:\"" : " ,;:", s->f.s[wish.hi - 1])) {
        wish.hi--;
    }
    if (!say && takes_away(s, wish)) {
        return ask_back(s, wish);
    }
    const int rc = pons__parse_strictly(s, wish, JUXTAPOSED_MAX);
    if (rc != 0) {
        return rc < 0 ? rc : PONS_OK;
    }
    return ask_back(s, wish);
}

// Whether a goal is more than an answer.
static bool any_moves(const pons__parse_state *s)
{
    pons_each(goal, s->goals) {
        const pons__intent is = pons__intent_of(pons_get_str(goal, "intent", ""));
        if (is < INTENT_WHERE && is != INTENT_SAY) {
            return true;
        }
    }
    return false;
}

static int parse_wishes(pons__parse_state *s)
{
    size_t before = 0;
    for (size_t pos = 0; pos < s->f.n;) {
        pons__span w = {.lo = pos};
        size_t next;
        if (any_moves(s) && ends_motion(s, before)) {
            break;
        }
        pons__next_cut(s, pos, &w.hi, &next);
        size_t end = w.hi;
        int rc = parse_wish(s, &w);
        if (rc != PONS_OK) {
            return rc;
        }
        before = w.hi;
        pos = next - (end - w.hi);
    }
    return PONS_OK;
}

static int parse_sentence(pons__parse_state *s)
{
    const bool empty = pons__skip_punctuation(s, 0, s->f.n) == s->f.n;
    if (empty && s->asks) { // "?"
        return pons__goal_add(s, INTENT_HELP, json_object(), (pons__span){0, s->f.n});
    }
    if (empty) {
        return pons_error_set(s->err, PONS_EINVAL, "rules",
                              pons_translate(s->zh, "the goal is empty"));
    }
    if (outright(s)) {
        s->control = CONTROL_YES;
        return PONS_OK;
    }
    const int rc = parse_wishes(s);
    if (rc != PONS_OK) {
        return rc;
    }
    pons__leave_out(s);
    if (s->control == CONTROL_YES) {
        s->control = CONTROL_NONE;
    }
    if (s->took_back && json_array_size(s->goals) == 0) {
        pons__keep_control(s, CONTROL_NO);
    }
    if (s->asks && !s->polite && any_moves(s)) {
        json_array_clear(s->goals);
        return pons__only_asked(s);
    }
    if (s->stays && json_array_size(s->goals) == 0 && s->control == CONTROL_NONE) {
        return pons_error_set(s->err, PONS_EINVAL, "rules",
                              pons_translate(s->zh, "nothing is cancelled"));
    }
    return json_array_size(s->goals) || s->control != CONTROL_NONE
               ? PONS_OK
               : pons__not_understood(s, (pons__span){0, s->f.n});
}

// What a question is about that no pattern has; an answer moves nothing. A word that stops is heard before it, but asked about
// ("what made you stop?"). 1: it is answered; 0: it is no such question.
static int answer_topic(pons__parse_state *s)
{
    const pons__span all = {0, s->f.n};
    const bool stop = pons__stop_anywhere(s), whole = strcspn(s->f.s, ",;") + 1 >= s->f.n;
    const pons__name *n = NULL;
    for (size_t i = 0; i < s->f.n; i += pons__char_len(s->f.s, i)) {
        pons__name_here(s, i, s->f.n, &n);
    }
    if (!s->asks && !pons__has_word(s, &s->r->asking, all)) {
        return 0;
    }
    for (size_t i = 0; i < s->r->topics_n; i++) {
        const struct pons__topic *topic = &s->r->topics[i];
        if ((stop && (topic->intent != INTENT_WHY || !whole)) || (topic->named && !n) ||
            !pons__has_word(s, &topic->words, all) ||
            (topic->with.n > 0 && !pons__has_word(s, &topic->with, all))) {
            continue;
        }
        const pons__pattern about = {.means = {.intent = topic->intent}};
        const pons__capture c = {.place = topic->named ? n : NULL};
        const int rc = pons__goals_add(s, &about, &c, all);
        s->guessed = rc == PONS_OK;
        return rc == PONS_OK ? 1 : rc;
    }
    return 0;
}

// Reads a sentence by the meaning of its words that no pattern has whole, or answers what it is about. *s is the new reading
// where it is understood; otherwise the fault stays what it was.
static int read_otherwise(pons__parse_state *s)
{
    pons__parse_state again;
    pons_error err = PONS_ERROR_INIT;
    const bool answerable = s->answerable;
    int rc = pons__parse_state_init(&again, s->r, s->text, s->world, &err);
    if (rc != PONS_OK) {
        return rc;
    }
    again.phrases = s->phrases;
    rc = pons__read_clauses(&again);
    if (rc == 0 && answerable) {
        pons__parse_state_fini(&again);
        rc = pons__parse_state_init(&again, s->r, s->text, s->world, &err);
        rc = rc == PONS_OK ? answer_topic(&again) : rc;
    }
    if (rc == 1) {
        const pons_error none = PONS_ERROR_INIT;
        again.err = s->err;
        pons__parse_state_fini(s);
        *s = again;
        if (s->err) {
            *s->err = none;
        }
        return PONS_OK;
    }
    pons__parse_state_fini(&again);
    if (rc < 0 && s->err) {
        *s->err = err;
    }
    return rc < 0 ? rc : PONS_EINVAL;
}

// Which tasks a `cancel` is about; NULL: all.
static pons_value *cancel_of(const pons__parse_state *s)
{
    const bool some = json_array_size(s->undone) > 0;
    if (s->control != CONTROL_CANCEL || (!some && !s->nth)) {
        return NULL;
    }
    pons_value *ret = some ? pons_object("goals", json_incref(s->undone), NULL) : json_object();
    if (s->nth) {
        json_object_set_new(ret, s->numbered ? "number" : "nth", json_integer(s->nth));
    }
    return ret;
}

static pons_value *understood(pons__parse_state *s, bool somewhere)
{
    if (json_array_size(s->goals) > 0 && s->control == CONTROL_YES) {
        s->control = CONTROL_NONE; // "ok, go to the kitchen" answers nothing
    }
    const bool urgent = s->urgent || alone_urgent(s);
    pons_value *control =
        s->control == CONTROL_NONE ? json_null() : json_string(pons__control_word(s->control));
    return pons_object("goals", json_incref(s->goals), "control", control, "urgent",
                       json_boolean(urgent), "somewhere", somewhere ? json_true() : NULL, "cancel",
                       cancel_of(s), "guessed", s->guessed ? json_true() : NULL, NULL);
}

int pons__parse(pons__rules *rules, const char *text, const pons_value *world, pons_value **ret,
                size_t *ret_unknown, pons_error *err)
{
    pons__parse_state s;
    int rc = pons__parse_state_init(&s, rules->base, text, world, err);
    if (rc != PONS_OK) {
        return rc;
    }
    s.unknown = ret_unknown;
    rc = pons__phrases_for(rules, world, &s.phrases, err);
    if (rc != PONS_OK) {
        pons__parse_state_fini(&s);
        return rc;
    }
    pons_value *called = NULL;                      // the whole text is a call, and no sentence
    const bool bare = text && !strpbrk(text, "{="); // "do it" is a yes
    rc = bare && pons__policy_control(rules->base, text) != CONTROL_NONE
             ? PONS_ENOTFOUND
             : pons__call_parse(text, world, &called, err);
    if (rc == PONS_OK) {
        rc = json_array_append_new(s.goals, called) == 0 ? PONS_OK : pons__parse_no_memory(err);
    }
    const bool sentence = rc == PONS_ENOTFOUND;
    rc = sentence ? parse_sentence(&s) : rc;
    rc = sentence && rc == PONS_EINVAL ? read_otherwise(&s) : rc;
    const bool somewhere = rc == PONS_EINVAL && pons__stop_anywhere(&s);
    if (somewhere) {
        // To stop is never wrong; what else was wished for is left.
        json_array_clear(s.goals);
        s.control = CONTROL_STOP;
        rc = PONS_OK;
        if (err) {
            *err = (pons_error)PONS_ERROR_INIT;
        }
    }
    if (rc == PONS_OK) {
        pons_value *v = understood(&s, somewhere);
        rc = v ? PONS_OK : pons__parse_no_memory(err);
        if (v) {
            *ret = v;
        }
    }
    pons__parse_state_fini(&s);
    return rc;
}

int pons__policy_parse(void *self, const char *text, const pons_value *world, pons_value **ret,
                       pons_error *err)
{
    return pons__parse(self, text, world, ret, NULL, err);
}
