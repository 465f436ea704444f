import { expect, test } from "bun:test";
import etcdValues from "../../../../test/fixtures/etcd-values.json";
import type { Entry, Key } from "../../../api/entry.ts";
import type { Revision } from "../../../api/revision.ts";
import { Scheme } from "../../../kinds/scheme.ts";
import { systemClock } from "../../../process/clock.ts";
import { provider, transformersOf } from "../../encryption/testing.ts";
import { splitAtResourceVersion } from "../../resource-version-gap.ts";
import { CorruptEntryError } from "../../store.ts";
import { KubernetesLayout, type KubernetesLayoutOptions } from "./kubernetes-layout.ts";

/** Values that kube-apiserver 1.36.2 wrote. */
const values = etcdValues as readonly { key: string; bytes?: string; text?: string }[];
const infos = Scheme.builtIn().storedVersions();
const kinds: Readonly<Record<string, string>> = { gadgets: "Gadget", cogs: "Cog" };
const revisions = { createRevision: 5 as Revision, modRevision: 7 as Revision };

function layoutWith(options: Partial<KubernetesLayoutOptions> = {}): KubernetesLayout {
  return new KubernetesLayout({
    prefix: "/registry",
    infos,
    mediaType: "application/vnd.kubernetes.protobuf",
    kindOf: ({ resource }) => kinds[resource],
    eventTtlSeconds: 3_600,
    transformers: transformersOf(),
    clock: systemClock,
    ...options,
  });
}

const layout = layoutWith();

function valueAt(key: string): Buffer<ArrayBuffer> {
  const { bytes, text = "" } = values.find((value) => value.key === key) ?? {};
  return bytes === undefined ? Buffer.from(text) : Buffer.from(bytes, "base64");
}

const read = (key: Key, value: Uint8Array, by = layout) => by.entryOf(key, value, revisions) as Entry;
const write = ({ key, index, body }: Entry, by = layout) =>
  Buffer.from(by.valueOf(key, index, splitAtResourceVersion(body)));
const bodyOf = (entry: Entry) => JSON.parse(Buffer.from(entry.body).toString());

/** Objects that were stored without a field that reading them, by either server, completes. */
const completed = ["/registry/persistentvolumeclaims/test/test", "/registry/podgroups/test/test"];

test.each(values.map(({ key }) => key).filter((key) => !completed.includes(key)))(
  "the value of kube-apiserver is written back byte for byte: %s",
  (key) => expect(write(read(key, valueAt(key)))).toEqual(valueAt(key)),
);

test.each(completed)("a value is completed with defaults when it is read: %s", (key) => {
  const entry = read(key, valueAt(key));
  const phase = { "/registry/persistentvolumeclaims/test/test": "Pending" }[key];
  expect(bodyOf(entry).status?.phase).toBe(phase);
  const again = read(key, write(entry));
  expect(Buffer.from(again.body).toString()).toBe(Buffer.from(entry.body).toString());
});

test("there is a value of every built-in kind", () => {
  const prefixes = new Set(infos.map(({ keyPrefix }) => keyPrefix));
  for (const { key } of values) for (const prefix of prefixes) if (key.startsWith(prefix)) prefixes.delete(prefix);
  expect([...prefixes]).toEqual([]);
});

test("an entry has etcd's revisions, the index of the object and its resourceVersion", () => {
  const key = "/registry/pods/test/rich";
  const entry = read(key, valueAt(key));
  expect([entry.revision, entry.createRevision, bodyOf(entry).metadata.resourceVersion]).toEqual([7, 5, "7"] as never);
  expect(entry.index).toMatchObject({
    apiVersion: "v1",
    labels: { app: "web" },
    fields: { "status.phase": "Running", "spec.restartPolicy": "Always", "status.podIP": "10.1.1.1" },
    owners: [{ uid: "11111111-1111-1111-1111-111111111111", controller: true, blockOwnerDeletion: true }],
  });
});

