// possible_calls.h - what may be started now (possible_calls.c).
#pragma once

#include "brain/state/self.h"

#define PONS__MENU_IDS_MAX 40 // zones, objects and tasks in one enumeration

typedef struct pons__cook { // who makes a menu, of what
    pons_brain *b;
    const pons__react *react;
    const pons__skills *skills;
    const pons__goal *goal; // at hand; NULL: none was understood, or all are met
    int goal_index;
    pons_value *running, *none; // lists, as the critic takes them
} pons__cook;

pons_value *pons__moves_of(pons__cook *c); // a list of operations as schemas; new
// Those of them beside which the critic lets it say something; new.
pons_value *pons__moves_spoken(pons__cook *c, const pons_value *moves);
bool pons__cook_failed(const pons__cook *c); // something has, since the last progress
