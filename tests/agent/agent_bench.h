// agent_bench.h - an agent with everything around it in one thread: a memory store that can die at
// any commit, a clock that moves when told, a scripted model, and tools that remember every start.
//
// What lies outside the process (the store, the tools' world, the model) survives bench_kill.
#ifndef TESTS_AGENT_BENCH_H
#define TESTS_AGENT_BENCH_H

#include "pons/agent.h"
#include "pons/llm.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

// What a look at "camera" gives.
#define BENCH_PICTURE "5e4ba1b6b2c1cbf9e36a1a3c8ec7bb6a7d1f0a3f5d9f0a1c2b3d4e5f60718293"

typedef struct world {   // the tools, and what they did
    pons_value *starts;  // {key: times}
    pons_value *calls;   // [{tool, args, key}] in order of their starts
    pons_value *results; // {key: output} of what was done, as a durable tool knows it
    bool amnesia;        // adopt knows nothing: "not known"
    struct job {
        struct job *next;
        uint64_t call;
        int64_t due_ns;
        pons_tool_event event;
    } *jobs;
    int open, open_most; // calls under way at once
} world;

typedef pons_value *(*model_fn)(void *user, const pons_value *request); // a reply, or NULL: none

typedef struct bench {
    pons_store memory, store; // store: the fuse around memory
    int commits, left;        // commits seen; that still go through (< 0: all)
    bool dead;
    pons_clock_manual time;
    pons_clock clock;
    pons_agent_config *config;
    pons_llm llm;
    pons_value *requests; // every model request, when the model is a function
    model_fn model;       // instead of a script
    void *model_user;
    struct answer {
        struct answer *next;
        uint64_t call;
        pons_llm_event event;
    } *answers;
    const char *model_error; // of a model that answers NULL
    int lists;               // times that the list of models was asked for
    bool model_mute;         // requests are taken and not answered
    world world;
    pons_tools tools;
    pons_value *events; // [{type, seq, …payload}] of every life
    pons_agent_middleware middleware[4];
    size_t n_middleware;
    pons_agent_judge_fn judge;
    void *judge_user;
    const char *pictures_to;                                                      // of the options
    int (*look)(void *user, const char *name, pons_value **ret, pons_error *err); // of the options
    void *look_user;
    char *(*about)(void *user);
    pons_agent *a;
    pons_error err;
} bench;

// yaml: a graph_config.yaml ("" for the defaults); script: YAML replies of pons_llm_script, or
// NULL: b->model is asked.
void bench_open(bench *b, const char *yaml, const char *script);
void bench_close(bench *b);
void bench_agent(bench *b);                 // (re)opens the agent
void bench_kill(bench *b);                  // as a kill -9 would: nothing more reaches the store
void bench_settle(bench *b);                // polls until nothing moves any more
void bench_say(bench *b, const char *text); // and settles
void bench_answer(bench *b, const char *text);
void bench_advance(bench *b, double s); // moves the clock, and settles
pons_agent_state bench_state(bench *b);

pons_value *json(const char *text); // '…' may stand for "…"
// The types of the durable events since the last call but those in `but`, in one line.
const char *bench_types(bench *b, const char *but);
size_t bench_count(const bench *b, const char *type, const char *key, const char *value);
const pons_value *bench_event(const bench *b, const char *type, size_t nth);
const char *bench_last_message(bench *b, const char *role);
size_t bench_starts(const bench *b, const char *tool); // calls of a tool that the world saw
// The conversation is one that a model server takes: every call has one result, right behind it.
void bench_check_messages(bench *b);

#endif
