import { collection, document } from "./documents.ts";

/** Number of distinct documents. Later ones differ from one of them only in their name. */
const documents = 20_000;

/**
 * Bodies of new ConfigMaps that cost the driver almost nothing, because on a machine with two cores its cost would be
 * measured too.
 */
export class PreparedCreates {
  readonly path = collection;
  readonly #bodies: readonly (readonly [string, string])[];
  #count = 0;

  /** @param ownKeys whether each document has its own key names, so that parsers cannot reuse shapes */
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
