// bt_help.h - what the tests of behaviour trees share: files of cases, one JSON object a line.
#ifndef BT_HELP_H
#define BT_HELP_H

#include "pons/bt.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

// Calls fn with each case of a file under tests/bt; returns how many there are.
int each_case(const char *file, void (*fn)(const pons_value *c));
// The lines that a definition gives for a script, as a list; fails the test when it does not load.
pons_value *lines_of(const char *file, const char *text, const pons_value *script);
// Compares the members that a wanted line has; prints the case and fails when one differs.
void check_lines(const pons_value *c, const pons_value *got);
// Loads a text; NULL when it is faulty, and then *ret_faults has the faults.
pons_bt *load_text(const char *file, const char *text, const pons_bt_registry *leaves,
                   pons_value **ret_faults);

#endif
