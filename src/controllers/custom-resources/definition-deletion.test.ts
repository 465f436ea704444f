import { expect, test } from "bun:test";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import { deleteInstances } from "./definition-deletion.ts";

function definition(established: "True" | "False", plural = "apples", group = "example.com"): CustomResourceDefinition {
  const names = { plural, kind: "Apple" };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, names, scope: "Namespaced", versions: [] },
    status: { acceptedNames: names, storedVersions: [], conditions: [{ type: "Established", status: established }] },
  };
}

/** Registries that serve one kind with this many instances. Either all or none of them have finalizers. */
function registriesWith(instances: number | undefined): Registries {
  const body = Buffer.from('{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}');
  const entries = Array.from({ length: instances ?? 0 }, (_, at) => ({ key: `/registry/x/${at}`, body }));
  const registry = {
    info: { keyPrefix: "/registry/x/", namespaced: false, form: { kind: "structural" } },
    cacher: { list: () => ({ entries }) },
  };
  const found = instances === undefined ? undefined : (registry as unknown as Registry);
  return { find: () => found } as unknown as Registries;
}

test.each([
  ["is not served", definition("True"), undefined, "InstanceDeletionFailed", false],
  ["has instances that finalizers hold", definition("True"), 2, "InstanceDeletionInProgress", false],
  ["has no instance", definition("True"), 0, "InstanceDeletionCompleted", true],
  ["never was established", definition("False"), undefined, "NeverEstablished", true],
  [
    "names a resource of the server",
    definition("True", "apiservices", "apiregistration.k8s.io"),
    undefined,
    "OverlappingBuiltInResource",
    true,
  ],
] as const)("a definition that %s", async (_what, deleted, instances, reason, isDone) => {
  const progress = await deleteInstances(deleted, registriesWith(instances));
  expect(progress).toMatchObject({ isDone, condition: { type: "Terminating", reason } });
  expect(progress.condition.status).toBe(isDone ? "False" : "True");
});

test("an instance with a label that is called like the mark of a deletion is deleted", async () => {
  const deleted: string[] = [];
  const body = Buffer.from('{"metadata":{"labels":{"deletionTimestamp":""}}}');
  const registry = {
    info: { keyPrefix: "/registry/x/", namespaced: false, form: { kind: "structural" } },
    cacher: { list: () => ({ entries: deleted.length === 0 ? [{ key: "/registry/x/a", body }] : [] }) },
    delete: async (_namespace: string, name: string) => void deleted.push(name),
  };
  const registries = { find: () => registry } as unknown as Registries;
  expect(await deleteInstances(definition("True"), registries)).toMatchObject({ isDone: true });
  expect(deleted).toEqual(["a"]);
});
