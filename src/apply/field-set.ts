import { emptyJsonObject, type JsonObject } from "../api/json.ts";
import {
  comparePathElements,
  isFieldElement,
  orderOfElements,
  orderOfElementsInSteps,
  type PathElement,
} from "./path-element.ts";

/**
 * A set of field paths, as a trie. A path is in the set when the node at its end is owned.
 *     {metadata.labels, metadata.labels.app}  =  f:metadata → f:labels (owned) → f:app (owned)
 * Invariants: elements are in wire order, and every node but the root is owned or has a node below it. Sets never
 * change, so they share their nodes.
 */
export class FieldSet {
  readonly owned: boolean;
  readonly elements: readonly PathElement[];
  readonly nodes: readonly FieldSet[];
  #document: JsonObject | undefined;
  /** The node with the same nodes below it, owned if this one is not. */
  #twin: FieldSet | undefined;

  constructor(owned: boolean, elements: readonly PathElement[], nodes: readonly FieldSet[]) {
    this.owned = owned;
    this.elements = elements;
    this.nodes = nodes;
  }

  /** The set of one path for each argument. */
  static of(...paths: readonly (readonly PathElement[])[]): FieldSet {
    return FieldSet.unionOf(paths.map(onePath));
  }

  /** All of the sets together. Halves them, so that a large result is not built again for each of many small sets. */
  static unionOf(sets: readonly FieldSet[]): FieldSet {
    if (sets.length < 2) return sets[0] ?? emptyFieldSet;
    const middle = sets.length >> 1;
    return FieldSet.unionOf(sets.slice(0, middle)).union(FieldSet.unionOf(sets.slice(middle)));
  }

  get isEmpty(): boolean {
    return !this.owned && this.elements.length === 0;
  }

