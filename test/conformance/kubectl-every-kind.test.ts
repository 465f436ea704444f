import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { apiVersionOf } from "../../src/api/gvk.ts";
import { structOf } from "../../src/api/scheme/object-form.ts";
import { type RunningServer } from "../../src/index.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { startServer } from "../etcd/start-server.ts";
import { minimalObjects } from "../integration/minimal-objects.ts";
import { Kubectl } from "./kubectl.ts";

/** Number of concurrent kubectl processes. */
const parallel = 4;
const timeoutMs = 60_000;

const scheme = Scheme.builtIn();
const kinds = scheme.resources.filter(({ verbs }) => verbs.includes("get"));

let server: RunningServer;
let kubectl: Kubectl;
beforeAll(async () => {
  server = await startServer();
  kubectl = await Kubectl.open(server.kubeconfig);
});
afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.pop(); item !== undefined; item = queue.pop()) await run(item);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

describe("every kind", () => {
  test(
    "is explained, with all its fields",
    async () => {
      expect(kinds.length).toBeGreaterThan(55);
      await inParallel(kinds, async (info) => {
        const printed = await kubectl.ok([
          "explain",
          info.resource,
          "--recursive",
          `--api-version=${apiVersionOf(info)}`,
        ]);
        expect(printed).toContain(`KIND:       ${info.kind}\n`);
        expect(printed).not.toContain("<empty>");
        for (const field of structOf(info).fields.keys()) expect(printed).toContain(`\n  ${field}\t<`);
      });
    },
    timeoutMs,
  );

  test(
    "is applied, applied again, printed, described and deleted",
    async () => {
      const minimal = await minimalObjects("default");
      // Two groups have Events, in one store, so the kind alone does not identify them.
      const stored = scheme.stored.filter(({ kind }) => kind !== "Event");
      const objects = stored.map(({ group, version, kind }) => {
        const { name = "test", fields = {} } = minimal[`${group}/${kind}`] ?? {};
        return { kind, apiVersion: apiVersionOf({ group, version }), metadata: { name }, ...fields };
      });
      const all = { input: JSON.stringify({ kind: "List", apiVersion: "v1", items: objects }) };
      const versions = async () => {
        const { items } = JSON.parse(await kubectl.ok(["get", "-o", "json", "-f", "-"], all));
        return items.map(({ kind, metadata }: any) => `${kind} ${metadata.resourceVersion}`);
      };

      const created = await kubectl.ok(["apply", "--validate=strict", "-f", "-"], all);
      expect(created.match(/ created$/gm)).toHaveLength(objects.length);
      const before = await versions();
      await kubectl.ok(["apply", "-f", "-"], all);
      expect(await versions()).toEqual(before);
      const printed = await kubectl.ok(["get", "-o", "wide", "-f", "-"], all);
      for (const { metadata } of objects) expect(printed).toContain(metadata.name);
      // kubectl describes only this kind through a beta version that is not served.
      const described = objects.filter(({ kind }) => kind !== "VolumeAttributesClass");
      const input = JSON.stringify({ kind: "List", apiVersion: "v1", items: described });
      const description = await kubectl.ok(["describe", "-f", "-"], { input });
      expect(description.match(/^Name: /gm)).toHaveLength(described.length);
      const deleted = await kubectl.ok(["delete", "--wait=false", "--now", "-f", "-"], all);
      expect(deleted.match(/ (force )?deleted/g)).toHaveLength(objects.length);
    },
    timeoutMs,
  );
});
