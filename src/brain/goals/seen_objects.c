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

// Which one of its kind a thing of the map is, by what a detector says of it.
static const char *tag_of(const pons_value *mapped)
{
    return pons_get_str(mapped, "tag", pons_get_str(mapped, "id", ""));
}

// Of several of a kind, the one that is meant; those that are said to be another of the map's go.
static pons_value *only_this(const pons_value *found, const pons_value *mapped,
                             const pons_value *meant)
{
    pons_value *very = json_array(), *others = json_array();
    pons_each(thing, found) {
        const char *identity = pons_get_str(thing, "identity", "");
        bool other = false;
        pons_each(one, mapped) {
            other = other || (*identity && strcmp(tag_of(one), identity) == 0);
        }
        if (strcmp(tag_of(meant), identity) == 0) {
            json_array_append(very, thing);
        } else if (!other) {
            json_array_append(others, thing);
        }
    }
    const bool sure = json_array_size(very) > 0;
    pons_value_unref(sure ? others : very);
    return sure ? very : others;
}

pons_value *pons__seen_find(const pons_brain *b, const char *what, int64_t since_ms)
{
    const pons_items it = {.store = b->opts.store, .clock = b->opts.clock};
    // A thing of the map is known by its kind to a detector.
    const pons_value *mapped = pons_get(b->port.greeting.as.hello.world, "objects");
    const pons_value *of = what ? pons__find(mapped, "id", what) : NULL;
    const pons_object_query q = {
        .what = pons_get_str(of, "class", what), .since_ms = since_ms, .limit = TOLD_MAX};
    pons_autovalue found = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (!b->opts.objects || pons_objects_find(&it, b->opts.objects, &q, &found, &none) < 0) {
        return NULL;
    }
    return of ? only_this(found, mapped, of) : pons_value_ref(found);
}

bool pons__seen_kind(const pons_brain *b, const char *what)
{
    bool known = false;
    pons_each(words, b->opts.object_words) {
        known = known || pons_list_has_word(words, what);
    }
    pons_each(one, pons_get(b->port.greeting.as.hello.world, "objects")) {
        known = known || strcasecmp(pons_get_str(one, "class", ""), what) == 0;
        pons_each_member(language, words, pons_get(one, "names")) {
            known = known || pons_list_has_word(words, what);
        }
    }
    pons_autovalue found = known ? NULL : pons__seen_find(b, what, 0);
    return b->opts.objects && (known || json_array_size(found) > 0);
}

// ---- words --------------------------------------------------------------------------------------

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
        name = name || !pons_list_has_word(words, what) ? name : word_in(words, zh);
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
        pons_buf_printf(out, pons_translate(zh, "no zone, at (%.1f, %.1f)"),
                        json_number_value(json_array_get(at, 0)),
                        json_number_value(json_array_get(at, 1)));
    }
}