test("a definition is stored in v1beta1 and kept in v1", () => {
  const key = "/registry/apiextensions.k8s.io/customresourcedefinitions/wheels.rich.example.com";
  const stored = JSON.parse(valueAt(key).toString());
  const { index, body } = read(key, valueAt(key));
  const { spec } = JSON.parse(Buffer.from(body).toString());
  expect([stored.apiVersion, index.apiVersion]).toEqual(["apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v1"]);
  expect(spec.versions.map((version: any) => [version.name, version.schema.openAPIV3Schema.required])).toEqual([
    ["v1", ["spec"]],
    ["v1beta1", ["spec"]],
  ]);
  expect(spec.versions[1].additionalPrinterColumns).toEqual([
    { name: "Z", type: "integer", description: "d<", priority: 1, jsonPath: ".spec.z" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ]);
  expect(spec.conversion.webhook.conversionReviewVersions).toEqual(["v1", "v1beta1"]);
});

test.each(["/registry/apiextensions.k8s.io/customresourcedefinitions/wheels.rich.example.com"])(
  "a definition that was stored in v1 is read too",
  (key) => {
    const { kind: _kind, ...body } = bodyOf(read(key, valueAt(key)));
    const inV1 = { kind: "CustomResourceDefinition", apiVersion: "apiextensions.k8s.io/v1", ...body };
    expect(write(read(key, Buffer.from(JSON.stringify(inV1))))).toEqual(valueAt(key));
  },
);

test("values are JSON if the server is told so, and both encodings can be read", () => {
  const inJson = layoutWith({ mediaType: "application/json" });
  for (const { key, bytes } of values) {
    if (bytes === undefined || key.startsWith("/registry/ranges/")) continue;
    const entry = read(key, valueAt(key));
    const text = write(entry, inJson).toString();
    expect(text).toStartWith('{"kind":');
    expect(text).toEndWith("}\n");
    expect(text).not.toContain('"resourceVersion":"7"');
    expect(Buffer.from(read(key, Buffer.from(text)).body).toString()).toBe(Buffer.from(entry.body).toString());
  }
});

test("keys have the prefix of the server, and other keys are left alone", () => {
  const other = layoutWith({ prefix: "other/place" });
  expect(other.etcdKey("/registry/pods/a/b")).toBe("/other/place/pods/a/b");
  expect(other.etcdKey("/registry/pods/")).toBe("/other/place/pods/");
  expect(other.keyOf("/other/place/minions/n")).toBe("/registry/minions/n");
  for (const key of ["compact_rev_key", "/registry/health", "/registry/peerserverleases/a", "/other/place/pods/a"])
    expect(layout.keyOf(key)).toBeUndefined();
  const custom = "/registry/storage.k8s.io/gadgets/a";
  expect(layout.keyOf(custom)).toBe(custom);
  for (const { key } of values) expect(layout.keyOf(key)).toBe(key);
});

test("only Events and master leases expire", () => {
  expect(layout.ttlSecondsOf("/registry/events/a/b")).toBe(3_600);
  expect(layout.ttlSecondsOf("/registry/masterleases/192.0.2.1")).toBe(15);
  expect(layout.ttlSecondsOf("/registry/pods/a/b")).toBeUndefined();
});

test("the records of this program's servers are kept as they are", () => {
  const key = "/registry/takeovers/work";
  const index = { apiVersion: "v1", uid: "", labels: undefined, fields: undefined, owners: undefined };
  const body = { prefix: Buffer.from('{"metadata":{"resourceVersion":"'), suffix: Buffer.from('"},"a":1}') };
  const value = layout.valueOf(key, index, body);
  expect(bodyOf(read(key, value))).toEqual({ metadata: { resourceVersion: "7" }, a: 1 });
});

test.each([
  ["/registry/pods/test/rich", "k8s\0\xff", "unexpected EOF"],
  ["/registry/pods/test/rich", "text", "invalid character 'e' in literal true (expecting 'r')"],
  ["/registry/pods/test/rich", '{"kind":"Pod","apiVersion":"v0"}', 'no kind "Pod" is registered for version "v0"'],
  ["/registry/custom.example.com/cogs/a", "[]", "the value is not an object"],
])("a value that cannot be read is reported with its key: %s %j", (key, value, reason) => {
  const error = new CorruptEntryError(key, reason);
  expect(() => read(key, Buffer.from(value, "latin1"))).toThrow(error.message);
});

test.each(["aesgcm", "aescbc", "secretbox"])("%s encrypts the whole value for its key in etcd", (kind) => {
  const secret = "/registry/secrets/test/rich";
  const transformers = transformersOf([["secrets"], [provider(kind, "k", 1)]]);
  const encrypting = layoutWith({ transformers, prefix: "/elsewhere" });
  const plain = read(secret, valueAt(secret));
  const sealed = write(plain, encrypting);
  expect(sealed.toString("latin1")).toStartWith(`k8s:enc:${kind}:v1:k:`);
  const opened = read(secret, sealed, encrypting);
  expect(opened.index).toEqual(plain.index);
  expect(write(opened)).toEqual(valueAt(secret));
  expect([encrypting.isStale(opened), encrypting.isStale(plain), layout.isStale(opened)]).toEqual([false, true, false]);
  expect(() => read(secret, sealed)).toThrow("identity transformer tried to read encrypted data");
  encrypting.useTransformers(transformersOf([["secrets"], [provider(kind, "new", 2), provider(kind, "k", 1)]]));
  expect(encrypting.isStale(opened)).toBe(true);
  expect(write(read("/registry/configmaps/test/rich", valueAt("/registry/configmaps/test/rich")), encrypting)).toEqual(
    valueAt("/registry/configmaps/test/rich"),
  );
});

test("aesgcm refuses a value that was moved to another key", () => {
  const transformers = transformersOf([["secrets"], [provider("aesgcm", "k", 1)]]);
  const encrypting = layoutWith({ transformers });
  const sealed = write(read("/registry/secrets/test/rich", valueAt("/registry/secrets/test/rich")), encrypting);
  expect(() => read("/registry/secrets/test/other", sealed, encrypting)).toThrow(
    "cipher: message authentication failed",
  );
});
