import { expect, test } from "bun:test";
import { MessageReader, messagePrefix } from "./message-reader.ts";

const texts = ["", "a", "message", "x".repeat(100)];
const bytes = Buffer.concat(texts.flatMap((text) => [messagePrefix(text.length), Buffer.from(text)]));

test.each([1, 4, 5, 6, 50, 1_000])("messages arrive whole from parts of %d bytes", (size) => {
  const reader = new MessageReader(100);
  const found: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    reader.push(bytes.subarray(at, at + size), (message) => found.push(message.toString()));
  }
  expect(found).toEqual(texts);
  expect(reader.isInMessage).toBe(false);
});

test("a message that has begun is known", () => {
  const reader = new MessageReader(100);
  reader.push(bytes.subarray(0, 7), () => {});
  expect(reader.isInMessage).toBe(true);
});

test("a message that is too large, or compressed, is refused by its first bytes", () => {
  expect(() => new MessageReader(100).push(messagePrefix(101), () => {})).toThrow(
    "a message of 101 bytes is larger than 100",
  );
  expect(() => new MessageReader(100).push(Buffer.of(1, 0, 0, 0, 0), () => {})).toThrow("a message that is compressed");
});
