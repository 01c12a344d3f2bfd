// alternate_places.c - other places from which a skill can do the same.
//
// A zone has one place where a robot goes by itself. When there is no way to it, another side of the zone
// may do. Which failures mean that, and where the other sides stand, is data: the skill's registry
// item says it (schemas/skill.json), and the world's file names the places.
//
//     no_way: [206, 208]                    error numbers: there is no way there
//     alternates: {of: zone, as: pose}      the zone that the argument `zone` names has `approaches`,
//                                           poses; each takes the place of `zone`, as `pose`
//     alternates: [{…}, {…}]                or the arguments themselves, the same for every call
//
// Recovery tries them one after the other, before anything else and before a person is asked. The
// brain's loop thread.
#include "brain/goals/alternate_places.h"

#define ALTERNATES_MAX 8

bool pons__no_way(const pons_brain *b, const char *skill, int64_t error_code)
{
    const pons__registered *item = pons__skill(b, skill);
    pons_each(code, item ? item->no_way : NULL) {
        if (json_is_integer(code) && json_integer_value(code) == error_code) {
            return true;
        }
    }
    return false;
}

pons_value *pons__alternates_of(const pons_brain *b, const char *skill, const pons_value *args)
{
    const pons__registered *item = pons__skill(b, skill);
    const pons_value *how = item ? item->alternates : NULL;
    const char *of = pons_get_str(how, "of", ""), *as = pons_get_str(how, "as", "");
    const char *named = pons_get_str(args, of, "");
    const pons__zone *zone = *named ? pons__zone_find(b, named) : NULL;
    const pons_value *list = json_is_array(how) ? how : zone ? zone->approaches : NULL;
    pons_value *calls = json_array();
    for (size_t i = 0; i < json_array_size(list) && i < ALTERNATES_MAX; i++) {
        pons_value *call = json_is_array(how) ? pons_value_ref(json_array_get(list, i))
                                              : json_copy((json_t *)args);
        if (!json_is_array(how)) {
            json_object_del(call, of);
            json_object_set(call, as, json_array_get(list, i));
        }
        if (json_equal(call, (json_t *)args)) {
            pons_value_unref(call);
        } else {
            json_array_append_new(calls, call);
        }
    }
    return calls;
}
