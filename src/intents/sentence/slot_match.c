// slot_match.c - whether words and slots of a pattern stand at a place of the sentence.
#include "intents/sentence/slot_match.h"

#include "intents/sentence/world_names.h"

#include <string.h>

static const char *const whether_done[] = {"了吗", "了没"};

static bool is_punctuation(const char *s, size_t pos)
{
    return strchr(" ,;:.!?~\"'", s[pos]) != NULL;
}

size_t pons__skip_punctuation(const pons__parse_state *s, size_t pos, size_t end)
{
    while (pos < end && is_punctuation(s->f.s, pos)) {
        pos++;
    }
    return pos;
}

bool pons__only_fillers(const pons__parse_state *s, size_t pos, size_t end)
{
    for (;;) {
        pos = pons__skip_punctuation(s, pos, end);
        if (pos >= end) {
            return true;
        }
        for (size_t i = 0; i < sizeof whether_done / sizeof *whether_done; i++) {
            if (pons__literal_at(s->f.s, pos, end, whether_done[i])) {
                return false;
            }
        }
        size_t after = pons__word_at(&s->r->trailing, s->f.s, pos, end, NULL);
        after = after ? after : pons__word_at(&s->r->urgent, s->f.s, pos, end, NULL);
        if (!after) {
            return false;
        }
        pos = after;
    }
}

size_t pons__literal_of_list(const char *t, size_t pos, size_t end, const char *const *list,
                             size_t n, size_t *ret_which)
{
    size_t after = 0;
    for (*ret_which = 0; *ret_which < n; ++*ret_which) {
        if ((after = pons__literal_at(t, pos, end, list[*ret_which]))) {
            return after;
        }
    }
    return 0;
}

pons__candidates pons__wish_patterns(const pons__parse_state *s, size_t pos, size_t end)
{
    return pons__candidates_at(&s->r->patterns, s->phrases, s->f.s, pos, end);
}

static void keep_name(pons__capture *c, pons__slot slot, const pons__name *n)
{
    if (slot == SLOT_OBJECT) {
        c->object = n;
    } else if (slot == SLOT_PLACE) {
        c->place = n;
    } else {
        c->zone[0] = n;
        c->zones_n = 1;
    }
}

// Tries each known name at pos, longest first, with and without articles before it.
static bool match_name(const pons__parse_state *s, const pons__pattern *p, size_t i, size_t pos,
                       size_t end, unsigned m, pons__capture *c)
{
    const pons__capture before = *c;
    for (size_t k = 0; k <= ARTICLES_MAX; k++) {
        for (size_t j = 0; j < s->names_n; j++) {
            const pons__name *n = &s->names[j];
            size_t after =
                pons__name_fits(p->item[i].slot, n) ? pons__literal_at(s->f.s, pos, end, n->s) : 0;
            if (!after) {
                continue;
            }
            keep_name(c, p->item[i].slot, n);
            if (pons__slots_match(s, p, i + 1, after, end, m, c)) {
                return true;
            }
            *c = before;
        }
        if (!(pos = pons__word_at(&s->r->articles, s->f.s, pos, end, NULL))) {
            break;
        }
    }
    return false;
}

static bool match_unknown(const pons__parse_state *s, const pons__pattern *p, size_t i, size_t pos,
                          size_t end, unsigned m, pons__capture *c)
{
    pos = pons__skip_spaces(s->f.s, pos, end);
    size_t article = pons__word_at(&s->r->articles, s->f.s, pos, end, NULL);
    pos = article && article < end ? pons__skip_spaces(s->f.s, article, end) : pos;
    pons__capture saved = *c;
    for (size_t hi = pos; hi < end;) {
        hi += pons__char_len(s->f.s, hi);
        if (c->unknown_n++ == 0) {
            c->unknown_slot = p->item[i].slot;
            c->unknown = (pons__span){pos, hi};
        }
        if (pons__slots_match(s, p, i + 1, hi, end, m, c)) {
            return true;
        }
        *c = saved;
    }
    return false;
}

// Every zone, but with those that are left out ("every room except the kitchen") the clause reader has it. 0, or the position
// after it.
static size_t everywhere_at(const pons__parse_state *s, size_t pos, size_t end)
{
    const size_t article = pons__word_at(&s->r->articles, s->f.s, pos, end, NULL);
    return pons__word_at(&s->r->everywhere, s->f.s, article ? article : pos, end, NULL);
}

