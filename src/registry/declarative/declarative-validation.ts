import type { FieldError } from "../../api/field-error.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import { DeclaredRules, type Verdict } from "./declared-rules.ts";

export interface DeclarativeValidationOptions {
  readonly enabled: (gate: string) => boolean;
  /** The declared rules decide, where there are any; else they are only compared. */
  readonly takeover: boolean;
  /** Hears of each problem that only one of the two found. */
  readonly onMismatch: () => void;
}

/**
 * Runs the rules that types declare beside those that are written by hand, and compares them. What is written by hand
 * counts, until the declared rules take over.
 */
export class DeclarativeValidation {
  readonly #options: DeclarativeValidationOptions;
  readonly #rules: DeclaredRules;

  constructor(options: DeclarativeValidationOptions) {
    this.#options = options;
    this.#rules = new DeclaredRules(options.enabled);
  }

  /**
   * The errors that count.
   * @param written what the rules written by hand say about the same object
   */
  reconcile(
    schema: StructSchema,
    object: KubeObject,
    old: KubeObject | undefined,
    written: readonly FieldError[],
  ): readonly FieldError[] {
    const verdict = this.#rules.judge(
      schema,
      object as unknown as JsonObject,
      old as unknown as JsonObject | undefined,
    );
    if (verdict === undefined) return written;
    const { takeover, onMismatch } = this.#options;
    const declared = new Set(verdict.errors.map(problemOf));
    for (let count = mismatches(verdict, declared, written); count > 0; count--) onMismatch();
    if (!takeover) return written;
    return [...written.filter((error) => !isCovered(error, verdict, declared)), ...verdict.errors];
  }
}

/** @param declared the problems of the verdict */
function mismatches(verdict: Verdict, declared: ReadonlySet<string>, written: readonly FieldError[]): number {
  const known = new Set(written.map(problemOf));
  const onlyDeclared = verdict.errors.filter((error) => !known.has(problemOf(error)));
  const onlyWritten = written.filter((error) => isCovered(error, verdict, declared) && !declared.has(problemOf(error)));
  return onlyDeclared.length + onlyWritten.length;
}

/** Equal for the same problem. Texts may differ: clients are told the same in other words. */
function problemOf({ reason, field }: FieldError): string {
  return `${reason} ${field}`;
}

/**
 * Whether the declared rules say all there is to say about this. An invalid value may break rules that are not declared,
 * so there only the very same problem counts.
 */
function isCovered(error: FieldError, { checked }: Verdict, declared: ReadonlySet<string>): boolean {
  return (error.reason === "FieldValueInvalid" ? declared : checked).has(problemOf(error));
}
