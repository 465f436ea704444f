import { type FieldError, fieldError } from "../field-error.ts";
import { type JsonValue, sortedJson } from "../json.ts";
import { fieldErrorsMax } from "../validation/labels.ts";

/** Bytes of all messages of one validation: a message may list ten thousand allowed values. */
const messageLengthMax = 1024 * 1024;

/** The path of an object itself, as upstream writes it. */
export const rootPath = "<nil>";

/** An error of a value, and the text by which the same error is known when it is found twice. */
interface Finding {
  readonly text: string;
  readonly error: FieldError;
}

/**
 * The errors of one value, in the order in which they were found and each once. Of several alternatives, the one with the
 * most passed checks explains best why none of them fits; `passed` counts them.
 */
export class Findings {
  readonly #found: Finding[] = [];
  readonly #countsOnly: boolean;
  #length = 0;
  /** Errors found, also those that are not kept. */
  count = 0;
  passed = 0;

  /** @param countsOnly keeps no errors, which are costly to write */
  constructor(countsOnly = false) {
    this.#countsOnly = countsOnly;
  }

  get errors(): FieldError[] {
    return this.#found.map(({ error }) => error);
  }

  /** Reports whether no more errors are kept. */
  get isFull(): boolean {
    return this.#countsOnly || this.#found.length >= fieldErrorsMax || this.#length > messageLengthMax;
  }

  /** @param text identifies the error, path included */
  add(text: string, error: FieldError): void {
    this.count++;
    if (this.isFull || this.#found.some((known) => known.text === text)) return;
    this.#length += text.length + error.message.length;
    this.#found.push({ text, error });
  }

  /** Returns a mark to return to. */
  mark(): FindingsMark {
    return { kept: this.#found.length, count: this.count };
  }

  /** Forgets the errors found since a mark. */
  forget({ kept, count }: FindingsMark): void {
    this.#found.length = kept;
    this.count = count;
  }
}

interface FindingsMark {
  readonly kept: number;
  readonly count: number;
}

/** Returns the path of a place below another one. */
export function pathBelow(path: string, place: string): string {
  const name = place.startsWith(".") ? place.slice(1) : place;
  if (name === "") return path === "" ? rootPath : path;
  return path === "" ? name : `${path}.${name}`;
}

/** Writes an error that quotes a value; without a value it quotes an empty text. */
export function invalidValue(field: string, value: JsonValue | undefined, message: string): FieldError {
  return fieldError.invalid(field, sortedJson(value ?? ""), message);
}
