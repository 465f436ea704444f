import { expect, test } from "bun:test";
import { StartupError } from "../../process/startup-error.ts";
import { parseRuntimeConfig } from "./runtime-config.ts";

const parse = (asked: Record<string, boolean>) =>
  Object.fromEntries(parseRuntimeConfig(new Map(Object.entries(asked))));

test.each([
  ["api/all", "api/all"],
  ["api/ga", "api/ga"],
  ["api/beta", "api/beta"],
  ["api/alpha", "api/alpha"],
  ["example.dev/v1beta1", "example.dev/v1beta1"],
  ["example.dev/v1beta1/policies", "example.dev/v1beta1/policies"],
  ["v1", "v1"],
  ["api/v1", "v1"],
  ["v1/pods", "v1/pods"],
  ["api/v1/pods", "v1/pods"],
])("the key %s is kept as %s", (key, canonical) => expect(parse({ [key]: true })).toEqual({ [canonical]: true }));

test.each([
  "",
  "api",
  "api/",
  "api/gamma",
  "example.dev",
  "a/v1/c/d",
  "example.dev/",
  "/v1",
  "a//b",
  "a/b",
  "v1/a/b",
  "api/a/v1",
])("the key %p is refused", (key) => expect(() => parse({ [key]: true })).toThrow(StartupError));

test("api/all=false alone is refused, together with another key it is not", () => {
  expect(() => parse({ "api/all": false })).toThrow(/alone serves nothing/);
  expect(parse({ "api/all": false, "api/v1": true })).toEqual({ "api/all": false, v1: true });
});
