// place_phrases.c - recognises sentences that name a place ("remember this place as the corner", "记住这里叫充电角"), forget one
// ("forget the place corner", "忘记地点充电角"), or say where the robot charges ("this is your place", "这是你的位置").
//
// A pattern covers a whole sentence, and the first one that matches counts. The name follows the pattern. Quotes, and
// punctuation at the name's ends, are not part of the name. Polite words before the sentence and after the name are ignored.
// Questions and quoted sentences name nothing. "This is the …" is often a mere statement ("this is the end"), so fewer names
// are accepted there than after "call this place …".
//
// "This is the kitchen" may name the whole room. "Remember this place as …" names the place alone.
#include "intents/intent_file.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_BYTES = 64, WORDS_MAX = 3, STATED_MAX_BYTES = 30, CHARGER_MAX_BYTES = 200 };

typedef struct sentence {
    const char *before, *after; // the name
    const char *word;
    bool states; // it may also be a mere statement: fewer names are accepted
} sentence;

static const sentence sentences[] = {
    {"remember this place as ", "", "remember", false},
    {"remember this spot as ", "", "remember", false},
    {"remember this as ", "", "remember", false},
    {"remember here as ", "", "remember", false},
    {"remember that this place is called ", "", "remember", false},
    {"remember that this is ", "", "remember", true},
    {"call this place ", "", "remember", false},
    {"name this place ", "", "remember", false},
    {"save this place as ", "", "remember", false},
    {"mark this place as ", "", "remember", false},
    {"this place is called ", "", "remember", false},
    {"this is the ", "", "room", true},
    {"this room is the ", "", "room", true},
    {"记住这里叫做", "", "remember", false},
    {"记住这里叫", "", "remember", false},
    {"记住这里是", "", "remember", true},
    {"记住这个地方叫做", "", "remember", false},
    {"记住这个地方叫", "", "remember", false},
    {"记住这个地方是", "", "remember", true},
    {"记住这儿叫", "", "remember", false},
    {"把这里叫做", "", "remember", false},
    {"把这里叫", "", "remember", false},
    {"把这里记为", "", "remember", false},
    {"把这里记作", "", "remember", false},
    {"把这里命名为", "", "remember", false},
    {"把这个地方叫做", "", "remember", false},
    {"把这个地方记为", "", "remember", false},
    {"把这个地方命名为", "", "remember", false},
    {"这里就是", "", "room", true},
    {"这里是", "", "room", true},
    {"这里叫做", "", "room", true},
    {"这里叫", "", "room", true},
    {"这个地方叫", "", "remember", true},
    {"forget the place called ", "", "forget", false},
    {"forget the place ", "", "forget", false},
    {"forget place ", "", "forget", false},
    {"忘记地点", "", "forget", false},
    {"忘掉地点", "", "forget", false},
    {"忘记", "这个地方", "forget", false},
    {"忘掉", "这个地方", "forget", false},
};

// Extended regular expressions of whole sentences, in simplified characters, that say where the robot charges.
#define EN_CHARGER                                                                                 \
    "(charger|dock|(charging|charge|docking) (station|dock|point|spot|place|pad|base))"
#define EN_PLACE   "(place|spot|(home )?base( station)?|home|bed)"
#define EN_YOURS   "(your (new )?(" EN_CHARGER "|" EN_PLACE ")|the (new )?" EN_CHARGER ")"
#define EN_DO      "(charge|recharge|dock|live|belong)"
#define ZH_HERE    "(这里|这儿|这边|这个地方|这地方|这个|这)"
#define ZH_CHARGER "充电(桩|座|器|底座|基座|基站|站|点|位|位置|的位置|的地方)"
#define ZH_YOURS                                                                                   \
    "((你|您)(的)?(新(的)?)?(" ZH_CHARGER "|底座|基站|位置|地方|家|窝)|(新(的)?)?" ZH_CHARGER ")"
