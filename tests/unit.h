// unit.h - cmocka, with what its header wants before it: hence the order.
#ifndef PONS_TESTS_UNIT_H
#define PONS_TESTS_UNIT_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#endif
