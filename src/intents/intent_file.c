// intent_file.c - config/intents.yaml, compiled: what people say.
//
// Its lists of words are folded and its patterns multiplied out (phrase_patterns.c). A bad document is refused
// with the path of what is bad.
#include "intents/intent_file.h"

#include "pons/yes_no.h"

#include <stdlib.h>
#include <string.h>

#define RULES_VERSION 1

static const char *const control_words[CONTROL_COUNT] = {"stop",     "cancel", "pause", "reset",
                                                         "continue", "no",     "yes"};

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

static int word_add(pons__words *w, const char *text, pons_error *err)
{
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

static int words_add(pons__words *w, const pons_value *word, const char *path, size_t index,
                     pons_error *err)
{
    const char *text = json_string_value(word);
    return text && *text
               ? word_add(w, text, err)
               : pons_error_set(err, PONS_EINVAL, "rules",
                                "intents: %s/%zu: expected a word (quote yes, no and numbers)",
                                path, index);
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
    pons_each(word, list) {
        int rc = words_add(w, word, path, word_at, err);
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
    pons_each_member(key, value, obj) {
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

// ---- teardown -----------------------------------------------------------------------------------

static void words_fini(pons__words *w)
{
    for (size_t i = 0; i < w->n; i++) {
        free(w->v[i]);
    }
    free(w->v);
    *w = (pons__words){0};
}

void pons__intents_destroy(pons__intents *r)
{
    if (!r) {
        return;
    }
    pons__words *all[] = {&r->leading,    &r->trailing, &r->articles, &r->hard,
                          &r->soft,       &r->joins,    &r->urgent,   &r->urgent_alone,
                          &r->anywhere,   &r->units,    &r->moments,  &r->beside_yes,
                          &r->polite,     &r->negation, &r->undone,   &r->corrections,
                          &r->everywhere, &r->except,   &r->excepted};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        words_fini(all[i]);
    }
    for (size_t i = 0; i < CONTROL_COUNT; i++) {
        words_fini(&r->control[i]);
    }
    for (size_t i = 0; i < r->topics_n; i++) {
        words_fini(&r->topics[i].words);
        words_fini(&r->topics[i].with);
    }
    free(r->topics);
    for (size_t i = 0; i < WORD_CLASSES; i++) {
        words_fini(&r->lexicon.owned[i]);
    }
    free(r->lexicon.v);
    words_fini(&r->asking);
    pons__patterns_fini(&r->patterns);
    free(r->unit_s);
    free(r->moment_s);
    pons_value_unref(r->doc);
    free(r);
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
    pons_each(entry, list) {
        char path[64], words_path[80];
        snprintf(path, sizeof path, "/%s/%zu", key, entry_at);
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
    const pons__meaning means = {.intent = pons__intent_of(word),
                                 .skill = pons_get(entry, "skill"),
                                 .args = pons_get(entry, "args")};
    if (means.intent == INTENT_NONE) {
        return pons_error_set(
            err, PONS_EINVAL, "rules",
            "intents: %s/intent: unknown intent \"%s\"; there are go_to, bring, "
            "put, pick, put_down, charge, wait, say, patrol, do, see, look_at, come_back, "
            "repeat, cancel, where, battery, look_for, state, help, did, next, doing and why",
            path, word);
    }
    const pons_value *patterns = pons_get(entry, "patterns");
    if (!json_is_array(patterns)) {
        return pons_error_set(err, PONS_EINVAL, "rules", "intents: %s/patterns: expected a list",
                              path);
    }
    pons_each(text, patterns) {
        snprintf(path, sizeof path, "/intents/%zu/patterns/%zu", index, text_at);
        rc = pons__patterns_add(&r->patterns, &means, text, path, err);
        if (rc != PONS_OK) {
            return rc;
        }
    }
    return PONS_OK;
}

// ---- topics: what a question is about -----------------------------------------------------------

static int topics_load(pons__intents *r, const pons_value *doc, pons_error *err)
{
    static const char *const keys[] = {"asking", "about", NULL}, *const own[] = {"intent", "words",
                                                                                 "with", "named",
                                                                                 NULL};
    const pons_value *topics = pons_get(doc, "topics"), *about = pons_get(topics, "about");
    int rc = known_keys(topics, "/topics", keys, err);
    rc = rc < 0 ? rc : words_load(&r->asking, topics, "asking", "/topics/asking", err);
    r->topics = rc < 0 ? NULL : calloc(json_array_size(about) + 1, sizeof *r->topics);
    if (rc == PONS_OK && !r->topics) {
        return no_memory(err);
    }
    for (; rc == PONS_OK && r->topics_n < json_array_size(about); r->topics_n++) {
        const pons_value *one = json_array_get(about, r->topics_n);
        struct pons__topic *topic = &r->topics[r->topics_n];
        char path[64];
        snprintf(path, sizeof path, "/topics/about/%zu", r->topics_n);
        topic->intent = pons__intent_of(pons_get_str(one, "intent", ""));
        rc = known_keys(one, path, own, err);
        if (rc == PONS_OK && topic->intent < INTENT_WHERE) {
            rc = pons_error_set(err, PONS_EINVAL, "rules",
                                "intents: %s/intent: expected what is answered and moves nothing",
                                path);
        }
        rc = rc < 0 ? rc : words_load(&topic->words, one, "words", path, err);
        rc = rc < 0 ? rc : words_load(&topic->with, one, "with", path, err);
        topic->named = pons_get_bool(one, "named", false);
    }
    return rc;
}

// ---- the lexicon --------------------------------------------------------------------------------

static int lexicon_load(pons__intents *r, const pons_value *doc, pons_error *err)
{
    const struct {
        const pons__words *words;
        pons__word_class is;
    } shared[] = {{&r->undone, WORD_CANCEL},
                  {&r->negation, WORD_DENIES},
                  {&r->corrections, WORD_CORRECTS},
                  {&r->hard, WORD_THEN},
                  {&r->soft, WORD_AND},
                  {&r->joins, WORD_AND},
                  {&r->everywhere, WORD_EVERYWHERE},
                  {&r->except, WORD_EXCEPT},
                  {&r->excepted, WORD_IGNORED},
                  {&r->polite, WORD_POLITE},
                  {&r->urgent, WORD_URGENT},
                  {&r->leading, WORD_IGNORED},
                  {&r->trailing, WORD_IGNORED},
                  {&r->articles, WORD_IGNORED}};
    const char *keys[WORD_CLASSES + 1] = {NULL};
    const pons_value *lexicon = pons_get(doc, "lexicon");
    int rc = PONS_OK;
    for (size_t is = 0, n = 0; is < WORD_CLASSES; is++) {
        const char *key = pons__word_class_key(is);
        keys[n] = key;
        n += key != NULL;
    }
    rc = lexicon ? known_keys(lexicon, "/lexicon", keys, err) : PONS_OK;
    for (size_t i = 0; rc == PONS_OK && keys[i]; i++) {
        pons__word_class is = 0;
        char path[64];
        while (pons__word_class_key(is) != keys[i]) {
            is++;
        }
        snprintf(path, sizeof path, "/lexicon/%s", keys[i]);
        if (pons_get(lexicon, keys[i])) {
            rc = words_load(&r->lexicon.owned[is], lexicon, keys[i], path, err);
        }
        if (rc == PONS_OK && is != WORD_COURTESY && is != WORD_KIN && // only beside others
            pons__lexicon_add(&r->lexicon, &r->lexicon.owned[is], is) < 0) {
            rc = no_memory(err);
        }
    }
    for (size_t i = 0; rc == PONS_OK && i < sizeof shared / sizeof *shared; i++) {
        rc = pons__lexicon_add(&r->lexicon, shared[i].words, shared[i].is) < 0 ? no_memory(err)
                                                                               : PONS_OK;
    }
    pons__lexicon_sort(&r->lexicon);
    return rc;
}

// What is spelled otherwise, and what it stands for: looked up as it is.
static int spellings_check(const pons_value *doc, pons_error *err)
{
    size_t i = 0;
    pons_each_member(key, word, pons_get(doc, "spellings")) {
        i++;
        if (*key == '\0' || !json_is_string(word)) {
            return pons_error_set(err, PONS_EINVAL, "rules",
                                  "intents: %s/%zu: expected a word (quote yes, no and numbers)",
                                  "/spellings", i);
        }
    }
    return PONS_OK;
}

// ---- the document -------------------------------------------------------------------------------

static bool has(const pons__words *w, const char *text)
{
    const size_t n = strlen(text);
    return pons__word_at(w, text, 0, n, NULL) == n;
}

// The program's own words of yes and no (pons/yes_no.h), beside the document's. What the document has as
// another word of control ("cancel") stays that.
static int own_words_load(pons__intents *r, pons_error *err)
{
    pons_yes_no says = PONS_SAID_NEITHER;
    int rc = PONS_OK;
    const char *word;
    for (size_t i = 0; rc == PONS_OK && (word = pons_yes_no_word(i, &says)); i++) {
        bool other = says == PONS_SAID_NEITHER;
        for (size_t k = 0; k < CONTROL_NO; k++) {
            other = other || has(&r->control[k], word);
        }
        pons__words *to = &r->control[says == PONS_SAID_YES ? CONTROL_YES : CONTROL_NO];
        rc = other || has(to, word) ? PONS_OK : word_add(to, word, err);
        qsort(to->v, to->n, sizeof *to->v, longer_first);
    }
    return rc;
}

static int controls_load(pons__intents *r, const pons_value *doc, pons_error *err)
{
    static const char *const stop_keys[] = {"words", "anywhere", NULL};
    static const char *const yes_keys[] = {"words", "beside", NULL};
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
        if (i >= CONTROL_NO && !entry) { // then the program's own words are all
            continue;
        }
        rc = known_keys(entry, path,
                        i == CONTROL_STOP  ? stop_keys
                        : i == CONTROL_YES ? yes_keys
                                           : keys,
                        err);
        if (rc == PONS_OK) {
            rc = words_load(&r->control[i], entry, "words", words_path, err);
        }
    }
    const pons_value *yes = pons_get(control, "yes");
    if (rc == PONS_OK && pons_get(yes, "beside")) {
        rc = words_load(&r->beside_yes, yes, "beside", "/control/yes/beside", err);
    }
    rc = rc != PONS_OK ? rc : own_words_load(r, err);
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

// Sections of lists; key NULL: the section is the list. What an earlier document does not have may be left out.
typedef struct listed {
    const char *section, *key;
    pons__words *words;
    bool added;
} listed;

// All keys of a section that is one of them.
static int section_check(const pons_value *doc, const listed *rows, size_t n, size_t at,
                         pons_error *err)
{
    const char *keys[8] = {NULL};
    char path[64];
    size_t made = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].key && strcmp(rows[i].section, rows[at].section) == 0) {
            keys[made++] = rows[i].key;
        }
    }
    snprintf(path, sizeof path, "/%s", rows[at].section);
    return known_keys(pons_get(doc, rows[at].section), path, keys, err);
}

static int lists_load(pons__intents *r, const pons_value *doc, pons_error *err)
{
    const listed list[] = {{"fillers", "leading", &r->leading, false},
                           {"fillers", "trailing", &r->trailing, false},
                           {"fillers", "polite", &r->leading, true},
                           {"fillers", "polite", &r->trailing, true},
                           {"fillers", "polite", &r->polite, true},
                           {"negation", "before", &r->negation, true},
                           {"negation", "behind", &r->undone, true},
                           {"everywhere", "words", &r->everywhere, true},
                           {"everywhere", "except", &r->except, true},
                           {"everywhere", "closing", &r->excepted, true},
                           {"corrections", NULL, &r->corrections, true},
                           {"separators", "hard", &r->hard, false},
                           {"separators", "soft", &r->soft, false},
                           {"urgent", "words", &r->urgent, false},
                           {"urgent", "alone", &r->urgent_alone, false},
                           {"articles", NULL, &r->articles, false},
                           {"joins", NULL, &r->joins, false}};
    const size_t n = sizeof list / sizeof *list;
    int rc = PONS_OK;
    for (size_t i = 0; rc == PONS_OK && i < n; i++) {
        char path[64];
        const char *key = list[i].key, *section = list[i].section;
        const pons_value *in = pons_get(doc, section);
        if (list[i].added && !(key ? pons_get(in, key) : in)) {
            continue;
        }
        snprintf(path, sizeof path, key ? "/%s/%s" : "/%s", section, key);
        if (key && (rc = section_check(doc, list, n, i, err)) != PONS_OK) {
            return rc;
        }
        rc = key ? words_load(list[i].words, in, key, path, err)
                 : words_load(list[i].words, doc, section, path, err);
    }
    return rc;
}

static int load_document(pons__intents *r, const pons_value *doc, pons_error *err)
{
    static const char *const keys[] = {
        "version",    "limits",      "fillers", "articles", "separators", "joins",
        "urgent",     "control",     "units",   "moments",  "intents",    "negation",
        "everywhere", "corrections", "topics",  "lexicon",  "spellings",  NULL};
    int rc;
    if ((rc = known_keys(doc, "", keys, err)) != PONS_OK) {
        return rc;
    }
    if (pons_get_int(doc, "version", 0) != RULES_VERSION) {
        return pons_error_set(err, PONS_EINVAL, "rules", "intents: /version: expected %d",
                              RULES_VERSION);
    }
    if ((rc = limits_load(r, doc, err)) != PONS_OK || (rc = lists_load(r, doc, err)) != PONS_OK ||
        (rc = controls_load(r, doc, err)) != PONS_OK ||
        (rc = times_load(&r->units, &r->unit_s, doc, "units", err)) != PONS_OK ||
        (rc = times_load(&r->moments, &r->moment_s, doc, "moments", err)) != PONS_OK ||
        (rc = pons_get(doc, "topics") ? topics_load(r, doc, err) : PONS_OK) != PONS_OK ||
        (rc = spellings_check(doc, err)) != PONS_OK ||
        (rc = lexicon_load(r, doc, err)) != PONS_OK) {
        return rc;
    }
    const pons_value *intents = pons_get(doc, "intents");
    if (!json_is_array(intents)) {
        return pons_error_set(err, PONS_EINVAL, "rules", "intents: /intents: expected a list");
    }
    pons_each(entry, intents) {
        if ((rc = intent_load(r, entry, entry_at, err)) != PONS_OK) {
            return rc;
        }
    }
    return pons__patterns_index(&r->patterns, err);
}

// ---- public functions ---------------------------------------------------------------------------

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

const char *pons__control_word(pons__control control)
{
    return control_words[control];
}
