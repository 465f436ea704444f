import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonValue } from "../json.ts";
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
  #length = 0;
  /** Errors found, also those beyond what is kept. */
  count = 0;
  passed = 0;

  get errors(): FieldError[] {
    return this.#found.map(({ error }) => error);
  }

  /** @param text identifies the error, path included */
  add(text: string, error: FieldError): void {
    this.count++;
    if (this.#found.length >= fieldErrorsMax || this.#length > messageLengthMax) return;
    if (this.#found.some((known) => known.text === text)) return;
    this.#length += text.length + error.message.length;
    this.#found.push({ text, error });
  }

  /** Adds the errors and the passed checks of an alternative. */
  merge(other: Findings): void {
    for (const { text, error } of other.#found) this.add(text, error);
    this.passed += other.passed;
  }

  /** A mark to return to. */
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
  return fieldError.invalid(field, value ?? "", message);
}
