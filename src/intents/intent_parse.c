// intent_parse.c - from what a person says to goals.
//
// A sentence is folded, cut into wishes at its separators, and each wish is matched against the
// patterns. "And" and "," are ambiguous ("the kitchen and the bedroom", "the kitchen and wait"), so
// they cut only where another wish begins. A wish is tried in this order:
//
//   1. as a control word (stop, cancel, pause, yes …);
//   2. strictly: every slot holds a name that the world knows, longest name first;
//   3. as two wishes without a separator, as Chinese allows (去厨房等5秒);
//   4. loosely: a slot holds any words. That never makes a goal; it makes the message that says
//      which zone or object is unknown, and which are known.
//
// A wish behind a word that negates ("not the kitchen", 不要去厨房) is none: it is what is cancelled. One behind a word
// that corrects ("no wait", 不对) takes the place of those before it. What is asked moves nothing, unless it is asked
// politely. What cannot be understood but holds a word that stops ("anywhere" in the intents) is a stop.
#include "intents/intent_file.h"
#include "pons/language.h"
#include "pons/spelling.h"
#include "pons/yes_no.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX       1024 // bytes of one utterance
#define LOOSE_MAX      240  // bytes of a wish that is tried loosely: the search is cubic
#define LIST_MAX       16   // names in one list
#define STARTS_MAX     8    // fillers before a wish
#define ARTICLES_MAX   3
#define JUXTAPOSED_MAX 4   // wishes without a separator
#define KNOWN_LIST_MAX 320 // bytes of a message that lists what is known
#define QUOTE_MAX      80  // bytes of a message that quote the person

typedef struct name {
    char *s;                   // folded
    const char *id, *other_id; // other_id: another thing has the same name
    uint32_t sum;              // of s
    bool object;
} name;

typedef struct span {
    size_t lo, hi; // of the folded text
} span;

// What the slots of one match hold.
typedef struct capture {
    const name *zone[LIST_MAX];
    size_t zones_n;
    bool everywhere; // all zones but those
    const name *object, *place;
    int64_t nth;   // from 1; -1: the last
    bool numbered; // "task 3", which may be its name
    bool has_seconds;
    double seconds;
    bool has_number;
    double number;
    size_t coords_n; // 2: x, y; 3: and the yaw
    double coords[3];
    span text;
    size_t unknown_n; // slots that were filled loosely
    pons__slot unknown_slot;
    span unknown;
} capture;

typedef enum mode { STRICT = 0, LOOSE = 1, PREFIX = 2 } mode; // flags

typedef struct session {
    const pons__intents *r;
    const pons__patterns *phrases; // of skills; NULL: none
    const char *text;
    const pons_value *world;
    pons__fold f;
    name *names; // (names_n), longest first
    size_t names_n;
    pons_value *goals;
    pons_value *undone; // goals that are not wanted
    int64_t nth;        // the task that is not wanted, from 1; -1: the last; 0: none
    bool numbered;
    pons__control control;
    bool urgent;
    bool asks;   // a question: a bare name in it is no wish
    bool polite; // but a request
    bool took_back, guessed;
    bool cancels;     // what is cancelled was said so ("cancel the kitchen"), and not only denied
    bool stays;       // it was said of something that it is not cancelled
    const name *last; // the thing that was said last
    bool zh;          // in which language it is answered
    size_t *unknown;
    pons_error *err;
} session;

// ---- names of the world -------------------------------------------------------------------------

// FNV-1a: a world may have thousands of names, and each is looked for among all.
static uint32_t sum_of(const char *text)
{
    uint32_t sum = 2166136261u;
    for (; *text; text++) {
        sum = (sum ^ (unsigned char)*text) * 16777619u;
    }
    return sum;
}

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "rules", "cannot understand the goal");
}

static int names_add(session *s, const char *text, const char *id, bool object)
{
    pons__fold f;
    if (!text || !*text) {
        return PONS_OK;
    }
    if (pons__fold_init(&f, text, strlen(text)) != PONS_OK) {
        return no_memory(s->err);
    }
    int rc = PONS_OK;
    name *grown = s->names;
    const uint32_t sum = sum_of(f.s);
    for (size_t i = 0; i < s->names_n; i++) {
        name *n = &s->names[i];
        if (n->sum == sum && n->object == object && strcmp(n->s, f.s) == 0) {
            n->other_id = strcmp(n->id, id) != 0 ? id : n->other_id;
            goto done;
        }
    }
    if (!*f.s) {
        goto done;
    }
    if ((s->names_n & (s->names_n - 1)) == 0) { // 0 or a power of two: it is full
        grown = realloc(s->names, (s->names_n ? 2 * s->names_n : 1) * sizeof *grown);
    }
    if (grown) {
        s->names = grown;
        s->names[s->names_n] = (name){.s = strdup(f.s), .id = id, .sum = sum, .object = object};
    }
    if (!grown || !s->names[s->names_n].s) {
        rc = no_memory(s->err);
        goto done;
    }
    s->names_n++;
done:
    pons__fold_fini(&f);
    return rc;
}

// "living room", and as some write it, "livingroom".
static int names_add_both(session *s, const char *text, const char *id, bool object)
{
    char joined[64];
    size_t n = 0;
    const int rc = names_add(s, text, id, object);
    for (size_t i = 0; text && text[i] && n < sizeof joined; i++) {
        if (text[i] != ' ' && text[i] != '_') {
            joined[n++] = text[i];
        }
    }
    if (rc != PONS_OK || !text || n == strlen(text) || n == sizeof joined) {
        return rc;
    }
    joined[n] = '\0';
    return names_add(s, joined, id, object);
}

// names: {lang: text or [text…]}, [text…], or text.
static int names_add_all(session *s, const pons_value *names, const char *id, bool object)
{
    int rc = PONS_OK;
    if (json_is_string(names)) {
        return names_add_both(s, json_string_value(names), id, object);
    }
    if (json_is_array(names)) {
        for (size_t i = 0; rc == PONS_OK && i < json_array_size(names); i++) {
            rc = names_add_both(s, json_string_value(json_array_get(names, i)), id, object);
        }
    } else if (json_is_object(names)) {
        pons_each_member(lang, list, names) {
            if (!json_is_object(list) && (rc = names_add_all(s, list, id, object)) != PONS_OK) {
                break;
            }
        }
    }
    return rc;
}

static int names_load(session *s, const char *key, bool object)
{
    const pons_value *list = pons_get(s->world, key);
    size_t n = json_array_size(list);
    int rc = PONS_OK;
    for (size_t i = 0; rc == PONS_OK && i < n; i++) {
        const pons_value *thing = json_array_get(list, i);
        const char *id =
            json_is_string(thing) ? json_string_value(thing) : pons_get_str(thing, "id", NULL);
        if (id && (rc = names_add_both(s, id, id, object)) == PONS_OK) {
            rc = names_add_all(s, pons_get(thing, "names"), id, object);
        }
    }
    // A class names its one object; two apples need their own names.
    for (size_t i = 0; rc == PONS_OK && i < n; i++) {
        const pons_value *thing = json_array_get(list, i);
        const char *id = pons_get_str(thing, "id", NULL);
        rc = id ? names_add(s, pons_get_str(thing, "class", NULL), id, object) : PONS_OK;
    }
    return rc;
}

static int longer_first(const void *a, const void *b)
{
    const name *x = a, *y = b;
    size_t n = strlen(x->s), m = strlen(y->s);
    return n != m                   ? (n < m) - (n > m)
           : x->object != y->object ? x->object - y->object // a zone before an object
                                    : strcmp(x->s, y->s);
}

static void session_fini(session *s)
{
    for (size_t i = 0; i < s->names_n; i++) {
        free(s->names[i].s);
    }
    free(s->names);
    pons__fold_fini(&s->f);
    json_decref(s->goals);
    json_decref(s->undone);
}

// The verb as it is ordered: "would you mind going to", "cancel going to", "instead of bringing": go to, bring.
static void plain_verbs(pons__fold *f)
{
    static const char *const before[] = {"mind",  "cancel", "skip", "about", "forget",
                                         "avoid", "bother", "of",   "than",  "not"};
    static const char *const verbs[] = {
        "going",    "driving",  "moving",     "coming",  "taking",  "putting",  "bringing",
        "charging", "docking",  "patrolling", "looking", "waiting", "visiting", "checking",
        "cleaning", "entering", "fetching",   "picking", "saying",  "returning"};
    for (size_t i = 0; i < f->n; i++) {
        size_t lo = 0;
        for (size_t k = 0; !lo && k < sizeof before / sizeof before[0]; k++) {
            lo = f->quoted[i] ? 0 : pons__literal_at(f->s, i, f->n, before[k]);
        }
        size_t hi = lo ? pons__skip_spaces(f->s, lo, f->n) : 0;
        lo = hi;
        while (lo && f->s[hi] >= 'a' && f->s[hi] <= 'z') {
            hi++;
        }
        bool verb = false; // "living room" is none
        for (size_t k = 0; k < sizeof verbs / sizeof verbs[0] && !verb; k++) {
            verb = hi - lo == strlen(verbs[k]) && strncmp(f->s + lo, verbs[k], hi - lo) == 0;
        }
        if (!verb) {
            continue;
        }
        const char *stem = f->s + hi - 3;
        const bool e = stem[-1] == 'v' || (stem[-1] == 'k' && stem[-2] == 'a') ||
                       (stem[-1] == 'g' && stem[-2] == 'r');        // moving, taking, charging
        const bool twice = stem[-1] == stem[-2] && stem[-1] == 'l'; // patrolling
        f->s[hi - 3] = 'e';
        pons__fold_cut(f, hi - 3 + e - twice, hi);
    }
}

