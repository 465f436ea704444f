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
  /** The parts beyond `partsMax`. Only this walk has this place. */
  #tail: Parts | undefined;
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
  after(element: PathElement, below: FieldSet): NodeShape {
    if (below === this.#lastBelow && element === this.#lastElement) return this.#lastPlace as NodeShape;
    if (this.#tail !== undefined) return this.#push(this.#tail, element, below);
    const next = this.#find(element, below) ?? this.#add(element, below);
    if (next.#parts > partsMax) return next;
    this.#lastElement = element;
    this.#lastBelow = below;
    this.#lastPlace = next;
    return next;
  }

  /** Adds a part to a place that is not remembered, which becomes the place after it. */
  #push({ elements, nodes }: Parts, element: PathElement, below: FieldSet): NodeShape {
    elements.push(element);
    nodes.push(below);
    this.#repeats = this.#owned = this.#unowned = undefined;
    return this;
  }

  /** Reports whether the last part has been met before. */
  get repeats(): boolean {
    this.#repeats ??= this.#hasMetLast();
    return this.#repeats;
  }

  #hasMetLast(): boolean {
    const { elements } = this.#allParts();
    return elements.indexOf(elements.at(-1) as PathElement) < elements.length - 1;
  }

  /** Returns the place after a field that is a leaf. */
  afterLeafField(name: string): NodeShape {
    if (name === this.#lastName) return this.#lastShape as NodeShape;
    // Names of a value with so many parts would only fill the cache of elements.
    if (this.#tail !== undefined) return this.#push(this.#tail, `f:${name}`, leafFieldSet);
    const next = this.after(fieldElement(name), leafFieldSet);
    if (next.#parts > partsMax) return next;
    this.#lastName = name;
    this.#lastShape = next;
    return next;
  }

  #find(element: PathElement, below: FieldSet): NodeShape | undefined {
    if (below !== leafFieldSet) return this.#inner?.get(element)?.get(below);
    const first = this.#firstLeaf;
    return first !== undefined && first.#element === element ? first : this.#otherLeaves?.get(element);
  }

  #add(element: PathElement, below: FieldSet): NodeShape {
    const next = new NodeShape(this, element, below);
    if (next.#parts > partsMax) {
      next.#tail = { elements: [], nodes: [] };
      return next;
    }
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

  /** Returns the parts met so far, in order. */
  #allParts(): Parts {
    const elements: PathElement[] = [];
    const nodes: FieldSet[] = [];
    for (let shape: NodeShape = this; shape.#before !== undefined; shape = shape.#before) {
      elements.push(shape.#element);
      nodes.push(shape.#below);
    }
    const tail = this.#tail ?? noParts;
    return { elements: elements.reverse().concat(tail.elements), nodes: nodes.reverse().concat(tail.nodes) };
  }

  static #build(end: NodeShape, owned: boolean): FieldSet {
    const { elements, nodes } = end.#allParts();
    return fieldSetNode(owned, elements, nodes);
  }
}

interface Parts {
  readonly elements: PathElement[];
  readonly nodes: FieldSet[];
}

const noParts: Parts = { elements: [], nodes: [] };

/** The node of a set or a list with keys. */
export function nodeOfItems(owned: boolean, byElement: ReadonlyMap<PathElement, FieldSet>): FieldSet {
  let shape = NodeShape.start;
  for (const [element, node] of byElement) shape = shape.after(element, node);
  return shape.node(owned);
}
