import type { JsonValue } from "../api/json.ts";
import { keyElement, type PathElement } from "./path-element.ts";

/** Places that are remembered before all of them are forgotten. */
const placesMax = 8_192;
/** Characters of a value beyond which its place is not remembered. */
const valueLengthMax = 256;

/**
 * A place in the walk over the key fields of a list item. Items with the same keys walk the same places, so the text of
 * their element is made once.
 *     start ─port=80→ place ─protocol=TCP→ place, whose element is k:{"port":80,"protocol":"TCP"}
 */
export class KeyPlace {
  static #start = new KeyPlace([], []);
  static #count = 0;
  readonly #names: readonly string[];
  readonly #values: readonly JsonValue[];
  readonly #next = new Map<string, Map<string | number, KeyPlace>>();
  /** The last name that was asked for, and its values: most places are followed by one name. */
  #lastName: string | undefined;
  #lastValues: Map<string | number, KeyPlace> | undefined;
  #element: PathElement | undefined;

  private constructor(names: readonly string[], values: readonly JsonValue[]) {
    this.#names = names;
    this.#values = values;
  }

  /** The start of every walk. */
  static get start(): KeyPlace {
    if (KeyPlace.#count >= placesMax) {
      KeyPlace.#count = 0;
      KeyPlace.#start = new KeyPlace([], []);
    }
    return KeyPlace.#start;
  }

  get isStart(): boolean {
    return this.#names.length === 0;
  }

  /** The element of an item with the keys met so far. */
  get element(): PathElement {
    this.#element ??= keyElement(this.#names, this.#values);
    return this.#element;
  }

  /** Returns the place after one more key. Keys come in byte order. */
  after(name: string, value: JsonValue): KeyPlace {
    const values = name === this.#lastName ? this.#lastValues : this.#next.get(name);
    if (values !== undefined) {
      this.#lastName = name;
      this.#lastValues = values;
    }
    return values?.get(value as string | number) ?? this.#add(name, value, values);
  }

  #add(name: string, value: JsonValue, values: Map<string | number, KeyPlace> | undefined): KeyPlace {
    const place = new KeyPlace([...this.#names, name], [...this.#values, value]);
    if (!isRemembered(value)) return place;
    KeyPlace.#count++;
    if (values === undefined) this.#next.set(name, new Map([[value, place]]));
    else values.set(value, place);
    return place;
  }
}

function isRemembered(value: JsonValue): value is string | number {
  return typeof value === "number" || (typeof value === "string" && value.length <= valueLengthMax);
}
