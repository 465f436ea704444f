import { decodeBody } from "../../api/codec/stored-object.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import type { Entry } from "../../api/entry.ts";
import type { JsonObject } from "../../api/json.ts";
import { objectOf, objectsOf, textOf, textsOf } from "../../api/json-reading.ts";
import { isConditionTrue } from "../apiextensions/definition-conditions.ts";

/** Names that a definition has been given, which may be others than it asks for. */
export interface AcceptedNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** The scale of a version: where objects have their numbers. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** "" for none. */
  readonly labelSelectorPath: string;
}

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
  readonly columns: readonly JsonObject[];
  /** JSON paths of the selectable fields, such as `.spec.color`. */
  readonly selectableFields: readonly string[];
}

/** The parts of a stored definition that say what is served. */
export interface CustomDefinition {
  readonly group: string;
  readonly isNamespaced: boolean;
  readonly names: AcceptedNames;
  readonly versions: readonly DefinedVersion[];
  readonly conversion: JsonObject;
  readonly isEstablished: boolean;
  readonly isTerminating: boolean;
  /** Differs whenever something else than the conditions does: then requests are answered by other rules. */
  readonly fingerprint: string;
  /** Reads the `openAPIV3Schema` of a version, and forgets it again. */
  readonly readSchema: (version: string) => JsonObject;
}

/** Reads a stored definition. The entry is read again for each schema, so that definitions nobody uses stay small. */
export function readDefinition(entry: Entry): CustomDefinition {
  const body = decodeBody(entry);
  const spec = objectOf(body["spec"]);
  const status = objectOf(body["status"]);
  const names = objectOf(status["acceptedNames"]);
  return {
    group: textOf(spec["group"]),
    isNamespaced: spec["scope"] === "Namespaced",
    names: {
      plural: textOf(names["plural"]),
      singular: textOf(names["singular"]),
      kind: textOf(names["kind"]),
      listKind: textOf(names["listKind"]),
      shortNames: textsOf(names["shortNames"]),
      categories: textsOf(names["categories"]),
    },
    versions: objectsOf(spec["versions"]).map(readVersion),
    conversion: objectOf(spec["conversion"]),
    isEstablished: isConditionTrue(status, "Established"),
    isTerminating: isConditionTrue(status, "Terminating"),
    fingerprint: Bun.SHA256.hash(stringifyJson([spec, names]), "base64"),
    readSchema: (version) => schemaIn(entry, version),
  };
}

function readVersion(version: JsonObject): DefinedVersion {
  const subresources = objectOf(version["subresources"]);
  return {
    name: textOf(version["name"]),
    isServed: version["served"] === true,
    isStored: version["storage"] === true,
    isDeprecated: version["deprecated"] === true,
    deprecationWarning: textOf(version["deprecationWarning"]),
    hasStatus: subresources["status"] !== undefined,
    scale: subresources["scale"] === undefined ? undefined : readScale(objectOf(subresources["scale"])),
    columns: objectsOf(version["additionalPrinterColumns"]),
    selectableFields: objectsOf(version["selectableFields"]).map((field) => textOf(field["jsonPath"])),
  };
}

function readScale(scale: JsonObject): ScalePaths {
  return {
    specReplicasPath: textOf(scale["specReplicasPath"]),
    statusReplicasPath: textOf(scale["statusReplicasPath"]),
    labelSelectorPath: textOf(scale["labelSelectorPath"]),
  };
}

function schemaIn(entry: Entry, name: string): JsonObject {
  const versions = objectsOf(objectOf(decodeBody(entry)["spec"])["versions"]);
  const version = versions.find((one) => one["name"] === name);
  return objectOf(objectOf(version?.["schema"])["openAPIV3Schema"]);
}
