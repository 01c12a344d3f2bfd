// speed_adverbs.c - how fast, within a wish to move: "go slowly to the kitchen", "go to the kitchen at half speed", 慢慢去厨房.
//
//     before or within it     fillers and a verb, a phrase of speed_change.c: what is left without it is the wish
//     behind it               the whole end of the sentence is such a phrase
//
// It counts only where what is left is understood as a wish to move: "say hello slowly", "find the slower one" say
// nothing of the robot. "Slowly" is at most half of its speed there, so that who says it of each wish, or of every day at
// nine, does not make it slower each time; "slower" is a step, as ever. "Faster" and "at normal speed" make no pace: in a
// wish they are a hurry, and the pace that somebody asked for stays. A complaint needs its comma ("去厨房，太快了"), and
// what is held back by the word before it ("but not slowly", "how slow") is none.
#include "intents/speed_change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1024, TAIL_MAX = 64, CUTS_MAX = 16, SLOWLY_PERCENT = 50 };

// Behind a phrase, and a part of it.
static const char *const softly[] = {"一点儿", "一点", "一些", "点儿",  "点",
                                     "些",     "地",   "的",   "please"};
// What ends before a phrase and says that it is none.
static const char *const holds_back[] = {
    "not", "no", "never", "is",  "are", "was", "were", "be", "that's", "it's", "how", "too", "so",
    "as",  "or", "than",  "say", "不",  "别",  "没",   "太", "很",     "多",   "说",  "喊",
};

static bool separates(char c)
{
    return c == ' ' || pons__pace_separates(c);
}

// Where something is to be said, how fast may be a part of that.
static bool speaks(const pons__fold *f)
{
    static const char *const words[] = {"say", "tell", "announce", "speak", "shout", "说",  "喊",
                                        "念",  "告诉", "通知",     "提醒",  "播报",  "广播"};
    for (size_t pos = 0; pos < f->n; pos++) {
        const bool begins =
            pos == 0 || separates(f->s[pos - 1]) || (unsigned char)f->s[pos] >= 0x80;
        for (size_t i = 0; begins && i < sizeof words / sizeof words[0]; i++) {
            if (pons__literal_at(f->s, pos, f->n, words[i])) {
                return true;
            }
        }
    }
    return false;
}

static bool slows(const pons__speed_phrase *h, bool apart)
{
    const bool slower = h->kind == PACE_SLOWER || (h->kind == PACE_TOO_FAST && apart);
    return slower || h->kind == PACE_PERCENT || h->kind == PACE_MPS;
}

static bool held_back(const pons__fold *f, size_t at)
{
    size_t end = at;
    while (end > 0 && f->s[end - 1] == ' ') {
        end--;
    }
    for (size_t i = 0; i < sizeof holds_back / sizeof holds_back[0]; i++) {
        const size_t n = strlen(holds_back[i]);
        const bool there = end >= n && memcmp(f->s + end - n, holds_back[i], n) == 0;
        const bool word = there && (end == n || separates(f->s[end - n - 1]) ||
                                    (unsigned char)holds_back[i][0] >= 0x80);
        if (word) {
            return true;
        }
    }
    return false;
}

// Whether every goal of a wish moves the robot: 0 no, else more the surer it is. In a world without names: of what
// would be one in another, the shorter what is no verb, the surer.
static int moves(pons__rules *rules, const char *wish)
{
    static const char *const moving[] = {"go_to", "come_back", "patrol", "charge",
                                         "bring", "put",       "pick",   "put_down"};
    pons_error why = PONS_ERROR_INIT;
    pons_autovalue parsed = NULL;
    pons_autovalue nowhere = json_object();
    size_t unknown = 0;
    const int rc = pons__parse(rules, wish, nowhere, &parsed, &unknown, &why);
    const pons_value *goals = pons_get(parsed, "goals");
    if (rc == PONS_EINVAL && unknown > 0) {
        return unknown < TEXT_MAX ? TEXT_MAX - (int)unknown : 1;
    }
    if (rc < 0 || json_is_string(pons_get(parsed, "control")) || json_array_size(goals) == 0) {
        return 0;
    }
    pons_each(goal, goals) {
        const char *intent = pons_get_str(goal, "intent", "");
        bool one = false;
        for (size_t k = 0; k < sizeof moving / sizeof moving[0]; k++) {
            one = one || strcmp(moving[k], intent) == 0;
        }
        if (!one) {
            return 0;
        }
    }
    return TEXT_MAX;
}

// The text without the folded bytes [lo, hi), where that is a wish to move, and surer than what *best is of.
static int without(pons__rules *rules, const char *text, const pons__fold *f, size_t lo, size_t hi,
                   int *best, char **ret)
{
    while (lo > 0 && separates(f->s[lo - 1])) {
        lo--;
    }
    while (hi < f->n && separates(f->s[hi])) {
        hi++;
    }
    const char *tail = text + f->at[hi];
    const bool blank =
        lo > 0 && hi < f->n && (unsigned char)f->s[lo - 1] < 0x80 && (unsigned char)f->s[hi] < 0x80;
    const size_t head = f->at[lo], n = strlen(tail);
    char *wish = malloc(head + n + 2);
    if (!wish) {
        return PONS_ENOMEM;
    }
    memcpy(wish, text, head);
    wish[head] = ' ';
    memcpy(wish + head + blank, tail, n + 1);
    const int sure = moves(rules, wish);
    if (sure <= *best) {
        free(wish);
        return PONS_OK;
    }
    free(*ret);
    *ret = wish;
    *best = sure;
    return PONS_OK;
}

