import type { FieldError } from "../../api/field-error.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import { DeclaredRules, type Verdict } from "./declared-rules.ts";

export interface DeclarativeValidationOptions {
  readonly enabled: (gate: string) => boolean;
  /** Whether the declared rules decide where a kind has both. Otherwise they are only compared. */
  readonly takeover: boolean;
  /** Called for each problem that only one of the two found. */
  readonly onMismatch: () => void;
}

/**
 * Runs the rules that types declare. A kind may have rules written by hand for the same fields. Both then run and are
 * compared, and those written by hand count until the declared rules take over.
 */
export class DeclarativeValidation {
  readonly #options: DeclarativeValidationOptions;
  readonly #rules: DeclaredRules;

  constructor(options: DeclarativeValidationOptions) {
    this.#options = options;
    this.#rules = new DeclaredRules(options.enabled);
  }

  /** Returns the problems of an object whose rules are all declared. */
  enforce(schema: StructSchema, object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
    return this.#judge(schema, object, old)?.errors ?? [];
  }

  /**
   * Returns the errors that count.
   * @param written the problems that the rules written by hand found in the same object
   */
  reconcile(
    schema: StructSchema,
    object: KubeObject,
    old: KubeObject | undefined,
    written: readonly FieldError[],
  ): readonly FieldError[] {
    const verdict = this.#judge(schema, object, old);
    if (verdict === undefined) return written;
    const { takeover, onMismatch } = this.#options;
    const declared = new Set(verdict.errors.map(problemOf));
    for (let count = mismatches(verdict, declared, written); count > 0; count--) onMismatch();
    if (!takeover) return written;
    return [...written.filter((error) => !isCovered(error, verdict, declared)), ...verdict.errors];
  }

  #judge(schema: StructSchema, object: KubeObject, old: KubeObject | undefined): Verdict | undefined {
    return this.#rules.judge(schema, object as unknown as JsonObject, old as unknown as JsonObject | undefined);
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
