import { expect, test } from "bun:test";
import { redacted } from "./redacted.ts";

test("values and the copy of the object are masked, everything else stays", () => {
  const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
  const secret = {
    kind: "Secret",
    metadata: { name: "s", annotations: { [lastApplied]: '{"data":{"a":"eA=="}}', other: "x" } },
    data: { a: "eA==", b: 7, c: ["y", { d: "z" }] },
    stringData: "w",
    type: "Opaque",
  };
  expect(redacted(secret)).toEqual({
    ...secret,
    metadata: { name: "s", annotations: { [lastApplied]: "<redacted>", other: "x" } },
    data: { a: "<redacted>", b: 7, c: ["<redacted>", { d: "<redacted>" }] },
    stringData: "<redacted>",
  });
});
