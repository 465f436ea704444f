import type { OpenedValue, Transformer, ValueContext } from "./transformer.ts";

export interface Transformation {
  readonly resource: string;
  readonly direction: "from_storage" | "to_storage";
  /** Prefix that selected the transformer, `identity` for the empty one and `unknown` for none. */
  readonly prefix: string;
  readonly seconds: number;
  readonly error: Error | undefined;
}

/** Receives the outcome of every attempt to transform a value. */
export type TransformationObserver = (transformation: Transformation) => void;

export interface PrefixedTransformer {
  /** Start of the stored values. Empty for values without a prefix, which `transformer` must recognise itself. */
  readonly prefix: string;
  readonly transformer: Transformer;
}

/**
 * Several transformers, told apart by the prefixes of their values. The first one writes. Values of the others are
 * stale. Two may have the same prefix: their names of keys can collide during a rotation.
 */
export class PrefixTransformer implements Transformer {
  readonly #choices: readonly (PrefixedTransformer & { readonly bytes: Uint8Array })[];
  readonly #noMatch: string;
  readonly #observe: TransformationObserver;

  /** @param noMatch the error for a value with another prefix */
  constructor(choices: readonly PrefixedTransformer[], noMatch: string, observe: TransformationObserver) {
    this.#choices = choices.map((choice) => ({ ...choice, bytes: Buffer.from(choice.prefix) }));
    this.#noMatch = noMatch;
    this.#observe = observe;
  }

  toStorage(plain: Uint8Array, context: ValueContext): Uint8Array {
    const [first] = this.#choices;
    if (first === undefined) throw new Error(this.#noMatch);
    const startedMs = performance.now();
    const stored = this.#observed("to_storage", first.prefix, startedMs, context, () =>
      first.transformer.toStorage(plain, context),
    );
    return first.prefix === "" ? stored : Buffer.concat([first.bytes, stored]);
  }

  fromStorage(stored: Uint8Array, context: ValueContext): OpenedValue {
    const startedMs = performance.now();
    const failures = new Map<string, Error>();
    for (const [at, { bytes, prefix, transformer }] of this.#choices.entries()) {
      if (!startsWith(stored, bytes)) continue;
      try {
        const open = () => transformer.fromStorage(stored.subarray(bytes.length), context);
        // Identity refuses encrypted values, which another transformer may open.
        const { plain, isStale } =
          prefix === "" ? open() : this.#observed("from_storage", prefix, startedMs, context, open);
        if (prefix === "") this.#report("from_storage", "identity", startedMs, context, undefined);
        return { plain, isStale: isStale || at > 0 };
      } catch (error) {
        if (prefix !== "") failures.set((error as Error).message, error as Error);
      }
    }
    const [failure] = failures.values();
    if (failure !== undefined) throw failures.size === 1 ? failure : new Error(`[${[...failures.keys()].join(", ")}]`);
    const error = new Error(this.#noMatch);
    this.#report("from_storage", "unknown", startedMs, context, error);
    throw error;
  }

  prepare(stored: Uint8Array): Promise<void> | undefined {
    for (const { bytes, transformer } of this.#choices) {
      if (transformer.prepare === undefined || !startsWith(stored, bytes)) continue;
      const prepared = transformer.prepare(stored.subarray(bytes.length));
      if (prepared !== undefined) return prepared;
    }
    return undefined;
  }

  #observed<T>(
    direction: Transformation["direction"],
    prefix: string,
    startedMs: number,
    context: ValueContext,
    run: () => T,
  ): T {
    try {
      const result = run();
      this.#report(direction, prefix, startedMs, context, undefined);
      return result;
    } catch (error) {
      this.#report(direction, prefix, startedMs, context, error as Error);
      throw error;
    }
  }

  #report(
    direction: Transformation["direction"],
    prefix: string,
    startedMs: number,
    { resource }: ValueContext,
    error: Error | undefined,
  ): void {
    this.#observe({ resource, direction, prefix, seconds: (performance.now() - startedMs) / 1_000, error });
  }
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  if (bytes.length < start.length) return false;
  for (let at = 0; at < start.length; at++) if (bytes[at] !== start[at]) return false;
  return true;
}