  /** The node below an element. */
  child(element: PathElement): FieldSet | undefined {
    return this.nodes[this.#place(element)];
  }

  #place(element: PathElement): number {
    let low = 0;
    let high = this.elements.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = comparePathElements(this.elements[middle] as PathElement, element);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  has(path: readonly PathElement[]): boolean {
    const end = path.reduce<FieldSet | undefined>((node, element) => node?.child(element), this);
    return end?.owned ?? false;
  }

  /** This node, owned or not. */
  withOwned(owned: boolean): FieldSet {
    if (owned === this.owned) return this;
    if (this.elements.length === 0) return owned ? leafFieldSet : emptyFieldSet;
    if (this.#twin === undefined) {
      this.#twin = new FieldSet(owned, this.elements, this.nodes);
      this.#twin.#twin = this;
    }
    return this.#twin;
  }

  union(other: FieldSet): FieldSet {
    if (other === this || other.isEmpty) return this;
    if (this.isEmpty) return other;
    return zip(this, other, {
      owned: this.owned || other.owned,
      keepsMine: true,
      keepsTheirs: true,
      both: (mine, theirs) => mine.union(theirs),
    });
  }

  /** The paths of this set that are not in the other one. A path stays when only paths below or above it are there. */
  difference(other: FieldSet): FieldSet {
    if (other === this) return emptyFieldSet;
    if (other.isEmpty || this.isEmpty) return this;
    return zip(this, other, {
      owned: this.owned && !other.owned,
      keepsMine: true,
      keepsTheirs: false,
      both: (mine, theirs) => mine.difference(theirs),
    });
  }

  /** As `difference`, but a path of the other set takes everything below it along. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.owned) return emptyFieldSet;
    if (other.isEmpty || this.isEmpty) return this;
    return zip(this, other, {
      owned: this.owned,
      keepsMine: true,
      keepsTheirs: false,
      both: (mine, theirs) => mine.recursiveDifference(theirs),
    });
  }

  intersection(other: FieldSet): FieldSet {
    if (other === this) return this;
    if (other.isEmpty || this.isEmpty) return emptyFieldSet;
    return zip(this, other, {
      owned: this.owned && other.owned,
      keepsMine: false,
      keepsTheirs: false,
      both: (mine, theirs) => mine.intersection(theirs),
    });
  }

  /** Whether the other set has a path of this one. */
  meets(other: FieldSet): boolean {
    if (this.owned && other.owned) return true;
    let at = 0;
    for (const [index, element] of this.elements.entries()) {
      while (at < other.elements.length && comparePathElements(other.elements[at] as PathElement, element) < 0) at++;
      if (other.elements[at] !== element) continue;
      if ((this.nodes[index] as FieldSet).meets(other.nodes[at] as FieldSet)) return true;
    }
    return false;
  }

  /** Whether every path of the other set is in this one. */
  covers(other: FieldSet): boolean {
    if (other === this) return true;
    if (other.owned && !this.owned) return false;
    let at = 0;
    for (const [index, element] of other.elements.entries()) {
      while (at < this.elements.length && comparePathElements(this.elements[at] as PathElement, element) < 0) at++;
      if (this.elements[at] !== element) return false;
      if (!(this.nodes[at] as FieldSet).covers(other.nodes[index] as FieldSet)) return false;
    }
    return true;
  }

  equals(other: FieldSet): boolean {
    return this === other || (this.covers(other) && other.covers(this));
  }

  /** Every path, as upstream lists them: the paths that end at a level come before those that go deeper. */
  paths(): PathElement[][] {
    const result: PathElement[][] = [];
    for (const [at, element] of this.elements.entries()) {
      if (this.nodes[at]?.owned === true) result.push([element]);
    }
    for (const [at, element] of this.elements.entries()) {
      for (const path of (this.nodes[at] as FieldSet).paths()) result.push([element, ...path]);
    }
    return result;
  }

  /** The set in the form of `fieldsV1`, made on first use. Do not change it. */
  toDocument(): JsonObject {
    if (this.elements.length === 0) return leafDocument;
    this.#document ??= this.#encode();
    return this.#document;
  }

  /** Whether `toDocument` takes long. */
  get isLarge(): boolean {
    return this.#document === undefined && this.#nodesLeft(stepNodes) < 0;
  }

  /** Makes the document of a large set for `toDocument`, and yields now and then. */
  *prepareDocument(): Generator<void> {
    const document = emptyJsonObject();
    if (this.owned) document["."] = leafDocument;
    for (const [at, element] of this.elements.entries()) {
      const node = this.nodes[at] as FieldSet;
      if (node.isLarge) yield* node.prepareDocument();
      document[element] = node.toDocument();
      if (at % stepNodes === 0) yield;
    }
    this.#document = document;
  }

  /** Returns `limit` minus the number of nodes below; some negative number if there are more. */
  #nodesLeft(limit: number): number {
    let left = limit - this.nodes.length;
    if (left < 0) return left;
    for (const node of this.nodes) {
      if (node.elements.length === 0) continue;
      left = node.#nodesLeft(left);
      if (left < 0) return left;
    }
    return left;
  }

  #encode(): JsonObject {
    const document = emptyJsonObject();
    if (this.owned) document["."] = leafDocument;
    for (let at = 0; at < this.elements.length; at++) {
      document[this.elements[at] as PathElement] = (this.nodes[at] as FieldSet).toDocument();
    }
    return document;
  }
}

/** Nodes that are encoded or built without a pause. */
const stepNodes = 1_000;

/** Shared by all documents. */
const leafDocument: JsonObject = Object.freeze(emptyJsonObject());
export const emptyFieldSet = new FieldSet(false, [], []);
/** A path that ends here. */
export const leafFieldSet = new FieldSet(true, [], []);

function onePath(path: readonly PathElement[]): FieldSet {
  return path.reduceRight((below, element) => new FieldSet(false, [element], [below]), leafFieldSet);
}

interface Rule {
  readonly owned: boolean;
  /** Keeps what only the first, or only the second set has. */
  readonly keepsMine: boolean;
  readonly keepsTheirs: boolean;
  readonly both: (mine: FieldSet, theirs: FieldSet) => FieldSet;
}

