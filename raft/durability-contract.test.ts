import { expect, test } from "bun:test";
import type { Entry } from "./core/entry.ts";
import type { Message } from "./core/message.ts";
import type { Ready, Write } from "./core/ready.ts";
import { noCrash } from "./crash-point.ts";
import { DurabilityContract } from "./durability-contract.ts";
import { UnderWay } from "./under-way.ts";

/** A member whose disk finishes a write on command; `done` lists the events. */
function member() {
  const done: string[] = [];
  const disk: PromiseWithResolvers<void>[] = [];
  const named = (messages: readonly Message[]): string => (messages as unknown as string[]).join("+");
  const contract = new DurabilityContract({
    log: {
      append(): Promise<void> {
        done.push("write");
        const write = Promise.withResolvers<void>();
        disk.push(write);
        return write.promise;
      },
    },
    writes: new UnderWay(),
    reach: noCrash,
    send: (messages) => messages.length > 0 && done.push(`send ${named(messages)}`),
    sendPromises: (messages) => messages.length > 0 && done.push(`promise ${named(messages)}`),
    persisted: () => done.push("durable"),
    apply: () => done.push("apply"),
    resume: (run) => run(),
    fail: (error) => done.push(`fail ${error.message}`),
  });
  return { contract, disk, done };
}

/** These tests identify messages by name. */
function ready(parts: { now?: string; write?: true; after?: string; commits?: true }): Ready {
  return {
    messagesNow: (parts.now === undefined ? [] : [parts.now]) as unknown as Message[],
    messagesAfterPersist: (parts.after === undefined ? [] : [parts.after]) as unknown as Message[],
    ...(parts.write === true ? { write: {} as Write } : {}),
    committed: parts.commits === true ? [{} as Entry] : [],
    readStates: [],
    proposalResults: [],
  };
}

test("a promise waits for its write, and nothing else does", async () => {
  const { contract, disk, done } = member();
  contract.take(ready({ now: "a", write: true, after: "b", commits: true }));
  expect(done.splice(0)).toEqual(["send a", "write", "apply"]);
  disk[0]?.resolve();
  await disk[0]?.promise;
  expect(done).toEqual(["durable", "promise b"]);
});

test("a promise without a write is sent at once, unless an earlier write is pending", async () => {
  const { contract, disk, done } = member();
  contract.take(ready({ after: "a" }));
  expect(done.splice(0)).toEqual(["promise a"]);
  contract.take(ready({ write: true }));
  contract.take(ready({ after: "b" }));
  expect(done.splice(0)).toEqual(["write"]);
  disk[0]?.resolve();
  await disk[0]?.promise;
  expect(done).toEqual(["durable", "promise b"]);
});

test("of several writes are each released with their write", async () => {
  const { contract, disk, done } = member();
  contract.take(ready({ write: true, after: "a" }));
  contract.take(ready({ write: true, after: "b" }));
  done.splice(0);
  disk[0]?.resolve();
  await disk[0]?.promise;
  expect(done.splice(0)).toEqual(["durable", "promise a"]);
  disk[1]?.resolve();
  await disk[1]?.promise;
  expect(done).toEqual(["durable", "promise b"]);
});

test("a failed write releases nothing", async () => {
  const { contract, disk, done } = member();
  contract.take(ready({ write: true, after: "a" }));
  disk[0]?.reject(new Error("disk"));
  await Bun.sleep(0);
  expect(done).toEqual(["write", "fail disk"]);
});
