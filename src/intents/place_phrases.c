// place_phrases.c - a place that a person names: "remember this place as the corner", "记住这里叫充电角", and forgets again:
// "forget the place corner", "忘记地点充电角"; and the robot's own: "this is your place", "这是你的位置".
//
// "This is the kitchen" may be said of the room, "remember this place as" is of the place.
//
// Patterns are whole sentences, tried in their order, with the name where the % is. A name is what stands there, without
// quotes and the punctuation at its ends. Politeness before the sentence and behind the name is no part of either.
#include "intents/intent_file.h"

#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES 64

typedef struct sentence {
    const char *before, *after; // the name
    const char *word;
} sentence;

static const sentence sentences[] = {
    {"remember this place as ", "", "remember"},
    {"remember this spot as ", "", "remember"},
    {"remember this as ", "", "remember"},
    {"remember here as ", "", "remember"},
    {"remember that this place is called ", "", "remember"},
    {"remember that this is ", "", "remember"},
    {"call this place ", "", "remember"},
    {"name this place ", "", "remember"},
    {"save this place as ", "", "remember"},
    {"mark this place as ", "", "remember"},
    {"this place is called ", "", "remember"},
    {"this is the ", "", "room"},
    {"this room is the ", "", "room"},
    {"记住这里叫做", "", "remember"},
    {"记住这里叫", "", "remember"},
    {"记住这里是", "", "remember"},
    {"记住这个地方叫做", "", "remember"},
    {"记住这个地方叫", "", "remember"},
    {"记住这个地方是", "", "remember"},
    {"记住这儿叫", "", "remember"},
    {"把这里叫做", "", "remember"},
    {"把这里叫", "", "remember"},
    {"把这里记为", "", "remember"},
    {"把这里记作", "", "remember"},
    {"把这里命名为", "", "remember"},
    {"把这个地方叫做", "", "remember"},
    {"把这个地方记为", "", "remember"},
    {"把这个地方命名为", "", "remember"},
    {"这里就是", "", "room"},
    {"这里是", "", "room"},
    {"这里叫做", "", "room"},
    {"这里叫", "", "room"},
    {"这个地方叫", "", "remember"},
    {"forget the place called ", "", "forget"},
    {"forget the place ", "", "forget"},
    {"forget place ", "", "forget"},
    {"忘记地点", "", "forget"},
    {"忘掉地点", "", "forget"},
    {"忘记", "这个地方", "forget"},
    {"忘掉", "这个地方", "forget"},
};

// Where it charges: one of the first, and one of the second.
static const char *const here[] = {"this is ",
                                   "here is ",
                                   "remember that this is ",
                                   "remember this is ",
                                   "记住这里是",
                                   "记住这是",
                                   "这里就是",
                                   "这里是",
                                   "这儿是",
                                   "这就是",
                                   "这是"};
static const char *const own_place[] = {"your place",
                                        "your home",
                                        "your charger",
                                        "your dock",
                                        "your docking station",
                                        "your charging station",
                                        "your charging place",
                                        "the charger",
                                        "the dock",
                                        "the docking station",
                                        "the charging station",
                                        "where you charge",
                                        "where you are charged",
                                        "你的位置",
                                        "你的地方",
                                        "你的家",
                                        "你的充电座",
                                        "你的充电桩",
                                        "你的充电站",
                                        "你充电的地方",
                                        "充电座",
                                        "充电桩",
                                        "充电站"};
static const char *const own_whole[] = {"you charge here",    "your charger is here",
                                        "your place is here", "你在这里充电",
                                        "你的充电座在这里",   "你的充电桩在这里"};

static const char *const politely[] = {"please ", "please, ", "robot, ",  "hey ",       "ok ",
                                       "ok, ",    "now ",     "can you ", "could you ", "请你",
                                       "请",      "帮我",     "麻烦你",   "麻烦",       "现在"};
static const char *const thanks[] = {", please", " please", "，谢谢", "吧"};

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

static void without_politeness(const char **at, size_t *n)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < sizeof politely / sizeof politely[0]; i++) {
            const size_t k = strlen(politely[i]);
            if (*n > k && strncasecmp(*at, politely[i], k) == 0) {
                *at += k;
                *n -= k;
                more = true;
            }
        }
    }
    for (size_t i = 0; i < sizeof thanks / sizeof thanks[0]; i++) {
        const size_t k = strlen(thanks[i]);
        if (*n > k && strncasecmp(*at + *n - k, thanks[i], k) == 0) {
            *n -= k;
        }
    }
}

// A sentence that ends where the name would stand.
static bool without_name(const char *at, size_t n)
{
    static const char *const short_of_it[] = {"remember this place", "remember this spot",
                                              "记住这里", "记住这个地方", "记住这儿"};
    for (size_t i = 0; i < sizeof short_of_it / sizeof short_of_it[0]; i++) {
        if (n == strlen(short_of_it[i]) && strncasecmp(at, short_of_it[i], n) == 0) {
            return true;
        }
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
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (n >= strlen(words[i]) && strncasecmp(name, words[i], strlen(words[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_text(const char *at, size_t n, const char *text)
{
    return n == strlen(text) && strncasecmp(at, text, n) == 0;
}

static bool is_charger(const char *at, size_t n)
{
    bool is = false;
    for (size_t i = 0; i < sizeof own_whole / sizeof own_whole[0]; i++) {
        is = is || is_text(at, n, own_whole[i]);
    }
    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++) {
        const size_t k = strlen(here[i]);
        const bool begins = n > k && strncasecmp(at, here[i], k) == 0;
        for (size_t j = 0; begins && j < sizeof own_place / sizeof own_place[0]; j++) {
            is = is || is_text(at + k, n - k, own_place[j]);
        }
    }
    return is;
}

int pons__policy_place(void *self, const char *text, pons_value **ret, pons_error *err)
{
    const char *at = text;
    size_t n = strlen(text);
    trim(&at, &n);
    without_politeness(&at, &n);
    if (is_charger(at, n)) {
        *ret = pons_object("word", json_string("charger"), NULL);
        return PONS_OK;
    }
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
        if (length > NAME_MAX_BYTES) {
            return pons_error_set(err, PONS_EINVAL, "rules", "a place's name has at most %d bytes",
                                  NAME_MAX_BYTES);
        }
        pons_value *what = json_stringn(name, length);
        *ret = what ? pons_object("word", json_string(s->word), "name", what, NULL) : NULL;
        return *ret ? PONS_OK : pons_error_set(err, PONS_EINVAL, "rules", "that is no valid UTF-8");
    }
    return without_name(at, n)
               ? pons_error_set(err, PONS_EINVAL, "rules",
                                "say its name, too: \"remember this place as the corner\", "
                                "记住这里叫充电角, \"forget the place the corner\"")
               : PONS_ENOTFOUND;
}
