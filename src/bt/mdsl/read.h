// read.h - readers of the two forms. They fill faults; *ret stays NULL when there are any.
#pragma once

#include "bt/core/load_faults.h"
#include "pons/bt.h"

int pons__bt_load_mdsl(const char *text, size_t len, const char *file,
                       const pons_bt_load_options *o, pons__bt_faults *faults, pons_bt **ret);
int pons__bt_load_json(const char *text, size_t len, const char *file,
                       const pons_bt_load_options *o, pons__bt_faults *faults, pons_bt **ret);
