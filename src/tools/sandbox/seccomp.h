// seccomp.h - the system calls of a command behind the wall.
#ifndef PONS_TOOLS_SANDBOX_SECCOMP_H
#define PONS_TOOLS_SANDBOX_SECCOMP_H

#include "pons/error.h"

#include <stddef.h>

// As a program of BPF; the caller frees.
int pons__filter_make(void **ret, size_t *ret_bytes, pons_error *err);

#endif
