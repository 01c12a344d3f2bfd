// stop_socket.h - the stop socket, as the safety thread uses it.
#pragma once

#include "body/safety/gate.h"

#include <sys/socket.h>
#include <sys/un.h>

#define PONS__STOPS_MAX 32
typedef struct pons__stop_senders { // who are owed a `latched`
    struct pons__stop_sender {
        struct sockaddr_un to;
        socklen_t len; // 0: a free place
        int64_t ns;    // what `stopped` said
        uint64_t gen;  // that must be on the disk
        bool reported; // that it is not
    } all[PONS__STOPS_MAX];
} pons__stop_senders;
// Before the safety thread runs: a stop of a copy of the gate. It writes zero to the driver, and the pages of a stop's
// code are in memory for the first one.
void pons__stop_rehearse(const pons__gate *g);
// Serves what waits: latches, then answers "stopped NS". True when a stop came.
bool pons__stop_serve(int fd, pons__gate *g, pons__stop_senders *who);
// Answers "latched NS" to whom it is true for by now, and once "unsaved NS WHY" to the others.
void pons__stop_answer(int fd, const pons__gate *g, pons__stop_senders *who);
