// place_update.h - zones and a charger that are named while the body runs.
#pragma once

#include "body/core/body.h"

void pons__places_named(pons_body *b, pons__client *c, const pons_message *msg);
