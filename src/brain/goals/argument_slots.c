// argument_slots.c - what an argument of a skill is about: the goal's member that fills it.
//
// A skill calls its arguments as it likes; what each is, its registry item says, by the templates of the goals that it
// meets:
//
//     meets: [{intent: bring, args: {what: $object, where: $place}}]    what: an object, where: a place
//     meets: [{intent: patrol, each: zones, args: {zone: $each}}]       zone: a zone
//
// An argument that no template fills and that is called as a member of goals is taken for that (docs/reference/plans.md,
// "What the critic reads"). The brain's loop thread.
#include "brain/goals/argument_slots.h"

#include <string.h>

#define NAME_MAX_B 32 // bytes of a member's name

static const char *const words[] = {"",     "zone", "zones",   "object", "place",
                                    "pose", "text", "seconds", NULL};

// "$zone" is about zones, "$seconds|1" about seconds, "$robot.zone" about nothing that a goal says.
static pons__about template_about(const pons__meets *meets, const char *argument)
{
    char name[NAME_MAX_B];
    const char *text = pons_get_str(meets->args, argument, "");
    const size_t n = strcspn(text, "|");
    if (*text != '$' || n > sizeof name) {
        return PONS_ABOUT_NOTHING;
    }
    memcpy(name, text + 1, n - 1);
    name[n - 1] = '\0';
    if (strcmp(name, "each") == 0) { // one of that list
        return strcmp(meets->each, words[PONS_ABOUT_ZONES]) == 0 ? PONS_ABOUT_ZONE
                                                                 : PONS_ABOUT_NOTHING;
    }
    return (pons__about)pons__word_find(words, name, PONS_ABOUT_NOTHING);
}

pons__about pons__about_of(const pons_brain *b, const char *skill, const char *argument)
{
    const pons__registered *item = pons__skill(b, skill);
    pons__about about = PONS_ABOUT_NOTHING;
    for (size_t i = 0; item && i < item->meets.n && about == PONS_ABOUT_NOTHING; i++) {
        about = template_about(item->meets.at[i], argument);
    }
    return about != PONS_ABOUT_NOTHING
               ? about
               : (pons__about)pons__word_find(words, argument, PONS_ABOUT_NOTHING);
}

const pons_value *pons__about_in(const pons_brain *b, const char *skill, const pons_value *args,
                                 pons__about about)
{
    pons_each_member(name, value, args) {
        if (pons__about_of(b, skill, name) == about) {
            return value;
        }
    }
    return NULL;
}

const char *pons__about_zone(const pons_brain *b, const char *skill, const pons_value *args)
{
    return json_string_value(pons__about_in(b, skill, args, PONS_ABOUT_ZONE));
}
