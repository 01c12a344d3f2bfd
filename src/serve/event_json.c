// event_json.c - what the host tells is told on: to the counters, the traces, the pages and whoever follows
// a run. Any thread may call it; each of the four has a lock of its own.
#include "pons/serve.h"
#include "serve/events/event_hub.h"
#include "serve/metrics/metrics.h"
#include "serve/runs/run_host.h"

void pons_serve_event(pons_serve *s, const pons_event *ev)
{
    pons__metrics_event(s->metrics, ev);
    pons_traces_event(s->o.traces, ev);
    pons__hub_event(s->hub, ev);
    if (ev->seq > 0) {
        pons__runhost_event(s->host, ev->thread);
    }
}
