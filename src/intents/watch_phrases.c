// watch_phrases.c - what a person wants done when something is seen: "tell me when somebody is at the door".
//
//     English   tell me when COND · let me know if COND · when COND, WISH · WISH when COND
//               COND: you see THING [in PLACE] · there is THING [in PLACE] · THING is|comes|appears [in PLACE]
//     Chinese   COND时告诉我 · 如果COND就通知我 · 当COND的时候，WISH
//               COND：看到THING · THING在PLACE · PLACE有THING · THING来了
//
// It becomes the schedule "when THING at PLACE" (pons/brain_schedule.h), and the wish; "tell me" is a wish to say COND. What
// is no such sentence is left to be a wish. Whether there is such a thing and such a place, the brain knows.
#include "intents/intent_file.h"
#include "pons/buf.h"
#include "pons/schedule.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PART_MAX = 96 };

typedef struct watch {
    char thing[PART_MAX], place[PART_MAX], said[PONS_SCHEDULE_TEXT_MAX];
} watch;

static const char *const en_when[] = {"as soon as ", "whenever ", "when ", "once ", "if ", NULL};
static const char *const en_tell[] = {"tell me ",     "tell us ",   "let me know ",
                                      "let us know ", "notify me ", "alert me ",
                                      "warn me ",     "call me ",   NULL};
static const char *const en_sees[] = {"you see ", "you spot ",  "you notice ", "there is ",
                                      "there's ", "there are ", "you find ",   NULL};
static const char *const en_is[] = {" is ",     " are ",     " comes ",  " appears", " shows up",
                                    " arrives", " turns up", " enters ", " stands ", " walks ",
                                    " gets ",   " goes ",    NULL};
static const char *const en_at[] = {"inside ", "in ", "into ", "at ", "to ",
                                    "near ",   "by ", "on ",   NULL};
static const char *const en_articles[] = {"the ", "a ", "an ", "any ", "my ", "our ", NULL};
static const char *const en_nobody[] = {"you", "i",  "we", "it",   "he",   "she",  "they",
                                        "你",  "我", "他", "我们", "你们", "他们", NULL};
static const char *const zh_when[] = {"如果", "要是", "一旦", "每当", "只要", "当", "等", NULL};
static const char *const zh_tell[] = {"告诉我", "通知我", "提醒我", "叫我", "跟我说", "喊我", NULL};
static const char *const zh_end[] = {"的时候", "时候", "时",   "就",   "，",
                                     ",",      "请",   "马上", "立刻", NULL};
static const char *const zh_close[] = {"的时候", "时", "，", "就", NULL};
static const char *const zh_you[] = {"你", NULL};
static const char *const zh_sees[] = {"看到了", "看见了", "看到", "看见", "发现", "见到", NULL};
static const char *const zh_at[] = {"出现在", "来到", "站在", "走进", "在", NULL};
static const char *const zh_come[] = {"出现了", "出现", "来了", "进来", "到了", "了", NULL};
static const char *const zh_appears[] = {"出现了", "出现", "来了", "进来了", "进来", "来", NULL};
static const char *const zh_in[] = {"里面", "里",   "那里", "那边", "这里",
                                    "附近", "旁边", "上",   NULL};

// The text behind the first of the words that it begins with; NULL: with none.
static const char *behind(const char *text, const char *const *words)
{
    text += strspn(text, " ");
    for (; *words; words++) {
        if (strncasecmp(text, *words, strlen(*words)) == 0) {
            return text + strlen(*words);
        }
    }
    return NULL;
}

// Takes off, again and again, what it ends with.
static void without_end(char *text, const char *const *words)
{
    for (bool more = true; more;) {
        size_t n = strlen(text);
        more = false;
        for (const char *const *w = words; *w; w++) {
            const size_t k = strlen(*w);
            if (!more && n > k && strcmp(text + n - k, *w) == 0) {
                text[n - k] = '\0';
                more = true;
            }
        }
        for (n = strlen(text); n > 0 && strchr(" .!?;,", text[n - 1]); n--) {
            text[n - 1] = '\0';
        }
    }
}

// A part of the sentence as a text of its own; false: it is too long, or empty.
static bool part(const char *from, size_t n, char *ret, size_t cap)
{
    static const char *const ends[] = {"。", "！", NULL};
    snprintf(ret, cap, "%.*s", (int)n, from + strspn(from, " "));
    without_end(ret, ends);
    return n < cap && *ret;
}

static bool keep_thing(const char *from, size_t n, watch *ret)
{
    const char *bare = behind(from, en_articles);
    const char *comma = strpbrk(from, ",;"); // a thing is one
    if ((comma && comma < from + n) || (strstr(from, "，") && strstr(from, "，") < from + n)) {
        return false;
    }
    n -= bare && (size_t)(bare - from) < n ? (size_t)(bare - from) : 0;
    if (!part(bare && n ? bare : from, n, ret->thing, sizeof ret->thing)) {
        return false;
    }
    for (const char *const *w = en_nobody; *w; w++) {
        if (strcasecmp(ret->thing, *w) == 0) {
            return false;
        }
    }
    return true;
}

static bool keep_place(const char *from, watch *ret)
{
    const char *bare = behind(from, en_articles);
    bare = bare ? bare : from;
    return !(*bare >= '0' && *bare <= '9') &&
           part(bare, strlen(bare), ret->place, sizeof ret->place);
}

// The first of the words in a text; *ret_after: behind it. NULL: none.
static const char *first_of(const char *text, const char *const *words, const char **ret_after)
{
    const char *first = NULL;
    for (; *words; words++) {
        const char *at = strstr(text, *words);
        if (at && (!first || at < first)) {
            first = at;
            *ret_after = at + strlen(*words);
        }
    }
    return first;
}

