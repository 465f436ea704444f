import { expect, test } from "bun:test";
import { SharedParameters } from "./shared-parameters.ts";

const query = (name: string, description = "") => ({ name, in: "query", description, type: "string" });

test("equal parameters share a definition, and others of the same name have their own", () => {
  const shared = new SharedParameters();
  const first = shared.refer(query("limit"));
  expect(first["$ref"]).toMatch(/^#\/parameters\/limit-[\w-]{8}$/);
  expect(shared.refer(query("limit"))).toEqual(first);
  expect(shared.refer(query("limit", "another"))).not.toEqual(first);
  expect(shared.sorted().map(([, { description }]) => description)).toEqual(expect.arrayContaining(["", "another"]));
});

test("parameters of one kind, and those that older clients look for, stay where they are", () => {
  const shared = new SharedParameters();
  const body = (type: string) => ({ name: "body", in: "body", schema: { $ref: `#/definitions/${type}` } });
  for (const own of [query("dryRun"), query("fieldValidation"), query("name"), body("io.k8s.api.core.v1.Pod")]) {
    expect(shared.refer(own)).toBe(own);
  }
  expect(shared.sorted()).toEqual([]);
  expect(shared.refer(body("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"))).toHaveProperty("$ref");
});
