import { expect, test } from "bun:test";
import { toIndex, toMemberId, toTerm } from "../core/ids.ts";
import { membershipOf } from "../core/membership.ts";
import type { InstallSnapshot } from "../core/message.ts";
import type { Connection, ConnectionEvents } from "./connection.ts";
import { Frame } from "./frame.ts";
import { OutgoingSnapshot } from "./outgoing-snapshot.ts";
import { decodeSnapshotFrame, encodeSnapshotFrame, type SnapshotFrame } from "./snapshot-frames.ts";

const message: InstallSnapshot = {
  type: "snapshot",
  from: toMemberId(1),
  to: toMemberId(2),
  term: toTerm(3),
  snapshot: { index: toIndex(9), term: toTerm(3), membership: membershipOf([toMemberId(1)]) },
};
const parts = ["the ", "state"];

type Say = (frame: SnapshotFrame) => void;

/** Returns a connection to a receiver that the test controls. */
function connectionTo(receive: (frame: SnapshotFrame, say: Say, close: () => void) => void): Connection {
  let events: ConnectionEvents | undefined;
  let isOpen = true;
  const close = () => {
    isOpen = false;
    events?.closed();
  };
  const say: Say = (frame) => {
    const bytes = Buffer.from(encodeSnapshotFrame(frame));
    queueMicrotask(() => isOpen && events?.frame(new Frame([bytes], bytes.length)));
  };
  return {
    get isOpen() {
      return isOpen;
    },
    handOver: (given: ConnectionEvents) => (events = given),
    writeFrame: (body: Buffer) => receive(decodeSnapshotFrame(Buffer.from(body)), say, close),
    drained: () => Promise.resolve(),
    close,
  } as unknown as Connection;
}

async function* chunks() {
  for (const part of parts) yield Buffer.from(part);
}

function sender(connections: readonly Connection[]) {
  const waiting = [...connections];
  return new OutgoingSnapshot({
    message,
    chunks: chunks(),
    bytesPerSecond: 1 << 30,
    dial: async () => waiting.shift() as Connection,
    isCancelled: () => false,
  });
}

/** Takes one chunk and disconnects. */
const takesOne = () =>
  connectionTo((frame, say, close) => {
    if (frame.kind === "begin") say({ kind: "resume", offset: 0 });
    if (frame.kind !== "chunk" || frame.offset > 0) return;
    say({ kind: "taken", offset: frame.bytes.length });
    setTimeout(close, 5);
  });

test("data that a receiver has not taken is sent again over the next connection", async () => {
  const received: string[] = [];
  const next = connectionTo((frame, say) => {
    if (frame.kind === "begin") say({ kind: "resume", offset: 4 });
    if (frame.kind === "chunk") received.push(frame.bytes.toString());
    if (frame.kind === "end") say({ kind: "installed" });
  });
  await sender([takesOne(), next]).run();
  expect(received).toEqual(["state"]);
});

test("a restarted receiver ends the transfer, because a new one can send it everything", async () => {
  const restarted = connectionTo((frame, say) => {
    if (frame.kind === "begin") say({ kind: "resume", offset: 0 });
  });
  await expect(sender([takesOne(), restarted]).run()).rejects.toThrow("the receiver has restarted");
});
