// token.h - who a client is, by the token that it shows.
#pragma once

#include "pons/error.h"

typedef enum pons__role { // each may what those before it may
    PONS__NOBODY,
    PONS__VIEWER,   // reads
    PONS__OPERATOR, // says goals, answers, resets
    PONS__ADMIN,    // deletes and configures
    PONS__ROLES
} pons__role;

#define PONS__TOKEN_TEXT 64 // hexadecimal digits of 256 bits

typedef struct pons__tokens {
    char text[PONS__ROLES][PONS__TOKEN_TEXT + 1]; // "" for a role that has none
} pons__tokens;

const char *pons__role_name(pons__role role);
// Reads the file, or makes it with a fresh token for each role. PONS_EREFUSED when others may read
// it, PONS_EINVAL with its line when it is none.
int pons__tokens_load(const char *path, pons__tokens *ret, pons_error *err);
// The role of a token; takes as long for a wrong one as for a right one. NULL: nobody.
pons__role pons__tokens_role(const pons__tokens *t, const char *shown);
