// interface_texts.c - the texts of interfaces: those that are said, and those that are found in a folder; and of one text the
// part that is wanted. Where one comes from, in which order: interface_types.c.
#include "drivers/dds/interface_texts.h"

#include "pons/file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "ros2"

enum { FILE_MAX_BYTES = 1 << 20 };

// What the messages of actions and services are, around one of their parts.
static const struct {
    const char *suffix, *head, *part, *member;
} wrappers[] = {
    {"_SendGoal_Request", "uint64 guid_\nint64 seq_\nuint8[16] goal_id\n", "_Goal", "goal"},
    {"_SendGoal_Response",
     "uint64 guid_\nint64 seq_\nbool accepted\nbuiltin_interfaces/Time stamp\n", NULL, NULL},
    {"_GetResult_Request", "uint64 guid_\nint64 seq_\nuint8[16] goal_id\n", NULL, NULL},
    {"_GetResult_Response", "uint64 guid_\nint64 seq_\nint8 status\n", "_Result", "result"},
    {"_FeedbackMessage", "uint8[16] goal_id\n", "_Feedback", "feedback"},
    {"_Asked", "uint64 guid_\nint64 seq_\n", "_Request", "request"}, // a service's, with who asks
    {"_Answered", "uint64 guid_\nint64 seq_\n", "_Response", "response"},
};

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the texts of interfaces");
}

void ros2_texts_fini(ros2_texts *t)
{
    for (int i = 0; i < t->n; i++) {
        free(t->at[i].text);
    }
    for (int i = 0; i < t->n_folders; i++) {
        free(t->folders[i]);
    }
    *t = (ros2_texts){.n = 0};
}

int ros2_texts_folder(ros2_texts *t, const char *path, pons_error *err)
{
    if (t->n_folders == ROS2_FOLDERS_MAX) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "more than %d folders of interfaces",
                              ROS2_FOLDERS_MAX);
    }
    t->folders[t->n_folders] = strdup(path);
    return t->folders[t->n_folders] ? (t->n_folders++, PONS_OK) : no_memory(err);
}

int ros2_texts_folders(ros2_texts *t, const pons_value *list, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; i < json_array_size(list) && rc >= 0; i++) {
        rc = ros2_texts_folder(t, json_string_value(json_array_get(list, i)), err);
    }
    for (const char *p = getenv("AMENT_PREFIX_PATH"); p && *p && rc >= 0;) {
        char path[PATH_MAX];
        const size_t n = strcspn(p, ":");
        snprintf(path, sizeof path, "%.*s/share", (int)n, p);
        rc = n > 0 ? ros2_texts_folder(t, path, err) : rc;
        p += n + (p[n] == ':');
    }
    return rc;
}

static const ros2_text *defined(const ros2_texts *t, const char *name)
{
    for (int i = 0; i < t->n; i++) {
        if (strcmp(t->at[i].name, name) == 0) {
            return &t->at[i];
        }
    }
    return NULL;
}

static int define(ros2_texts *t, const char *name, size_t name_n, const char *text, size_t n,
                  const char *where, int line, pons_error *err)
{
    char whole[ROS2_TYPE_MAX];
    if (name_n == 0 || name_n >= sizeof whole - 24) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "%s:%d: an interface's name is missing, or long", where, line);
    }
    snprintf(whole, sizeof whole, "%.*s", (int)name_n, name);
    const char *slash = strchr(whole, '/');
    if (!slash || slash == whole || !strchr(slash + 1, '/')) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "%s:%d: '%.60s' is not of the form package/msg/Name", where, line,
                              whole);
    }
    if (defined(t, whole)) {
        return PONS_OK;
    }
    if (t->n == ROS2_INTERFACES_MAX) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "more than %d interfaces",
                              ROS2_INTERFACES_MAX);
    }
    ros2_text *d = &t->at[t->n];
    d->text = strndup(text, n);
    if (!d->text) {
        return no_memory(err);
    }
    snprintf(d->name, sizeof d->name, "%s", whole);
    snprintf(d->where, sizeof d->where, "%s", where);
    d->line = line;
    t->n++;
    return PONS_OK;
}

int ros2_texts_define(ros2_texts *t, const char *name, const char *text, const char *where,
                      pons_error *err)
{
    // What stands before the first "===" is the definition, what follows are others that it needs.
    const char *rest = strncmp(text, "===", 3) == 0 ? text : strstr(text, "\n===");
    const size_t n = rest ? (size_t)(rest - text) : strlen(text);
    const int rc = define(t, name, strlen(name), text, n, where, 1, err);
    return rc < 0 || !rest ? rc : ros2_texts_add(t, rest + (*rest == '\n'), where, err);
}

int ros2_texts_add(ros2_texts *t, const char *text, const char *where, pons_error *err)
{
    int line = 1, rc = PONS_OK;
    const char *p = text;
    while (rc >= 0 && *p) {
        const char *end = strchrnul(p, '\n');
        if (strncmp(p, "===", 3) != 0) {
            p = end + (*end != 0);
            line++;
            continue;
        }
        const char *name = p + 3 + strspn(p + 3, "= \t"), *body = end + (*end != 0);
        size_t name_n = (size_t)(end - name);
        while (name_n > 0 && isspace((unsigned char)name[name_n - 1])) {
            name_n--;
        }
        const char *next = strncmp(body, "===", 3) == 0 ? body : strstr(body, "\n===");
        const char *stop = next ? next + (*next == '\n') : body + strlen(body);
        rc = define(t, name, name_n, body, (size_t)(stop - body), where, line + 1, err);
        for (const char *c = p; c < stop; c++) {
            line += *c == '\n';
        }
        p = stop;
    }
    return rc;
}

