// find.c - questions to the memory: the items are read, by whoever asks, in whatever process.
//
//     what --words, singulars--> the store's index --> how well do the object's words fit? --+
//     nothing ----------------------> newest items ------------------------------------------+--> belief now --> best first
//
// The index finds an item by any word, and a Chinese one by any character; so each item's own words are then compared
// with what was asked for: equal, one in the other as whole words, or not at all.
#include "pons/buf.h"
#include "sight/memory/evidence.h"
#include "sight/memory/object.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT_MAX = 1000, LIMIT = 20, TERM_MAX = 256 };
static const double NEAREST_LEAST = 0.5; // cosine, by meaning

typedef struct answer {
    const pons_value *item; // of the search
    double fit, belief, score;
    int64_t last_ms;
    bool known;
} answer;

// ---- words --------------------------------------------------------------------------------------

// Small letters, and one kind of gap between words.
static void fold(const char *text, char ret[TERM_MAX])
{
    pons_utf8_copy(ret, TERM_MAX, text);
    for (char *c = ret; *c; c++) {
        *c = *c == '_' || *c == '-' ? ' ' : (char)tolower((unsigned char)*c);
    }
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) != 0;
}

// Whether `in` has `word`, as a word of its own where it is ASCII; a plural counts.
static bool has(const char *in, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = n ? strstr(in, word) : NULL; at; at = strstr(at + 1, word)) {
        const char *end = at + n;
        const bool plain = !is_letter(word[n - 1]);
        const size_t s = *end == 's', es = strncmp(end, "es", 2) == 0;
        const char *plural = end + s + 2 * es;
        if ((at == in || !is_letter(at[-1]) || !is_letter(*word)) &&
            (plain || !is_letter(*end) || !is_letter(*plural))) {
            return true;
        }
    }
    return false;
}

static double fit_of(const char *what, const char *text)
{
    char term[TERM_MAX];
    fold(text, term);
    const double asked = (double)strlen(what), n = (double)strlen(term);
    if (strcmp(what, term) == 0) {
        return 1.0;
    }
    if (has(what, term)) {
        return 0.6 + 0.3 * n / asked;
    }
    return has(term, what) ? 0.5 + 0.3 * asked / n : 0.0;
}

static double best_fit(const char *what, const pons_value *item)
{
    const pons_value *value = pons_get(item, "value");
    double best = fmax(fit_of(what, pons_get_str(item, "key", "")),
                       fit_of(what, pons_get_str(value, "label", "")));
    const char *identity = pons_get_str(value, "identity", "");
    best = *identity ? fmax(best, fit_of(what, identity)) : best;
    pons_each(name, pons_get(value, "names")) {
        best = fmax(best, fit_of(what, json_is_string(name) ? json_string_value(name) : ""));
    }
    return best;
}

// What the index is asked for: the words, and what they may be plurals of.
static int index_words(const char *what, pons_buf *ret, pons_error *err)
{
    char *words = NULL;
    int st = pons_items_words(what, &words, err);
    for (const char *w = words; !st && w && *w; w += strcspn(w, " "), w += *w == ' ') {
        const size_t n = strcspn(w, " ");
        st = pons_buf_printf(ret, "%.*s ", (int)n, w);
        if (st >= 0 && n > 2 && w[n - 1] == 's') {
            st = pons_buf_printf(ret, "%.*s %.*s ", (int)n - 1, w,
                                 (int)n - (w[n - 2] == 'e' ? 2 : 1), w);
        }
        st = st < 0 ? pons_error_set(err, PONS_ENOMEM, "sight", "no memory to search") : PONS_OK;
    }
    free(words);
    return st;
}

// ---- answers ------------------------------------------------------------------------------------

static int best_first(const void *a, const void *b)
{
    const answer *x = a, *y = b;
    int order = (x->score < y->score) - (x->score > y->score);
    order = order ? order : (x->last_ms < y->last_ms) - (x->last_ms > y->last_ms);
    return order ? order
                 : strcmp(pons_get_str(x->item, "key", ""), pons_get_str(y->item, "key", ""));
}

// False: it is not asked for.
static bool judge(const pons_object_query *q, const char *what, bool meaning, int64_t now_ms,
                  const pons_value *item, answer *ret)
{
    const pons_value *v = pons_get(item, "value");
    const bool known = strcmp(pons_get_str(v, "state", ""), "known") == 0;
    const double half_life_s = pons_get_num(v, "half_life_s", NAN);
    if (strncmp(pons_get_str(item, "key", ""), "obj-", 4) != 0 || !(half_life_s > 0.0) ||
        (q->zone && *q->zone && strcmp(pons_get_str(v, "zone", ""), q->zone) != 0)) {
        return false;
    }
    *ret = (answer){.item = item, .fit = 1.0, .last_ms = pons_get_int(v, "last_ms", 0)};
    ret->belief = pons__belief_faded(fmin(fmax(pons_get_num(v, "belief", 0.0), 0.0), 1.0),
                                     half_life_s, now_ms - pons_get_int(v, "looked_ms", 0));
    ret->known = known && ret->belief >= PONS__BELIEF_KNOWN;
    if (meaning) {
        ret->fit = pons_get_num(item, "score", 0.0);
        ret->fit = ret->fit < NEAREST_LEAST ? 0.0 : ret->fit;
    } else if (*what) {
        ret->fit = best_fit(what, item);
    }
    ret->score = ret->fit * (0.2 + 0.8 * ret->belief);
    return ret->fit > 0.0 && ret->last_ms >= q->since_ms && ret->belief >= q->min_belief;
}

