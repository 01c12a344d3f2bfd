// stop_scan.h - finds a stop in bytes that are no message (stop_scan.c).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pons__stop_scan { // zero before the first byte
    size_t at;                   // how much of it has been seen
    int escape;                  // of an escape in a word: its characters so far; 0: none
    uint32_t code;               // and the character that they mean
    bool seen;
} pons__stop_scan;

// Looks through the next n bytes of a line. True as soon as a "type" that is "stop" has been seen.
bool pons__stop_seen(pons__stop_scan *s, const char *bytes, size_t n);
// The same for all of a line.
bool pons__stop_in(const char *bytes, size_t n);
