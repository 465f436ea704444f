import type { JsonValue } from "../../src/api/json.ts";

/** A request that comes before the one that is compared. */
export interface SetupRequest {
  readonly method: string;
  readonly target: string;
  readonly body?: string;
  /** Values of the answer that later requests name as `{{name}}`: name to dotted path. */
  readonly save?: Readonly<Record<string, string>>;
}

/** One request, and what kube-apiserver answered. */
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
  /** Undefined where nobody has to look at it. */
  readonly contentType?: string;
  readonly warnings: readonly string[];
  /** The answer, with placeholders for values that differ from run to run; a string if it is not JSON. */
  readonly answer: JsonValue;
}
