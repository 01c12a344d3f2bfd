// unix_socket.h - addresses and binding of Unix sockets (unix_socket.c).
#pragma once

#include "pons/link.h"

#include <sys/socket.h>
#include <sys/un.h>

// The address of a Unix socket at any path. A path that does not fit into sun_path (108 bytes) is
// reached through its directory's descriptor, /proc/self/fd/N/name, so *ret_dir must stay open
// until bind or connect has returned; it is -1 when none was needed. PONS_ENOTFOUND when the
// directory is not there, PONS_EINVAL when even the name is too long.
typedef struct pons__unix_address {
    struct sockaddr_un sa;
    socklen_t len;
    int dir; // descriptor to close, or -1
} pons__unix_address;
int pons__unix_address_init(pons__unix_address *a, const char *path, pons_error *err);
void pons__unix_address_fini(pons__unix_address *a);

// A bound, non-blocking, close-on-exec socket whose file has mode 0600 from its first instant.
// Returns the descriptor, or a negative status; PONS_EEXIST when the file is there already.
int pons__unix_bind(const char *path, int socket_type, pons_error *err);

// A link that came to a listener: one of many, each of whom may take little memory. NULL as pons_link_from_fd.
pons_link *pons__link_served(int fd);
