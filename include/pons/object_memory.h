// object_memory.h - what a robot has seen: things with a label, a place, a time, and a belief that fades.
//
//   detections of one picture --put--> memory (one writer a workspace) --save--> items "NAMESPACE"/"obj-N"
//                                                       anybody, any process <--find-- the same items
//
// A detection is what a detector has found in one picture, placed in the map. It belongs to the object that it fits
// (same label, same identity where both have one, within the 99 % gate of both covariances, or nearer than `merge_m`);
// else it is a candidate, which is known after its second sighting. What should have been seen (in the view, in reach,
// the line of sight free) and was not loses belief by the detector's miss rate. An object of little belief is gone: it
// keeps its id and its last place, and when a thing of its label (or identity) turns up elsewhere, it has moved there.
// Belief falls by half in the half-life of the label.
//
// What is kept, as an item (pons/items.h) whose key is the object's id, "obj-N":
//
//   {label, names: [words of both languages], identity?, position: [x, y, z], cov: [xx, xy, yy, zz], sd_m, zone?,
//    first_ms, last_ms, looked_ms, seen, missed, belief, half_life_s, state: "known" | "gone", detector, picture?,
//    zones: {id: how often it was found there}, sightings: [newest first, 8 at most:
//    {at_ms, position, sd_m, score, detector, picture?}]}
//
// Positions are in the map [m], times wall clock [ms since 1970]. belief is that of looked_ms, the last time that its
// place was looked at; last_ms is when it was seen there. Candidates are not kept. The key "taken" is the writer's own:
// {sources: {source: stamp_ns}, next}.
#pragma once

#include "pons/clock.h"
#include "pons/items.h"
#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

enum {
    PONS_OBJECT_TEXT = 64,         // bytes of a label, an identity, a zone's id: with the zero
    PONS_OBJECT_SIGHTINGS = 8,     // that an object keeps
    PONS_OBJECT_DETECTIONS = 256,  // of one picture; more is refused
    PONS_OBJECTS_MAX = 20000,      // known and gone; beyond, what has least belief is dropped
    PONS_OBJECT_CANDIDATES = 1000, // the oldest go first
};

typedef struct pons_detection {
    const char *label;    // 1 … 63 bytes of UTF-8: "cup"
    const char *identity; // which one of its kind: "tag36h11:7"; NULL or "": not known
    double score;         // 0 … 1
    double position[3];   // in the map [m]
    // xx, xy, yy, zz [m²] in the map, of the placing alone: the robot's pose is the view's.
    double cov[4];
} pons_detection;

// One picture, or one answer of a detector that needs none.
typedef struct pons_object_view {
    const char *detector; // its name in config/sight.yaml, 1 … 63 bytes
    // Whose stamps rise: detector, camera and the body's boot id, 1 … 191 bytes. With stamp_ns it is the batch's id:
    // a batch that is no newer than the last one of its source was taken already.
    const char *source;
    int64_t stamp_ns;              // of the picture, by the source's clock
    int64_t at_ms;                 // of the picture, wall clock
    const char *picture;           // hash of the stored picture; NULL: none
    double eye[3];                 // in the map [m]: where the camera was
    double yaw;                    // in the map [rad]: where it looked
    double fov_rad;                // horizontal, 0 … 2π
    double near_m, far_m;          // within which it sees things of this kind
    double pose_sd_m, pose_sd_rad; // of the robot at the stamp: 1 sigma
    double miss; // 0 … 1: how often the detector does not report what is in view
    // Whether nothing that is known hides `to` from `from`, points in the map [m]. NULL: it is not known, and nothing
    // counts as missed. Called on the thread of put.
    bool (*clear)(void *user, const double from[3], const double to[3]);
    void *user;
} pons_object_view;

typedef struct pons_object_seen { // what put made of a batch
    bool again;                   // it was taken before: nothing has changed
    size_t merged;                // detections that belong to objects that were there
    size_t candidates;            // new ones
    size_t known;                 // candidates that are known now
    size_t moved;                 // objects that are elsewhere now
    size_t missed;                // objects that should have been seen
    size_t gone;                  // of these: are gone now
    size_t refused;               // detections that are none
    char why[128]; // of the first that was refused: "detection 3: position is not finite"
} pons_object_seen;

typedef struct pons_object_memory_options {
    pons_items items; // outlives the memory; its clock dates what is written
    const char *ns;   // namespace of the items
    // As of config/sight.yaml: {half_life_s: {default, LABEL…}, merge_m: {default, LABEL…}, known_after, sure_score,
    // forget_s, write_s, synonyms: [[word…]…]}; NULL, and what is absent: defaults (docs/reference/config.md).
    const pons_value *config;
    // The world's zones [{id, polygon: [[x, y]…]}] and objects [{id, class, names: {zh, en}}], as a hello has them; NULL: none.
    const pons_value *zones, *objects;
} pons_object_memory_options;

typedef struct pons_object_memory pons_object_memory; // one thread, one writer of a namespace

// Reads what is kept. An item that is no object of this form is left alone. PONS_EINVAL: the configuration; errors of
// the store. *ret is the caller's.
int pons_object_memory_open(const pons_object_memory_options *options, pons_object_memory **ret,
                            pons_error *err);
void pons_object_memory_close(pons_object_memory *m); // NULL-safe; writes nothing
// Takes the detections of one view (n may be 0: nothing was found). Changes the memory alone: never blocks. PONS_EINVAL:
// the view is none (a number that is not finite, a name that is missing), or has more than PONS_OBJECT_DETECTIONS; nothing has
// changed. A detection that is none (NaN, score outside 0 … 1, no label, behind the eye or out of its reach by more than
// its own uncertainty allows) is refused and counted, the others are taken. PONS_ENOMEM: as before the call.
int pons_object_memory_put(pons_object_memory *m, const pons_object_view *view,
                           const pons_detection *detections, size_t n, pons_object_seen *ret,
                           pons_error *err);
// Writes what has changed, with the sources' stamps, as one commit: at once when an object is new, has moved or is gone;
// when it was only seen again, after `write_s`; `all`: in any case. May block. On failure nothing is lost: the next
// save writes it. A process that dies has forgotten what was put since the last save, and may put it again; and its candidates.
int pons_object_memory_save(pons_object_memory *m, bool all, pons_error *err);
// How many there are.
size_t pons_object_memory_count(const pons_object_memory *m, bool gone_too);

// ---- questions: any thread, any process ---------------------------------------------------------

typedef struct pons_object_query {
    const char *
        what; // words in either language: a label, a name, a synonym, an identity, an id; NULL or "": anything
    const char *zone;  // only what is there; NULL or "": anywhere
    int64_t since_ms;  // only what was seen since then, wall clock; 0: ever
    double min_belief; // only what is believed so much now; 0: all, what is gone too
    size_t limit;      // 0: 20
} pons_object_query;

// *ret, the caller's: a list, best first (how well the words fit, then belief, then newest), of objects as they are kept,
// with id, belief as it is now, age_s since it was seen, and known: whether it is thought to be there still (state
// "known" and belief ≥ 0.5). The 1,000 items that have most of the words,
// and were written last, are looked at. Where items has an embedding function and no words fit, what is nearest by meaning.
int pons_objects_find(const pons_items *items, const char *ns, const pons_object_query *query,
                      pons_value **ret, pons_error *err);
// "cup in kitchen, seen 40 min ago, 82 %", of an object that pons_objects_find gave; into buf, always terminated.
char *pons_object_line(const pons_value *object, char *buf, size_t cap);

PONS_C_END
