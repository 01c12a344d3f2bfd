// negation.c - what is not wanted, and what takes back.
#include "intents/sentence/negation.h"

#include "intents/sentence/clause_split.h"
#include "intents/sentence/goal_add.h"
#include "intents/sentence/slot_match.h"
#include "intents/sentence/wish_match.h"
#include "intents/sentence/world_names.h"

#include <string.h>

// Whether the words of a negation cancel, as they do without a task beside them.
static bool is_cancel(const char *word)
{
    static const char *const words[] = {
        "cancel",  "forget", "forget about", "never mind", "never mind about",
        "scratch", "skip",   "drop",         "scrap",      "取消",
        "跳过",    "去掉",   "删掉",         "删除"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

// "Not the bedroom" behind what is cancelled: that stays.
static bool is_bare_not(const char *word)
{
    static const char *const words[] = {"not", "but not", "不是", "而不是"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

// What is not wanted, behind its negation (*ret_word) or from 把 to a word that cancels: *w becomes that. false: it is no
// such wish.
static bool negated(const pons__parse_state *s, pons__span *w, const char **ret_word)
{
    size_t at[STARTS_MAX], n = pons__wish_starts(s, w->lo, w->hi, at), which;
    for (size_t k = 0; k < n; k++) {
        const size_t lo = pons__word_at(&s->r->negation, s->f.s, at[k], w->hi, &which);
        if (lo) {
            *ret_word = s->r->negation.v[which];
            w->lo = lo;
            return true;
        }
    }
    *ret_word = "cancel";
    for (size_t i = w->lo + 1; i < w->hi; i += pons__char_len(s->f.s, i)) {
        const size_t after = pons__word_at(&s->r->undone, s->f.s, i, w->hi, NULL);
        if (after && pons__only_fillers(s, after, w->hi)) {
            const size_t lo = pons__literal_at(s->f.s, w->lo, i, "把");
            *w = (pons__span){lo ? lo : w->lo, i};
            return true;
        }
    }
    return false;
}

// "Don't cancel the second", "don't stop": nothing is cancelled, and nothing stops. Whether it is that.
static bool parse_kept(pons__parse_state *s, const char *word, pons__span w)
{
    const char *inner;
    const bool cancels = is_cancel(word);
    const pons__control control = pons__wish_control(s, w);
    if (!cancels && control == CONTROL_STOP && strcmp(word, "不") != 0 && // "you aren't stopping!"
        (w.lo == 0 || !strchr(",;", s->f.s[w.lo - 1]))) {
        pons__keep_control(s, json_array_size(s->goals) > 0 ? CONTROL_NONE : CONTROL_CONTINUE);
        s->stays = true;
        return true;
    }
    pons__capture c;
    const pons__pattern *p = pons__match_strictly(s, w, &c);
    const bool twice = !p && control != CONTROL_CANCEL && negated(s, &w, &inner);
    if (!cancels && (control == CONTROL_CANCEL || (p && p->means.intent == INTENT_CANCEL) ||
                     (twice && is_cancel(inner)))) {
        s->stays = true;
        return true;
    }
    const bool other = (s->cancels || s->nth) && is_bare_not(word);
    s->stays = s->stays || other;
    return other;
}

void pons__not_wanted(pons__parse_state *s, const pons_value *not_wanted, bool cancels)
{
    pons_each(goal, not_wanted) {
        for (size_t i = json_array_size(s->goals); i-- > 0;) {
            pons_autovalue had = json_copy(json_array_get(s->goals, i));
            json_object_set((json_t *)had, "text", (json_t *)pons_get(goal, "text"));
            if (json_equal(had, (json_t *)goal)) {
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

int pons__parse_negated(pons__parse_state *s, pons__span w)
{
    const char *word;
    if (!negated(s, &w, &word)) {
        return 0;
    }
    w.lo = pons__skip_punctuation(s, w.lo, w.hi);
    if (parse_kept(s, word, w)) {
        return 1;
    }
    pons_value *wanted = s->goals;
    if (!(s->goals = json_array())) {
        s->goals = wanted;
        return pons__parse_no_memory(s->err);
    }
    const int rc = pons__parse_strictly(s, w, 0);
    pons_value *not_wanted = s->goals;
    s->goals = wanted;
    pons__not_wanted(s, not_wanted, is_cancel(word));
    json_decref(not_wanted);
    return rc;
}

void pons__take_back(pons__parse_state *s, pons__span *w)
{
    const size_t lo = pons__skip_punctuation(s, w->lo, w->hi);
    size_t after = pons__word_at(&s->r->corrections, s->f.s, lo, w->hi, NULL);
    const size_t before = pons__word_at(&s->r->control[CONTROL_NO], s->f.s, lo, w->hi, NULL);
    const bool apart =
        before && before < w->hi && strchr(",;", s->f.s[before]); // "no, the bedroom"
    const bool no = !after && pons__wish_control(s, *w) == CONTROL_NO;
    after = !after && apart && json_array_size(s->goals) > 0 ? before : after;
    if ((after || no) && json_array_size(s->goals) > 0) {
        json_array_clear(s->goals);
        s->took_back = true;
    }
    w->lo = after ? after : w->lo;
    w->lo = no && s->took_back ? w->hi : w->lo;
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
