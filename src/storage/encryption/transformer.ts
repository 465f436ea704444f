import type { Key } from "../../api/entry.ts";

/** The place of a value. */
export interface ValueContext {
  /** Storage key. Ciphers that can do so authenticate it, so that a value is valid in its own place only. */
  readonly key: Key;
  /** Resource for metrics, such as `secrets` or `widgets.example.com`. */
  readonly resource: string;
}

export interface OpenedValue {
  readonly plain: Uint8Array;
  /** Whether a write would now use another provider or key. */
  readonly isStale: boolean;
}

/** Turns values into the form in which they are stored, and back. */
export interface Transformer {
  /** @throws Error with the reason */
  toStorage(plain: Uint8Array, context: ValueContext): Uint8Array;
  /** @throws Error with upstream's reason */
  fromStorage(stored: Uint8Array, context: ValueContext): OpenedValue;
  /**
   * Asks for what is needed to read a value. Returns a promise that resolves when `fromStorage` can answer, the same one
   * for values that wait for the same; undefined if it can answer now.
   */
  prepare?(stored: Uint8Array): Promise<void> | undefined;
}
