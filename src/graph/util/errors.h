// errors.h - an empty error for the paths that every superstep takes: PONS_ERROR_INIT writes a
// kilobyte.
#pragma once

#include "pons/error.h"

static inline void pons__error_empty(pons_error *e)
{
    e->status = PONS_OK;
    e->module[0] = e->message[0] = e->source[0] = e->cause[0] = '\0';
}
