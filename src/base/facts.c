// facts.c - see pons/facts.h.
#include "pons/facts.h"

bool pons_value_shows(const pons_value *is, const pons_value *wanted)
{
    if (json_is_array(is) && json_is_object(wanted)) {
        for (size_t i = 0; i < json_array_size(is); i++) {
            const char *key;
            json_t *want;
            bool all = true;
            json_object_foreach((json_t *)wanted, key, want)
            {
                all = all && pons_value_shows(pons_get(json_array_get(is, i), key), want);
            }
            if (all) {
                return true;
            }
        }
        return false;
    }
    if (json_is_number(wanted)) {
        return json_is_number(is) && json_number_value(is) >= json_number_value(wanted);
    }
    return is && json_equal((json_t *)is, (json_t *)wanted);
}
