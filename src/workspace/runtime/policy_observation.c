// policy_observation.c - what a policy is asked.
//
//     {session_id, step, instruction, params, observation:
//         state         [x, y, yaw, v, w, battery %, nearest m], then the joints of an arm and the gripper's opening
//         images        {camera: {encoding: "jpeg", data: base64, depth?: path of a .npy}} of the target's cameras
//         format        the target's adapter.obs_format, control_mode its config's: as they stand there
//         environment   what the skill's requires.environment_outputs names of ENVIRONMENT.md}}
#include "pons/buf.h"
#include "pons/out_of_memory.h"
#include "workspace/runtime/runtime_common.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PICTURE_MAX (4L * 1024 * 1024)

static pons_value *state_of(const pons_value *robot)
{
    const pons_value *pose = pons_get(robot, "pose"), *twist = pons_get(robot, "twist");
    const pons_value *arm = pons_get(robot, "arm"), *joints = pons_get(arm, "joints");
    pons_value *state = json_array();
    const double v[] = {pons_get_num(pose, "x", 0),          pons_get_num(pose, "y", 0),
                        pons_get_num(pose, "yaw", 0),        pons_get_num(twist, "v", 0),
                        pons_get_num(twist, "w", 0),         pons_get_num(robot, "battery_pct", 0),
                        pons_get_num(robot, "nearest_m", -1)};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        json_array_append_new(state, json_real(v[i]));
    }
    for (size_t i = 0; i < json_array_size(joints); i++) {
        json_array_append(state, json_array_get(joints, i));
    }
    if (json_array_size(joints)) {
        json_array_append_new(state, json_real(pons_get_num(arm, "gripper_m", 0)));
    }
    return state;
}

// ---- images -------------------------------------------------------------------------------------

// A whole file of a picture's size; NULL: it is none.
static pons_value *file_as_text(const char *path)
{
    struct stat is;
    pons_value *v = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > 0 &&
        is.st_size <= PICTURE_MAX) {
        const size_t n = (size_t)is.st_size;
        uint8_t *bytes = pons_need(n);
        if (read(fd, bytes, n) == (ssize_t)n) {
            pons_autobuf text = PONS_BUF_INIT;
            v = pons_buf_base64(&text, bytes, n) < 0 ? NULL : json_string_nocheck(text.data);
        }
        free(bytes);
    }
    if (fd >= 0) {
        close(fd);
    }
    return v;
}

pons_value *pons__rt_images(const char *dir, const pons_value *pictures)
{
    pons_value *images = json_object();
    char path[PATH_MAX];
    pons_each(p, pictures) {
        const char *rgb = pons_get_str(p, "rgb", NULL);
        snprintf(path, sizeof path, "%s/%s", dir, rgb ? rgb : "");
        pons_value *data = rgb ? file_as_text(path) : NULL;
        if (data) {
            json_object_set_new(images, pons_get_str(p, "name", ""),
                                pons_object("encoding", json_string("jpeg"), "data", data, "depth",
                                            pons_optional(pons_get(p, "depth")), NULL));
        }
    }
    return images;
}

// ---- the environment ----------------------------------------------------------------------------

static void add_all(pons_value *to, const char *key, const pons_ws_doc *d, const char *kind)
{
    size_t n = 0;
    const pons_ws_record *all = pons_ws_records(d, &n);
    pons_value *list = json_array();
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].kind, kind) == 0) {
            json_array_append(list, all[i].value);
        }
    }
    json_object_set_new(to, key, list);
}

static pons_value *environment_of(const pons_ws_doc *d, const pons_value *wanted)
{
    const pons_ws_record *scene = d ? pons_ws_find(d, "scene", "scene") : NULL;
    pons_value *all = json_object();
    pons_each(v, wanted) {
        const char *word = json_string_value(v) ? json_string_value(v) : "";
        const char *key = strcmp(word, "perception_data") == 0 ? "perception" : word;
        if (!d) {
            break;
        }
        if (strcmp(word, "scene_graph") == 0) {
            pons_value *graph = json_object();
            add_all(graph, "nodes", d, "node");
            add_all(graph, "edges", d, "edge");
            json_object_set_new(all, word, graph);
        } else if (strcmp(word, "objects") == 0) {
            add_all(all, word, d, "object");
        } else if (strcmp(word, "robots") == 0 || strcmp(word, "robot_state") == 0) {
            add_all(all, word, d, "robot_state");
        } else if (scene && pons_get(scene->value, key)) { // map, tf, perception
            json_object_set(all, word, (json_t *)pons_get(scene->value, key));
        }
    }
    return all;
}

pons_value *pons__rt_question(const rt_question *q)
{
    const char *words = pons_get_str(q->session, "task_description", NULL);
    const pons_value *params = pons_get(pons_get(q->session, "execution"), "params");
    const pons_value *wanted = pons_get(pons_get(q->skill, "requires"), "environment_outputs");
    const pons_value *format = pons_get(pons_get(q->target, "adapter"), "obs_format");
    const pons_value *mode = pons_get(pons_get(q->target, "config"), "control_mode");
    words = words ? words : pons_get_str(q->skill, "description", "");
    pons_value *seen = pons_object(
        "images", q->images ? pons_value_ref(q->images) : json_object(), "state",
        state_of(q->robot), "format", pons_optional(format), "control_mode", pons_optional(mode),
        "environment",
        json_array_size(wanted) ? environment_of(q->environment, wanted) : PONS_ABSENT, NULL);
    return pons_object("session_id", json_string(q->id), "step", json_integer(q->step),
                       "instruction", json_string(words), "observation", seen, "params",
                       params ? pons_value_ref(params) : json_object(), NULL);
}