// A ? or * applies to one byte in some locales, so a character that is not ASCII is in brackets before it.
static const char own_charger[] =
    "^((remember|note)(,|:| that)* )?"
    "((this|that|it|here)( place| spot)?( is|'s) (" EN_YOURS "|where you (are charged|" EN_DO "))"
    "|you " EN_DO " here|" EN_YOURS " is (right )?here|(charge|recharge|dock)( yourself)? here"
    "|(set|put|save) " EN_YOURS " here"
    "|(remember|call|name|save|mark|set) (this|here)( place| spot)?( as)? " EN_YOURS
    "|this place is called " EN_YOURS ")( now| from now on)?$"
    "|^(记住|记得|记下)?(,|，|:|：)*"
    "(" ZH_HERE "(就)?(是|叫(做)?)" ZH_YOURS "|(你|您)?(以后)?(你|您)?(就)?在" ZH_HERE "充电"
    "|(你|您)(的)?(新(的)?)?(" ZH_CHARGER "|位置|家|窝)(就)?在" ZH_HERE "|把" ZH_HERE
    "(叫(做)?|记为|记作|记成|命名为|设为|设成|当作|当成)" ZH_YOURS ")(了|哦|啊|啦)*$";

static const char *const politely[] = {
    "please", "robot",   "pons",      "hello", "hi",   "hey",  "okay",   "ok",
    "now",    "can you", "could you", "请你",  "请",   "帮我", "麻烦你", "麻烦",
    "现在",   "机器人",  "你好",      "您好",  "好的", "嗨",   "喂"};
static const char *const thanks[] = {"please", "thank you", "thanks", "谢谢你",
                                     "谢谢",   "吧",        "哦",     "啊"};

// Words of a question. A request is not a question: "can you call this place den?".
static const char *const asking[] = {"?",    "？",     "吗",       "嗎",        "是不是", "对吧",
                                     "是吧", "对不对", "isn't it", "is it not", "innit"};

// Not names, but parts of statements: as any word of the name; as its beginning (zh); as the whole of it (zh_whole).
static const char *const no_names_en[] = {
    "first",    "second", "last", "next",    "wrong",  "right",  "same", "only",  "best",  "worst",
    "time",     "way",    "end",  "problem", "reason", "police", "case", "truth", "thing", "deal",
    "question", "answer", "one",  "is",      "that",   "i",      "you",  "we"};
static const char *const no_names_zh[] = {"禁区", "危险", "不", "很", "太",
                                          "醒",   "他",   "她", "它", "有"};
static const char *const no_names_zh_whole[] = {"车", "人", "我", "你", "对", "错"};

// Whether the text begins with one of the words, or, with `whole`, is one of them.
static bool one_of(const char *const *words, size_t count, const char *at, size_t n, bool whole)
{
    for (size_t i = 0; i < count; i++) {
        const size_t k = strlen(words[i]);
        if ((whole ? n == k : n >= k) && strncasecmp(at, words[i], k) == 0) {
            return true;
        }
    }
    return false;
}
#define BEGINS(words, at, n) one_of(words, sizeof words / sizeof words[0], at, n, false)
#define IS(words, at, n)     one_of(words, sizeof words / sizeof words[0], at, n, true)

// Bytes of what is no part of a name here; 0: it is one. A point begins some.
static size_t no_name(const char *at, size_t n, bool front)
{
    static const char *const marks[] = {"“",  "”",  "‘",  "’",  "「", "」",
                                        "，", "。", "！", "？", "　"};
    if (n > 0 && strchr(front ? " \t\r\n\"'," : " \t\r\n\"'.,!?", *at)) {
        return 1;
    }
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (n >= 3 && strncmp(at, marks[i], 3) == 0) {
            return 3;
        }
    }
    return 0;
}

