// goal_match.c - see pons/goal_match.h.
#include "pons/goal_match.h"

#include <math.h>

#define ROUNDED      0.005 // what three places of a number leave, and a little more
#define ROUNDED_PART 0.01

static double rounding(double wanted)
{
    return fmax(ROUNDED, ROUNDED_PART * fabs(wanted));
}

bool pons_value_shows(const pons_value *is, const pons_value *wanted)
{
    if (json_is_array(is) && json_is_object(wanted)) {
        for (size_t i = 0; i < json_array_size(is); i++) {
            bool all = true;
            pons_each_member(key, want, wanted) {
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

bool pons_value_near(const pons_value *is, const pons_value *wanted)
{
    bool near = json_typeof(wanted) == (is ? json_typeof(is) : JSON_NULL);
    if (json_is_number(wanted)) {
        const double want = json_number_value(wanted);
        return json_is_number(is) && fabs(json_number_value(is) - want) <= rounding(want);
    }
    if (json_is_array(wanted)) {
        near = near && json_array_size(is) == json_array_size(wanted);
        for (size_t i = 0; near && i < json_array_size(wanted); i++) {
            near = pons_value_near(json_array_get(is, i), json_array_get(wanted, i));
        }
        return near;
    }
    if (json_is_object(wanted)) {
        const char *key;
        json_t *want;
        json_object_foreach((json_t *)wanted, key, want) {
            near = near && pons_value_near(pons_get(is, key), want);
        }
        return near;
    }
    return is && json_equal((json_t *)is, (json_t *)wanted);
}

bool pons_value_enough(const pons_value *is, const pons_value *wanted)
{
    const double want = json_number_value(wanted);
    return json_is_number(is) && json_is_number(wanted) &&
           json_number_value(is) >= want - rounding(want);
}
