// speed_phrases.c - how fast, in what a person has said: a pace alone, behind a control word, before a wish, or within one.
//
//     "slower" "yes, slower" "slower, go to the kitchen"     speed_change.c's phrases
//     "go slowly to the kitchen"                              speed_adverbs.c
#include "intents/speed_change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Where what follows a control word begins: "yes, …", of one that goes on also "resume at …" and 继续…, of a yes also
// "ok slower", 可以慢一点 (which is none where it asks: 可以慢一点吗). *ret_end: where the word ends; *ret_whole: all
// of it may be one phrase ("resume normal speed"). 0: there is none.
static size_t behind_control(const pons__intents *r, const pons__fold *f, size_t *ret_end,
                             bool *ret_whole)
{
    const size_t lo = pons__skip_spaces(f->s, 0, f->n);
    *ret_whole = true;
    for (int c = CONTROL_STOP + 1; c < CONTROL_COUNT; c++) {
        const size_t end = pons__word_at(&r->control[c], f->s, lo, f->n, NULL);
        const size_t pos = end ? pons__skip_spaces(f->s, end, f->n) : f->n;
        const bool cut = pos < f->n && pons__pace_separates(f->s[pos]);
        // One that may be politeness ("ok") or stands apart; 好慢 is a complaint.
        const bool yes = c == CONTROL_YES && pos < f->n && !pons__pace_asks(f, pos, f->n) &&
                         (pos > end || pons__word_at(&r->leading, f->s, lo, end, NULL) == end) &&
                         !pons__word_at(&r->leading, f->s, pos, f->n, NULL);
        if (pos < f->n && (cut || yes || c == CONTROL_CONTINUE)) {
            *ret_end = end;
            *ret_whole = !cut && !yes;
            return cut ? pos + 1 : pos;
        }
    }
    return 0;
}

static int reported(const pons__speed_phrase *h, pons_value *before, pons_value *rest,
                    pons_value **ret, pons_error *err)
{
    static const char *const words[] = {"slower", "faster", "normal", "percent",
                                        "mps",    "slower", "faster"};
    *ret =
        pons_object("word", json_string(words[h->kind]), "number", json_real(h->number), "at_most",
                    h->limits ? json_true() : NULL, "before", before, "rest", rest, NULL);
    return *ret ? PONS_OK
                : pons_error_set(err, PONS_ENOMEM, "rules", "no memory for what was said");
}

int pons__policy_pace(void *self, const char *text, pons_value **ret, pons_error *err)
{
    pons__rules *rules = self;
    pons__fold f;
    pons_value *valid = json_string(text);
    if (!valid) { // no UTF-8
        return PONS_ENOTFOUND;
    }
    json_decref(valid);
    if (pons__fold_init(&f, text, strlen(text)) != PONS_OK) {
        return pons_error_set(err, PONS_ENOMEM, "rules", "no memory for what was said");
    }
    const size_t cut = strcspn(f.s, ",;"); // "slow down, you nearly had my toes"
    pons__speed_phrase h;
    if (cut < f.n && !pons__pace_find(rules->base, &f, cut + 1, &h) &&
        pons__only_tells(rules->base, text + f.at[cut + 1])) {
        pons__fold_cut(&f, cut, f.n);
    }
    size_t end = 0;
    bool may_be_whole = false;
    char *wish = NULL;
    int rc = PONS_ENOTFOUND;
    const pons__intents *r = rules->base;
    const size_t behind = behind_control(r, &f, &end, &may_be_whole);
    const bool whole = may_be_whole && pons__pace_find(r, &f, 0, &h);
    if ((whole || (behind && pons__pace_find(r, &f, behind, &h))) && isfinite(h.number)) {
        rc = reported(&h,
                      whole || !behind ? NULL : json_stringn(text + f.at[0], f.at[end] - f.at[0]),
                      h.rest < f.n ? json_string(text + f.at[h.rest]) : NULL, ret, err);
    } else if ((rc = pons__speed_adverb(rules, text, &f, &h, &wish)) == PONS_OK) {
        rc = reported(&h, NULL, json_string(wish), ret, err);
        free(wish);
    }
    pons__fold_fini(&f);
    return rc;
}
