// intents.c - config/intents.yaml, compiled: what people say, as flat lists of patterns.
//
// A pattern is words, [a|b] for what may be left out, (a|b) for a choice and {slot}; choices are
// multiplied out here, once, so that matching is a walk along flat lists:
//
//     "(go|head) [back] to {zones}"  ->  go back to ZONES | go to ZONES | head back to ZONES | ...
//
// Adjacent words become one folded literal. A bad document is refused with the path of what is bad.
#include "policy/intents.h"

#include <stdlib.h>
#include <string.h>

#define EXPANSIONS_MAX  4096 // of one pattern; a document is for people, not for machines
#define PATTERN_LEN_MAX 512
#define RULES_VERSION   1

static const char *const intent_words[INTENT_COUNT] = {
    "go_to", "bring", "put", "charge", "wait", "say", "patrol", "do", "where", "come_back"};
static const char *const control_words[CONTROL_COUNT] = {"stop",     "cancel", "pause", "reset",
                                                         "continue", "no",     "yes"};

static const struct {
    const char *name;
    pons__slot slot;
} slot_names[] = {{"zone", SLOT_ZONE},     {"zones", SLOT_ZONES},       {"object", SLOT_OBJECT},
                  {"place", SLOT_PLACE},   {"duration", SLOT_DURATION}, {"text", SLOT_TEXT},
                  {"number", SLOT_NUMBER}, {"coords", SLOT_COORDS}};

static int load_document(pons__intents *r, const pons_value *doc, pons_error *err);
static int no_memory(pons_error *err);

int pons__intents_load(const pons_value *doc, pons__intents **ret, pons_error *err)
{
    pons__intents *r = calloc(1, sizeof *r);
    if (!r) {
        return no_memory(err);
    }
    r->doc = pons_value_ref(doc); // patterns of skills point into it
    const int rc = load_document(r, doc, err);
    if (rc != PONS_OK) {
        pons__intents_destroy(r);
        return rc;
    }
    *ret = r;
    return PONS_OK;
}

const char *pons__intent_word(pons__intent intent)
{
    return intent_words[intent];
}

const char *pons__control_word(pons__control control)
{
    return control_words[control];
}

// ---- the index ----------------------------------------------------------------------------------

// The bucket of the character at s: itself for ASCII, a mix of its bytes for others.
static unsigned bucket(const char *s)
{
    const unsigned char *c = (const unsigned char *)s;
    return c[0] < 0xC0 ? c[0] : (c[0] * 7u + c[1] * 31u + (c[1] ? c[2] : 0u)) % PONS__BUCKETS;
}

static unsigned bucket_of(const pons__pattern *p)
{
    return p->item[0].slot == SLOT_LITERAL ? bucket(p->item[0].literal) : PONS__BUCKETS;
}

static int index_patterns(pons__intents *r, pons_error *err)
{
    r->by_first = malloc((r->patterns_n + 1) * sizeof *r->by_first);
    if (!r->by_first) {
        return no_memory(err);
    }
    // Counted, then placed, each bucket from its beginning.
    uint32_t at[PONS__BUCKETS + 1] = {0}, n = 0;
    for (size_t i = 0; i < r->patterns_n; i++) {
        at[bucket_of(&r->pattern[i])]++;
    }
    for (unsigned k = 0; k <= PONS__BUCKETS; k++) {
        r->first_at[k] = n;
        n += at[k];
        at[k] = r->first_at[k];
    }
    r->first_at[PONS__BUCKETS + 1] = n;
    for (size_t i = 0; i < r->patterns_n; i++) {
        r->by_first[at[bucket_of(&r->pattern[i])]++] = (uint32_t)i;
    }
    return PONS_OK;
}

pons__candidates pons__candidates_at(const pons__intents *r, const char *s, size_t pos, size_t end)
{
    pos = pons__skip_spaces(s, pos, end);
    unsigned k = pos < end ? bucket(s + pos) : PONS__BUCKETS - 1;
    return (pons__candidates){.r = r,
                              .a = r->first_at[k],
                              .a_end = r->first_at[k + 1],
                              .b = r->first_at[PONS__BUCKETS],
                              .b_end = r->first_at[PONS__BUCKETS + 1]};
}

