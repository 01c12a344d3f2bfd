// metrics.h - what Prometheus reads.
#pragma once

#include "serve/access/route.h"

#define PONS__METRICS_FEEDS 8 // feeds of streams that are told, of any name

int pons__metrics_open(pons_serve *s, pons__metrics **ret, pons_error *err);
void pons__metrics_close(pons__metrics *m); // NULL-safe

// All from any thread.
void pons__metrics_event(pons__metrics *m, const pons_event *ev);
void pons__metrics_request(pons__metrics *m, bool stop, int status,
                           int64_t ns); // stop: to Stop's port
void pons__metrics_commit(pons__metrics *m, bool failed, int64_t ns);
// One stream more (1) or less (-1) of a feed: "events", "live", …; the name is a constant.
void pons__metrics_stream(pons__metrics *m, const char *feed, int by);
