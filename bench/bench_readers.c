// bench_readers.c - how long readers of files that others write take with the worst file of 1 MB. One JSON object a
// line; arguments choose benches by the beginning of their names.
//
//   readers.NAME          ms of processor time for the worst of its shapes, 1 MB long
//   readers.NAME.quarter  the same for 250 KB of that shape: where reading is linear, a quarter
//
// A shape is a head, a piece that is repeated (# in it: a number that counts; #-: the one before), and an end.
// PONS_BENCH_SHAPES=1 tells of each on stderr.
#include "bench.h"
#include "pons/arm.h"
#include "pons/base_urdf.h"
#include "pons/body.h"
#include "pons/bt.h"
#include "pons/buf.h"
#include "pons/companion.h"
#include "pons/fleet.h"
#include "pons/map.h"
#include "pons/mcp.h"
#include "pons/out_of_memory.h"
#include "pons/plan.h"
#include "pons/rule_policy.h"
#include "pons/scenario.h"
#include "pons/workspace.h"
#include "pons/yaml.h"
#include "tools/core/bytes_to_text.h"

#include <malloc.h>

enum { WHOLE = 1 << 20, QUARTER = WHOLE / 4, TIMES = 3, KEPT_MAX = 1 << 30 };

static const double SHORT_S = 0.02; // what is shorter is measured again, and the best of it counts

typedef struct shape {
    const char *name, *head, *piece, *tail; // # in the piece: a number
} shape;

typedef struct reader {
    const char *name, *file; // what it is called where it has to be in a folder
    void (*read)(const char *text, size_t n);
    const shape *const *shapes; // NULL at the end of each and of all
} reader;

static char folder[64], path[128];

// ---- readers ------------------------------------------------------------------------------------

static void yaml(const char *text, size_t n)
{
    pons_yaml *y = NULL;
    pons_yaml_parse(text, n, "y", &y, NULL);
    pons_yaml_destroy(y);
}

static void json(const char *text, size_t n)
{
    pons_value *v = NULL;
    pons_value_parse(text, n, &v, NULL);
    pons_value_unref(v);
}

static pons_ws_file page;

static void workspace(const char *text, size_t n)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_autobuf out = PONS_BUF_INIT;
    if (pons_ws_read(page, text, n, "p", &d, &err) >= 0) {
        pons_ws_render(d, NULL, 0, 7, &out, &err);
    }
    pons_ws_destroy(d);
}

static void tree_of(pons_bt_format format, const char *text, size_t n)
{
    const pons_bt_load_options o = {.format = format, .any_leaf = true};
    pons_bt *bt = NULL;
    pons_bt_load(text, n, &o, &bt, NULL, NULL);
    pons_bt_unref(bt);
}

static void mdsl(const char *text, size_t n)
{
    tree_of(PONS_BT_MDSL, text, n);
}

static void bt_json(const char *text, size_t n)
{
    tree_of(PONS_BT_JSON, text, n);
}

static void bt_xml(const char *text, size_t n)
{
    tree_of(PONS_BT_XML, text, n);
}

static void plan(const char *text, size_t n)
{
    pons_rand rand;
    pons_plan *p = NULL;
    pons_rand_seed(&rand, 1);
    const pons_plan_read_options o = {.goal = "g", .from = {.rand = &rand}};
    pons_plan_read(text, n, &o, &p, NULL);
    pons_plan_destroy(p);
}

static void reply(const char *text, size_t n)
{
    pons_value *v = NULL;
    pons_reply_object(text, n, "type", &v, NULL);
    pons_value_unref(v);
}

static void world(const char *text, size_t n)
{
    pons_value *v = NULL;
    (void)text;
    (void)n;
    pons_world_load(path, &v, NULL);
    pons_value_unref(v);
}

static void map(const char *text, size_t n)
{
    pons_map *m = NULL;
    pons_box2 *boxes = NULL;
    size_t found = 0;
    char yaml_path[128];
    (void)text;
    (void)n;
    snprintf(yaml_path, sizeof yaml_path, "%s/map.yaml", folder);
    if (pons_map_load(yaml_path, &m, NULL) >= 0) {
        pons_map_rects(m, PONS_MAP_OCCUPIED, 65536, &boxes, &found, NULL);
    }
    free(boxes);
    pons_map_destroy(m);
}

static void base_urdf(const char *text, size_t n)
{
    pons_base_urdf u;
    (void)text;
    (void)n;
    pons_base_urdf_load(path, NULL, &u, NULL);
}

static void arm_urdf(const char *text, size_t n)
{
    pons_arm *a = NULL;
    (void)text;
    (void)n;
    pons_arm_load(path, "a", "t", &a, NULL);
    pons_arm_destroy(a);
}

static void intents(const char *text, size_t n)
{
    pons_yaml *y = NULL;
    pons_policy p = {0};
    if (pons_yaml_parse(text, n, "y", &y, NULL) >= 0) {
        pons_rules_open(pons_yaml_value(y), &p, NULL);
    }
    pons_rules_close(&p);
    pons_yaml_destroy(y);
}

