import { expect, test } from "bun:test";
import { toRevision } from "../../api/revision.ts";
import { withResourceVersion } from "./with-resource-version.ts";

const splice = (body: object, from: number, to: number) =>
  JSON.parse(
    new TextDecoder().decode(
      withResourceVersion(new TextEncoder().encode(JSON.stringify(body)), toRevision(from), toRevision(to)),
    ),
  );

test.each([
  [{ metadata: { resourceVersion: "5" } }, { metadata: { resourceVersion: "12" } }],
  [
    { metadata: { annotations: { resourceVersion: "5" }, resourceVersion: "5", labels: { resourceVersion: "5" } } },
    { metadata: { annotations: { resourceVersion: "5" }, resourceVersion: "12", labels: { resourceVersion: "5" } } },
  ],
  [
    {
      metadata: { annotations: { a: '"resourceVersion":"5"}\\' }, resourceVersion: "5" },
      spec: { resourceVersion: "5" },
    },
    {
      metadata: { annotations: { a: '"resourceVersion":"5"}\\' }, resourceVersion: "12" },
      spec: { resourceVersion: "5" },
    },
  ],
  [
    { metadata: { name: "resourceVersion", finalizers: ["resourceVersion", "é}{"], resourceVersion: "5" } },
    { metadata: { name: "resourceVersion", finalizers: ["resourceVersion", "é}{"], resourceVersion: "12" } },
  ],
])("only metadata.resourceVersion changes in %j", (before, after) => {
  expect(splice(before, 5, 12)).toEqual(after);
});

test("a body without the expected resourceVersion is an internal error", () => {
  expect(() => splice({ metadata: { name: "a" }, spec: { resourceVersion: "5" } }, 5, 6)).toThrow("without");
});
