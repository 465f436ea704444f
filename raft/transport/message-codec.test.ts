import { describe, expect, test } from "bun:test";
import { noMember, toIndex, toMemberId, toRequestId, toTerm } from "../core/ids.ts";
import type { Message } from "../core/message.ts";
import { ByteWriter } from "./byte-writer.ts";
import { FrameReader } from "./frame.ts";
import { decodeHandshake, encodeHello, encodeRefusal } from "./handshake.ts";
import { decodeMessage, encodeMessage } from "./message-codec.ts";
import { decodeSnapshotFrame, encodeSnapshotFrame } from "./snapshot-frames.ts";

const envelope = { from: toMemberId(3), to: toMemberId(2 ** 40), term: toTerm(2 ** 53 - 1) };
const membership = { voters: [1, 2].map(toMemberId), outgoing: [2, 3].map(toMemberId), learners: [], learnersNext: [] };
const entries = [
  { index: toIndex(8), term: toTerm(2), kind: "normal" as const, data: Buffer.from("one") },
  { index: toIndex(9), term: toTerm(3), kind: "confChange" as const, data: Buffer.alloc(300, 7) },
  { index: toIndex(10), term: toTerm(3), kind: "empty" as const, data: Buffer.alloc(0) },
];

const messages: readonly Message[] = [
  { type: "preVote", ...envelope, lastIndex: toIndex(7), lastTerm: toTerm(300) },
  { type: "preVoteReply", ...envelope, granted: true },
  { type: "vote", ...envelope, lastIndex: toIndex(2 ** 52), lastTerm: toTerm(1), transfer: true },
  { type: "voteReply", ...envelope, granted: false },
  { type: "append", ...envelope, prevIndex: toIndex(7), prevTerm: toTerm(2), entries, commit: toIndex(5) },
  { type: "append", ...envelope, prevIndex: toIndex(0), prevTerm: toTerm(0), entries: [], commit: toIndex(0) },
  { type: "appendAccepted", ...envelope, index: toIndex(127) },
  { type: "appendRejected", ...envelope, prevIndex: toIndex(128), hintIndex: toIndex(129), hintTerm: toTerm(16_384) },
  { type: "heartbeat", ...envelope, commit: toIndex(9), round: 77 },
  { type: "heartbeatReply", ...envelope, round: 77 },
  { type: "snapshot", ...envelope, snapshot: { index: toIndex(9), term: toTerm(3), membership } },
  { type: "timeoutNow", ...envelope },
  { type: "propose", ...envelope, id: toRequestId(2 ** 47 + 1), data: Buffer.from("data") },
  { type: "proposeReply", ...envelope, id: toRequestId(1), outcome: { kind: "refused", reason: "logFull" } },
  {
    type: "proposeReply",
    ...envelope,
    id: toRequestId(1),
    outcome: { kind: "appended", index: toIndex(4), term: toTerm(4) },
  },
  { type: "readIndex", ...envelope, id: toRequestId(1) },
  { type: "readIndexReply", ...envelope, id: toRequestId(1), outcome: { kind: "confirmed", index: toIndex(4) } },
  {
    type: "readIndexReply",
    ...envelope,
    to: noMember,
    id: toRequestId(1),
    outcome: { kind: "refused", reason: "noLeader" },
  },
];

function encoded(message: Message): Buffer {
  const writer = new ByteWriter(16);
  encodeMessage(message, writer);
  return Buffer.from(writer.take());
}

