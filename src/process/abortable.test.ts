import { expect, test } from "bun:test";
import { abortable } from "./abortable.ts";

test("waits for the outcome of work", async () => {
  const { signal } = new AbortController();
  expect(await abortable(Promise.resolve(1), signal)).toBe(1);
  await expect(Promise.resolve(abortable(Promise.reject(new Error("broken")), signal))).rejects.toThrow("broken");
});

test("ends the wait for work that does not end", async () => {
  const controller = new AbortController();
  const waits = Promise.resolve(abortable(new Promise(() => undefined), controller.signal));
  controller.abort(new Error("enough"));
  await expect(waits).rejects.toThrow("enough");
  await expect(Promise.resolve(abortable(Promise.resolve(1), controller.signal))).rejects.toThrow("enough");
});
