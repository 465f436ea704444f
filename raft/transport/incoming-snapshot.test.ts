import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { toIndex, toMemberId, toTerm } from "../core/ids.ts";
import { membershipOf } from "../core/membership.ts";
import type { InstallSnapshot } from "../core/message.ts";
import type { Connection, ConnectionEvents } from "./connection.ts";
import { Frame } from "./frame.ts";
import { IncomingSnapshot } from "./incoming-snapshot.ts";
import { decodeSnapshotFrame, encodeSnapshotFrame, type SnapshotFrame } from "./snapshot-frames.ts";

const snapshot = { index: toIndex(9), term: toTerm(3), membership: membershipOf([toMemberId(1)]) };
const message: InstallSnapshot = {
  type: "snapshot",
  from: toMemberId(1),
  to: toMemberId(2),
  term: toTerm(3),
  snapshot,
};
const bytes = Buffer.from("the state");
const digest = createHash("sha256").update(bytes).digest();

/** A connection that the test controls: it gives input and reads output. */
class Wire {
  readonly sent: SnapshotFrame[] = [];
  #events: ConnectionEvents | undefined;

  get connection(): Connection {
    return {
      handOver: (events: ConnectionEvents) => {
        this.#events = events;
      },
      writeFrame: (body: Buffer) => this.sent.push(decodeSnapshotFrame(Buffer.from(body))),
      ping: () => {},
      close: () => this.#events?.closed(),
    } as unknown as Connection;
  }

  give(frame: SnapshotFrame): void {
    const bytes = Buffer.from(encodeSnapshotFrame(frame));
    this.#events?.frame(new Frame([bytes], bytes.length));
  }
}

function receiver() {
  const found: string[] = [];
  const incoming = new IncomingSnapshot("some transfer", message, async (_, chunks) => {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    found.push(Buffer.concat(parts).toString());
  });
  const wire = new Wire();
  incoming.attach(wire.connection);
  return { incoming, wire, found };
}

test("all of it arrives, is acknowledged as it is taken, and is installed", async () => {
  const { wire, found } = receiver();
  wire.give({ kind: "chunk", offset: 0, bytes });
  wire.give({ kind: "end", length: bytes.length, digest });
  await Bun.sleep(5);
  expect(found).toEqual(["the state"]);
  expect(wire.sent).toEqual([
    { kind: "resume", offset: 0 },
    { kind: "taken", offset: bytes.length },
    { kind: "installed" },
  ]);
});

test("altered data is never installed", async () => {
  const { wire, found } = receiver();
  wire.give({ kind: "chunk", offset: 0, bytes: Buffer.from("the stale") });
  wire.give({ kind: "end", length: bytes.length, digest });
  await Bun.sleep(5);
  expect(found).toEqual([]);
  expect(wire.sent.at(-1)).toEqual({ kind: "failed", reason: "the snapshot differs from the one that was sent" });
});

test("a part that is missing, comes twice or comes after the end is rejected", () => {
  const { wire } = receiver();
  expect(() => wire.give({ kind: "chunk", offset: 5, bytes })).toThrow(/missing/);
  wire.give({ kind: "chunk", offset: 0, bytes });
  expect(() => wire.give({ kind: "chunk", offset: 0, bytes })).toThrow(/missing/);
  expect(() => wire.give({ kind: "end", length: 3, digest })).toThrow(/missing/);
  wire.give({ kind: "end", length: bytes.length, digest });
  expect(() => wire.give({ kind: "chunk", offset: bytes.length, bytes })).toThrow(/missing/);
});

test("another connection continues where the last one ended and gets the result", async () => {
  const { incoming, wire, found } = receiver();
  wire.give({ kind: "chunk", offset: 0, bytes: bytes.subarray(0, 4) });
  wire.connection.close();
  const second = new Wire();
  incoming.attach(second.connection);
  expect(second.sent[0]).toEqual({ kind: "resume", offset: 4 });
  second.give({ kind: "chunk", offset: 4, bytes: bytes.subarray(4) });
  second.give({ kind: "end", length: bytes.length, digest });
  await Bun.sleep(5);
  expect(found).toEqual(["the state"]);
  const third = new Wire();
  incoming.attach(third.connection);
  expect(third.sent).toEqual([
    { kind: "resume", offset: bytes.length },
    { kind: "taken", offset: bytes.length },
    { kind: "installed" },
  ]);
});

test("another connection reports the progress, even if the last one broke before it could", async () => {
  const { incoming, wire } = receiver();
  wire.give({ kind: "chunk", offset: 0, bytes });
  wire.connection.close();
  await Bun.sleep(5);
  expect(wire.sent).toEqual([{ kind: "resume", offset: 0 }]);
  const second = new Wire();
  incoming.attach(second.connection);
  expect(second.sent).toEqual([
    { kind: "resume", offset: bytes.length },
    { kind: "taken", offset: bytes.length },
  ]);
  second.connection.close();
});

test("data on the old connection is sent again over the new one and does not count", async () => {
  const { incoming, wire, found } = receiver();
  wire.give({ kind: "chunk", offset: 0, bytes: bytes.subarray(0, 4) });
  const next = new Wire();
  incoming.attach(next.connection);
  wire.give({ kind: "chunk", offset: 4, bytes: bytes.subarray(4) });
  next.give({ kind: "chunk", offset: 4, bytes: bytes.subarray(4) });
  next.give({ kind: "end", length: bytes.length, digest });
  await Bun.sleep(5);
  expect(found).toEqual(["the state"]);
});

test("an aborted transfer ends its installation", async () => {
  const { incoming, wire, found } = receiver();
  wire.give({ kind: "chunk", offset: 0, bytes });
  incoming.abort("another snapshot took its place");
  await Bun.sleep(5);
  expect(found).toEqual([]);
});
