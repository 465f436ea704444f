import { expect, test } from "bun:test";
import { ManualClock } from "../storage/cacher/testing.ts";
import { ResourceTransformers } from "../storage/encryption/resource-transformers.ts";
import { EncryptionReload } from "./encryption-reload.ts";
import type { UsedEncryption } from "./used-encryption.ts";

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A reload of files whose text says whether their key services are healthy. */
function reloads() {
  const clock = new ManualClock();
  const log: string[] = [];
  const healthy = new Set(["good"]);
  const reload = new EncryptionReload({
    clock,
    async open(bytes) {
      const hash = Buffer.from(bytes).toString();
      if (hash === "wrong") throw new Error("wrong file");
      const check = async () => {
        if (!healthy.has(hash)) throw new Error("down");
      };
      const keyServices = { graceMs: 12_000, check } as unknown as NonNullable<UsedEncryption["keyServices"]>;
      const transformers = new ResourceTransformers();
      return { hash, transformers, keyServices, [Symbol.dispose]: () => void log.push(`closed ${hash}`) };
    },
    onUsed: ({ hash }) => void log.push(`used ${hash}`),
    onError: (error) => void log.push((error as Error).message),
  });
  const pass = async (ms: number) => {
    for (let at = 0; at < ms; at += 100) {
      clock.advance(100);
      await settle();
    }
  };
  const change = async (text: string) => {
    reload.change(Buffer.from(text));
    await settle();
  };
  return { clock, log, healthy, reload, pass, change };
}

test("a file is used when its key services are healthy, and a wrong one is reported", async () => {
  const { log, change } = reloads();
  await change("good");
  await change("wrong");
  expect(log).toEqual(["used good", "wrong file"]);
});

test("key services have their time to become healthy, and the file is tried again later", async () => {
  const { log, change, pass, healthy } = reloads();
  await change("bad");
  await pass(11_900);
  expect(log).toEqual([]);
  await pass(200);
  const failure = "health check for new transformers failed, polling error timed out waiting for the condition: down";
  expect(log).toEqual([failure, "closed bad"]);
  healthy.add("bad");
  await pass(10_000);
  expect(log).toEqual([failure, "closed bad", "used bad"]);
});

test("a newer file ends the wait for an older one", async () => {
  const { clock, log, change, pass, reload } = reloads();
  await change("bad");
  await change("good");
  await pass(100);
  expect(log).toEqual(["closed bad", "used good"]);
  reload[Symbol.dispose]();
  expect(clock.timers).toBe(0);
});