static void world_view(const char *text, size_t n)
{
    pons_world_view *v = NULL;
    pons_world_view_parse(text, n, "v", &v, NULL);
    pons_world_view_unref(v);
}

static void mcp(const char *text, size_t n)
{
    pons_value *v = NULL;
    (void)text;
    (void)n;
    pons_mcp_load(path, ".", &v, NULL);
    pons_value_unref(v);
}

static void fleet_map(const char *text, size_t n)
{
    pons_fleet_map *m = NULL;
    pons_fleet_map_read(text, n, "m", &m, NULL);
    pons_fleet_map_destroy(m);
}

static void scenario(const char *text, size_t n)
{
    pons_scenario *s = NULL;
    (void)text;
    (void)n;
    pons_scenario_load(path, &s, NULL);
    pons_scenario_destroy(s);
}

static void html(const char *text, size_t n)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons__html_text(&b, text, n);
}

// ---- shapes -------------------------------------------------------------------------------------

#define SAME(what) "all " #what, "", what, ""
static const shape plain[] = {{SAME("\n")},     {SAME(" ")},
                              {SAME("\"")},     {SAME("'")},
                              {SAME("[")},      {SAME("{")},
                              {SAME("]")},      {SAME("- ")},
                              {SAME("-")},      {SAME(":")},
                              {SAME(": ")},     {SAME("a: ")},
                              {SAME("? ")},     {SAME("\\")},
                              {SAME("a")},      {SAME("a ")},
                              {SAME("a\n")},    {SAME("0")},
                              {SAME("#")},      {SAME("# \n")},
                              {SAME("|\n")},    {SAME("| \n")},
                              {SAME("---\n")},  {SAME("\t")},
                              {SAME("!a ")},    {SAME("&a ")},
                              {SAME("*a ")},    {SAME("`")},
                              {SAME("```\n")},  {SAME("~~~\n```\n")},
                              {SAME("<!--\n")}, {SAME("<")},
                              {SAME("<a>")},    {SAME("<a ")},
                              {SAME("&amp;")},  {SAME("(")},
                              {SAME("- -\n")},  {SAME("\xe4\xb8\xad")},
                              {SAME(",")},      {SAME("{\"")},
                              {SAME("[\"")},    {SAME("{}\n")},
                              {SAME("[]\n")},   {SAME("/")},
                              {SAME("%")},      {SAME("\r\n")},
                              {SAME("{a")},     {NULL, NULL, NULL, NULL}};
