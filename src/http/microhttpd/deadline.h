// deadline.h - until when a connection must have done what it is about to do.
#ifndef PONS_HTTP_MICROHTTPD_DEADLINE_H
#define PONS_HTTP_MICROHTTPD_DEADLINE_H

#include "http/microhttpd/server.h"

// MHD's callback at a connection's beginning and end.
void pons__connection_notify(void *server, struct MHD_Connection *connection, void **context,
                             enum MHD_ConnectionNotificationCode what);
// From now on; 0: for as long as it takes. c may be NULL.
void pons__connection_within(pons__server *sv, pons__connection *c, int64_t ms);
// Thread: breaks connections that are late, a look every quarter of a second.
void *pons__janitor(void *server);

#endif
