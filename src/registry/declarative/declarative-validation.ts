import type { FieldError } from "../../api/field-error.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import { DeclaredRules, type Verdict } from "./declared-rules.ts";

export interface DeclarativeValidationOptions {
  readonly enabled: (gate: string) => boolean;
  /** Whether the declared rules decide where a kind also has hand-written ones. Otherwise they are only compared. */
  readonly takeover: boolean;
  /** Called for each problem that only one of the two reports. */
  readonly onMismatch: () => void;
}

/**
 * Runs the rules that types declare. Where a kind also has hand-written rules for the same fields, both run and are
 * compared. The hand-written ones decide until the declared ones take over.
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
   * Returns the errors to report.
   * @param written problems of the same object by the hand-written rules
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

/**
 * Returns the problems that only one side reports.
 * @param declared the problems of the verdict
 */
function mismatches(verdict: Verdict, declared: ReadonlySet<string>, written: readonly FieldError[]): number {
  const known = new Set(written.map(problemOf));
  const onlyDeclared = verdict.errors.filter((error) => !known.has(problemOf(error)));
  const onlyWritten = written.filter((error) => isCovered(error, verdict, declared) && !declared.has(problemOf(error)));
  return onlyDeclared.length + onlyWritten.length;
}

/** Returns a text that is equal for the same problem. Messages may differ in wording. */
function problemOf({ reason, field }: FieldError): string {
  return `${reason} ${field}`;
}

/**
 * Reports whether the declared rules cover a problem completely. An invalid value may break undeclared rules, so there
 * only the identical problem counts.
 */
function isCovered(error: FieldError, { checked }: Verdict, declared: ReadonlySet<string>): boolean {
  return (error.reason === "FieldValueInvalid" ? declared : checked).has(problemOf(error));
}
