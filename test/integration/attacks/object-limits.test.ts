import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestServer } from "../server.ts";

let server: TestServer;
let configMaps: string;

beforeAll(async () => {
  server = await TestServer.start();
  configMaps = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
});
afterAll(() => server.close());

describe("attack 51: objects beyond upstream's limits", () => {
  test.each<[string, object, string]>([
    [
      "annotations of 256 KiB",
      { annotations: { a: "x".repeat(262_144) } },
      "metadata.annotations: Too long: may not be more than 262144 bytes",
    ],
    ["a name of 254 characters", { name: "a".repeat(254) }, "metadata.name: Invalid value"],
    [
      "a hundred invalid labels, and many more",
      { labels: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`!${at}`, "a"])) },
      "metadata.labels: Invalid value",
    ],
    [
      "a label that a backtracking pattern would take years for",
      { labels: { a: "a-".repeat(50_000) } },
      "metadata.labels: Invalid value",
    ],
    [
      "a name that such a pattern would take years for",
      { name: `${"a.".repeat(100)}-` },
      "metadata.name: Invalid value",
    ],
    ["a finalizer that is none", { finalizers: ["a b"] }, "metadata.finalizers"],
    [
      "an owner without a name",
      { ownerReferences: [{ apiVersion: "v1", kind: "A", name: "", uid: "x" }] },
      "metadata.ownerReferences.name",
    ],
  ])("%s", async (_name, metadata, text) => {
    const { code, json } = await server.post(configMaps, { metadata: { name: "large", ...metadata } });
    expect([code, json.message]).toEqual([422, expect.stringContaining(text)]);
  });

  test("60,000 finalizers are stored and removed like one", async () => {
    const finalizers = Array.from({ length: 60_000 }, (_, at) => `example.com/f${at}`);
    expect((await server.post(`${configMaps}?dryRun=All`, { metadata: { name: "held", finalizers } })).code).toBe(201);
  });
});
