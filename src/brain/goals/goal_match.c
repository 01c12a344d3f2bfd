// goal_match.c - whether a call that has ended is the one that a goal means.
//
// A model may call a goal's skill with whatever the critic lets pass, and say that it is for that goal. It meets the
// goal only where it did what the goal says: "wait 30 seconds" is not met by a second, "turn around" not by a few
// degrees, "say hello" not by other words. What the way to meet it (goal_skills.c) has filled in must stand in the call:
//
//     a time ......... as much, or more
//     words .......... among what was said, whatever the case and the signs between
//     a zone ......... the same, by any of its names
//     what is left ... as far, or further: of a goal of which a call was cut short
//     all else ....... the same, but for what rounding leaves
//
// What the call has beside (a speed, a limit) is its own affair. The brain's loop thread.
#include "brain/goals/goal_match.h"

#include "brain/goals/argument_slots.h"
#include "brain/state/zones.h"
#include "pons/buf.h"
#include "pons/goal_match.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

// The words alone: letters small, no signs, and digits where they count.
static void fold(pons_buf *out, const char *text, bool digits)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c >= 0x80 || isalpha(*c) || (digits && isdigit(*c))) {
            pons_buf_byte(out, (uint8_t)tolower(*c));
        }
    }
}

static bool has_words(const char *said, const char *wanted, bool digits)
{
    pons_autobuf is = PONS_BUF_INIT, want = PONS_BUF_INIT;
    fold(&is, said, digits);
    fold(&want, wanted, digits);
    if (want.len == 0) { // of signs alone
        return strcmp(said, wanted) == 0;
    }
    return is.len > 0 && strstr(is.data, want.data);
}

// Whether the words are the goal's own, and not made of what the robot sees, which changes while it speaks.
static bool own_words(const pons__goal *goal, const char *name, const char *wanted)
{
    return strcmp(goal->text, wanted) == 0 || pons_get(goal->args, name);
}

bool pons__meant_far(double is, double left)
{
    return is * left >= 0.0 && fabs(is) >= 0.99 * fabs(left) - 0.005;
}

bool pons__meant(const pons_brain *b, const pons__goal *goal, const pons__means *way,
                 const pons_value *args)
{
    bool meant = true;
    const pons__registered *item = pons__skill(b, way->skill);
    pons_each_member(name, wanted, way->args) {
        const pons_value *is = pons_get(args, name);
        const pons__about about = pons__about_of(b, way->skill, name);
        const char *said = json_string_value(is), *want = json_string_value(wanted);
        if (goal->left > 0.0 && item && item->remains && strcmp(item->remains, name) == 0) {
            meant = meant && pons__meant_far(json_number_value(is), json_number_value(wanted));
        } else if (strcmp(name, way->amount) == 0) {
            meant = meant && pons_value_enough(is, wanted);
        } else if (said && want && about == PONS_ABOUT_TEXT) {
            meant = meant && has_words(said, want, own_words(goal, name, want));
        } else if (said && want && about == PONS_ABOUT_ZONE) {
            const pons__zone *zone = pons__zone_find(b, want);
            meant =
                meant && (strcmp(said, want) == 0 || (zone && pons__zone_find(b, said) == zone));
        } else {
            meant = meant && pons_value_near(is, wanted);
        }
    }
    return meant;
}