static const shape yamls[] = {
    {"anchors", "", "- &a# x\n", ""},
    {"aliases", "- &a x\n", "- *a\n", ""},
    {"keys", "", "k#: v\n", ""},
    {"keys in one line", "{", "k#: v, ", "}"},
    {"one key", "", "k: v\n", ""},
    {"items", "", "- x\n", ""},
    {"items in one line", "[", "x, ", "]"},
    {"numbers in one line", "[", "1, ", "1]"},
    {"deep flow", "", "[[[[[[[[[[x]]]]]]]]]],", ""},
    {"one quote", "a: \"", "x ", "\""},
    {"one quote of lines", "a: \"", "x\n ", "\""},
    {"one quote, escapes", "a: \"", "\\u0041", "\""},
    {"one single quote", "a: '", "'' ", "'"},
    {"one quote open", "a: \"", "x\n ", ""},
    {"one plain of lines", "a: ", "x\n ", ""},
    {"one plain of blank lines", "a: x\n", "\n", " y"},
    {"block", "a: |\n", "  x\n", ""},
    {"folded", "a: >\n", "  x\n\n", ""},
    {"block of blank lines", "a: |\n", "\n", "  x"},
    {"comments", "a: x\n", "# c\n", "b: y"},
    {"empty values", "", "k#:\n", ""},
    {"maps in a list", "", "- {a: 1, b: 2}\n", ""},
    {"nested lists", "", "- - - - - - x\n", ""},
    {"tags", "", "- !!str x\n", ""},
    {"end is wrong", "", "k#: v\n", "  : ["},
    {"plain with colons", "a: ", "b:c:", ""},
    {"explicit keys", "", "? k#\n: v\n", ""},
    {"quotes in one line", "[", "\"x\", ", "]"},
    {"long directive", "%a ", "b", "\n"},
    {"long name of a directive", "%", "b", " a\n"},
    {"directives", "", "%a b\n", "---\na\n"},
    {"tag directives", "", "%TAG !a#! x\n", "---\na\n"},
    {"long anchor", "&", "b", " x\n"},
    {"long tag", "!", "b", " x\n"},
    {"long verbatim tag", "!<", "b", "> x\n"},
    {"long alias", "*", "b", "\n"},
    {"long key", "", "b", ": x\n"},
    {"long quoted key", "\"", "b", "\": x\n"},
    {"long plain", "a: ", "b", "\n"},
    {"long plain of words", "a: ", "b ", "\n"},
    {"spaces in plain", "a: x", " ", "y\n"},
    {"tabs in plain", "a: x", "\t", "y\n"},
    {"spaces before a value", "a: ", " ", "y\n"},
    {"spaces in a quote", "a: \"x", " ", "y\"\n"},
    {"blank lines in a quote", "a: \"x", "\n", "y\"\n"},
    {"blank lines in a single quote", "a: 'x", "\n", "y'\n"},
    {"blank lines of spaces", "a: x\n", "  \n", "b: y\n"},
    {"blank lines of spaces in plain", "a: x\n", "  \n", "  y\n"},
    {"blank lines between keys", "a: x\n", "\n", "b: y\n"},
    {"blank lines, crlf", "a: x\r\n", "\r\n", "b: y\n"},
    {"blank lines in a list", "- x\n", "\n", "- y\n"},
    {"blank lines in flow", "[x,", "\n", "y]\n"},
    {"blank lines after a word in flow", "[x", "\n", ",y]\n"},
    {"blank lines at the end", "a: x\n", "\n", ""},
    {"blank lines after a quote", "a: \"x\"\n", "\n", "b: y\n"},
    {"blank lines after a key", "a:\n", "\n", "  b: y\n"},
    {"blank lines after a block", "a: |\n x\n", "\n", "b: y\n"},
    {"spaces of a block", "a: |\n ", " ", "x\nb: y\n"},
    {"spaces behind a block's head", "a: |", " ", "\n x\nb: y\n"},
    {"spaces in block lines", "a: |\n", "  x          \n", "\n"},
    {"spaces at the end of plain", "a: x", " ", "\nb: y\n"},
    {"spaces before a comment", "a: x", " ", "# y\nb: y\n"},
    {"one comment", "#", "x", "\nb: y\n"},
    {"comments after plain", "a: x\n", "#\n", " y\n"},
    {"comments in plain", "a: x # ", "y", "\nb: y\n"},
    {"indented comments", "a:\n", "  # x\n", "  b: y\n"},
    {"digits of a block", "a: |", "1", "\n x\n"},
    {"next lines", "a: x", "\xc2\x85", "y"},
    {"lone returns", "a: |\n  x\n", "\r", "  y\n"},
    {"blank lines, some", "a: |\n  x\n",
     "  y\n"
     "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
     "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
     "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
     "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
     "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
     "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
     "b: y\n"},
    {"long lines of spaces", "a: |\n  x\n",
     "                                                                \n", "  y\n"},
    {"dashes", "a: ", "-", "\n"},
    {"dots", "", "...\n", ""},
    {"dots at the end", "a: b\n", "...\n", ""},
    {"question marks", "", "?\n", ""},
    {"colons", "", ":\n", ""},
    {"escaped breaks", "a: \"", "\\\n", "\""},
    {"flow pairs", "[", "a: b, ", "]"},
    {"flow keys open", "{", "a, ", "}"},
    {"flow quoted keys", "{", "\"k#\":1, ", "}"},
    {"flow lines", "{", "a#: b,\n", "}"},
    {"long keys", "", "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk#: v\n", ""},
    {NULL, NULL, NULL, NULL}};
static const shape jsons[] = {{"keys", "{\"z\":0", ",\"k#\":1", "}"},
                              {"one key", "{\"z\":0", ",\"k\":1", "}"},
                              {"items", "[0", ",1", "]"},
                              {"objects", "[0", ",{\"a\":1}", "]"},
                              {"lists", "[0", ",[[[[[[[[[]]]]]]]]]", "]"},
                              {"escapes", "[\"", "\\u4e2d", "\"]"},
                              {"one string", "[\"", "x", "\"]"},
                              {"one number", "[", "1", "]"},
                              {"open", "[0", ",{\"a\":1}", ""},
                              {"spaces", "[", "  \n", "]"},
                              {NULL, NULL, NULL, NULL}};