static void trim(const char **at, size_t *n)
{
    for (size_t cut; (cut = no_name(*at, *n, true)) > 0;) {
        *at += cut;
        *n -= cut;
    }
    for (bool more = true; more;) {
        const size_t three = *n >= 3 ? no_name(*at + *n - 3, 3, false) : 0;
        const size_t cut = three == 3 ? 3 : *n > 0 && no_name(*at + *n - 1, 1, false) == 1 ? 1 : 0;
        *n -= cut;
        more = cut > 0;
    }
}

static bool is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

static void without_politeness(const char **at, size_t *n)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < sizeof politely / sizeof politely[0]; i++) {
            const size_t k = strlen(politely[i]);
            if (*n > k && strncasecmp(*at, politely[i], k) == 0 &&
                (!is_ascii(politely[i][0]) || strchr(" ,!:", (*at)[k]) || !is_ascii((*at)[k]))) {
                *at += k;
                *n -= k;
                trim(at, n);
                more = true;
            }
        }
    }
    for (size_t i = 0; i < sizeof thanks / sizeof thanks[0]; i++) {
        const size_t k = strlen(thanks[i]);
        if (*n > k && strncasecmp(*at + *n - k, thanks[i], k) == 0 &&
            (!is_ascii(thanks[i][0]) || strchr(" ,", (*at)[*n - k - 1]))) {
            *n -= k;
            trim(at, n);
        }
    }
}

// A sentence that ends where the name would stand.
static bool without_name(const char *at, size_t n)
{
    static const char *const short_of_it[] = {"remember this place", "remember this spot",
                                              "记住这里", "记住这个地方", "记住这儿"};
    if (IS(short_of_it, at, n)) {
        return true;
    }
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        const sentence *s = &sentences[i];
        const size_t blank = s->before[strlen(s->before) - 1] == ' ';
        if (n > 0 && !*s->after && n == strlen(s->before) - blank &&
            strncasecmp(at, s->before, n) == 0) {
            return true;
        }
    }
    return false;
}

// "这里是哪里" names nothing.
static bool asks(const char *name, size_t n)
{
    static const char *const words[] = {"哪", "什么", "谁", "what", "where"};
    return BEGINS(words, name, n);
}

// Whether the sentence only states something: the name is too long, or has words that are no name of a place.
static bool only_states(const char *name, size_t n)
{
    size_t words = 0;
    bool states = n > STATED_MAX_BYTES || memchr(name, ',', n) || memmem(name, n, "，", 3) ||
                  (n >= 3 && memcmp(name + n - 3, "的", 3) == 0) || BEGINS(no_names_zh, name, n) ||
                  IS(no_names_zh_whole, name, n);
    for (size_t at = 0; at < n; words++) {
        const char *end = memchr(name + at, ' ', n - at);
        const size_t k = end ? (size_t)(end - name) - at : n - at;
        states = states || IS(no_names_en, name + at, k);
        at += k + 1;
    }
    return states || words > WORDS_MAX;
}

static bool is_charger(const char *at, size_t n)
{
    regex_t said;
    char text[CHARGER_MAX_BYTES];
    if (n >= sizeof text || regcomp(&said, own_charger, REG_EXTENDED | REG_ICASE | REG_NOSUB)) {
        return false;
    }
    memcpy(text, at, n);
    text[n] = '\0';
    const bool is = regexec(&said, text, 0, NULL, 0) == 0;
    regfree(&said);
    return is;
}

