// load.h - the reader of XML. It fills faults; *ret stays NULL when there are any.
#pragma once

#include "bt/core/load_faults.h"
#include "pons/bt.h"

int pons__bt_load_xml(const char *text, size_t len, const char *file, bool is_file,
                      const pons_bt_load_options *o, pons__bt_faults *faults, pons_bt **ret);
