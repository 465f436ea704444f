import { expect, test } from "bun:test";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateCustomResourceDefinitionUpdate } from "./custom-resource-definition.ts";

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
  const errors = validateCustomResourceDefinitionUpdate(
    definition("Cluster", "B", status),
    definition("Namespaced", "A", status),
  );
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual(causes);
});

function definition(scope: string, kind: string, established: string): KubeObject {
  return {
    kind: "CustomResourceDefinition",
    apiVersion: "apiextensions.k8s.io/v1",
    metadata: { name: "things.example.com" },
    spec: { group: "example.com", scope, names: { kind, plural: "things" } },
    status: { conditions: [{ type: "Established", status: established }] },
  } as KubeObject;
}
