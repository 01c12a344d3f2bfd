// knowledge_query.h - awaits of kind "knowledge": the host searches (knowledge_query.c).
#pragma once

#include "brain/state/self.h"

void pons__documents_start(void *user, pons_run *run, const char *id, const pons_value *request,
                           bool restarted);
void pons__documents_cancel(void *user, pons_run *run, const char *id);
int pons__documents_poll(pons_brain *b);
void pons__documents_close(pons_brain *b);
