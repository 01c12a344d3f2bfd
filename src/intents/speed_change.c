// speed_change.c - how fast a person wants it from now on: "slower", "half speed", "at 0.2 m/s", 慢一点, 快一点, 正常速度, 半速.
//
//     what is said     politeness and fillers of the intents, one of the phrases below, fillers
//     "slower, go to the kitchen"     what follows a comma or a stop is a wish of its own: `rest`
//     "yes, slower"                   a control word goes before it: `before`; "resume at half speed" too
//
// A complaint ("you are going too fast") makes it slower. What is faster, or a number, is an order alone: in a
// statement ("it is still going faster", "it's at 80 %", "太慢了吗") it is no pace. A bare share needs its "speed".
// "Faster" before a wish is a hurry ("快点，去厨房") and none of these: that is the intents' `urgent`.
// This file knows the phrases; speed_phrases.c hears a whole sentence, and speed_adverbs.c a wish that one is within.
// What only sets a limit ("slow down to 0.2 m/s", "at most 30 % of the speed") raises none: `at_most`.
#include "intents/speed_change.h"

#include <string.h>

typedef struct phrase {
    const char *before, *after; // of a number between them; after NULL: there is none
    pons__pace_kind kind;
    double number; // PERCENT without a number: this; else its factor
} phrase;

#define WORD(text, kind)                                                                           \
    {                                                                                              \
        text, NULL, PACE_##kind, 0.0                                                               \
    }
#define SHARE(text, number)                                                                        \
    {                                                                                              \
        text, NULL, PACE_PERCENT, number                                                           \
    }
#define OF(before, after, kind)                                                                    \
    {                                                                                              \
        before, after, PACE_##kind, 1.0                                                            \
    }
#define TENTH(before, after)                                                                       \
    {                                                                                              \
        before, after, PACE_PERCENT, 10.0                                                          \
    }
#define CM(before, after)                                                                          \
    {                                                                                              \
        before, after, PACE_MPS, 0.01                                                              \
    }

