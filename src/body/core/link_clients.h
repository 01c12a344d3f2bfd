// link_clients.h - places of clients, and what is sent to them.
#pragma once

#include "body/core/body.h"

// A free place; when there is none, that of who has waited longest without a hello. NULL: all have
// said hello.
pons__client *pons__clients_place(pons_body *b);
void pons__client_say(pons__client *c, const pons_report *r); // NULL-safe client
void pons__clients_say(pons_body *b, const pons_report *r);   // to all that said hello
// The same for those who watch the navigator's tree.
void pons__clients_say_tree(pons_body *b, const pons_report *r);
void pons__client_error(pons__client *c, const char *re, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
size_t pons__clients_count(const pons_body *b);
