// merge_scene.c - what a body sees now, put into what its world's file says.
#include "pons/critic.h"

#include <string.h>

pons_value *pons_critic_seen(const pons_value *objects, const pons_value *scene)
{
    pons_value *all = json_array();
    pons_each(o, objects) {
        pons_value *now = json_copy(o);
        pons_each(thing, scene) {
            const char *relation = pons_get_str(thing, "relation", "");
            if (strcmp(pons_get_str(thing, "id", ""), pons_get_str(o, "id", "?")) != 0) {
                continue;
            }
            json_object_set_new(now, "seen", json_true());
            json_object_set(now, "position", (json_t *)pons_get(thing, "position"));
            json_object_del(now, "on");
            if (pons_get_str(thing, "at", NULL)) {
                json_object_set(now, "on", (json_t *)pons_get(thing, "at"));
                json_object_set_new(now, "relation", json_string(relation));
            }
            if (json_array_size(pons_get(thing, "near")) > 0) {
                json_object_set(now, "near", (json_t *)pons_get(thing, "near"));
            }
        }
        json_array_append_new(all, now);
    }
    return all;
}