static const shape pages[] = {
    {"tables", "", "| a | b |\n|---|---|\n", ""},
    {"rows", "| id | b |\n|---|---|\n", "| # | x |\n", ""},
    {"rows alike", "| id | b |\n|---|---|\n", "| 1 | x |\n", ""},
    {"wide row", "|", " a |", "\n|---|\n"},
    {"headings", "", "## h#\n", ""},
    {"headings alike", "", "## h\n- **动作**: a\n", ""},
    {"bullets", "# h\n", "- **a**: b\n", ""},
    {"bullets of numbers", "# h\n", "- k#: b\n", ""},
    {"json fences", "", "```json\n{}\n```\n", ""},
    {"yaml fences", "", "```yaml\na: 1\n```\n", ""},
    {"yaml fences of actions", "", "```yaml\nqueue: []\n```\n", ""},
    {"open comments", "", "<!-- \n", ""},
    {"comments", "", "<!-- x -->\n", ""},
    {"stamps", "", "<!-- pons generation=# -->\n", ""},
    {"kept", "", "<!-- pons kept: {} -->\n", ""},
    {"front matter", "---\n", "k#: v\n", "---\n"},
    {"actions", "```json\n{\"queue\": [{}", ",{\"action_id\":\"a#\",\"action_type\":\"stop\"}",
     "]}\n```\n"},
    {"actions alike", "```json\n{\"queue\": [{}", ",{\"action_id\":\"a\",\"action_type\":\"stop\"}",
     "]}\n```\n"},
    {"actions without ids", "```json\n{\"queue\": [{}", ",{\"action_type\":\"stop\"}", "]}\n```\n"},
    {"actions that are wrong", "```json\n{\"queue\": [{}", ",1", "]}\n```\n"},
    {"sessions", "```yaml\nsessions:\n", "  - session_id: s#\n    status: pending\n", "```\n"},
    {"sessions alike", "```yaml\nsessions:\n", "  - session_id: s\n    status: pending\n", "```\n"},
    {"sessions that are wrong", "```yaml\nsessions:\n", "  - 1\n", "```\n"},
    {"skills", "```yaml\nskills:\n", "  - id: s#\n    runtime: x\n", "```\n"},
    {"skills alike", "```yaml\nskills:\n", "  - id: s\n", "```\n"},
    {"targets", "```yaml\ntargets:\n", "  - id: s#\n    type: sim\n", "```\n"},
    {"objects", "```yaml\nobjects:\n", "  o#: {class: x}\n", "```\n"},
    {"objects listed", "```yaml\nobjects:\n", "  - {id: o#, class: x}\n", "```\n"},
    {"nodes", "```json\n{\"scene_graph\": {\"nodes\": [{}", ",{\"id\":\"n#\",\"class\":\"x\"}",
     "], \"edges\": []}}\n```\n"},
    {"nodes alike", "```json\n{\"scene_graph\": {\"nodes\": [{}", ",{\"id\":\"n\",\"class\":\"x\"}",
     "], \"edges\": []}}\n```\n"},
    {"edges", "```json\n{\"scene_graph\": {\"nodes\": [], \"edges\": [{}",
     ",{\"source\":\"a#\",\"target\":\"b\",\"relation\":\"on\"}", "]}}\n```\n"},
    {"robots", "```json\n{\"robots\": {\"z\":{}", ",\"r#\":{\"x\":1}", "}}\n```\n"},
    {"robot list", "```yaml\nrobots:\n", "  - robot_id: r#\n", "```\n"},
    {"lessons", "", "## 2025-04-01 12:00:05 — x\n- **动作**: a\n- **原因**: b\n", ""},
    {"lessons of yaml", "```yaml\nlessons:\n", "  - {title: x, action: a}\n", "```\n"},
    {"tasks", "| 子任务 | 动作 | 目标 | 状态 | 备注 |\n|---|---|---|---|---|\n",
     "| # | a | b | done | |\n", ""},
    {"unknown keys", "```yaml\n", "k#: v\n", "```\n"},
    {"fences in lists", "", "- ```\n", ""},
    {"sections of bullets", "", "## robot_#\n- **type**: x\n", ""},
    {"bare yaml", "sessions:\n", "  - session_id: s#\n", ""},
    {"numbered", "", "#. x\n", ""},
    {"checks", "", "- [ ] t#\n", ""},
    {"one fence of blank lines", "```yaml\nqueue: |\n  x\n", "\n", "  y\n```\n"},
    {"one fence of directives", "```yaml\n", "%a b\n", "```\n"},
    {"one fence, deep", "```yaml\n", "[", "\n```\n"},
    {"one fence of anchors", "```yaml\n", "- &a# x\n", "\n```\n"},
    {"one fence of keys", "```yaml\n", "k#: v\n", "\n```\n"},
    {"one fence of one key", "```json\n{\"z\":0", ",\"k\":1", "}\n```\n"},
    {NULL, NULL, NULL, NULL}};
static const shape trees[] = {
    {"leaves", "root { sequence {", "action [a] ", "} }"},
    {"roots", "", "root [r#] { action [a] }\n", ""},
    {"roots alike", "", "root [r] { action [a] }\n", ""},
    {"deep", "root { ", "sequence { ", ""},
    {"arguments", "root { action [a", ", 1", "] }"},
    {"guards", "root { action [a]", " while(c)", " }"},
    {"branches", "root { sequence { branch [r1] } }\n", "root [r#] { branch [x] }\n", ""},
    {"branch chain", "root { branch [r1] }\n", "root [r#] { sequence { branch [q] branch [q] } }\n",
     "root [q] { action [a] }"},
    {"faults", "root { sequence {", "a ", "} }"},
    {"long string", "root { action [a, \"", "x", "\"] }"},
    {NULL, NULL, NULL, NULL}};
static const shape bt_jsons[] = {
    {"leaves",
     "{\"type\":\"root\",\"child\":{\"type\":\"sequence\",\"children\":[{\"type\":\"action\","
     "\"call\":\"a\"}",
     ",{\"type\":\"action\",\"call\":\"a\"}", "]}}"},
    {"roots", "[{\"type\":\"root\",\"child\":{\"type\":\"action\",\"call\":\"a\"}}",
     ",{\"type\":\"root\",\"id\":\"r#\",\"child\":{\"type\":\"action\",\"call\":\"a\"}}", "]"},
    {"faults", "{\"type\":\"root\",\"child\":{\"type\":\"sequence\",\"children\":[1", ",1", "]}}"},
    {NULL, NULL, NULL, NULL}};
