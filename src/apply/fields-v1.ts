import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { hasMoreValues } from "../api/object-extent.ts";
import { type FieldSet, fieldSetNode, fieldSetNodeInSteps, leafFieldSet, stepNodes } from "./field-set.ts";
import { NodeShape, type Walk } from "./node-shapes.ts";
import { type PathElement, PathElementError, parsePathElement } from "./path-element.ts";

/** Levels of a document that are read; deeper ones are refused. */
const documentDepthMax = 1_000;

/** Says in upstream's words why a document cannot be read as a field set. */
export class FieldsV1Error extends Error {}

/** Reads the `fieldsV1` of an entry. Drops elements of an unknown kind. */
export function parseFieldsV1(document: JsonValue): FieldSet {
  return parseNode(document, 0).withOwned(false);
}

/** Does the same, and yields now and then. */
export function* parseFieldsV1InSteps(document: JsonValue): Generator<void, FieldSet> {
  return (yield* parseNodeInSteps(document, 0)).withOwned(false);
}

function parseNode(document: JsonValue, depth: number): FieldSet {
  if (document === null) return leafFieldSet;
  const object = nodeObject(document, depth);
  const children = new Map<PathElement, FieldSet>();
  for (const key in object) {
    const element = elementOf(key);
    if (element !== undefined) children.set(element, parseNode(object[key] as JsonValue, depth + 1));
  }
  if (children.size === 0) return leafFieldSet;
  return fieldSetNode(isOwned(object), [...children.keys()], [...children.values()]);
}

/** Nodes that are parsed without a pause. */
const nodesPerStep = 256;

function* parseNodeInSteps(document: JsonValue, depth: number): Generator<void, FieldSet> {
  if (!hasMoreValues(document, stepNodes)) return parseNode(document, depth);
  const object = nodeObject(document, depth);
  const children = new Map<PathElement, FieldSet>();
  for (const key in object) {
    const element = elementOf(key);
    if (element !== undefined) children.set(element, yield* parseNodeInSteps(object[key] as JsonValue, depth + 1));
    if (children.size % nodesPerStep === 0) yield;
  }
  if (children.size === 0) return leafFieldSet;
  return yield* fieldSetNodeInSteps(isOwned(object), [...children.keys()], [...children.values()]);
}

/** @throws FieldsV1Error */
function nodeObject(document: JsonValue, depth: number): JsonObject {
  if (!isJsonObject(document))
    throw new FieldsV1Error(`ReadMapCB: expect { or n, but found ${firstCharacter(document)}`);
  if (depth > documentDepthMax) throw new FieldsV1Error("exceeded max depth");
  return document;
}

function isOwned(document: JsonObject): boolean {
  return Object.hasOwn(document, ".");
}

/** Returns undefined for the mark of an owned node, and for an element of an unknown kind. */
function elementOf(key: string): PathElement | undefined {
  if (key === ".") return undefined;
  try {
    return parsePathElement(key);
  } catch (error) {
    if (!(error instanceof PathElementError)) throw error;
    throw new FieldsV1Error(`parsing key as path element: ${error.message}`);
  }
}

function firstCharacter(value: JsonValue): string {
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
