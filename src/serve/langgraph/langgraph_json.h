// langgraph_json.h - what the engine and the run host know, as LangGraph's clients expect to read it.
#pragma once

#include "pons/value.h"

enum { PONS__TIME_TEXT = 40 };

// "2026-11-22T21:22:35.862000+00:00"
void pons__lg_time(int64_t wall_ms, char ret[PONS__TIME_TEXT]);
pons_value *pons__lg_time_value(int64_t wall_ms); // null for 0
// Its reading, of a text with or without parts of a second and an offset. False: it is none.
bool pons__lg_time_read(const char *text, int64_t *ret_ms);

pons_value *pons__lg_or_null(const pons_value *v); // a new reference; null for NULL
// Puts the members of `from` with these names (NULL at the end) into `to`: those that are there, or all of them, with
// null for one that is not. Returns `to`.
pons_value *pons__lg_put_some(pons_value *to, const pons_value *from, const char *const *names);
pons_value *pons__lg_put_all(pons_value *to, const pons_value *from, const char *const *names);

// The rest give new references, of a run (pons__runhost_run), a thread (pons_threads_find; busy: as
// the run host knows) and a snapshot (pons_state_snapshot).
pons_value *pons__lg_run(const pons_value *run);
pons_value *pons__lg_thread(const pons_value *row, bool busy);
pons_value *pons__lg_state(const pons_value *snapshot);
pons_value *pons__lg_checkpoint(const char *thread, const char *ns, const char *id);
// Values with "__interrupt__" when something is asked.
pons_value *pons__lg_values(const pons_value *snapshot);
// Of each object in a list (or of one), only the members that `select` names; v is taken.
pons_value *pons__lg_select(pons_value *v, const pons_value *select);
