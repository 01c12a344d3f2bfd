// messages.h - conversations as lists of messages in LangChain's wire form: made from what people
// write, counted, trimmed. For nodes of graphs with a channel of the kind PONS_CHANNEL_MESSAGES, and
// for programs beside them.
//
// A message is an object
//   {type: "human" | "ai" | "system" | "tool" | "function" | "remove", content, id|null, name|null,
//    additional_kwargs: {}, response_metadata: {},
//    ai:   tool_calls: [{name, args: {}, id|null, type: "tool_call"}], invalid_tool_calls: [],
//          usage_metadata|null
//    tool: tool_call_id, status: "success" | "error", artifact|null}
// content is a text or a list of blocks, each a text or an object ({type: "text" | "image_url" |
// "tool_use" …}), which is never looked into, but to count and to split it.
//
// All functions may be called on any thread; values are borrowed and shared, never changed.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

// The id of a removal that removes all messages: {"type":"remove","id":"__remove_all__"}.
#define PONS_REMOVE_ALL "__remove_all__"

// A message from any of its forms: that object, whole or with what it has; a text (of a human);
// [role, text]; {role, content, …} with the roles user, assistant, system, developer, tool and
// function as well as the types above, and tool_calls as OpenAI has them; {lc: 1, type:
// "constructor", id: […, "HumanMessage"], kwargs}. Members that are no message's go to
// additional_kwargs. What has the whole form comes back as it is (a reference). PONS_EINVAL says
// what is wrong.
int pons_message_of(const pons_value *form, pons_value **ret, pons_error *err);

// "human", "ai", … of a message in any form that is an object, as its type or role says; NULL: of none.
// Borrowed for ever.
const char *pons_message_role(const pons_value *form);
// The text of an object's content: it, or its blocks that have a text, one after the other. A new
// reference; NULL without memory.
pons_value *pons_message_text(const pons_value *form);

// About how many tokens a model sees in a list of messages: for each, a token for every four
// characters of content, role, name, tool calls and the id of a tool's call, and three; 85 an image.
// Forms that are no messages count nothing.
int64_t pons_messages_tokens(const pons_value *list);

// tokens of a list of messages in their whole form.
typedef int64_t (*pons_token_count_fn)(void *user, const pons_value *list);

typedef struct pons_messages_trim_options {
    int64_t max_tokens;
    pons_token_count_fn count; // NULL: pons_messages_tokens; must not fall when messages are added
    void *user;
    bool first;          // keeps the beginning; else the end
    bool allow_partial;  // a message that does not fit gives the blocks, or the lines, that do
    bool include_system; // a system message at the beginning stays; not with first
    // NULL-terminated types. What comes before the first of start_on goes (after the counting, the
    // system message apart; not with first); what comes after the last of end_on goes (before the
    // counting, with first after it).
    const char *const *start_on, *const *end_on;
} pons_messages_trim_options;
#define PONS_MESSAGES_TRIM_OPTIONS_INIT                                                            \
    {                                                                                              \
        .max_tokens = 0                                                                            \
    }

// The messages of a list (in any forms) that fit, in their whole form, as a new list. PONS_EINVAL for
// a list that has no messages in it, or options that exclude each other.
int pons_messages_trim(const pons_value *list, const pons_messages_trim_options *opts,
                       pons_value **ret, pons_error *err);

// What a node writes to a channel of messages that holds `from` (each with an id), so that it holds
// what is in `to` of it: a removal for each that is gone, and those that are new or different. An
// empty list when nothing is.
int pons_messages_change(const pons_value *from, const pons_value *to, pons_value **ret,
                         pons_error *err);

PONS_C_END