// The first that fits as a whole: longer ones go before those that they begin with.
// clang-format off
static const phrase phrases[] = {
    WORD("too fast", TOO_FAST), WORD("a bit fast", TOO_FAST), WORD("a little fast", TOO_FAST),
    WORD("a little bit fast", TOO_FAST), WORD("太快", TOO_FAST), WORD("有点快", TOO_FAST), WORD("有点儿快", TOO_FAST),
    WORD("有一点快", TOO_FAST), WORD("有些快", TOO_FAST), WORD("快了", TOO_FAST), WORD("别太快", TOO_FAST),
    WORD("不要太快", TOO_FAST), WORD("别那么快", TOO_FAST), WORD("不要那么快", TOO_FAST), WORD("别这么快", TOO_FAST),
    WORD("不要这么快", TOO_FAST), WORD("别开那么快", TOO_FAST), WORD("别走那么快", TOO_FAST), WORD("不要开那么快", TOO_FAST),
    WORD("不要走那么快", TOO_FAST), WORD("别开太快", TOO_FAST), WORD("别走太快", TOO_FAST), WORD("别跑那么快", TOO_FAST),
    WORD("don't go so fast", SLOWER), WORD("don't drive so fast", SLOWER), WORD("don't move so fast", SLOWER),
    WORD("do not go so fast", SLOWER), WORD("do not drive so fast", SLOWER), WORD("don't go too fast", SLOWER),
    WORD("don't drive too fast", SLOWER), WORD("do not go too fast", SLOWER), WORD("do not drive too fast", SLOWER),
    WORD("not too fast", SLOWER), WORD("as slowly as you can", SLOWER), WORD("as slowly as possible", SLOWER),
    WORD("as slow as possible", SLOWER),
    WORD("not so slow", FASTER), WORD("not that slow", FASTER), WORD("too slow", FASTER),
    WORD("a bit slow", FASTER), WORD("a little slow", FASTER), WORD("a little bit slow", FASTER),
    WORD("太慢了", TOO_SLOW), WORD("太慢", TOO_SLOW), WORD("有点慢了", TOO_SLOW), WORD("有点慢", TOO_SLOW),
    WORD("有点儿慢", TOO_SLOW), WORD("有一点慢", TOO_SLOW), WORD("有些慢", TOO_SLOW),
    WORD("not so fast", SLOWER), WORD("not that fast", SLOWER),
    WORD("slower", SLOWER), WORD("even slower", SLOWER), WORD("still slower", SLOWER), WORD("slower still", SLOWER),
    WORD("slower than that", SLOWER), WORD("slow down", SLOWER), WORD("more slowly", SLOWER), WORD("slowly", SLOWER),
    WORD("slow", SLOWER),
    WORD("reduce your speed", SLOWER), WORD("reduce the speed", SLOWER), WORD("reduce speed", SLOWER),
    WORD("放慢速度", SLOWER), WORD("放慢", SLOWER), WORD("得慢一点", SLOWER), WORD("得慢点", SLOWER), WORD("得慢些", SLOWER),
    WORD("还是慢一点", SLOWER), WORD("还是慢点", SLOWER), WORD("还是慢些", SLOWER), WORD("慢慢地", SLOWER),
    WORD("减慢速度", SLOWER), WORD("减速", SLOWER), WORD("降低速度", SLOWER), WORD("速度慢一点", SLOWER),
    WORD("速度慢点", SLOWER), WORD("速度慢些", SLOWER), WORD("慢慢", SLOWER), WORD("慢", SLOWER),
    WORD("faster", FASTER), WORD("speed up", FASTER), WORD("more quickly", FASTER), WORD("quicker", FASTER),
    WORD("别那么慢", FASTER), WORD("不要那么慢", FASTER), WORD("别这么慢", FASTER),
    WORD("double speed", FASTER), WORD("double the speed", FASTER), WORD("double your speed", FASTER),
    WORD("twice as fast", FASTER), WORD("双倍速度", FASTER), WORD("两倍速度", FASTER), WORD("加倍速度", FASTER),
    WORD("加快速度", FASTER), WORD("加快", FASTER), WORD("加速", FASTER), WORD("提高速度", FASTER),
    WORD("提速", FASTER), WORD("速度快一点", FASTER), WORD("速度快点", FASTER), WORD("速度快些", FASTER),
    WORD("快", FASTER),
    WORD("normal speed", NORMAL), WORD("resume normal speed", NORMAL), WORD("usual speed", NORMAL), WORD("full speed", NORMAL),
    WORD("normal pace", NORMAL), WORD("as fast as usual", NORMAL), WORD("as fast as before", NORMAL),
    WORD("as fast as you may", NORMAL), WORD("as fast as you can", NORMAL),
    WORD("正常速度", NORMAL), WORD("恢复正常速度", NORMAL), WORD("恢复速度", NORMAL), WORD("恢复原速", NORMAL),
    WORD("原来的速度", NORMAL), WORD("恢复原来的速度", NORMAL), WORD("平常的速度", NORMAL), WORD("全速", NORMAL),
    SHARE("half the speed", 50.0), SHARE("half your speed", 50.0), SHARE("half speed", 50.0),
    SHARE("half as fast", 50.0), SHARE("a quarter of the speed", 25.0), SHARE("quarter speed", 25.0),
    SHARE("半速", 50.0), SHARE("一半的速度", 50.0), SHARE("一半速度", 50.0), SHARE("速度减半", 50.0),
    OF("at", "m/s", MPS), OF("", "m/s", MPS),
    OF("at", "meters per second", MPS), OF("at", "metres per second", MPS),
    OF("at", "meters a second", MPS), OF("at", "metres a second", MPS),
    OF("", "meters per second", MPS), OF("", "metres per second", MPS),
    CM("at", "cm/s"), CM("", "cm/s"),
    OF("以", "米每秒", MPS), OF("", "米每秒", MPS), OF("每秒", "米", MPS),
    OF("以每秒", "米", MPS), OF("以每秒", "米的速度", MPS), OF("以", "米/秒", MPS), OF("", "米/秒", MPS),
    CM("以每秒", "厘米"), CM("每秒", "厘米"), CM("", "厘米/秒"), CM("", "厘米每秒"),
    OF("at", "% speed", PERCENT), OF("at", "percent speed", PERCENT), OF("at", "% of the speed", PERCENT),
    OF("at", "percent of the speed", PERCENT), OF("at", "% of your speed", PERCENT),
    OF("", "% of the speed", PERCENT), OF("", "percent of the speed", PERCENT), OF("", "% of your speed", PERCENT),
    OF("drive at", "%", PERCENT), OF("drive at", "percent", PERCENT), OF("go at", "%", PERCENT),
    OF("go at", "percent", PERCENT), OF("slow down to", "%", PERCENT), OF("slow down to", "percent", PERCENT),
    OF("slow to", "%", PERCENT), OF("slow to", "percent", PERCENT), OF("减速到", "%", PERCENT), OF("放慢到", "%", PERCENT),
    OF("减速到百分之", "", PERCENT),
    OF("reduce your speed to", "%", PERCENT), OF("reduce the speed to", "%", PERCENT), OF("reduce speed to", "%", PERCENT), OF("放慢到百分之", "", PERCENT),
    OF("", "% speed", PERCENT),
    OF("", "percent speed", PERCENT), OF("speed", "%", PERCENT), OF("speed", "percent", PERCENT),
    OF("speed to", "%", PERCENT), OF("set the speed to", "%", PERCENT), OF("set the speed to", "percent", PERCENT),
    OF("set speed to", "%", PERCENT), OF("set speed to", "percent", PERCENT), OF("set speed to", "m/s", MPS),
    OF("set the speed to", "m/s", MPS), OF("speed", "m/s", MPS), WORD("set the speed to normal", NORMAL),
    OF("速度", "%", PERCENT), OF("速度调到", "%", PERCENT), OF("以", "%的速度", PERCENT), OF("", "%速度", PERCENT),
    TENTH("", "成速度"), TENTH("", "成的速度"), TENTH("以", "成速度"), TENTH("以", "成的速度"), TENTH("速度", "成"),
    OF("max speed", "m/s", MPS), OF("maximum speed", "m/s", MPS), OF("speed limit", "m/s", MPS),
    OF("max speed", "%", PERCENT), OF("maximum speed", "%", PERCENT), OF("最高速度", "米每秒", MPS),
    OF("最高速度", "米/秒", MPS), OF("最高速度", "%", PERCENT),
    OF("速度百分之", "", PERCENT), OF("速度调到百分之", "", PERCENT), OF("以百分之", "的速度", PERCENT),
    OF("速度调到", "米每秒", MPS), OF("速度", "米每秒", MPS),
};

