import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { load } from "js-yaml";
import { decodeCbor } from "../../src/api/codec/cbor.ts";
import { decodeMessage, unwrapUnknown } from "../../src/api/codec/protobuf.ts";
import { apiVersionOf } from "../../src/api/gvk.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { fromStorage } from "../../src/api/scheme/conversion/convert.ts";
import { structOf } from "../../src/api/scheme/object-form.ts";
import { type ResourceInfo, storedInfo } from "../../src/api/scheme/resource.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { until } from "../until.ts";
import { type MinimalObject, minimalObjects } from "./minimal-objects.ts";
import { jsonPatch, mergePatch, protobuf, strategicPatch, TestServer, type Watch, type WatchEvent } from "./server.ts";

const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
const partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
/** Number of unchanged reads, and their interval, after which controllers count as done. */
const settledReads = 4;
const settledWaitMs = 5;

const gates = [
  "CBORServingAndStorage",
  "ClusterTrustBundle",
  "GenericWorkload",
  "PodCertificateRequest",
  "StorageVersionMigrator",
];
const scheme = Scheme.builtIn({ runtimeConfig: new Map([["api/all", true]]) });
const kinds = scheme.resources.filter(({ virtual }) => !virtual);

let server: TestServer;
let namespace: string;
let minimal: Readonly<Record<string, MinimalObject>>;
beforeAll(async () => {
  server = await TestServer.start({
    runtimeConfig: { "api/all": true },
    featureGates: Object.fromEntries(gates.map((gate) => [gate, true])),
  });
  namespace = await server.namespace();
  minimal = await minimalObjects(namespace);
});
afterAll(() => server.close());

test("there is a minimal object of every kind that is stored, and of no other", () => {
  const stored = scheme.stored.map(({ group, kind }) => `${group}/${kind}`);
  expect(Object.keys(minimal).sort()).toEqual([...new Set(stored)].sort());
});

describe.each(kinds.map((info) => [`${apiVersionOf(info)} ${info.kind}`, info] as const))("%s", (_, info) => {
  const collection = () => {
    const root = `${info.group === "" ? "/api" : "/apis"}/${apiVersionOf(info)}`;
    return `${root}${info.namespaced ? `/namespaces/${namespace}` : ""}/${info.resource}`;
  };
  const path = () => `${collection()}/${nameOf(info)}`;

  test("is created, read in every form, written back, patched, watched and deleted", async () => {
    const selector = `fieldSelector=metadata.name%3D${nameOf(info)}`;
    const revision = await server.revision();
    const created = await server.post(collection(), minimalObject(info));
    expect({ code: created.code, message: created.code === 201 ? "" : created.json.message }).toEqual({
      code: 201,
      message: "",
    });
    const json = await settled(path());
    expect(json).toMatchObject({ kind: info.kind, apiVersion: apiVersionOf(info) });

    await readsInEveryForm(info, path(), json);
    await listsInEveryForm(info, `${collection()}?${selector}`);
    await writesBack(info, path());
    await patches(path());
    await writesStatus(info, path());
    await deletes(info, path());
    await using watch = await server.watch(`${collection()}?${selector}&resourceVersion=${revision}`);
    const [first, ...later] = await eventsUntilDeleted(watch);
    expect(first).toMatchObject({ type: "ADDED", object: { apiVersion: apiVersionOf(info), kind: info.kind } });
    expect(later.at(-1)).toMatchObject({ type: "DELETED", object: { metadata: { name: nameOf(info) } } });
  });
});

async function eventsUntilDeleted(watch: Watch): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  while (events.at(-1)?.type !== "DELETED") events.push(...(await watch.take(1)));
  return events;
}

function nameOf({ group, kind }: ResourceInfo): string {
  return minimal[`${group}/${kind}`]?.name ?? minimal[`/${kind}`]?.name ?? "test";
}

/** Returns the minimal object of the stored version in this version. */
function minimalObject(info: ResourceInfo): KubeObject {
  const stored = storedInfo(info);
  const { fields = {}, metadata = {} } = minimal[`${stored.group}/${stored.kind}`] as MinimalObject;
  const object = {
    kind: stored.kind,
    apiVersion: apiVersionOf(stored),
    metadata: { name: nameOf(info), ...metadata },
    ...fields,
  };
  const served = fromStorage(object as unknown as KubeObject, info);
  if (info.group === "events.k8s.io") Object.assign(served, modernEvent);
  return served;
}

const modernEvent = {
  eventTime: "2030-01-01T00:00:00.000000Z",
  type: "Normal",
  reason: "Because",
  action: "Act",
  reportingController: "example.com/controller",
  reportingInstance: "one",
};

/** Returns the object once the server's controllers are done with it. */
async function settled(path: string): Promise<any> {
  let last = (await server.get(path)).json;
  for (let same = 0; same < settledReads; ) {
    await Bun.sleep(settledWaitMs);
    const { json } = await server.get(path);
    same = json.metadata.resourceVersion === last.metadata.resourceVersion ? same + 1 : 0;
    last = json;
  }
  return last;
}