static pons_value *answer_value(const answer *a, int64_t now_ms)
{
    pons_value *v = json_copy(PONS__MEMBERS(pons_get(a->item, "value")));
    if (!v || json_object_set_new(v, "id", json_string(pons_get_str(a->item, "key", ""))) ||
        json_object_set_new(v, "belief", json_real(round(a->belief * 1e4) / 1e4)) ||
        json_object_set_new(v, "age_s", json_real((double)(now_ms - a->last_ms) / 1000.0)) ||
        json_object_set_new(v, "known", json_boolean(a->known)) ||
        json_object_set_new(v, "score", json_real(round(a->score * 1e4) / 1e4))) {
        pons_value_unref(v);
        return NULL;
    }
    return v;
}

static int answer_list(const pons_items *items, const pons_object_query *q, const char *what,
                       bool meaning, const pons_value *found, pons_value **ret, pons_error *err)
{
    const int64_t now_ms = pons_wall_ms(&items->clock);
    const size_t limit = q->limit ? q->limit : LIMIT;
    pons_autovalue list = json_array();
    answer *all = calloc(json_array_size(found) + 1, sizeof *all);
    size_t n = 0;
    bool whole = list && all;
    pons_each(item, found) {
        n += whole && judge(q, what, meaning, now_ms, item, &all[n]);
    }
    if (n) {
        qsort(all, n, sizeof *all, best_first);
    }
    for (size_t i = 0; i < n && i < limit && whole; i++) {
        pons_value *v = answer_value(&all[i], now_ms);
        whole = v && !json_array_append_new(list, v);
    }
    free(all);
    if (!whole) {
        return pons_error_set(err, PONS_ENOMEM, "sight", "no memory to search");
    }
    *ret = pons_value_ref(list);
    return PONS_OK;
}

// The one that is called so; an id is not in the index.
static int get_one(const pons_items *items, const char *ns, const char *id, pons_value **ret,
                   pons_error *err)
{
    pons_autovalue item = NULL;
    const int st = pons_items_get(items, ns, id, &item, err);
    if (st && st != PONS_ENOTFOUND) {
        return st;
    }
    pons_value *list = json_array();
    if (!list || (item && json_array_append(list, item))) {
        pons_value_unref(list);
        return pons_error_set(err, PONS_ENOMEM, "sight", "no memory to search");
    }
    *ret = list;
    return PONS_OK;
}

static int ask(const pons_items *items, const pons_items_query *find, const pons_object_query *q,
               const char *what, pons_value **ret, pons_error *err)
{
    pons_autovalue found = NULL;
    const bool named = q->what && strncmp(q->what, "obj-", 4) == 0;
    const int st = named ? get_one(items, find->prefix, q->what, &found, err)
                         : pons_items_search(items, find, &found, err);
    return st ? st
              : answer_list(items, q, what, find->by == PONS_ITEMS_BY_MEANING, found, ret, err);
}

int pons_objects_find(const pons_items *items, const char *ns, const pons_object_query *query,
                      pons_value **ret, pons_error *err)
{
    char what[TERM_MAX];
    pons_autobuf words = PONS_BUF_INIT;
    pons_autovalue list = NULL;
    fold(query->what ? query->what : "", what);
    pons_items_query find = {.prefix = ns, .by = PONS_ITEMS_BY_WORDS, .limit = LOOKED_AT_MAX};
    int st = *what ? index_words(what, &words, err) : PONS_OK;
    if (*what) {
        find.query = words.data ? words.data : "?";
    } else if (query->zone && *query->zone) {
        find.query = query->zone;
    }
    st = st ? st : ask(items, &find, query, what, &list, err);
    if (!st && *what && json_array_size(list) == 0 && items->opts.embed) {
        find.query = what;
        find.by = PONS_ITEMS_BY_MEANING;
        pons_value_unref(list);
        list = NULL;
        st = ask(items, &find, query, what, &list, err);
    }
    if (!st) {
        *ret = pons_value_ref(list);
    }
    return st;
}

char *pons_object_line(const pons_value *object, char *buf, size_t cap)
{
    char age[PONS_AGE_TEXT];
    snprintf(buf, cap, "%s in %s, seen %s, %.0f %%", pons_get_str(object, "label", "?"),
             pons_get_str(object, "zone", "no zone"),
             pons_age_text(pons_get_num(object, "age_s", 0.0), false, age),
             100.0 * pons_get_num(object, "belief", 0.0));
    return buf;
}
