import type { JsonValue } from "../../src/api/json.ts";

/** A request that precedes the compared one. */
export interface SetupRequest {
  readonly method: string;
  readonly target: string;
  readonly body?: string;
  /** Values of the answer that later requests name as `{{name}}`: name to dotted path. */
  readonly save?: Readonly<Record<string, string>>;
}

/** A request, and kube-apiserver's answer. */
export interface FidelityCase {
  readonly area: string;
  readonly title: string;
  readonly setup: readonly SetupRequest[];
  readonly request: {
    readonly method: string;
    readonly target: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly code: number;
  /** Undefined if it does not matter. */
  readonly contentType?: string;
  readonly warnings: readonly string[];
  /** The answer, with placeholders for values that differ between runs; a string if it is not JSON. */
  readonly answer: JsonValue;
}
