// parse_messages.c - what a person is told when a sentence makes no goal.
#include "intents/sentence/parse_messages.h"

#include "intents/sentence/world_names.h"
#include "pons/language.h"
#include "pons/spelling.h"

#include <limits.h>
#include <string.h>

// How many bytes of a message quote n bytes of s: at most QUOTE_MAX, whole characters.
static int quote_len(const char *s, size_t n)
{
    size_t m = n < QUOTE_MAX ? n : QUOTE_MAX;
    while (m < n && m > 0 && ((unsigned char)s[m] & 0xC0u) == 0x80u) {
        m--;
    }
    return (int)m;
}

pons__span pons__source_span(const pons__parse_state *s, pons__span w)
{
    pons__span o = {s->f.at[w.lo], s->f.at[w.hi]};
    while (o.hi > o.lo && strchr(" \t\r\n", s->text[o.hi - 1])) {
        o.hi--;
    }
    return o;
}

bool pons__has_approximate(const pons__parse_state *s, pons__span w)
{
    bool has = false;
    for (size_t i = w.lo; i < w.hi && !has;) {
        const pons__name *n;
        const size_t after = pons__name_here(s, i, w.hi, &n);
        double number;
        const size_t exact = after ? after : pons__number_at(s->f.s, i, w.hi, &number);
        has = !exact && pons__approximate_at(s->f.s, i, w.hi);
        i = exact ? exact : i + pons__char_len(s->f.s, i);
    }
    return has;
}

int pons__not_understood(const pons__parse_state *s, pons__span w)
{
    pons__span o = pons__source_span(s, w);
    const char *text = s->text + o.lo;
    const int n = quote_len(text, o.hi - o.lo);
    if (pons__pace_stated(s->r, &s->f)) {
        return pons_error_set(s->err, PONS_EINVAL, "rules",
                              pons_translate(s->zh,
                                             "that is how fast it goes: say \"faster\" (快一点) or "
                                             "\"slower\" (慢一点)"));
    }
    if (pons__has_approximate(s, w)) {
        return pons_error_set(s->err, PONS_EINVAL, "rules", "没听懂“%.*s”：请说一个确切的数", n,
                              text);
    }
    return pons_error_set(
        s->err, PONS_EINVAL, "rules",
        pons_translate(s->zh, "did not understand \"%.*s\": say it in other words, or say "
                              "\"help\" for what can be said"),
        n, text);
}

// "kitchen (厨房), living_room (客厅)".
static void list_known(const pons__parse_state *s, const char *key, char *buf, size_t cap)
{
    const pons_value *list = pons_get(s->world, key);
    size_t n = 0;
    buf[0] = '\0';
    pons_each(thing, list) {
        const pons_value *zh = pons_get(pons_get(thing, "names"), "zh");
        const char *id =
            json_is_string(thing) ? json_string_value(thing) : pons_get_str(thing, "id", "?");
        const char *first =
            json_is_string(zh) ? json_string_value(zh) : json_string_value(json_array_get(zh, 0));
        char one[128];
        int m = snprintf(one, sizeof one, first ? "%s%s (%s)" : "%s%s", thing_at ? ", " : "", id,
                         first);
        if (m < 0 || (size_t)m >= sizeof one || n + (size_t)m + sizeof ", …" >= cap) {
            snprintf(buf + n, cap - n, "%s", ", …");
            return;
        }
        memcpy(buf + n, one, (size_t)m + 1);
        n += (size_t)m;
    }
}

// The known names that were probably meant, of different things: how many, at most 2.
static size_t meant_names(const pons__parse_state *s, const char *text, size_t n, pons__slot slot,
                          const char *ret[2])
{
    pons__fold f;
    int edits[2] = {INT_MAX, INT_MAX};
    const char *id[2] = {NULL, NULL};
    if (pons__fold_init(&f, text, n) != PONS_OK) {
        return 0;
    }
    for (size_t i = 0; i < s->names_n; i++) {
        const pons__name *known = &s->names[i];
        pons_meant meant = pons_meant_of(f.s, f.n);
        pons_meant_try(&meant, known->s, strlen(known->s));
        if (!meant.best || !pons__name_fits(slot == SLOT_ZONES ? SLOT_ZONE : slot, known)) {
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

int pons__unknown_name(const pons__parse_state *s, const pons__capture *c)
{
    bool object = c->unknown_slot == SLOT_OBJECT;
    const char *where = c->unknown_slot == SLOT_PLACE ? "place" : "zone";
    const char *kind = object ? "object" : where;
    char known[KNOWN_LIST_MAX];
    list_known(s, object ? "objects" : "zones", known, sizeof known);
    pons__span o = pons__source_span(s, c->unknown);
    const char *text = s->text + o.lo, *thing = object ? "东西" : "地方";
    const int n = quote_len(text, o.hi - o.lo);
    const char *meant[2];
    const size_t meant_n = meant_names(s, text, o.hi - o.lo, c->unknown_slot, meant);
    const char *between = meant_n < 2 ? "" : (s->zh ? "”或“" : " or ");
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

int pons__only_asked(const pons__parse_state *s)
{
    return pons_error_set(
        s->err, PONS_EINVAL, "rules",
        pons_translate(s->zh, "that is a question, so nothing is done: to have it done, say "
                              "it without asking, or with \"please\""));
}
