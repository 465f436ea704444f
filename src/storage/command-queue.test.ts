import { expect, test } from "bun:test";
import { until } from "../../test/until.ts";
import { CommandQueue } from "./command-queue.ts";
import { type ApplyResult, type Command, StoreUnavailableError } from "./store.ts";

const command: Command = {
  key: "/registry/configmaps/a/b",
  expect: { kind: "any" },
  operation: {
    kind: "put",
    index: { apiVersion: "v1", uid: "u", labels: {}, fields: undefined, owners: undefined },
    body: { prefix: Buffer.from("{"), suffix: Buffer.from("}") },
  },
};
const result: ApplyResult = { kind: "rejected", current: undefined };

test.each([
  [
    "throws",
    () => {
      throw new Error("broken");
    },
  ],
  ["rejects", () => Promise.reject(new Error("broken"))],
])("a batch whose submission %s is answered with the error, and the next batch continues", async (_, fail) => {
  let isBroken = true;
  const queue = new CommandQueue((commands) => (isBroken ? fail() : commands.map(() => result)));
  const answers = await Promise.allSettled([queue.add(command), queue.add(command)]);
  const refused = { status: "rejected", reason: new Error("broken") } as const;
  expect(answers).toEqual([refused, refused]);
  await queue.idle();
  isBroken = false;
  expect(await queue.add(command)).toBe(result);
  queue.close(new StoreUnavailableError("closed"));
  await queue.idle();
  await expect(queue.add(command)).rejects.toThrow("closed");
});

test("commands of one turn form one batch, and idle waits for outstanding commands", async () => {
  const submitted: number[] = [];
  const { promise, resolve } = Promise.withResolvers<readonly ApplyResult[]>();
  const queue = new CommandQueue((commands) => {
    submitted.push(commands.length);
    return promise;
  });
  const added = Promise.all([queue.add(command), queue.add(command)]);
  let isIdle = false;
  const idle = queue.idle().then(() => (isIdle = true));
  await until(() => submitted.length > 0);
  expect([submitted, isIdle]).toEqual([[2], false]);
  resolve([result, result]);
  expect(await added).toEqual([result, result]);
  await idle;
});
