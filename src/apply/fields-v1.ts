import { emptyJsonObject, isEmptyObject, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { type FieldSet, fieldSetNodeInSteps, leafFieldSet } from "./field-set.ts";
import { NodeShape, type Walk } from "./node-shapes.ts";
import { type PathElement, PathElementError, parsePathElement } from "./path-element.ts";

/** Levels of a document that are read; deeper ones are refused. */
const documentDepthMax = 1_000;

/** Says in upstream's words why a document cannot be read as a field set. */
export class FieldsV1Error extends Error {}

/** Reads the `fieldsV1` of an entry, and yields now and then. Drops elements of an unknown kind. */
export function* parseFieldsV1(document: JsonValue): Generator<void, FieldSet> {
  return (yield* parseNode(nodeObject(document, 0), 0, { nodes: 0 })).withOwned(false);
}

/** Nodes that are read without a pause. */
const nodesPerStep = 256;

interface Progress {
  nodes: number;
}

function* parseNode(document: JsonObject, depth: number, progress: Progress): Generator<void, FieldSet> {
  let owned = false;
  const children = new Map<PathElement, FieldSet>();
  for (const key in document) {
    if (++progress.nodes % nodesPerStep === 0) yield;
    const element = key === "." ? undefined : elementOf(key);
    owned ||= key === ".";
    if (element === undefined) continue;
    const below = nodeObject(document[key] as JsonValue, depth + 1);
    children.set(element, isEmptyObject(below) ? leafFieldSet : yield* parseNode(below, depth + 1, progress));
  }
  if (children.size === 0) return leafFieldSet;
  return yield* fieldSetNodeInSteps(owned, [...children.keys()], [...children.values()]);
}

/** Returns the document of a node; null stands for an empty one. @throws FieldsV1Error */
function nodeObject(document: JsonValue, depth: number): JsonObject {
  if (document === null) return emptyJsonObject();
  if (!isJsonObject(document))
    throw new FieldsV1Error(`ReadMapCB: expect { or n, but found ${firstCharacter(document)}`);
  if (depth > documentDepthMax) throw new FieldsV1Error("exceeded max depth");
  return document;
}

/** Returns undefined for an element of an unknown kind. */
function elementOf(key: string): PathElement | undefined {
  try {
    return parsePathElement(key);
  } catch (error) {
    if (!(error instanceof PathElementError)) throw error;
    throw new FieldsV1Error(`parsing key as path element: ${error.message}`);
  }
}

function firstCharacter(value: Exclude<JsonValue, JsonObject | null>): string {
  return JSON.stringify(typeof value === "bigint" ? Number(value) : value).slice(0, 1);
}

/** Sets by their documents, which stored objects share. */
const storedSets = new WeakMap<JsonObject, FieldSet>();

/** Returns the document of a set. Reading it gives the set again, with what is known of it. */
export function documentOfFields(fields: FieldSet): JsonObject {
  const document = fields.toDocument();
  if (!storedSets.has(document)) storedSets.set(document, fields.withOwned(false));
  return document;
}

/** Reads a document that `FieldSet.toDocument` made, whose elements are canonical and in order. */
export function readStoredFields(document: JsonObject): FieldSet {
  let fields = storedSets.get(document);
  if (fields === undefined) {
    fields = readStoredNode(document).withOwned(false);
    storedSets.set(document, fields);
  }
  return fields;
}

function readStoredNode(document: JsonObject): FieldSet {
  let owned = false;
  let shape: Walk | undefined;
  for (const element in document) {
    if (element === ".") owned = true;
    else shape = (shape ?? NodeShape.start).after(element, readStoredNode(document[element] as JsonObject));
  }
  return shape?.node(owned) ?? leafFieldSet;
}