// What makes a question of a sentence; whether something was done is no wish, whatever stands before it.
static const char *const asking[] = {"?", "？", "吗", "呢", "了吧", "对吧", "是吧"};
static const char *const whether_done[] = {"了吗", "了没"};

// 是去厨房吧, 你是要充电吧: it is to be confirmed. Where 是 is a part of another word (还是去厨房吧) it is a wish.
static bool confirms(const pons__fold *f)
{
    static const char *const before[] = {"你", "您", "不", "该", "机器人"};
    static const char is[] = "是", ends[] = "吧";
    size_t end = f->n;
    while (end > 0 && strchr(" ;,", f->s[end - 1])) {
        end--;
    }
    if (end < strlen(ends) || strncmp(f->s + end - strlen(ends), ends, strlen(ends)) != 0) {
        return false;
    }
    for (size_t i = 0; i < end; i += pons__char_len(f->s, i)) {
        bool starts = i == 0 || (unsigned char)f->s[i - 1] < 0x80;
        for (size_t k = 0; k < sizeof before / sizeof before[0] && !starts; k++) {
            const size_t n = strlen(before[k]);
            starts = i >= n && strncmp(f->s + i - n, before[k], n) == 0;
        }
        if (starts && !f->quoted[i] && pons__literal_at(f->s, i, end, is)) {
            return true;
        }
    }
    return false;
}

static int session_init(session *s, const pons__intents *r, const char *text,
                        const pons_value *world, pons_error *err)
{
    *s = (session){.r = r, .text = text, .world = world, .control = CONTROL_NONE, .err = err};
    size_t len = text ? strlen(text) : 0;
    s->zh = pons_language_chinese(text);
    if (len > TEXT_MAX) {
        return pons_error_set(err, PONS_EINVAL, "rules",
                              "the goal is %zu bytes long; at most %d are understood", len,
                              TEXT_MAX);
    }
    pons_value *valid = json_stringn(text ? text : "", len);
    if (!valid) {
        return pons_error_set(err, PONS_EINVAL, "rules", "the goal is not valid UTF-8");
    }
    json_decref(valid);
    s->goals = json_array();
    s->undone = json_array();
    if (!s->goals || !s->undone || pons__fold_init(&s->f, text ? text : "", len) != PONS_OK) {
        session_fini(s);
        return no_memory(err);
    }
    for (size_t i = 0; len && i < sizeof asking / sizeof *asking; i++) {
        s->asks = s->asks || strstr(text, asking[i]);
    }
    for (size_t i = 0; i < s->f.n; i += pons__char_len(s->f.s, i)) {
        s->polite =
            s->polite || (!s->f.quoted[i] && pons__word_at(&r->polite, s->f.s, i, s->f.n, NULL));
    }
    s->asks = s->asks || confirms(&s->f);
    plain_verbs(&s->f);
    int rc = names_load(s, "zones", false);
    if (rc == PONS_OK) {
        rc = names_load(s, "objects", true);
    }
    if (rc != PONS_OK) {
        session_fini(s);
        return rc;
    }
    if (s->names_n) {
        qsort(s->names, s->names_n, sizeof *s->names, longer_first);
    }
    return PONS_OK;
}

// ---- small steps over the text ------------------------------------------------------------------

static bool is_punctuation(const char *s, size_t pos)
{
    return strchr(" ,;:.!?~\"'", s[pos]) != NULL;
}

static size_t skip_punctuation(const session *s, size_t pos, size_t end)
{
    while (pos < end && is_punctuation(s->f.s, pos)) {
        pos++;
    }
    return pos;
}

