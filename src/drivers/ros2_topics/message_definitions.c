// message_definitions.c - see message_definitions.h.
#include "drivers/ros2_topics/message_definitions.h"

#include "pons/buf.h"
#include "pons/module.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIVIDER                                                                                    \
    "\n================================================================================\nMSG: "

enum { TYPES = 128 };

int ros2_topic_texts(ros2_types *t, const ros2_config *c, pons_error *err)
{
    const char *const names[] = {c->distro, "common", "topics"};
    int rc = ros2_texts_folders(ros2_types_texts(t), c->interfaces, err);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && rc >= 0; i++) {
        char name[64], path[PATH_MAX];
        snprintf(name, sizeof name, "config/ros2/%s.msgs", names[i]);
        rc = pons_share_path(name, path, sizeof path, err);
        rc = rc < 0 ? rc : ros2_texts_add_file(ros2_types_texts(t), path, err);
    }
    return rc;
}

// Those that s is made of, each once, behind it.
static int collect(const ros2_shape *s, const ros2_shape *all[TYPES], int n)
{
    for (int i = 0; i < s->n && n < TYPES; i++) {
        const ros2_shape *of = s->members[i].kind == ROS2_STRUCT ? s->members[i].of : NULL;
        bool there = !of;
        for (int k = 0; k < n; k++) {
            there = there || all[k] == of;
        }
        if (!there) {
            all[n] = of;
            n = collect(of, all, n + 1);
        }
    }
    return n;
}

char *ros2_topic_text(ros2_types *t, const ros2_shape *s)
{
    const ros2_shape *all[TYPES] = {s};
    pons_buf b = PONS_BUF_INIT;
    const int n = collect(s, all, 1);
    for (int i = 0; i < n; i++) {
        pons_error none = PONS_ERROR_INIT;
        ros2_text d = {.text = NULL};
        if (ros2_texts_find(ros2_types_texts(t), all[i]->name, &d, &none) < 0) {
            pons_buf_fini(&b);
            return NULL;
        }
        if (i > 0) { // package/X, as every reader of it knows a type
            const char *first = strchr(d.name, '/'), *last = strrchr(d.name, '/');
            pons_buf_str(&b, DIVIDER);
            pons_buf_bytes(&b, d.name, (size_t)(first - d.name));
            pons_buf_str(&b, last);
            pons_buf_str(&b, "\n");
        }
        pons_buf_str(&b, d.text);
        free(d.text);
    }
    char *text = b.failed ? NULL : strndup(b.data ? b.data : "", b.len);
    pons_buf_fini(&b);
    return text;
}
