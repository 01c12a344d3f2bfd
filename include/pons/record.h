// record.h - a robot as topics with schemas: what a recording has, and what Foxglove is shown.
//
//     body's reports --+                          +-- a file, by a thread of its own (recorder)
//     events, maps ----+--> topics --> JSON ------+
//     pictures --------+   (schemas that Foxglove has)
//
// docs/reference/recording.md has the table of topics.
#pragma once

#include "pons/clock.h"
#include "pons/ext/topics.h"
#include "pons/link.h"
#include "pons/linkage.h"
#include "pons/mcap.h"

PONS_C_BEGIN

// ---- topics -------------------------------------------------------------------------------------

// Gets a message of a topic: JSON, borrowed for the call. schema: of pons_record_schema.
typedef void (*pons_record_put)(void *user, const char *topic, const char *schema,
                                const pons_value *message);

// What a report of the body is: itself, on /body/TYPE, and what can be drawn of it. wall_ns: when it
// was heard, since 1970.
void pons_record_report(const pons_value *report, int64_t wall_ns, pons_record_put put, void *user);
// An event of a thread (graph.h has its members): on /events, and a stored one on /log for people.
typedef struct pons_record_event {
    const char *thread, *ns, *type;
    int64_t seq, ts_ms;
    const pons_value *payload;
} pons_record_event;
void pons_record_event_tell(const pons_record_event *e, pons_record_put put, void *user);
// A world of pons_world_load: its walls as a grid on /map.
void pons_record_world(const pons_value *world, int64_t wall_ns, pons_record_put put, void *user);
// A JPEG, on /camera/NAME.
void pons_record_picture(const char *name, const void *jpeg, size_t n, int64_t wall_ns,
                         pons_record_put put, void *user);
// A line for people on /log; level: 2 information, 3 warning.
void pons_record_line(const char *text, int level, int64_t wall_ns, pons_record_put put,
                      void *user);
// The JSON Schema that goes by a name (malloc); NULL: there is none, or no memory.
char *pons_record_schema(const char *name);

// ---- a file -------------------------------------------------------------------------------------

typedef struct pons_recorder pons_recorder;

typedef struct pons_recorder_options {
    const char *path;
    pons_clock clock;
    // Writes happen at once, in the caller's thread: for simulations. Else a thread does them.
    bool at_once;
    // Something went wrong, once each: a line for people. The recorder's thread; may be NULL.
    void (*tell)(void *user, const char *line);
    void *user;
    size_t queue_max; // messages that may wait; more are dropped and counted. 0: 4096
    // Other software's topics come too: what is drawn of pons's own has other names, /pons/scan, so that theirs keep
    // those that they have.
    bool apart;
} pons_recorder_options;

typedef struct pons_recorder_about {
    uint64_t received, dropped; // what was told, and what of it found no room
    uint64_t messages, bytes;   // of the file: of what is told several topics may have one each
    bool ended;                 // the disk is full: nothing is written any more
} pons_recorder_about;

// Makes the file: PONS_EEXIST, PONS_EIO as pons_mcap_create.
int pons_recorder_open(const pons_recorder_options *o, pons_recorder **ret, pons_error *err);
// Each takes references or copies and never blocks but for a short lock; any thread. wall_ns 0: now.
void pons_recorder_report(pons_recorder *r, const pons_value *report, int64_t wall_ns);
void pons_recorder_event(pons_recorder *r, const pons_record_event *e);
void pons_recorder_world(pons_recorder *r, const pons_value *world, int64_t wall_ns);
void pons_recorder_picture(pons_recorder *r, const char *name, const void *jpeg, size_t n);
// From now on as with `apart`.
void pons_recorder_apart(pons_recorder *r);
// A topic of other software (ext/topics.h), copied: its number, or PONS_EINVAL: there are too many. What has a name
// of ours with other messages is called /ros2/NAME. Then messages of it, as they are on the wire.
int pons_recorder_topic(pons_recorder *r, const pons_topic *t);
void pons_recorder_raw(pons_recorder *r, int number, const void *data, size_t n);
int64_t pons_recorder_now_ns(const pons_recorder *r); // since 1970
pons_recorder_about pons_recorder_look(pons_recorder *r);
// Writes what waits, and the file's end. NULL-safe. ret may be NULL.
int pons_recorder_close(pons_recorder *r, pons_recorder_about *ret, pons_error *err);

PONS_C_END