bool pons__seen_says(const pons_brain *b, const char *what, bool zh, pons_buf *out)
{
    pons_autovalue found = pons__seen_find(b, what, 0);
    const pons_value *best = json_array_get(found, 0);
    const char *name = pons__seen_called(b, what, zh);
    char age[PONS_AGE_TEXT];
    if (!found) {
        return false;
    }
    if (!best) {
        pons_buf_printf(out, pons_translate(zh, "I have not seen the %s."), name);
        return true;
    }
    pons_buf_printf(out, pons_translate(zh, "I last saw the %s in "), name);
    pons__seen_place(b, best, zh, out);
    pons_buf_str(out, zh ? "，" : ", ");
    pons_buf_str(out, pons_age_text(pons_get_num(best, "age_s", 0.0), zh, age));
    pons_buf_str(out, zh ? "。" : ".");
    if (!pons_get_bool(best, "known", false)) {
        pons_buf_printf(out, pons_translate(zh, " It may not be there any more (%.0f %% sure)."),
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
        return strcmp(identity, tag_of(mapped)) == 0;
    }
    return strcasecmp(id, label) == 0 || strcasecmp(pons_get_str(mapped, "class", ""), label) == 0;
}

// ---- a look -------------------------------------------------------------------------------------

// What a thing that was seen is called: as the map has it, where it says which one it is.
static const char *name_of(const pons_brain *b, const pons_value *thing, bool zh)
{
    const char *called = pons_get_str(thing, "label", "?");
    pons_each(one, pons_get(b->port.greeting.as.hello.world, "objects")) {
        if (*pons_get_str(thing, "identity", "") && is_same(one, thing)) {
            called = pons_get_str(one, "id", called);
        }
    }
    return pons__seen_called(b, called, zh);
}

void pons__seen_list(const pons_brain *b, const pons_value *things, double look_s, bool zh,
                     pons_buf *out)
{
    pons_autovalue counts = json_object();
    pons_each(thing, things) {
        const char *name = name_of(b, thing, zh);
        json_object_set_new(counts, name, json_integer(pons_get_int(counts, name, 0) + 1));
    }
    size_t n = 0;
    pons_each_member(name, count, counts) {
        if (n++ > 0) {
            pons_buf_str(out, zh ? "、" : ", ");
        }
        pons_buf_str(out, name);
        if (json_integer_value(count) > 1) {
            pons_buf_printf(out, zh ? "（%lld 个）" : " (%lld)",
                            (long long)json_integer_value(count));
        }
    }
    if (n > 0) {
        pons_buf_printf(out, zh ? "；%.*f 秒里没有看到别的" : "; nothing else in %.*f s",
                        look_s < 0.95, look_s);
    } else {
        pons_buf_printf(out, zh ? "%.*f 秒里没有看到认识的东西" : "nothing that it knows in %.*f s",
                        look_s < 0.95, look_s);
    }
}

void pons__seen_tell(const pons_brain *b, const pons__goal *goal, pons_buf *out)
{
    const bool zh = pons_language_chinese(goal->text);
    pons_autovalue things = pons__seen_find(b, NULL, goal->since_ms);
    pons_autovalue meant = *goal->object ? pons__seen_find(b, goal->object, goal->since_ms) : NULL;
    if (!things) {
        pons_buf_str(out, zh ? "这里没有能认出东西的眼睛：我只知道有没有挡路的东西。"
                             : "Nothing here tells me what things are: I only measure what is in "
                               "the way.");
        return;
    }
    if (*goal->object && json_array_size(meant) == 0) {
        pons_buf_printf(out, zh ? "那里没看到%s。" : "I do not see the %s there. ",
                        pons__seen_called(b, goal->object, zh));
    }
    pons_buf_str(out, zh ? "我看到：" : "I see: ");
    pons__seen_list(b, things, goal->seconds, zh, out);
    pons_buf_str(out, zh ? "。" : ".");
}

void pons__seen_state(const pons_brain *b, const char *what, bool zh, pons_buf *out)
{
    pons_autobuf where = PONS_BUF_INIT;
    pons_buf_printf(out,
                    zh ? "我不知道：%s在哪里我能看到，它是什么状态我看不出来。"
                       : "I do not know: I see where the %s is, not what state it is in. ",
                    pons__seen_called(b, what, zh));
    if (pons__seen_says(b, what, zh, &where)) {
        pons_buf_str(out, where.data);
    }
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
                if (pons_list_has_word(names, json_string_value(word))) {
                    return;
                }
            }
        }
        const char *id = pons_get_str(one, "id", ""), *class = pons_get_str(one, "class", "");
        if (pons_list_has_word(words, id) || pons_list_has_word(words, class) ||
            strcasecmp(id, label) == 0) {
            return;
        }
    }
    pons_autovalue names = pons_object("any", pons_value_ref(words), NULL);
    json_array_append_new(
        objects, pons_object("id", json_string(label), "names", pons_value_ref(names), NULL));
}

// The world with everything that may have been seen, or may be, as an object.
static pons_value *wider(const pons_seen_words *of, const pons_value *world)
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

pons_seen_words pons__seen_words_of(const pons_brain *b)
{
    return (pons_seen_words){.items = {.store = b->opts.store, .clock = b->opts.clock},
                             .ns = b->opts.objects,
                             .kinds = b->opts.object_words};
}

int pons_seen_parse(const pons_seen_words *of, const pons_policy *policy, const char *text,
                    const pons_value *world, pons_value **ret, pons_error *err)
{
    static const char *const asking[] = {"where", "look_for", "find", "look_at", "state", NULL};
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
