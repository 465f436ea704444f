import { describe, expect, test } from "bun:test";
import { Scheme } from "../../kinds/scheme.ts";
import type { Entry } from "../entry.ts";
import type { JsonObject } from "../json.ts";
import { toRevision } from "../revision.ts";
import { type ResourceInfo, storedInfo } from "../scheme/resource.ts";
import { toBytes, toText } from "./byte-text.ts";
import { encodedListLength, encodeList, measuredList } from "./encode-list.ts";
import { encodeObject } from "./encode-object.ts";
import { encodedEntry, itemForm, messageForm, metadataItemForm, metadataMessageForm, rowForm } from "./entry-forms.ts";
import { stringifyJson } from "./json.ts";
import { decodeMessage, unwrapUnknown } from "./protobuf.ts";
import { plainJson, type Representation, type Transform } from "./representation.ts";

const scheme = Scheme.builtIn();
const nowMs = Date.parse("2026-01-01T01:00:00Z");
const row = { kind: "table", version: "v1", includeObject: "Metadata" } as const;

function infoOf(group: string, version: string, resource: string): ResourceInfo {
  return scheme.find(group, version, resource) as ResourceInfo;
}

const configMaps = infoOf("", "v1", "configmaps");
const cases: [string, ResourceInfo, JsonObject][] = [
  ["a ConfigMap", configMaps, { data: { "a<b": "\n" } }],
  [
    "an Event",
    infoOf("", "v1", "events"),
    { involvedObject: { kind: "Pod", name: "p" }, lastTimestamp: "2026-01-01T00:59:00Z" },
  ],
  [
    "a converted autoscaler",
    infoOf("autoscaling", "v1", "horizontalpodautoscalers"),
    { spec: { maxReplicas: 2, scaleTargetRef: { kind: "Deployment", name: "a" } } },
  ],
];

function stored(info: ResourceInfo, fields: JsonObject): Entry {
  const metadata = { name: "a", resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z", labels: { b: "c" } };
  const { kind } = info;
  const { object } = storedInfo(info).form.decode({ metadata, ...fields }, { kind });
  return { key: "a", revision: toRevision(7), body: toBytes(stringifyJson(object)) } as Entry;
}

describe.each(cases)("%s", (_, info, fields) => {
  const transforms: Transform[] = [
    { kind: "none" },
    { kind: "partialMetadata", list: true, version: "v1" },
    { kind: "partialMetadata", list: true, version: "v1beta1" },
    ...(["None", "Metadata", "Object"] as const).map((includeObject) => ({ ...row, includeObject })),
  ];
  const page = { entries: [stored(info, fields), stored(info, fields)], revision: toRevision(9) };
  const listed = (representation: Representation) =>
    Buffer.concat([...encodeList(page, info, representation, nowMs)]).toString();

  test.each(transforms)("items are those of the indented list as %j", (transform) => {
    const compact = { ...plainJson, transform };
    expect(`${stringifyJson(JSON.parse(listed({ ...compact, pretty: true })))}\n`).toBe(listed(compact));
  });

  test.each(transforms.slice(0, 2))("a list in protobuf has the length that is announced, as %j", async (transform) => {
    const binary = { ...plainJson, mediaType: "application/vnd.kubernetes.protobuf", transform } as const;
    const measured = await measuredList(page, info, binary);
    const bytes = Buffer.concat([...encodeList(measured, info, binary, nowMs)]);
    expect(encodedListLength(measured, info, binary)).toBe(bytes.length);
    expect(bytes).toEqual(Buffer.concat([...encodeList(page, info, binary, nowMs)]));
  });

  test("messages say the same as JSON", () => {
    const binary = { ...plainJson, mediaType: "application/vnd.kubernetes.protobuf" } as const;
    const { raw } = unwrapUnknown(encodeObject(page.entries[0] as Entry, info, binary, nowMs));
    if (info.form.kind !== "struct") throw new Error("not a struct");
    const { object } = info.form.decode(decodeMessage(info.form.schema, raw), { kind: info.kind });
    const {
      kind: _kind,
      apiVersion: _apiVersion,
      ...json
    } = JSON.parse(toText(encodeObject(page.entries[0] as Entry, info, plainJson, nowMs)));
    expect(JSON.parse(stringifyJson(object))).toEqual(json);
  });
});

test("an entry is encoded once in each form", () => {
  const entry = stored(configMaps, { data: { b: "c" } });
  const forms = () => [
    messageForm(configMaps),
    metadataMessageForm(configMaps),
    metadataItemForm(configMaps, "v1"),
    metadataItemForm(configMaps, "v1beta1"),
    itemForm(configMaps),
    rowForm(configMaps, row),
    rowForm(configMaps, { ...row, includeObject: "None" }),
  ];
  const first = forms().map((form) => encodedEntry(entry, form, nowMs));
  expect(new Set(first.map(toText)).size).toBe(first.length);
  for (const [at, form] of forms().entries()) expect(encodedEntry(entry, form, nowMs)).toBe(first[at] as Uint8Array);
});

test("the age in a row follows the time", () => {
  const entry = stored(configMaps, {});
  const ageAt = (ms: number) => JSON.parse(toText(encodedEntry(entry, rowForm(configMaps, row), ms))).cells[2];
  const minuteMs = 60_000;
  expect([0, minuteMs - 1, minuteMs, -minuteMs].map((ms) => ageAt(nowMs + ms))).toEqual(["60m", "60m", "61m", "59m"]);
});
