// cluster.h - a PostgreSQL for tests, on a Unix socket: the suite's server, in a database of the test's own,
// or a private one.
#ifndef PONS_TEST_CLUSTER_H
#define PONS_TEST_CLUSTER_H

#include "pons/ext/store.h"

#include <stdbool.h>

// Makes and starts a private one; the server dies with this process. False, with a message, when there is no
// server on this machine.
bool cluster_start(void);
// The suite's, which PONS_TEST_POSTGRES names (tests/store/server), with a new database; a private one without it.
// Only for tests that leave the server itself alone: cluster_fail and its like are for private ones.
bool cluster_share(void);
void cluster_stop(void);    // and removes all of it
void cluster_restart(void); // at once, as if the machine had failed
void cluster_fail(void);    // the first half of that
void cluster_again(void);   // the second
// A database without a store in it. The URL is the cluster's own, to the next call.
const char *cluster_empty(const char *suffix);
// The same when a store of this version is there already: its schema stays, its rows go.
const char *cluster_clear(const char *suffix);
void cluster_sql(const char *sql); // as its owner, must go well

int cluster_open(const char *url, pons_store *ret, pons_error *err); // by the module
// One store for many cases: it is opened once and handed out empty, and closing it does nothing until
// cluster_stop closes it.
int cluster_lend(pons_store *ret, pons_error *err);

#endif
