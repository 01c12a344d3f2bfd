// routes.h - the LangGraph API's tables of routes, a noun each.
#pragma once

#include "serve/access/route.h"

extern const pons__route pons__lg_info_routes[];
extern const pons__route pons__lg_assistant_routes[];
extern const pons__route pons__lg_thread_routes[];
extern const pons__route pons__lg_state_routes[];
extern const pons__route pons__lg_run_routes[];
extern const pons__route pons__lg_store_routes[];
extern const pons__route pons__lg_graph_routes[];
extern const pons__route pons__lg_cron_routes[];
extern const pons__route pons__lg_protocol_routes[];

void pons__lg_crons_begin(pons_serve *s); // they fire from now on