const pons__pattern *pons__candidates_next(pons__candidates *c)
{
    const uint32_t *list = c->r->by_first;
    bool more_a = c->a < c->a_end, more_b = c->b < c->b_end;
    if (more_a && (!more_b || list[c->a] < list[c->b])) {
        return &c->r->pattern[list[c->a++]];
    }
    return more_b ? &c->r->pattern[list[c->b++]] : NULL;
}

// ---- teardown -----------------------------------------------------------------------------------

static void words_fini(pons__words *w)
{
    for (size_t i = 0; i < w->n; i++) {
        free(w->v[i]);
    }
    free(w->v);
    *w = (pons__words){0};
}

static void literals_fini(pons__literals *l)
{
    for (size_t i = 0; i < l->room; i++) {
        free(l->slot[i].source);
    }
    free(l->slot);
    *l = (pons__literals){0};
}

void pons__intents_destroy(pons__intents *r)
{
    if (!r) {
        return;
    }
    pons__words *all[] = {&r->leading,  &r->trailing, &r->articles, &r->hard,
                          &r->soft,     &r->joins,    &r->urgent,   &r->urgent_alone,
                          &r->anywhere, &r->units,    &r->moments};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        words_fini(all[i]);
    }
    for (size_t i = 0; i < CONTROL_COUNT; i++) {
        words_fini(&r->control[i]);
    }
    literals_fini(&r->literals);
    free(r->pattern);
    free(r->by_first);
    free(r->unit_s);
    free(r->moment_s);
    pons_value_unref(r->doc);
    free(r);
}

// ---- words --------------------------------------------------------------------------------------

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "rules", "cannot compile the intents");
}

// The folded form of a word; the caller frees. NULL on no memory.
static char *folded(const char *text, size_t len)
{
    pons__fold f;
    if (pons__fold_init(&f, text, len) != PONS_OK) {
        return NULL;
    }
    char *s = strdup(f.s);
    pons__fold_fini(&f);
    return s;
}

static int words_add(pons__words *w, const pons_value *word, const char *path, size_t index,
                     pons_error *err)
{
    const char *text = json_string_value(word);
    if (!text || !*text) {
        return pons_error_set(err, PONS_EINVAL, "rules",
                              "intents: %s/%zu: expected a word (quote yes, no and numbers)", path,
                              index);
    }
    char *s = folded(text, strlen(text));
    char **v = realloc(w->v, (w->n + 1) * sizeof *v);
    if (v) {
        w->v = v;
    }
    if (!s || !v) {
        free(s);
        return no_memory(err);
    }
    w->v[w->n++] = s;
    return PONS_OK;
}

static int longer_first(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t n = strlen(x), m = strlen(y);
    return n != m ? (n < m) - (n > m) : strcmp(x, y);
}

// Reads a list of words at doc's key; path is the list's, for messages.
static int words_load(pons__words *w, const pons_value *doc, const char *key, const char *path,
                      pons_error *err)
{
    const pons_value *list = pons_get(doc, key);
    if (!json_is_array(list)) {
        return pons_error_set(err, PONS_EINVAL, "rules", "intents: %s: expected a list of words",
                              path);
    }
    size_t i;
    pons_value *word;
    json_array_foreach((pons_value *)list, i, word)
    {
        int rc = words_add(w, word, path, i, err);
        if (rc != PONS_OK) {
            return rc;
        }
    }
    if (w->n) {
        qsort(w->v, w->n, sizeof *w->v, longer_first);
    }
    return PONS_OK;
}

// Refuses members outside the list, so that a typo cannot switch a rule off.
static int known_keys(const pons_value *obj, const char *path, const char *const *keys,
                      pons_error *err)
{
    if (!json_is_object(obj)) {
        return pons_error_set(err, PONS_EINVAL, "rules", "intents: %s: expected a mapping",
                              *path ? path : "/");
    }
    const char *key;
    pons_value *value;
    json_object_foreach((pons_value *)obj, key, value)
    {
        size_t i = 0;
        while (keys[i] && strcmp(keys[i], key) != 0) {
            i++;
        }
        if (!keys[i]) {
            return pons_error_set(err, PONS_EINVAL, "rules", "intents: %s/%s: unknown key", path,
                                  key);
        }
    }
    return PONS_OK;
}

// ---- times: [{seconds, words}] ------------------------------------------------------------------

