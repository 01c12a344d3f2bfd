// ext/llm.h - the contract of a model provider.
//
// A provider takes requests and gives events. It may have threads of its own; the host only ever
// polls its descriptor and takes events, so no callback crosses a thread.
//
// request: {
//   messages   [{role: system|user|assistant|tool, content: string|null,
//                tool_calls?: [{id, name, arguments: object}],   of an assistant's message
//                extra?,                                         the same; as its reply had it
//                tool_call_id?,                                  of a tool's message
//                pictures?: [{sha256, caption}],                 of a user's or a tool's: for a factory, which
//                                                                puts images in their place (pons/llm.h)
//                images?: [text]}],                              the same: JPEGs as data: URLs
//   tools?     [{name, description, parameters: JSON Schema}]    what may be called
//   tool_choice?  "auto" (default with tools) | "none" | "required" | {name}
//   schema?, schema_name?   of the answer's content, when it must be JSON
//   model?, temperature?, max_tokens?,
//   run?, run_calls_max?    the run that the call is of: a factory counts them (pons/llm.h)
//   faults?: true           what is wrong with the model's words is told in a reply (below)
//   pictures_allowed?: the server (host, port) that a person lets pictures go to
//   models?: true           nothing else is said: the list of models is asked for
//   observation?            what the messages were made from, for providers that need no text
// }
// reply:   {
//   content: string|null, refusal?: string, reasoning?: string,
//   tool_calls: [{id, name, arguments: object}],   in the order of the stream's indexes; may be []
//   pictures_refused?: text   the server takes no images of this model: it was asked without
//   finish_reason: "stop"|"tool_calls"|…, usage?{prompt_tokens, completion_tokens}, model?,
//   extra?: object     what came beside, as the provider has it: a host keeps it with the message. A
//                      provider sends it to the model that it came from, and to no other
// }
// A reply is complete and valid, or it is an ERROR: arguments are parsed (strict JSON, no key
// twice), every call has an id of its own, its name is one of `tools`. Nothing of half a message
// reaches the host but its tokens, which are live signals.
// Asked for `models` the DONE is {models: [{id, context_tokens?}]}: what the server has, and how much of
// a conversation each takes, where it says so. A provider that has no list answers PONS_EUNSUPPORTED.
// With `faults` a reply that was cut, or has neither content nor calls, comes all the same, with `fault`,
// a line that says so; and a call that can't be made (a tool that was not offered, arguments that are
// no JSON object) as {id, name, arguments: {}, fault, written?}: what is wrong, and what the model
// wrote. Such a call must not be carried out. What a server does wrong is an ERROR still.
// A refusal is a reply where no schema was asked for, and an ERROR where one was. A name of a tool
// may have dots; what a server takes for a name is the provider's affair.
#pragma once

#include "pons/clock.h"
#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

#define PONS_LLM_ABI 1u

typedef enum pons_llm_event_kind {
    PONS_LLM_TOKEN,    // text: a piece of the answer as it comes
    PONS_LLM_DONE,     // value: a reply, as above. The call is finished.
    PONS_LLM_ERROR,    // error; retries are over. The call is finished.
    PONS_LLM_REASONING // text: a piece of the model's reasoning, where it is sent apart
} pons_llm_event_kind;

typedef struct pons_llm_event {
    uint64_t call;
    pons_llm_event_kind kind;
    char *text;        // TOKEN, REASONING; the receiver frees
    pons_value *value; // DONE; the receiver's reference
    pons_error error;  // ERROR
} pons_llm_event;
void pons_llm_event_clear(pons_llm_event *ev);

typedef struct pons_llm_ops {
    uint32_t abi; // PONS_LLM_ABI
    const char *name;
    // config: {url, model, api_key?, timeouts{connect_s,first_byte_s,between_tokens_s,total_s}?} or
    // {path} for a script. Keys never leave it. Of `--llm NAME:WHAT`: {provider: NAME, url: WHAT,
    // model, timeouts?}, and no key: what the provider needs it reads from its own environment.
    int (*open)(const pons_value *config, const pons_clock *clock, void **ret_self,
                pons_error *err);
    void (*close)(void *self); // aborts what runs; NULL-safe
    // Never blocks. The call number is the caller's choice, unique for the provider's life.
    int (*start)(void *self, uint64_t call, const pons_value *request, pons_error *err);
    void (*cancel)(void *self, uint64_t call); // aborted on the wire; no event of it comes any more
    int (*event_fd)(void *self); // readable while events wait; -1: poll next each tick
    bool (*next)(void *self, pons_llm_event *ret); // takes one
} pons_llm_ops;

typedef struct pons_llm { // copied by value; self outlives every copy
    const pons_llm_ops *ops;
    void *self;
} pons_llm;

PONS_C_END