/** How many times more parts than ours make it cheaper to look ours up than to walk theirs. */
const lookUpRatio = 16;

/** Walks two nodes side by side. Returns the first one itself where the result is the same. */
function zip(mine: FieldSet, theirs: FieldSet, rule: Rule): FieldSet {
  if (!rule.keepsTheirs && mine.elements.length * lookUpRatio < theirs.elements.length) return pick(mine, theirs, rule);
  const elements: PathElement[] = [];
  const nodes: FieldSet[] = [];
  let same = rule.owned === mine.owned;
  let left = 0;
  let right = 0;
  while (left < mine.elements.length || right < theirs.elements.length) {
    const a = mine.elements[left];
    const b = theirs.elements[right];
    const order = a === undefined ? 1 : b === undefined ? -1 : comparePathElements(a, b);
    let node: FieldSet | undefined;
    if (order < 0) {
      if (rule.keepsMine) node = mine.nodes[left];
    } else if (order > 0) {
      if (rule.keepsTheirs) node = theirs.nodes[right];
    } else {
      node = rule.both(mine.nodes[left] as FieldSet, theirs.nodes[right] as FieldSet);
    }
    if (node !== undefined && !node.isEmpty) {
      elements.push((order <= 0 ? a : b) as PathElement);
      nodes.push(node);
      same &&= order <= 0 && node === mine.nodes[left];
    } else {
      same &&= order > 0;
    }
    if (order <= 0) left++;
    if (order >= 0) right++;
  }
  return same ? mine : inOrder(rule.owned, elements, nodes);
}

function inOrder(owned: boolean, elements: PathElement[], nodes: FieldSet[]): FieldSet {
  if (elements.length === 0) return owned ? leafFieldSet : emptyFieldSet;
  return new FieldSet(owned, elements, nodes);
}

/** As `zip`, for a small node and a large one of which nothing is kept. */
function pick(mine: FieldSet, theirs: FieldSet, rule: Rule): FieldSet {
  const elements: PathElement[] = [];
  const nodes: FieldSet[] = [];
  let same = rule.owned === mine.owned;
  for (const [at, element] of mine.elements.entries()) {
    const own = mine.nodes[at] as FieldSet;
    const other = theirs.child(element);
    const node = other === undefined ? own : rule.both(own, other);
    const kept = !node.isEmpty && (other !== undefined || rule.keepsMine);
    same &&= kept && node === own;
    if (!kept) continue;
    elements.push(element);
    nodes.push(node);
  }
  return same ? mine : inOrder(rule.owned, elements, nodes);
}

/** A node from elements in any order, each of them once. */
export function fieldSetNode(owned: boolean, elements: PathElement[], nodes: FieldSet[]): FieldSet {
  if (elements.length === 0) return owned ? leafFieldSet : emptyFieldSet;
  if (elements.length > stepNodes && !isFieldElement(elements[0] as PathElement)) {
    // Other elements are parsed to be compared, and so many are not remembered.
    return orderedNode(owned, elements, nodes, orderOfElements(elements));
  }
  for (let at = 1; at < elements.length; at++) {
    if (comparePathElements(elements[at - 1] as PathElement, elements[at] as PathElement) > 0) {
      return orderedNode(owned, elements, nodes, orderOfElements(elements));
    }
  }
  return new FieldSet(owned, elements, nodes);
}

/** Does the same, and yields now and then. */
export function* fieldSetNodeInSteps(
  owned: boolean,
  elements: PathElement[],
  nodes: FieldSet[],
): Generator<void, FieldSet> {
  if (elements.length <= stepNodes) return fieldSetNode(owned, elements, nodes);
  return orderedNode(owned, elements, nodes, yield* orderOfElementsInSteps(elements));
}

function orderedNode(
  owned: boolean,
  elements: readonly PathElement[],
  nodes: readonly FieldSet[],
  order: readonly number[],
): FieldSet {
  return new FieldSet(
    owned,
    order.map((at) => elements[at] as PathElement),
    order.map((at) => nodes[at] as FieldSet),
  );
}