static int times_load(pons__words *w, double **seconds, const pons_value *doc, const char *key,
                      pons_error *err)
{
    static const char *const keys[] = {"seconds", "words", NULL};
    const pons_value *list = pons_get(doc, key);
    if (!json_is_array(list)) {
        return pons_error_set(err, PONS_EINVAL, "rules", "intents: /%s: expected a list", key);
    }
    size_t i;
    pons_value *entry;
    json_array_foreach((pons_value *)list, i, entry)
    {
        char path[64], words_path[80];
        snprintf(path, sizeof path, "/%s/%zu", key, i);
        snprintf(words_path, sizeof words_path, "%s/words", path);
        int rc = known_keys(entry, path, keys, err);
        double s = pons_get_num(entry, "seconds", 0);
        if (rc == PONS_OK && !(s > 0)) {
            rc = pons_error_set(err, PONS_EINVAL, "rules",
                                "intents: %s/seconds: expected a number above 0", path);
        }
        pons__words few = {0};
        if (rc == PONS_OK) {
            rc = words_load(&few, entry, "words", words_path, err);
        }
        char **v = realloc(w->v, (w->n + few.n + 1) * sizeof *v);
        w->v = v ? v : w->v;
        double *t = realloc(*seconds, (w->n + few.n + 1) * sizeof *t);
        *seconds = t ? t : *seconds;
        if (rc == PONS_OK && (!v || !t)) {
            rc = no_memory(err);
        }
        if (rc != PONS_OK) {
            words_fini(&few);
            return rc;
        }
        // Inserted so that longer words stay first and keep their seconds.
        for (size_t k = 0; k < few.n; k++) {
            size_t at = w->n++;
            for (; at > 0 && longer_first(&w->v[at - 1], &few.v[k]) > 0; at--) {
                w->v[at] = w->v[at - 1];
                (*seconds)[at] = (*seconds)[at - 1];
            }
            w->v[at] = few.v[k];
            (*seconds)[at] = s;
        }
        free(few.v);
    }
    return PONS_OK;
}

// ---- patterns -----------------------------------------------------------------------------------

// Expands one source pattern: depth-first over its choices, with the flat text so far in buf and
// the places still to visit on a chain of continuations.
typedef struct expansion {
    pons__intents *r;
    pons__intent intent;
    const pons_value *about;
    bool known_only;
    const char *path;
    size_t made;
    pons_error *err;
} expansion;

typedef struct rest { // what follows when the present piece ends
    const char *s, *end;
    const struct rest *next;
} rest;

static int expand(expansion *x, const rest *k, char *buf, size_t len);

static int bad_pattern(const expansion *x, const char *why)
{
    return pons_error_set(x->err, PONS_EINVAL, "rules", "intents: %s: %s", x->path, why);
}

// The bracket that closes the one at s; NULL when there is none.
static const char *closing(const char *s, const char *end)
{
    size_t depth = 0;
    for (; s < end; s++) {
        depth += *s == '(' || *s == '[';
        if ((*s == ')' || *s == ']') && --depth == 0) {
            return s;
        }
    }
    return NULL;
}

// The slot of a text, where it is or where it goes; there is room.
static pons__literal *literal_slot(const pons__literals *l, const char *s, size_t len)
{
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)s[i]) * 1099511628211u;
    }
    size_t at = (size_t)(hash >> 32) & (l->room - 1);
    while (l->slot[at].source &&
           (l->slot[at].len != len || memcmp(l->slot[at].source, s, len) != 0)) {
        at = (at + 1) & (l->room - 1);
    }
    return &l->slot[at];
}

static bool literals_grow(pons__literals *l)
{
    pons__literals more = {.room = l->room ? 2 * l->room : 64};
    more.slot = calloc(more.room, sizeof *more.slot);
    if (!more.slot) {
        return false;
    }
    for (size_t i = 0; i < l->room; i++) {
        if (l->slot[i].source) {
            *literal_slot(&more, l->slot[i].source, l->slot[i].len) = l->slot[i];
        }
    }
    more.n = l->n;
    free(l->slot);
    *l = more;
    return true;
}

