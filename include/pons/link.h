// link.h - the body link: one JSON object a line, between the brain (or an observer) and the body.
//
// The same messages travel over a Unix-domain socket (body.sock, mode 0600) and through an
// in-process pair with no threads, which is what makes whole-system simulation deterministic.
//
// What may be said is in two tables: link_message.h has what is said to the body, link_report.h what
// the body says; docs/reference/link.md shows both, and says who may say what, and when.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

#define PONS_LINK_PROTOCOL 1
#define PONS_LINK_LINE_MAX (256 * 1024) // bytes with the newline; a longer line is PONS_EPROTOCOL

// One end; one thread at a time. On a socket, send, flush and wants_write may also be called by a
// second thread meanwhile (until close): lines go out whole, in the order of the calls.
typedef struct pons_link pons_link;

// Takes msg. Never blocks: what the socket does not take is buffered (up to 4 MiB, of a listener's 512 KiB, then
// PONS_EBUSY). PONS_ECLOSED when the other end is gone.
int pons_link_send(pons_link *l, pons_value *msg, pons_error *err);
// 1 and a new reference in *ret; 0 when nothing is there; PONS_ECLOSED after the last message of a
// closed peer; PONS_EPROTOCOL for a bad line, with its reason (the line is consumed; the link goes
// on, but for a line that is too long); PONS_ENOMEM (that line is lost).
int pons_link_recv(pons_link *l, pons_value **ret, pons_error *err);
// Of the line for which the last recv had an error: as far as can be told, it asks for a stop. It has
// somewhere a "type" that is "stop", whatever else is wrong with it: no JSON, bytes that are no
// UTF-8, U+0000, too deep, cut short, or too long (that error comes when it is too long, and once
// more when the rest of it turns out to ask for one). Who must obey a stop asks after each error.
bool pons_link_asks_stop(const pons_link *l);
int pons_link_flush(pons_link *l, pons_error *err); // pushes buffered bytes without blocking
int pons_link_fd(const pons_link *l);               // to poll for reading; -1 in process
bool pons_link_wants_write(const pons_link *l);
void pons_link_close(pons_link *l); // NULL-safe; destroys this end

// In process: two ends, messages in order, delivered at the next recv.
int pons_link_pair(pons_link **ret_a, pons_link **ret_b, pons_error *err);
// Connects without blocking for long. PONS_ENOTFOUND when there is no socket, PONS_ECLOSED when
// nobody listens there.
int pons_link_connect(const char *path, pons_link **ret, pons_error *err);
pons_link *pons_link_from_fd(int fd); // takes a connected socket; NULL on no memory (fd is closed)
// Peer's pid by SO_PEERCRED; 0 in process.
int64_t pons_link_peer_pid(const pons_link *l);
// User id that the peer had when it connected; one's own in process; -1 when it is not known.
int64_t pons_link_peer_uid(const pons_link *l);

typedef struct pons_listener pons_listener;
// Binds with mode 0600 (the directory's mode is the caller's). A stale socket file, whose owner is
// gone, is replaced; PONS_EBUSY with the owner's pid when somebody listens there.
int pons_listener_open(const char *path, pons_listener **ret, pons_error *err);
int pons_listener_accept(pons_listener *s, pons_link **ret, pons_error *err); // 1, 0, or an error
int pons_listener_fd(const pons_listener *s);
// Does its path still lead to it? Not when the file was removed, or replaced: then nobody comes any more.
bool pons_listener_reachable(const pons_listener *s);
void pons_listener_close(pons_listener *s); // removes the file; NULL-safe

// Datagram sockets at a path, for what must not share a stream: the body's stop socket. Both return
// a close-on-exec descriptor that is the caller's to close, or a negative status. Any length of
// path.
//
// Binds with mode 0600 and does not block; a file that is there is replaced, so the caller must
// know that nobody serves it (the body holds body.sock).
int pons_datagram_bind(const char *path, pons_error *err);
// Connects, with a name of its own to be answered at; blocks. PONS_ENOTFOUND when there is no
// socket, PONS_ECLOSED when nobody reads it.
int pons_datagram_connect(const char *path, pons_error *err);

PONS_C_END
