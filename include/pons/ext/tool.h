// ext/tool.h - the contract of a provider of tools: what a model may call by name.
//
// A provider has a list of tools and runs calls of them. Like a model provider it never blocks its
// host: it takes calls, works on threads, processes or sockets of its own, and is polled for
// events. Files and terminal, the robot's skills, and MCP servers are providers behind this one
// contract; the planning agent and the MCP server are hosts.
//
// tool: {
//   name         [A-Za-z0-9_.-]{1,64}, unique in its host
//   category     "core" | "robot" | "mcp" | a word of the provider's
//   description  for the model
//   parameters   JSON Schema of the arguments, an object
//   risk         "safe" | "warn" | "dangerous" | "blocked"   before its arguments are known
//   read_only    bool: changes nothing, so it may run beside others and be run again after a crash
//   stops        bool, may be missing: it stops something, and has room where others have none left
//   address?     the argument that is an address which it asks: what a model has read could go out
//                with it, so a person is asked about one that the model made
// }
#pragma once

#include "pons/clock.h"
#include "pons/error.h"
#include "pons/linkage.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

PONS_C_BEGIN

#define PONS_TOOL_ABI 2u

// X(symbol, word): safe runs; warn runs and is shown; dangerous asks a person; blocked never runs.
#define PONS_TOOL_RISK_TABLE(X)                                                                    \
    X(PONS_TOOL_SAFE, "safe")                                                                      \
    X(PONS_TOOL_WARN, "warn")                                                                      \
    X(PONS_TOOL_DANGEROUS, "dangerous")                                                            \
    X(PONS_TOOL_BLOCKED, "blocked")
#define PONS_TOOL_RISK_SYMBOL(symbol, word) symbol,
typedef enum pons_tool_risk { PONS_TOOL_RISK_TABLE(PONS_TOOL_RISK_SYMBOL) } pons_tool_risk;
#undef PONS_TOOL_RISK_SYMBOL

typedef enum pons_tool_event_kind {
    PONS_TOOL_PROGRESS, // text: one line; value: {progress, total?} or NULL
    PONS_TOOL_DONE, // value: {output: string, data?: any, cached?: bool, truncated?: bool, pictures?: as of a
                    // message (ext/llm.h)}
    PONS_TOOL_FAILED // error: the tool ran or was refused, and failed; the model is told
} pons_tool_event_kind;

typedef struct pons_tool_event {
    uint64_t call;
    pons_tool_event_kind kind;
    char *text;        // PROGRESS; the receiver frees
    pons_value *value; // the receiver's reference
    pons_error error;  // FAILED; PONS_ECLOSED: what the call did is not known
} pons_tool_event;

// What a reason of `assess` begins with where it is one of these: a host may say it in the person's language.
#define PONS_TOOL_WHY_TABLE(X)                                                                     \
    X(PONS_TOOL_WHY_UNSANDBOXED, "approved, it runs outside the sandbox")                          \
    X(PONS_TOOL_WHY_READS_ONLY, "it only reads the workspace, in the sandbox")                     \
    X(PONS_TOOL_WHY_ASKS_HOST, "it asks")
#define PONS_TOOL_WHY_SYMBOL(symbol, text) symbol,
typedef enum pons_tool_why {
    PONS_TOOL_WHY_TABLE(PONS_TOOL_WHY_SYMBOL) PONS_TOOL_WHY_KINDS
} pons_tool_why;
#undef PONS_TOOL_WHY_SYMBOL
#define PONS_TOOL_WHY_TEXT(symbol, text) [symbol] = (text),
#define PONS_TOOL_WHY_TEXTS                                                                        \
    {                                                                                              \
        PONS_TOOL_WHY_TABLE(PONS_TOOL_WHY_TEXT)                                                    \
    }

typedef struct pons_tools_ops {
    uint32_t abi; // PONS_TOOL_ABI
    const char *name;
    void (*close)(void *self); // ends what runs; NULL-safe
    // The tools as they are now, an array; *ret is the caller's reference. Never blocks: a server
    // that is not up yet has none, and the generation changes when it is.
    int (*list)(void *self, pons_value **ret, pons_error *err);
    // Another number when the list has changed. NULL: it never does.
    uint64_t (*generation)(void *self);
    // The risk of one call, arguments known (rm -rf is not ls): the host takes the higher of this
    // and the tool's own. `reason` gets one line. NULL: the tool's own.
    pons_tool_risk (*assess)(void *self, const char *tool, const pons_value *args, char *reason,
                             size_t cap);
    // Never blocks. `call` is the host's choice, unique for the provider's life. `key` names the
    // call durably (the same after a restart of the host): a provider that reaches the world does
    // one key once. Arguments have been held against `parameters`. PONS_ENOTFOUND: no such tool.
    int (*start)(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err);
    // What became of a key that was started in an earlier life of the host: PONS_OK when it is
    // known and will give an event under `call`; PONS_ENOTFOUND when it was certainly not started.
    // NULL, or anything else: not known, and it is not started again.
    int (*adopt)(void *self, uint64_t call, const char *tool, const char *key, pons_error *err);
    void (*cancel)(void *self, uint64_t call); // stopped where that is possible; no event comes
    int (*event_fd)(void *self);               // readable while events wait; -1: poll next
    bool (*next)(void *self, pons_tool_event *ret); // takes one
    // What a call would do, for the person who is asked about it: *ret {kind: "command" | "diff" | a
    // word of the provider's, text} or NULL, the caller's. The text is whole; what a terminal would
    // obey or hide is spelled out in it. As quick as assess. NULL: the arguments say it all.
    int (*preview)(void *self, const char *tool, const pons_value *args, pons_value **ret,
                   pons_error *err);
} pons_tools_ops;

typedef struct pons_tools { // copied by value; self outlives every copy
    const pons_tools_ops *ops;
    void *self;
} pons_tools;

// What a module "tool-NAME" exports (pons/module.h): PONS_MODULE_EXPORT("tool", "shelf", &shelf).
typedef struct pons_tool_module {
    uint32_t abi; // PONS_TOOL_ABI
    const char *name;
    // config: the module's entry in config/tools.yaml (`modules`) as an object, with `name`, and
    // with `workspace`, an absolute path. What is wrong with it is PONS_EINVAL. clock is copied.
    int (*open)(const pons_value *config, const pons_clock *clock, pons_tools *ret,
                pons_error *err);
} pons_tool_module;

// Small things every provider and host need: inline, so that the contract has no library.
static inline void pons_tool_event_clear(pons_tool_event *ev)
{
    free(ev->text);
    pons_value_unref(ev->value);
    memset(ev, 0, sizeof *ev);
}

PONS_C_END
