import { type FieldError, fieldError } from "../field-error.ts";
import { type JsonValue, sortedJson } from "../json.ts";
import { fieldErrorsMax } from "../validation/labels.ts";

/** Limit of the bytes of all messages of one validation: one message may list ten thousand allowed values. */
const messageLengthMax = 256 * 1024;

/** The path of an object itself, as upstream writes it. */
export const rootPath = "<nil>";

/** An error of a value, and a text that identifies it when it is found again. */
interface Finding {
  readonly text: string;
  readonly error: FieldError;
}

/**
 * Errors of one value, in the order in which they were found, without repetitions. `passed` counts the checks that
 * passed: of several alternatives, the one with the most explains best why none fits.
 */
export class Findings {
  readonly #found: Finding[] = [];
  readonly #countsOnly: boolean;
  #length = 0;
  /** Number of errors found, including those that are not kept. */
  count = 0;
  passed = 0;

  /** @param countsOnly keeps no errors, which are expensive to write */
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

  /** Returns a mark for `forget`. */
  mark(): FindingsMark {
    return { kept: this.#found.length, count: this.count };
  }

  /** Forgets the errors found since a mark. */
  forget({ kept, count }: FindingsMark): void {
    this.#found.length = kept;
    this.count = count;
  }
}

/** A place among the findings. */
export interface FindingsMark {
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
