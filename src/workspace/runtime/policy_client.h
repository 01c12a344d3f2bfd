// policy_client.h - who answers a skill's questions: a server over HTTP, or a program of the user's.
#pragma once

#include "pons/error.h"
#include "pons/value.h"

#define POLICY_WHY_MAX 240

typedef struct policy policy;

typedef struct policy_answer {
    pons_value *value;        // an object; the receiver's
    const char *code;         // NULL: value is the answer; else it failed
    char why[POLICY_WHY_MAX]; // code: why
} policy_answer;

// client: a skill's policy_client. pons: the program that speaks other protocols; NULL: there is none. PONS_EINVAL: what is
// wrong with it; PONS_EENV: it cannot be had.
int pons__policy_open(const pons_value *client, const char *pons, policy **ret, pons_error *err);
void pons__policy_close(policy *p); // NULL-safe; ends the program
// One question at a time. The answer has to be there within the time.
void pons__policy_ask(policy *p, const pons_value *question, int64_t now_ms, int64_t timeout_ms);
bool pons__policy_answer(policy *p, int64_t now_ms, policy_answer *ret); // false: not yet
int pons__policy_fd(const policy *p); // readable when there may be an answer; -1: none
