import { toBytes } from "../../api/codec/byte-text.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import type { DocumentPart, PartsWriter } from "./document-part.ts";

/** Length of text that is collected before it is converted to bytes. */
const chunkCharacters = 64 * 1024;

/** Writes a document as JSON. */
export class JsonPartsWriter implements PartsWriter {
  readonly #chunks: Uint8Array[] = [];
  #text = "{";
  /** Keys of the open objects, from the outermost in. */
  #open: readonly string[] = [];
  #needsComma = false;

  add({ path, value }: DocumentPart): void {
    const parents = path.slice(0, -1);
    const kept = commonLength(this.#open, parents);
    this.#close(this.#open.length - kept);
    for (const key of parents.slice(kept)) {
      this.#key(key);
      this.#text += "{";
      this.#needsComma = false;
    }
    this.#open = parents;
    this.#key(path.at(-1) ?? "");
    this.#text += stringifyJson(value);
    this.#needsComma = true;
    if (this.#text.length >= chunkCharacters) this.#flush();
  }

  finish(): Uint8Array {
    this.#close(this.#open.length);
    this.#text += "}";
    this.#flush();
    return Buffer.concat(this.#chunks);
  }

  #key(key: string): void {
    this.#text += `${this.#needsComma ? "," : ""}${JSON.stringify(key)}:`;
  }

  #close(count: number): void {
    if (count > 0) this.#needsComma = true;
    this.#text += "}".repeat(count);
  }

  #flush(): void {
    this.#chunks.push(toBytes(this.#text));
    this.#text = "";
  }
}

function commonLength(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}
