import { expect, test } from "bun:test";
import { ByteQueue, queuedBytesMax } from "./byte-queue.ts";

async function read(queue: ByteQueue): Promise<string> {
  let text = "";
  for await (const chunk of queue) text += Buffer.from(chunk).toString();
  return text;
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await Bun.sleep(1);
  return settled;
}

test("bytes come out in order, before and after the end", async () => {
  const queue = new ByteQueue();
  const reading = read(queue);
  await queue.push(Buffer.from("one "));
  await Bun.sleep(0);
  await queue.push(Buffer.from("two "));
  await queue.push(Buffer.from("three"));
  queue.end();
  await queue.push(Buffer.from(" too late"));
  expect(await reading).toBe("one two three");
});

test("a writer waits for its reader when much is queued", async () => {
  const queue = new ByteQueue();
  expect(await isSettled(queue.push(Buffer.alloc(queuedBytesMax)))).toBe(true);
  const waiting = queue.push(Buffer.alloc(10));
  expect(await isSettled(waiting)).toBe(false);
  const reader = queue[Symbol.asyncIterator]();
  await reader.next();
  expect(await isSettled(waiting)).toBe(true);
});

test("leaving the loop lets the writer go on, and discards the rest", async () => {
  const queue = new ByteQueue();
  const waiting = queue.push(Buffer.alloc(queuedBytesMax + 1));
  for await (const _ of queue) break;
  await waiting;
  await queue.push(Buffer.alloc(queuedBytesMax * 2));
  expect(await read(queue)).toBe("");
});

test("a writer that waits goes on at the end", async () => {
  const queue = new ByteQueue();
  const waiting = queue.push(Buffer.alloc(queuedBytesMax + 1));
  queue.end();
  await waiting;
});
