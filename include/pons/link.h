// link.h - the body link: one JSON object a line, between the brain (or an observer) and the body.
//
// The same messages travel over a Unix-domain socket (body.sock, mode 0600) and through an
// in-process pair with no threads, which is what makes whole-system simulation deterministic.
//
// Messages, brain → body ("type" names each):
//   hello{protocol:1, role:"controller"|"observer", name, pid}
//   goal{goal_id, epoch, expires_ms (CLOCK_BOOTTIME ms), robot_id, skill, args, args_hash, thread,
//        task_id, attempt}
//   cancel{goal_id, epoch}      adopt{goal_id, epoch}      status{goal_id}
//   heartbeat{}                 (controller, ten times a second while its loop comes round)
//   stop{reason}                anyone who may open the socket
//   reset{auto?}                the controller, or who connected as the user that the body runs as;
//                               lifts the latch; auto: only one of the origin "boot"
//   bye{stop_body}              a good end: no hold; stop_body ends the process that a run started
//   world.spawn{id,x,y,sx,sy,remove?}  world.battery{pct}     simulation only
//   set_pose{x, y, yaw}         a person says where the robot is; who may is as of reset
// body → brain:
//   hello{protocol:1, boot_id, robot_id, epoch (0 for an observer), driver, speed, simulated,
//         world{name, bounds, zones[{id,names{lang:[..]},polygon,target{x,y,yaw}}],
//         charger{pose}, objects[]},
//         skills[registry items], limits{…}, pid}
//   accepted{goal_id, state}    rejected{goal_id, code, message}
//   adopted{goal_id, state}
//   status{goal_id, known, state, boot_id, same_boot, started, error_code, error_msg, metrics}
//   feedback{goal_id, skill, robot_ms, distance_remaining_m, …}          ≤ 10 Hz
//   result{goal_id, skill, status:"done"|"failed"|"canceled", error_code, error_msg, metrics{…}}
//         to the controller, and again after adopt when it was missed; a telemetry goes before it
//   telemetry{robot_ms, pose{x,y,yaw}, pose_std_m, localization{state,agreement}, twist{v,w},
//         battery_pct, battery_state (word), docked, distance_remaining_m|null, goal|null {goal_id,skill,state,started_ms,timeout_s},
//         resources{base_busy,…}, stop{latched,reason,origin,unsaved?}, held, nearest_m,
//         zone_of_safety, realtime, scan_age_ms, fifo, boot_id, odometer_m, obstacles[{x,y,r}],
//         collision_risk, latch_durable}      20 Hz
//   stopped{}                   the wheels have zero; then latched{} when that is on the disk, or
//   unsaved{message}            once, when it cannot be written: latched comes when it could
//   speak{text}                 ok{re}                 error{code, message, re?}
// rejected codes: stale_epoch expired latched busy bad_args unknown_skill wrong_robot args_mismatch
// ledger not_controller.
#ifndef PONS_LINK_H
#define PONS_LINK_H

#include "pons/value.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PONS_LINK_PROTOCOL 1
#define PONS_LINK_LINE_MAX (256 * 1024) // bytes with the newline; a longer line is PONS_EPROTOCOL

// One end; one thread at a time. On a socket, send, flush and wants_write may also be called by a
// second thread meanwhile (until close): lines go out whole, in the order of the calls.
typedef struct pons_link pons_link;

// Takes msg. Never blocks: what the socket does not take is buffered (up to 4 MiB, then
// PONS_EBUSY). PONS_ECLOSED when the other end is gone.
int pons_link_send(pons_link *l, pons_value *msg, pons_error *err);
// 1 and a new reference in *ret; 0 when nothing is there; PONS_ECLOSED after the last message of a
// closed peer; PONS_EPROTOCOL for a bad line, with its reason (the line is consumed; the link goes
// on, but for a line that is too long).
int pons_link_recv(pons_link *l, pons_value **ret, pons_error *err);
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

#ifdef __cplusplus
}
#endif

#endif
