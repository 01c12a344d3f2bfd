// link_messages.h - what clients say, and who is in control.
#pragma once

#include "body/core/body.h"

void pons__clients_pump(pons_body *b);  // messages in
void pons__clients_watch(pons_body *b); // is the controller alive?
void pons__clients_flush(pons_body *b); // bytes out; closes those that are gone
