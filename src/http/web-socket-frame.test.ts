import { describe, expect, test } from "bun:test";
import { WebSocketReader, webSocketFrame } from "./web-socket-frame.ts";

describe("frames of the server", () => {
  test.each([
    [0, [0x81, 0]],
    [125, [0x81, 125]],
    [126, [0x81, 126, 0, 126]],
    [65_535, [0x81, 126, 0xff, 0xff]],
    [65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
  ])("%d bytes have the head %p", (bytes, head) => {
    const frame = webSocketFrame("text", new Uint8Array(bytes).fill(7));
    expect([...frame.subarray(0, head.length)]).toEqual(head);
    expect(frame.byteLength).toBe(head.length + bytes);
    expect(frame.subarray(head.length).every((byte) => byte === 7)).toBe(true);
  });
});

describe("frames of the client", () => {
  const masked = (opcode: number, payload: Uint8Array): Uint8Array => {
    const frame = Buffer.from(webSocketFrame("text", payload));
    const headBytes = frame.byteLength - payload.byteLength;
    const mask = [1, 2, 3, 4];
    frame[0] = 0x80 | opcode;
    frame[1] = (frame[1] as number) | 0x80;
    const hidden = payload.map((byte, at) => byte ^ (mask[at % 4] as number));
    return Buffer.concat([frame.subarray(0, headBytes), Uint8Array.from(mask), hidden]);
  };
  const reading = (chunks: readonly Uint8Array[]): string[] => {
    const seen: string[] = [];
    const reader = new WebSocketReader({
      pong: (payload) => seen.push(`pong ${Buffer.from(payload).toString()}`),
      close: () => seen.push("close"),
    });
    for (const chunk of chunks) reader.read(chunk);
    return seen;
  };
  const ping = masked(0x9, Buffer.from("are you there"));

  test("pings are answered between messages, which are skipped, wherever the bytes are cut", () => {
    const bytes = Buffer.concat([
      ping,
      masked(0x1, new Uint8Array(3)),
      masked(0x2, new Uint8Array(70_000)),
      masked(0xa, new Uint8Array(0)),
      ping,
      masked(0x8, new Uint8Array(0)),
      ping,
    ]);
    const expected = ["pong are you there", "pong are you there", "close"];
    expect(reading([bytes])).toEqual(expected);
    for (const size of [1, 2, 7, 4_096]) {
      const chunks = Array.from({ length: Math.ceil(bytes.byteLength / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      expect(reading(chunks)).toEqual(expected);
    }
  });

  test.each([
    ["no mask", webSocketFrame("text", new Uint8Array(1))],
    ["a ping that is too long", masked(0x9, new Uint8Array(126))],
    [
      "a length beyond all bounds",
      Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
    ],
  ])("%s ends the connection", (_, frame) => {
    expect(reading([frame, ping])).toEqual(["close"]);
  });
});