// A list of zones, the longest first; loosely, its last may be unknown.
static bool match_list(const pons__parse_state *s, const pons__pattern *p, size_t i, size_t pos,
                       size_t end, unsigned m, pons__capture *c)
{
    pons__capture saved = *c;
    const pons__name *zone[LIST_MAX];
    size_t after[LIST_MAX], n = 0, at = pos;
    const size_t all = p->known_only ? 0 : everywhere_at(s, pos, end);
    c->everywhere = all != 0;
    if (all && pons__slots_match(s, p, i + 1, all, end, m, c)) {
        return true;
    }
    *c = saved;
    while (n < LIST_MAX && (after[n] = pons__zone_here(s, at, end, &zone[n]))) {
        size_t join = pons__word_at(&s->r->joins, s->f.s, after[n], end, NULL);
        n++;
        if (!join) {
            break;
        }
        at = join;
    }
    for (size_t k = n; k > 0; k--) {
        memcpy(c->zone, zone, k * sizeof *zone);
        c->zones_n = k;
        if (pons__slots_match(s, p, i + 1, after[k - 1], end, m, c)) {
            return true;
        }
        *c = saved;
    }
    if (!(m & LOOSE)) {
        return false;
    }
    size_t join = n ? pons__word_at(&s->r->joins, s->f.s, after[n - 1], end, NULL) : 0;
    return match_unknown(s, p, i, join ? join : pos, end, m, c);
}

// "5 seconds", "1 minute 30 seconds", "一个半小时", "半分钟", "a minute and a half", "a moment".
size_t pons__duration_at(const pons__parse_state *s, size_t pos, size_t end, double *ret)
{
    const char *t = s->f.s;
    size_t index, after = pons__word_at(&s->r->moments, t, pos, end, &index);
    if (after) {
        *ret = s->r->moment_s[index];
        return after;
    }
    static const char half[] = "半";
    double total = 0, v;
    size_t good = 0;
    for (size_t p = pos; (p = pons__number_at(t, p, end, &v));) {
        size_t each = pons__literal_at(t, p, end, "个");
        size_t extra = pons__literal_at(t, each ? each : p, end, half);
        v += extra ? 0.5 : 0;
        size_t unit = pons__word_at(&s->r->units, t, extra ? extra : p, end, &index);
        if (!unit && each && !extra) {
            unit = pons__word_at(&s->r->units, t, each, end, &index);
        }
        if (!unit) {
            total += good ? 0 : v; // a bare number is in seconds
            good = good ? good : p;
            break;
        }
        total += v * s->r->unit_s[index];
        good = p = unit;
        if ((extra = pons__literal_at(t, p, end, "and a half")) ||
            (extra = pons__literal_at(t, p, end, "半钟")) ||
            (extra = pons__literal_at(t, p, end, half))) {
            total += s->r->unit_s[index] / 2;
            good = p = extra;
        }
        size_t and = pons__literal_at(t, p, end, "and");
        p = and? and : p;
    }
    if (good) {
        *ret = total;
    }
    return good;
}

size_t pons__times_at(const pons__parse_state *s, size_t pos, size_t end, double *ret)
{
    static const char *const words[] = {"once", "twice", "thrice"},
                             *const units[] = {"times", "time",   "次",     "遍",     "回",  "圈",
                                               "趟",    "个来回", "个往返", "rounds", "laps"};
    size_t which, after = pons__literal_of_list(s->f.s, pos, end, words, 3, &which);
    if (after) {
        *ret = (double)which + 1;
        return after;
    }
    after = pons__number_at(s->f.s, pos, end, ret);
    return after ? pons__literal_of_list(s->f.s, after, end, units, sizeof units / sizeof *units,
                                         &which)
                 : 0;
}

// A number with a sign: 0, or the position after it.
static size_t signed_at(const pons__parse_state *s, size_t pos, size_t end, double *ret)
{
    static const char *const minus[] = {"minus", "负"};
    const char *t = s->f.s;
    pos = pons__skip_spaces(t, pos, end);
    bool negative = pos < end && t[pos] == '-';
    size_t at = negative ? pos + 1 : pos;
    for (size_t i = 0; !negative && i < sizeof minus / sizeof minus[0]; i++) {
        const size_t behind = pons__literal_at(t, pos, end, minus[i]);
        negative = behind != 0;
        at = behind ? behind : at;
    }
    const size_t after = pons__number_at(t, at, end, ret);
    *ret = negative ? -*ret : *ret;
    return after;
}

