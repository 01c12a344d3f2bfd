// yes_no.c - a yes or a no, read word by word.
//
// A text is cut into words of the table below, the longest first, with punctuation between them:
//
//     "Yes, please."        yes beside               a yes
//     好的好的               yes yes, the same         a yes
//     可以是可以              yes yes, another          neither
//     好像不行               yes, and no word          neither
//     "no, it is hot"       no | it is hot           a no, with its reason
//
// What has a question mark is no yes. Letters are compared small, full-width forms as ASCII.
#include "pons/yes_no.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct word {
    const char *text;
    pons_yes_no says; // neither: it may stand beside a yes
} word;

// clang-format off
static const word words[] = {
#define YES(text) {text, PONS_SAID_YES}
#define NO(text)  {text, PONS_SAID_NO}
#define BESIDE(text) {text, PONS_SAID_NEITHER}
    YES("yes"), YES("y"), YES("ok"), YES("okay"), YES("yeah"), YES("yep"), YES("yup"), YES("sure"),
    YES("approve"), YES("approved"), YES("agree"), YES("agreed"), YES("i agree"), YES("of course"),
    YES("all right"), YES("alright"), YES("that's fine"), YES("go ahead"), YES("do it"), YES("do that"),
    YES("allow"), YES("allowed"), YES("confirm"), YES("confirmed"), YES("i confirm"), YES("accept"),
    YES("accepted"), YES("correct"), YES("no problem"), YES("no objection"),
    YES("是"), YES("是的"), YES("好"), YES("好的"), YES("好吧"), YES("行"), YES("可以"), YES("当然"), YES("当然可以"),
    YES("同意"), YES("同意了"), YES("我同意"), YES("批准"), YES("批准了"), YES("我批准"), YES("允许"), YES("确认"),
    YES("我确认"), YES("确定"), YES("没问题"), YES("没有问题"), YES("没错"), YES("对"), YES("接受"),
    NO("no"), NO("n"), NO("nope"), NO("nah"), NO("no way"), NO("not now"), NO("not yet"), NO("reject"),
    NO("rejected"), NO("deny"), NO("denied"), NO("refuse"), NO("give up"), NO("don't"), NO("do not"),
    NO("don't do it"), NO("do not do it"), NO("cancel"),
    NO("不"), NO("不行"), NO("不要"), NO("不要了"), NO("不用"), NO("不用了"), NO("不可以"), NO("不同意"), NO("我不同意"),
    NO("不允许"), NO("不批准"), NO("不确认"), NO("不接受"), NO("不能"), NO("不好"), NO("不是"), NO("不对"), NO("拒绝"),
    NO("否"), NO("别"), NO("算了"), NO("放弃"), NO("取消"),
    BESIDE("please"), BESIDE("pls"), BESIDE("robot"), BESIDE("sir"), BESIDE("hey"), BESIDE("hi"), BESIDE("hello"),
    BESIDE("thanks"), BESIDE("thank you"), BESIDE("now"), BESIDE("then"), BESIDE("just"),
    BESIDE("请"), BESIDE("机器人"), BESIDE("啊"), BESIDE("呀"), BESIDE("的"), BESIDE("嗯"),
    BESIDE("谢谢"), BESIDE("谢谢你"),
#undef YES
#undef NO
#undef BESIDE
};
// clang-format on

enum { WORDS = sizeof words / sizeof *words };

const char *pons_yes_no_word(size_t i, pons_yes_no *ret_says)
{
    if (i >= WORDS) {
        return NULL;
    }
    *ret_says = words[i].says;
    return words[i].text;
}

// ---- characters ---------------------------------------------------------------------------------

// The character at s as it is compared, and its bytes; 0 at the end. What is no UTF-8 is a byte.
static uint32_t character(const char *s, size_t *ret_bytes)
{
    const unsigned char *b = (const unsigned char *)s;
    const size_t n = b[0] < 0xC0 ? 1 : b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : 4;
    uint32_t c = n == 1 ? b[0] : b[0] & (0x7FU >> n);
    for (size_t i = 1; i < n; i++) {
        if ((b[i] & 0xC0) != 0x80) {
            *ret_bytes = 1;
            return b[0];
        }
        c = c << 6 | (b[i] & 0x3FU);
    }
    *ret_bytes = b[0] != '\0' ? n : 0;
    if (c >= 0xFF01 && c <= 0xFF5E) { // full-width
        c -= 0xFEE0;
    }
    return c == 0x2019 ? '\'' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool is_space(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == '_' || c == 0xA0 || c == 0x3000;
}

static bool is_mark(uint32_t c)
{
    static const uint32_t marks[] = {',',    ';',    ':',    '.',    '!',    '~',
                                     '"',    '\'',   '-',    0x2026, 0x3001, 0x3002,
                                     0x201C, 0x201D, 0x2018, 0x300C, 0x300D, 0x2014};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (c == marks[i]) {
            return true;
        }
    }
    return false;
}

static bool is_letter(uint32_t c) // of what is written with spaces
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 0xC0 && c < 0x2000);
}

