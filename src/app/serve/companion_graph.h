// companion_graph.h - the companion as a graph that clients run: each message of a person goes to its phone.
#pragma once

#include "app/serve/store_awaits.h"

typedef struct app_companion app_companion;

// store and w are borrowed, and outlive it.
int app_companion_open(pons_store store, app_follower *w, app_companion **ret, pons_error *err);
void app_companion_close(app_companion *c); // after the server that runs it; NULL-safe
void app_companion_graph(app_companion *c, pons_serve_graph *ret); // borrowed from c