// The folded form of a piece of a pattern, kept once however many flat patterns it is in: there are
// some hundred pieces in thousands of patterns. NULL on no memory.
static const char *literal_of(pons__literals *l, const char *s, size_t len)
{
    if (2 * l->n >= l->room && !literals_grow(l)) {
        return NULL;
    }
    pons__literal *slot = literal_slot(l, s, len);
    if (!slot->source) {
        pons__fold f;
        if (pons__fold_init(&f, s, len) != PONS_OK) {
            return NULL;
        }
        char *both = malloc(len + f.n + 1); // the source, and behind it the folded form
        if (both) {
            memcpy(both, s, len);
            memcpy(both + len, f.s, f.n + 1);
            *slot = (pons__literal){.source = both, .len = len};
            l->n++;
        }
        pons__fold_fini(&f);
    }
    return slot->source ? slot->source + slot->len : NULL;
}

static int add_literal(const expansion *x, pons__pattern *p, const char *s, size_t len)
{
    if (len == 0) {
        return PONS_OK;
    }
    const char *literal = literal_of(&x->r->literals, s, len);
    if (!literal) {
        return no_memory(x->err);
    }
    if (!*literal) {
        return PONS_OK;
    }
    if (p->n == PONS__PATTERN_ITEMS_MAX) {
        return bad_pattern(x, "too many pieces");
    }
    p->item[p->n++] = (pons__item){SLOT_LITERAL, literal};
    return PONS_OK;
}

static int add_slot(const expansion *x, pons__pattern *p, const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof slot_names / sizeof *slot_names; i++) {
        if (strlen(slot_names[i].name) == len && memcmp(slot_names[i].name, name, len) == 0) {
            if (p->n == PONS__PATTERN_ITEMS_MAX) {
                return bad_pattern(x, "too many pieces");
            }
            p->item[p->n++] = (pons__item){slot_names[i].slot, NULL};
            return PONS_OK;
        }
    }
    return bad_pattern(
        x, "unknown slot; there are zone, zones, object, place, duration, number, coords "
           "and text");
}

// Splits a flat text, "go to {zones}", into items.
static int flat_items(const expansion *x, pons__pattern *p, const char *s, size_t len)
{
    const char *end = s + len;
    while (s < end) {
        const char *brace = memchr(s, '{', (size_t)(end - s));
        int rc = add_literal(x, p, s, (size_t)((brace ? brace : end) - s));
        if (rc != PONS_OK || !brace) {
            return rc;
        }
        const char *close = memchr(brace, '}', (size_t)(end - brace));
        if (!close) {
            return bad_pattern(x, "a brace is not closed");
        }
        rc = add_slot(x, p, brace + 1, (size_t)(close - brace - 1));
        if (rc != PONS_OK) {
            return rc;
        }
        s = close + 1;
    }
    return PONS_OK;
}

static int add_flat(expansion *x, const char *s, size_t len)
{
    pons__intents *r = x->r;
    if (++x->made > EXPANSIONS_MAX) {
        return bad_pattern(x, "too many choices");
    }
    pons__pattern p = {.intent = x->intent, .about = x->about, .known_only = x->known_only};
    int rc = flat_items(x, &p, s, len);
    if (rc == PONS_OK && p.n == 0) {
        rc = bad_pattern(x, "everything in it may be left out");
    }
    if (rc == PONS_OK && (r->patterns_n & (r->patterns_n - 1)) == 0) { // grow at powers of two
        pons__pattern *grown =
            realloc(r->pattern, (r->patterns_n ? 2 * r->patterns_n : 1) * sizeof *grown);
        r->pattern = grown ? grown : r->pattern;
        rc = grown ? PONS_OK : no_memory(x->err);
    }
    if (rc == PONS_OK) {
        r->pattern[r->patterns_n++] = p;
    }
    return rc;
}

// Visits each alternative of the group [s, end), then what follows it.
static int expand_group(expansion *x, const char *s, const char *end, const rest *after, char *buf,
                        size_t len)
{
    size_t depth = 0;
    for (const char *p = s; p <= end; p++) {
        if (p < end) {
            depth += *p == '(' || *p == '[';
            depth -= *p == ')' || *p == ']';
        }
        if (p == end || (*p == '|' && depth == 0)) {
            int rc = expand(x, &(rest){s, p, after}, buf, len);
            if (rc != PONS_OK) {
                return rc;
            }
            s = p + 1;
        }
    }
    return PONS_OK;
}

