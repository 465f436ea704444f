import { expect, test } from "bun:test";
import { excludingNames } from "./field-filter.ts";
import { readStoredFields } from "./fields-v1.ts";

const fields = readStoredFields({
  "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
  "f:spec": {
    "f:containers": {
      'k:{"name":"a"}': { ".": {}, "f:image": {}, "f:resources": { "f:limits": { "f:cpu": {} } } },
    },
  },
});

test("excluded fields go with all that is below them", () => {
  expect(excludingNames("spec", "metadata.labels")(fields).isEmpty).toBe(true);
  expect(excludingNames("spec")(fields).toDocument()).toEqual({
    "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
  });
});

test("the same fields give the same set", () => {
  const filter = excludingNames("spec");
  expect(filter(fields)).toBe(filter(fields));
});
