import { expect, test } from "bun:test";
import { staticNameWarnings } from "./static-names.ts";

function warningsFor(name: string): readonly string[] {
  return staticNameWarnings({ kind: "MutatingAdmissionPolicy", apiVersion: "v1", metadata: { name } });
}

test("names of configurations from files are warned of", () => {
  expect(warningsFor("a.static.k8s.io")).toEqual([
    'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
  ]);
});

test("others are not", () => {
  expect(warningsFor("a.k8s.io")).toEqual([]);
});