async function readsInEveryForm(info: ResourceInfo, path: string, json: any): Promise<void> {
  const yaml = await server.get(path, { accept: "application/yaml" });
  expect(load(yaml.text)).toEqual(json);
  const cbor = await server.get(path, { accept: "application/cbor" });
  expect(JSON.parse(JSON.stringify(decodeCbor(cbor.bytes)))).toEqual(json);
  const binary = await server.get(path, { accept: protobuf });
  const { apiVersion, kind, raw } = unwrapUnknown(binary.bytes);
  const { object } = info.form.decode(decodeMessage(structOf(info), raw), { kind: info.kind });
  expect(JSON.parse(JSON.stringify({ kind, apiVersion, ...object }))).toEqual(json);
  const rows = await server.get(path, { accept: table });
  expect(rows.json).toMatchObject({ kind: "Table", rows: [{ cells: expect.any(Array) }] });
  // 1.36 prints the age of an IPAddress without a column for it.
  const further = info.kind === "IPAddress" ? 1 : 0;
  expect(rows.json.rows[0].cells).toHaveLength(rows.json.columnDefinitions.length + further);
  const at = rows.json.columnDefinitions.findIndex(({ format }: { format: string }) => format === "name");
  if (at >= 0) expect(rows.json.rows[0].cells[at]).toBe(json.metadata.name);
  const metadata = await server.get(path, { accept: partial });
  expect(metadata.json.kind).toBe("PartialObjectMetadata");
  expect(metadata.json.metadata.uid).toBe(json.metadata.uid);
}

async function listsInEveryForm(info: ResourceInfo, path: string): Promise<void> {
  const { json } = await server.get(path);
  expect(json).toMatchObject({ kind: info.listKind, apiVersion: apiVersionOf(info) });
  expect(json.items).toHaveLength(1);
  const rows = await server.get(path, { accept: table });
  expect(rows.json.rows).toHaveLength(1);
  const binary = await server.get(path, { accept: protobuf });
  expect(unwrapUnknown(binary.bytes).kind).toBe(info.listKind);
}

/** Checks that an object that was read can be written without a change. */
async function writesBack(info: ResourceInfo, path: string): Promise<void> {
  const { json, text } = await server.get(path);
  const bodies: [unknown, string][] = [
    [text, "application/json"],
    [(await server.get(path, { accept: "application/yaml" })).text, "application/yaml"],
    [(await server.get(path, { accept: "application/cbor" })).bytes, "application/cbor"],
    [(await server.get(path, { accept: protobuf })).bytes, protobuf],
  ];
  for (const [body, type] of bodies) {
    const answer = await server.put(`${path}?fieldValidation=Strict`, body, { type });
    const message = answer.code === 200 ? "" : answer.json.message;
    expect({ kind: info.kind, type, code: answer.code, message }).toEqual({
      kind: info.kind,
      type,
      code: 200,
      message: "",
    });
    expect(answer.json.metadata.resourceVersion).toBe(json.metadata.resourceVersion);
  }
}

async function patches(path: string): Promise<void> {
  const cases: [string, unknown][] = [
    [mergePatch, { metadata: { labels: { merge: "yes" } } }],
    [strategicPatch, { metadata: { labels: { strategic: "yes" } } }],
    [jsonPatch, [{ op: "add", path: "/metadata/labels/json", value: "yes" }]],
  ];
  for (const [type, patch] of cases) {
    const answer = await server.patch(path, type, patch);
    expect({ type, code: answer.code, message: answer.code === 200 ? "" : answer.json.message }).toEqual({
      type,
      code: 200,
      message: "",
    });
  }
  const { json } = await server.get(path);
  expect(json.metadata.labels).toMatchObject({ merge: "yes", strategic: "yes", json: "yes" });
}

async function writesStatus(info: ResourceInfo, path: string): Promise<void> {
  if (!info.subresources.has("status")) return;
  const { json } = await server.get(`${path}/status`);
  expect(json).toMatchObject({ kind: info.kind, metadata: { name: nameOf(info) } });
  const written = await server.put(`${path}/status`, json);
  expect({ code: written.code, message: written.code === 200 ? "" : written.json.message }).toEqual({
    code: 200,
    message: "",
  });
  const patched = await server.patch(`${path}/status`, mergePatch, { metadata: { annotations: { status: "yes" } } });
  expect(patched.json.metadata?.annotations?.status).toBe(keepsMetadata.has(info.resource) ? undefined : "yes");
}

/** Kinds whose status endpoint leaves labels, annotations, owners and finalizers alone. */
const keepsMetadata: ReadonlySet<string> = new Set([
  "apiservices",
  "customresourcedefinitions",
  "devicetaintrules",
  "flowschemas",
  "podcertificaterequests",
  "podgroups",
  "prioritylevelconfigurations",
  "resourceclaims",
  "resourcepoolstatusrequests",
  "servicecidrs",
  "storageversionmigrations",
  "storageversions",
  "validatingadmissionpolicies",
  "volumeattachments",
]);

async function deletes(info: ResourceInfo, path: string): Promise<void> {
  const answer = await server.delete(path, { gracePeriodSeconds: 0, propagationPolicy: "Background" });
  expect([200, 202]).toContain(answer.code);
  const { code } = await server.get(path);
  if (code === 200 && info.kind !== "Namespace") {
    await server.patch(path, mergePatch, { metadata: { finalizers: null } });
  }
  // An object with waiting dependents disappears a moment after its deletion.
  await until(async () => (await server.get(path)).code === 404);
}
