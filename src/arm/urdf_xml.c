// urdf_xml.c - reads a URDF file's elements, for whoever knows what they mean.
//
// A file may come from anybody: it has limits, document types (and with them entities) are refused, and so is
// xacro that nobody has expanded. `${namespace}`, which TurtleBot3's files have before their names and its launch
// files replace by nothing, is nothing here too.
#include "arm/urdf_xml.h"

#include "pons/file.h"
#include "pons/xml_text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if XML_MINOR_VERSION < 9 // expat's newer names
#define XML_GetCurrentLineNumber64   XML_GetCurrentLineNumber
#define XML_GetCurrentColumnNumber64 XML_GetCurrentColumnNumber
#endif

#define ORIGIN_MAX 1e4
#define DEPTH_MAX  32
#define XACRO      "this is xacro: expand it first, xacro FILE > robot.urdf"

int pons__urdf_fault(pons__urdf_xml *x, pons__urdf_place at, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    if (x->rc < 0) {
        return x->rc;
    }
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    x->rc = pons_error_set(x->err, PONS_EINVAL, x->module, "%s", text);
    if (at.line) {
        pons_error_source(x->err, "%s:%lu:%lu", x->path, at.line, at.col);
    } else {
        pons_error_source(x->err, "%s", x->path);
    }
    if (x->xml) {
        XML_StopParser(x->xml, XML_FALSE);
    }
    return x->rc;
}

pons__urdf_place pons__urdf_here(const pons__urdf_xml *x)
{
    return (pons__urdf_place){XML_GetCurrentLineNumber64(x->xml),
                              XML_GetCurrentColumnNumber64(x->xml) + 1};
}

// ---- attributes ---------------------------------------------------------------------------------

const char *pons__urdf_attribute(const char **attr, const char *key)
{
    for (; *attr; attr += 2) {
        if (strcmp(attr[0], key) == 0) {
            return attr[1];
        }
    }
    return NULL;
}

int pons__urdf_numbers(pons__urdf_xml *x, const char **attr, const char *key, int n, double *ret)
{
    const char *text = pons__urdf_attribute(attr, key), *at = text;
    double v[3] = {0};
    if (!text) {
        return 0;
    }
    if (strstr(text, "${") || strstr(text, "$(")) {
        return URDF_FAULT(x, "%s=\"%.60s\": " XACRO, key, text);
    }
    for (int i = 0; i < n; i++) {
        char *end;
        v[i] = strtod(at, &end);
        if (end == at || !isfinite(v[i])) {
            return URDF_FAULT(x, "%s=\"%.60s\": expected %d number%s", key, text, n,
                              n > 1 ? "s" : "");
        }
        at = end;
    }
    if (at[strspn(at, " \t\r\n")] != '\0') {
        return URDF_FAULT(x, "%s=\"%.60s\": expected %d number%s and no more", key, text, n,
                          n > 1 ? "s" : "");
    }
    memcpy(ret, v, (size_t)n * sizeof *v);
    return 1;
}

bool pons__urdf_name(pons__urdf_xml *x, const char **attr, const char *key, size_t size, char *ret)
{
    static const char NAMESPACE[] = "${namespace}";
    const char *name = pons__urdf_attribute(attr, key);
    if (name && strncmp(name, NAMESPACE, sizeof NAMESPACE - 1) == 0) {
        name += sizeof NAMESPACE - 1;
    }
    if (!name || !*name || strlen(name) >= size) {
        URDF_FAULT(x, "a name of 1 to %zu bytes is missing (%s)", size - 1, key);
        return false;
    }
    if (strstr(name, "${") || strstr(name, "$(")) {
        URDF_FAULT(x, "%.60s: " XACRO, name);
        return false;
    }
    memcpy(ret, name, strlen(name) + 1);
    return true;
}

bool pons__urdf_origin(pons__urdf_xml *x, const char **attr, pons_pose3 *ret)
{
    double p[3] = {0}, w[3] = {0};
    if (pons__urdf_numbers(x, attr, "xyz", 3, p) < 0 ||
        pons__urdf_numbers(x, attr, "rpy", 3, w) < 0) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (fabs(p[i]) > ORIGIN_MAX || fabs(w[i]) > ORIGIN_MAX) {
            URDF_FAULT(x, "an origin of more than %g m or radians", ORIGIN_MAX);
            return false;
        }
    }
    *ret = pons_pose3_of(p[0], p[1], p[2], w[0], w[1], w[2]);
    return true;
}

