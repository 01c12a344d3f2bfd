// log.h - structured records to an injected sink. Libraries return errors; programs decide what to
// say. State transitions are stored events, not log lines: this is for the people who debug pons.
//
// PONS_LOG=graph,+link,-http selects: a bare name or +name shows that module from debug up, -name
// silences it, "all" shows everything; without it only warnings and errors are shown.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

typedef enum pons_log_level {
    PONS_LOG_DEBUG,
    PONS_LOG_INFO,
    PONS_LOG_WARN,
    PONS_LOG_ERROR
} pons_log_level;

// One record; the strings live only for the call.
typedef struct pons_log_record {
    pons_log_level level;
    const char *module;
    const char *message;
} pons_log_record;

// Called on the thread that logs, possibly on several at once: it locks for itself.
typedef void (*pons_log_sink)(void *user, const pons_log_record *r);

void pons_log_set_sink(pons_log_sink sink, void *user); // NULL: stderr. Before threads start.
void pons_log_configure(const char *spec); // the PONS_LOG syntax; NULL: from the environment
int pons_log_enabled(pons_log_level level, const char *module); // any thread
void pons_log(pons_log_level level, const char *module, const char *fmt, ...)
    __attribute__((format(printf, 3, 4))); // any thread but the safety thread

PONS_C_END
