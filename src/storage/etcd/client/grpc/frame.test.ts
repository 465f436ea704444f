import { expect, test } from "bun:test";
import { contentOf, type Frame, FrameReader, frameFlag, frameHead, frameType, numbersFrame } from "./frame.ts";

const bytes = Buffer.concat([
  numbersFrame(frameType.windowUpdate, 0, 7),
  frameHead(frameType.data, frameFlag.endStream, 3, 5),
  Buffer.from("hello"),
  frameHead(frameType.settings, frameFlag.ack, 0, 0),
]);

test.each([1, 2, 9, 10, 13, 1_000])("frames arrive whole from chunks of %d bytes", (size) => {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    reader.push(bytes.subarray(at, at + size), (frame) => frames.push(frame));
  }
  expect(frames).toEqual([
    { type: frameType.windowUpdate, flags: 0, streamId: 0, payload: Buffer.of(0, 0, 0, 7) },
    { type: frameType.data, flags: frameFlag.endStream, streamId: 3, payload: Buffer.from("hello") },
    { type: frameType.settings, flags: frameFlag.ack, streamId: 0, payload: Buffer.alloc(0) },
  ]);
});

test("the reserved bit of a stream number is ignored", () => {
  const head = frameHead(frameType.settings, 0, 0, 0);
  head[5] = 0x80;
  const frames: Frame[] = [];
  new FrameReader().push(head, (frame) => frames.push(frame));
  expect(frames[0]?.streamId).toBe(0);
});

test("a frame that is larger than allowed is refused before it has arrived", () => {
  const head = frameHead(frameType.data, 0, 1, 16_385);
  expect(() => new FrameReader().push(head, () => {})).toThrow("a frame of 16385 bytes");
});

test("padding and priority are taken off", () => {
  const frame = { type: frameType.headers, flags: frameFlag.padded | frameFlag.priority, streamId: 1 };
  const payload = Buffer.from([2, 0, 0, 0, 0, 16, 0x61, 0x62, 0, 0]);
  expect(contentOf({ ...frame, payload }).toString()).toBe("ab");
  expect(() => contentOf({ ...frame, payload: payload.subarray(0, 6) })).toThrow("more padding than bytes");
});