bool pons__urdf_axis(pons__urdf_xml *x, const char **attr, const char *joint, double ret[3])
{
    double a[3] = {ret[0], ret[1], ret[2]};
    if (pons__urdf_numbers(x, attr, "xyz", 3, a) < 0) {
        return false;
    }
    const double n = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (n < 1e-9) {
        URDF_FAULT(x, "joint %s has an axis of length 0", joint);
        return false;
    }
    for (int i = 0; i < 3; i++) {
        ret[i] = a[i] / n;
    }
    return true;
}

// ---- elements -----------------------------------------------------------------------------------

static void on_start(void *user, const char *name, const char **attr)
{
    pons__urdf_xml *x = user;
    if (x->rc < 0) {
        return;
    }
    const int depth = x->depth++;
    const char *what = pons__urdf_attribute(attr, "name");
    const bool no_namespace = strncmp(name, "xacro:", 6) == 0 && what &&
                              strcmp(what, "namespace") == 0 &&
                              (strcmp(name + 6, "arg") == 0 || strcmp(name + 6, "property") == 0);
    if (no_namespace) {
        return;
    }
    if (strncmp(name, "xacro:", 6) == 0) {
        URDF_FAULT(x, "<%.40s>: " XACRO, name);
    } else if (depth == 0 && strcmp(name, "robot") != 0) {
        URDF_FAULT(x, "expected <robot>, not <%.40s>", name);
    } else if (depth == DEPTH_MAX) {
        URDF_FAULT(x, "more than %d elements in each other", DEPTH_MAX);
    } else {
        x->start(x->user, depth, name, attr);
    }
}

static void on_end(void *user, const char *name)
{
    pons__urdf_xml *x = user;
    const int depth = --x->depth;
    if (x->rc == PONS_OK) {
        x->end(x->user, depth, name);
    }
}

static void on_text(void *user, const char *part, int n)
{
    pons__urdf_xml *x = user;
    if (x->rc == PONS_OK && x->text) {
        x->text(x->user, part, (size_t)n);
    }
}

static void on_doctype(void *user, const char *name, const char *system, const char *public_id,
                       int internal)
{
    pons__urdf_xml *x = user;
    URDF_FAULT(x, "a robot's description has no document type, and no entities");
}

// ---- the whole ----------------------------------------------------------------------------------

int pons__urdf_read(pons__urdf_xml *x)
{
    FILE *f = pons_file_read(x->path);
    if (!f) {
        const char *why = pons_file_why(errno);
        x->rc = pons_error_set(x->err, PONS_ENOTFOUND, x->module,
                               "cannot read the %s's description", x->what);
        pons_error_source(x->err, "%s", x->path);
        pons_error_cause(x->err, "%s", why);
        return x->rc;
    }
    char *text = malloc(x->size_max + 1);
    XML_Parser xml = XML_ParserCreate(NULL);
    const size_t n = text ? fread(text, 1, x->size_max + 1, f) : 0;
    if (!text || !xml) {
        x->rc = pons_error_set(x->err, PONS_ENOMEM, x->module, "no memory for the %s's description",
                               x->what);
    } else if (ferror(f)) {
        pons__urdf_fault(x, URDF_NOWHERE, "cannot read the %s's description", x->what);
    } else if (n > x->size_max) {
        pons__urdf_fault(x, URDF_NOWHERE, "the description is larger than %zu bytes", x->size_max);
    } else {
        pons_xml_soften(text, n, false);
        x->xml = xml;
        XML_SetUserData(xml, x);
        XML_SetElementHandler(xml, on_start, on_end);
        XML_SetCharacterDataHandler(xml, on_text);
        XML_SetStartDoctypeDeclHandler(xml, on_doctype);
        if (XML_Parse(xml, text, (int)n, 1) == XML_STATUS_ERROR && x->rc == PONS_OK) {
            URDF_FAULT(x, "%s", XML_ErrorString(XML_GetErrorCode(xml)));
        }
        x->xml = NULL;
    }
    if (xml) {
        XML_ParserFree(xml);
    }
    free(text);
    fclose(f);
    return x->rc;
}
