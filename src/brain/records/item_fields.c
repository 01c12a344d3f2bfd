// item_fields.c - the tables of what the brain keeps as items of the store. Any thread.
#include "brain/records/item_fields.h"

#include "brain/records/record_table.h"

// clang-format off
static const pons__field item_fields[] = {
    {"key",   TEXT, NEVER, offsetof(pons__item, key), .means = "in its namespace"},
    {"value", JSON, NUL,   offsetof(pons__item, value), .means = "the item"},
};
TABLE(item, "a row of the store's items");

static const pons__field scheduled_fields[] = {
    {"id",          TEXT, NEVER, offsetof(pons__scheduled, id), .means = "of the item"},
    {"text",        TEXT, NEVER, offsetof(pons__scheduled, text), .means = "what is to be done, in words"},
    {"schedule",    TEXT, NEVER, offsetof(pons__scheduled, schedule), .means = "when, as pons/schedule.h reads it"},
    {"zone",        TEXT, NEVER, offsetof(pons__scheduled, zone), .means = "of time; empty: this machine's"},
    {"enabled",     BOOL, NEVER, offsetof(pons__scheduled, enabled), .means = "it is looked at"},
    {"made_ms",     INT,  NEVER, offsetof(pons__scheduled, made_ms), .means = "Unix time, as the rest"},
    {"set_ms",      INT,  NEVER, offsetof(pons__scheduled, set_ms), .means = "when `next_ms` was found"},
    {"next_ms",     INT,  NEVER, offsetof(pons__scheduled, next_ms), .means = "when it is due; 0: never again"},
    {"late_ms",     INT,  NEVER, offsetof(pons__scheduled, late_ms), .means = "how much later it is still done; below 0: however late"},
    {"priority",    JSON, KEY,   offsetof(pons__scheduled, priority), .means = "as of said"},
    {"deadline_ms", INT,  KEY,   offsetof(pons__scheduled, deadline_ms), .means = "it is over so long after it was due"},
    {"by",          TEXT, NEVER, offsetof(pons__scheduled, by), .means = "who"},
    {"done",        INT,  NEVER, offsetof(pons__scheduled, done), .means = "how often"},
    {"last_ms",     INT,  KEY,   offsetof(pons__scheduled, last_ms), .means = "the last time"},
    {"missed",      INT,  NEVER, offsetof(pons__scheduled, missed), .means = "how often"},
    {"seen_ms",     INT,  KEY,   offsetof(pons__scheduled, seen_ms), .means = "of a watch: the newest sighting that it knows of"},
    {"again_ms",    INT,  KEY,   offsetof(pons__scheduled, again_ms), .means = "of a watch: so long nothing must be seen before it tells again"},
    {"missed_ms",   INT,  KEY,   offsetof(pons__scheduled, missed_ms), .means = "the last time"},
};
TABLE(scheduled, "a goal of a time, as an item of the store");

static const pons__field named_fields[] = {
    {"name",    TEXT, NEVER, offsetof(pons__named, name), .means = "as a person calls it"},
    {"world",   TEXT, NEVER, offsetof(pons__named, world), .means = "in whose map it is"},
    {"x",       NUM,  NEVER, offsetof(pons__named, x), .means = "[m]"},
    {"y",       NUM,  NEVER, offsetof(pons__named, y), .means = "[m]"},
    {"yaw",     NUM,  NEVER, offsetof(pons__named, yaw), .means = "[rad]"},
    {"made_ms", INT,  NEVER, offsetof(pons__named, made_ms), .means = "Unix time"},
    {"by",      TEXT, NEVER, offsetof(pons__named, by), .means = "who"},
};
TABLE(named, "a place that a person has named, as an item of the store");
// clang-format on
