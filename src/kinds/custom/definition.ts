import { stringifyJson } from "../../api/codec/json.ts";
import { decodeBody } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../api/json.ts";
import type {
  CustomResourceColumnDefinition,
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
} from "../../api/types/apiextensions-v1.ts";
import { isConditionTrue } from "../apiextensions/definition-conditions.ts";

/** The accepted names of a definition. They may differ from those in its spec. */
export interface AcceptedNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** The scale of a version: the paths of its fields in an object. `labelSelectorPath` is "" for none. */
export type ScalePaths = Readonly<Required<CustomResourceSubresourceScale>>;

type StoredDefinition = Pick<CustomResourceDefinition, "metadata" | "spec" | "status">;

/** One version of a definition, without its schema, which may be large. */
export interface DefinedVersion {
  readonly name: string;
  readonly isServed: boolean;
  readonly isStored: boolean;
  readonly isDeprecated: boolean;
  /** "" for the usual text. */
  readonly deprecationWarning: string;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  readonly columns: readonly CustomResourceColumnDefinition[];
  /** JSON paths of the selectable fields, such as `.spec.color`. */
  readonly selectableFields: readonly string[];
}

/** The parts of a stored definition that say what is served. */
export interface CustomDefinition {
  readonly name: string;
  readonly group: string;
  readonly isNamespaced: boolean;
  readonly names: AcceptedNames;
  /** Whether some of the names in its spec are not accepted. */
  readonly awaitsNames: boolean;
  readonly versions: readonly DefinedVersion[];
  readonly conversion: CustomResourceConversion | undefined;
  readonly isEstablished: boolean;
  readonly isTerminating: boolean;
  /** True from its deletion on, before the condition says so. */
  readonly isDeleting: boolean;
  /** Changes with the spec and the accepted names, but not with conditions. */
  readonly fingerprint: string;
  /** Reads the `openAPIV3Schema` of a version from the stored entry each time. */
  readonly readSchema: (version: string) => JsonObject;
}

/** An entry never changes. Several parts read each new one in the same turn, and it may have 1.5 MB. */
const known = new WeakMap<Entry, CustomDefinition>();

/** Returns what a stored definition says, decoded once. Schemas are decoded again on use, so that this stays small. */
export function readDefinition(entry: Entry): CustomDefinition {
  let definition = known.get(entry);
  if (definition === undefined) {
    definition = definitionIn(entry);
    known.set(entry, definition);
  }
  return definition;
}

function definitionIn(entry: Entry): CustomDefinition {
  const { metadata, spec, status } = decodeDefinition(entry);
  const names = status?.acceptedNames;
  return {
    name: metadata.name ?? "",
    group: spec.group,
    isNamespaced: spec.scope === "Namespaced",
    names: {
      plural: names?.plural ?? "",
      singular: names?.singular ?? "",
      kind: names?.kind ?? "",
      listKind: names?.listKind ?? "",
      shortNames: names?.shortNames ?? [],
      categories: names?.categories ?? [],
    },
    awaitsNames: !equalJson(spec.names as unknown as JsonObject, names as JsonObject | undefined),
    versions: (spec.versions ?? []).map(readVersion),
    conversion: spec.conversion,
    isEstablished: isConditionTrue(status, "Established"),
    isDeleting: metadata.deletionTimestamp !== undefined,
    isTerminating: isConditionTrue(status, "Terminating"),
    // The generation changes with the spec, which may be large.
    fingerprint: stringifyJson([metadata.uid ?? "", metadata.generation ?? 0, names ?? {}] as JsonValue),
    readSchema: (version) => schemaIn(entry, version),
  };
}

function decodeDefinition(entry: Entry): StoredDefinition {
  return decodeBody(entry) as unknown as StoredDefinition;
}

function readVersion(version: CustomResourceDefinitionVersion): DefinedVersion {
  const { subresources } = version;
  const scale = subresources?.scale;
  return {
    name: version.name,
    isServed: version.served,
    isStored: version.storage,
    isDeprecated: version.deprecated === true,
    deprecationWarning: version.deprecationWarning ?? "",
    hasStatus: subresources?.status !== undefined,
    scale: scale === undefined ? undefined : { ...scale, labelSelectorPath: scale.labelSelectorPath ?? "" },
    columns: version.additionalPrinterColumns ?? [],
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath),
  };
}

function schemaIn(entry: Entry, name: string): JsonObject {
  const version = decodeDefinition(entry).spec.versions?.find((one) => one.name === name);
  return (version?.schema?.openAPIV3Schema ?? {}) as JsonObject;
}
