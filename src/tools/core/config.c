// config.c - the configuration of the core tools: its schema, which schemas/tools.json publishes, and its defaults.
#include "tools/core/config.h"

#include "tools/core/core.h"

#define OUTPUT_KB 64

#define RISK_WORDS "{\"enum\":[\"safe\",\"warn\",\"dangerous\",\"blocked\"]}"
#define NAMES      "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1}}"
#define WORD       "{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_-]{1,40}$\"}"
// Of who hosts the tools: opened beside the core ones, by name.
#define MODULE                                                                                     \
    "{\"type\":[\"string\",\"object\"],\"pattern\":\"^[A-Za-z0-9_-]{1,40}$\","                     \
    "\"properties\":{\"name\":" WORD "},\"required\":[\"name\"]}"
#define COUNT(most) "{\"type\":\"integer\",\"minimum\":1,\"maximum\":" #most "}"
#define OBJECT      "\"type\":\"object\",\"additionalProperties\":false,\"properties\":"

// clang-format off
const char pons__tools_schema[] =
    "{" OBJECT "{"
    "\"workspace\":{\"type\":\"string\",\"pattern\":\"^/\"},\"folder\":{\"type\":\"string\",\"pattern\":\"^/\"},"
    "\"tools\":" NAMES ",\"modules\":{\"type\":\"array\",\"maxItems\":8,\"items\":" MODULE "},"
    "\"risk\":{\"type\":\"object\",\"additionalProperties\":" RISK_WORDS "},"
    "\"hidden\":" NAMES ",\"protected\":" NAMES ","
    "\"output_kb\":" COUNT(4096) ",\"write_kb\":" COUNT(65536) ",\"workers\":" COUNT(32) ","
    "\"files\":{" OBJECT "{\"list_entries\":" COUNT(100000) ",\"search_files\":" COUNT(1000000) ","
        "\"search_hits\":" COUNT(10000) ",\"search_s\":" COUNT(600) "}},"
    "\"terminal\":{" OBJECT "{\"timeout_s\":" COUNT(86400) ",\"timeout_max_s\":" COUNT(86400) ","
        "\"allow\":" NAMES ",\"deny\":" NAMES ",\"pass_env\":" NAMES ","
        "\"memory_mb\":" COUNT(1048576) ",\"file_mb\":" COUNT(1048576) "}},"
    "\"fetch\":{" OBJECT "{\"timeout_s\":" COUNT(600) ",\"max_kb\":" COUNT(65536) ","
        "\"redirects\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":20},"
        "\"private\":{\"type\":\"boolean\"},\"proxy\":{\"type\":\"string\"}}},"
    "\"knowledge\":{" OBJECT "{\"suffixes\":" NAMES ",\"files\":" COUNT(100000) ","
        "\"file_kb\":" COUNT(65536) ",\"results\":" COUNT(50) "}}"
    "},\"required\":[\"workspace\"]}";
// clang-format on

int64_t pons__conf(const pons__core *c, const char *section, const char *key, int64_t fallback)
{
    return pons_get_int(section ? pons_get(c->config, section) : c->config, key, fallback);
}

const pons_value *pons__conf_value(const pons__core *c, const char *section, const char *key)
{
    return pons_get(section ? pons_get(c->config, section) : c->config, key);
}

size_t pons__conf_output(const pons__core *c)
{
    return (size_t)pons__conf(c, NULL, "output_kb", OUTPUT_KB) * PONS__KIB;
}
