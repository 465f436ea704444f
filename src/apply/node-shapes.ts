import { type FieldSet, fieldSetNode, leafFieldSet } from "./field-set.ts";
import { fieldElement, type PathElement } from "./path-element.ts";

/** Places that are remembered before all of them are forgotten: about 800 bytes each, with the nodes made from them. */
const shapesMax = 16_384;
/** Parts of one value beyond which its places are not remembered: nothing has its shape again. */
const partsMax = 128;

/**
 * A place in the walk over the parts of a value: the parts met so far, in order. Values of one shape walk the same
 * places, so they get the same node, with everything that was computed from it before.
 *     start ─f:app→ place ─f:tier→ place, whose node is {app, tier}
 */
export class NodeShape {
  static #start = new NodeShape(undefined, "", leafFieldSet);
  static #count = 0;
  readonly #before: NodeShape | undefined;
  readonly #element: PathElement;
  readonly #below: FieldSet;
  readonly #parts: number;
  /** The first known place after a leaf. Most places have no other one, and need no map. */
  #firstLeaf: NodeShape | undefined;
  #otherLeaves: Map<PathElement, NodeShape> | undefined;
  #inner: Map<PathElement, Map<FieldSet, NodeShape>> | undefined;
  /** The last requested field, and its place. Most values have the shape of the previous one. */
  #lastName: string | undefined;
  #lastShape: NodeShape | undefined;
  /** The last part that was no leaf field, and its place. */
  #lastElement: PathElement | undefined;
  #lastBelow: FieldSet | undefined;
  #lastPlace: NodeShape | undefined;
  #repeats: boolean | undefined;
  #owned: FieldSet | undefined;
  #unowned: FieldSet | undefined;

  private constructor(before: NodeShape | undefined, element: PathElement, below: FieldSet) {
    this.#before = before;
    this.#element = element;
    this.#below = below;
    this.#parts = before === undefined ? 0 : before.#parts + 1;
  }

  /** The start of every walk. */
  static get start(): NodeShape {
    if (NodeShape.#count >= shapesMax) {
      NodeShape.#count = 0;
      NodeShape.#start = new NodeShape(undefined, "", leafFieldSet);
    }
    return NodeShape.#start;
  }

  /** Returns the place after one more part. A place that repeats a part has no node. */
  after(element: PathElement, below: FieldSet): Walk {
    if (below === this.#lastBelow && element === this.#lastElement) return this.#lastPlace as NodeShape;
    const next = this.#find(element, below) ?? this.#add(element, below);
    if (next instanceof LongWalk) return next;
    this.#lastElement = element;
    this.#lastBelow = below;
    this.#lastPlace = next;
    return next;
  }

  /** Reports whether the last part has been met before. */
  get repeats(): boolean {
    this.#repeats ??= this.#hasMetLast();
    return this.#repeats;
  }

  #hasMetLast(): boolean {
    let shape = this.#before;
    while (shape !== undefined && shape.#element !== this.#element) shape = shape.#before;
    return shape !== undefined;
  }

  /** Returns the place after a field that is a leaf. */
  afterLeafField(name: string): Walk {
    if (name === this.#lastName) return this.#lastShape as NodeShape;
    const next = this.after(fieldElement(name), leafFieldSet);
    if (next instanceof LongWalk) return next;
    this.#lastName = name;
    this.#lastShape = next;
    return next;
  }

  #find(element: PathElement, below: FieldSet): NodeShape | undefined {
    if (below !== leafFieldSet) return this.#inner?.get(element)?.get(below);
    const first = this.#firstLeaf;
    return first !== undefined && first.#element === element ? first : this.#otherLeaves?.get(element);
  }

  #add(element: PathElement, below: FieldSet): Walk {
    const next = new NodeShape(this, element, below);
    if (next.#parts > partsMax) return new LongWalk(NodeShape.#partsOf(next));
    NodeShape.#count++;
    if (below === leafFieldSet) {
      if (this.#firstLeaf !== undefined) {
        this.#otherLeaves ??= new Map();
        this.#otherLeaves.set(element, next);
      }
      this.#firstLeaf ??= next;
      return next;
    }
    this.#inner ??= new Map();
    const nodes = this.#inner.get(element);
    if (nodes === undefined) this.#inner.set(element, new Map([[below, next]]));
    else nodes.set(below, next);
    return next;
  }

  /** The node with the parts met so far. */
  node(owned: boolean): FieldSet {
    if (owned) {
      this.#owned ??= NodeShape.#build(this, true);
      return this.#owned;
    }
    this.#unowned ??= NodeShape.#build(this, false);
    return this.#unowned;
  }

  /** Returns the parts before a place, in order. */
  static #partsOf(end: NodeShape): Parts {
    const elements: PathElement[] = [];
    const nodes: FieldSet[] = [];
    for (let shape = end; shape.#before !== undefined; shape = shape.#before) {
      elements.push(shape.#element);
      nodes.push(shape.#below);
    }
    return { elements: elements.reverse(), nodes: nodes.reverse() };
  }

  static #build(end: NodeShape, owned: boolean): FieldSet {
    const { elements, nodes } = NodeShape.#partsOf(end);
    return fieldSetNode(owned, elements, nodes);
  }
}

interface Parts {
  readonly elements: PathElement[];
  readonly nodes: FieldSet[];
}

/** A walk over a value with more parts than are remembered. Each part changes it. */
class LongWalk {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  after(element: PathElement, below: FieldSet): LongWalk {
    this.#parts.elements.push(element);
    this.#parts.nodes.push(below);
    return this;
  }

  /** Does not ask the cache of elements, which so many names would only fill. */
  afterLeafField(name: string): LongWalk {
    return this.after(`f:${name}`, leafFieldSet);
  }

  get repeats(): boolean {
    const { elements } = this.#parts;
    return elements.indexOf(elements.at(-1) as PathElement) < elements.length - 1;
  }

  /** The node takes over the parts: the walk ends with it. */
  node(owned: boolean): FieldSet {
    return fieldSetNode(owned, this.#parts.elements, this.#parts.nodes);
  }
}

/** The parts of a value that a walk has met so far. */
export type Walk = NodeShape | LongWalk;

/** The node of a set or a list with keys. */
export function nodeOfItems(owned: boolean, byElement: ReadonlyMap<PathElement, FieldSet>): FieldSet {
  let shape: Walk = NodeShape.start;
  for (const [element, node] of byElement) shape = shape.after(element, node);
  return shape.node(owned);
}
