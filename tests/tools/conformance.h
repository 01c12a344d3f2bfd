// conformance.h - what every provider of tools must do (include/pons/ext/tool.h), whoever it is.
#ifndef TESTS_TOOLS_CONFORMANCE_H
#define TESTS_TOOLS_CONFORMANCE_H

#include "pons/ext/tool.h"

typedef struct tools_subject {
    pons_tools tools;         // open, its list complete; the suite closes it
    void (*pump)(void *user); // the world's side, where it has no thread of its own; may be NULL
    void *user;
    const char *tool, *args;           // a call that succeeds
    const char *slow_tool, *slow_args; // one that is under way until it is cancelled
} tools_subject;

// Fails the test that calls it.
void tools_conformance(const tools_subject *s);

#endif