// What may stand before and behind it, beside what the intents say.
static const char *const fillers[] = {
    "a little bit", "a little", "a bit", "a lot", "much", "somewhat", "and", "but", "only", "但是", "但", "不过", "可是", "只是", "go", "drive", "move", "back to",
    "back at", "return to", "at", "from now on", "一点儿", "一点", "一些", "点儿", "点", "些", "稍微", "稍", "更", "再", "开", "走", "跑", "行驶",
    "very", "really", "非常", "尽量", "的时候", "你", "要", "用", "以", "按", "到", "从现在起", "恢复", "恢复到",
};
// The same before a number that is a limit.
static const char *const limiting[] = {
    "slow down to", "slow to", "reduce your speed to", "reduce the speed to", "reduce speed to", "at most",
    "max speed", "maximum speed", "speed limit", "最高速度", "never go faster than", "never drive faster than",
    "don't go faster than", "don't drive faster than", "do not go faster than", "do not drive faster than",
    "no faster than", "not faster than", "no more than", "不超过", "别超过", "不要超过", "最快", "最多", "至多", "减速到", "放慢到",
    "慢到", "降到", "降低到", "减慢到", "降速到",
};
// The same of a statement: what goes with a complaint, and with no order.
static const char *const stating[] = {
    "that is", "that's", "it is", "it's", "you are", "you're", "this is", "going", "driving", "moving", "it", "still",
    "even", "again", "是", "还是", "还", "有", "有点", "有点儿", "速度", "得", "地", "都", "会", "了",
};
// clang-format on

static size_t longest(const pons__fold *f, size_t pos, const char *const *words, size_t n)
{
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t after = pons__literal_at(f->s, pos, f->n, words[i]);
        best = after > best ? after : best;
    }
    return best;
}

// *ret_states: it makes a statement of what it stands by.
static size_t filler_at(const pons__intents *r, const pons__fold *f, size_t pos, bool *ret_states)
{
    size_t best = pons__word_at(&r->leading, f->s, pos, f->n, NULL);
    const size_t behind = pons__word_at(&r->trailing, f->s, pos, f->n, NULL);
    const size_t limits = longest(f, pos, limiting, sizeof limiting / sizeof limiting[0]);
    size_t plain = longest(f, pos, fillers, sizeof fillers / sizeof fillers[0]);
    plain = limits > plain ? limits : plain;
    const size_t states = longest(f, pos, stating, sizeof stating / sizeof stating[0]);
    best = behind > best ? behind : best;
    best = plain > best ? plain : best;
    *ret_states = states && states >= best;
    return states > best ? states : best;
}

static size_t end_of(const phrase *p, const pons__fold *f, size_t pos, double *ret)
{
    *ret = p->number;
    size_t at = *p->before ? pons__literal_at(f->s, pos, f->n, p->before) : pos;
    if (!p->after || !(at || !*p->before)) {
        return at;
    }
    double number = 0.0;
    at = pons__number_at(f->s, at, f->n, &number);
    *ret = number * p->number;
    return at && *p->after ? pons__literal_at(f->s, at, f->n, p->after) : at;
}

