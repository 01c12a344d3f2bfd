// policy_inputs.c - what a server of a policy is told, by the keys that it knows.
//
//     policy_client:
//       inputs: {observation/image: images.front, observation/state: joints_gripper, prompt: instruction}
//
//     instruction                     text
//     images.NAME                     the picture of that camera of the target
//     state                           all numbers of a question, as docs/reference/workspace.md has them
//     joints, gripper, joints_gripper those of the arm, in the server's units
//
// A policy was trained with certain keys, frames and units, and a wrong guess would move a robot. So keys, the frame
// and units of deltas, and the unit of joints (`scale`) have no default. A missing one is reported in one line.
#include "app/policies/policies.h"
#include "pons/buf.h"
#include "pons/out_of_memory.h"
#include "pons/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHERE       "policy"
#define JOINTS_AT   7 // in a question's state
#define PICTURE_MAX 4096

static int missing(pons_error *err, const char *what, const char *means)
{
    return pons_error_set(err, PONS_EINVAL, WHERE, "policy_client.%s is missing: %s", what, means);
}

// One of the server's units in ours, by its word.
static int read_unit(const pons_value *delta, const char *key, double *ret, pons_error *err)
{
    static const struct {
        const char *key, *word;
        double is;
    } units[] = {{"position", "m", 1.0},
                 {"position", "cm", 0.01},
                 {"position", "mm", 0.001},
                 {"rotation", "rad", 1.0},
                 {"rotation", "deg", M_PI / 180.0}};
    const char *word = pons_get_str(delta, key, "");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].key, key) == 0 && strcmp(units[i].word, word) == 0) {
            *ret = units[i].is;
            return PONS_OK;
        }
    }
    const char *means = *key == 'p' ? "m, cm or mm" : "rad or deg";
    const char *where = *key == 'p' ? "delta.position" : "delta.rotation";
    return *word ? pons_error_set(err, PONS_EINVAL, WHERE, "policy_client.%s is %.20s: %s", where,
                                  word, means)
                 : missing(err, where, means);
}

static int read_delta(const pons_value *client, policy_meaning *ret, pons_error *err)
{
    const pons_value *delta = pons_get(client, "delta");
    const char *frame = pons_get_str(delta, "frame", "");
    const bool openvla = strcmp(pons_get_str(client, "protocol", ""), "openvla") == 0;
    ret->delta = delta != NULL;
    if (!delta) {
        return openvla ? missing(err, "delta", "{frame: base|tool, position: m, rotation: rad}")
                       : PONS_OK;
    }
    ret->in_tool = strcmp(frame, "tool") == 0;
    if (!*frame) {
        return missing(err, "delta.frame", "base or tool");
    }
    if (!ret->in_tool && strcmp(frame, "base") != 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "policy_client.delta.frame is %.20s: base or tool", frame);
    }
    const int rc = read_unit(delta, "position", &ret->position_m, err);
    return rc < 0 ? rc : read_unit(delta, "rotation", &ret->rotation_rad, err);
}

static int read_gripper(const pons_value *client, policy_gripper *ret, pons_error *err)
{
    const pons_value *g = pons_get(client, "gripper");
    *ret = (policy_gripper){g != NULL, pons_get_num(g, "open", NAN), pons_get_num(g, "closed", NAN),
                            pons_get_num(g, "width_m", NAN)};
    const double span = ret->open - ret->closed;
    if (g && !(isfinite(span) && span != 0.0 && ret->width_m > 0.0)) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "policy_client.gripper has open and closed, which differ, as the "
                              "server has them, and width_m when open");
    }
    return PONS_OK;
}

static bool known_source(const char *source)
{
    static const char *const words[] = {"instruction", "state", "joints", "gripper",
                                        "joints_gripper"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i], source) == 0) {
            return true;
        }
    }
    return strncmp(source, "images.", 7) == 0 && source[7];
}

