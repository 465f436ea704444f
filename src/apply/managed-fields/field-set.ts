import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { documentDepthMax } from "../patch/document-depth.ts";
import { comparePathElements, isFieldElement, type PathElement, parsePathElement } from "./path-element.ts";

/**
 * A set of field paths, as a tree: a path is in the set when the node at its end is `owned`.
 *     {metadata.labels, metadata.labels.app}  =  f:metadata → f:labels (owned) → f:app (owned)
 * Invariant: every node but the root is owned or has a node below it. A set is not changed once it was handed on, so
 * that sets share their subtrees.
 */
export class FieldSet {
  readonly owned: boolean;
  readonly #children: Map<PathElement, FieldSet>;

  constructor(owned = false, children: Map<PathElement, FieldSet> = noChildren) {
    this.owned = owned;
    this.#children = children;
  }

  /** The set of one path for each argument. */
  static of(...paths: readonly (readonly PathElement[])[]): FieldSet {
    return paths.reduce((set, path) => set.insert(path), emptyFieldSet);
  }

  get isEmpty(): boolean {
    return !this.owned && this.#children.size === 0;
  }

  get size(): number {
    return this.#children.size;
  }

  child(element: PathElement): FieldSet | undefined {
    return this.#children.get(element);
  }

  entries(): MapIterator<[PathElement, FieldSet]> {
    return this.#children.entries();
  }

  has(path: readonly PathElement[]): boolean {
    const end = path.reduce<FieldSet | undefined>((node, element) => node?.child(element), this);
    return end?.owned ?? false;
  }

  /** This set and the path. */
  insert(path: readonly PathElement[], at = 0): FieldSet {
    const element = path[at];
    if (element === undefined) return this.owned ? this : new FieldSet(true, this.#children);
    const children = new Map(this.#children);
    children.set(element, (this.child(element) ?? emptyFieldSet).insert(path, at + 1));
    return new FieldSet(this.owned, children);
  }

  union(other: FieldSet): FieldSet {
    if (other.isEmpty || other === this) return this;
    if (this.isEmpty) return other;
    let children: Map<PathElement, FieldSet> | undefined;
    for (const [element, node] of other.#children) {
      const mine = this.child(element);
      const merged = mine === undefined ? node : mine.union(node);
      if (merged === mine) continue;
      children ??= new Map(this.#children);
      children.set(element, merged);
    }
    const owned = this.owned || other.owned;
    if (children === undefined && owned === this.owned) return this;
    return new FieldSet(owned, children ?? this.#children);
  }

  /** The paths of this set that are not in the other one. Returns this very set when none is. */
  difference(other: FieldSet): FieldSet {
    return this.#without(other, false);
  }

  /** As `difference`, but a path of the other set takes everything below it along. */
  recursiveDifference(other: FieldSet): FieldSet {
    return other.owned ? emptyFieldSet : this.#without(other, true);
  }

  #without(other: FieldSet, recursive: boolean): FieldSet {
    let children: Map<PathElement, FieldSet> | undefined;
    // Walks the smaller side: a set that a manager owns is often far larger than what one write changed.
    const [small, large] = this.size < other.size ? [this, other] : [other, this];
    for (const element of small.#children.keys()) {
      if (!large.#children.has(element)) continue;
      const mine = this.child(element) as FieldSet;
      const theirs = other.child(element) as FieldSet;
      const left = recursive ? mine.recursiveDifference(theirs) : mine.difference(theirs);
      if (left === mine) continue;
      children ??= new Map(this.#children);
      if (left.isEmpty) children.delete(element);
      else children.set(element, left);
    }
    const owned = this.owned && !other.owned;
    if (children === undefined && owned === this.owned) return this;
    return new FieldSet(owned, children ?? this.#children);
  }

  intersection(other: FieldSet): FieldSet {
    const children = new Map<PathElement, FieldSet>();
    for (const [element, node] of this.#children) {
      const theirs = other.child(element);
      const common = theirs === undefined ? emptyFieldSet : node.intersection(theirs);
      if (!common.isEmpty) children.set(element, common);
    }
    return new FieldSet(this.owned && other.owned, children);
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.owned !== other.owned || this.size !== other.size) return false;
    for (const [element, node] of this.#children) {
      const theirs = other.child(element);
      if (theirs === undefined || !node.equals(theirs)) return false;
    }
    return true;
  }

  /** Every path of the set, in wire order. */
  paths(): PathElement[][] {
    const result: PathElement[][] = this.owned ? [[]] : [];
    for (const element of this.#sortedElements()) {
      for (const path of (this.child(element) as FieldSet).paths()) result.push([element, ...path]);
    }
    return result;
  }

  toFieldsV1(): JsonObject {
    const json = emptyJsonObject();
    if (this.size === 0) return json;
    if (this.owned) json["."] = emptyJsonObject();
    for (const element of this.#sortedElements()) {
      const node = this.child(element) as FieldSet;
      json[element] = node === leafFieldSet ? leafFieldsV1 : node.toFieldsV1();
    }
    return json;
  }

  #sortedElements(): PathElement[] {
    const elements = [...this.#children.keys()];
    return elements.every(isFieldElement) ? elements.sort() : elements.sort(comparePathElements);
  }
}

const noChildren: Map<PathElement, FieldSet> = new Map();
export const emptyFieldSet = new FieldSet();
/** A path that ends here. */
export const leafFieldSet = new FieldSet(true);
/** Shared by all documents: nobody changes a part of one. */
const leafFieldsV1: JsonObject = Object.freeze(emptyJsonObject());

/** Undefined when the document is not in the form that `toFieldsV1` gives. */
export function parseFieldsV1(json: JsonValue | undefined): FieldSet | undefined {
  return isJsonObject(json) ? parseNode(json, false, 0) : undefined;
}

function parseNode(json: JsonObject, leafIsOwned: boolean, depth: number): FieldSet | undefined {
  const keys = Object.keys(json);
  if (keys.length === 0) return leafIsOwned ? leafFieldSet : emptyFieldSet;
  if (depth > documentDepthMax) return undefined;
  const children = new Map<PathElement, FieldSet>();
  let owned = false;
  for (const key of keys) {
    const value = json[key];
    if (!isJsonObject(value)) return undefined;
    if (key === ".") {
      owned = true;
      continue;
    }
    const element = parsePathElement(key);
    const node = parseNode(value, true, depth + 1);
    if (element === undefined || node === undefined) return undefined;
    children.set(element, node);
  }
  return new FieldSet(owned, children);
}
