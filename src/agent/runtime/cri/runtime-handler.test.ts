import { expect, test } from "bun:test";
import { status } from "../../../api/status.ts";
import type { Client } from "../../../client/client.ts";
import { runtimeHandler } from "./runtime-handler.ts";

const clientOf = (get: () => Promise<unknown>) => ({ get }) as unknown as Pick<Client, "get">;

test("a RuntimeClass names the handler", async () => {
  expect(
    await runtimeHandler(
      clientOf(async () => ({ handler: "kata" })),
      "sandboxed",
    ),
  ).toBe("kata");
});

test.each([
  [
    "a missing class",
    status.notFound({ group: "node.k8s.io", resource: "runtimeclasses", name: "x" }),
    'runtimeclass.node.k8s.io "x" not found',
  ],
  ["a failure", new Error("no answer"), "failed to lookup RuntimeClass x: no answer"],
])("%s says so", async (_, error, message) => {
  await expect(
    runtimeHandler(
      clientOf(() => Promise.reject(error)),
      "x",
    ),
  ).rejects.toThrow(message);
});
