import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { ExtensionServer, group } from "./extension-server.ts";
import { TestServer } from "./server.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-discovery-"));
const options = { dataDir: join(directory, "data"), enableAggregatorRouting: true };
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

afterAll(() => rmSync(directory, { recursive: true }));

async function freshness(server: TestServer): Promise<string | undefined> {
  const { json } = await server.get("/apis", { accept: aggregated });
  return json.items.find(({ metadata }: any) => metadata.name === group)?.versions[0]?.freshness;
}

test("a server that starts again asks extension servers with its certificate, and is ready with their answers", async () => {
  await using extension = await ExtensionServer.start();
  {
    await using first = await TestServer.start(options);
    for (const [path, object] of extension.objects()) await first.create(path, object);
    await until(async () => (await freshness(first)) === "Current");
  }
  extension.seen.length = 0;
  await using again = await TestServer.start(options);
  expect(await freshness(again)).toBe("Current");
  expect(new Set(extension.seen.map(({ client }) => client))).toEqual(new Set(["front-proxy-client"]));
});