// Past fillers and spaces, and separators where these count as such.
static size_t skip(const pons__intents *r, const pons__fold *f, size_t pos, bool separators,
                   bool may_state)
{
    for (size_t before = pos + 1; before != pos;) {
        before = pos;
        while (pos < f->n &&
               (f->s[pos] == ' ' || (separators && pons__pace_separates(f->s[pos])))) {
            pos++;
        }
        bool states = false;
        const size_t after = filler_at(r, f, pos, &states);
        pos = after && (may_state || !states) ? after : pos;
    }
    return pos;
}

// Whether nothing but fillers follows up to *ret_rest: the end, or what is behind a separator ("slower,
// please" has nothing there).
static bool ends(const pons__intents *r, const pons__fold *f, size_t pos, bool may_state,
                 size_t *ret_rest)
{
    pos = skip(r, f, pos, false, may_state);
    const bool cut = pos < f->n && pons__pace_separates(f->s[pos]);
    *ret_rest = pos;
    if (cut && skip(r, f, pos, true, may_state) == f->n) {
        *ret_rest = f->n;
    }
    while (*ret_rest < f->n && (pons__pace_separates(f->s[*ret_rest]) || f->s[*ret_rest] == ' ')) {
        ++*ret_rest;
    }
    return pos == f->n || cut;
}

// Is the last thing said in this one a question ("太快了吗")?
bool pons__pace_asks(const pons__fold *f, size_t lo, size_t hi)
{
    static const char mark[] = "吗";
    for (size_t i = lo; i + sizeof mark - 1 <= hi; i++) {
        if (memcmp(f->s + i, mark, sizeof mark - 1) == 0) {
            return true;
        }
    }
    return false;
}

static bool sets_limit(const pons__fold *f, size_t lo, size_t hi)
{
    bool limits = false;
    for (size_t i = lo; i < hi && !limits; i++) {
        limits = longest(f, i, limiting, sizeof limiting / sizeof limiting[0]) > 0;
    }
    return limits;
}

// Whether a phrase ends at `after` as an order does, or a complaint.
static bool orders(const pons__fold *f, size_t after, const pons__speed_phrase *h)
{
    const bool hurries = h->kind == PACE_FASTER || h->kind == PACE_TOO_SLOW;
    const bool complains = h->kind == PACE_TOO_FAST || h->kind == PACE_TOO_SLOW;
    return (!hurries || h->rest == f->n) && !(complains && pons__pace_asks(f, after, h->rest));
}

// statements: what is one is found as well.
static bool find(const pons__intents *r, const pons__fold *f, size_t pos, bool statements,
                 pons__speed_phrase *ret)
{
    const size_t start = pos;
    bool stated = false; // by what stands before it
    for (;;) {           // a phrase may begin like a filler: it is tried first
        pos = pons__skip_spaces(f->s, pos, f->n);
        for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++) {
            const bool may_state = statements || phrases[i].kind == PACE_TOO_FAST;
            if (stated && !may_state) {
                continue;
            }
            const size_t after = end_of(&phrases[i], f, pos, &ret->number);
            if (after > pos && ends(r, f, after, may_state, &ret->rest)) {
                ret->kind = phrases[i].kind;
                ret->limits = sets_limit(f, start, ret->rest);
                return statements || orders(f, after, ret);
            }
        }
        bool states = false;
        const size_t after = filler_at(r, f, pos, &states);
        const bool comma =
            pos < f->n && pons__pace_separates(f->s[pos]) && pos > start; // "please, slower"
        if (!after && !comma) {
            return false;
        }
        stated = stated || (after && states);
        pos = after ? after : pos + 1;
    }
}

bool pons__pace_find(const pons__intents *r, const pons__fold *f, size_t pos,
                     pons__speed_phrase *ret)
{
    return find(r, f, pos, false, ret);
}

size_t pons__pace_phrase(const pons__fold *f, size_t pos, pons__speed_phrase *ret)
{
    size_t longest_end = pos;
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++) {
        double number = 0.0;
        const size_t after = end_of(&phrases[i], f, pos, &number);
        if (after > longest_end) {
            *ret = (pons__speed_phrase){phrases[i].kind, number, sets_limit(f, pos, after), after};
            longest_end = after;
        }
    }
    return longest_end > pos ? longest_end : 0;
}

size_t pons__pace_filler(const pons__intents *r, const pons__fold *f, size_t pos)
{
    bool states = false;
    const size_t after = filler_at(r, f, pos, &states);
    return states ? 0 : after;
}

bool pons__pace_stated(const pons__intents *r, const pons__fold *f)
{
    pons__speed_phrase h;
    return find(r, f, 0, true, &h) && h.rest == f->n && h.kind != PACE_PERCENT &&
           h.kind != PACE_MPS;
}
