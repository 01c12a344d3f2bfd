// seen_objects.c - the brain reads the memory of objects: what a person asks is answered from it, and the world model
// (K3) has what was seen beside what the map says.
//
//     a thing of the map that was seen ... its newest position, and last_seen_ms, belief, zone
//     a thing that only was seen ......... an object of the world model, by its id in the memory, with the same
//
// The memory is read again once in LOOK_MS; a question reads it itself. The brain's loop thread.
#include "brain/goals/seen_objects.h"

#include "pons/language.h"
#include "pons/object_memory.h"

#include <string.h>
#include <strings.h>

enum { LOOK_MS = 1000, TOLD_MAX = 64 };

pons_value *pons__seen_find(const pons_brain *b, const char *what, int64_t since_ms)
{
    const pons_items it = {.store = b->opts.store, .clock = b->opts.clock};
    // A thing of the map is known by its kind to a detector.
    const pons_value *of =
        what ? pons__find(pons_get(b->port.greeting.as.hello.world, "objects"), "id", what) : NULL;
    const pons_object_query q = {
        .what = pons_get_str(of, "class", what), .since_ms = since_ms, .limit = TOLD_MAX};
    pons_value *found = NULL;
    pons_error none = PONS_ERROR_INIT;
    return b->opts.objects && pons_objects_find(&it, b->opts.objects, &q, &found, &none) >= 0
               ? found
               : NULL;
}

// ---- words --------------------------------------------------------------------------------------

static bool has_word(const pons_value *list, const char *word)
{
    pons_each(one, list) {
        if (json_is_string(one) && strcasecmp(json_string_value(one), word) == 0) {
            return true;
        }
    }
    return false;
}

// The first of a list of words in a language; NULL: none.
static const char *word_in(const pons_value *list, bool zh)
{
    pons_each(one, list) {
        if (json_is_string(one) && pons_language_chinese(json_string_value(one)) == zh) {
            return json_string_value(one);
        }
    }
    return NULL;
}

const char *pons__seen_called(const pons_brain *b, const char *what, bool zh)
{
    const pons_value *of =
        pons__find(pons_get(b->port.greeting.as.hello.world, "objects"), "id", what);
    const char *name = word_in(pons_get(pons_get(of, "names"), zh ? "zh" : "en"), zh);
    pons_each(words, b->opts.object_words) {
        name = name || !has_word(words, what) ? name : word_in(words, zh);
    }
    return name ? name : what;
}

void pons__seen_place(const pons_brain *b, const pons_value *thing, bool zh, pons_buf *out)
{
    const char *id = pons_get_str(thing, "zone", "");
    const pons__zone *zone = *id ? pons__zone_find(b, id) : NULL;
    const pons_value *at = pons_get(thing, "position");
    if (zone) {
        const char *name = word_in(pons_get(zone->names, zh ? "zh" : "en"), zh);
        pons_buf_str(out, zh ? "" : "the ");
        pons_buf_str(out, name ? name : id);
    } else {
        pons_buf_printf(out, zh ? "坐标 (%.1f, %.1f) 处" : "no zone, at (%.1f, %.1f)",
                        json_number_value(json_array_get(at, 0)),
                        json_number_value(json_array_get(at, 1)));
    }
}

// "40 min ago"
static void say_age(double age_s, bool zh, pons_buf *out)
{
    static const struct {
        double seconds;
        const char *en, *zh;
    } units[] = {
        {86400.0, "days", "天"}, {3600.0, "h", "小时"}, {60.0, "min", "分钟"}, {1.0, "s", "秒"}};
    size_t u = 0;
    while (u < 3 && age_s < 2.0 * units[u].seconds) {
        u++;
    }
    if (age_s < 5.0) {
        pons_buf_str(out, zh ? "就在刚才" : "just now");
    } else {
        const char *unit = zh ? units[u].zh : units[u].en;
        pons_buf_printf(out, zh ? "%.0f %s前" : "%.0f %s ago", age_s / units[u].seconds, unit);
    }
}

bool pons__seen_says(const pons_brain *b, const char *what, bool zh, pons_buf *out)
{
    pons_autovalue found = pons__seen_find(b, what, 0);
    const pons_value *best = json_array_get(found, 0);
    const char *name = pons__seen_called(b, what, zh);
    if (!found) {
        return false;
    }
    if (!best) {
        pons_buf_printf(out, zh ? "我还没有看到过%s。" : "I have not seen the %s.", name);
        return true;
    }
    pons_buf_printf(out, zh ? "我上次看到%s是在" : "I last saw the %s in ", name);
    pons__seen_place(b, best, zh, out);
    pons_buf_str(out, zh ? "，" : ", ");
    say_age(pons_get_num(best, "age_s", 0.0), zh, out);
    pons_buf_str(out, zh ? "。" : ".");
    if (!pons_get_bool(best, "known", false)) {
        pons_buf_printf(out,
                        zh ? "现在可能不在那里了（把握 %.0f%%）。"
                           : " It may not be there any more (%.0f %% sure).",
                        100.0 * pons_get_num(best, "belief", 0.0));
    }
    return true;
}

// ---- the world ----------------------------------------------------------------------------------

