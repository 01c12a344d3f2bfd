"""Reads a recording with PyPI's mcap: every message in both ways (by the index, and from the front), CRCs, statistics.

Prints {topic: messages} as JSON; a fault is an exception."""
import json
import sys

from mcap.reader import NonSeekingReader, make_reader


def count(messages):
    found = {}
    for schema, channel, message in messages:
        assert channel.message_encoding == "json" and schema.encoding == "jsonschema", channel.topic
        value = json.loads(message.data)
        unknown = set(value) - set(json.loads(schema.data)["properties"])
        assert not unknown, (channel.topic, unknown)
        found[channel.topic] = found.get(channel.topic, 0) + 1
    return found


path, whole = sys.argv[1], sys.argv[2] == "whole"
with open(path, "rb") as file:
    front = {}
    try:
        for item in NonSeekingReader(file, validate_crcs=True).iter_messages(log_time_order=False):
            topic = item[1].topic
            front[topic] = front.get(topic, 0) + 1
    except Exception as error:  # of a file that is cut off: all before it has been given
        assert not whole, error
    if whole:
        file.seek(0)
        reader = make_reader(file, validate_crcs=True)
        statistics = reader.get_summary().statistics
        indexed = count(reader.iter_messages())
        assert indexed == front, (indexed, front)
        assert statistics.message_count == sum(front.values())
print(json.dumps(front))