#define XML "<root BTCPP_format=\"4\" main_tree_to_execute=\"M\">"
static const shape bt_xmls[] = {
    {"leaves", XML "<BehaviorTree ID=\"M\"><Sequence>", "<Action ID=\"a\"/>",
     "</Sequence></BehaviorTree></root>"},
    {"kinds", XML "<BehaviorTree ID=\"M\"><Sequence>", "<Action ID=\"a#\"/>",
     "</Sequence></BehaviorTree></root>"},
    {"ports", XML "<BehaviorTree ID=\"M\"><Sequence>", "<Action ID=\"a\" x=\"{k#}\"/>",
     "</Sequence></BehaviorTree></root>"},
    {"scripts", XML "<BehaviorTree ID=\"M\"><Script code=\"", "a#:=1;",
     "\"/></BehaviorTree></root>"},
    {"deep script", XML "<BehaviorTree ID=\"M\"><Script code=\"a:=", "(",
     "\"/></BehaviorTree></root>"},
    {"sum script", XML "<BehaviorTree ID=\"M\"><Script code=\"a:=1", "+1",
     "\"/></BehaviorTree></root>"},
    {"trees", XML, "<BehaviorTree ID=\"T#\"><AlwaysSuccess/></BehaviorTree>",
     "<BehaviorTree ID=\"M\"><AlwaysSuccess/></BehaviorTree></root>"},
    {"trees alike", XML, "<BehaviorTree ID=\"T\"><AlwaysSuccess/></BehaviorTree>", "</root>"},
    {"subtrees",
     XML "<BehaviorTree ID=\"S\"><AlwaysSuccess/></BehaviorTree><BehaviorTree ID=\"M\"><Sequence>",
     "<SubTree ID=\"S\" a=\"#\"/>", "</Sequence></BehaviorTree></root>"},
    {"models and nodes", XML "<BehaviorTree ID=\"M\"><Sequence>",
     "<Action ID=\"a#\" b=\"\"/></Sequence></BehaviorTree><TreeNodesModel><Action "
     "ID=\"a#\"><input_port name=\"b\"/></Action></TreeNodesModel><BehaviorTree "
     "ID=\"M#\"><Sequence>",
     "<AlwaysSuccess/></Sequence></BehaviorTree></root>"},
    {"models", XML "<BehaviorTree ID=\"M\"><AlwaysSuccess/></BehaviorTree><TreeNodesModel>",
     "<Action ID=\"a#\"><input_port name=\"x\"/></Action>", "</TreeNodesModel></root>"},
    {"ports of a model",
     XML "<BehaviorTree ID=\"M\"><AlwaysSuccess/></BehaviorTree><TreeNodesModel><Action ID=\"a\">",
     "<input_port name=\"x#\"/>", "</Action></TreeNodesModel></root>"},
    {"attributes", XML "<BehaviorTree ID=\"M\"><Action ID=\"a\"", " k#=\"\"",
     "/></BehaviorTree></root>"},
    {"deep", XML "<BehaviorTree ID=\"M\">", "<Sequence>", ""},
    {"faults", XML "<BehaviorTree ID=\"M\"><Sequence>", "<x/>",
     "</Sequence></BehaviorTree></root>"},
    {"comments", XML, "<!-- x -->", "</root>"},
    {NULL, NULL, NULL, NULL}};
static const shape plans[] = {
    {"steps", "{\"goal\":\"g\",\"steps\":[{\"step_id\":0,\"action\":\"a\",\"args\":{}}",
     ",{\"step_id\":#,\"action\":\"a\",\"args\":{}}", "]}"},
    {"steps that need", "{\"goal\":\"g\",\"steps\":[{\"step_id\":0,\"action\":\"a\",\"args\":{}}",
     ",{\"step_id\":#,\"action\":\"a\",\"args\":{},\"depends_on\":[0]}", "]}"},
    {"steps alike", "{\"goal\":\"g\",\"steps\":[{\"step_id\":0,\"action\":\"a\",\"args\":{}}",
     ",{\"step_id\":1,\"action\":\"a\",\"args\":{}}", "]}"},
    {"calls", "", "a(x=1)\n", ""},
    {"calls in prose", "", "then `a(x=1)` and\n", ""},
    {"thoughts", "", "<think>", ""},
    {"thoughts closed", "", "<think></think>", ""},
    {"fences", "", "```json\n{}\n```\n", ""},
    {"open objects", "", "{\"a\":", ""},
    {"objects", "", "{\"steps\":1} ", ""},
    {"damaged steps", "{\"goal\":'g',steps:[{step_id:0,action:'a',args:{}}",
     ",{step_id:#,action:'a',args:{},}", "]}"},
    {"open quotes", "{\"steps\": \"", "\" \"", ""},
    {"single quotes", "{'steps': [", "'a', ", "]}"},
    {"trailing commas", "{\"steps\": [", "1,,", "]}"},
    {"comments", "{\"steps\": [", "/* x */", "]}"},
    {"line comments", "{\"steps\": [", "// x\n", "]}"},
    {"words", "{\"steps\": [", "True, ", "None]}"},
    {"types", "", "{\"type\":\"a#\"}", ""},
    {"types alike", "", "{\"type\":\"a\"}", ""},
    {"tool calls", "[{\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}",
     ",{\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}", "]"},
    {"one argument", "a(x=\"", "\\\"", "\")"},
    {"xml calls", "", "<tool_call>{\"name\":\"a\"}</tool_call>", ""},
    {"open xml calls", "", "<tool_call>", ""},
    {NULL, NULL, NULL, NULL}};
