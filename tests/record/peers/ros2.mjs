// Reads the ROS 2 topics of a recording with npm's @foxglove/rosmsg and @foxglove/rosmsg2-serialization (and its
// @foxglove/cdr), by their own schemas; what it writes of each message again is, byte for byte, what was recorded. Prints
// {topic: [type, messages, a value of the newest]} as ros2.py does.
import fs from "node:fs/promises";
import { parse } from "@foxglove/rosmsg";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";
import { McapStreamReader } from "@mcap/core";
import { decompress } from "fzstd";

const values = {
  "sensor_msgs/msg/LaserScan": (m) => [m.header.stamp.sec, m.header.frame_id, m.ranges.length, +Math.min(...m.ranges).toFixed(4)],
  "nav_msgs/msg/Odometry": (m) => [m.header.stamp.nanosec, m.child_frame_id, +m.pose.pose.position.x.toFixed(6)],
  "tf2_msgs/msg/TFMessage": (m) => m.transforms.map((t) => [t.header.frame_id, t.child_frame_id]),
  "nav_msgs/msg/OccupancyGrid": (m) => [m.info.width, m.info.height, m.data.length],
  "sensor_msgs/msg/BatteryState": (m) => [+m.percentage.toFixed(4), m.power_supply_status],
};
const stream = new McapStreamReader({
  decompressHandlers: { zstd: (data, size) => decompress(data, new Uint8Array(Number(size))) },
  validateCrcs: true,
});
stream.append(await fs.readFile(process.argv[2]));
const schemas = new Map(), channels = new Map(), found = {};
for (let record; (record = stream.nextRecord()); ) {
  if (record.type === "Schema" && record.encoding === "ros2msg") {
    const types = parse(new TextDecoder().decode(record.data), { ros2: true });
    schemas.set(record.id, { name: record.name, reader: new MessageReader(types), writer: new MessageWriter(types) });
  }
  if (record.type === "Channel" && record.messageEncoding === "cdr") channels.set(record.id, record);
  if (record.type !== "Message" || !channels.has(record.channelId)) continue;
  const { topic, schemaId } = channels.get(record.channelId);
  const { name, reader, writer } = schemas.get(schemaId);
  const message = reader.readMessage(record.data);
  const again = writer.writeMessage(message), bytes = record.data;
  for (let i = 4; i < Math.max(again.length, bytes.length); i++) // padding to four bytes is nobody's
    if ((again[i] ?? 0) !== (bytes[i] ?? 0)) throw new Error(`${topic}: byte ${i} is ${bytes[i]}, and ${again[i]} by its schema`);
  found[topic] = [name, (found[topic]?.[1] ?? 0) + 1, values[name]?.(message) ?? null];
}
console.log(JSON.stringify(found));
