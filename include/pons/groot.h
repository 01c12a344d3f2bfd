// groot.h - Groot2's live protocol: a monitor looks at a tree that works.
//
// Groot2 asks by ZeroMQ and is answered on the same socket; each message has two parts at most, a
// header of fixed size and a body. A pons_groot is what answers: it knows the definition, is told every
// change of a node's state, and makes a reply of a request, without sockets, threads or the time of the
// day but what its clock says. The module "groot-zmq" has the sockets (pons_groot_socket_ops).
//
//     pons_groot_create(bt, &(pons_groot_options){.clock = clock, .hooks = true}, &g, &err);
//     ... on_change of the tree: pons_groot_change(g, change);
//     ... a request came: pons_groot_answer(g, parts, n, &reply); send it; pons_groot_reply_fini(&reply);
//
// Nodes are numbered as the protocol has it: by 16 bits, 1 is the root (node 0 of pons_bt). All calls
// are of one thread.
#pragma once

#include "pons/bt.h"
#include "pons/buf.h"
#include "pons/linkage.h"

PONS_C_BEGIN

typedef struct pons_groot pons_groot;

typedef struct pons_groot_options {
    pons_clock clock; // required
    // Whether a monitor may set breakpoints and replace results. Where a robot drives: no, a breakpoint
    // would hold its tree in the midst of a tick.
    bool hooks;
} pons_groot_options;

// PONS_EINVAL: more than 65,535 nodes, which the protocol can't number. Keeps bt.
int pons_groot_create(pons_bt *bt, const pons_groot_options *o, pons_groot **ret, pons_error *err);
void pons_groot_destroy(pons_groot *g); // NULL-safe
// Whose blackboards are told; NULL: nobody's. Borrowed until another one is named.
void pons_groot_show(pons_groot *g, const pons_bt_tree *tree);
void pons_groot_change(pons_groot *g, uint32_t node, pons_bt_status from, pons_bt_status to);

typedef struct pons_groot_part { // of a message; borrowed
    const void *data;
    size_t len; // [bytes]
} pons_groot_part;

typedef struct pons_groot_reply {
    pons_buf head, body; // body: only when has_body
    bool has_body;
    pons_value *packed; // the body is this as MessagePack; else NULL
} pons_groot_reply;

// The reply to a request of n parts: also to one that makes no sense. PONS_ENOMEM: none. The caller
// finishes *ret in both cases.
int pons_groot_answer(pons_groot *g, const pons_groot_part *parts, size_t n, pons_groot_reply *ret);
void pons_groot_reply_fini(pons_groot_reply *r);

// ---- hooks --------------------------------------------------------------------------------------
// For pons_bt_tree_options.hook: what to do at a node, before its tick or after it.

enum { PONS_GROOT_HOLD = -1 }; // a breakpoint nobody has unlocked: answer requests and ask again

// Whether there is an enabled hook.
bool pons_groot_hooked(const pons_groot *g, uint32_t node, bool after);
// The status that the monitor wants, PONS_BT_READY for none, or PONS_GROOT_HOLD. One that is for once
// is gone with its answer.
int pons_groot_hook(pons_groot *g, uint32_t node, bool after);
// The message for the publishing socket that a breakpoint is reached: two parts.
int pons_groot_reached(uint32_t node, pons_groot_reply *ret);
// No request has come for 5 s: breakpoints are off until the next one, so that a monitor that went
// away holds nothing. Call it now and then.
void pons_groot_beat(pons_groot *g);

// ---- sockets ------------------------------------------------------------------------------------
// The module "groot-zmq": a REP socket at tcp://ADDRESS:PORT and a PUB socket at PORT + 1.

typedef struct pons_groot_socket pons_groot_socket;
typedef struct pons_groot_socket_ops {
    // address: "127.0.0.1". *port: 0 takes two that are free, and is then the first of them. PONS_EENV: one is
    // taken, or it is no address of this machine.
    int (*open)(const char *address, uint16_t *port, pons_groot_socket **ret, pons_error *err);
    void (*close)(pons_groot_socket *s);
    // Waits timeout_ms at most and answers what came. 1: something came, 0: nothing, or an error.
    int (*serve)(pons_groot_socket *s, int timeout_ms, pons_groot *g, pons_error *err);
    int (*publish)(pons_groot_socket *s, const pons_groot_reply *message, pons_error *err);
} pons_groot_socket_ops;

PONS_C_END
