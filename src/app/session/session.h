// session.h - a brain at work in this process, and what goes along with it.
#ifndef PONS_APP_SESSION_H
#define PONS_APP_SESSION_H

#include "app/workspace/context.h"

// What goes along with a session: told when its store is open, of each event, and before it closes.
typedef struct app_session_guest {
    int (*open)(void *user, pons_store store, pons_error *err);
    void (*brain)(void *user, pons_brain *brain); // borrowed until close; just before open; or NULL
    void (*event)(void *user, const pons_event *ev);
    void (*close)(void *user);                      // also after an open that failed
    void (*commit)(void *user, int rc, int64_t ns); // of each commit, on any thread; or NULL
    void *user;
    bool quiet;  // the guest shows what happens; the session shows nothing
    bool traces; // the guest has spans made of what it is told (pons/traces.h)
    // The prompt is the guest's, with this name before it, and what is typed goes there; NULL: none of
    // its own.
    const char *prompt;
    void (*said)(void *user, const char *line);
    // With said: a line was a stop, and is the robot's; latched: that is on the disk.
    void (*stopped)(void *user, bool latched);
    // A descriptor that is looked at too, and what is done when it can be read; NULL: none.
    int (*fd)(void *user);
    void (*work)(void *user);
    bool (*over)(void *user); // whether the session is to end; or NULL
} app_session_guest;

// ---- recording.c: what the robot of this workspace does, into a new MCAP file.
#define APP_RECORD_EVERY_S 2.0
typedef struct app_recording app_recording;
typedef struct app_recording_options {
    const char *path;
    const char *cameras; // "front,rear"; NULL: no pictures
    double every_s;      // between two rounds of pictures; 0: as usual
    bool ros2;           // ROS 2's topics too; those of a robot of --driver ros2 are in any case
    bool apart;          // ROS 2's topics will be there: ours have other names from the first
} app_recording_options;
int app_recording_open(const app_context *c, const app_recording_options *o, app_recording **ret,
                       pons_error *err);
void app_recording_event(app_recording *r, const pons_event *ev);
// Says on stderr what is in it, where there is an err. NULL-safe.
int app_recording_close(app_recording *r, pons_error *err);
// Whether it has ended by itself: the disk is full.
bool app_recording_ended(app_recording *r);

#endif
