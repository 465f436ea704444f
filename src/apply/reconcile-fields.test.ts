import { expect, test } from "bun:test";
import { atOnce } from "../process/sliced.ts";
import { parseFieldsV1 } from "./fields-v1.ts";
import { reconcileFields } from "./reconcile-fields.ts";
import { sampleType } from "./sample-type.ts";

test("parts of a value that is atomic now become the value", () => {
  const recorded = atOnce(
    parseFieldsV1({
      "f:spec": { "f:plain": { ".": {}, 'v:"a"': {} }, "f:whole": { "f:a": {} }, "f:tags": { 'v:"a"': {} } },
    }),
  );
  expect(reconcileFields(recorded, sampleType).toDocument()).toEqual({
    "f:spec": { "f:plain": {}, "f:whole": {}, "f:tags": { 'v:"a"': {} } },
  });
});

test("a set that fits is returned itself, undeclared fields and free objects included", () => {
  const recorded = atOnce(parseFieldsV1({ "f:spec": { "f:free": { "f:a": { "f:b": {} } }, "f:gone": { "f:x": {} } } }));
  expect(reconcileFields(recorded, sampleType)).toBe(recorded);
});
