// ws_help.h - what the workspace's tests share: files read, records compared, records made up.
#ifndef WS_HELP_H
#define WS_HELP_H

#include "pons/random.h"
#include "pons/workspace.h"
#include "workspace/model/record_kinds.h"

// A file of tests/workspace/seed, or of any path that begins with '/'; free().
char *help_text(const char *name, size_t *ret_len);
pons_ws_doc *help_read(pons_ws_file file, const char *text, size_t len);
pons_ws_doc *help_seed(pons_ws_file file);
// Fails unless both have the same records: kinds, ids, values, whatever their order.
void help_same_records(const pons_ws_doc *a, const pons_ws_doc *b, const char *what);
// A record of a kind with an id of its own, some of its fields, and keys that nobody knows.
pons_value *help_record(pons_rand *r, ws_kind kind, int n);
// A file of some records of each of its kinds, in a dialect.
pons_ws_doc *help_made_up(pons_rand *r, pons_ws_file file, pons_ws_dialect dialect);

#endif
