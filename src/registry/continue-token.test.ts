import { expect, test } from "bun:test";
import fc from "fast-check";
import { StatusError } from "../api/status.ts";
import { decodeContinueToken, encodeContinueToken } from "./continue-token.ts";

const prefix = "/registry/pods/default/";

test("a token comes back as it was made", () => {
  const token = { revision: 42, start: `${prefix}name\u0000` };
  expect(decodeContinueToken(encodeContinueToken(token, prefix), prefix)).toEqual(token);
});

test.each([
  ["no base64", "%%%"],
  ["no JSON", "AAAA"],
  ["another version", tokenOf({ v: "v2", rv: 1, start: "a" })],
  ["revision 0", tokenOf({ v: "meta.k8s.io/v1", rv: 0, start: "a" })],
  ["no revision", tokenOf({ v: "meta.k8s.io/v1", start: "a" })],
  ["no start", tokenOf({ v: "meta.k8s.io/v1", rv: 1 })],
  ["a start that climbs", tokenOf({ v: "meta.k8s.io/v1", rv: 1, start: "../secrets/x" })],
  ["a start with an empty segment", tokenOf({ v: "meta.k8s.io/v1", rv: 1, start: "a//b" })],
  ["a huge token", "A".repeat(5_000)],
  // A number with an exponent is read by our own parser, whose objects have no prototype.
  ["a version that is an object", Buffer.from('{"v":{},"rv":1e2,"start":"a"}').toString("base64url")],
  ["a revision that is an object", Buffer.from('{"v":"meta.k8s.io/v1","rv":{"a":1e2}}').toString("base64url")],
])("a token with %s is a 400", (_name, token) => {
  expect(() => decodeContinueToken(token, prefix)).toThrow(StatusError);
});

test("a slash in front of the start is upstream's, and leads no further up", () => {
  const token = tokenOf({ v: "meta.k8s.io/v1", rv: 1, start: "/a/b" });
  expect(decodeContinueToken(token, prefix)).toEqual({ revision: 1, start: `${prefix}a/b` });
});

test("any token gives a start below the prefix or a 400", () => {
  fc.assert(
    fc.property(fc.record({ v: fc.constant("meta.k8s.io/v1"), rv: fc.anything(), start: fc.string() }), (value) => {
      try {
        expect(decodeContinueToken(tokenOf(value), prefix).start.startsWith(prefix)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError);
      }
    }),
  );
});

function tokenOf(value: object): string {
  return Buffer.from(JSON.stringify(value, (_key, item) => (typeof item === "bigint" ? String(item) : item))).toString(
    "base64url",
  );
}
