// object_memory_query.c - looks up one object in the object memory, for the critic; nothing is cached.
#include "app/sight/sight.h"

#include <string.h>

bool app_seen(const app_context *c, pons_store *store, const char *what, const char *zone,
              double within_s, char *line, size_t cap)
{
    pons_items it = {.clock = pons_clock_real()};
    pons_autovalue found = NULL;
    pons_error none = PONS_ERROR_INIT;
    char space[64];
    bool known = false;
    app_objects_space(c, space);
    const int64_t now_ms = pons_wall_ms(&it.clock);
    const pons_object_query q = {.what = what,
                                 .zone = zone,
                                 .since_ms =
                                     within_s >= 0 ? now_ms - (int64_t)(within_s * 1e3) : 0};
    if (store->ops || app_store_read(c, store, &none) >= 0) {
        it.store = *store;
        const int rc = pons_objects_find(&it, space, &q, &found, &none);
        if (rc < 0 || strcmp(store->ops->name, "memory") == 0) { // or the workspace has none yet
            pons_store_close(store);                             // the next question opens it anew
        }
    }
    pons_each(one, found) {
        known = known || pons_get_bool(one, "known", false);
    }
    if (line) {
        *line = '\0';
        if (json_array_size(found) > 0) {
            pons_object_line(json_array_get(found, 0), line, cap);
        }
    }
    return known;
}