#define WORLD                                                                                      \
    "name: w\nbounds: [0, 0, 400, 300]\nstart: {x: 1.2, y: 1.2, yaw: 0}\nrobot: {id: r, "          \
    "radius_m: 0.2, wheel_radius_m: 0.08, track_m: 0.3, speed_max_mps: 0.6, reverse_max_mps: "     \
    "0.3, yaw_rate_max_radps: 1.5, accel_max_mps2: 1, brake_max_mps2: 2, yaw_accel_max_radps2: "   \
    "4}\n"                                                                                         \
    "battery: {initial_pct: 90, idle_pct_per_s: 0.01, motion_pct_per_m: 0.2, charge_pct_per_s: "   \
    "1}\n"                                                                                         \
    "lidar: {beams: 16, angle_min: -3.1, angle_max: 3.1, range_min: 0.05, range_max: 8, hz: 10, "  \
    "noise_m: 0.01}\n"                                                                             \
    "charger: {pose: {x: 1.2, y: 1.2, yaw: 0}, contact_m: 0.1}\n"
#define HALL                                                                                       \
    "zones: [{id: hall, names: {en: [hall]}, polygon: [[0.5, 0.5], [3.5, 0.5], [3.5, 2.5], [0.5, " \
    "2.5]], target: {x: 1.2, y: 1.2, yaw: 0}}]\n"
static const shape worlds[] = {
    {"zones", WORLD "map: {boxes: []}\nzones:\n",
     "  - {id: z#, names: {en: [room #]}, polygon: [[0.5, 0.5], [3.5, 0.5], [3.5, 2.5]], target: "
     "{x: 2.5, y: 1, yaw: 0}}\n",
     ""},
    {"zones alike", WORLD "map: {boxes: []}\nzones:\n",
     "  - {id: z, names: {en: [room]}, polygon: [[0.5, 0.5], [3.5, 0.5], [3.5, 2.5]], target: {x: "
     "2.5, y: 1, yaw: 0}}\n",
     ""},
    {"names of a zone",
     WORLD "map: {boxes: []}\nzones: [{id: hall, polygon: [[0.5, 0.5], [3.5, 0.5], [3.5, 2.5], "
           "[0.5, 2.5]], target: {x: 1.2, y: 1.2, yaw: 0}, names: {en: [",
     "r#, ", "x]}}]\n"},
    {"corners of a zone",
     WORLD "map: {boxes: []}\nzones: [{id: hall, names: {en: [hall]}, target: {x: 1.2, y: 1.2, "
           "yaw: 0}, polygon: [[0.5, 0.5], [3.5, 0.5], ",
     "[3.5, 2.5], ", "[0.5, 2.5]]}]\n"},
    {"boxes", WORLD HALL "map:\n  boxes:\n",
     "    - {id: b#, x: 100, y: 100, sx: 4, sy: 0.1, kind: wall}\n", ""},
    {"boxes with names", WORLD HALL "map:\n  boxes:\n",
     "    - {id: b#, x: 100, y: 100, sx: 4, sy: 0.1, kind: furniture, names: {en: [box #]}}\n", ""},
    {"objects", WORLD HALL "map: {boxes: []}\nobjects:\n",
     "  - {id: o#, class: c, names: {en: [thing #]}, position: [1, 1, 0.5]}\n", ""},
    {"keep out", WORLD HALL "map: {boxes: []}\nkeep_out:\n",
     "  - {id: k#, polygon: [[3, 2], [3.2, 2], [3.2, 2.2]]}\n", ""},
    {"keep out, one polygon",
     WORLD HALL "map: {boxes: []}\nkeep_out:\n  - {id: k, polygon: [[3, 2]", ", [3.2, 2]", "]}\n"},
    {"cameras", WORLD HALL "map: {boxes: []}\ncameras:\n",
     "  - {id: c#, at: [2, 1, 1], look_at: [1, 1, 0.5]}\n", ""},
    {NULL, NULL, NULL, NULL}};
static const shape pgms[] = {
    {"chess", "P2 700 700 255\n", "0 254 ", ""},
    {"walls", "P2 500 500 255\n", "0 ", ""},
    {"comments", "P2\n", "#x\n", "1 1 255\n0"},
    {"binary chess", "P5 1000 1040 255\n", "a ", ""},
    {"binary rows", "P5 1001 1040 255\n", "a ", ""},
    {"binary blobs", "P5 1000 1040 255\n", "aaa a     a aa    aaaaa  aaa  aaaaa ", ""},
    {NULL, NULL, NULL, NULL}};