static int read_text(const char *path, char **ret, pons_error *err)
{
    size_t n = 0;
    char *text = pons_file_text(path, FILE_MAX_BYTES, &n);
    if (!text) {
        return errno == ENOMEM ? no_memory(err) : PONS_ENOTFOUND;
    }
    if (n > FILE_MAX_BYTES || strlen(text) != n) {
        free(text);
        return pons_error_set(err, PONS_EINVAL, MODULE, "%s: is no text of interfaces", path);
    }
    *ret = text;
    return PONS_OK;
}

int ros2_texts_add_file(ros2_texts *t, const char *path, pons_error *err)
{
    char *text = NULL;
    int rc = read_text(path, &text, err);
    if (rc == PONS_ENOTFOUND) {
        return pons_error_set(err, rc, MODULE, "cannot read %s", path);
    }
    const char *name = strrchr(path, '/');
    rc = rc < 0 ? rc : ros2_texts_add(t, text, name ? name + 1 : path, err);
    free(text);
    return rc;
}

// PACKAGE/msg/X.msg in a folder.
static int find_file(ros2_texts *t, const char *name, pons_error *err)
{
    const char *kind = strchr(name, '/') + 1, *last = strrchr(name, '/');
    for (int i = 0; i < t->n_folders; i++) {
        char path[PATH_MAX], *text = NULL;
        snprintf(path, sizeof path, "%s/%s.%.*s", t->folders[i], name, (int)(last - kind), kind);
        int rc = read_text(path, &text, err);
        if (rc == PONS_ENOTFOUND) {
            continue;
        }
        rc = rc < 0 ? rc : define(t, name, strlen(name), text, strlen(text), path, 1, err);
        free(text);
        return rc;
    }
    return PONS_ENOTFOUND;
}

// One part of a text that "---" divides; false: it has not so many.
static bool part(const char *text, int which, int line, const char **ret, size_t *ret_n,
                 int *ret_line)
{
    const char *begin = text;
    for (const char *p = text;; line++) {
        const char *end = strchrnul(p, '\n');
        const bool divides = strncmp(p, "---", 3) == 0;
        if ((divides || !*end) && which-- == 0) {
            *ret = begin;
            *ret_n = (size_t)((divides ? p : end) - begin);
            return true;
        }
        if (!*end) {
            return false;
        }
        p = end + 1;
        if (divides) {
            begin = p;
            *ret_line = line + 1;
        }
    }
}

static bool wrap(size_t which, const char *name, size_t stem, ros2_text *ret)
{
    char text[512];
    const char *inner = wrappers[which].part;
    const int at = snprintf(text, sizeof text, "%s", wrappers[which].head);
    if (inner) {
        snprintf(text + at, sizeof text - (size_t)at, "%.*s%s %s", (int)stem, name, inner,
                 wrappers[which].member);
    }
    snprintf(ret->where, sizeof ret->where, "%s", name);
    ret->text = strdup(text);
    return ret->text != NULL;
}

int ros2_texts_find(ros2_texts *t, const char *name, ros2_text *ret, pons_error *err)
{
    static const struct {
        const char *suffix, *kind;
        int part;
    } parts[] = {{"_Goal", "/action/", 0},
                 {"_Result", "/action/", 1},
                 {"_Feedback", "/action/", 2},
                 {"_Request", "/srv/", 0},
                 {"_Response", "/srv/", 1}};
    const size_t n = strlen(name);
    *ret = (ros2_text){.line = 1};
    snprintf(ret->name, sizeof ret->name, "%s", name);
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        const size_t s = strlen(wrappers[i].suffix);
        if (n > s && strcmp(name + n - s, wrappers[i].suffix) == 0) {
            return wrap(i, name, n - s, ret) ? PONS_OK : no_memory(err);
        }
    }
    char file[ROS2_TYPE_MAX];
    snprintf(file, sizeof file, "%s", name);
    int which = -1;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && which < 0; i++) {
        const size_t s = strlen(parts[i].suffix);
        if (n > s && strcmp(name + n - s, parts[i].suffix) == 0 && strstr(name, parts[i].kind)) {
            which = parts[i].part;
            file[n - s] = '\0';
        }
    }
    const ros2_text *d = defined(t, file);
    if (!d) {
        const int rc = find_file(t, file, err);
        d = rc >= 0 ? defined(t, file) : NULL;
        if (rc < 0 && rc != PONS_ENOTFOUND) {
            return rc;
        }
    }
    if (!d) {
        return pons_error_set(
            err, PONS_ENOTFOUND, MODULE,
            "the interface %.100s is not known: say its definition, or the folder "
            "where it is (interfaces)",
            file);
    }
    const char *text = d->text;
    size_t length = strlen(text);
    ret->line = d->line;
    snprintf(ret->where, sizeof ret->where, "%s", d->where);
    if (which >= 0 && !part(d->text, which, d->line, &text, &length, &ret->line)) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "%s: %.100s has too few parts: they are divided by ---", d->where,
                              file);
    }
    ret->text = strndup(text, length);
    return ret->text ? PONS_OK : no_memory(err);
}
