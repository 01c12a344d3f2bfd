// folder_watch.h - which files of a folder have changed, and are quiet.
#pragma once

#include "pons/workspace.h"

typedef struct pons__ws_watch pons__ws_watch;

int pons__ws_watch_open(const char *dir, pons__ws_watch **ret, pons_error *err);
void pons__ws_watch_close(pons__ws_watch *w); // NULL-safe
int pons__ws_watch_fd(const pons__ws_watch *w);
// What pons itself has put in place is no edit.
struct stat;
void pons__ws_watch_wrote(pons__ws_watch *w, pons_ws_file file, const struct stat *is);
// It could not be looked at, and is due again.
void pons__ws_watch_again(pons__ws_watch *w, pons_ws_file file, int64_t now_ms);
// Which are due to be looked at, and which of those were moved into place, whole; strangers (conflict copies of a program that syncs) are told once
// each. Returns in how many ms it wants to be called again.
int pons__ws_watch_poll(pons__ws_watch *w, int64_t now_ms, bool due[PONS_WS_FILES],
                        bool whole[PONS_WS_FILES], void (*stranger)(void *user, const char *name),
                        void *user);