int app_policy_meaning(const pons_value *client, policy_meaning *ret, pons_error *err)
{
    *ret = (policy_meaning){.inputs = pons_get(client, "inputs"),
                            .picture_px = (int)pons_get_int(client, "picture_px", 0),
                            .chunk = (int)pons_get_int(client, "chunk", PONS_POLICY_ROWS_MAX),
                            .scale = pons_get_num(client, "scale", 1.0)};
    if (!json_is_object(ret->inputs) || json_object_size(ret->inputs) == 0) {
        return missing(err, "inputs", "{key of the server: instruction, images.NAME, joints, …}");
    }
    if (json_object_size(ret->inputs) > PONS_POLICY_INPUTS_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "policy_client.inputs has over %d keys",
                              PONS_POLICY_INPUTS_MAX);
    }
    pons_each_member(key, source, ret->inputs) {
        if (!json_is_string(source) || !known_source(json_string_value(source))) {
            return pons_error_set(err, PONS_EINVAL, WHERE,
                                  "policy_client.inputs.%.60s is instruction, images.NAME, state, "
                                  "joints, gripper or joints_gripper",
                                  key);
        }
    }
    if (ret->chunk < 1 || ret->picture_px < 0 || ret->picture_px > PICTURE_MAX ||
        !isfinite(ret->scale) || ret->scale == 0.0) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "policy_client: picture_px is 0 to %d, chunk 1 or more, scale not 0",
                              PICTURE_MAX);
    }
    int rc = read_delta(client, ret, err);
    rc = rc < 0 ? rc : read_gripper(client, &ret->gripper, err);
    if (rc >= 0 && !ret->delta && !json_is_number(pons_get(client, "scale"))) {
        return missing(err, "scale", "1 when the server has rad, 0.0174533 when it has degrees");
    }
    if (rc >= 0 && ret->delta && !ret->gripper.known) {
        return missing(err, "gripper", "{open: 1, closed: 0, width_m: 0.08}");
    }
    return rc;
}

// ---- a question ---------------------------------------------------------------------------------

static int add_picture(const policy_meaning *m, const pons_value *images, const char *camera,
                       pons_policy_input *ret, void **ret_owned, pons_error *err)
{
    const char *data = pons_get_str(pons_get(images, camera), "data", NULL);
    pons_autobuf jpeg = PONS_BUF_INIT;
    pons_picture_raw p = {0};
    if (!data) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "%.60s needs a picture of the camera %.60s: the target has it under "
                              "perception.cameras, the skill rgb_camera under requires.sensors",
                              ret->key, camera);
    }
    if (pons_buf_unbase64(&jpeg, data, strlen(data)) < 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "the picture of %.60s is damaged", camera);
    }
    const int rc = pons_picture_decode(jpeg.data, jpeg.len, m->picture_px, &p, err);
    if (rc < 0) {
        return rc;
    }
    ret->kind = PONS_POLICY_PICTURE;
    ret->rgb = *ret_owned = p.rgb;
    ret->width = p.width;
    ret->height = p.height;
    return PONS_OK;
}

static double gripper_of(const policy_meaning *m, double width_m)
{
    const policy_gripper *g = &m->gripper;
    return g->known ? g->closed + width_m / g->width_m * (g->open - g->closed) : width_m;
}

static int add_numbers(const policy_meaning *m, const pons_value *state, const char *source,
                       pons_policy_input *ret, void **ret_owned, pons_error *err)
{
    const size_t all = json_array_size(state);
    const bool whole = strcmp(source, "state") == 0;
    const size_t joints = all > JOINTS_AT ? all - JOINTS_AT - 1 : 0; // then the gripper's opening
    double *v = pons_need((all + 1) * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; whole && i < all; i++) {
        v[n++] = json_number_value(json_array_get(state, i));
    }
    for (size_t i = 0; strncmp(source, "joints", 6) == 0 && i < joints; i++) {
        v[n++] = json_number_value(json_array_get(state, JOINTS_AT + i)) / m->scale;
    }
    if (joints > 0 && strstr(source, "gripper")) {
        v[n++] = gripper_of(m, json_number_value(json_array_get(state, all - 1)));
    }
    ret->kind = PONS_POLICY_NUMBERS;
    ret->numbers = *ret_owned = v;
    ret->n = n;
    return n ? PONS_OK
             : pons_error_set(err, PONS_EINVAL, WHERE, "%.60s needs %s: the body has no arm",
                              ret->key, source);
}

int app_policy_inputs(const policy_meaning *m, const pons_value *question, policy_inputs *ret,
                      pons_error *err)
{
    const pons_value *seen = pons_get(question, "observation");
    int rc = PONS_OK;
    *ret = (policy_inputs){0};
    pons_each_member(key, value, m->inputs) {
        const char *source = json_string_value(value);
        pons_policy_input *in = &ret->at[ret->n];
        void **owned = &ret->owned[ret->n++];
        *in = (pons_policy_input){.key = key};
        if (strcmp(source, "instruction") == 0) {
            in->kind = PONS_POLICY_TEXT;
            in->text = pons_get_str(question, "instruction", "");
        } else if (strncmp(source, "images.", 7) == 0) {
            rc = add_picture(m, pons_get(seen, "images"), source + 7, in, owned, err);
        } else {
            rc = add_numbers(m, pons_get(seen, "state"), source, in, owned, err);
        }
        if (rc < 0) {
            break;
        }
    }
    if (rc < 0) {
        app_policy_inputs_clear(ret);
    }
    return rc;
}

void app_policy_inputs_clear(policy_inputs *in)
{
    for (size_t i = 0; i < in->n; i++) {
        free(in->owned[i]);
    }
    in->n = 0;
}
