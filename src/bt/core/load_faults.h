// load_faults.h - what is wrong with a text, and where; all of it, not only the first.
#pragma once

#include "bt/core/node_types.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pons__bt_pos {
    const char *file;
    uint32_t line, col; // from 1
} pons__bt_pos;

typedef struct pons__bt_faults {
    pons__bt_pos pos[PONS__BT_FAULTS_MAX];
    char *message[PONS__BT_FAULTS_MAX];
    int n;
    bool nomem;
} pons__bt_faults;
void pons__bt_fault(pons__bt_faults *f, pons__bt_pos pos, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void pons__bt_faults_fini(pons__bt_faults *f);
void pons__bt_faults_sort(pons__bt_faults *f); // in the order of the text
pons_value *
pons__bt_faults_list(const pons__bt_faults *f); // [{file, line, col, message}]; NULL: no memory