// What may stand before one of them: "x=", "，", and before the third "yaw"; 0: nothing of that.
static size_t behind_mark(const char *t, size_t q, size_t end, bool third)
{
    static const char *const turned[] = {"yaw", "heading", "facing", "朝向", "方向"};
    static const char comma[] = "，";
    for (size_t k = 0; third && k < sizeof turned / sizeof turned[0]; k++) {
        const size_t word = pons__literal_at(t, q, end, turned[k]);
        if (word) {
            return word;
        }
    }
    return strchr(" ,()[]xyXY=:", t[q])                ? q + 1
           : strncmp(t + q, comma, strlen(comma)) == 0 ? q + strlen(comma)
                                                       : 0;
}

// "1.5 2.0", "(1.5, 2.0)", "x=1.5 y=2 yaw=90", "1.5，2.0 90度": the yaw is in degrees.
static bool match_coords(const pons__parse_state *s, const pons__pattern *p, size_t i, size_t pos,
                         size_t end, unsigned m, pons__capture *c)
{
    static const char *const degrees[] = {"degrees", "degree", "deg", "度", "°"};
    const char *t = s->f.s;
    pons__capture saved = *c;
    size_t at[3] = {0}, n = 0, from = pos;
    while (n < 3) {
        size_t q = from, word;
        while (q < end && (word = behind_mark(t, q, end, n == 2))) {
            q = word;
        }
        size_t after = signed_at(s, q, end, &c->coords[n]);
        if (!after) {
            break;
        }
        if (n == 2) {
            size_t unit = 0;
            for (size_t k = 0; !unit && k < sizeof degrees / sizeof degrees[0]; k++) {
                unit = pons__literal_at(t, after, end, degrees[k]);
            }
            after = unit ? unit : after;
            c->coords[n] *= 3.14159265358979 / 180.0;
        }
        while (after < end && strchr(")]", t[after])) {
            after++;
        }
        at[n++] = from = after;
    }
    for (; n >= 2; n--) {
        c->coords_n = n;
        if (pons__slots_match(s, p, i + 1, at[n - 1], end, m, c)) {
            return true;
        }
    }
    *c = saved;
    return false;
}

// What makes a task's of a number: "2nd", 二号任务 (ordinal by itself), 第二个. 0, or the position after it.
static size_t counted_at(const pons__parse_state *s, size_t pos, size_t end, bool *ret_ordinal)
{
    static const char *const units[] = {"个", "条", "项", "件", "号"}, *const task[] = {"任务"},
                             *const ends[] = {"st", "nd", "rd", "th"};
    size_t which, unit = pons__literal_of_list(s->f.s, pos, end, units, 5, &which);
    *ret_ordinal = unit && which == 4 && pons__literal_of_list(s->f.s, unit, end, task, 1, &which);
    // "2nd": a literal is a word of its own, and this is an end of one
    for (size_t k = 0; !unit && k < 4; k++) {
        unit = strncmp(s->f.s + pos, ends[k], 2) == 0 ? pos + 2 : 0;
        *ret_ordinal = unit != 0;
    }
    return unit;
}

size_t pons__nth_at(const pons__parse_state *s, size_t pos, size_t end, int64_t *ret,
                    bool *ret_numbered)
{
    static const char *const lasts[] = {
        "last",     "latest",     "newest",   "最后",     "最末",     "末尾",         "刚才的",
        "刚才那个", "刚刚的",     "上一个",   "最新的",   "刚才那件", "刚才说的那个", "刚才说的",
        "刚说的",   "后头那件",   "后面那件", "后边那件", "后一件",   "后头那个",     "后面那个",
        "后边那个", "刚说的那个", "刚才那项", "刚刚那个", "刚刚说的", "刚刚说的那个"};
    static const char *const one[] = {"一", "那"};
    static const char *const firsts[] = {"前头那件", "前面那件", "前头那个", "前面那个", "头一个",
                                         "头一件",   "头一项",   "头一条",   "首个"};
    static const char *const ordinals[] = {"first", "second",  "third",  "fourth", "fifth",
                                           "sixth", "seventh", "eighth", "ninth",  "tenth"};
    static const char *const nouns[] = {"task",  "one",  "goal",   "job",  "wish", "request",
                                        "thing", "任务", "的任务", "目标", "的",   "事"},
                             *const signs[] = {"number", "task number", "task", "job", "item",
                                               "goal",   "任务",        "#",    "第"};
    const char *t = s->f.s;
    size_t at = pons__word_at(&s->r->articles, t, pos, end, NULL), after = 0;
    at = pons__skip_spaces(t, at ? at : pos, end);
#define ONE_OF(list, from)                                                                         \
    pons__literal_of_list(t, from, end, list, sizeof list / sizeof list[0], &which)
    size_t which = 0;
    double number = 0;
    *ret_numbered = false;
    if ((after = ONE_OF(lasts, at))) {
        bool ordinal;
        const size_t that = ONE_OF(one, after),
                     unit = counted_at(s, that ? that : after, end, &ordinal);
        after = unit ? unit : after;
        *ret = -1;
    } else if ((after = ONE_OF(firsts, at))) {
        *ret = 1;
    } else if ((after = ONE_OF(ordinals, at))) {
        *ret = (int64_t)which + 1;
    } else {
        const size_t sign = ONE_OF(signs, at);
        *ret_numbered = sign && which < 8; // and not 第
        after = pons__number_at(t, sign ? sign : at, end, &number);
        bool ordinal = false;
        const size_t unit = after ? counted_at(s, after, end, &ordinal) : 0;
        if (!after || (!sign && !ordinal) || number < 1 || number != (int64_t)number ||
            number > 1000) {
            return 0;
        }
        after = unit ? unit : after;
        *ret = (int64_t)number;
    }
    for (size_t noun; (noun = ONE_OF(nouns, after));) {
        after = noun;
    }
#undef ONE_OF
    return after;
}