describe("messages", () => {
  test.each(messages.map((message) => [message.type, message] as const))(
    "%s is decoded as it was encoded",
    (_, message) => {
      expect(decodeMessage(encoded(message))).toEqual(message);
    },
  );

  test.each(messages.map((message) => [message.type, message] as const))(
    "%s truncated anywhere is rejected",
    (_, message) => {
      const bytes = encoded(message);
      for (let length = 0; length < bytes.length; length++) {
        expect(() => decodeMessage(bytes.subarray(0, length))).toThrow();
      }
      expect(() => decodeMessage(Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow(/bytes after its end/);
    },
  );

  test("random bytes are rejected or decoded as a message, without more memory than their size", () => {
    const seed = Date.now() % 1e9;
    let state = seed;
    const next = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32;
    for (let round = 0; round < 20_000; round++) {
      const bytes = encoded(messages[Math.floor(next() * messages.length)] as Message);
      for (let flips = 1 + Math.floor(next() * 4); flips > 0; flips--) {
        bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256);
      }
      try {
        const message = decodeMessage(bytes);
        expect(message.type === "append" ? message.entries.length : 0).toBeLessThan(bytes.length);
      } catch (error) {
        expect(["ProtocolError", "RangeError"]).toContain((error as Error).name);
      }
    }
  });

  test("an append that claims more entries than it has bytes is rejected at once", () => {
    const writer = new ByteWriter(64);
    writer.byte(4);
    for (const field of [1, 2, 3, 0, 0, 0, 2 ** 50]) writer.count(field);
    expect(() => decodeMessage(writer.take())).toThrow(/truncated/);
  });

  test("a term beyond exact integers is rejected", () => {
    const bytes = Buffer.from([10, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]);
    expect(() => decodeMessage(bytes)).toThrow(/too large/);
  });
});

describe("frames", () => {
  test("are found however the bytes are split", () => {
    const bodies = [Buffer.from("one"), Buffer.alloc(0), Buffer.alloc(5000, 1), Buffer.from("x")];
    const all = Buffer.concat(
      bodies.flatMap((body) => {
        const length = Buffer.alloc(4);
        length.writeUInt32LE(body.length);
        return [length, body];
      }),
    );
    for (const step of [1, 2, 3, 7, 100, all.length]) {
      const reader = new FrameReader(5000);
      const found: Buffer[] = [];
      for (let from = 0; from < all.length; from += step) {
        reader.push(Buffer.from(all.subarray(from, from + step)), (frame) => found.push(frame.whole()));
      }
      expect(found).toEqual(bodies);
    }
  });

  test("contain messages that are read across their pieces", () => {
    for (const message of messages) {
      const bytes = encoded(message);
      for (const step of [1, 2, 5, 64]) {
        const pieces: Buffer[] = [];
        for (let from = 0; from < bytes.length; from += step) pieces.push(bytes.subarray(from, from + step));
        expect(decodeMessage(pieces)).toEqual(message);
        expect(() => decodeMessage(pieces.slice(0, -1))).toThrow();
      }
    }
  });

  test("of 4 GiB are rejected by their length", () => {
    const reader = new FrameReader(5000);
    expect(() => reader.push(Buffer.from([255, 255, 255, 255]), () => {})).toThrow(/too large/);
  });
});

describe("handshakes", () => {
  const hello = {
    kind: "bulk" as const,
    clusterId: "c",
    from: toMemberId(1),
    to: toMemberId(2),
    incarnation: { starts: 4, nonce: "abc" },
  };

  test("are decoded as they were encoded", () => {
    expect(decodeHandshake(encodeHello(hello))).toEqual({ hello });
    expect(decodeHandshake(encodeRefusal("twin"))).toEqual({ refusal: "twin" });
  });

  test("of another version are rejected as such, of another protocol as invalid", () => {
    const other = encodeHello(hello);
    other[4] = 200;
    expect(decodeHandshake(other)).toEqual({ refusal: "version" });
    expect(() => decodeHandshake(Buffer.from("GET / HTTP/1.1\r\n"))).toThrow(/not a handshake/);
  });
});

test("an altered part of a snapshot is rejected", () => {
  const frame = Buffer.from(encodeSnapshotFrame({ kind: "chunk", offset: 300, bytes: Buffer.from("some state") }));
  expect(decodeSnapshotFrame(frame)).toEqual({ kind: "chunk", offset: 300, bytes: Buffer.from("some state") });
  frame[frame.length - 1] = 0;
  expect(() => decodeSnapshotFrame(frame)).toThrow(/damaged/);
});
