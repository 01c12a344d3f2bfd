// plan_help.h - what the tests of plans share: values from text, plans from text, repairs as words.
#ifndef PLAN_HELP_H
#define PLAN_HELP_H

#include "pons/buf.h"
#include "pons/plan.h"
#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW_S 1700000000.25

pons_value *json(const char *text); // the caller's
// Reads with a fixed clock and seed; the repairs but for defaults, new id and new time are listed
// in `repairs` as words with a blank between (may be NULL).
int read_plan(const char *text, const char *goal, pons_plan **ret, pons_buf *repairs,
              pons_error *err);
char *plan_text(const pons_plan *p); // the caller's

#endif
