// wish_match.c - one wish held against the patterns.
#include "intents/sentence/wish_match.h"

#include "intents/sentence/clause_split.h"
#include "intents/sentence/goal_add.h"
#include "intents/sentence/slot_match.h"

#include <string.h>

const pons__pattern *pons__match_strictly(const pons__parse_state *s, pons__span w,
                                          pons__capture *ret)
{
    size_t at[STARTS_MAX];
    size_t n = pons__wish_starts(s, w.lo, w.hi, at);
    for (size_t k = 0; k < n; k++) {
        pons__candidates list = pons__wish_patterns(s, at[k], w.hi);
        for (const pons__pattern *p; (p = pons__candidates_next(&list));) {
            *ret = (pons__capture){0};
            if (!(p->known_only && s->asks && !s->polite) &&
                pons__slots_match(s, p, 0, at[k], w.hi, STRICT, ret)) {
                return p;
            }
        }
    }
    return NULL;
}

const pons__pattern *pons__match_loosely(const pons__parse_state *s, pons__span w,
                                         pons__capture *ret)
{
    size_t at[STARTS_MAX];
    size_t n = w.hi - w.lo <= LOOSE_MAX ? pons__wish_starts(s, w.lo, w.hi, at) : 0;
    const pons__pattern *found = NULL;
    for (size_t k = 0; k < n; k++) {
        pons__candidates list = pons__wish_patterns(s, at[k], w.hi);
        for (const pons__pattern *p; (p = pons__candidates_next(&list));) {
            pons__capture c = {0};
            if (!p->known_only && p->item[0].slot == SLOT_LITERAL &&
                pons__slots_match(s, p, 0, at[k], w.hi, LOOSE, &c) &&
                (!found || c.unknown_n < ret->unknown_n)) {
                *ret = c;
                found = p;
            }
        }
    }
    return found;
}

// "… twice", "… three times", …两遍: how often, and the wish before it; 0: that is not said.
static size_t times_of(const pons__parse_state *s, pons__span *w)
{
    for (size_t i = w->lo + 1; i < w->hi; i += pons__char_len(s->f.s, i)) {
        double n = 0;
        const size_t after = s->f.quoted[i] ? 0 : pons__times_at(s, i, w->hi, &n);
        if (after && pons__only_fillers(s, after, w->hi) && n >= 1 &&
            n <= (double)s->r->goals_max && n == (double)(size_t)n) {
            w->hi = i;
            return (size_t)n;
        }
    }
    return 0;
}

// Whether such a wish may follow another one without a separator: 去厨房干什么 asks.
static bool goes_on(pons__intent intent)
{
    return intent != INTENT_NONE && (intent < INTENT_WHERE || intent == INTENT_LOOK_FOR);
}

// Of what is brought, a bare zone says where it is, and one behind 到 where to: 书房里拿苹果给我, 拿杯子到卧室.
static bool brings(pons__intent intent)
{
    return intent == INTENT_BRING || intent == INTENT_PICK;
}

// The pattern of a whole wish, which may say how often; *w is the wish without that.
static const pons__pattern *match_times(const pons__parse_state *s, pons__span *w,
                                        pons__capture *ret, size_t *ret_times)
{
    pons__span once = *w;
    *ret_times = times_of(s, &once);
    const bool whole =
        *ret_times == 0 || pons__wish_begins(s, w->lo, w->hi, false, NULL) != INTENT_SAY;
    const pons__pattern *p = whole ? pons__match_strictly(s, *w, ret) : NULL;
    if (p || *ret_times == 0) { // "turn three times" may be a skill's own
        *ret_times = 1;
        return p;
    }
    *w = once;
    return pons__match_strictly(s, once, ret);
}

// The goals of a wish, so often.
static int add_times(pons__parse_state *s, const pons__pattern *p, const pons__capture *c,
                     pons__span w, size_t times)
{
    // "There and back twice" is the whole way.
    const bool back = p->means.intent == INTENT_COME_BACK ||
                      (times > 1 && w.hi > w.lo && strchr(",;", s->f.s[w.hi - 1]));
    const size_t before = back ? 0 : json_array_size(s->goals);
    const int rc = pons__goals_add(s, p, c, w);
    return rc == PONS_OK ? pons__goals_repeat(s, before, times) : rc;
}

int pons__parse_strictly(pons__parse_state *s, pons__span w, size_t depth)
{
    pons__capture c;
    size_t times;
    pons__span bare = w;
    const pons__pattern *p = match_times(s, &bare, &c, &times);
    if (p) {
        const int rc = add_times(s, p, &c, bare, times);
        return rc == PONS_OK ? 1 : rc;
    }
    if (depth == 0 || w.lo >= w.hi) {
        return 0;
    }
    // Two wishes side by side: the longest first one whose rest is understood too.
    size_t kept = json_array_size(s->goals);
    for (size_t cut = w.hi; --cut > w.lo;) {
        pons__span head = {w.lo, cut}, tail = {cut, w.hi};
        if (((unsigned char)s->f.s[cut] & 0xC0u) != 0xC0u ||
            s->f.quoted[cut] || // as Chinese allows
            !goes_on(pons__wish_begins(s, cut, w.hi, true, NULL)) ||
            !(p = pons__match_strictly(s, head, &c)) || !goes_on(p->means.intent) ||
            (p->known_only && brings(pons__wish_begins(s, cut, w.hi, true, NULL))) ||
            (brings(p->means.intent) && pons__literal_at(s->f.s, cut, w.hi, "到"))) {
            continue;
        }
        int rc = pons__goals_add(s, p, &c, head);
        if (rc != PONS_OK || (rc = pons__parse_strictly(s, tail, depth - 1)) != 0) {
            return rc;
        }
        pons__goals_drop(s->goals, kept);
    }
    return 0;
}