// Whether a thing that was seen is this one of the map.
static bool is_same(const pons_value *mapped, const pons_value *seen)
{
    const char *id = pons_get_str(mapped, "id", ""), *label = pons_get_str(seen, "label", "?");
    const char *identity = pons_get_str(seen, "identity", "");
    if (*identity) { // it says which one it is
        return strcmp(identity, id) == 0;
    }
    return strcasecmp(id, label) == 0 || strcasecmp(pons_get_str(mapped, "class", ""), label) == 0;
}

static void add_seen(pons_value *to, const pons_value *seen)
{
    static const char *const keys[] = {"position", "zone", "belief"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        pons_autovalue v = pons_value_ref(pons_get(seen, keys[i]));
        if (v) {
            json_object_set(to, keys[i], v);
        }
    }
    json_object_set_new(to, "last_seen_ms", json_integer(pons_get_int(seen, "last_ms", 0)));
}

static pons_value *merged(const pons_value *objects, const pons_value *seen)
{
    pons_value *all = json_array();
    pons_autovalue used = json_object();
    pons_each(mapped, objects) {
        pons_value *with = json_copy((pons_value *)(uintptr_t)mapped);
        bool put = false;
        pons_each(thing, seen) {
            const char *id = pons_get_str(thing, "id", "");
            if (!put && !pons_get(used, id) && is_same(mapped, thing)) {
                add_seen(with, thing);
                json_object_set_new(used, id, json_true());
                put = true;
            }
        }
        json_array_append_new(all, with);
    }
    pons_each(thing, seen) {
        const char *id = pons_get_str(thing, "id", "");
        if (pons_get_bool(thing, "known", false) && !pons_get(used, id)) {
            pons_value *one = pons_object("id", json_string(id), "class",
                                          json_string(pons_get_str(thing, "label", "")), "names",
                                          pons_value_ref(pons_get(thing, "names")), NULL);
            add_seen(one, thing);
            json_array_append_new(all, one);
        }
    }
    return all;
}

pons_value *pons__seen_objects(pons_brain *b, const pons_value *objects)
{
    const int64_t now_ms = pons_now_ms(&b->opts.clock);
    if (!b->opts.objects) {
        return objects ? (pons_value *)(uintptr_t)pons_value_ref(objects) : json_array();
    }
    if (!b->known_objects || now_ms - b->known_objects_ms >= LOOK_MS) {
        pons_autovalue seen = pons__seen_find(b, NULL, 0);
        pons_value_unref(b->known_objects);
        b->known_objects = merged(objects, seen);
        b->known_objects_ms = now_ms;
    }
    return (pons_value *)(uintptr_t)pons_value_ref(b->known_objects);
}

// A kind of thing as an object, unless one of its words is a thing of the world already.
static void add_kind(pons_value *objects, const pons_value *words, const char *label)
{
    pons_each(one, objects) {
        pons_each_member(language, names, pons_get(one, "names")) {
            pons_each(word, words) {
                if (has_word(names, json_string_value(word))) {
                    return;
                }
            }
        }
        const char *id = pons_get_str(one, "id", ""), *class = pons_get_str(one, "class", "");
        if (has_word(words, id) || has_word(words, class) || strcasecmp(id, label) == 0) {
            return;
        }
    }
    pons_autovalue names = pons_object("any", pons_value_ref(words), NULL);
    json_array_append_new(
        objects, pons_object("id", json_string(label), "names", pons_value_ref(names), NULL));
}

// The world with everything that may have been seen, or may be, as an object.
static pons_value *wider(const pons__seen_words *of, const pons_value *world)
{
    const pons_value *own = pons_get(world, "objects");
    const pons_object_query all = {.limit = 1000};
    pons_autovalue objects =
        json_is_array(own) ? json_copy((pons_value *)(uintptr_t)own) : json_array();
    pons_autovalue seen = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (of->items.store.ops) {
        pons_objects_find(&of->items, of->ns, &all, &seen, &none);
    }
    pons_each(words, of->kinds) {
        add_kind(objects, words, json_string_value(json_array_get(words, 0)));
    }
    pons_each(thing, seen) {
        add_kind(objects, pons_get(thing, "names"), pons_get_str(thing, "label", ""));
    }
    return pons__with(world, "objects", pons_value_ref(objects));
}

pons__seen_words pons__seen_words_of(const pons_brain *b)
{
    return (pons__seen_words){.items = {.store = b->opts.store, .clock = b->opts.clock},
                              .ns = b->opts.objects,
                              .kinds = b->opts.object_words};
}

int pons__seen_parse(const pons__seen_words *of, const pons_policy *policy, const char *text,
                     const pons_value *world, pons_value **ret, pons_error *err)
{
    static const char *const asking[] = {"where", "look_for", "find", NULL};
    const int rc = policy->ops->parse(policy->self, text, world, ret, err);
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue again = NULL;
    if (rc >= 0 || !of->ns) {
        return rc;
    }
    pons_autovalue more = wider(of, world);
    bool asks = policy->ops->parse(policy->self, text, more, &again, &none) >= 0;
    pons_each(goal, pons_get(again, "goals")) {
        asks = asks && (!pons_get(goal, "object") ||
                        pons__word_find(asking, pons_get_str(goal, "intent", ""), -1) >= 0);
    }
    if (!asks) {
        return rc;
    }
    pons_value_unref(*ret);
    *ret = pons_value_ref(again);
    return PONS_OK;
}
