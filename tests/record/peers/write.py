"""Writes what is in a recording again, as others write MCAP files: PyPI's mcap, packed and divided in other ways.

    write.py FROM TO none|lz4|zstd chunked|unchunked"""
import sys

from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

source, target, packing, how = sys.argv[1:]
with open(source, "rb") as file, open(target, "wb") as out:
    reader = make_reader(file)
    writer = Writer(out, chunk_size=20000, use_chunking=how == "chunked", compression=CompressionType[packing.upper()])
    writer.start(profile="", library="another")
    schemas, channels = {}, {}
    for schema, channel, message in reader.iter_messages():
        if schema.id not in schemas:
            schemas[schema.id] = writer.register_schema(name=schema.name, encoding=schema.encoding, data=schema.data)
        if channel.id not in channels:
            channels[channel.id] = writer.register_channel(
                topic=channel.topic, message_encoding=channel.message_encoding, schema_id=schemas[schema.id]
            )
        writer.add_message(
            channel_id=channels[channel.id], log_time=message.log_time, publish_time=message.publish_time,
            data=message.data, sequence=message.sequence,
        )
    writer.add_attachment(create_time=1, log_time=1, name="note.txt", media_type="text/plain", data=b"of no use here")
    writer.finish()
