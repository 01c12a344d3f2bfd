// schemas.c - the JSON Schemas of what is recorded.
//
// Those called foxglove.X describe messages whose form Foxglove knows by that name; they say names,
// kinds and units, as short as they can. Those called pons.TYPE are made of the link's own table.
#include "pons/link_report.h"
#include "pons/record.h"

#include <stdlib.h>
#include <string.h>

#define OBJECT(members) "{\"type\":\"object\",\"properties\":{" members "}}"
#define LIST(items)     "{\"type\":\"array\",\"items\":" items "}"
#define NUMBER          "{\"type\":\"number\"}"
#define WHOLE           "{\"type\":\"integer\"}"
#define TEXT            "{\"type\":\"string\"}"
#define YES             "{\"type\":\"boolean\"}"
#define BYTES           "{\"type\":\"string\",\"contentEncoding\":\"base64\"}"
#define TIME            OBJECT("\"sec\":" WHOLE ",\"nsec\":" WHOLE)
#define XY              OBJECT("\"x\":" NUMBER ",\"y\":" NUMBER)
#define XYZ             OBJECT("\"x\":" NUMBER ",\"y\":" NUMBER ",\"z\":" NUMBER)
#define XYZW            OBJECT("\"x\":" NUMBER ",\"y\":" NUMBER ",\"z\":" NUMBER ",\"w\":" NUMBER)
#define RGBA            OBJECT("\"r\":" NUMBER ",\"g\":" NUMBER ",\"b\":" NUMBER ",\"a\":" NUMBER)
#define POSE            OBJECT("\"position\":" XYZ ",\"orientation\":" XYZW)
#define STAMP           "\"timestamp\":" TIME
#define FRAME           STAMP ",\"frame_id\":" TEXT
#define POLYGON                                                                                    \
    OBJECT("\"type\":" WHOLE ",\"pose\":" POSE ",\"thickness\":" NUMBER                            \
           ",\"scale_invariant\":" YES                                                             \
           ",\"points\":" LIST(XYZ) ",\"color\":" RGBA                                             \
                                    ",\"colors\":" LIST(RGBA) ",\"indices\":" LIST(WHOLE))
#define LABEL                                                                                      \
    OBJECT("\"pose\":" POSE ",\"billboard\":" YES ",\"font_size\":" NUMBER                         \
           ",\"scale_invariant\":" YES ",\"color\":" RGBA ",\"text\":" TEXT)
#define CYLINDER                                                                                   \
    OBJECT("\"pose\":" POSE ",\"size\":" XYZ ",\"bottom_scale\":" NUMBER ",\"top_scale\":" NUMBER  \
           ",\"color\":" RGBA)

#define NOTHING LIST("{\"type\":\"object\"}") // of what is drawn by none of ours
#define ENTITY                                                                                     \
    OBJECT(FRAME ",\"id\":" TEXT ",\"lifetime\":" TIME ",\"frame_locked\":" YES                    \
                 ",\"metadata\":" NOTHING ",\"arrows\":" NOTHING ",\"cubes\":" NOTHING             \
                 ",\"spheres\":" NOTHING ",\"cylinders\":" LIST(CYLINDER) ",\"lines\":" LIST(      \
                     POLYGON) ",\"triangles\":" NOTHING                                            \
                              ",\"texts\":" LIST(LABEL) ",\"models\":" NOTHING)

