// ext/policy_server.h - the contract of a protocol that servers of policies (VLA models) speak: what the robot sees goes out,
// a chunk of actions comes back.
//
// `pons watchdog policy` uses one, in a process of its own for each session that asks a policy:
//
//     open --> ask, ask, … --> close
//
// `policy_client` of SKILLS.md maps the server's keys and units to the robot's. The process applies that; a protocol only
// speaks. A protocol that needs a library is a module `policy-NAME.so`
// (pons/module.h).
//
// Threads: all members are called by one thread, one call at a time. They may block and do I/O: who waits for the answer
// ends the process when it is late.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"
#include "pons/value.h"

#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_POLICY_SERVER_ABI 1u

enum {
    PONS_POLICY_INPUTS_MAX = 32,
    PONS_POLICY_ROWS_MAX = 256,
    PONS_POLICY_WIDTH_MAX = 32,
    PONS_POLICY_ANSWER_MAX =
        4 * 1024 * 1024 // bytes; a longer one is refused before memory is taken for it
};

typedef enum pons_policy_input_kind {
    PONS_POLICY_TEXT,
    PONS_POLICY_NUMBERS,
    PONS_POLICY_PICTURE // RGB of 8 bits, rows from the top: (height, width, 3)
} pons_policy_input_kind;

typedef struct pons_policy_input { // valid during the call
    const char *key;               // the server's name for it
    pons_policy_input_kind kind;
    const char *text;      // TEXT
    const double *numbers; // NUMBERS (n)
    size_t n;
    const uint8_t *rgb; // PICTURE
    int width, height;
} pons_policy_input;

typedef struct pons_policy_rows { // actions, in their order, all of one width
    size_t n, width;
    double *at; // (n × width), row by row; the receiver's (free()); may hold what is not finite
} pons_policy_rows;

typedef struct pons_policy_server_ops {
    uint32_t abi; // PONS_POLICY_SERVER_ABI
    // client: policy_client of the skill, valid during the call. Connects when it likes, at the latest in ask.
    // PONS_EINVAL: a value in it, named; PONS_EENV: a program or a library is missing here; PONS_EIO as ask.
    int (*open)(const pons_value *client, void **ret_self, pons_error *err);
    // PONS_EIO: the server does not answer, or no more; PONS_EREFUSED: it says that it could not, and why;
    // PONS_EPROTOCOL: what it says is no answer. After any of them the process closes it, and opens
    // another: for the next question, or for the same one, after PONS_EIO of one that has answered before.
    int (*ask)(void *self, const pons_policy_input *inputs, size_t n, pons_policy_rows *ret,
               pons_error *err);
    void (*close)(void *self); // NULL-safe
} pons_policy_server_ops;

PONS_C_END
