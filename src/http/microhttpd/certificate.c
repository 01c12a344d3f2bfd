// certificate.c - a certificate of one's own: made by GnuTLS, which libmicrohttpd's TLS stands on.
//
// For a server that others reach and that nobody has given a certificate. Nobody vouches for it, so
// whoever comes first compares its fingerprint with what the terminal said, and keeps it. An elliptic
// key (P-256), for the server's names and addresses, DAYS long.
#include "http/microhttpd/certificate.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAYS   825
#define DAY_S  (24 * 3600)
#define DIGEST 32

static int fault(int rc, pons_error *err)
{
    return pons_error_set(err, rc == GNUTLS_E_MEMORY_ERROR ? PONS_ENOMEM : PONS_EENV, "http",
                          "no certificate can be made: %s", gnutls_strerror(rc));
}

static int name_it(gnutls_x509_crt_t crt, const char *name)
{
    unsigned char address[16];
    const int n = inet_pton(AF_INET, name, address) == 1    ? 4
                  : inet_pton(AF_INET6, name, address) == 1 ? 16
                                                            : 0;
    return n ? gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, address, (unsigned)n,
                                                    GNUTLS_FSAN_APPEND)
             : gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name,
                                                    (unsigned)strlen(name), GNUTLS_FSAN_APPEND);
}

static int fill(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const char *const *names,
                size_t n)
{
    static const char common[] = "pons";
    unsigned char serial[16];
    const time_t now = time(NULL);
    int rc = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40); // positive, and not short
    rc = rc < 0 ? rc : gnutls_x509_crt_set_version(crt, 3);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_serial(crt, serial, sizeof serial);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_activation_time(crt, now - DAY_S); // clocks differ
    rc = rc < 0 ? rc : gnutls_x509_crt_set_expiration_time(crt, now + (time_t)DAYS * DAY_S);
    rc = rc < 0 ? rc
                : gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, common,
                                                sizeof common - 1);
    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = name_it(crt, names[i]);
    }
    rc = rc < 0 ? rc : gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_key(crt, key);
    return rc < 0 ? rc : gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
}

static char *text_of(gnutls_datum_t *pem)
{
    char *text = strndup((const char *)pem->data, pem->size);
    gnutls_free(pem->data);
    return text;
}

static int make(gnutls_x509_crt_t crt, const char *const *names, size_t n, char **cert, char **key)
{
    gnutls_x509_privkey_t k = NULL;
    gnutls_datum_t cert_pem = {NULL, 0}, key_pem = {NULL, 0};
    int rc = gnutls_x509_privkey_init(&k);
    if (rc < 0) {
        return rc;
    }
    rc = gnutls_x509_privkey_generate(k, GNUTLS_PK_ECDSA,
                                      GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    rc = rc < 0 ? rc : fill(crt, k, names, n);
    rc = rc < 0 ? rc : gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &cert_pem);
    rc = rc < 0 ? rc : gnutls_x509_privkey_export2(k, GNUTLS_X509_FMT_PEM, &key_pem);
    gnutls_x509_privkey_deinit(k);
    *cert = cert_pem.data ? text_of(&cert_pem) : NULL;
    *key = key_pem.data ? text_of(&key_pem) : NULL;
    return rc >= 0 && (!*cert || !*key) ? GNUTLS_E_MEMORY_ERROR : rc;
}

int pons__server_certificate(const char *const *names, size_t n, char **cert, char **key,
                             char ret_fingerprint[PONS_HTTP_FINGERPRINT], pons_error *err)
{
    gnutls_x509_crt_t crt = NULL;
    unsigned char digest[DIGEST];
    size_t size = sizeof digest;
    int rc = gnutls_x509_crt_init(&crt);
    if (rc < 0) {
        return fault(rc, err);
    }
    if (*cert) {
        const gnutls_datum_t pem = {(unsigned char *)*cert, (unsigned)strlen(*cert)};
        rc = gnutls_x509_crt_import(crt, &pem, GNUTLS_X509_FMT_PEM);
    } else {
        rc = make(crt, names, n, cert, key);
    }
    rc = rc < 0 ? rc : gnutls_x509_crt_get_fingerprint(crt, GNUTLS_DIG_SHA256, digest, &size);
    gnutls_x509_crt_deinit(crt);
    if (rc < 0) {
        return fault(rc, err);
    }
    for (size_t i = 0; i < size; i++) {
        snprintf(ret_fingerprint + 3 * i, 4, "%02X%s", digest[i], i + 1 < size ? ":" : "");
    }
    return PONS_OK;
}
