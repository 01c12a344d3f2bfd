// pace.c - how fast a person wants it from now on: "slower", "half speed", "at 0.2 m/s", 慢一点, 快一点, 正常速度, 半速.
//
//     what is said     politeness and fillers of the intents, one of the phrases below, fillers
//     "slower, go to the kitchen"     what follows a comma or a stop is a wish of its own: `rest`
//
// "Faster" before a wish is a hurry ("快点，去厨房") and none of these: that is the intents' `urgent`.
#include "policy/intents.h"

#include <math.h>
#include <string.h>

typedef enum kind { SLOWER, FASTER, NORMAL, PERCENT, MPS } kind;

typedef struct phrase {
    const char *before, *after; // of a number between them; after NULL: there is none
    kind kind;
    double number; // PERCENT without a number: this; else its factor
} phrase;

#define WORD(text, kind)                                                                           \
    {                                                                                              \
        text, NULL, kind, 0.0                                                                      \
    }
#define SHARE(text, number)                                                                        \
    {                                                                                              \
        text, NULL, PERCENT, number                                                                \
    }
#define OF(before, after, kind)                                                                    \
    {                                                                                              \
        before, after, kind, 1.0                                                                   \
    }
#define CM(before, after)                                                                          \
    {                                                                                              \
        before, after, MPS, 0.01                                                                   \
    }

// The first that fits as a whole: longer ones go before those that they begin with.
// clang-format off
static const phrase phrases[] = {
    WORD("not so fast", SLOWER), WORD("not that fast", SLOWER), WORD("too fast", SLOWER),
    WORD("slower", SLOWER), WORD("slow down", SLOWER), WORD("more slowly", SLOWER), WORD("slowly", SLOWER),
    WORD("reduce your speed", SLOWER), WORD("reduce the speed", SLOWER), WORD("reduce speed", SLOWER),
    WORD("太快", SLOWER), WORD("别太快", SLOWER), WORD("不要太快", SLOWER), WORD("别那么快", SLOWER),
    WORD("不要那么快", SLOWER), WORD("别这么快", SLOWER), WORD("放慢速度", SLOWER), WORD("放慢", SLOWER),
    WORD("减慢速度", SLOWER), WORD("减速", SLOWER), WORD("降低速度", SLOWER), WORD("速度慢", SLOWER),
    WORD("慢慢", SLOWER), WORD("慢", SLOWER),
    WORD("not so slow", FASTER), WORD("not that slow", FASTER), WORD("too slow", FASTER),
    WORD("faster", FASTER), WORD("speed up", FASTER), WORD("more quickly", FASTER), WORD("quicker", FASTER),
    WORD("太慢", FASTER), WORD("别那么慢", FASTER), WORD("不要那么慢", FASTER), WORD("别这么慢", FASTER),
    WORD("加快速度", FASTER), WORD("加快", FASTER), WORD("加速", FASTER), WORD("提高速度", FASTER),
    WORD("提速", FASTER), WORD("速度快", FASTER), WORD("快", FASTER),
    WORD("normal speed", NORMAL), WORD("normal", NORMAL), WORD("usual speed", NORMAL), WORD("full speed", NORMAL),
    WORD("normal pace", NORMAL), WORD("as fast as usual", NORMAL), WORD("as fast as before", NORMAL),
    WORD("as fast as you may", NORMAL), WORD("as fast as you can", NORMAL),
    WORD("正常速度", NORMAL), WORD("恢复正常速度", NORMAL), WORD("恢复速度", NORMAL), WORD("恢复原速", NORMAL),
    WORD("原来的速度", NORMAL), WORD("恢复原来的速度", NORMAL), WORD("平常的速度", NORMAL), WORD("全速", NORMAL),
    SHARE("half the speed", 50.0), SHARE("half your speed", 50.0), SHARE("half speed", 50.0),
    SHARE("half as fast", 50.0), SHARE("a quarter of the speed", 25.0), SHARE("quarter speed", 25.0),
    SHARE("半速", 50.0), SHARE("一半的速度", 50.0), SHARE("一半速度", 50.0), SHARE("速度减半", 50.0),
    OF("at most", "m/s", MPS), OF("no faster than", "m/s", MPS), OF("not faster than", "m/s", MPS),
    OF("at", "m/s", MPS), OF("", "m/s", MPS),
    OF("at", "meters per second", MPS), OF("at", "metres per second", MPS),
    OF("at", "meters a second", MPS), OF("at", "metres a second", MPS),
    OF("", "meters per second", MPS), OF("", "metres per second", MPS),
    CM("at", "cm/s"), CM("", "cm/s"),
    OF("最快", "米每秒", MPS), OF("以", "米每秒", MPS), OF("", "米每秒", MPS), OF("每秒", "米", MPS),
    OF("以每秒", "米", MPS), OF("以每秒", "米的速度", MPS), OF("以", "米/秒", MPS), OF("", "米/秒", MPS),
    CM("以每秒", "厘米"), CM("每秒", "厘米"), CM("", "厘米/秒"), CM("", "厘米每秒"),
    OF("at", "% speed", PERCENT), OF("at", "percent speed", PERCENT), OF("at", "% of the speed", PERCENT),
    OF("at", "percent of the speed", PERCENT), OF("at", "% of your speed", PERCENT),
    OF("", "percent", PERCENT), OF("", "%", PERCENT),
    OF("at", "percent", PERCENT), OF("at", "%", PERCENT), OF("", "% speed", PERCENT),
    OF("", "percent speed", PERCENT), OF("speed", "%", PERCENT), OF("speed", "percent", PERCENT),
    OF("speed to", "%", PERCENT), OF("set the speed to", "%", PERCENT), OF("set the speed to", "percent", PERCENT),
    OF("set the speed to", "m/s", MPS), OF("speed", "m/s", MPS),
    OF("速度", "%", PERCENT), OF("速度调到", "%", PERCENT), OF("以", "%的速度", PERCENT), OF("", "%速度", PERCENT),
    OF("速度百分之", "", PERCENT), OF("速度调到百分之", "", PERCENT), OF("以百分之", "的速度", PERCENT),
    OF("速度调到", "米每秒", MPS), OF("速度", "米每秒", MPS),
};

