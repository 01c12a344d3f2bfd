// test_repair.c - what the tolerant reader makes of damaged texts, and what it refuses.
//
// The first table: a text as a model may write it, the plan that it means (as strict JSON; NULL:
// the one that most rows damage), and the kinds of all repairs in the order they are told. The plan
// must be the same byte for byte, so nothing was lost, and every key, text and action of its steps
// must stand in the given text, so nothing was made up. The second: texts that
// can be read in two ways, are cut, or hold no plan, with the reason and the position.
#include "plan/plan_help.h"

#define BASE                                                                                       \
    "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":" \
    "{"                                                                                            \
    "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}"

typedef struct damage {
    const char *text, *goal, *means, *repairs;
} damage;

static const damage damages[] = {
    {"\357\273\277" BASE, NULL, NULL, "bom"},
    {"Here is the plan:\n" BASE, NULL, NULL, "prose"},
    {BASE "\nHope this helps!", NULL, NULL, "prose"},
    {"Sure.\n\n" BASE "\n\nDone.", NULL, NULL, "prose prose"},
    {"```json\n" BASE "\n```", NULL, NULL, "fence fence"},
    {"```\n" BASE "\n```", NULL, NULL, "fence fence"},
    {"~~~json\n" BASE "\n~~~", NULL, NULL, "fence fence"},
    {"Text\n```json\n" BASE "\n```\nmore", NULL, NULL, "fence prose fence prose"},
    {"```JSON5\n" BASE "\n```", NULL, NULL, "fence fence"},
    {"```python\n" BASE "\n```", NULL, NULL, "fence fence"},
    {"```json\n" BASE, NULL, NULL, "fence"},
    {"```json " BASE "```", NULL, NULL, "fence fence"},
    {"```" BASE "```", NULL, NULL, "fence fence"},
    {"  ```json\n  " BASE "\n  ```", NULL, NULL, "fence fence"},
    {"> ```json\n> " BASE "\n> ```", NULL, NULL, "fence prose fence prose"},
    {"I use {placeholders} here.\n" BASE, NULL, NULL, "prose"},
    {"A set {a, b} and {}.\n" BASE, NULL, NULL, "prose"},
    {"See [1] and [link](x).\n" BASE, NULL, NULL, "prose"},
    {"Example: {\"goal\": \"no\"}\n```json\n" BASE "\n```", NULL, NULL, "fence prose fence"},
    {"```json\n" BASE "\n```\nAgain:\n```json\n{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{"
     "\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}\n```",
     NULL, NULL, "fence fence prose fence prose"},
    {BASE "\n{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
          "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "prose"},
    {"<think>I should {\"goal\": \"x\"}</think>" BASE, NULL, NULL, "thinking"},
    {"<think>\nhm\n</think>\n\n```json\n" BASE "\n```", NULL, NULL, "thinking fence fence"},
    {"so I think</think>" BASE, NULL, NULL, "thinking"},
    {"<thinking>a</thinking>" BASE, NULL, NULL, "thinking"},
    {"<reasoning>a</reasoning>\n" BASE, NULL, NULL, "thinking"},
    {"<plan>" BASE "</plan>", NULL, NULL, "tag tag"},
    {"<json>\n" BASE "\n</json>", NULL, NULL, "tag tag"},
    {"<answer>" BASE "</answer> ok\?", NULL, NULL, "tag tag prose"},
    {"plan = " BASE, NULL, NULL, "prose"},
    {"const plan = " BASE ";", NULL, NULL, "prose separator"},
    {"return " BASE, NULL, NULL, "prose"},
    {"export default " BASE ";", NULL, NULL, "prose separator"},
    {"json\n" BASE, NULL, NULL, "prose"},
    {"Output: " BASE, NULL, NULL, "prose"},
    {"**Plan**\n\n" BASE "\n\n---", NULL, NULL, "prose prose"},
    {"- " BASE, NULL, NULL, "prose"},
    {"1. " BASE, NULL, NULL, "prose"},
    {">>> " BASE, NULL, NULL, "prose"},
    {"\"{\\\"plan_id\\\":\\\"p\\\",\\\"goal\\\":\\\"g\\\",\\\"steps\\\":[{\\\"step_id\\\":1,"
     "\\\"action\\\":\\\"a\\\",\\\"parameters\\\":{\\\"x\\\":1}},{\\\"step_id\\\":2,\\\"action\\\":"
     "\\\"b\\\"}],\\\"created_at\\\":0}\"",
     NULL, NULL, "encoded"},
    {"\"{\\\"plan_id\\\":\\\"p\\\",\\\"goal\\\":\\\"g\\\",\\\"steps\\\":[{\\\"step_id\\\":1,"
     "\\\"action\\\":\\\"a\\\",\\\"parameters\\\":{\\\"x\\\":1}},{\\\"step_id\\\":2,\\\"action\\\":"
     "\\\"b\\\"}],\\\"created_at\\\":0}\"\n",
     NULL, NULL, "encoded"},
    {"'" BASE "'", NULL, NULL, "prose prose"},
    {"text: '''x'''\n" BASE, NULL, NULL, "prose"},
    {"\013" BASE, NULL, NULL, "prose"},
    {"\343\200\200" BASE, NULL, NULL, "prose"},
    {BASE "\342\200\213", NULL, NULL, "prose"},
    {"{\"plan\":" BASE "}", NULL, NULL, "unwrapped"},
    {"{\"data\":" BASE "}", NULL, NULL, "unwrapped"},
    {"{\"result\":" BASE "}", NULL, NULL, "unwrapped"},
    {"{\"output\":" BASE "}", NULL, NULL, "unwrapped"},
    {"{\"response\":" BASE "}", NULL, NULL, "unwrapped"},
    {"{\"answer\":" BASE "}", NULL, NULL, "unwrapped"},
    {"{\"json\":" BASE "}", NULL, NULL, "unwrapped"},
    {"{\"thought\":\"t\",\"plan\":" BASE "}", NULL, NULL, "unwrapped left-out"},
    {"[" BASE "]", NULL, NULL, "unwrapped"},
    {"{\"plan\":\"{\\\"plan_id\\\":\\\"p\\\",\\\"goal\\\":\\\"g\\\",\\\"steps\\\":[{\\\"step_"
     "id\\\":1,\\\"action\\\":\\\"a\\\",\\\"parameters\\\":{\\\"x\\\":1}},{\\\"step_id\\\":2,"
     "\\\"action\\\":\\\"b\\\"}],\\\"created_at\\\":0}\"}",
     NULL, NULL, "unwrapped encoded"},
    {"{\"plan\":{\"plan\":" BASE "}}", NULL, NULL, "unwrapped unwrapped"},
    {"{\"plan\":[" BASE "]}", NULL, NULL, "unwrapped unwrapped"},
    {"{\"name\":\"plan_create\",\"arguments\":" BASE "}", NULL, NULL, "unwrapped"},
    {"{\"name\":\"create_plan\",\"arguments\":\"{\\\"plan_id\\\":\\\"p\\\",\\\"goal\\\":\\\"g\\\","
     "\\\"steps\\\":[{\\\"step_id\\\":1,\\\"action\\\":\\\"a\\\",\\\"parameters\\\":{\\\"x\\\":1}},"
     "{\\\"step_id\\\":2,\\\"action\\\":\\\"b\\\"}],\\\"created_at\\\":0}\"}",
     NULL, NULL, "unwrapped encoded"},
    {"{\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"plan_create\","
     "\"arguments\":\"{\\\"plan_id\\\":\\\"p\\\",\\\"goal\\\":\\\"g\\\",\\\"steps\\\":[{\\\"step_"
     "id\\\":1,\\\"action\\\":\\\"a\\\",\\\"parameters\\\":{\\\"x\\\":1}},{\\\"step_id\\\":2,"
     "\\\"action\\\":\\\"b\\\"}],\\\"created_at\\\":0}\"}}]}",
     NULL, NULL, "unwrapped unwrapped unwrapped encoded"},
    {"<tool_call>{\"name\":\"plan_create\",\"arguments\":" BASE "}</tool_call>", NULL, NULL,
     "tag tag unwrapped"},
    {"<function=plan_create>" BASE "</function>", NULL, NULL, "tag tag unwrapped"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1,}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "trailing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",}],\"created_at\":0}",
     NULL, NULL, "trailing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"},],\"created_at\":0}",
     NULL, NULL, "trailing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0,}",
     NULL, NULL, "trailing-comma"},
    {BASE ",", NULL, NULL, "trailing-comma"},
    {BASE ";", NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",,\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "extra-comma"},
    {"{,\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "extra-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},,{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "extra-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"},,],\"created_at\":0}",
     NULL, NULL, "extra-comma trailing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\" , "
     ",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "extra-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\" "
     "\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\"\n\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-comma"},
    {"{\"plan_id\":\"p\"\n\t\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}} {\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}}\n{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}}{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1\n\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}] \"created_at\":0}",
     NULL, NULL, "missing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}, },{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "trailing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\";\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\"\357\274\214\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\"\343\200\201\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\"\357\274\233\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}};{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}}\357\274\214{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\"=\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\"=>\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\"\357\274\232\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\" "
     "\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-colon"},
    {"{\"plan_id\":\"p\",\"goal\"::\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\":=\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\" "
     "[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],"
     "\"created_at\":0}",
     NULL, NULL, "missing-colon"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\" "
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-colon"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\" "
     "1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_"
     "at\":0}",
     NULL, NULL, "missing-colon"},
    {"{\"plan_id\":\"p\",\"goal\" = "
     "\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{'plan_id':'p','goal':'g','steps':[{'step_id':1,'action':'a','parameters':{'x':1}},{'step_id'"
     ":2,'action':'b'}],'created_at':0}",
     NULL, NULL,
     "quotes quotes quotes quotes quotes quotes quotes quotes quotes quotes quotes quotes quotes "
     "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":'g',\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",'goal':\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":`g`,\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",`goal`:\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\342\200\234g\342\200\235,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\342\200\234goal\342\200\235:\"g\",\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\342\200\230g\342\200\231,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\343\200\214g\343\200\215,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\302\253g\302\273,\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\342\200\236g\342\200\234,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\342\200\235g\342\200\235,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\357\274\202g\357\274\202,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\"\"\"g\"\"\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":'''g''',\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\342\200\230p\342\200\231,\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":r\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "raw-string"},
    {"{\"plan_id\":\"p\",\"goal\":u\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "raw-string"},
    {"{\"plan_id\":\"p\",\"goal\":u'g',\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "raw-string quotes"},
    {"{\"plan_id\":\"p\",\"goal\":R'g',\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "raw-string quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\"\" + "
     "\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "concatenation"},
    {"{\"plan_id\":\"p\",\"goal\":'' + "
     "\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "quotes concatenation"},
    {"{\"plan_id\":\"\" "
     "+\n\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},"
     "{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "concatenation"},
    {"{\"plan_id\":\"p\",\"goal\":'say "
     "\"hi\"',\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"say "
     "\\\"hi\\\"\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_"
     "id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":'it\\'s',\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"it's\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "escape quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\"it\\'s\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"it's\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "escape"},
    {"{\"plan_id\":\"p\",\"goal\":`a\"b'c`,\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"a\\\"b'c\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\"\"\"a \"b\" "
     "c\"\"\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"a \\\"b\\\" "
     "c\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":r\"a\\d\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"a\\\\d\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "raw-string"},
    {"{\"plan_id\":\"p\",\"goal\":\"\\x67\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "escape"},
    {"{\"plan_id\":\"p\",\"goal\":\"\\u{67}\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "escape"},
    {"{\"plan_id\":\"p\",\"goal\":\"\\U00000067\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "escape"},
    {"{\"plan_id\":\"p\",\"goal\":\"\\d\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"\\\\d\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "escape"},
    {"{\"plan_id\":\"p\",\"goal\":\"a\\_b\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"a\\\\_b\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "escape"},
    {"{\"plan_id\":\"p\",\"goal\":\"a\\\nb\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"ab\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "escape"},
    {"{\"plan_id\":\"p\",\"goal\":\"\\a\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"\\u0007\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "escape"},
    {"{\"plan_id\":\"p\",\"goal\":\"x\\v\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"x\\u000b\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "escape"},
    {"{\"plan_id\":\"p\",\"goal\":\"\\`x\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"`x\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":"
     "{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "escape"},
    {"{\"plan_id\":\"p\",\"goal\":'\\u00e9',\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"\303\251\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":'\\ud83d\\ude00',\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"\360\237\230\200\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "quotes"},
    {"{\"plan_id\":\"p\",\"goal\":\"\\*x\\*\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"\\\\*x\\\\*\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "escape"},
    {"{\"plan_id\":\"p\",\"goal\":\"a\nb\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"a\\nb\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "raw-control"},
    {"{\"plan_id\":\"p\",\"goal\":\"a\tb\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"a\\tb\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "raw-control"},
    {"{\"plan_id\":\"p\",\"goal\":\"a\r\nb\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"a\\r\\nb\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "raw-control"},
    {"{\"plan_id\":\"p\",\"goal\":\"a\001b\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"a\\u0001b\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "raw-control"},
    {"{\"plan_id\":\"p\",\"goal\":\"\"\"a\nb\"\"\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"a\\nb\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "raw-control quotes"},
    {"{\"plan_id\":\"p\",\"go\\x61l\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "escape"},
    {"{\"plan_id\":\"p\",goal:\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "unquoted-key"},
    {"{plan_id:\"p\",goal:\"g\",steps:[{step_id:1,action:\"a\",\"parameters\":{\"x\":1}},{step_id:"
     "2,action:\"b\"}],\"created_at\":0}",
     NULL, NULL,
     "unquoted-key unquoted-key unquoted-key unquoted-key unquoted-key unquoted-key unquoted-key"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "x:1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "unquoted-key"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "1:1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"1\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "unquoted-key"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "a-b:1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"a-b\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "unquoted-key"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "$x:1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"$x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "unquoted-key"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "_x:1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"_x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "unquoted-key"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"requires_confirmation\":True,\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"requires_confirmation\":true,\"created_at\":0}",
     "python-literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"requires_confirmation\":False,\"created_at\":"
     "0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"requires_confirmation\":false,\"created_at\":"
     "0}",
     "python-literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"requires_confirmation\":TRUE,\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"requires_confirmation\":true,\"created_at\":0}",
     "literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"requires_confirmation\":FALSE,\"created_at\":"
     "0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"requires_confirmation\":false,\"created_at\":"
     "0}",
     "literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"requires_confirmation\":tRue,\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"requires_confirmation\":true,\"created_at\":0}",
     "literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":None}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":null}],\"created_at\":0}",
     "python-literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":NULL}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":null}],\"created_at\":0}",
     "literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":Null}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":null}],\"created_at\":0}",
     "literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":nil}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":null}],\"created_at\":0}",
     "literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":NONE}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":null}],\"created_at\":0}",
     "literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":Nil}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":null}],\"created_at\":0}",
     "literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":none}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":null}],\"created_at\":0}",
     "literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":stop}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":\"stop\"}],\"created_at\":0}",
     "unquoted-value"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":go_home}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":\"go_home\"}],\"created_at\":0}",
     "unquoted-value"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":go-home}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"fallback\":\"go-home\"}],\"created_at\":0}",
     "unquoted-value"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":a,\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "unquoted-value"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":move_to,"
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"move_to\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "unquoted-value"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":+1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, BASE, "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":.5}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":0.5}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":5.}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":5.0}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":-.5}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":-0.5}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":0x1F}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":31}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":0XfF}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":255}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":0o17}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":15}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":0b101}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":5}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1_000}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1000}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1_000.5}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1000.5}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":+.5e3}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":0.5e3}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":-0x10}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":-16}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "number"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":(1)}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, BASE, "tuple"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":(1,2)}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[1,2]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "tuple"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":(1,)}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[1]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "trailing-comma tuple"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":()}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "tuple"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":(\"a\", (1, 2))}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[\"a\",[1,2]]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "tuple tuple"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[1,2,]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[1,2]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "trailing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[[1],[2],]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[[1],[2]]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "trailing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[[1] [2]]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[[1],[2]]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "missing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{\"a\":{\"b\":1,},}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{\"a\":{\"b\":1}}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "trailing-comma trailing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":dict(a=1, b=\"c\")}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{\"a\":1,\"b\":\"c\"}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "python-call"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":dict()}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "python-call"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[True, None]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[true,null]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "python-literal python-literal"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[yes, no]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[\"yes\",\"no\"]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "unquoted-value unquoted-value"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{\"a\":\"b\" \"c\":1}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{\"a\":\"b\",\"c\":1}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "missing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":(\"a\")}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"a\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "tuple"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":RiskLevel.HIGH,\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":\"high\",\"created_at\":0}",
     "python-enum"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":RiskLevel.HIGH.value,\"created_"
     "at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":\"high\",\"created_at\":0}",
     "python-enum"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":tool_protocol.RiskLevel.HIGH,"
     "\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":\"high\",\"created_at\":0}",
     "python-enum"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":RiskLevel(\"high\"),\"created_"
     "at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":\"high\",\"created_at\":0}",
     "python-enum"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":RiskLevel('high'),\"created_at\":"
     "0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":\"high\",\"created_at\":0}",
     "python-enum"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"tool_call_type\":ToolCallType.QUERY_WORLD}],"
     "\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"tool_call_type\":\"query_world\"}],\"created_"
     "at\":0}",
     "python-enum"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"status\":StepStatus.WAIT_CONFIRMATION}],"
     "\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\",\"status\":\"wait_confirmation\"}],\"created_at\":"
     "0}",
     "python-enum"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"status\":PlanStatus.APPROVED,\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"status\":\"approved\",\"created_at\":0}",
     "python-enum"},
    {"// plan\n" BASE, NULL, NULL, "prose"},
    {"# plan\n" BASE, NULL, NULL, "prose"},
    {"/* plan */" BASE, NULL, NULL, "prose"},
    {BASE " // end", NULL, NULL, "prose"},
    {"{\"plan_id\":\"p\",/* c "
     "*/"
     "\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_"
     "id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "comment"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\", // "
     "why\n\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "comment"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\", # "
     "why\n\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "comment"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[ // "
     "steps\n{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":"
     "\"b\"}],\"created_at\":0}",
     NULL, NULL, "comment"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"} /* last */],\"created_at\":0}",
     NULL, NULL, "comment"},
    {"{\"plan_id\":\"p\",\"goal\":/*x*/"
     "\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "comment"},
    {"{\"plan_id\":\"p\",\"goal\"/*x*/"
     ":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,"
     "\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "comment"},
    {"{\"plan_id\":\"p\",<!-- c "
     "-->\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{"
     "\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "comment"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}, // more\?\n],\"created_at\":0}",
     NULL, NULL, "comment trailing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2/*two*/,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "comment"},
    {"{ # "
     "first\n\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "comment"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"created_at\":0,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}]",
     NULL, NULL, "missing-closer"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"created_at\":0,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}",
     NULL, NULL, "missing-closer missing-closer"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"created_at\":0,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}]\n",
     NULL, NULL, "missing-closer"},
    {"```json\n{\"plan_id\":\"p\",\"goal\":\"g\",\"created_at\":0,\"steps\":[{\"step_id\":1,"
     "\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}]\n```",
     NULL, NULL, "fence missing-closer fence"},
    {"```json\n{\"plan_id\":\"p\",\"goal\":\"g\",\"created_at\":0,\"steps\":[{\"step_id\":1,"
     "\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}\n```\nOk\?",
     NULL, NULL, "fence missing-closer missing-closer fence prose"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"],\"created_at\":0}",
     NULL, NULL, "missing-closer"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-closer"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-closer"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"},\"created_at\":0}",
     NULL, NULL, "missing-closer"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"} \"created_at\":0}",
     NULL, NULL, "missing-closer missing-comma"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"created_at\":0,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}}",
     NULL, NULL, "missing-closer"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[1,2}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[1,2]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "missing-closer"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{\"a\":[1}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{\"a\":[1]}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "missing-closer"},
    {BASE "}", NULL, NULL, "extra-closer"},
    {BASE "]", NULL, NULL, "extra-closer"},
    {BASE "}}", NULL, NULL, "extra-closer"},
    {BASE "]}", NULL, NULL, "extra-closer"},
    {"```json\n" BASE "}\n```", NULL, NULL, "fence fence prose"},
    {"\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-opener"},
    {"\"plan_id\":\"p\",\"goal\":\"g\",\"created_at\":0,\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}]",
     NULL, NULL, "missing-opener missing-closer"},
    {"\"plan_id\": \"p\", "
     "\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":1}},{\"step_"
     "id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "missing-opener"},
    {"\357\275\233\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0\357\275\235",
     NULL, NULL, "separator separator"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":\357\274\273{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}\357\274\275,\"created_at\":0}",
     NULL, NULL, "separator separator"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\357\275\233\"a\":1\357\275\235}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL,
     "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{\"a\":1}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "separator separator"},
    {"{\"plan_id\":\"p\",\"goal\":\302\240\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\343\200\200\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\342\200\213\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\342\200\250\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"{\"plan_id\":\"p\",\014\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\","
     "\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     NULL, NULL, "separator"},
    {"Plan(plan_id=\"p\", goal=\"g\", steps=[PlanStep(step_id=1, action='a', parameters={'x': 1}), "
     "PlanStep(step_id=2, action=\"b\")], created_at=0)",
     NULL, NULL, "python-call python-call quotes quotes python-call"},
    {"plan = Plan(plan_id=\"p\", goal=\"g\", steps=[PlanStep(step_id=1, action='a', "
     "parameters={'x': 1}), PlanStep(step_id=2, action=\"b\")], created_at=0)",
     NULL, NULL, "prose python-call python-call quotes quotes python-call"},
    {"Plan(\n    plan_id=\"p\",\n    goal=\"g\",\n    steps=[\n        PlanStep(step_id=1, "
     "action='a', parameters={'x': 1}), PlanStep(step_id=2, action=\"b\"),\n    ],\n    "
     "created_at=0,\n)",
     NULL, NULL, "python-call python-call quotes quotes python-call trailing-comma trailing-comma"},
    {"```python\nplan = Plan(plan_id=\"p\", goal=\"g\", created_at=0, steps=[PlanStep(step_id=1, "
     "action='a', parameters={'x': 1}), PlanStep(step_id=2, action=\"b\")])\n```",
     NULL, NULL, "fence prose python-call python-call quotes quotes python-call fence"},
    {"tool_protocol.Plan(plan_id=\"p\", goal=\"g\", created_at=0, steps=[PlanStep(step_id=1, "
     "action='a', parameters={'x': 1}), PlanStep(step_id=2, action=\"b\")])",
     NULL, NULL, "python-call python-call quotes quotes python-call"},
    {"dict(plan_id=\"p\", goal=\"g\", created_at=0, steps=[dict(step_id=1, action=\"a\", "
     "parameters=dict(x=1)), dict(step_id=2, action=\"b\")])",
     NULL, NULL, "python-call python-call python-call python-call"},
    {"plan_create(plan_id=\"p\", goal=\"g\", created_at=0, steps=[PlanStep(step_id=1, action='a', "
     "parameters={'x': 1}), PlanStep(step_id=2, action=\"b\")])",
     NULL, NULL, "python-call python-call quotes quotes python-call unwrapped"},
    {"await plan_create(plan_id=\"p\", goal=\"g\", created_at=0, steps=[PlanStep(step_id=1, "
     "action='a', parameters={'x': 1}), PlanStep(step_id=2, action=\"b\")])",
     NULL, NULL, "prose python-call python-call quotes quotes python-call unwrapped"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"created_at\":0,\"steps\":[{\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},PlanStep(step_id=2,action=\"b\")]}",
     NULL, NULL, "python-call"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"created_at\":0,\"steps\":({\"step_id\":1,\"action\":"
     "\"a\",\"parameters\":{\"x\":1}},{\"step_id\":2,\"action\":\"b\"})}",
     NULL, NULL, "tuple"},
    {"[{\"name\":\"go\",\"arguments\":{\"z\":\"k\"}},{\"name\":\"say\",\"arguments\":{\"t\":\"hi\"}"
     "}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id calls step-id goal"},
    {"[{\"name\":\"go\",\"parameters\":{\"z\":\"k\"}},{\"name\":\"say\",\"parameters\":{\"t\":"
     "\"hi\"}}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id calls step-id goal"},
    {"[{\"name\":\"go\",\"args\":{\"z\":\"k\"}},{\"name\":\"say\",\"args\":{\"t\":\"hi\"}}]", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id calls step-id goal"},
    {"[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"go\",\"input\":{\"z\":\"k\"}},{\"type\":"
     "\"tool_use\",\"id\":\"t2\",\"name\":\"say\",\"input\":{\"t\":\"hi\"}}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id calls step-id goal"},
    {"[{\"tool\":\"go\",\"arguments\":{\"z\":\"k\"}},{\"tool\":\"say\",\"tool_input\":{\"t\":"
     "\"hi\"}}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id calls step-id goal"},
    {"[{\"tool_name\":\"go\",\"args\":{\"z\":\"k\"}},{\"recipient_name\":\"say\",\"parameters\":{"
     "\"t\":\"hi\"}}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id calls step-id goal"},
    {"[{\"action\":\"go\",\"action_input\":{\"z\":\"k\"}},{\"action\":\"say\",\"action_input\":{"
     "\"t\":\"hi\"}}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id calls step-id goal"},
    {"[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"go\",\"arguments\":\"{"
     "\\\"z\\\":\\\"k\\\"}\"}},{\"id\":\"2\",\"type\":\"function\",\"function\":{\"name\":\"say\","
     "\"arguments\":\"{\\\"t\\\":\\\"hi\\\"}\"}}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id encoded calls step-id encoded goal"},
    {"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"function\":{\"name\":\"go\","
     "\"arguments\":{\"z\":\"k\"}}},{\"function\":{\"name\":\"say\",\"arguments\":{\"t\":\"hi\"}}}]"
     "}",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "unwrapped left-out left-out calls step-id calls step-id goal"},
    {"[{\"function_call\":{\"name\":\"go\",\"arguments\":\"{\\\"z\\\":\\\"k\\\"}\"}},{\"function_"
     "call\":{\"name\":\"say\",\"arguments\":\"{\\\"t\\\":\\\"hi\\\"}\"}}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id encoded calls step-id encoded goal"},
    {"go(z=\"k\")\nsay(t=\"hi\")", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "python-call python-call calls step-id calls step-id goal"},
    {"go(z=\"k\"); say(t=\"hi\")", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "python-call python-call calls step-id calls step-id goal"},
    {"[go(z=\"k\"), say(t=\"hi\")]", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "python-call python-call calls step-id calls step-id goal"},
    {"await go(z=\"k\")\nawait say(t=\"hi\")", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "prose python-call prose python-call calls step-id calls step-id goal"},
    {"x = go(z=\"k\")\ny = await say(t=\"hi\")", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "prose python-call prose python-call calls step-id calls step-id goal"},
    {"1. go(z=\"k\")\n2. say(t=\"hi\")", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "prose python-call prose python-call calls step-id calls step-id goal"},
    {"- go(z=\"k\")\n- say(t=\"hi\")", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "prose python-call prose python-call calls step-id calls step-id goal"},
    {"I will:\n```python\ngo(z=\"k\")\nsay(t=\"hi\")\n```", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "fence prose python-call python-call fence calls step-id calls step-id goal"},
    {"go(z='k',)\nsay(t=\"\"\"hi\"\"\")", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "python-call quotes trailing-comma python-call quotes calls step-id calls step-id goal"},
    {"go(\n  z=\"k\",  # kitchen\n)\nsay(\n  t=\"hi\"\n)", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "python-call comment trailing-comma python-call calls step-id calls step-id goal"},
    {"<tool_call>\n{\"name\":\"go\",\"arguments\":{\"z\":\"k\"}}\n</"
     "tool_call>\n<tool_call>\n{\"name\":\"say\",\"arguments\":{\"t\":\"hi\"}}\n</tool_call>",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "tag tag tag calls step-id calls step-id goal"},
    {"<function=go>{\"z\":\"k\"}</function>\n<function=say>{\"t\":\"hi\"}</function>", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "tag tag tag calls step-id calls step-id goal"},
    {"[TOOL_CALLS] "
     "[{\"name\":\"go\",\"arguments\":{\"z\":\"k\"}},{\"name\":\"say\",\"arguments\":{\"t\":\"hi\"}"
     "}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "tag calls step-id calls step-id goal"},
    {"{\"name\":\"go\",\"arguments\":{\"z\":\"k\"}}\n{\"name\":\"say\",\"arguments\":{\"t\":\"hi\"}"
     "}",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id calls step-id goal"},
    {"{\"name\":\"go\",\"arguments\":{\"z\":\"k\"}}, "
     "{\"name\":\"say\",\"arguments\":{\"t\":\"hi\"}}",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id calls step-id goal"},
    {"```json\n{\"name\":\"go\",\"arguments\":{\"z\":\"k\"}}\n```\nthen\n```json\n{\"name\":"
     "\"say\",\"arguments\":{\"t\":\"hi\"}}\n```",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "fence fence prose fence calls step-id calls step-id goal"},
    {"[{'name': 'go', 'arguments': {'z': 'k'}}, {'name': 'say', 'arguments': {'t': 'hi'}},]", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "quotes quotes quotes quotes quotes quotes quotes quotes quotes quotes trailing-comma calls "
     "step-id calls step-id goal"},
    {"[{\"name\":\"go\",\"arguments\":{\"z\":\"k\"}} "
     "{\"name\":\"say\",\"arguments\":{\"t\":\"hi\"}}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "missing-comma calls step-id calls step-id goal"},
    {"[{\"name\":\"go\",\"arguments\":{\"z\":\"k\"}},{\"name\":\"say\",\"arguments\":{\"t\":\"hi\"}"
     "}",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "missing-closer calls step-id calls step-id goal"},
    {"{\"steps\":[{\"name\":\"go\",\"arguments\":{\"z\":\"k\"}},{\"name\":\"say\",\"arguments\":{"
     "\"t\":\"hi\"}}]}",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id calls step-id goal"},
    {"[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{\"step_id\":2,\"action\":"
     "\"say\",\"parameters\":{\"t\":\"hi\"}}]",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "unwrapped goal"},
    {"{\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{\"step_id\":2,"
     "\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "goal"},
    {"{\"goal\":\"G\",\"steps\":[{\"name\":\"go\",\"arguments\":{\"z\":\"k\"}},{\"step_id\":2,"
     "\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\",\"parameters\":{\"z\":\"k\"}},{"
     "\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "calls step-id"},
    {"{\"name\":\"go\"}", "G", "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\"}]}",
     "calls step-id goal"},
    {"{\"name\":\"go\",\"arguments\":{}}", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\"}]}", "calls step-id goal"},
    {"{\"name\":\"go\",\"arguments\":null}", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\"}]}", "calls step-id goal"},
    {"{\"name\":\"go\",\"arguments\":\"\"}", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\"}]}", "calls step-id goal"},
    {"{\"name\":\"go\",\"arguments\":\"{}\"}", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\"}]}",
     "calls step-id encoded goal"},
    {"go()", "G", "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\"}]}",
     "python-call calls step-id goal"},
    {"[go()]", "G", "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\"}]}",
     "python-call calls step-id goal"},
    {"go( )", "G", "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\"}]}",
     "python-call calls step-id goal"},
    {"{\"name\":\"go\",\"arguments\":{},\"reason\":\"why\"}", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go\"}]}",
     "calls step-id left-out goal"},
    {"robot.go()", "G", "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"robot.go\"}]}",
     "python-call calls step-id goal"},
    // Names as Markdown has them, calls in strings, GLM-4's name on a line of its own.
    {"[go\\_to(z\\_id=\"k\"), say(t=\"hi\")]", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go_to\",\"parameters\":{\"z_id\":"
     "\"k\"}},{\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "python-call markdown markdown python-call calls step-id calls step-id goal"},
    {"['go_to(z_id=\"k\")', 'say(t=\"hi\")']", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go_to\",\"parameters\":{\"z_id\":"
     "\"k\"}},{\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "quotes quotes encoded python-call python-call calls step-id calls step-id goal"},
    {"['go_to(z_id=\"k\"), say(t=\"hi\")']", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go_to\",\"parameters\":{\"z_id\":"
     "\"k\"}},{\"step_id\":2,\"action\":\"say\",\"parameters\":{\"t\":\"hi\"}}]}",
     "quotes encoded python-call python-call calls step-id calls step-id goal"},
    {"[\"go\\\\_to(z_id='k')\"]", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go_to\",\"parameters\":{\"z_id\":"
     "\"k\"}}]}",
     "encoded python-call markdown quotes calls step-id goal"},
    {"go_to\n{\"z_id\": \"k\"}", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go_to\",\"parameters\":{\"z_id\":"
     "\"k\"}}]}",
     "prose calls step-id goal"},
    {"\n go_to \n {\"z_id\": \"k\"}\nsay_it\n{\"t\": 1}", "G",
     "{\"goal\":\"G\",\"steps\":[{\"step_id\":1,\"action\":\"go_to\",\"parameters\":{\"z_id\":"
     "\"k\"}},"
     "{\"step_id\":2,\"action\":\"say_it\",\"parameters\":{\"t\":1}}]}",
     "prose prose calls step-id calls step-id goal"},
    {"the_plan\n" BASE, NULL, NULL, "prose"}, // a name before a plan is a headline
};

typedef struct refusal {
    const char *text, *message, *source;
} refusal;

static const refusal refusals[] = {
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"ste", "this string has no end", "1:27"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\"",
     "the text ends behind a key", "1:124"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":",
     "the text ends where a value should begin", "1:125"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0",
     "the text ends inside of an object or a list; it may be cut", "1:126"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\"",
     "the text ends inside of an object or a list; it may be cut", "1:61"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_",
     "this string has no end", "1:85"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"},",
     "the text ends in the middle of a plan", "1:111"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b",
     "this string has no end", "1:106"},
    {"{\"goal\":\"g\",\"steps\":[", "the text ends in the middle of a plan", "1:22"},
    {"{\"goal\":\"g\",\"steps\":", "the text ends where a value should begin", "1:21"},
    {"{\"goal\":\"g\",", "the text ends in the middle of a plan", "1:13"},
    {"{\"goal\":", "the text ends where a value should begin", "1:9"},
    {"{\"goal\"", "the text ends behind a key", "1:8"},
    {"{\"goal\":\"g\",\"n\":1", "the text ends inside of an object or a list; it may be cut",
     "1:18"},
    {"{\"goal\":\"g\",\"n\":tru", "tru is not a value", "1:17"},
    {"{\"goal\":\"g\",\"n\":-", "a number without digits", "1:17"},
    {"{", "no plan found", "1:1"},
    {"[{", "no plan found", "1:1"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1,000}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a colon should stand here", "1:85"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":007}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a number with zeros in front", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":-01}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a number with zeros in front", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":NaN}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "NaN has no value in JSON", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":Infinity}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "Infinity has no value in JSON", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":-Infinity}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a number without digits", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":undefined}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "undefined has no value in JSON", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":...}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "something was left out here (\342\200\246)", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\342\200\246}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "something was left out here (\342\200\246)", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1.2.3}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "not a number that can be read in one way", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":10%}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "not a number that can be read in one way", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1e}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a number without its exponent", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1e+}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a number without its exponent", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":--1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a number without digits", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":+-1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a number without digits", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":0x}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a number without digits", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":0xG}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a number without digits", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1__0}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "not a number that can be read in one way", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":3m}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "not a number that can be read in one way", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1/2}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "not a number that can be read in one way", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"a\" \"b\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a comma or } should stand here", "1:84"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[\"a\" \"b\"]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a comma or ] should stand here", "1:85"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[\"a\",,\"b\"]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a comma with nothing before it in a list", "1:85"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[,1]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a comma with nothing before it in a list", "1:81"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[1,,2]}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a comma with nothing before it in a list", "1:83"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"say \"hi\" now\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a comma or } should stand here", "1:86"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":'it's'}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a comma or } should stand here", "1:84"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"\\u0000\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a zero character in a string", "1:81"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"\\x00\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a zero character in a string", "1:81"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"\\ud800\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "half of a surrogate pair, or no character at all", "1:81"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"\\udc00x\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "half of a surrogate pair, or no character at all", "1:81"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"\\u12\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "an escape without its digits", "1:81"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"\\xg1\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "an escape without its digits", "1:81"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"\\01\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "an escape that can be read in two ways", "1:81"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":\"\\N{DASH}\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "an escape that can be read in two ways", "1:81"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":time.time()}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "time.time(\342\200\246) cannot be worked out", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":len([1])}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "len(\342\200\246) cannot be worked out", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":x.y}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "x.y is not a value", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":two words}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "two is not a value", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{1,2}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a colon should stand here", "1:82"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":{\"k\":1,\"k\":2}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "steps[0].parameters: the key \"k\" is there twice", "1:87"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":b\"a\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "b is not a value", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":f\"{a}\"}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "f is not a value", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":lambda: 1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "lambda is not a value", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":[1,2}}}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a second plan; the first is at 1:1", "1:89"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1 2}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a comma or } should stand here", "1:82"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":<a>}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "not a value", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":@}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "not a value", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "not a value", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":/* no end}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "this comment has no end", "1:80"},
    {"{\"plan_id\":\"p\",\"goal\":,\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "not a value", "1:23"},
    {"{\"plan_id\":\"p\",\"goal\":,\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "not a value", "1:23"},
    {"{\"plan_id\":\"p\",\"goal\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{\"x\":"
     "1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a colon should stand here", "1:22"},
    {"{'goal':'g','goal':'h'}", "goal: is there twice", "1:13"},
    {"{\"plan_id\":\"p\",@goal:\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"created_at\":0}",
     "a key should stand here", "1:16"},
    {"{\"goal\":\"g\"} {\"goal\":\"h\"}", "a second plan; the first is at 1:1", "1:14"},
    {"```json\n{\"goal\":\"g\"}\n```\n```json\n{\"goal\":\"h\"}\n```",
     "a second plan; the first is at 2:1", "5:1"},
    {"{\"goal\":\"a\"}\n[{\"step_id\":1,\"action\":\"x\"}]", "a second plan; the first is at 1:1",
     "2:1"},
    {"<think>{\"goal\":\"g\"}", "the thinking has no end, so there is no plan behind it", "1:1"},
    {"go(\"kitchen\")", "an argument of go without a name", "1:4"},
    {"go(1)", "an argument of go without a name", "1:4"},
    {"go(z=\"k\", \"x\")", "= should stand here", "1:14"},
    {"go(z=\"k\"", "the text ends inside of an object or a list; it may be cut", "1:9"},
    {"go(z=", "the text ends where a value should begin", "1:6"},
    {"I called go(z=\"k\") before.", "no plan found", "1:1"},
    {"Plan(\"p\",\"g\")", "an argument of Plan without a name", "1:6"},
    {"plan = Plan(goal=\"g\")\nplan.add_step(PlanStep(step_id=1, action=\"a\"))",
     "steps that a program adds are not read: list all of them", "2:5"},
    {"plan = Plan.create_new(goal=\"g\")\nplan.add_step(step1)",
     "steps that a program adds are not read: list all of them", "2:5"},
    {"p = Plan(goal=\"g\")\np.steps.append(PlanStep(step_id=1, action=\"a\"))",
     "steps that a program adds are not read: list all of them", "2:2"},
    {"RiskLevel.HUGE", "no plan found", "1:1"},
    {"{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\",\"parameters\":{"
     "\"x\":1}},{\"step_id\":2,\"action\":\"b\"}],\"risk_level\":RiskLevel.HUGE}",
     "RiskLevel.HUGE is not a value", "1:125"},
    {"plan: {broken [{\"step_id\":1,\"action\":\"a\"}]", "what this { begins cannot be read",
     "1:7"},
    {"{\"name\":\"go\",\"arguments\":\"{bad\"}",
     "steps[0].parameters: arguments that are not JSON: a key in double quotes should stand here",
     "1:26"},
    {"{\"name\":\"go\",\"arguments\":[1]}",
     "steps[0].parameters: expected an object, found an array of 1", "1:26"},
    {"[{\"name\":\"go\"},3]", "no plan found: neither a call nor a step", "1:16"},
    {"[[{\"name\":\"go\"}]]", "no plan found: neither a call nor a step", "1:2"},
    {"\"just text\"", "no plan found", "1:1 in the string at 1:1"},
    {"{\"goal\":\"g\",\"steps\":[\"go\"]}", "steps[0]: expected an object", "1:22"},
    {"{\"goal\":\"g\",\"steps\":[{\"action\":\"a\"}]}", "steps[0].step_id: is missing", "1:22"},
    {"{\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"step\":\"a\"}]}", "steps[0].action: is missing",
     "1:22"},
    {"goal: g\nsteps:\n  - step_id: 1\n    action: a\n", "no plan found", "1:1"},
    {"<plan><goal>g</goal></plan>", "no plan found", "1:1"},
    {"{{\"goal\":\"g\"}}", "what this { begins cannot be read", "1:1"},
    {"[", "no plan found", "1:1"},
    {"Result\n{\"z\": 1}", "no plan found: an object with neither goal nor steps", "2:1"},
    {"{\"z\": 1}", "no plan found: an object with neither goal nor steps", "1:1"},
    {"{}", "no plan found: an object with neither goal nor steps", "1:1"},
    {"Colours:\n[\"red\", \"blue\"]", "no plan found", "1:1"},
    {"[\"go(z=1)\", \"and then\"]", "and is not a value", "1:10"},
    {"{\"plan\":{\"plan\":{\"plan\":{\"plan\":{\"plan\":{\"goal\":\"g\"}}}}}}",
     "a plan in too many wrappers", "1:33"},
    {"\357\273\277", "no plan found", "1:1"},
    {"{\"goal\":\"g\"\001}", "a comma or } should stand here", "1:12"},
};

static bool ascii(const char *s)
{
    while (*s && (unsigned char)*s < 0x80) {
        s++;
    }
    return *s == '\0';
}

// Every key and every text of a value stands in the given text: nothing was made up.
static void expect_said(const char *text, const pons_value *v)
{
    const char *key;
    json_t *member;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)v, key, member) {
        if (ascii(key) && !strstr(text, key)) {
            fail_msg("the key %s was made up: %s", key, text);
        }
        expect_said(text, member);
    }
    json_array_foreach(v, i, member) {
        expect_said(text, member);
    }
    const char *s = json_string_value(v);
    if (s && ascii(s) && !strpbrk(s, "\"\\\n\t\r") && !strstr(text, s) && !strstr(text, "\\") &&
        !strstr(text, "+")) {
        fail_msg("the text “%s” was made up: %s", s, text);
    }
}

// The backslashes that Markdown puts before underscores are no part of a name.
static void expect_plan_said(const char *given, const pons_plan *p)
{
    pons_autobuf plain = PONS_BUF_INIT;
    for (const char *c = given; *c; c++) {
        c += *c == '\\' && c[1] == '\\' && c[2] == '_'; // in a string
        c += *c == '\\' && c[1] == '_';
        pons_buf_byte(&plain, (uint8_t)*c);
    }
    const char *text = plain.data;
    for (size_t i = 0; i < p->n_steps; i++) {
        const char *const objects[] = {p->steps[i].parameters, p->steps[i].preconditions,
                                       p->steps[i].metadata};
        for (size_t k = 0; k < sizeof objects / sizeof *objects; k++) {
            pons_autovalue v = NULL;
            assert_int_equal(pons_plan_object(objects[k], &v, NULL), PONS_OK);
            expect_said(text, v);
        }
        if (ascii(p->steps[i].action) && !strstr(text, p->steps[i].action)) {
            fail_msg("the action %s was made up: %s", p->steps[i].action, text);
        }
    }
}

static void test_damages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const damage *d = &damages[i];
        pons_autobuf repairs = PONS_BUF_INIT;
        pons_plan *read = NULL, *meant = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (read_plan(d->text, d->goal, &read, &repairs, &err) < 0) {
            fail_msg("damage %zu: %s [%s]: %s", i, err.message, err.source, d->text);
        }
        assert_int_equal(read_plan(d->means ? d->means : BASE, d->goal, &meant, NULL, NULL),
                         PONS_OK);
        char *a = plan_text(read), *b = plan_text(meant);
        assert_string_equal(a, b);
        assert_true(repairs.len > 0); // never silent
        expect_plan_said(d->text, read);
        if (strcmp(repairs.data, d->repairs) != 0) {
            fail_msg("damage %zu: told %s, not %s: %s", i, repairs.data, d->repairs, d->text);
        }
        free(a);
        free(b);
        pons_plan_destroy(read);
        pons_plan_destroy(meant);
    }
    assert_true(sizeof damages / sizeof *damages >= 200);
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        pons_plan *p = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (read_plan(r->text, "G", &p, NULL, &err) != PONS_EINVAL) {
            fail_msg("refusal %zu was read: %s", i, r->text);
        }
        assert_string_equal(err.message, r->message);
        assert_string_equal(err.source, r->source);
        assert_null(p);
    }
}

// Every prefix of a plan is refused, or is the plan without its last closers.
static void test_cut(void **state)
{
    (void)state;
    pons_plan *whole = NULL;
    assert_int_equal(read_plan(BASE, NULL, &whole, NULL, NULL), PONS_OK);
    for (size_t n = 0; n < strlen(BASE); n++) {
        char text[sizeof BASE];
        memcpy(text, BASE, n);
        text[n] = '\0';
        pons_plan *p = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (read_plan(text, NULL, &p, NULL, &err) < 0) {
            continue;
        }
        assert_non_null(strchr("}]", text[n - 1])); // nothing was half said
        for (size_t i = 0; i < p->n_steps; i++) {
            assert_string_equal(p->steps[i].parameters, whole->steps[i].parameters);
        }
        pons_plan_destroy(p);
    }
    pons_plan_destroy(whole);
}

// Depth, size and bytes are bounded; what is refused is refused before anything is built. Looking
// for a plan never looks at the same bytes again and again: a reader that did would be at it for
// minutes here.
static void test_bounds(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    char *deep = malloc(DEEP + 1);
    pons_plan *p = NULL;
    pons_error err = PONS_ERROR_INIT;
    static const char *const units[] = {"[",        "{\"a\":",   "(",    "[{",     "{'a':[",
                                        "f(a=",     "[#",        "{#",   "[/*",    "{//",
                                        "[ ",       "```json\n", "~~~",  "> f(",   "- {a",
                                        "</think>", "]1. [a",    "f(/*", "> {\n#", "[\xef\xbc\xbb"};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        size_t n = 0;
        for (; n + strlen(units[u]) <= DEEP; n += strlen(units[u])) {
            memcpy(deep + n, units[u], strlen(units[u]));
        }
        deep[n] = '\0';
        assert_int_equal(read_plan(deep, "G", &p, NULL, &err), PONS_EINVAL);
    }
    free(deep);
    pons_rand rand;
    pons_rand_seed(&rand, 1);
    const pons_plan_read_options o = {.from = {.rand = &rand}};
    assert_int_equal(pons_plan_read("", (size_t)PONS_PLAN_TEXT_MAX + 1, &o, &p, &err), PONS_EINVAL);
    assert_int_equal(pons_plan_read("{\"goal\":\"\xff\"}", 12, &o, &p, &err), PONS_EINVAL);
    assert_string_equal(err.message, "not UTF-8");
    assert_int_equal(pons_plan_read("{\"goal\":\"g\0\"}", 13, &o, &p, &err), PONS_EINVAL);
    assert_string_equal(err.message, "a zero character in the text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damages),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_bounds),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
