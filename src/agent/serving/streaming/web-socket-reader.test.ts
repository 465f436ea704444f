import { describe, expect, test } from "bun:test";
import { messageBytesMax, WebSocketError, WebSocketMessageReader } from "./web-socket-reader.ts";

/** A masked frame, as a client sends it. */
function frame(opcode: number, payload: Uint8Array, isFinal = true): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const { byteLength } = payload;
  const length =
    byteLength < 126
      ? Buffer.from([0x80 | byteLength])
      : byteLength < 65_536
        ? Buffer.from([0x80 | 126, byteLength >> 8, byteLength & 0xff])
        : Buffer.from([0x80 | 127, 0, 0, 0, 0, ...new Uint8Array(new Uint32Array([byteLength]).buffer).toReversed()]);
  const masked = Buffer.from(payload).map((byte, at) => byte ^ (mask[at % 4] as number));
  return Buffer.concat([Uint8Array.of((isFinal ? 0x80 : 0) | opcode), length, mask, masked]);
}

const texts = (reader: WebSocketMessageReader, bytes: Uint8Array) =>
  reader.read(bytes).map((message) => (message.kind === "close" ? "close" : `${message.kind} ${message.payload}`));

test.each([0, 1, 125, 126, 65_535, 65_536, 100_000])("a message of %d bytes", (length) => {
  const payload = Buffer.alloc(length, "abc");
  const [message] = new WebSocketMessageReader().read(frame(2, payload));
  expect(message).toEqual({ kind: "data", isText: false, payload });
});

test("messages in parts, with control frames between, byte by byte", () => {
  const reader = new WebSocketMessageReader();
  const bytes = Buffer.concat([
    frame(1, Buffer.from("one "), false),
    frame(9, Buffer.from("ping")),
    frame(0, Buffer.from("two "), false),
    frame(10, Buffer.from("pong")),
    frame(0, Buffer.from("three")),
    frame(2, Buffer.from("next")),
    frame(8, Buffer.from([3, 232])),
  ]);
  const seen = [...bytes].flatMap((byte) => texts(reader, Uint8Array.of(byte)));
  expect(seen).toEqual(["ping ping", "data one two three", "data next", "close"]);
});

describe("refusals", () => {
  test.each([
    ["a frame without a mask", Buffer.from([0x82, 0x01, 0x61]), 1002],
    ["a reserved bit", Buffer.from([0xc2, 0x80, 0, 0, 0, 0]), 1002],
    ["an unknown frame", frame(3, Buffer.alloc(0)), 1002],
    ["an unknown control frame", frame(11, Buffer.alloc(0)), 1002],
    ["a control frame in parts", frame(9, Buffer.alloc(0), false), 1002],
    ["a long control frame", frame(9, Buffer.alloc(126)), 1002],
    ["a part of nothing", frame(0, Buffer.alloc(1)), 1002],
    ["a message within a message", Buffer.concat([frame(2, Buffer.alloc(1), false), frame(2, Buffer.alloc(1))]), 1002],
    ["a long message", Buffer.from([0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]), 1009],
  ])("%s", (_, bytes, code) => {
    let refused: unknown;
    try {
      new WebSocketMessageReader().read(bytes);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(WebSocketError);
    expect((refused as WebSocketError).closeCode).toBe(code);
  });

  test.each([1, 64 * 1024])("a message in too many parts of %d bytes", (partBytes) => {
    const reader = new WebSocketMessageReader();
    reader.read(frame(2, Buffer.alloc(partBytes), false));
    const part = frame(0, Buffer.alloc(partBytes), false);
    const parts = Math.ceil(messageBytesMax / partBytes);
    expect(() => {
      for (let count = 0; count < parts; count++) reader.read(part);
    }).toThrow("a message is too long");
  });
});