static const struct {
    const char *name, *text;
} known[] = {
    {"foxglove.FrameTransform",
     OBJECT(STAMP ",\"parent_frame_id\":" TEXT ",\"child_frame_id\":" TEXT ",\"translation\":" XYZ
                  ",\"rotation\":" XYZW)},
    {"foxglove.PoseInFrame", OBJECT(FRAME ",\"pose\":" POSE)},
    {"foxglove.PosesInFrame", OBJECT(FRAME ",\"poses\":" LIST(POSE))},
    {"foxglove.LaserScan",
     OBJECT(FRAME ",\"pose\":" POSE ",\"start_angle\":" NUMBER ",\"end_angle\":" NUMBER
                  ",\"ranges\":" LIST(NUMBER) ",\"intensities\":" LIST(NUMBER))},
    {"foxglove.CompressedImage", OBJECT(FRAME ",\"data\":" BYTES ",\"format\":" TEXT)},
    {"foxglove.Log", OBJECT(STAMP ",\"level\":" WHOLE ",\"message\":" TEXT ",\"name\":" TEXT
                                  ",\"file\":" TEXT ",\"line\":" WHOLE)},
    {"foxglove.Grid",
     OBJECT(FRAME ",\"pose\":" POSE ",\"column_count\":" WHOLE ",\"cell_size\":" XY
                  ",\"row_stride\":" WHOLE ",\"cell_stride\":" WHOLE
                  ",\"fields\":" LIST(OBJECT("\"name\":" TEXT ",\"offset\":" WHOLE
                                             ",\"type\":" WHOLE)) ",\"data\":" BYTES)},
    {"foxglove.SceneUpdate",
     OBJECT("\"deletions\":" LIST(OBJECT(STAMP ",\"type\":" WHOLE ",\"id\""
                                               ":" TEXT)) ",\"entities\":" LIST(ENTITY))},
    {"pons.event", OBJECT("\"thread\":" TEXT ",\"ns\":" TEXT ",\"seq\":" WHOLE ",\"ts_ms\":" WHOLE
                          ",\"type\":" TEXT ",\"payload\":{\"type\":\"object\"}")},
};

static const char *kind_word(pons_field_kind kind)
{
    static const char *const words[] = {
        [PONS_FIELD_STRING] = "string",   [PONS_FIELD_WORD] = "string",
        [PONS_FIELD_INTEGER] = "integer", [PONS_FIELD_NUMBER] = "number",
        [PONS_FIELD_BOOLEAN] = "boolean", [PONS_FIELD_OBJECT] = "object",
        [PONS_FIELD_LIST] = "array",      [PONS_FIELD_GROUP] = "object"};
    return words[kind];
}

static pons_value *properties_of(const pons_field *fields, size_t n)
{
    pons_value *all = json_object();
    for (size_t i = 0; i < n; i++) {
        const pons_field *f = &fields[i];
        if (!f->name) { // its members lie among the others
            pons_autovalue more = properties_of(f->fields, f->n_fields);
            json_object_update(all, more);
            continue;
        }
        pons_value *of = pons_object("type", json_string(kind_word(f->kind)), NULL);
        if (f->means) {
            json_object_set_new(of, "description", json_string(f->means));
        }
        if (f->kind == PONS_FIELD_GROUP || (f->kind == PONS_FIELD_OBJECT && f->n_fields)) {
            json_object_set_new(of, "properties", properties_of(f->fields, f->n_fields));
        }
        // What is null when it is not known is of either kind; Foxglove wants one, and reads null.
        json_object_set_new(all, f->name, of);
    }
    return all;
}

char *pons_record_schema(const char *name)
{
    static const char ours[] = "pons.";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) == 0) {
            return strdup(known[i].text);
        }
    }
    if (strncmp(name, ours, sizeof ours - 1) != 0) {
        return NULL;
    }
    for (int t = PONS_REPORT_NONE + 1; pons_report_word((pons_report_type)t); t++) {
        if (strcmp(pons_report_word((pons_report_type)t), name + sizeof ours - 1) == 0) {
            size_t n = 0;
            const pons_field *fields = pons_report_fields((pons_report_type)t, &n);
            pons_value *all = properties_of(fields, n);
            json_object_set_new(all, "type", pons_object("type", json_string("string"), NULL));
            pons_autovalue schema = pons_object("title", json_string(name), "type",
                                                json_string("object"), "properties", all, NULL);
            char *text = NULL;
            return pons_value_line(schema, &text) >= 0 ? text : NULL;
        }
    }
    return NULL;
}
