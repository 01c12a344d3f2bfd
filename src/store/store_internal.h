// store_internal.h - what the stores of this folder share: checks of what a caller passes, time and
// the holder's name.
#ifndef PONS_STORE_INTERNAL_H
#define PONS_STORE_INTERNAL_H

#include "pons/ext/store.h"

#define PONS__HOST_MAX 64 // pons_lease.host

// PONS_EINVAL, with the reason, for a name that is NULL, empty (threads only) or too long.
int pons__store_check_thread(const char *thread, pons_error *err);
int pons__store_check_ns(const char *ns, pons_error *err);
// The rows of a commit: terminated ids, names present, sane counts.
int pons__store_check_commit(const pons_commit *c, pons_error *err);

int64_t pons__store_wall_ms(void);
void pons__store_host(char ret[PONS__HOST_MAX]);

// "PONS_ESTALE": the lease is not, or no longer, the one that may write.
int pons__store_stale(pons_error *err, const char *thread, uint64_t have, uint64_t now);
// "PONS_EBUSY": somebody holds the thread. pid 0: not known.
int pons__store_held(pons_error *err, const char *thread, int64_t pid, const char *host);

#endif
