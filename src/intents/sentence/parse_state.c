// parse_state.c - what is known of a sentence before any of it is matched.
#include "intents/sentence/parse_state.h"

#include "intents/sentence/sms_spelling.h"
#include "intents/sentence/world_names.h"
#include "pons/language.h"

#include <stdlib.h>
#include <string.h>

void pons__parse_state_fini(pons__parse_state *s)
{
    for (size_t i = 0; i < s->names_n; i++) {
        free(s->names[i].s);
    }
    free(s->names);
    pons__fold_fini(&s->f);
    json_decref(s->goals);
    json_decref(s->undone);
}

// What makes a question of a sentence; whether something was done is no wish, whatever stands before it.
static const char *const asking[] = {"?", "？", "吗", "呢", "了吧", "对吧", "是吧"};

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

// Whether it asks, and politely.
static void mark_question(pons__parse_state *s)
{
    for (size_t i = 0; s->text && i < sizeof asking / sizeof *asking; i++) {
        s->asks = s->asks || strstr(s->text, asking[i]);
    }
    static const char *const acks[] = {"okay", "ok", "all right", "alright"};
    size_t first = 0; // "OK, the bedroom?" asks
    for (size_t i = 0; i < sizeof acks / sizeof *acks && !first; i++) {
        first = pons__literal_at(s->f.s, 0, s->f.n, acks[i]);
    }
    for (size_t i = first; i < s->f.n; i += pons__char_len(s->f.s, i)) {
        const size_t polite = pons__word_at(&s->r->polite, s->f.s, i, s->f.n, NULL);
        const bool asks =
            pons__word_at(&s->r->lexicon.owned[WORD_ASKS], s->f.s, i, s->f.n, NULL) > polite;
        s->polite = s->polite || (!s->f.quoted[i] && polite && !asks);
        s->asks = s->asks || (polite && asks); // "is it possible for you to reach it"
    }
    s->confirms = confirms(&s->f);
    s->asks = s->asks || s->confirms;
}

int pons__parse_state_init(pons__parse_state *s, const pons__intents *r, const char *text,
                           const pons_value *world, pons_error *err)
{
    *s = (pons__parse_state){.r = r,
                             .text = text,
                             .world = world,
                             .control = CONTROL_NONE,

                             .err = err};
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
        pons__parse_state_fini(s);
        return pons__parse_no_memory(err);
    }
    int rc = pons__names_load(s, "zones", false);
    if (rc == PONS_OK) {
        rc = pons__names_load(s, "objects", true);
    }
    rc = rc == PONS_OK ? pons__spell(s) : rc;
    if (rc != PONS_OK) {
        pons__parse_state_fini(s);
        return rc;
    }
    mark_question(s);

    return PONS_OK;
}
