// conformance.h - what every HTTP client must do (include/pons/ext/http.h), whoever it is.
#ifndef TESTS_HTTP_CONFORMANCE_H
#define TESTS_HTTP_CONFORMANCE_H

#include "pons/ext/http.h"

// Runs the suite as a group of this name; returns how many of its tests failed.
int http_conformance(const char *name, const pons_http_ops *ops);

#endif