#define ROBOT "<robot name=\"r\"><link name=\"a\"/><link name=\"t\"/>"
static const shape urdfs[] = {
    {"links", ROBOT, "<link name=\"l#\"/>", "</robot>"},
    {"links alike", ROBOT, "<link name=\"l\"/>", "</robot>"},
    {"star", ROBOT,
     "<link name=\"l#\"/><joint name=\"j#\" type=\"fixed\"><parent link=\"a\"/><child "
     "link=\"l#\"/></joint>",
     "</robot>"},
    {"chain", ROBOT "<link name=\"l-1\"/>",
     "<link name=\"l#\"/><joint name=\"j#\" type=\"fixed\"><parent link=\"l#-\"/><child "
     "link=\"l#\"/></joint>",
     "</robot>"},
    {"joints", ROBOT,
     "<joint name=\"j#\" type=\"fixed\"><parent link=\"a\"/><child link=\"t\"/></joint>",
     "</robot>"},
    {"shapes", ROBOT "<link name=\"b\">",
     "<collision><geometry><box size=\"1 1 1\"/></geometry></collision>", "</link></robot>"},
    {"shapes about", "<robot name=\"r\"><link name=\"a\">",
     "<collision><origin xyz=\"0.# 0 0\"/><geometry><sphere "
     "radius=\"0.1\"/></geometry></collision>",
     "</link></robot>"},
    {"attributes", ROBOT "<link", " k#=\"\"", "/></robot>"},
    {"deep", ROBOT, "<x>", ""},
    {"comments", ROBOT, "<!-- -->", "</robot>"},
    {"one comment", ROBOT "<!-- ", "- ", "--></robot>"},
    {"sensors", ROBOT,
     "<gazebo reference=\"a\"><sensor type=\"ray\" "
     "name=\"s#\"><ray><range><min>0.1</min></range></ray></sensor></gazebo>",
     "</robot>"},
    {"numbers", ROBOT "<link name=\"b\"><collision><origin xyz=\"", "1 ",
     "\"/></collision></link></robot>"},
    {"entities", "<!DOCTYPE r [<!ENTITY a \"aaaaaaaaaa\">]><robot name=\"", "&a;", "\"/>"},
    {NULL, NULL, NULL, NULL}};
static const shape views[] = {
    {"activities", "activities:\n", "  a#: {place: home}\n", ""},
    {"places", "places:\n", "  p#: {}\n", ""},
    {"windows", "windows:\n", "  - {id: w, from: \"07:00\", to: \"08:00\"}\n", ""},
    {NULL, NULL, NULL, NULL}};
static const shape servers[] = {
    {"servers", "{\"mcpServers\":{\"z\":{\"command\":\"x\"}", ",\"s#\":{\"command\":\"x\"}", "}}"},
    {"arguments", "{\"mcpServers\":{\"z\":{\"command\":\"x\",\"args\":[\"\"", ",\"a\"", "]}}}"},
    {"environment", "{\"mcpServers\":{\"z\":{\"command\":\"x\",\"env\":{\"A\":\"\"",
     ",\"B#\":\"${A}\"", "}}}}"},
    {"one value", "{\"mcpServers\":{\"z\":{\"command\":\"x\",\"env\":{\"A\":\"", "${HOME}",
     "\"}}}}"},
    {"end is wrong", "{\"mcpServers\":{\"z\":{\"command\":\"x\"}", ",\"s#\":{\"command\":\"x\"}",
     ",\"w\":1}}"},
    {NULL, NULL, NULL, NULL}};
static const shape intent_files[] = {{"words", "intents:\n  go_to: {words: [", "w#, ", "x]}\n"},
                                     {NULL, NULL, NULL, NULL}};
static const shape fleets[] = {{"zones", "zones:\n", "  - {id: z#}\n", ""},
                               {NULL, NULL, NULL, NULL}};
static const shape htmls[] = {
    {"open", "", "<b></i>", ""},        {"attributes", "<a", " k#=\"\"", ">"},
    {"entities", "", "&amp;&#65;", ""}, {"scripts", "", "<script>", ""},
    {"open comment", "", "<!--", ""},   {"tables", "", "<table><tr><td>", ""},
    {"lists", "", "<ul><li>", ""},      {"pre", "", "<pre>", ""},
    {"titles", "", "<title>", ""},      {NULL, NULL, NULL, NULL}};

static const shape *const
    of_yaml[] = {plain, yamls, NULL},
    *const of_json[] = {plain, jsons, NULL}, *const of_pages[] = {plain, pages, NULL},
    *const of_mdsl[] = {plain, trees, NULL}, *const of_bt_json[] = {plain, jsons, bt_jsons, NULL},
    *const of_bt_xml[] = {plain, bt_xmls, NULL}, *const of_plans[] = {plain, jsons, plans, NULL},
    *const of_worlds[] = {worlds, NULL}, *const of_maps[] = {pgms, NULL},
    *const of_urdf[] = {plain, urdfs, NULL}, *const of_views[] = {views, yamls, NULL},
    *const of_servers[] = {plain, jsons, servers, NULL},
    *const of_intents[] = {intent_files, yamls, NULL}, *const of_fleets[] = {fleets, yamls, NULL},
    *const of_scenarios[] = {yamls, NULL}, *const of_html[] = {plain, htmls, NULL};