// What may stand before and behind it, beside what the intents say.
static const char *const fillers[] = {
    "a little bit", "a little", "a bit", "a lot", "much", "somewhat", "and", "but", "that is", "that's",
    "it is", "it's", "you are", "you're", "go", "going", "drive", "driving", "move", "moving", "back to", "back at", "return to", "at",
    "it", "at most", "no faster than", "not faster than", "最快", "from now on", "even", "still", "again", "than that",
    "一点儿", "一点", "一些", "点儿", "点", "些", "稍微", "稍", "还是", "有", "有点", "更", "再", "开", "走", "跑", "行驶",
    "你", "得", "地", "要", "用", "以", "按", "到", "都", "会", "会儿", "从现在起",
};
// clang-format on

static size_t filler_at(const pons__intents *r, const pons__fold *f, size_t pos)
{
    size_t best = pons__word_at(&r->leading, f->s, pos, f->n, NULL);
    const size_t behind = pons__word_at(&r->trailing, f->s, pos, f->n, NULL);
    best = behind > best ? behind : best;
    for (size_t i = 0; i < sizeof fillers / sizeof fillers[0]; i++) {
        const size_t after = pons__literal_at(f->s, pos, f->n, fillers[i]);
        best = after > best ? after : best;
    }
    return best;
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

static bool separates(char c)
{
    return c == ',' || c == ';';
}

// Past fillers and spaces, and separators where these count as such.
static size_t skip(const pons__intents *r, const pons__fold *f, size_t pos, bool separators)
{
    for (size_t before = pos + 1; before != pos;) {
        before = pos;
        while (pos < f->n && (f->s[pos] == ' ' || (separators && separates(f->s[pos])))) {
            pos++;
        }
        const size_t after = filler_at(r, f, pos);
        pos = after ? after : pos;
    }
    return pos;
}

// Whether nothing but fillers follows up to *ret_rest: the end, or what is behind a separator ("slower,
// please" has nothing there).
static bool ends(const pons__intents *r, const pons__fold *f, size_t pos, size_t *ret_rest)
{
    pos = skip(r, f, pos, false);
    const bool cut = pos < f->n && separates(f->s[pos]);
    *ret_rest = pos;
    if (cut && skip(r, f, pos, true) == f->n) {
        *ret_rest = f->n;
    }
    while (*ret_rest < f->n && (separates(f->s[*ret_rest]) || f->s[*ret_rest] == ' ')) {
        ++*ret_rest;
    }
    return pos == f->n || cut;
}

static bool find(const pons__intents *r, const pons__fold *f, kind *ret_kind, double *ret_number,
                 size_t *ret_rest)
{
    size_t pos = 0;
    for (;;) { // a phrase may begin like a filler: it is tried first
        pos = pons__skip_spaces(f->s, pos, f->n);
        for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++) {
            const size_t after = end_of(&phrases[i], f, pos, ret_number);
            if (after > pos && ends(r, f, after, ret_rest)) {
                *ret_kind = phrases[i].kind;
                return *ret_kind != FASTER || *ret_rest == f->n;
            }
        }
        const size_t after = filler_at(r, f, pos);
        const bool comma = pos < f->n && separates(f->s[pos]) && pos > 0; // "please, slower"
        if (!after && !comma) {
            return false;
        }
        pos = after ? after : pos + 1;
    }
}

int pons__policy_pace(void *self, const char *text, pons_value **ret, pons_error *err)
{
    static const char *const words[] = {"slower", "faster", "normal", "percent", "mps"};
    const pons__rules *rules = self;
    pons__fold f;
    pons_value *valid = json_string(text);
    if (!valid) { // no UTF-8
        return PONS_ENOTFOUND;
    }
    json_decref(valid);
    if (pons__fold_init(&f, text, strlen(text)) != PONS_OK) {
        return pons_error_set(err, PONS_ENOMEM, "rules", "no memory for what was said");
    }
    kind said = SLOWER;
    double number = 0.0;
    size_t rest = 0;
    int rc = PONS_ENOTFOUND;
    if (find(rules->base, &f, &said, &number, &rest) && isfinite(number)) {
        *ret = pons_object("word", json_string(words[said]), "number", json_real(number), "rest",
                           rest < f.n ? json_string(text + f.at[rest]) : NULL, NULL);
        rc = *ret ? PONS_OK
                  : pons_error_set(err, PONS_ENOMEM, "rules", "no memory for what was said");
    }
    pons__fold_fini(&f);
    return rc;
}
