import { collection, document } from "./documents.ts";

/** Different from each other; what comes after them differs from one of them in its name. */
const documents = 20_000;

/** Bodies of new ConfigMaps that cost the driver next to nothing: on a machine of two cores it would be measured as well. */
export class PreparedCreates {
  readonly path = collection;
  readonly #bodies: readonly (readonly [string, string])[];
  #count = 0;

  /** @param ownKeys no two documents have keys of the same names: nothing that a parser learned helps it */
  constructor({ ownKeys = false } = {}) {
    this.#bodies = Array.from({ length: documents }, (_, number) => {
      const { metadata, ...rest } = ownKeys ? document(number, number) : document(number);
      const text = JSON.stringify({ ...rest, metadata: { ...metadata, name: "#" } });
      const at = text.lastIndexOf('"#"') + 1;
      return [text.slice(0, at), text.slice(at + 1)];
    });
  }

  next(): string {
    const number = this.#count++;
    const [before, after] = this.#bodies[number % documents] as readonly [string, string];
    return `${before}created-${number}${after}`;
  }
}