// The rest of the wish, its quotes taken off.
static bool match_text(const pons__parse_state *s, size_t pos, size_t end, pons__capture *c)
{
    const pons__fold *f = &s->f;
    while (pos < end && strchr(" :,", f->s[pos])) {
        pos++;
    }
    while (end > pos && strchr(" ,;", f->s[end - 1])) {
        end--;
    }
    bool quotes = end - pos >= 2 && f->quoted[pos] && f->s[pos] == f->s[end - 1] &&
                  (f->s[pos] == '"' || f->s[pos] == '\'');
    c->text = (pons__span){pos + quotes, end - quotes};
    return c->text.lo < c->text.hi &&
           pons__skip_punctuation(s, c->text.lo, c->text.hi) < c->text.hi;
}

bool pons__slots_match(const pons__parse_state *s, const pons__pattern *p, size_t i, size_t pos,
                       size_t end, unsigned m, pons__capture *c)
{
    if (i == p->n) {
        return m & PREFIX || pons__only_fillers(s, pos, end);
    }
    size_t after;
    switch (p->item[i].slot) {
    case SLOT_LITERAL:
        after = pons__literal_at(s->f.s, pos, end, p->item[i].literal);
        return after && pons__slots_match(s, p, i + 1, after, end, m, c);
    case SLOT_ZONES:
        return match_list(s, p, i, pos, end, m, c);
    case SLOT_ZONE:
    case SLOT_OBJECT:
    case SLOT_PLACE:
        return match_name(s, p, i, pos, end, m, c) ||
               (m & LOOSE && match_unknown(s, p, i, pos, end, m, c));
    case SLOT_DURATION:
        after = pons__duration_at(s, pos, end, &c->seconds);
        if (after && p->known_only && after == pons__number_at(s->f.s, pos, end, &c->number)) {
            return false; // 三点五 alone is no time to wait
        }
        c->has_seconds = after != 0;
        return after && pons__slots_match(s, p, i + 1, after, end, m, c);
    case SLOT_NUMBER:
        after = signed_at(s, pos, end, &c->number);
        return after && pons__slots_match(s, p, i + 1, after, end, m, c);
    case SLOT_NTH:
        after = pons__nth_at(s, pos, end, &c->nth, &c->numbered);
        return after && pons__slots_match(s, p, i + 1, after, end, m, c);
    case SLOT_COORDS:
        return match_coords(s, p, i, pos, end, m, c);
    case SLOT_TEXT:
        return i + 1 == p->n && match_text(s, pos, end, c);
    }
    return false;
}

size_t pons__wish_starts(const pons__parse_state *s, size_t lo, size_t hi, size_t ret[STARTS_MAX])
{
    size_t n = 0, pos = pons__skip_punctuation(s, lo, hi);
    if (lo < hi && s->f.quoted[lo]) {
        pos = lo; // a wish in quotes is left alone
    }
    while (pos < hi && n < STARTS_MAX) {
        ret[n++] = pos;
        size_t after = pons__word_at(&s->r->leading, s->f.s, pos, hi, NULL);
        after = after ? after : pons__word_at(&s->r->urgent, s->f.s, pos, hi, NULL);
        after = after ? after : pons__word_at(&s->r->urgent_alone, s->f.s, pos, hi, NULL);
        if (!after) {
            break;
        }
        pos = pons__skip_punctuation(s, after, hi);
    }
    return n;
}