static bool asks_or_quotes(const char *text)
{
    static const char *const quotes[] = {"\"", "“", "‘", "「", "『", "'"};
    static const char *const requests[] = {"can you ", "could you "};
    text += strspn(text, " ");
    if (BEGINS(quotes, text, strlen(text))) {
        return true;
    }
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        if (strcasestr(text, requests[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof asking / sizeof asking[0]; i++) {
        if (strcasestr(text, asking[i])) {
            return true;
        }
    }
    return false;
}

// A copy with single blanks, no blanks between Chinese characters, and plain apostrophes. The caller frees.
static char *tidied(const char *text)
{
    char *line = malloc(strlen(text) + 1), *to = line;
    for (const char *at = text; line && *at;) {
        const size_t blanks = strspn(at, " \t\r\n");
        const char next = at[blanks];
        if (blanks > 0) {
            at += blanks;
            if (to > line && next && (is_ascii(to[-1]) || is_ascii(next))) {
                *to++ = ' ';
            }
        } else if (strncmp(at, "’", 3) == 0 && to > line && is_ascii(to[-1])) {
            *to++ = '\'';
            at += 3;
        } else {
            *to++ = *at++;
        }
    }
    if (line) {
        *to = '\0';
    }
    return line;
}

// Traditional characters of the sentences; each has as many bytes as its simplified one.
static void simplify(char *line)
{
    static const char *const pairs[][2] = {{"這", "这"}, {"裡", "里"}, {"裏", "里"}, {"兒", "儿"},
                                           {"邊", "边"}, {"個", "个"}, {"電", "电"}, {"樁", "桩"},
                                           {"點", "点"}, {"記", "记"}, {"請", "请"}, {"窩", "窝"},
                                           {"後", "后"}, {"謝", "谢"}, {"廚", "厨"}, {"對", "对"},
                                           {"為", "为"}, {"設", "设"}, {"機", "机"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        for (char *at = line; (at = strstr(at, pairs[i][0])); at += 3) {
            memcpy(at, pairs[i][1], 3);
        }
    }
}

// line: the sentence as it was said; at: (n) the same position in the simplified copy.
static int named(const char *line, const char *simple, const char *at, size_t n, bool doubts,
                 pons_value **ret, pons_error *err)
{
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        const sentence *s = &sentences[i];
        const size_t before = strlen(s->before), after = strlen(s->after);
        if (n <= before + after || strncasecmp(at, s->before, before) != 0 ||
            strncmp(at + n - after, s->after, after) != 0) {
            continue;
        }
        const char *name = at + before;
        size_t length = n - before - after;
        trim(&name, &length);
        if (length == 0 || asks(name, length)) {
            continue;
        }
        if (s->states && (doubts || only_states(name, length))) {
            return PONS_ENOTFOUND;
        }
        if (length > NAME_MAX_BYTES) {
            return pons_error_set(err, PONS_EINVAL, "rules", "a place's name has at most %d bytes",
                                  NAME_MAX_BYTES);
        }
        pons_value *what = json_stringn(line + (name - simple), length);
        *ret = what ? pons_object("word", json_string(s->word), "name", what, NULL) : NULL;
        return *ret ? PONS_OK : pons_error_set(err, PONS_EINVAL, "rules", "that is no valid UTF-8");
    }
    return without_name(at, n)
               ? pons_error_set(err, PONS_EINVAL, "rules",
                                "say its name, too: \"remember this place as the corner\", "
                                "记住这里叫充电角, \"forget the place the corner\"")
               : PONS_ENOTFOUND;
}

int pons__policy_place(void *self, const char *text, pons_value **ret, pons_error *err)
{
    char *line = tidied(text), *simple = line ? strdup(line) : NULL;
    if (!simple) {
        free(line);
        return pons_error_set(err, PONS_ENOMEM, "rules", "no memory for a sentence");
    }
    simplify(simple);
    const char *at = simple;
    size_t n = strlen(simple);
    trim(&at, &n);
    const bool doubts = n >= 3 && memcmp(at + n - 3, "吧", 3) == 0;
    without_politeness(&at, &n);
    int rc = PONS_ENOTFOUND;
    if (!asks_or_quotes(simple)) {
        const bool charger = !(doubts && strstr(simple, "是")) && is_charger(at, n);
        *ret = charger ? pons_object("word", json_string("charger"), NULL) : *ret;
        rc = charger ? PONS_OK : named(line, simple, at, n, doubts, ret, err);
    }
    free(simple);
    free(line);
    return rc;
}
