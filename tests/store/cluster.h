// cluster.h - a private PostgreSQL for tests: Debian's server, in a new directory, on a Unix
// socket.
#ifndef PONS_TEST_CLUSTER_H
#define PONS_TEST_CLUSTER_H

#include "pons/ext/store.h"

#include <stdbool.h>

// Makes and starts one; the server dies with this process. False, with a message, when there is no
// server on this machine.
bool cluster_start(void);
void cluster_stop(void);    // and removes all of it
void cluster_restart(void); // at once, as if the machine had failed
void cluster_fail(void);    // the first half of that
void cluster_again(void);   // the second
// A database without a store in it. The URL is the cluster's own, to the next call.
const char *cluster_empty(const char *suffix);
void cluster_sql(const char *sql); // as its owner, must go well

int cluster_open(const char *url, pons_store *ret, pons_error *err); // by the module

#endif
