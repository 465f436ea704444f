import { expect, test } from "bun:test";
import { parsePatchType } from "./patch-type.ts";

test("parameters and letter case of the Content-Type do not count", () => {
  expect(parsePatchType("Application/Merge-Patch+JSON; charset=utf-8", { strategic: true, cbor: false })).toBe("merge");
  expect(parsePatchType("application/apply-patch+yaml", { strategic: false, cbor: false })).toBe("apply");
});

test("a custom resource takes no strategic patch and does not list it", () => {
  expect(parsePatchType("application/strategic-merge-patch+json", { strategic: true, cbor: false })).toBe("strategic");
  expect(() => parsePatchType("application/strategic-merge-patch+json", { strategic: false, cbor: false })).toThrow(
    "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
  );
});

test.each([[""], ["application/json"], ["__proto__"]])("%j is an unsupported media type", (contentType) => {
  expect(() => parsePatchType(contentType, { strategic: true, cbor: false })).toThrow("415: Unsupported Media Type");
});

test("an apply in CBOR is taken where CBOR is switched on", () => {
  const type = "application/apply-patch+cbor";
  expect(parsePatchType(type, { strategic: true, cbor: true })).toBe("apply");
  expect(() => parsePatchType(type, { strategic: true, cbor: false })).toThrow("415: Unsupported Media Type");
});
