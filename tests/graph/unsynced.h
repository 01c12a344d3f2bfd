// unsynced.h - for tests that cut no power: what they write is not synced to the disk, which takes most of the
// time of a test that makes hundreds of stores.
#ifndef TESTS_GRAPH_UNSYNCED_H
#define TESTS_GRAPH_UNSYNCED_H

void unsynced(void); // from here on, in this process and its children by fork

#endif