// The phrase compares ("slower", 慢一点), and does not say how it is to be done ("slowly", 慢慢地).
static bool compares(const pons__fold *f, size_t lo, size_t hi)
{
    static const char *const marks[] = {"slower", "more slowly", "slow down", "点",
                                        "些",     "减",          "放慢",      "降低"};
    for (size_t pos = lo; pos < hi; pos++) {
        for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
            const size_t n = strlen(marks[i]);
            if (pos + n <= hi && memcmp(f->s + pos, marks[i], n) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void settle(const pons__fold *f, size_t lo, size_t hi, pons__speed_phrase *h)
{
    if ((h->kind == PACE_SLOWER || h->kind == PACE_TOO_FAST) && !compares(f, lo, hi)) {
        *h = (pons__speed_phrase){PACE_PERCENT, SLOWLY_PERCENT, true, h->rest};
    }
}

static size_t past_soft(const pons__fold *f, size_t pos)
{
    for (size_t before = pos + 1; before != pos;) {
        before = pos;
        for (size_t i = 0; i < sizeof softly / sizeof softly[0]; i++) {
            const size_t after = pons__literal_at(f->s, pos, f->n, softly[i]);
            pos = after ? after : pos;
        }
    }
    return pos;
}

// "Slowly go to …", "go slowly to …", "at half speed to …", 慢慢去…, 走慢点去….
static int before_it(pons__rules *rules, const char *text, const pons__fold *f,
                     pons__speed_phrase *ret, char **ret_rest)
{
    size_t cut[CUTS_MAX], n = 0;
    int rc = PONS_OK, best = 0;
    for (size_t pos = 0; n < CUTS_MAX && rc == PONS_OK && !*ret_rest;) {
        pos = pons__skip_spaces(f->s, pos, f->n);
        cut[n++] = pos;
        const size_t after = pons__pace_phrase(f, pos, ret);
        const bool counts =
            after && after < f->n && slows(ret, false) && !f->quoted[pos] && !held_back(f, cut[0]);
        const size_t end = counts ? past_soft(f, after) : pos;
        for (size_t i = counts ? n : 0; i-- > 0 && rc == PONS_OK;) {
            rc = without(rules, text, f, cut[i], end, &best, ret_rest);
        }
        if (counts) {
            settle(f, pos, end, ret);
        }
        const size_t filler = pons__pace_filler(rules->base, f, pos);
        if (!filler) {
            break;
        }
        pos = filler;
    }
    return rc;
}

// "Go to the kitchen slowly", "…, not too fast", 去厨房慢一点.
static int behind_it(pons__rules *rules, const char *text, const pons__fold *f,
                     pons__speed_phrase *ret, char **ret_rest)
{
    int rc = PONS_OK, best = 0;
    size_t pos = f->n > TAIL_MAX ? f->n - TAIL_MAX : 1;
    for (; pos < f->n && rc == PONS_OK && !*ret_rest; pos++) {
        const unsigned char c = (unsigned char)f->s[pos], last = (unsigned char)f->s[pos - 1];
        const bool begins =
            (c & 0xc0) != 0x80 && c != ' ' && (separates((char)last) || c >= 0x80 || last >= 0x80);
        const bool apart =
            last == ',' || last == ';' || (last == ' ' && pos > 1 && f->s[pos - 2] == ',');
        if (begins && !f->quoted[pos] && !held_back(f, pos) &&
            pons__pace_find(rules->base, f, pos, ret) && ret->rest == f->n && slows(ret, apart)) {
            rc = without(rules, text, f, pos, f->n, &best, ret_rest);
            settle(f, pos, f->n, ret);
        }
    }
    return rc;
}

int pons__speed_adverb(pons__rules *rules, const char *text, const pons__fold *f,
                       pons__speed_phrase *ret, char **ret_rest)
{
    pons_autovalue timed = NULL;
    *ret_rest = NULL;
    if (f->n > TEXT_MAX || speaks(f) ||
        pons__policy_when(rules, text, &timed, &(pons_error)PONS_ERROR_INIT) == PONS_OK) {
        return PONS_ENOTFOUND; // the goal of a time is heard when its time has come
    }
    int rc = before_it(rules, text, f, ret, ret_rest);
    rc = rc == PONS_OK && !*ret_rest ? behind_it(rules, text, f, ret, ret_rest) : rc;
    const bool found = rc == PONS_OK && *ret_rest;
    if (found && !isfinite(ret->number)) {
        free(*ret_rest);
        *ret_rest = NULL;
        return PONS_ENOTFOUND;
    }
    return found ? PONS_OK : rc < 0 ? rc : PONS_ENOTFOUND;
}
