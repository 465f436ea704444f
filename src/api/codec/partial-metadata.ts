import type { Entry } from "../entry.ts";
import { apiVersionOf, type GroupVersionKind } from "../gvk.ts";
import type { JsonObject } from "../json.ts";
import type { KubeObject, ObjectMeta } from "../object-meta.ts";
import type { StructSchema } from "../schema/schema.ts";
import type { ResourceInfo } from "../scheme/resource.ts";
import { metaGroup } from "../vendor.ts";
import { joinBytes, toBytes } from "./byte-text.ts";
import { parseJson } from "./json.ts";
import { stringifyObject } from "./managed-fields-text.ts";
import { metaSchema } from "./meta-schema.ts";
import { metadataBytes, typePrefix } from "./stored-object.ts";

const kinds = {
  object: {
    v1: { group: metaGroup, version: "v1", kind: "PartialObjectMetadata" },
    v1beta1: { group: metaGroup, version: "v1beta1", kind: "PartialObjectMetadata" },
  },
  list: {
    v1: { group: metaGroup, version: "v1", kind: "PartialObjectMetadataList" },
    v1beta1: { group: metaGroup, version: "v1beta1", kind: "PartialObjectMetadataList" },
  },
} as const satisfies Record<string, Record<string, GroupVersionKind>>;

export type MetaVersion = "v1" | "v1beta1";

export function partialMetadataKind(version: MetaVersion): GroupVersionKind {
  return kinds.object[version];
}

export function partialMetadataListKind(version: MetaVersion): GroupVersionKind {
  return kinds.list[version];
}

/** Returns the schema for writing either version as protobuf: the messages are the same. */
export function partialMetadataSchema(): StructSchema {
  return metaSchema("meta/v1.PartialObjectMetadata");
}

/** Returns the metadata alone, as `PartialObjectMetadata`. */
export function partialMetadata(
  { metadata }: Pick<KubeObject, "metadata">,
  { specAnnotation }: ResourceInfo,
  version: MetaVersion,
): JsonObject {
  const shown = specAnnotation === undefined ? metadata : withoutAnnotation(metadata, specAnnotation);
  return { ...typeOf(version), metadata: shown as JsonObject };
}

/** Returns the same from a stored object, reading nothing but its metadata. */
export function partialMetadataOfEntry(entry: Entry, info: ResourceInfo, version: MetaVersion): JsonObject {
  const metadata = parseJson(metadataBytes(entry), { strict: false }).value as unknown as ObjectMeta;
  return partialMetadata({ metadata }, info, version);
}

/** Returns the same as JSON. Copies the stored metadata where it is shown as it is stored. */
export function partialMetadataJson(entry: Entry, info: ResourceInfo, version: MetaVersion): Uint8Array {
  return showsStoredMetadata(info)
    ? joinBytes([typePrefix(partialMetadataKind(version)), metadataKey, metadataBytes(entry), closeBrace])
    : toBytes(stringifyObject(partialMetadataOfEntry(entry, info, version)));
}

const metadataKey = toBytes('"metadata":');
const closeBrace = toBytes("}");

/** Reports whether the metadata is shown in its stored form. */
export function showsStoredMetadata({ specAnnotation }: ResourceInfo): boolean {
  return specAnnotation === undefined;
}

function withoutAnnotation(metadata: ObjectMeta, name: string): ObjectMeta {
  const { annotations, ...rest } = metadata;
  if (annotations?.[name] === undefined) return metadata;
  const { [name]: _hidden, ...others } = annotations;
  return Object.keys(others).length === 0 ? rest : { ...metadata, annotations: others };
}

function typeOf(version: MetaVersion): { kind: string; apiVersion: string } {
  const gvk = partialMetadataKind(version);
  return { kind: gvk.kind, apiVersion: apiVersionOf(gvk) };
}
