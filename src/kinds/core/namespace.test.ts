import { expect, test } from "bun:test";
import { created, refusal, updated, updateRefusal } from "../testing.ts";

const path = "v1/namespaces";

test("a namespace is active, labelled with its name, and held by its content", async () => {
  expect(await created(path, { status: { phase: "Terminating" } })).toMatchObject({
    metadata: { labels: { "kubernetes.io/metadata.name": "a" } },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  });
});

test.each([
  [
    { metadata: { name: "A" } },
    [
      "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    { metadata: { name: "a".repeat(64) } },
    [
      `metadata.name: Invalid value: "${"a".repeat(64)}": must be no more than 63 characters`,
      `metadata.labels: Invalid value: "${"a".repeat(64)}": must be no more than 63 bytes`,
    ],
  ],
  [
    { spec: { finalizers: ["x"] } },
    ['spec.finalizers: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified'],
  ],
])("the namespace %j is refused", async (namespace, causes) => {
  expect(await refusal(path, namespace)).toEqual(causes);
});

test("finalizers change through their subresource only, and have to be qualified", async () => {
  const emptied = { spec: { finalizers: ["example.com/x"] } };
  expect((await updated(path, {}, emptied))["spec"]).toEqual({ finalizers: ["kubernetes"] });
  expect((await updated(path, {}, emptied, "finalize"))["spec"]).toEqual(emptied.spec);
  expect(await updateRefusal(path, {}, { spec: { finalizers: ["kubernetes", "x"] } }, "finalize")).toEqual([
    'spec.finalizers[1]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
  ]);
});

test("the phase is Terminating only while the namespace is being deleted", async () => {
  expect(await updateRefusal(path, {}, { status: { phase: "Terminating" } }, "status")).toEqual([
    "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty",
  ]);
});

test("finalize does not look at the generated name", async () => {
  const named = { metadata: { generateName: "a.b" } };
  expect(await updateRefusal(path, {}, named)).not.toEqual([]);
  expect(await updateRefusal(path, {}, named, "finalize")).toEqual([]);
});
