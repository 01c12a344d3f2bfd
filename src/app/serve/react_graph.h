// react_graph.h - the robot as a graph that clients run: each message of a person is a goal.
#pragma once

#include "app/serve/store_awaits.h"

typedef struct app_react app_react;

typedef struct app_react_options {
    pons_serve_host host; // copied; what it calls is borrowed
    pons_store store;     // borrowed
    pons_clock clock;
    const char *thread;     // the robot's
    app_follower *follower; // borrowed
} app_react_options;

int app_react_open(const app_react_options *o, app_react **ret, pons_error *err);
void app_react_close(app_react *r); // after the server that runs it; NULL-safe
void app_react_graph(app_react *r, pons_serve_graph *ret); // to be served, borrowed from r