static const reader readers[] = {
    {"yaml", NULL, yaml, of_yaml},
    {"json", NULL, json, of_json},
    {"environment", NULL, workspace, of_pages},
    {"embodied", NULL, workspace, of_pages},
    {"action", NULL, workspace, of_pages},
    {"sessions", NULL, workspace, of_pages},
    {"targets", NULL, workspace, of_pages},
    {"skills", NULL, workspace, of_pages},
    {"task", NULL, workspace, of_pages},
    {"orchestrator", NULL, workspace, of_pages},
    {"lessons", NULL, workspace, of_pages},
    {"robots", NULL, workspace, of_pages},
    {"mdsl", NULL, mdsl, of_mdsl},
    {"bt_json", NULL, bt_json, of_bt_json},
    {"bt_xml", NULL, bt_xml, of_bt_xml},
    {"plan", NULL, plan, of_plans},
    {"reply", NULL, reply, of_plans},
    {"world", "world.yaml", world, of_worlds},
    {"map", "map.pgm", map, of_maps},
    {"urdf", "r.urdf", base_urdf, of_urdf},
    {"arm", "r.urdf", arm_urdf, of_urdf},
    {"intents", NULL, intents, of_intents},
    {"world_view", NULL, world_view, of_views},
    {"mcp", "mcp.json", mcp, of_servers},
    {"fleet", NULL, fleet_map, of_fleets},
    {"scenario", "s.yaml", scenario, of_scenarios},
    {"html", NULL, html, of_html},
};

// ---- measuring ----------------------------------------------------------------------------------

static void make(const shape *s, size_t size, pons_buf *out)
{
    out->len = 0;
    pons_buf_str(out, s->head);
    const size_t tail = strlen(s->tail);
    for (int i = 0; out->len + tail + strlen(s->piece) + 8 < size; i++) {
        for (const char *p = s->piece; *p; p++) {
            if (*p == '#' && p[1] == '-') {
                pons_buf_printf(out, "%d", i - 1);
                p++;
            } else if (*p == '#' && s->piece[1]) {
                pons_buf_printf(out, "%d", i);
            } else {
                pons_buf_byte(out, *p);
            }
        }
    }
    pons_buf_str(out, s->tail);
}

static double time_of(const reader *r, const shape *s, size_t size)
{
    pons_autobuf text = PONS_BUF_INIT;
    make(s, size, &text);
    if (r->file) {
        snprintf(path, sizeof path, "%s/%s", folder, r->file);
        FILE *f = fopen(path, "we");
        if (!f || fwrite(text.data, 1, text.len, f) != text.len || fclose(f) != 0) {
            perror(path);
            exit(1);
        }
    }
    double best = 1e9;
    // The first read pays for fresh pages.
    for (int i = 0; i < TIMES && (i < 3 || best < SHORT_S); i++) {
        const double from = bench_cpu_s();
        r->read(text.data, text.len);
        const double took = bench_cpu_s() - from;
        best = took < best ? took : best;
    }
    return best * 1000;
}

int main(int argc, char **argv)
{
    mallopt(M_MMAP_THRESHOLD,
            KEPT_MAX); // what the kernel takes for fresh pages is not the reader's
    mallopt(M_TRIM_THRESHOLD, KEPT_MAX);
    setenv("PONS_SHARE", ".", 0);
    pons_value_init();
    pons_memory_of_a_process();
    bench_folder(folder, sizeof folder);
    char map_yaml[128];
    snprintf(map_yaml, sizeof map_yaml, "%s/map.yaml", folder);
    FILE *f = fopen(map_yaml, "we");
    fputs("image: map.pgm\nresolution: 0.05\norigin: [0, 0, 0]\nnegate: 0\noccupied_thresh: "
          "0.65\nfree_thresh: 0.25\n",
          f);
    fclose(f);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        const reader *r = &readers[i];
        char name[64], quarter_name[80];
        snprintf(name, sizeof name, "readers.%s", r->name);
        snprintf(quarter_name, sizeof quarter_name, "readers.%s.quarter", r->name);
        if (!bench_wants(argc, argv, name)) {
            continue;
        }
        pons_ws_file_of(r->name, &page);
        double worst = 0, worst_quarter = 0;
        const char *which = "";
        for (size_t k = 0; r->shapes[k]; k++) {
            for (const shape *s = r->shapes[k]; s->name; s++) {
                const double quarter = time_of(r, s, QUARTER), whole = time_of(r, s, WHOLE);
                if (getenv("PONS_BENCH_SHAPES")) {
                    fprintf(stderr, "%-12s %-24s %9.2f %9.2f %6.2f%s\n", r->name, s->name, quarter,
                            whole, whole / quarter,
                            whole > 3 && whole / quarter > 5.5 ? " !!"
                            : whole > 100                      ? " !"
                                                               : "");
                }
                if (whole > worst) {
                    worst = whole;
                    worst_quarter = quarter;
                    which = s->name;
                }
            }
        }
        fprintf(stderr, "bench: %s: %s\n", name, which);
        bench_print(name, worst, "ms");
        bench_print(quarter_name, worst_quarter, "ms");
    }
    bench_remove(folder);
    return 0;
}
