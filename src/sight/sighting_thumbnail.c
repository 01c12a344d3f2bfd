// sighting_thumbnail.c - small pictures of what was seen.
//
// Detectors flicker: what is found in one picture is missed in the next. So a picture is due when something was found that
// the last one does not show, or when that is EVERY_MS old; what is a part of it is shown by it.
#include "sight/sighting_thumbnail.h"

#include <stdio.h>
#include <string.h>

#define EVERY_MS 10000

static void key_of(const pons__boxed *found, char ret[2 * PONS_DETECTED_TEXT])
{
    snprintf(ret, (size_t)2 * PONS_DETECTED_TEXT, "%s %s", found->what.label, found->what.identity);
}

bool pons__thumbnail_due(const pons__thumbnail *last, const pons__boxed *found, size_t n,
                         int64_t now_ms)
{
    bool shown[PONS_DETECTED_MAX] = {false};
    if (!*last->name || now_ms >= last->at_ms + EVERY_MS) {
        return n > 0;
    }
    for (size_t i = 0; i < n; i++) {
        char key[2 * PONS_DETECTED_TEXT];
        size_t at = 0;
        key_of(&found[i], key);
        while (at < last->n && (shown[at] || strcmp(last->of[at], key) != 0)) {
            at++;
        }
        if (at == last->n) {
            return true;
        }
        shown[at] = true;
    }
    return false;
}

void pons__thumbnail_kept(pons__thumbnail *last, const pons__boxed *found, size_t n, int64_t now_ms,
                          const char *name)
{
    snprintf(last->name, sizeof last->name, "%s", name);
    last->at_ms = now_ms;
    last->n = n;
    for (size_t i = 0; i < n; i++) {
        key_of(&found[i], last->of[i]);
    }
}

static bool is_held(void *names, const char *name)
{
    return json_object_get(names, name) != NULL;
}

int pons__thumbnail_prune(const pons_items *items, const char *space, const char *folder,
                          int64_t before_ms, pons_error *err)
{
    const pons_items_query all = {.prefix = space, .limit = -1};
    pons_autovalue objects = NULL;
    pons_autovalue names = json_object();
    const int rc = pons_items_search(items, &all, &objects, err);
    pons_each(o, objects) {
        pons_each(seen, pons_get(pons_get(o, "value"), "sightings")) {
            json_object_set_new(names, pons_get_str(seen, "picture", ""), json_true());
        }
    }
    return rc < 0 ? rc : pons_picture_prune(folder, before_ms, is_held, names, err);
}
