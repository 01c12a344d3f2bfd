// certificate.h - a certificate of one's own.
#pragma once

#include "pons/ext/http_server.h"

// As pons_http_server_ops.certificate.
int pons__server_certificate(const char *const *names, size_t n, char **cert, char **key,
                             char ret_fingerprint[PONS_HTTP_FINGERPRINT], pons_error *err);
