// clause_split.c - cutting a sentence into wishes.
#include "intents/sentence/clause_split.h"

#include "intents/sentence/slot_match.h"
#include "intents/sentence/world_names.h"

#include <string.h>

bool pons__cut_words(pons__parse_state *s, pons__span *w, const pons__words *words)
{
    bool found = false;
    for (size_t i = w->lo; i < w->hi;) {
        const pons__name *n;
        size_t after = s->f.quoted[i] ? i + 1 : pons__name_here(s, i, w->hi, &n);
        if (!after && (after = pons__word_at(words, s->f.s, i, w->hi, NULL))) {
            pons__fold_cut(&s->f, i, after); // with the space before it, not the one after it
            w->hi -= after - i;
            found = true;
            continue;
        }
        i = after ? after : i + pons__char_len(s->f.s, i);
    }
    return found;
}

bool pons__stop_anywhere(const pons__parse_state *s)
{
    for (size_t i = 0; i < s->f.n;) {
        // "Don't stop" holds no stop.
        size_t after = pons__word_at(&s->r->control[CONTROL_CONTINUE], s->f.s, i, s->f.n, NULL);
        if (!s->f.quoted[i] && !after && pons__word_at(&s->r->anywhere, s->f.s, i, s->f.n, NULL)) {
            return true;
        }
        i = after ? after : i + pons__char_len(s->f.s, i);
    }
    return false;
}

size_t pons__separator_at(const pons__parse_state *s, size_t pos, size_t end, bool *ret_hard)
{
    size_t after = pons__word_at(&s->r->hard, s->f.s, pos, end, NULL);
    *ret_hard = after != 0;
    return after ? after : pons__word_at(&s->r->soft, s->f.s, pos, end, NULL);
}

// A word that controls the robot, and then an end or a separator.
static bool control_begins(const pons__parse_state *s, size_t pos, size_t end)
{
    for (pons__control c = CONTROL_STOP; c <= CONTROL_NO; c++) {
        size_t after = pons__word_at(&s->r->control[c], s->f.s, pos, end, NULL);
        bool hard;
        if (after &&
            (pons__only_fillers(s, after, end) || pons__separator_at(s, after, end, &hard))) {
            return true;
        }
    }
    return false;
}

pons__intent pons__wish_begins(const pons__parse_state *s, size_t pos, size_t end, bool known,
                               bool *control)
{
    size_t at[STARTS_MAX];
    size_t n = pons__wish_starts(s, pos, end, at);
    for (size_t k = 0; k < n; k++) {
        if (control && (control_begins(s, at[k], end))) {
            *control = true;
            return INTENT_NONE;
        }
        pons__candidates list = pons__wish_patterns(s, at[k], end);
        for (const pons__pattern *p; (p = pons__candidates_next(&list));) {
            pons__capture c = {0};
            if (p->known_only || p->item[0].slot != SLOT_LITERAL) {
                continue;
            }
            size_t after = pons__literal_at(s->f.s, at[k], end, p->item[0].literal);
            if (after && (known ? pons__slots_match(s, p, 1, after, end, PREFIX, &c)
                                : p->n == 1 || pons__skip_spaces(s->f.s, after, end) < end)) {
                return p->means.intent;
            }
        }
    }
    return INTENT_NONE;
}

void pons__next_cut(const pons__parse_state *s, size_t pos, size_t *ret_end, size_t *ret_next)
{
    const char *t = s->f.s;
    size_t end = s->f.n;
    bool say = pons__wish_begins(s, pos, end, false, NULL) == INTENT_SAY;
    size_t at[STARTS_MAX]; // "go and" before a wish holds no cut
    size_t n_starts = pons__wish_starts(s, pos, end, at);
    const size_t first = n_starts ? at[n_starts - 1] : pos;
    const pons__name *n;
    for (size_t i = first; i < end;) {
        size_t after;
        int64_t nth;
        bool hard, numbered, control = false;
        if (s->f.quoted[i]) {
            i++;
        } else if ((after = pons__name_here(s, i, end, &n)) ||
                   (after = pons__word_at(&s->r->polite, s->f.s, i, end, NULL)) ||
                   (after = pons__nth_at(s, i, end, &nth, &numbered))) {
            i = after;
        } else if ((after = pons__separator_at(s, i, end, &hard)) &&
                   (hard || pons__wish_begins(s, after, end, say, &control) != INTENT_NONE ||
                    control)) {
            *ret_end = i;
            *ret_next = after;
            return;
        } else {
            after = pons__word_at(&s->r->negation, t, i, end, NULL); // 不要再
            i = after ? after : i + pons__char_len(t, i);
        }
    }
    *ret_end = *ret_next = end;
}

pons__control pons__wish_control(const pons__parse_state *s, pons__span w)
{
    size_t at[STARTS_MAX];
    size_t n = pons__wish_starts(s, w.lo, w.hi, at);
    for (size_t k = 0; k < n; k++) {
        for (pons__control c = CONTROL_STOP; c < CONTROL_COUNT; c++) {
            size_t after = pons__word_at(&s->r->control[c], s->f.s, at[k], w.hi, NULL);
            size_t again = after;
            while (again) { // 停停停, "no, no"
                after = again;
                again = pons__word_at(&s->r->control[c], s->f.s,
                                      pons__skip_punctuation(s, after, w.hi), w.hi, NULL);
            }
            if (after && pons__only_fillers(s, after, w.hi)) {
                return c;
            }
        }
    }
    return CONTROL_NONE;
}

bool pons__wish_is_blank(const pons__parse_state *s, pons__span w)
{
    size_t at[STARTS_MAX];
    size_t n = pons__wish_starts(s, w.lo, w.hi, at);
    if (n == 0 || pons__only_fillers(s, at[n - 1], w.hi)) {
        return true;
    }
    size_t after = pons__word_at(&s->r->leading, s->f.s, at[n - 1], w.hi, NULL);
    return after && pons__only_fillers(s, after, w.hi);
}

bool pons__has_word(const pons__parse_state *s, const pons__words *words, pons__span w)
{
    for (size_t i = w.lo; i < w.hi; i += pons__char_len(s->f.s, i)) {
        if (!s->f.quoted[i] && pons__word_at(words, s->f.s, i, w.hi, NULL)) {
            return true;
        }
    }
    return false;
}
