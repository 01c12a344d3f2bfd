// connection_timeouts.h - until when a connection must have done what it is about to do.
#pragma once

#include "http/microhttpd/server.h"

// MHD's callback at a connection's beginning and end.
void pons__connection_notify(void *server, struct MHD_Connection *connection, void **context,
                             enum MHD_ConnectionNotificationCode what);
// It has made a step, and has so long for the next one; 0: as long as that takes. c may be NULL.
void pons__connection_within(pons__server *sv, pons__connection *c, int64_t ms);
// Whether this is MHD's thread.
bool pons__connection_thread(const pons__server *sv);
// Says these bytes and ends it. Under the server's lock.
void pons__connection_break(pons__server *sv, pons__connection *c, const char *text, size_t n);
// Before MHD stops: until it has noticed every connection that was broken off, a second at most. MHD 0.9.75 falls over
// a request that it refuses while it is being stopped.
void pons__connections_settle(pons__server *sv);
// Thread: breaks connections that are late, a look every quarter of a second.
void *pons__janitor(void *server);
