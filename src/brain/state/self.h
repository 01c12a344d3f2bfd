// self.h - the brain: what its one loop thread owns.
//
// State that must survive lives in the two namespaces' channels and in the effect ledger; what is in
// this struct can be thrown away at any instruction.
#pragma once

#include "brain/records/kernel_fields.h"
#include "brain/records/robot_fields.h"
#include "brain/retention/retention.h"
#include "brain/state/kernel_rules.h"
#include "brain/state/link_state.h"
#include "brain/state/queries.h"
#include "brain/state/schema_check.h"
#include "pons/critic.h"

#define PONS_NS_KERNEL "kernel"
#define PONS_NS_REACT  "react"

struct pons_brain {
    pons_brain_options opts;
    pons__rules_kernel rules;
    pons_value *config;
    pons_thread *thread;
    pons_graph *kernel, *react;
    pons_run *kernel_run, *react_run; // NULL between runs
    pons__port port;
    pons__heart heart;
    pons__doors doors;
    pons__keep keep;
    pons_critic *critic;    // of the hello in critic_of; NULL: not made yet, or critic_fault
    pons_value *critic_of;  // the hello that it was made from
    char critic_fault[256]; // why there is none

    pons_value *robot, *world;  // K2's and K3's newest, as the channels have them
    pons__robot *seen;          // the same robot as a struct; NULL: nothing was told yet
    pons__world *around;        // the same world; NULL: nothing was told yet
    pons__tasks *tasks;         // the kernel's channel after its last tick, never NULL
    const pons_value *tasks_of; // what it was read from, or written as
    pons__hci *hci;             // the kernel's channel, never NULL once the store was read
    const pons_value *hci_of;   // what it was read from, or written as
    pons__react *inner;         // the inner loop's channel, when somebody looked last
    const pons_value *inner_of; // what it was read from
    pons_value *rested; // {channel: value} of the inner loop between two runs; NULL: not looked at
    pons_value *unreachable; // zone: why the last way there was none; what ended well is not in it
    pons_value
        *known_objects;       // the map's and the memory's, as seen_objects.c has put them together
    int64_t known_objects_ms; // when, host
    int64_t searched_ms;      // when the memory was asked for what is searched, host
    bool kernel_unfinished;   // a tick was cut short by a crash: it is resumed, not begun anew
    char confirm_id[64];      // the await of a forked effect that a person was asked about
    char approval_id[64];     // of the question that the inner loop waits with; empty: none
    int64_t next_tick_ns;
    bool tick_now;             // an event asks for a tick before its time
    int64_t collision_seen_ns; // host; 0: never
    const pons_run *human_of;  // the inner loop's run that was searched for an open question last
    bool human_open;           // and there was one
    bool wake;
    int64_t stop_sent_ms;  // host; 0: the stop that was said is still to be sent
    int64_t reset_sent_ms; // the same of a reset
    struct {               // how fast a person wants it, on its way to the body (speed_request.c)
        int64_t since_ms;  // host; 0: this wish was not looked at yet
        int64_t sent_ms;   // host; 0: it is still to be sent
        int64_t sent;      // the percent that waits for its answer; 0: none
        int64_t taken;     // the percent that the body took after its newest telemetry; 0: none
        enum { PONS__TEMPO_OPEN, PONS__TEMPO_TAKEN, PONS__TEMPO_REFUSED } answer;
        char why[160]; // of a refusal
    } speed_request;
    bool received; // a tick has taken what was said while nobody was here

    long prompt_tokens;  // of the newest request, as estimated
    double prompt_ratio; // what a server counts for each token that is estimated
    uint64_t llm_call;   // the newest call's number
    char llm_await[64];  // whom it answers; empty: none
    char llm_task[64];   // whom it is about
    int64_t llm_tokens;  // it has said so far, as estimated
    pons_run *llm_run;
    bool asks_pictures;    // the kernel is to ask whether pictures may go
    pons_value *llm_waits; // for its picture: what is to be asked then; NULL: nothing

    pons_tools knowledge;    // ops NULL: not opened yet
    uint64_t knowledge_call; // the newest
    char knowledge_await[64];
    pons_run *knowledge_run;

    int64_t schedules_ns; // host: when goals of a time are looked at next

    bool step_granted;       // options.step: the superstep at hand may run
    int64_t people_since_ns; // host: a stop or a pause holds all up since then; 0: none does

    pons_brain_outcome outcome;
    bool done_emitted;
    int away_tries; // to take the thread again, since the store is away (thread is NULL then)
};

// What time it is. pons_cx_wall_ms is when a node began, and one that waits (for a skill, a model, a person) began long
// before what it tells of.
static inline int64_t pons__wall_ms(const pons_brain *b)
{
    return pons_wall_ms(&b->opts.clock);
}

// The inner loop's state as it is in the run; NULL: there is none. Borrowed until the next look.
const pons__react *pons__inner_of(pons_brain *b);

// A channel of the inner loop: of its run, or as its last run has left it; NULL: there is none. Borrowed until the
// next look.
const pons_value *pons__inner_channel(pons_brain *b, const char *name);