// Whether nothing but punctuation and trailing fillers is left.
static bool only_fillers(const session *s, size_t pos, size_t end)
{
    for (;;) {
        pos = skip_punctuation(s, pos, end);
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

// One of a list of literals: 0, or the position after it.
static size_t literal_of_list(const char *t, size_t pos, size_t end, const char *const *list,
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

static pons__candidates candidates(const session *s, size_t pos, size_t end)
{
    return pons__candidates_at(&s->r->patterns, s->phrases, s->f.s, pos, end);
}

// The longest name at pos; 0, or the position after it.
static size_t name_here(const session *s, size_t pos, size_t end, const name **ret)
{
    for (size_t i = 0; i < s->names_n; i++) {
        size_t after = pons__literal_at(s->f.s, pos, end, s->names[i].s);
        if (after) {
            *ret = &s->names[i];
            return after;
        }
    }
    return 0;
}

// How many bytes of a message quote n bytes of s: at most QUOTE_MAX, whole characters.
static int quote_len(const char *s, size_t n)
{
    size_t m = n < QUOTE_MAX ? n : QUOTE_MAX;
    while (m < n && m > 0 && ((unsigned char)s[m] & 0xC0u) == 0x80u) {
        m--;
    }
    return (int)m;
}

// The text as the person wrote it.
static span source_span(const session *s, span w)
{
    span o = {s->f.at[w.lo], s->f.at[w.hi]};
    while (o.hi > o.lo && strchr(" \t\r\n", s->text[o.hi - 1])) {
        o.hi--;
    }
    return o;
}

static pons_value *source_text(const session *s, span w)
{
    span o = source_span(s, w);
    return json_stringn(s->text + o.lo, o.hi - o.lo);
}

// Cuts such words out of a wish, a hurry for one; its end moves.
static bool cut_words(session *s, span *w, const pons__words *words)
{
    bool found = false;
    for (size_t i = w->lo; i < w->hi;) {
        const name *n;
        size_t after = s->f.quoted[i] ? i + 1 : name_here(s, i, w->hi, &n);
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

static bool stop_anywhere(const session *s)
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

static bool alone_urgent(const session *s)
{
    const pons_value *only = json_array_get(s->goals, 0);
    if (json_array_size(s->goals) != 1 || strcmp(pons_get_str(only, "intent", ""), "say") == 0) {
        return false;
    }
    for (size_t i = 0; i < s->f.n;) {
        const name *n;
        size_t after = name_here(s, i, s->f.n, &n);
        if (!after && pons__word_at(&s->r->urgent_alone, s->f.s, i, s->f.n, NULL)) {
            return true;
        }
        i = after ? after : i + pons__char_len(s->f.s, i);
    }
    return false;
}

// ---- matching a pattern -------------------------------------------------------------------------

static bool kind_fits(pons__slot slot, const name *n)
{
    return slot == SLOT_PLACE || n->object == (slot == SLOT_OBJECT);
}

static void keep_name(capture *c, pons__slot slot, const name *n)
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

static bool match(const session *s, const pons__pattern *p, size_t i, size_t pos, size_t end,
                  unsigned m, capture *c);

// "It", 它: what this sentence was about last. 0, or the position after it.
static size_t pronoun_at(const session *s, size_t pos, size_t end)
{
    static const char *const words[] = {"it", "them", "that", "它", "它们"};
    size_t which;
    return s->last ? literal_of_list(s->f.s, pos, end, words, 5, &which) : 0;
}

// Tries each known name at pos, longest first, with and without articles before it.
static bool match_name(const session *s, const pons__pattern *p, size_t i, size_t pos, size_t end,
                       unsigned m, capture *c)
{
    const capture before = *c;
    const size_t it = p->item[i].slot == SLOT_OBJECT ? pronoun_at(s, pos, end) : 0;
    c->object = it ? s->last : c->object;
    if (it && match(s, p, i + 1, it, end, m, c)) {
        return true;
    }
    *c = before;
    for (size_t k = 0; k <= ARTICLES_MAX; k++) {
        for (size_t j = 0; j < s->names_n; j++) {
            const name *n = &s->names[j];
            size_t after =
                kind_fits(p->item[i].slot, n) ? pons__literal_at(s->f.s, pos, end, n->s) : 0;
            if (!after) {
                continue;
            }
            keep_name(c, p->item[i].slot, n);
            if (match(s, p, i + 1, after, end, m, c)) {
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

// One zone, article and all: 0, or the position after it.
static size_t zone_here(const session *s, size_t pos, size_t end, const name **ret)
{
    for (size_t k = 0; k <= ARTICLES_MAX; k++) {
        for (size_t j = 0; j < s->names_n; j++) {
            size_t after =
                s->names[j].object ? 0 : pons__literal_at(s->f.s, pos, end, s->names[j].s);
            if (after) {
                *ret = &s->names[j];
                return after;
            }
        }
        if (!(pos = pons__word_at(&s->r->articles, s->f.s, pos, end, NULL))) {
            break;
        }
    }
    return 0;
}

static bool match_unknown(const session *s, const pons__pattern *p, size_t i, size_t pos,
                          size_t end, unsigned m, capture *c)
{
    pos = pons__skip_spaces(s->f.s, pos, end);
    size_t article = pons__word_at(&s->r->articles, s->f.s, pos, end, NULL);
    pos = article && article < end ? pons__skip_spaces(s->f.s, article, end) : pos;
    capture saved = *c;
    for (size_t hi = pos; hi < end;) {
        hi += pons__char_len(s->f.s, hi);
        if (c->unknown_n++ == 0) {
            c->unknown_slot = p->item[i].slot;
            c->unknown = (span){pos, hi};
        }
        if (match(s, p, i + 1, hi, end, m, c)) {
            return true;
        }
        *c = saved;
    }
    return false;
}

// A list of zones from pos on into c: how far it goes, 0: there is none.
static size_t left_out(const session *s, size_t pos, size_t end, capture *c)
{
    size_t after = 0, at = pos;
    for (c->zones_n = 0; c->zones_n < LIST_MAX && at;) {
        const size_t zone = zone_here(s, at, end, &c->zone[c->zones_n]);
        if (!zone) {
            break;
        }
        c->zones_n++;
        after = zone;
        at = pons__word_at(&s->r->joins, s->f.s, zone, end, NULL);
    }
    return after;
}

// "Every room except the kitchen", 除了厨房，其他房间: all zones but those in c. 0, or the position after it.
static size_t everywhere_at(const session *s, size_t pos, size_t end, capture *c)
{
    const char *t = s->f.s;
    size_t after, out = pons__word_at(&s->r->except, t, pos, end, NULL);
    if (out) {
        if (!(out = left_out(s, out, end, c))) {
            return 0;
        }
        after = pons__word_at(&s->r->excepted, t, out, end, NULL);
        out = skip_punctuation(s, after ? after : out, end);
        after = pons__word_at(&s->r->everywhere, t, out, end, NULL);
        return after ? after : out;
    }
    after = pons__word_at(&s->r->articles, t, pos, end, NULL);
    after = pons__word_at(&s->r->everywhere, t, after ? after : pos, end, NULL);
    out = after ? pons__word_at(&s->r->except, t, skip_punctuation(s, after, end), end, NULL) : 0;
    out = out ? left_out(s, out, end, c) : 0;
    return out ? out : after;
}

// A list of zones, the longest first; loosely, its last may be unknown.
static bool match_list(const session *s, const pons__pattern *p, size_t i, size_t pos, size_t end,
                       unsigned m, capture *c)
{
    capture saved = *c;
    const name *zone[LIST_MAX];
    size_t after[LIST_MAX], n = 0, at = pos;
    const size_t all = p->known_only ? 0 : everywhere_at(s, pos, end, c);
    c->everywhere = all != 0;
    if (all && match(s, p, i + 1, all, end, m, c)) {
        return true;
    }
    *c = saved;
    while (n < LIST_MAX && (after[n] = zone_here(s, at, end, &zone[n]))) {
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
        if (match(s, p, i + 1, after[k - 1], end, m, c)) {
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
static size_t duration_at(const session *s, size_t pos, size_t end, double *ret)
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

// A number with a sign: 0, or the position after it.
static size_t signed_at(const session *s, size_t pos, size_t end, double *ret)
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
static bool match_coords(const session *s, const pons__pattern *p, size_t i, size_t pos, size_t end,
                         unsigned m, capture *c)
{
    static const char *const degrees[] = {"degrees", "degree", "deg", "度", "°"};
    const char *t = s->f.s;
    capture saved = *c;
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
        if (match(s, p, i + 1, at[n - 1], end, m, c)) {
            return true;
        }
    }
    *c = saved;
    return false;
}

// What makes a task's of a number: "2nd", 二号任务 (ordinal by itself), 第二个. 0, or the position after it.
static size_t counted_at(const session *s, size_t pos, size_t end, bool *ret_ordinal)
{
    static const char *const units[] = {"个", "条", "项", "件", "号"}, *const task[] = {"任务"},
                             *const ends[] = {"st", "nd", "rd", "th"};
    size_t which, unit = literal_of_list(s->f.s, pos, end, units, 5, &which);
    *ret_ordinal = unit && which == 4 && literal_of_list(s->f.s, unit, end, task, 1, &which);
    // "2nd": a literal is a word of its own, and this is an end of one
    for (size_t k = 0; !unit && k < 4; k++) {
        unit = strncmp(s->f.s + pos, ends[k], 2) == 0 ? pos + 2 : 0;
        *ret_ordinal = unit != 0;
    }
    return unit;
}

// "The second task", "number two", "task 3", "the last one", 第二个任务, 最后一个. 0, or the position after it.
static size_t nth_at(const session *s, size_t pos, size_t end, int64_t *ret, bool *ret_numbered)
{
    static const char *const lasts[] = {"last",     "latest", "newest",   "最后一个",
                                        "最后那个", "刚才的", "刚才那个", "刚刚的",
                                        "上一个",   "最新的", "最后那件", "最后一件"};
    static const char *const ordinals[] = {"first", "second",  "third",  "fourth", "fifth",
                                           "sixth", "seventh", "eighth", "ninth",  "tenth"};
    static const char *const nouns[] = {"task",  "one",  "goal",   "job",  "wish", "request",
                                        "thing", "任务", "的任务", "目标", "的",   "事"},
                             *const signs[] = {"number", "task number", "task", "任务", "#", "第"};
    const char *t = s->f.s;
    size_t at = pons__word_at(&s->r->articles, t, pos, end, NULL), after = 0;
    at = pons__skip_spaces(t, at ? at : pos, end);
#define ONE_OF(list, from) literal_of_list(t, from, end, list, sizeof list / sizeof list[0], &which)
    size_t which = 0;
    double number = 0;
    *ret_numbered = false;
    if ((after = ONE_OF(lasts, at))) {
        *ret = -1;
    } else if ((after = ONE_OF(ordinals, at))) {
        *ret = (int64_t)which + 1;
    } else {
        const size_t sign = ONE_OF(signs, at);
        *ret_numbered = sign && which < 5; // and not 第
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
static bool match_text(const session *s, size_t pos, size_t end, capture *c)
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
    c->text = (span){pos + quotes, end - quotes};
    return c->text.lo < c->text.hi && skip_punctuation(s, c->text.lo, c->text.hi) < c->text.hi;
}

// Matches item i and all that follow at pos; leaves *c as it was when they do not.
static bool match(const session *s, const pons__pattern *p, size_t i, size_t pos, size_t end,
                  unsigned m, capture *c)
{
    if (i == p->n) {
        return m & PREFIX || only_fillers(s, pos, end);
    }
    size_t after;
    switch (p->item[i].slot) {
    case SLOT_LITERAL:
        after = pons__literal_at(s->f.s, pos, end, p->item[i].literal);
        return after && match(s, p, i + 1, after, end, m, c);
    case SLOT_ZONES:
        return match_list(s, p, i, pos, end, m, c);
    case SLOT_ZONE:
    case SLOT_OBJECT:
    case SLOT_PLACE:
        return match_name(s, p, i, pos, end, m, c) ||
               (m & LOOSE && match_unknown(s, p, i, pos, end, m, c));
    case SLOT_DURATION:
        after = duration_at(s, pos, end, &c->seconds);
        if (after && p->known_only && after == pons__number_at(s->f.s, pos, end, &c->number)) {
            return false; // 三点五 alone is no time to wait
        }
        c->has_seconds = after != 0;
        return after && match(s, p, i + 1, after, end, m, c);
    case SLOT_NUMBER:
        after = signed_at(s, pos, end, &c->number);
        c->has_number = after != 0;
        return after && match(s, p, i + 1, after, end, m, c);
    case SLOT_NTH:
        after = nth_at(s, pos, end, &c->nth, &c->numbered);
        return after && match(s, p, i + 1, after, end, m, c);
    case SLOT_COORDS:
        return match_coords(s, p, i, pos, end, m, c);
    case SLOT_TEXT:
        return i + 1 == p->n && match_text(s, pos, end, c);
    }
    return false;
}

// ---- cutting a sentence into wishes -------------------------------------------------------------

// The places where a wish may begin: at lo, and after each filler.
static size_t starts(const session *s, size_t lo, size_t hi, size_t ret[STARTS_MAX])
{
    size_t n = 0, pos = skip_punctuation(s, lo, hi);
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
        pos = skip_punctuation(s, after, hi);
    }
    return n;
}

static size_t separator_at(const session *s, size_t pos, size_t end, bool *ret_hard)
{
    size_t after = pons__word_at(&s->r->hard, s->f.s, pos, end, NULL);
    *ret_hard = after != 0;
    return after ? after : pons__word_at(&s->r->soft, s->f.s, pos, end, NULL);
}

static pons__intent wish_begins(const session *s, size_t pos, size_t end, bool known,
                                bool *control);

// A word that takes back what was said, or that negates what is behind it. 0, or the position after it.
static size_t opener_at(const session *s, size_t pos, size_t end)
{
    const size_t no = pons__word_at(&s->r->negation, s->f.s, pos, end, NULL);
    const size_t other = pons__word_at(&s->r->corrections, s->f.s, pos, end, NULL);
    return no > other ? no : other;
}

// And one behind that (别取消去卧室), or only the first.
static size_t openers_at(const session *s, size_t pos, size_t end)
{
    const size_t first = opener_at(s, pos, end), second = first ? opener_at(s, first, end) : 0;
    return second ? second : first;
}

static bool name_begins(const session *s, size_t pos, size_t end)
{
    const name *n;
    pos = skip_punctuation(s, pos, end);
    int64_t nth;
    bool numbered;
    return zone_here(s, pos, end, &n) || name_here(s, pos, end, &n) ||
           nth_at(s, pos, end, &nth, &numbered);
}

// And a wish behind it.
static bool opens(const session *s, size_t pos, size_t end)
{
    const size_t first = opener_at(s, pos, end), last = first ? openers_at(s, pos, end) : 0;
    return first &&
           (wish_begins(s, first, end, true, NULL) != INTENT_NONE || name_begins(s, last, end) ||
            (last != first && wish_begins(s, last, end, true, NULL) != INTENT_NONE));
}

// A word that controls the robot, and then an end or a separator.
static bool control_begins(const session *s, size_t pos, size_t end)
{
    for (pons__control c = CONTROL_STOP; c <= CONTROL_NO; c++) {
        size_t after = pons__word_at(&s->r->control[c], s->f.s, pos, end, NULL);
        bool hard;
        if (after && (only_fillers(s, after, end) || separator_at(s, after, end, &hard))) {
            return true;
        }
    }
    return false;
}

// The intent of the wish that begins at pos, or INTENT_NONE. known: only where its names are known.
static pons__intent wish_begins(const session *s, size_t pos, size_t end, bool known, bool *control)
{
    size_t at[STARTS_MAX];
    size_t n = starts(s, pos, end, at);
    for (size_t k = 0; k < n; k++) {
        if (control && (control_begins(s, at[k], end) || opens(s, at[k], end))) {
            *control = true;
            return INTENT_NONE;
        }
        pons__candidates list = candidates(s, at[k], end);
        for (const pons__pattern *p; (p = pons__candidates_next(&list));) {
            capture c = {0};
            if (p->known_only || p->item[0].slot != SLOT_LITERAL) {
                continue;
            }
            size_t after = pons__literal_at(s->f.s, at[k], end, p->item[0].literal);
            if (after && (known ? match(s, p, 1, after, end, PREFIX, &c)
                                : p->n == 1 || pons__skip_spaces(s->f.s, after, end) < end)) {
                return p->means.intent;
            }
        }
    }
    return INTENT_NONE;
}

// Behind "not the kitchen": ", the bedroom" is wanted, and "and the bedroom" is not.
static bool other_zone(const session *s, size_t pos, size_t after, size_t end)
{
    const name *n;
    const bool joins = pons__word_at(&s->r->joins, s->f.s, pos, after, NULL);
    return zone_here(s, after, end, &n) && (s->f.s[pos] == ',' || !joins);
}

// 厨房就不用去了, 但厨房和书房别去: zones, and behind them that they are not wanted.
static bool undone_zones(const session *s, size_t pos, size_t end)
{
    capture c;
    size_t at[STARTS_MAX];
    const size_t n = starts(s, pos, end, at);
    pos = n ? left_out(s, at[n - 1], end, &c) : 0;
    const size_t after = pos ? pons__word_at(&s->r->undone, s->f.s, pos, end, NULL) : 0;
    return after && only_fillers(s, after, end);
}

// Finds the end of the wish at pos and the start of the next.
static void next_cut(const session *s, size_t pos, size_t *ret_end, size_t *ret_next)
{
    const char *t = s->f.s;
    size_t end = s->f.n;
    bool say = wish_begins(s, pos, end, false, NULL) == INTENT_SAY;
    size_t at[STARTS_MAX]; // "go and" before a wish holds no cut
    size_t n_starts = starts(s, pos, end, at);
    const size_t first = n_starts ? at[n_starts - 1] : pos;
    const size_t opened = openers_at(s, first, end);
    const bool all_undone = undone_zones(s, pos, end); // 厨房、书房不用去
    const name *n;
    const size_t no_name = opened ? zone_here(s, opened, end, &n) : 0; // "not the kitchen, …"
    for (size_t i = opened ? opened : first; i < end;) {
        size_t after;
        int64_t nth;
        bool hard, numbered, control = false;
        if (s->f.quoted[i]) {
            i++;
        } else if ((after = name_here(s, i, end, &n)) ||
                   (after = pons__word_at(&s->r->polite, s->f.s, i, end, NULL)) ||
                   (after = nth_at(s, i, end, &nth, &numbered))) {
            i = after;
        } else if (!say && opens(s, i, end)) {
            *ret_end = *ret_next = i; // "the bedroom not the kitchen"
            return;
        } else if ((after = separator_at(s, i, end, &hard)) &&
                   (hard || wish_begins(s, after, end, say, &control) != INTENT_NONE || control ||
                    (i == no_name && other_zone(s, i, after, end)) ||
                    (s->f.s[i] == ',' && !all_undone && undone_zones(s, after, end)))) {
            *ret_end = i;
            *ret_next = after;
            return;
        } else {
            i += pons__char_len(t, i);
        }
    }
    *ret_end = *ret_next = end;
}

// ---- from matches to goals and messages ---------------------------------------------------------

static int ambiguous(const session *s, const name *n)
{
    return pons_error_set(s->err, PONS_EINVAL, "rules",
                          pons_in(s->zh, "\"%s\" may be %s or %s; use the name of one"), n->s,
                          n->id, n->other_id);
}

// Appends one goal; takes its slots, an object (NULL: no memory).
static int goal_add(session *s, pons__intent intent, pons_value *slots, span wish)
{
    if (json_array_size(s->goals) >= s->r->goals_max) {
        json_decref(slots);
        return pons_error_set(s->err, PONS_EINVAL, "rules",
                              pons_in(s->zh, "more than %zu goals in one sentence"),
                              s->r->goals_max);
    }
    pons_value *goal = pons_object("intent", json_string(pons__intent_word(intent)), NULL);
    if (!goal || json_object_update_new(goal, slots) != 0 ||
        json_object_set_new(goal, "text", source_text(s, wish)) != 0 ||
        json_array_append(s->goals, goal) != 0) {
        json_decref(goal);
        return no_memory(s->err);
    }
    json_decref(goal);
    return PONS_OK;
}

static bool is_said(const capture *c, const char *id)
{
    for (size_t i = 0; i < c->zones_n; i++) {
        if (strcmp(c->zone[i]->id, id) == 0) {
            return true;
        }
    }
    return false;
}

// Without a zone all zones of the world; what a person has named there (`named`) is a point, and no zone of it.
static int patrol_add(session *s, const capture *c, span wish)
{
    pons_value *zones = json_array();
    const pons_value *all = pons_get(s->world, "zones");
    const bool listed = c->zones_n > 0 && !c->everywhere;
    for (size_t i = 0; !listed && i < json_array_size(all); i++) {
        const pons_value *zone = json_array_get(all, i);
        const char *id =
            json_is_string(zone) ? json_string_value(zone) : pons_get_str(zone, "id", NULL);
        if (id && !is_said(c, id) && !pons_get_bool(zone, "named", false)) {
            json_array_append_new(zones, json_string(id));
        }
    }
    for (size_t i = 0; listed && i < c->zones_n; i++) {
        json_array_append_new(zones, json_string(c->zone[i]->id));
    }
    if (json_array_size(zones) == 0) {
        json_decref(zones);
        return pons_error_set(s->err, PONS_EINVAL, "rules",
                              pons_in(s->zh, "no zones are known to patrol"));
    }
    return goal_add(s, INTENT_PATROL, pons_object("zones", zones, NULL), wish);
}

// Of several, the one that goes first in pons__control.
static void keep_control(session *s, pons__control c)
{
    if (c != CONTROL_NONE && (s->control == CONTROL_NONE || c < s->control)) {
        s->control = c;
    }
}

static pons_value *id_of(const name *n)
{
    return n ? json_string(n->id) : NULL;
}

// About a thing, a zone or a pose, whichever was said.
static int place_add(session *s, pons__intent intent, const capture *c, span wish)
{
    const name *zone = c->zones_n ? c->zone[0] : c->place;
    const name *named = c->object ? c->object : zone;
    pons_value *pose = c->coords_n < 2 ? NULL
                                       : pons_object("x", json_real(c->coords[0]), "y",
                                                     json_real(c->coords[1]), NULL);
    return goal_add(
        s, intent,
        pons_object(named && named->object ? "object" : "zone", id_of(named), "pose", pose, NULL),
        wish);
}

static int go_add(session *s, const capture *c, span wish)
{
    if (c->coords_n >= 2) {
        pons_value *yaw = c->coords_n > 2 ? json_real(c->coords[2]) : NULL;
        pons_value *pose = pons_object("x", json_real(c->coords[0]), "y", json_real(c->coords[1]),
                                       "yaw", yaw, NULL);
        return goal_add(s, INTENT_GO_TO, pons_object("pose", pose, NULL), wish);
    }
    if (c->everywhere) {
        return patrol_add(s, c, wish);
    }
    // a list is a goal each; the last zone only, for "from A to B"
    int rc = PONS_OK;
    for (size_t i = 0; i < c->zones_n && rc == PONS_OK; i++) {
        rc = goal_add(s, INTENT_GO_TO, pons_object("zone", id_of(c->zone[i]), NULL), wish);
    }
    return rc;
}

static int wait_add(session *s, const capture *c, span wish)
{
    double seconds = c->has_seconds        ? c->seconds
                     : s->r->moments.n > 0 ? s->r->moment_s[s->r->moments.n - 1]
                                           : 1;
    if (!(seconds > 0) || seconds > s->r->wait_max_s) {
        return pons_error_set(s->err, PONS_EINVAL, "rules",
                              pons_in(s->zh, "cannot wait %g s; more than 0 and at most %g s"),
                              seconds, s->r->wait_max_s);
    }
    const int rc = c->zones_n > 0 ? go_add(s, c, wish) : PONS_OK; // where it waits
    return rc < 0
               ? rc
               : goal_add(s, INTENT_WAIT, pons_object("seconds", json_real(seconds), NULL), wish);
}

// The arguments of a phrase, its {"number": factor} replaced by what was said times the factor.
static pons_value *args_of(const pons_value *args, const capture *c)
{
    pons_value *ret = json_object();
    pons_each_member(key, v, args) {
        const pons_value *factor = pons_get(v, "number");
        if (json_is_number(factor)) {
            json_object_set_new(ret, key, json_real(c->number * json_number_value(factor)));
        } else {
            json_object_set(ret, key, v);
        }
    }
    return ret;
}

// asked: it is answered from what is known, and nobody goes there. A robot that remembers what it sees searches.
static int look_add(session *s, const capture *c, const pons_value *args, span wish)
{
    const bool asked = pons_get_bool(args, "asked", false);
    const name *zone = c->zones_n > 0 ? c->zone[0] : NULL;
    if (!asked && pons_get_bool(s->world, "remembers", false)) {
        return goal_add(s, INTENT_FIND,
                        pons_object("object", id_of(c->object), "zone", id_of(zone), "asks",
                                    pons_optional(pons_get(args, "asks")), NULL),
                        wish);
    }
    const int rc = zone && !asked
                       ? goal_add(s, INTENT_GO_TO, pons_object("zone", id_of(zone), NULL), wish)
                       : PONS_OK;
    if (rc != PONS_OK) {
        return rc;
    }
    return goal_add(s, INTENT_LOOK_FOR,
                    pons_object("object", id_of(c->object), "zone", id_of(zone), NULL), wish);
}

static bool has_approximate(const session *s, span w)
{
    bool has = false;
    for (size_t i = w.lo; i < w.hi && !has;) {
        const name *n;
        const size_t after = name_here(s, i, w.hi, &n);
        double number;
        const size_t exact = after ? after : pons__number_at(s->f.s, i, w.hi, &number);
        has = !exact && pons__approximate_at(s->f.s, i, w.hi);
        i = exact ? exact : i + pons__char_len(s->f.s, i);
    }
    return has;
}

static int not_understood(const session *s, span w)
{
    span o = source_span(s, w);
    const char *text = s->text + o.lo;
    const int n = quote_len(text, o.hi - o.lo);
    if (pons__pace_stated(s->r, &s->f)) {
        return pons_error_set(s->err, PONS_EINVAL, "rules",
                              pons_in(s->zh, "that is how fast it goes: say \"faster\" (快一点) or "
                                             "\"slower\" (慢一点)"));
    }
    if (has_approximate(s, w)) {
        return pons_error_set(s->err, PONS_EINVAL, "rules", "没听懂“%.*s”：请说一个确切的数", n,
                              text);
    }
    return pons_error_set(s->err, PONS_EINVAL, "rules",
                          pons_in(s->zh,
                                  "did not understand \"%.*s\": say it in other words, or say "
                                  "\"help\" for what can be said"),
                          n, text);
}

// "Get the apple and bring it to the study" is one way: what was only to be fetched is brought there.
static void drop_fetched(session *s, const capture *c)
{
    const size_t n = json_array_size(s->goals);
    const pons_value *had = json_array_get(s->goals, n - 1);
    const char *intent = pons_get_str(had, "intent", "");
    const bool fetched = strcmp(intent, "bring") == 0 || strcmp(intent, "pick") == 0;
    if (n > 0 && c->place && c->object == s->last && fetched && !pons_get(had, "place") &&
        strcmp(pons_get_str(had, "object", ""), c->object->id) == 0) {
        json_array_remove(s->goals, n - 1);
    }
}

static const name *of_two(const capture *c)
{
    const name *of = c->object && c->object->other_id ? c->object : NULL;
    of = c->place && c->place->other_id ? c->place : of;
    for (size_t i = 0; i < c->zones_n && !of; i++) {
        of = c->zone[i]->other_id ? c->zone[i] : NULL;
    }
    return of;
}

static bool repeats_last(const session *s, pons__intent intent)
{
    const pons_value *had = json_array_get(s->goals, json_array_size(s->goals) - 1);
    return strcmp(pons_get_str(had, "intent", ""), pons__intent_word(intent)) == 0;
}

static int goals_add(session *s, const pons__pattern *p, const capture *c, span wish)
{
    const name *two = of_two(c);
    capture with = *c; // "… and put it there", 拿起来放到那里
    if (two) {
        return ambiguous(s, two);
    }
    if (!c->object && p->means.intent == INTENT_PUT) {
        with.object = s->last;
        c = &with;
    }
    if (!c->object && p->means.intent == INTENT_PUT) {
        return not_understood(s, wish);
    }
    s->last = c->object ? c->object : s->last;
    switch (p->means.intent) {
    case INTENT_GO_TO:
        return go_add(s, c, wish);
    case INTENT_BRING:
        drop_fetched(s, c);
        // fall through
    case INTENT_PUT:
    case INTENT_PICK:
    case INTENT_PUT_DOWN:
        return goal_add(s, p->means.intent,
                        pons_object("object", id_of(c->object), "place", id_of(c->place), NULL),
                        wish);
    case INTENT_LOOK_FOR: // where it is looked for, and then whether it is there
        return look_add(s, c, p->means.args, wish);
    case INTENT_SEE:
    case INTENT_LOOK_AT:
    case INTENT_STATE:
        return place_add(s, p->means.intent, c, wish);
    case INTENT_WAIT:
        return wait_add(s, c, wish);
    case INTENT_WHERE:
        return goal_add(
            s, INTENT_WHERE,
            pons_object(c->place && c->place->object ? "object" : "zone", id_of(c->place), NULL),
            wish);
    case INTENT_DO:
        return goal_add(s, INTENT_DO,
                        pons_object("skill", pons_value_ref(p->means.skill), "args",
                                    args_of(p->means.args, c), NULL),
                        wish);
    case INTENT_SAY:
        return goal_add(s, INTENT_SAY, json_object(), c->text);
    case INTENT_PATROL:
        return patrol_add(s, c, wish);
    case INTENT_CANCEL:
        s->nth = c->nth;
        s->numbered = c->numbered;
        keep_control(s, CONTROL_CANCEL);
        return PONS_OK;
    case INTENT_COME_BACK:
    case INTENT_CHARGE:
        return repeats_last(s, p->means.intent) // 回来回来
                   ? PONS_OK
                   : goal_add(s, p->means.intent, json_object(), wish);
    default:
        return goal_add(s, p->means.intent, json_object(), wish);
    }
}

// "kitchen (厨房), living_room (客厅)".
static void list_known(const session *s, const char *key, char *buf, size_t cap)
{
    const pons_value *list = pons_get(s->world, key);
    size_t n = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pons_value *thing = json_array_get(list, i);
        const pons_value *zh = pons_get(pons_get(thing, "names"), "zh");
        const char *id =
            json_is_string(thing) ? json_string_value(thing) : pons_get_str(thing, "id", "?");
        const char *first =
            json_is_string(zh) ? json_string_value(zh) : json_string_value(json_array_get(zh, 0));
        char one[128];
        int m = snprintf(one, sizeof one, first ? "%s%s (%s)" : "%s%s", i ? ", " : "", id, first);
        if (m < 0 || (size_t)m >= sizeof one || n + (size_t)m + sizeof ", …" >= cap) {
            snprintf(buf + n, cap - n, "%s", ", …");
            return;
        }
        memcpy(buf + n, one, (size_t)m + 1);
        n += (size_t)m;
    }
}

// The known names that were probably meant, of different things: how many, at most 2.
static size_t meant_names(const session *s, const char *text, size_t n, pons__slot slot,
                          const char *ret[2])
{
    pons__fold f;
    int edits[2] = {INT_MAX, INT_MAX};
    const char *id[2] = {NULL, NULL};
    if (pons__fold_init(&f, text, n) != PONS_OK) {
        return 0;
    }
    for (size_t i = 0; i < s->names_n; i++) {
        const name *known = &s->names[i];
        pons_meant meant = pons_meant_of(f.s, f.n);
        pons_meant_try(&meant, known->s, strlen(known->s));
        if (!meant.best || !kind_fits(slot == SLOT_ZONES ? SLOT_ZONE : slot, known)) {
            continue;
        }
        const bool nearer = meant.edits < edits[0];
        const size_t at = nearer || (id[0] && strcmp(id[0], known->id) == 0) ? 0 : 1;
        if (at == 0 && nearer) {
            edits[1] = INT_MAX; // what was as near as that is not as near as this
        }
        if (meant.edits < edits[at]) {
            edits[at] = meant.edits;
            id[at] = known->id;
            ret[at] = known->s;
        }
    }
    pons__fold_fini(&f);
    return (edits[0] != INT_MAX) + (edits[0] != INT_MAX && edits[1] == edits[0]);
}

static int unknown_name(const session *s, const capture *c)
{
    bool object = c->unknown_slot == SLOT_OBJECT;
    const char *where = c->unknown_slot == SLOT_PLACE ? "place" : "zone";
    const char *kind = object ? "object" : where;
    char known[KNOWN_LIST_MAX];
    list_known(s, object ? "objects" : "zones", known, sizeof known);
    span o = source_span(s, c->unknown);
    const char *text = s->text + o.lo, *thing = object ? "东西" : "地方";
    const int n = quote_len(text, o.hi - o.lo);
    const char *meant[2];
    const size_t meant_n = meant_names(s, text, o.hi - o.lo, c->unknown_slot, meant);
    const char *between = meant_n < 2 ? "" : s->zh ? "”或“" : " or ";
    const char *also = meant_n < 2 ? "" : meant[1];
    if (s->unknown) {
        *s->unknown = o.hi - o.lo;
    }
    if (meant_n > 0 && s->zh) {
        return pons_error_set(s->err, PONS_EINVAL, "rules", "没有叫“%.*s”的%s，是不是指“%s%s%s”？",
                              n, text, thing, meant[0], between, also);
    }
    if (meant_n > 0) {
        return pons_error_set(s->err, PONS_EINVAL, "rules",
                              "there is no %s \"%.*s\"; did you mean %s%s%s?",
                              object ? "object" : "place", n, text, meant[0], between, also);
    }
    if (!*known && !s->zh) {
        return pons_error_set(s->err, PONS_EINVAL, "rules", "unknown %s \"%.*s\"; no %s are known",
                              kind, n, text, object ? "objects" : "zones");
    }
    if (!s->zh) {
        return pons_error_set(s->err, PONS_EINVAL, "rules", "unknown %s \"%.*s\"; known %s: %s",
                              kind, n, text, object ? "objects" : "zones", known);
    }
    return pons_error_set(s->err, PONS_EINVAL, "rules", "没有叫“%.*s”的%s；认识的%s：%s", n, text,
                          thing, thing, *known ? known : "没有");
}

// ---- one wish -----------------------------------------------------------------------------------

static pons__control wish_control(const session *s, span w)
{
    size_t at[STARTS_MAX];
    size_t n = starts(s, w.lo, w.hi, at);
    for (size_t k = 0; k < n; k++) {
        for (pons__control c = CONTROL_STOP; c < CONTROL_COUNT; c++) {
            size_t after = pons__word_at(&s->r->control[c], s->f.s, at[k], w.hi, NULL);
            size_t again = after;
            while (again) { // 停停停, "no, no"
                after = again;
                again = pons__word_at(&s->r->control[c], s->f.s, skip_punctuation(s, after, w.hi),
                                      w.hi, NULL);
            }
            if (after && only_fillers(s, after, w.hi)) {
                return c;
            }
        }
    }
    return CONTROL_NONE;
}

// A yes is said outright, with nothing beside it that makes it another word.
static bool outright(const session *s)
{
    const pons__words *yes = &s->r->control[CONTROL_YES], *beside = &s->r->beside_yes;
    const pons_yes_no_words more = {.yes = (const char *const *)yes->v,
                                    .beside = (const char *const *)beside->v,
                                    .n_yes = yes->n,
                                    .n_beside = beside->n};
    return pons_yes_no_of(s->text, &more, NULL) == PONS_SAID_YES;
}

pons__control pons__policy_control(const pons__intents *r, const char *text)
{
    session s;
    if (session_init(&s, r, text, NULL, NULL) != PONS_OK) {
        return CONTROL_NONE;
    }
    for (size_t pos = 0; pos < s.f.n;) {
        span w = {.lo = pos};
        next_cut(&s, pos, &w.hi, &pos);
        keep_control(&s, wish_control(&s, w));
    }
    if (outright(&s)) {
        s.control = CONTROL_YES;
    } else if (s.control == CONTROL_YES) {
        s.control = CONTROL_NONE;
    }
    session_fini(&s);
    return s.control;
}

static bool is_blank(const session *s, span w)
{
    size_t at[STARTS_MAX];
    size_t n = starts(s, w.lo, w.hi, at);
    if (n == 0 || only_fillers(s, at[n - 1], w.hi)) {
        return true;
    }
    size_t after = pons__word_at(&s->r->leading, s->f.s, at[n - 1], w.hi, NULL);
    return after && only_fillers(s, after, w.hi);
}

static const pons__pattern *match_strictly(const session *s, span w, capture *ret)
{
    size_t at[STARTS_MAX];
    size_t n = starts(s, w.lo, w.hi, at);
    for (size_t k = 0; k < n; k++) {
        pons__candidates list = candidates(s, at[k], w.hi);
        for (const pons__pattern *p; (p = pons__candidates_next(&list));) {
            *ret = (capture){0};
            if (!(p->known_only && s->asks && !s->polite) &&
                match(s, p, 0, at[k], w.hi, STRICT, ret)) {
                return p;
            }
        }
    }
    return NULL;
}

// The match with the fewest unknown names.
static const pons__pattern *match_loosely(const session *s, span w, capture *ret)
{
    size_t at[STARTS_MAX];
    size_t n = w.hi - w.lo <= LOOSE_MAX ? starts(s, w.lo, w.hi, at) : 0;
    const pons__pattern *found = NULL;
    for (size_t k = 0; k < n; k++) {
        pons__candidates list = candidates(s, at[k], w.hi);
        for (const pons__pattern *p; (p = pons__candidates_next(&list));) {
            capture c = {0};
            if (!p->known_only && p->item[0].slot == SLOT_LITERAL &&
                match(s, p, 0, at[k], w.hi, LOOSE, &c) &&
                (!found || c.unknown_n < ret->unknown_n)) {
                *ret = c;
                found = p;
            }
        }
    }
    return found;
}

// "… twice", "… three times", …两遍: how often, and the wish before it; 0: that is not said.
static size_t times_of(const session *s, span *w)
{
    static const char *const words[] = {"once", "twice", "thrice"}, *const units[] = {
                                                                        "times", "time", "次",
                                                                        "遍",    "回",   "圈"};
    for (size_t i = w->lo + 1; i < w->hi; i += pons__char_len(s->f.s, i)) {
        size_t which;
        double n = 0;
        size_t after = s->f.quoted[i] ? 0 : literal_of_list(s->f.s, i, w->hi, words, 3, &which);
        n = after ? (double)which + 1 : 0;
        if (!after && !s->f.quoted[i] && (after = pons__number_at(s->f.s, i, w->hi, &n))) {
            after = literal_of_list(s->f.s, after, w->hi, units, 6, &which);
        }
        if (after && only_fillers(s, after, w->hi) && n >= 1 && n <= (double)s->r->goals_max &&
            n == (double)(size_t)n) {
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

// The pattern of a whole wish, which may say how often; *w is the wish without that.
static const pons__pattern *match_times(const session *s, span *w, capture *ret, size_t *ret_times)
{
    span once = *w;
    *ret_times = times_of(s, &once);
    const bool whole = *ret_times == 0 || wish_begins(s, w->lo, w->hi, false, NULL) != INTENT_SAY;
    const pons__pattern *p = whole ? match_strictly(s, *w, ret) : NULL;
    if (p || *ret_times == 0) { // "turn three times" may be a skill's own
        *ret_times = 1;
        return p;
    }
    *w = once;
    return match_strictly(s, once, ret);
}

// The goals of a wish, so often.
static int add_times(session *s, const pons__pattern *p, const capture *c, span w, size_t times)
{
    // "There and back twice" is the whole way.
    const bool back = p->means.intent == INTENT_COME_BACK;
    const size_t before = back ? 0 : json_array_size(s->goals);
    int rc = goals_add(s, p, c, w);
    const size_t n = json_array_size(s->goals) - before;
    for (size_t i = n; rc == PONS_OK && i < n * times; i++) {
        rc = json_array_size(s->goals) < s->r->goals_max
                 ? json_array_append(s->goals, json_array_get(s->goals, before + i % n))
                 : goal_add(s, p->means.intent, json_object(), w); // which says that it is too many
    }
    return rc;
}

// 1 when the wish became goals, 0 when it is not understood strictly, or an error.
static int parse_strictly(session *s, span w, size_t depth)
{
    capture c;
    size_t times;
    span bare = w;
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
        span head = {w.lo, cut}, tail = {cut, w.hi};
        if (((unsigned char)s->f.s[cut] & 0xC0u) == 0x80u || s->f.quoted[cut] ||
            !goes_on(wish_begins(s, cut, w.hi, true, NULL)) || !(p = match_strictly(s, head, &c))) {
            continue;
        }
        int rc = goals_add(s, p, &c, head);
        if (rc != PONS_OK || (rc = parse_strictly(s, tail, depth - 1)) != 0) {
            return rc;
        }
        while (json_array_size(s->goals) > kept) {
            json_array_remove(s->goals, json_array_size(s->goals) - 1);
        }
    }
    return 0;
}

static int a_question(const session *s)
{
    return pons_error_set(s->err, PONS_EINVAL, "rules",
                          pons_in(s->zh,
                                  "that is a question, so nothing is done: to have it done, say "
                                  "it without asking, or with \"please\""));
}

// Whether the words of a negation cancel, as they do without a task beside them.
static bool is_cancel(const char *word)
{
    static const char *const words[] = {
        "cancel",  "forget", "forget about", "never mind", "never mind about",
        "scratch", "skip",   "drop",         "scrap",      "取消",
        "跳过",    "去掉",   "删掉",         "删除"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

// "Not the bedroom" behind what is cancelled: that stays.
static bool is_bare_not(const char *word)
{
    static const char *const words[] = {"not", "but not", "不是", "而不是"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

// What is not wanted, behind its negation (*ret_word) or from 把 to a word that cancels: *w becomes that. false: it is no
// such wish.
static bool negated(const session *s, span *w, const char **ret_word)
{
    size_t at[STARTS_MAX], n = starts(s, w->lo, w->hi, at), which;
    for (size_t k = 0; k < n; k++) {
        const size_t lo = pons__word_at(&s->r->negation, s->f.s, at[k], w->hi, &which);
        if (lo) {
            *ret_word = s->r->negation.v[which];
            w->lo = lo;
            return true;
        }
    }
    *ret_word = "cancel";
    for (size_t i = w->lo + 1; i < w->hi; i += pons__char_len(s->f.s, i)) {
        const size_t after = pons__word_at(&s->r->undone, s->f.s, i, w->hi, NULL);
        if (after && only_fillers(s, after, w->hi)) {
            const size_t lo = pons__literal_at(s->f.s, w->lo, i, "把");
            *w = (span){lo ? lo : w->lo, i};
            return true;
        }
    }
    return false;
}

// "Don't cancel the second", "don't stop": nothing is cancelled, and nothing stops. Whether it is that.
static bool parse_kept(session *s, const char *word, span w)
{
    const char *inner;
    const bool cancels = is_cancel(word);
    const pons__control control = wish_control(s, w);
    if (!cancels && control == CONTROL_STOP && strcmp(word, "不") != 0 && // "you aren't stopping!"
        (w.lo == 0 || !strchr(",;", s->f.s[w.lo - 1]))) {
        keep_control(s, json_array_size(s->goals) > 0 ? CONTROL_NONE : CONTROL_CONTINUE);
        s->stays = true;
        return true;
    }
    capture c;
    const pons__pattern *p = match_strictly(s, w, &c);
    const bool twice = !p && control != CONTROL_CANCEL && negated(s, &w, &inner);
    if (!cancels && (control == CONTROL_CANCEL || (p && p->means.intent == INTENT_CANCEL) ||
                     (twice && is_cancel(inner)))) {
        s->stays = true;
        return true;
    }
    const bool other = (s->cancels || s->nth) && is_bare_not(word);
    s->stays = s->stays || other;
    return other;
}

// What the words behind a negation (不要去厨房), or before one (把去厨房取消), would be: it is cancelled, and no wish
// any more. 1: it is that; 0: it is none.
static int parse_negated(session *s, span w)
{
    const char *word;
    if (!negated(s, &w, &word)) {
        return 0;
    }
    w.lo = skip_punctuation(s, w.lo, w.hi);
    if (parse_kept(s, word, w)) {
        return 1;
    }
    pons_value *wanted = s->goals;
    if (!(s->goals = json_array())) {
        s->goals = wanted;
        return no_memory(s->err);
    }
    const int rc = parse_strictly(s, w, 0);
    pons_value *not_wanted = s->goals;
    s->goals = wanted;
    pons_each(goal, not_wanted) {
        for (size_t i = json_array_size(wanted); i-- > 0;) {
            pons_autovalue had = json_copy(json_array_get(wanted, i));
            json_object_set((json_t *)had, "text", (json_t *)pons_get(goal, "text"));
            if (json_equal(had, (json_t *)goal)) {
                json_array_remove(wanted, i);
            }
        }
    }
    if (json_array_size(not_wanted) > 0) {
        json_array_extend(s->undone, not_wanted);
        s->cancels = s->cancels || is_cancel(word);
        keep_control(s, CONTROL_CANCEL);
    }
    json_decref(not_wanted);
    return rc;
}

// What takes back the goals before it, in the same breath; w->lo moves behind it.
static void take_back(session *s, span *w)
{
    const size_t lo = skip_punctuation(s, w->lo, w->hi);
    size_t after = pons__word_at(&s->r->corrections, s->f.s, lo, w->hi, NULL);
    const size_t before = pons__word_at(&s->r->control[CONTROL_NO], s->f.s, lo, w->hi, NULL);
    const bool apart =
        before && before < w->hi && strchr(",;", s->f.s[before]); // "no, the bedroom"
    const bool no = !after && wish_control(s, *w) == CONTROL_NO;
    after = !after && apart && json_array_size(s->goals) > 0 ? before : after;
    if ((after || no) && json_array_size(s->goals) > 0) {
        json_array_clear(s->goals);
        s->took_back = true;
    }
    w->lo = after ? after : w->lo;
    w->lo = no && s->took_back ? w->hi : w->lo;
}

static bool has_word(const session *s, const pons__words *words, span w)
{
    for (size_t i = w.lo; i < w.hi; i += pons__char_len(s->f.s, i)) {
        if (!s->f.quoted[i] && pons__word_at(words, s->f.s, i, w.hi, NULL)) {
            return true;
        }
    }
    return false;
}

// What a question is about that no pattern has. A word that stops is heard before it.
static pons__intent topic_of(const session *s, span w)
{
    if ((!s->asks && !has_word(s, &s->r->asking, w)) || stop_anywhere(s)) {
        return INTENT_NONE;
    }
    for (size_t i = 0; i < s->r->topics_n; i++) {
        const struct pons__topic *topic = &s->r->topics[i];
        if (has_word(s, &topic->words, w) && (topic->with.n == 0 || has_word(s, &topic->with, w))) {
            return topic->intent;
        }
    }
    return INTENT_NONE;
}

// "Hello" and "do it again" are words before a wish, or a yes, but where they are all that is said. 1: they are.
static int parse_alone(session *s, span w, pons__control control)
{
    capture c;
    const bool bare = control == CONTROL_YES || (control == CONTROL_NONE && is_blank(s, w));
    const pons__pattern *p = bare ? match_strictly(s, w, &c) : NULL;
    const int rc = p ? goals_add(s, p, &c, w) : 0;
    return p && rc == PONS_OK ? 1 : rc;
}

// What is no wish: a question that can be answered, or what is wrong with it. all: it is the whole sentence.
static int ask_back(session *s, span wish, bool all)
{
    capture c = {0};
    const pons__pattern *p = match_loosely(s, wish, &c);
    const bool unknown = p && c.unknown_n, moves = unknown && p->means.intent < INTENT_WHERE;
    const pons__intent topic = all && (!unknown || moves) ? topic_of(s, wish) : INTENT_NONE;
    if (topic != INTENT_NONE) {
        s->guessed = true;
        return goal_add(s, topic, json_object(), wish);
    }
    if (moves && s->asks && !s->polite) {
        return a_question(s);
    }
    if (has_approximate(s, wish)) {
        return not_understood(s, wish);
    }
    return unknown ? unknown_name(s, &c) : not_understood(s, wish);
}

// The wish without words that change nothing. 1: it is understood so, and w->hi has moved; else nothing has changed.
static int parse_without_noise(session *s, span wish, span *w)
{
    pons__fold whole;
    const size_t end = wish.hi;
    if (!has_word(s, &s->r->noise, wish) || pons__fold_copy(&s->f, &whole) != PONS_OK) {
        return 0;
    }
    cut_words(s, &wish, &s->r->noise);
    int rc = parse_negated(s, wish);
    rc = rc != 0 ? rc : parse_strictly(s, wish, JUXTAPOSED_MAX);
    if (rc == 1) {
        w->hi -= end - wish.hi;
        pons__fold_fini(&whole);
    } else {
        pons__fold_fini(&s->f);
        s->f = whole;
    }
    return rc;
}

// 最后那个不做了 is about one task, though 不做了 is about all. "Don't stop" beside another wish is nothing of its own.
static int parse_control(session *s, span w, pons__control control)
{
    capture c;
    const pons__pattern *p = control == CONTROL_CANCEL ? match_strictly(s, w, &c) : NULL;
    if (p && p->means.intent == INTENT_CANCEL) {
        return goals_add(s, p, &c, w);
    }
    size_t at[STARTS_MAX];
    const size_t n = control == CONTROL_CONTINUE ? starts(s, w.lo, w.hi, at) : 0;
    if (json_array_size(s->goals) == 0 || n == 0 ||
        !pons__word_at(&s->r->negation, s->f.s, at[n - 1], w.hi, NULL)) {
        keep_control(s, control);
    }
    return PONS_OK;
}

// "Turn left and stop", 前进一米然后停下: a stop at the end, joined to what moves by a word, is how that ends. from: where the
// wish before it ended.
static bool ends_motion(const session *s, size_t from)
{
    static const char *const words[] = {"stop",       "stop there", "halt", "stand still",
                                        "stay there", "stay",       "停",   "停下",
                                        "停下来",     "停住",       "停止", "停车"};
    const size_t end = s->f.n;
    size_t pos = skip_punctuation(s, from, end), after, which;
    bool hard, joined = false;
    while ((after = separator_at(s, pos, end, &hard))) {
        joined = true;
        pos = skip_punctuation(s, after, end);
    }
    // the longest of them
    for (size_t i = 0; joined && i < sizeof words / sizeof words[0]; i++) {
        after = literal_of_list(s->f.s, pos, end, words + i, 1, &which);
        if (after && skip_punctuation(s, after, end) == end) {
            return true;
        }
    }
    return false;
}

// Takes a zone out of the patrols among the goals; one without zones is none. Whether there was one.
static bool drop_zone(session *s, const char *zone)
{
    bool dropped = false;
    for (size_t i = json_array_size(s->goals); zone && i-- > 0;) {
        json_t *zones = (json_t *)pons_get(json_array_get(s->goals, i), "zones");
        for (size_t k = json_array_size(zones); k-- > 0;) {
            if (strcmp(json_string_value(json_array_get(zones, k)), zone) == 0) {
                json_array_remove(zones, k);
                dropped = true;
            }
        }
        if (zones && json_array_size(zones) == 0) {
            json_array_remove(s->goals, i);
        }
    }
    return dropped;
}

// A zone that is not to be visited ("patrol everywhere, skip the kitchen") is left out of the patrol beside it, and no task
// is cancelled for it.
static void leave_out(session *s)
{
    bool any = false;
    for (size_t i = json_array_size(s->undone); i-- > 0;) {
        const pons_value *not_wanted = json_array_get(s->undone, i);
        bool dropped = drop_zone(s, pons_get_str(not_wanted, "zone", NULL));
        pons_each(zone, pons_get(not_wanted, "zones")) {
            dropped = drop_zone(s, json_string_value(zone)) || dropped;
        }
        if (dropped) {
            json_array_remove(s->undone, i);
            any = true;
        }
    }
    if (any && s->control == CONTROL_CANCEL && json_array_size(s->undone) == 0 && !s->nth) {
        s->control = CONTROL_NONE;
    }
}

// Understands the wish [w->lo, w->hi); w->hi moves when a hurry is cut out.
static int parse_wish(session *s, span *w)
{
    take_back(s, w);
    const bool all = w->lo == 0 && skip_punctuation(s, w->hi, s->f.n) == s->f.n;
    pons__control control = wish_control(s, *w);
    const int alone = all ? parse_alone(s, *w, control) : 0;
    if (alone != 0) {
        return alone < 0 ? alone : PONS_OK;
    }
    if (control != CONTROL_NONE) {
        return parse_control(s, *w, control);
    }
    bool say = wish_begins(s, w->lo, w->hi, false, NULL) == INTENT_SAY;
    if (!say && cut_words(s, w, &s->r->urgent)) {
        s->urgent = true;
    }
    if (is_blank(s, *w)) {
        return PONS_OK;
    }
    span wish = {skip_punctuation(s, w->lo, w->hi), w->hi};
    bool in_quotes = wish.lo > w->lo && s->f.s[wish.lo - 1] == '"';
    while (wish.hi > wish.lo && strchr(in_quotes ? " ,;:\"" : " ,;:", s->f.s[wish.hi - 1])) {
        wish.hi--;
    }
    int rc = say ? 0 : parse_negated(s, wish);
    rc = rc != 0 ? rc : parse_strictly(s, wish, JUXTAPOSED_MAX);
    rc = rc != 0 || say ? rc : parse_without_noise(s, wish, w);
    if (rc != 0) {
        return rc < 0 ? rc : PONS_OK;
    }
    return ask_back(s, wish, all);
}

// Whether a goal is more than an answer.
static bool any_moves(const session *s)
{
    pons_each(goal, s->goals) {
        const pons__intent is = pons__intent_of(pons_get_str(goal, "intent", ""));
        if (is < INTENT_WHERE && is != INTENT_SAY) {
            return true;
        }
    }
    return false;
}

static int parse_wishes(session *s)
{
    size_t before = 0;
    for (size_t pos = 0; pos < s->f.n;) {
        span w = {.lo = pos};
        size_t next;
        if (any_moves(s) && ends_motion(s, before)) {
            break;
        }
        next_cut(s, pos, &w.hi, &next);
        size_t end = w.hi;
        int rc = parse_wish(s, &w);
        if (rc != PONS_OK) {
            return rc;
        }
        before = w.hi;
        pos = next - (end - w.hi);
    }
    return PONS_OK;
}

static int parse_sentence(session *s)
{
    const bool empty = skip_punctuation(s, 0, s->f.n) == s->f.n;
    if (empty && s->asks) { // "?"
        return goal_add(s, INTENT_HELP, json_object(), (span){0, s->f.n});
    }
    if (empty) {
        return pons_error_set(s->err, PONS_EINVAL, "rules", pons_in(s->zh, "the goal is empty"));
    }
    if (outright(s)) {
        s->control = CONTROL_YES;
        return PONS_OK;
    }
    const int rc = parse_wishes(s);
    if (rc != PONS_OK) {
        return rc;
    }
    leave_out(s);
    if (s->control == CONTROL_YES) {
        s->control = CONTROL_NONE;
    }
    if (s->took_back && json_array_size(s->goals) == 0) {
        keep_control(s, CONTROL_NO);
    }
    if (s->asks && !s->polite && any_moves(s)) {
        json_array_clear(s->goals);
        return a_question(s);
    }
    if (s->stays && json_array_size(s->goals) == 0 && s->control == CONTROL_NONE) {
        return pons_error_set(s->err, PONS_EINVAL, "rules", pons_in(s->zh, "nothing is cancelled"));
    }
    return json_array_size(s->goals) || s->control != CONTROL_NONE
               ? PONS_OK
               : not_understood(s, (span){0, s->f.n});
}

// Which tasks a `cancel` is about; NULL: all.
static pons_value *cancel_of(const session *s)
{
    const bool some = json_array_size(s->undone) > 0;
    if (s->control != CONTROL_CANCEL || (!some && !s->nth)) {
        return NULL;
    }
    pons_value *ret = some ? pons_object("goals", json_incref(s->undone), NULL) : json_object();
    if (s->nth) {
        json_object_set_new(ret, s->numbered ? "number" : "nth", json_integer(s->nth));
    }
    return ret;
}

static pons_value *understood(session *s, bool somewhere)
{
    if (json_array_size(s->goals) > 0 && s->control == CONTROL_YES) {
        s->control = CONTROL_NONE; // "ok, go to the kitchen" answers nothing
    }
    const bool urgent = s->urgent || alone_urgent(s);
    pons_value *control =
        s->control == CONTROL_NONE ? json_null() : json_string(pons__control_word(s->control));
    return pons_object("goals", json_incref(s->goals), "control", control, "urgent",
                       json_boolean(urgent), "somewhere", somewhere ? json_true() : NULL, "cancel",
                       cancel_of(s), "guessed", s->guessed ? json_true() : NULL, NULL);
}

// ---- public functions ---------------------------------------------------------------------------

int pons__parse(pons__rules *rules, const char *text, const pons_value *world, pons_value **ret,
                size_t *ret_unknown, pons_error *err)
{
    session s;
    int rc = session_init(&s, rules->base, text, world, err);
    if (rc != PONS_OK) {
        return rc;
    }
    s.unknown = ret_unknown;
    rc = pons__phrases_for(rules, world, &s.phrases, err);
    if (rc != PONS_OK) {
        session_fini(&s);
        return rc;
    }
    pons_value *called = NULL;                      // the whole text is a call, and no sentence
    const bool bare = text && !strpbrk(text, "{="); // "do it" is a yes
    rc = bare && pons__policy_control(rules->base, text) != CONTROL_NONE
             ? PONS_ENOTFOUND
             : pons__call_parse(text, world, &called, err);
    if (rc == PONS_OK) {
        rc = json_array_append_new(s.goals, called) == 0 ? PONS_OK : no_memory(err);
    }
    rc = rc == PONS_ENOTFOUND ? parse_sentence(&s) : rc;
    const bool somewhere = rc == PONS_EINVAL && stop_anywhere(&s);
    if (somewhere) {
        // To stop is never wrong; what else was wished for is left.
        json_array_clear(s.goals);
        s.control = CONTROL_STOP;
        rc = PONS_OK;
        if (err) {
            *err = (pons_error)PONS_ERROR_INIT;
        }
    }
    if (rc == PONS_OK) {
        pons_value *v = understood(&s, somewhere);
        rc = v ? PONS_OK : no_memory(err);
        if (v) {
            *ret = v;
        }
    }
    session_fini(&s);
    return rc;
}

int pons__policy_parse(void *self, const char *text, const pons_value *world, pons_value **ret,
                       pons_error *err)
{
    return pons__parse(self, text, world, ret, NULL, err);
}