static bool condition_en(const char *text, watch *ret)
{
    const char *thing = behind(text, en_sees), *after = NULL;
    if (thing) { // "the cat in the kitchen"
        for (const char *at = thing; (at = strchr(at, ' ')); at++) {
            after = behind(at, en_at);
            if (after) {
                return keep_thing(thing, (size_t)(at - thing), ret) && keep_place(after, ret);
            }
        }
        return keep_thing(thing, strlen(thing), ret);
    }
    const char *is = first_of(text, en_is, &after);
    if (!is || !keep_thing(text, (size_t)(is - text), ret)) {
        return false;
    }
    after += strspn(after, " ");
    const char *place = behind(after, en_at);
    const bool alone = *after == '\0' && is[strlen(is) - 1] != ' ' && strncmp(is, " is", 3) != 0;
    return alone || (place && keep_place(place, ret)) || strcasecmp(after, "here") == 0 ||
           strcasecmp(after, "there") == 0;
}

static bool condition_zh(const char *text, watch *ret)
{
    const char *after = NULL, *you = behind(text, zh_you);
    const char *seen = behind(you ? you : text, zh_sees);
    if (you && !seen) {
        return false; // 如果你在厨房: it is about the robot
    }
    text = seen ? seen : text;
    const char *at = first_of(text, zh_at, &after);
    if (at && at > text) { // 有人在门口
        const size_t n = strlen("有");
        const char *thing =
            strncmp(text, "有人", 2 * n) != 0 && strncmp(text, "有", n) == 0 ? text + n : text;
        if (!keep_thing(thing, (size_t)(at - thing), ret) || !keep_place(after, ret)) {
            return false;
        }
        without_end(ret->place, zh_come);
        without_end(ret->place, zh_in);
        return *ret->place;
    }
    at = strstr(text, "有");
    if (at && at > text) { // 门口有人
        const bool person = strncmp(at, "有人", strlen("有人")) == 0;
        snprintf(ret->place, sizeof ret->place, "%.*s", (int)(at - text), text);
        without_end(ret->place, zh_in);
        at += person ? 0 : strlen("有");
        if (!keep_thing(at, strlen(at), ret)) {
            return false;
        }
        without_end(ret->thing, zh_come);
        return *ret->thing;
    }
    if (!keep_thing(text, strlen(text), ret)) { // 看到猫, 有人来了
        return false;
    }
    const size_t n = strlen(ret->thing);
    without_end(ret->thing, seen ? zh_come : zh_appears);
    return *ret->thing && (seen || strlen(ret->thing) < n);
}

static bool condition(const char *from, size_t n, watch *ret)
{
    char text[PONS_SCHEDULE_TEXT_MAX];
    *ret = (watch){{0}};
    if (!part(from, n, text, sizeof text)) {
        return false;
    }
    without_end(text, zh_end);
    snprintf(ret->said, sizeof ret->said, "%s", text);
    return (unsigned char)*text < 0x80 ? condition_en(text, ret) : condition_zh(text, ret);
}

static bool english(const char *text, watch *w, pons_buf *wish)
{
    const char *tells = behind(text, en_tell), *cond = behind(tells ? tells : text, en_when);
    if (tells) {
        if (!cond || !condition(cond, strlen(cond), w)) {
            return false;
        }
        if (strncasecmp(w->said, "you ", 4) == 0) {
            return pons_buf_printf(wish, "say I %s", w->said + 4) >= 0;
        }
        return pons_buf_printf(wish, "say %s", w->said) >= 0;
    }
    if (cond) { // "when COND, WISH"
        const char *comma = strchr(cond, ','), *then = comma ? comma + 1 : NULL;
        return comma && condition(cond, (size_t)(comma - cond), w) &&
               pons_buf_str(wish, then + strspn(then, " ")) >= 0 && wish->len > 0;
    }
    const char *when = strstr(text, " when "), *ever = strstr(text, " whenever ");
    const char *at = ever ? ever : when;
    return at && !strchr(at, '?') &&
           condition(behind(at, en_when), strlen(behind(at, en_when)), w) &&
           pons_buf_printf(wish, "%.*s", (int)(at - text), text) >= 0;
}

static bool chinese(const char *text, watch *w, pons_buf *wish)
{
    const char *after = NULL, *begins = behind(text, zh_when);
    const char *from = begins ? begins : text;
    const char *tell = first_of(from, zh_tell, &after);
    if (tell && strlen(after) <= 2 * strlen("一声") && tell > from) {
        return condition(from, (size_t)(tell - from), w) &&
               pons_buf_printf(wish, "说%s", w->said) >= 0;
    }
    const char *close = begins ? first_of(from, zh_close, &after) : NULL;
    if (!close || tell || !condition(from, (size_t)(close - from), w)) {
        return false;
    }
    for (const char *more; (more = behind(after, zh_close)) || (more = behind(after, zh_end));) {
        after = more;
    }
    return pons_buf_str(wish, after) >= 0 && wish->len > 0;
}

int pons__watch_said(const char *text, pons_value **ret, pons_error *err)
{
    watch w;
    pons_autobuf wish = PONS_BUF_INIT;
    text += strspn(text, " \t\r\n");
    if (!(strncasecmp(text, "please ", 7) != 0 ? english(text, &w, &wish)
                                               : english(text + 7, &w, &wish)) &&
        (pons_buf_clear(&wish), !chinese(text, &w, &wish))) {
        return PONS_ENOTFOUND;
    }
    *ret = pons_object("schedule",
                       *w.place ? json_sprintf("when %s at %s", w.thing, w.place)
                                : json_sprintf("when %s", w.thing),
                       "text", json_string(wish.data), NULL);
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "rules", "no memory for a watch");
}
