// traces.h - what happens as OpenTelemetry spans, sent to a collector by OTLP over HTTP as JSON. Off
// unless a program opens it.
//
//     a run of a graph      invoke_workflow GRAPH   a root, where nothing else is one
//       a task of it          node NAME              each time that it runs, to its end, wait or failure;
//                                                    one that another has called is that one's child
//     an agent's turn       invoke_agent agent      a root
//       a model's call        chat MODEL
//       a tool's call         execute_tool NAME
//     a task of the robot   invoke_agent robot      a root
//       a decision            decide, or chat where a model was asked
//       a skill               execute_tool NAME
//     what a companion does   invoke_agent companion   a root; times are of its life
//       its decision          decide, or chat
//       the action            execute_tool NAME
//
// Names, times, counts and ends are in spans (gen_ai.*, pons.*, error.type), what people and models said is
// not. One observer for all of them: give it the events of threads, and their tasks:
//
//     pons_thread_options o = {…, .on_event = pons_traces_event, .on_task = pons_traces_task, .user = traces};
//
// Threads: any, at once. Nobody waits for a collector: spans go by a thread of their own; when it is away,
// slow or wrong they are dropped, and a line in the log says so, at most once a minute.
#pragma once

#include "pons/graph.h"
#include "pons/linkage.h"

PONS_C_BEGIN

struct pons_http_ops;
typedef struct pons_traces pons_traces;

#define PONS_TRACES_LIFE "companion" // the namespace of a companion's events (pons/companion.h)

typedef struct pons_traces_options {
    const struct pons_http_ops *http; // NULL: the module http-curl
    pons_clock clock;
    const char *url;            // "http://127.0.0.1:4318/v1/traces"
    const char *const *headers; // "Name: value", NULL at the end; or NULL; copied
    const char *service;        // service.name; NULL: "pons"
} pons_traces_options;

// PONS_EINVAL: no http or https address.
int pons_traces_open(const pons_traces_options *o, pons_traces **ret, pons_error *err);
// As the environment says: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, or OTEL_EXPORTER_OTLP_ENDPOINT with
// "/v1/traces" behind it; OTEL_EXPORTER_OTLP_TRACES_HEADERS or …_HEADERS, OTEL_SERVICE_NAME,
// OTEL_SDK_DISABLED. *ret is NULL where that names no collector, and where what it names cannot be one, which
// is a line in the log.
int pons_traces_from_environment(pons_traces **ret, pons_error *err);
// What is there still goes out, for a second at most. NULL-safe.
void pons_traces_close(pons_traces *t);

// As pons_event_cb and pons_thread_options.on_task want them. traces is a pons_traces, or NULL.
void pons_traces_event(void *traces, const pons_event *ev);
void pons_traces_task(void *traces, const pons_task_seen *seen);

PONS_C_END
