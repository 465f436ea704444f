import { expect, test } from "bun:test";
import { FrameError, type FrameKind, FrameReader, frameKinds, frameOf, uint32 } from "./frame.ts";

type Received = [kind: FrameKind, text: string];

function reader(): { readonly frames: FrameReader; readonly received: Received[] } {
  const received: Received[] = [];
  return { frames: new FrameReader((kind, payload) => received.push([kind, payload.toString()])), received };
}

test("frames come out as they went in, however the stream is cut", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  let state = seed;
  const below = (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1;
    return state % limit;
  };
  const sent: Received[] = Array.from({ length: 200 }, () => [frameKinds.answer, "x".repeat(below(3_000))]);
  const stream = Buffer.concat(sent.map(([kind, text]) => frameOf(kind, Buffer.from(text))));
  const { frames, received } = reader();
  for (let at = 0; at < stream.length; ) {
    const end = Math.min(stream.length, at + 1 + below(below(4) === 0 ? 20_000 : 7));
    // The socket may use the memory of a chunk again.
    const chunk = Buffer.from(stream.subarray(at, end));
    frames.push(chunk);
    chunk.fill(0xff);
    at = end;
  }
  expect({ seed, received }).toEqual({ seed, received: sent });
});

test("a frame of an impossible length is refused before it is collected", () => {
  const { frames } = reader();
  expect(() => frames.push(Buffer.concat([uint32(2 ** 31), Buffer.alloc(1)]))).toThrow(FrameError);
  expect(() => reader().frames.push(Buffer.concat([uint32(0), Buffer.alloc(1)]))).toThrow(FrameError);
});
