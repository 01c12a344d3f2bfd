// Reads a recording with npm's @mcap/core: by its index, and as a stream; every message, CRCs, statistics. Prints
// {topic: messages}; of a file that is cut off only what a stream gives.
import fs from "node:fs/promises";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { decompress } from "fzstd";

const [path, kind] = process.argv.slice(2);
const decompressHandlers = {
  zstd: (data, size) => decompress(data, new Uint8Array(Number(size))),
};
const bytes = await fs.readFile(path);
const schemas = new Map(), channels = new Map(), found = {};
const stream = new McapStreamReader({ decompressHandlers, validateCrcs: true, noMagicPrefix: false });
stream.append(bytes);
for (let record; (record = stream.nextRecord()); ) {
  if (record.type === "Schema") schemas.set(record.id, record);
  if (record.type === "Channel") channels.set(record.id, record);
  if (record.type === "Message") {
    const { topic, schemaId } = channels.get(record.channelId);
    const schema = JSON.parse(new TextDecoder().decode(schemas.get(schemaId).data));
    for (const key of Object.keys(JSON.parse(new TextDecoder().decode(record.data))))
      if (!(key in schema.properties)) throw new Error(`${topic}: ${key} is not in its schema`);
    found[topic] = (found[topic] ?? 0) + 1;
  }
}
if (kind === "whole") {
  if (!stream.done()) throw new Error("the stream has no end");
  const readable = {
    size: async () => BigInt(bytes.length),
    read: async (offset, size) => new Uint8Array(bytes.subarray(Number(offset), Number(offset + size))),
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  let n = 0, last = 0n;
  for await (const message of reader.readMessages()) {
    if (message.logTime < last) throw new Error("messages are out of their order");
    last = message.logTime;
    n++;
  }
  const all = Object.values(found).reduce((a, b) => a + b, 0);
  if (n !== all || Number(reader.statistics.messageCount) !== all) throw new Error(`by the index ${n}, of ${all}`);
}
console.log(JSON.stringify(found));
