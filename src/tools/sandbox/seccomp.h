// seccomp.h - the system calls of a command behind the wall.
#pragma once

#include "pons/error.h"

#include <stddef.h>

// As a program of BPF; the caller frees.
int pons__filter_make(void **ret, size_t *ret_bytes, pons_error *err);
