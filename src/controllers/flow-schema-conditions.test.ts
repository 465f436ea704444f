import { afterEach, beforeEach, expect, test } from "bun:test";
import type { KubeObject } from "../api/object-meta.ts";
import type { FlowSchema } from "../api/types/flowcontrol-v1.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import { Scheme } from "../kinds/scheme.ts";
import { systemClock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { serverContext } from "../registry/server-context.ts";
import { openRegistries } from "../server/registries.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { FlowSchemaConditions } from "./flow-schema-conditions.ts";

const apiVersion = "flowcontrol.apiserver.k8s.io/v1";

let store: MemoryStore;
let cachers: CacherSet;
let schemas: Registry;
let levels: Registry;

beforeEach(() => {
  store = new MemoryStore();
  cachers = new CacherSet({ store, clock: systemClock });
  const { registries } = openRegistries({
    catalog: builtInCatalog(Scheme.builtIn()),
    store,
    cachers,
    clock: systemClock,
    randomInt: () => 0,
    serviceNetwork: undefined,
  });
  const group = "flowcontrol.apiserver.k8s.io";
  schemas = registries.find({ group, resource: "flowschemas" }) as Registry;
  levels = registries.find({ group, resource: "prioritylevelconfigurations" }) as Registry;
});

afterEach(async () => {
  cachers.close();
  await store.close();
});

async function create(level: string): Promise<void> {
  const spec = { priorityLevelConfiguration: { name: level }, matchingPrecedence: 7 };
  await schemas.create({ kind: "FlowSchema", apiVersion, metadata: { name: "a" }, spec }, "", serverContext);
}

/** Updates the schema's condition, and returns the schema. */
async function reported(): Promise<FlowSchema> {
  const onError = (error: unknown) => {
    throw error;
  };
  const conditions = new FlowSchemaConditions({ levels, schemas, store, clock: systemClock, onError });
  await conditions.report(`${schemas.info.keyPrefix}a`);
  return schemas.current("", "a") as unknown as FlowSchema;
}

test("a schema without its level is reported as dangling by the field manager of Kubernetes", async () => {
  await create("n1");
  const { status, metadata } = await reported();
  expect(status?.conditions).toEqual([
    {
      type: "Dangling",
      status: "True",
      lastTransitionTime: expect.any(String),
      reason: "NotFound",
      message:
        'This FlowSchema references the PriorityLevelConfiguration object named "n1" but there is no such object',
    },
  ]);
  expect(
    metadata.managedFields?.map(({ manager, operation, subresource }) => [manager, operation, subresource]),
  ).toEqual(expect.arrayContaining([["api-priority-and-fairness-config-consumer-v1", "Apply", "status"]]));
});

test("the condition follows the level", async () => {
  await create("n1");
  await reported();
  const spec = { type: "Limited", limited: { limitResponse: { type: "Reject" } } };
  const level: KubeObject = { kind: "PriorityLevelConfiguration", apiVersion, metadata: { name: "n1" }, spec };
  await levels.create(level, "", serverContext);
  const { status } = await reported();
  expect(status?.conditions).toMatchObject([{ type: "Dangling", status: "False", reason: "Found" }]);
});

test("a schema is written once", async () => {
  await create("catch-all");
  const first = await reported();
  expect(first.status?.conditions).toMatchObject([{ status: "False" }]);
  expect((await reported()).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
});
