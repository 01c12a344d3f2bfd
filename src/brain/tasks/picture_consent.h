// picture_consent.h - whether pictures of the robot's cameras may go to the model's server (picture_consent.c).
#pragma once

#include "brain/records/kernel_fields.h"
#include "brain/state/self.h"

// Whether they may go now. Where a person is to be asked first, K5 does it, and this is false until a yes.
bool pons__picture_consent_given(pons_brain *b);
// K5: asks, where that is wanted and was not done.
void pons__picture_consent_ask(pons_brain *b, pons_cx *cx, pons__tasks *t);
