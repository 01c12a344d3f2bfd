// machine.h - state machines as constant tables that the code enforces.
//
// A machine is drawn once, as a table of names and of where each state may go; every change of
// state goes through pons_machine_move, so a transition that is not in the drawing can't happen.
//
//     enum { IDLE, SENT, DONE };
//     static const pons_machine goal = {
//         .name = "goal", .n = 3,
//         .states = (const char *const[]){"idle", "sent", "done"},
//         .may = (const uint64_t[]){
//             [IDLE] = PONS_TO(SENT),
//             [SENT] = PONS_TO(DONE) | PONS_TO(IDLE),
//             [DONE] = 0, // final
//         }};
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_MACHINE_STATES_MAX 64
#define PONS_TO(state)          (UINT64_C(1) << (state))

typedef struct pons_machine { // constant; any thread
    const char *name;
    int n;                     // states, 0 … n-1, ≤ PONS_MACHINE_STATES_MAX
    const char *const *states; // (n) names
    const uint64_t *may;       // (n) bit t of may[f]: f may become t
} pons_machine;

// Whether `from` may become `to`; false for numbers that name no state.
bool pons_machine_may(const pons_machine *m, int from, int to);

// Changes *state to `to`, or leaves it and fails with PONS_EPROTOCOL, naming both states:
// "goal: done may not become sent". Staying (to == *state) is a transition like any other.
int pons_machine_move(const pons_machine *m, int *state, int to, pons_error *err);

// The name of a state, "?" for a number that names none.
const char *pons_machine_state(const pons_machine *m, int state);

// Whether no transition leaves the state.
bool pons_machine_final(const pons_machine *m, int state);

PONS_C_END