// Behind spaces and marks. *ret_pause: they part two words, as a space at a Chinese character does not.
static const char *skip(const char *s, bool after_letter, bool *ret_pause)
{
    bool spaces = false;
    size_t n;
    uint32_t c;
    *ret_pause = false;
    for (; (c = character(s, &n)) && (is_space(c) || is_mark(c)); s += n) {
        spaces = spaces || is_space(c);
        *ret_pause = *ret_pause || is_mark(c);
    }
    *ret_pause = *ret_pause || (spaces && after_letter && is_letter(c));
    return s;
}

// ---- words --------------------------------------------------------------------------------------

// Whether this word stands at s: NULL, or what is behind it.
static const char *behind(const char *s, const char *text)
{
    uint32_t c = 0, last = 0;
    size_t n, m;
    for (; *text; text += m) {
        const uint32_t want = character(text, &m);
        c = character(s, &n);
        if (is_space(want) && is_space(c)) {
            while (is_space(character(s + n, &m))) {
                n += m;
            }
            m = 1;
        } else if (c != want) {
            return NULL;
        }
        last = c;
        s += n;
    }
    return is_letter(last) && is_letter(character(s, &n)) ? NULL : s;
}

typedef struct found {
    const char *end; // NULL: no word of the table is here
    pons_yes_no says;
} found;

static void try_word(const char *s, const char *text, pons_yes_no says, found *best)
{
    const char *end = behind(s, text);
    if (end && (!best->end || end > best->end)) {
        *best = (found){end, says};
    }
}

// The longest word at s.
static found word_at(const char *s, const pons_yes_no_words *more)
{
    static const pons_yes_no_words none = {0};
    found best = {0};
    more = more ? more : &none;
    for (size_t i = 0; i < WORDS; i++) {
        try_word(s, words[i].text, words[i].says, &best);
    }
    for (size_t i = 0; i < more->n_yes; i++) {
        try_word(s, more->yes[i], PONS_SAID_YES, &best);
    }
    for (size_t i = 0; i < more->n_no; i++) {
        try_word(s, more->no[i], PONS_SAID_NO, &best);
    }
    for (size_t i = 0; i < more->n_beside; i++) {
        try_word(s, more->beside[i], PONS_SAID_NEITHER, &best);
    }
    return best;
}

static bool asks(const char *text)
{
    size_t n;
    for (uint32_t c; (c = character(text, &n)) != 0; text += n) {
        if (c == '?') {
            return true;
        }
    }
    return false;
}

// Nothing but words of yes and what may stand beside them.
static bool is_yes(const char *text, const pons_yes_no_words *more)
{
    const char *last = NULL; // the yes before
    size_t last_n = 0;
    bool yes = false, pause = true;
    for (const char *s = skip(text, false, &pause); *s;) {
        const found w = word_at(s, more);
        const size_t n = w.end ? (size_t)(w.end - s) : 0;
        // Two of them in a row without a pause are one, said again, or no yes.
        const bool row = last && w.says == PONS_SAID_YES && !pause;
        if (!w.end || w.says == PONS_SAID_NO || (row && (n != last_n || memcmp(s, last, n) != 0))) {
            return false;
        }
        yes = yes || w.says == PONS_SAID_YES;
        last = w.says == PONS_SAID_YES ? s : NULL;
        last_n = n;
        s = skip(w.end, is_letter((unsigned char)w.end[-1] | 0x20U), &pause);
    }
    return yes && !asks(text);
}

// A no that stands first, alone or with its reason behind a space or a mark: 不 of 不错 is none.
static bool is_no(const char *text, const pons_yes_no_words *more, const char **ret_reason)
{
    bool pause = false;
    const char *s = skip(text, false, &pause);
    found w = word_at(s, more);
    while (w.end && w.says == PONS_SAID_NEITHER) {
        s = skip(w.end, false, &pause);
        w = word_at(s, more);
    }
    if (w.says != PONS_SAID_NO) {
        return false;
    }
    const char *first = s;
    const size_t n = (size_t)(w.end - s);
    for (s = w.end; *s && (*ret_reason = skip(s, false, &pause)) == s; s = w.end) {
        w = word_at(s, more); // 不要啊, 不不不
        const bool again = w.says == PONS_SAID_NO && (size_t)(w.end - s) == n;
        if (!w.end || (w.says && (!again || memcmp(s, first, n) != 0))) {
            return false;
        }
    }
    *ret_reason = *s ? *ret_reason : s;
    return true;
}

pons_yes_no pons_yes_no_of(const char *text, const pons_yes_no_words *more, const char **ret_reason)
{
    const char *said = text ? text : "", *reason = said + strlen(said);
    const bool yes = is_yes(said, more), no = !yes && is_no(said, more, &reason);
    if (ret_reason) {
        *ret_reason = no ? reason : said + strlen(said);
    }
    return yes ? PONS_SAID_YES : no ? PONS_SAID_NO : PONS_SAID_NEITHER;
}