static int expand(expansion *x, const rest *k, char *buf, size_t len)
{
    while (k && k->s == k->end) {
        k = k->next;
    }
    if (!k) {
        return add_flat(x, buf, len);
    }
    char c = *k->s;
    if (c == ')' || c == ']') {
        return bad_pattern(x, "a bracket is closed that was not opened");
    }
    if (c != '(' && c != '[') { // what stands before the next bracket
        size_t n = 0;
        while (k->s + n < k->end && !strchr("()[]", k->s[n])) {
            buf[len + n] = k->s[n];
            n++;
        }
        return expand(x, &(rest){k->s + n, k->end, k->next}, buf, len + n);
    }
    const char *close = closing(k->s, k->end);
    if (!close || *close != (c == '(' ? ')' : ']')) {
        return bad_pattern(x, "a bracket is not closed");
    }
    rest after = {close + 1, k->end, k->next};
    int rc = expand_group(x, k->s + 1, close, &after, buf, len);
    return rc == PONS_OK && c == '[' ? expand(x, &after, buf, len) : rc;
}

static int pattern_load(pons__intents *r, pons__intent intent, const pons_value *about,
                        const pons_value *text, const char *path, pons_error *err)
{
    expansion x = {.r = r, .intent = intent, .about = about, .path = path, .err = err};
    const char *s = json_string_value(text);
    if (!s || !*s || strlen(s) > PATTERN_LEN_MAX) {
        return bad_pattern(&x, "expected a pattern of 1 to 512 bytes");
    }
    x.known_only = *s == '=';
    s += x.known_only;
    char buf[PATTERN_LEN_MAX + 1];
    return expand(&x, &(rest){s, s + strlen(s), NULL}, buf, 0);
}

static int intent_load(pons__intents *r, const pons_value *entry, size_t index, pons_error *err)
{
    static const char *const keys[] = {"intent", "patterns", "skill", "args", NULL};
    char path[96];
    snprintf(path, sizeof path, "/intents/%zu", index);
    int rc = known_keys(entry, path, keys, err);
    if (rc != PONS_OK) {
        return rc;
    }
    const char *word = pons_get_str(entry, "intent", "");
    pons__intent intent = 0;
    while (intent < INTENT_COUNT && strcmp(intent_words[intent], word) != 0) {
        intent++;
    }
    if (intent == INTENT_COUNT) {
        return pons_error_set(err, PONS_EINVAL, "rules",
                              "intents: %s/intent: unknown intent \"%s\"; there are go_to, bring, "
                              "put, charge, wait, say, patrol, do, where and come_back",
                              path, word);
    }
    const pons_value *patterns = pons_get(entry, "patterns");
    if (!json_is_array(patterns)) {
        return pons_error_set(err, PONS_EINVAL, "rules", "intents: %s/patterns: expected a list",
                              path);
    }
    size_t i;
    pons_value *text;
    json_array_foreach((pons_value *)patterns, i, text)
    {
        snprintf(path, sizeof path, "/intents/%zu/patterns/%zu", index, i);
        rc = pattern_load(r, intent, intent == INTENT_DO ? entry : NULL, text, path, err);
        if (rc != PONS_OK) {
            return rc;
        }
    }
    return PONS_OK;
}

// ---- the document -------------------------------------------------------------------------------

static int controls_load(pons__intents *r, const pons_value *doc, pons_error *err)
{
    static const char *const stop_keys[] = {"words", "anywhere", NULL};
    static const char *const keys[] = {"words", NULL};
    static const char *const names[] = {"stop",     "cancel", "pause", "reset",
                                        "continue", "no",     "yes",   NULL};
    const pons_value *control = pons_get(doc, "control");
    int rc = known_keys(control, "/control", names, err);
    for (size_t i = 0; rc == PONS_OK && i < CONTROL_COUNT; i++) {
        char path[64], words_path[80];
        snprintf(path, sizeof path, "/control/%s", control_words[i]);
        snprintf(words_path, sizeof words_path, "%s/words", path);
        const pons_value *entry = pons_get(control, control_words[i]);
        rc = known_keys(entry, path, i == CONTROL_STOP ? stop_keys : keys, err);
        if (rc == PONS_OK) {
            rc = words_load(&r->control[i], entry, "words", words_path, err);
        }
    }
    return rc != PONS_OK ? rc
                         : words_load(&r->anywhere, pons_get(control, "stop"), "anywhere",
                                      "/control/stop/anywhere", err);
}

