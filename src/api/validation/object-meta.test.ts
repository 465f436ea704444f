import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../../test/cpu-time.ts";
import { fieldErrorText } from "../field-error.ts";
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from "../object-meta.ts";
import { fieldErrorsMax } from "./labels.ts";
import { dnsSubdomainProblems } from "./names.ts";
import { type MetaRules, validateObjectMeta, validateObjectMetaUpdate } from "./object-meta.ts";

const rules = { namespaced: true, validateName: dnsSubdomainProblems, path: "metadata" };
const good: ObjectMeta = { name: "a", namespace: "n" };
const texts = (meta: ObjectMeta, namespaced = true) =>
  validateObjectMeta(meta, { ...rules, namespaced }).map(fieldErrorText);
const owner = (extra: object = {}) =>
  ({ apiVersion: "v1", kind: "Pod", name: "p", uid: "u", ...extra }) as unknown as OwnerReference;

describe("metadata is accepted", () => {
  const cases: readonly [string, ObjectMeta][] = [
    ["bare", good],
    ["with a generateName that ends in a hyphen", { ...good, generateName: "a-" }],
    ["with labels", { ...good, labels: { "a.io/B": "x_1", empty: "" } }],
    ["with upper-case annotation keys", { ...good, annotations: { "A.io/b": "any\ntext" } }],
    ["with an owner that controls it", { ...good, ownerReferences: [owner({ controller: true }), owner()] }],
  ];
  test.each(cases)("%s", (_, meta) => expect(texts(meta)).toEqual([]));
});

test("a kind may judge only the name that was generated", () => {
  const rules = { namespaced: true, validateName: () => ["no"], validatesPrefix: false };
  const fields = validateObjectMeta({ ...good, generateName: "A.-" }, rules).map(({ field }) => field);
  expect(fields).toEqual(["metadata.name"]);
});

describe("metadata is refused", () => {
  const cases: readonly [string, ObjectMeta, string][] = [
    ["without a name", { namespace: "n" }, "metadata.name: Required value: name or generateName is required"],
    ["without a namespace", { name: "a" }, "metadata.namespace: Required value"],
    [
      "with a bad generateName",
      { ...good, generateName: "A.-" },
      'metadata.generateName: Invalid value: "A.-": a lowercase',
    ],
    ["with a bad name", { ...good, name: "A" }, 'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain'],
    [
      "with a bad label key",
      { ...good, labels: { "a b": "" } },
      'metadata.labels: Invalid value: "a b": name part must',
    ],
    [
      "with a bad label value",
      { ...good, labels: { a: "-" } },
      'metadata.labels: Invalid value: "-": a valid label must',
    ],
    [
      "with too much annotation",
      { ...good, annotations: { a: "x".repeat(262_144) } },
      "metadata.annotations: Too long: may not be more than 262144 bytes",
    ],
    ["with a bad finalizer", { ...good, finalizers: ["a b"] }, 'metadata.finalizers: Invalid value: "a b": name part'],
    [
      "with two deletion finalizers",
      { ...good, finalizers: ["orphan", "foregroundDeletion"] },
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot',
    ],
    [
      "with an owner without uid",
      { ...good, ownerReferences: [owner({ uid: "" })] },
      'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ],
    [
      "with an Event as owner",
      { ...good, ownerReferences: [owner({ kind: "Event" })] },
      'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"u"}: /v1, Kind=Event is',
    ],
    [
      "with two controllers",
      { ...good, ownerReferences: [owner({ controller: true }), owner({ controller: true })] },
      "metadata.ownerReferences: Invalid value",
    ],
    ["with a negative generation", { ...good, generation: -1 }, "metadata.generation: Invalid value: -1"],
    [
      "with an entry without operation",
      { ...good, managedFields: [{}] as unknown as ManagedFieldsEntry[] },
      'metadata.managedFields[0].operation: Invalid value: "": must be `Apply` or `Update`',
    ],
  ];
  test.each(cases)("%s", (_, meta, message) => {
    expect(texts(meta).some((text) => text.startsWith(message))).toBe(true);
  });

  test("with a namespace where the kind has none", () => {
    expect(texts(good, false)).toEqual(["metadata.namespace: Forbidden: not allowed on this type"]);
  });

  test("without listing a hundred thousand mistakes", () => {
    const labels = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`bad key ${at}`, "bad value!"]));
    const finalizers = Array.from({ length: 100_000 }, (_, at) => `bad ${at}`);
    const started = cpuMs();
    expect(texts({ ...good, labels, annotations: labels, finalizers }).length).toBeLessThan(fieldErrorsMax * 4);
    expect(cpuMs() - started).toBeLessThan(1_000);
  });
});

test("only where it is wanted, finalizers need a domain", () => {
  const meta = { ...good, finalizers: ["kubernetes", "orphan", "a.io/b", "x"] };
  const rules = { namespaced: true, validateName: () => [] };
  expect(validateObjectMeta(meta, rules)).toEqual([]);
  expect(validateObjectMeta(meta, { ...rules, qualifiesFinalizers: true }).map(fieldErrorText)).toEqual([
    'metadata.finalizers[3]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
  ]);
});

describe("an update of metadata", () => {
  const updateTexts = (fresh: ObjectMeta, old: ObjectMeta, repeats: MetaRules = "none") =>
    validateObjectMetaUpdate(fresh, old, { ...rules, qualifiesFinalizers: true, repeats }).map(fieldErrorText);

  test("may change labels, annotations and remove finalizers", () => {
    const old = { ...good, finalizers: ["a.io/b"], deletionTimestamp: "t" };
    expect(updateTexts({ ...good, deletionTimestamp: "t", labels: { a: "b" } }, old, "both")).toEqual([]);
  });

  test.each(["namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] as const)(
    "may not change the %s",
    (field) => {
      const errors = updateTexts({ ...good, [field]: "y" } as ObjectMeta, { ...good, [field]: "x" } as ObjectMeta);
      expect(errors).toEqual([`metadata.${field}: Invalid value: "y": field is immutable`]);
    },
  );

  test("may not decrease the generation", () => {
    expect(updateTexts({ ...good, generation: 1 }, { ...good, generation: 2 }).length).toBe(1);
  });

  test("may not add finalizers to an object that is being deleted", () => {
    const old = { ...good, deletionTimestamp: "t" };
    expect(updateTexts({ ...old, finalizers: ["a.io/x"] }, old)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.io/x"}',
    ]);
  });

  test.each([
    ["none", 2, 0, 1],
    ["whole", 3, 1, 1],
    ["update", 3, 1, 2],
    ["both", 4, 2, 2],
  ] as const)("repeats the rules of the kind (%s)", (repeats, labels, domains, immutables) => {
    const errors = updateTexts(
      { ...good, uid: "y", labels: { a: "-" }, finalizers: ["x"] },
      { ...good, uid: "x" },
      repeats,
    );
    const count = (field: string) => errors.filter((text) => text.startsWith(`${field}: `)).length;
    expect([count("metadata.labels"), count("metadata.finalizers[0]"), count("metadata.uid")]).toEqual([
      labels,
      domains,
      immutables,
    ]);
  });
});
