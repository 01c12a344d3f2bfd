// argument_slots.h - what an argument of a skill is about (argument_slots.c).
#pragma once

#include "brain/state/self.h"

typedef enum pons__about {
    PONS_ABOUT_NOTHING, // that a goal says
    PONS_ABOUT_ZONE,
    PONS_ABOUT_ZONES,
    PONS_ABOUT_OBJECT,
    PONS_ABOUT_PLACE, // a zone or an object
    PONS_ABOUT_POSE,
    PONS_ABOUT_TEXT,
    PONS_ABOUT_SECONDS,
} pons__about;

pons__about pons__about_of(const pons_brain *b, const char *skill, const char *argument);
// The argument of a call that is about this; NULL: it has none. Borrowed from args.
const pons_value *pons__about_in(const pons_brain *b, const char *skill, const pons_value *args,
                                 pons__about about);
// The zone that a call names; NULL: none.
const char *pons__about_zone(const pons_brain *b, const char *skill, const pons_value *args);