static int limits_load(pons__intents *r, const pons_value *doc, pons_error *err)
{
    static const char *const keys[] = {"wait_max_s", "goals_max", NULL};
    const pons_value *limits = pons_get(doc, "limits");
    int rc = known_keys(limits, "/limits", keys, err);
    if (rc != PONS_OK) {
        return rc;
    }
    r->wait_max_s = pons_get_num(limits, "wait_max_s", 0);
    int64_t goals_max = pons_get_int(limits, "goals_max", 0);
    if (!(r->wait_max_s > 0)) {
        return pons_error_set(err, PONS_EINVAL, "rules",
                              "intents: /limits/wait_max_s: expected a number above 0");
    }
    if (goals_max < 1 || goals_max > 100) {
        return pons_error_set(err, PONS_EINVAL, "rules",
                              "intents: /limits/goals_max: expected an integer from 1 to 100");
    }
    r->goals_max = (size_t)goals_max;
    return PONS_OK;
}

static int lists_load(pons__intents *r, const pons_value *doc, pons_error *err)
{
    const struct {
        const char *section, *key; // key NULL: the section is the list
        pons__words *words;
    } list[] = {{"fillers", "leading", &r->leading}, {"fillers", "trailing", &r->trailing},
                {"separators", "hard", &r->hard},    {"separators", "soft", &r->soft},
                {"urgent", "words", &r->urgent},     {"urgent", "alone", &r->urgent_alone},
                {"articles", NULL, &r->articles},    {"joins", NULL, &r->joins}};
    int rc = PONS_OK;
    for (size_t i = 0; rc == PONS_OK && i < sizeof list / sizeof *list; i++) {
        char path[64];
        const char *key = list[i].key;
        snprintf(path, sizeof path, key ? "/%s/%s" : "/%s", list[i].section, key);
        rc = words_load(list[i].words, key ? pons_get(doc, list[i].section) : doc,
                        key ? key : list[i].section, path, err);
    }
    return rc;
}

static int load_document(pons__intents *r, const pons_value *doc, pons_error *err)
{
    static const char *const keys[] = {"version",    "limits",  "fillers", "articles",
                                       "separators", "joins",   "urgent",  "control",
                                       "units",      "moments", "intents", NULL};
    static const char *const fillers[] = {"leading", "trailing", NULL};
    static const char *const separators[] = {"hard", "soft", NULL};
    static const char *const urgent[] = {"words", "alone", NULL};
    int rc;
    if ((rc = known_keys(doc, "", keys, err)) != PONS_OK ||
        (rc = known_keys(pons_get(doc, "fillers"), "/fillers", fillers, err)) != PONS_OK ||
        (rc = known_keys(pons_get(doc, "separators"), "/separators", separators, err)) != PONS_OK ||
        (rc = known_keys(pons_get(doc, "urgent"), "/urgent", urgent, err)) != PONS_OK) {
        return rc;
    }
    if (pons_get_int(doc, "version", 0) != RULES_VERSION) {
        return pons_error_set(err, PONS_EINVAL, "rules", "intents: /version: expected %d",
                              RULES_VERSION);
    }
    if ((rc = limits_load(r, doc, err)) != PONS_OK || (rc = lists_load(r, doc, err)) != PONS_OK ||
        (rc = controls_load(r, doc, err)) != PONS_OK ||
        (rc = times_load(&r->units, &r->unit_s, doc, "units", err)) != PONS_OK ||
        (rc = times_load(&r->moments, &r->moment_s, doc, "moments", err)) != PONS_OK) {
        return rc;
    }
    const pons_value *intents = pons_get(doc, "intents");
    if (!json_is_array(intents)) {
        return pons_error_set(err, PONS_EINVAL, "rules", "intents: /intents: expected a list");
    }
    size_t i;
    pons_value *entry;
    json_array_foreach((pons_value *)intents, i, entry)
    {
        if ((rc = intent_load(r, entry, i, err)) != PONS_OK) {
            return rc;
        }
    }
    return index_patterns(r, err);
}
