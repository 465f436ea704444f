import { expect, test } from "bun:test";
import type { KubeObject } from "../../../api/object-meta.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from "../../../api/types/apiextensions-v1.ts";
import { atOnce } from "../../../process/sliced.ts";
import { validateDefinition } from "./custom-resource-definition.ts";

test.each([
  [
    "True",
    [
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "B": field is immutable',
    ],
  ],
  ["False", []],
])("scope and kind change until a definition is served: Established %s", (status, causes) => {
  const errors = atOnce(validateDefinition(definition("Cluster", "B", status), definition("Namespaced", "A", status)));
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual(causes);
});

test("an update with two storage versions also reports the one that is not stored", () => {
  const before = definition("Namespaced", "A", "True");
  const after = definition("Namespaced", "A", "True");
  const { spec } = after as unknown as CustomResourceDefinition;
  const [version] = spec.versions as [CustomResourceDefinitionVersion];
  spec.versions = [version, { ...version, name: "v2" }];
  const errors = atOnce(validateDefinition(after, before));
  expect(errors.map(({ field, message }) => `${field}: ${message.split(": ").at(-1)}`)).toEqual([
    "spec.versions: must have exactly one version marked as storage version",
    "status.storedVersions: must have the storage version v2",
  ]);
});

function definition(scope: string, kind: string, established: string): KubeObject {
  return {
    kind: "CustomResourceDefinition",
    apiVersion: "apiextensions.k8s.io/v1",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope,
      names: { kind, plural: "things", singular: "thing", listKind: "ThingList" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
    status: { storedVersions: ["v1"], conditions: [{ type: "Established", status: established }] },
  } as KubeObject;
}
