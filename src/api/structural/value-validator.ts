import { codePointCount } from "../code-points.ts";
import { type FieldError, fieldError } from "../field-error.ts";
import { quoteText } from "../go-literal.ts";
import { equalJson, type JsonObject, type JsonValue } from "../json.ts";
import { compilePattern, PatternError } from "../re2-pattern.ts";
import { Correlation } from "./correlation.ts";
import { allowedValues } from "./allowed-values.ts";
import { Findings, invalidValue, pathBelow } from "./findings.ts";
import { isKnownFormat, textFormat } from "./formats.ts";
import { isInteger, isWholeDouble, numberCheck } from "./number-checks.ts";
import type { OpenApiSchema } from "./open-api-schema.ts";

/** Limit of the visits of values in one validation. Nested alternatives multiply them. */
const visitsMax = 200_000;
/** Number of characters that cost as much to match as one visit. */
const charactersPerVisit = 32;

/** Checks values against one schema. Parts of the schema are compiled when a value first needs them. */
export interface ValueValidator {
  /**
   * Returns the errors of a value, in upstream's order; at most a hundred.
   * @param correlation for an update: errors of unchanged values are left out
   * @param base path of the value, empty for an object itself
   */
  validate(value: JsonValue, options?: { readonly correlation?: Correlation; readonly base?: string }): FieldError[];
}

export interface ValidatorOptions {
  /** Checks formats and types as declared, as for defaults. */
  readonly asDeclared?: boolean;
}

export function valueValidator(schema: OpenApiSchema, options: ValidatorOptions = {}): ValueValidator {
  const check = compile(schema, options);
  return {
    validate(value, { correlation, base = "" } = {}) {
      const run = new Run(base);
      try {
        visitCorrelated(check, value, run, correlation);
      } catch (error) {
        if (!(error instanceof TooManyVisits)) throw error;
        return [invalidValue(pathBelow(base, ""), "", error.message)];
      }
      return run.findings.errors;
    },
  };
}

class TooManyVisits extends Error {
  constructor() {
    super("validating the object against the schema takes too long");
    this.name = "TooManyVisits";
  }
}

/** State of one validation. */
class Run {
  findings = new Findings();
  readonly #base: string;
  readonly #path: string[] = [];
  #visits = 0;

  constructor(base: string) {
    this.#base = base;
  }

  spend(visits: number): void {
    this.#visits += visits;
    if (this.#visits > visitsMax) throw new TooManyVisits();
  }

  get isAtRoot(): boolean {
    return this.#path.length === 0;
  }

  enter(place: string): void {
    this.#path.push(place);
  }

  leave(): void {
    this.#path.pop();
  }

  /** Path inside the validated value, as messages show it. */
  get path(): string {
    return this.#path.join("");
  }

  /**
   * Reports an error at the current value.
   * @param messageOf takes the path
   * @param errorOf takes the field and the message
   */
  report(messageOf: (path: string) => string, errorOf: (field: string, message: string) => FieldError): void {
    if (this.findings.isFull) {
      this.findings.count++;
      return;
    }
    const message = messageOf(this.path);
    this.findings.add(message, errorOf(pathBelow(this.#base, this.path), message));
  }

  reportInvalid(value: JsonValue | undefined, detail: string): void {
    this.report(
      (path) => `${path} in body ${detail}`,
      (field, message) => invalidValue(field, value, message),
    );
  }

  /** Reports an error that names its place only in the message. */
  reportUnplaced(messageOf: (path: string) => string): void {
    this.report(messageOf, (_, message) => invalidValue(pathBelow(this.#base, ""), "", message));
  }

  /** Runs a check with findings of its own. */
  apart(check: Check, value: JsonValue, countsOnly: boolean): Findings {
    const around = this.findings;
    this.findings = new Findings(countsOnly);
    try {
      check(value, this, undefined);
      return this.findings;
    } finally {
      this.findings = around;
    }
  }
}

type Check = (value: JsonValue, run: Run, correlation: Correlation | undefined) => void;

/** Checks a value, and drops its errors if the update has not changed it. */
function visitCorrelated(check: Check, value: JsonValue, run: Run, correlation: Correlation | undefined): void {
  if (correlation === undefined) {
    check(value, run, undefined);
    return;
  }
  const mark = run.findings.mark();
  check(value, run, correlation);
  if (run.findings.count > mark.count && correlation.isUnchanged()) run.findings.forget(mark);
}

function compile(schema: OpenApiSchema, options: ValidatorOptions): Check {
  const types = typesOf(schema, options);
  const format = formatOf(schema, options);
  const singleType = types.length === 1 ? types[0] : undefined;
  const checkType = types.length === 0 && format === undefined ? undefined : typeCheck(types, format);
  const checkParts = combinatorCheck(schema, options);
  const checkText = textCheck(schema);
  const checkFormat = format === undefined ? undefined : formatCheck(format);
  const checkNumber = numberCheck({ ...schema, ...(format === undefined ? { format: "" } : {}) }, singleType);
  const checkItems = itemsCheck(schema, options);
  const checkEnum = enumCheck(schema);
  const checkFields = fieldsCheck(schema, options);
  return (value, run, correlation) => {
    run.spend(1);
    const { findings } = run;
    if (value === null) {
      if (types.length > 0 && schema.nullable !== true) reportType(run, types.join(","), "null");
      else findings.passed++;
      checkEnum?.(value, run, correlation);
      return;
    }
    // Two checks apply to every value, and the visit itself counts.
    findings.passed += 3;
    if (checkType !== undefined) {
      findings.passed++;
      checkType(value, run, correlation);
    }
    checkParts?.(value, run, correlation);
    findings.passed++;
    if (typeof value === "string") {
      findings.passed++;
      checkText?.(value, run, correlation);
      if (checkFormat !== undefined) {
        findings.passed++;
        checkFormat(value, run, correlation);
      }
    } else if (typeof value === "number" || typeof value === "bigint") {
      findings.passed += 2;
      checkNumber?.(value, ({ message, shown }) => {
        if (shown === undefined) run.reportUnplaced(message);
        else run.report(message, (field, text) => invalidValue(field, shown, text));
      });
    } else if (Array.isArray(value)) {
      findings.passed += 2;
      checkItems?.(value, run, correlation);
    }
    checkEnum?.(value, run, correlation);
    if (typeof value === "object" && !Array.isArray(value)) {
      findings.passed++;
      checkFields(value, run, correlation);
    }
  };
}

function typesOf(schema: OpenApiSchema, { asDeclared }: ValidatorOptions): readonly string[] {
  if (schema["x-kubernetes-int-or-string"] === true && asDeclared !== true) return ["integer", "string"];
  return schema.type === undefined ? [] : [schema.type];
}

function formatOf(schema: OpenApiSchema, options: ValidatorOptions): string | undefined {
  const { format } = schema;
  if (format === undefined || options.asDeclared === true) return format;
  const types = typesOf(schema, options);
  return isKnownFormat(format, types.length === 1 ? types[0] : undefined) ? format : undefined;
}

/** Returns the type of a value and the format that it implies. */
function typeOfValue(value: JsonValue): readonly [type: string, format: string] {
  if (Array.isArray(value)) return ["array", ""];
  switch (typeof value) {
    case "string":
      return ["string", ""];
    case "boolean":
      return ["boolean", ""];
    case "object":
      return ["object", ""];
    default:
      return isInteger(value) ? ["integer", "int64"] : ["number", "float64"];
  }
}

function typeCheck(types: readonly string[], format: string | undefined): Check {
  const wantsNumber = types.includes("number") || types.includes("integer");
  const expected = types.join(",");
  return (value, run) => {
    const [type, valueFormat] = typeOfValue(value);
    const isIncluded = types.includes(type);
    const isWhole = type === "number" && types.includes("integer") && isWholeDouble(Number(value));
    const isFitting = isIncluded || isWhole || (type === "integer" && types.includes("number"));
    const isTextOrList = type === "string" || type === "array";
    if (format !== undefined && !isTextOrList && !isFitting && valueFormat !== format) {
      reportType(run, format, valueFormat);
    } else if (format !== undefined && isTextOrList && !wantsNumber) {
      run.findings.passed++;
    } else if (!isFitting) {
      reportType(run, expected, type);
    } else {
      run.findings.passed++;
    }
  };
}

function reportType(run: Run, expected: string, found: string): void {
  run.report(
    (path) => `${path} in body must be of type ${expected}: ${quoteText(found)}`,
    (field, message) => fieldError.typeInvalid(field, found, message),
  );
}

function textCheck({ maxLength, minLength, pattern }: OpenApiSchema): Check | undefined {
  if (maxLength === undefined && minLength === undefined && pattern === undefined) return undefined;
  const matches = pattern === undefined ? undefined : patternCheck(pattern);
  return (value, run) => {
    const text = value as string;
    const length = maxLength === undefined && minLength === undefined ? 0 : codePointCount(text);
    if (maxLength !== undefined && length > maxLength) {
      run.report(
        (path) => `${path} in body should be at most ${maxLength} chars long`,
        (field) => fieldError.tooLong(field, maxLength),
      );
    } else if (minLength !== undefined && length < minLength) {
      run.reportInvalid(text, `should be at least ${minLength} chars long`);
    } else if (matches !== undefined) {
      run.spend(text.length / charactersPerVisit);
      const problem = matches(text);
      if (problem !== undefined) run.reportInvalid(text, `should match '${problem}'`);
    }
  };
}

/** Returns a function that returns undefined for a matching text, or else the pattern as messages show it. */
function patternCheck(pattern: string): (text: string) => string | undefined {
  try {
    const compiled = compilePattern(pattern);
    return (text) => (compiled.test(text) ? undefined : pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const { message } = error;
    return () => `${pattern}, but pattern is invalid: ${message}`;
  }
}

function formatCheck(format: string): Check | undefined {
  const isValid = textFormat(format);
  if (isValid === undefined) return undefined;
  return (value, run) => {
    const text = value as string;
    run.spend(text.length / charactersPerVisit);
    if (isValid(text)) return;
    reportType(run, format, text);
  };
}

function enumCheck({ enum: values }: OpenApiSchema): Check | undefined {
  if (values === undefined || values.length === 0) return undefined;
  const allowed = allowedValues(values);
  return (value, run) => {
    if (allowed.has(value)) return;
    run.report(
      (path) => `${path} in body should be one of`,
      (field) => allowed.refuse(field, value),
    );
  };
}

function itemsCheck(schema: OpenApiSchema, options: ValidatorOptions): Check | undefined {
  const { items, minItems, maxItems, uniqueItems } = schema;
  if (items === undefined && minItems === undefined && maxItems === undefined && uniqueItems !== true) return undefined;
  let checkItem: Check | undefined;
  return (value, run, correlation) => {
    const list = value as readonly JsonValue[];
    if (items !== undefined) {
      checkItem ??= compile(items, options);
      for (let at = 0; at < list.length; at++) {
        run.enter(`[${at}]`);
        visitCorrelated(checkItem, list[at] as JsonValue, run, correlation?.item(at));
        run.leave();
      }
    }
    const size = list.length;
    if (minItems !== undefined && size < minItems) {
      run.reportInvalid(size, `should have at least ${minItems} items`);
    }
    if (maxItems !== undefined && size > maxItems) {
      run.report(
        (path) => `${path} in body should have at most ${maxItems} items`,
        (field) => fieldError.tooMany(field, size, maxItems),
      );
    }
    if (uniqueItems === true && hasDuplicates(list, run)) run.reportInvalid(undefined, "shouldn't contain duplicates");
  };
}

function hasDuplicates(list: readonly JsonValue[], run: Run): boolean {
  const seen: JsonValue[] = [];
  for (const item of list) {
    run.spend(seen.length);
    if (seen.some((known) => equalJson(known, item))) return true;
    seen.push(item);
  }
  return false;
}

function fieldsCheck(schema: OpenApiSchema, options: ValidatorOptions): Check {
  const { properties, additionalProperties, required = [], minProperties, maxProperties } = schema;
  const checks = new Map<string, Check>();
  const checkOf = (name: string): Check | undefined => {
    const known = checks.get(name);
    if (known !== undefined) return known;
    const property = properties?.[name];
    if (property === undefined) return undefined;
    const check = compile(property, options);
    checks.set(name, check);
    return check;
  };
  const values = typeof additionalProperties === "object" ? additionalProperties : undefined;
  let checkValue: Check | undefined;
  return (value, run, correlation) => {
    const object = value as JsonObject;
    const names = Object.keys(object);
    const size = names.length;
    if (minProperties !== undefined && size < minProperties) {
      run.reportInvalid(size, `should have at least ${minProperties} properties`);
    }
    if (maxProperties !== undefined && size > maxProperties) {
      run.report(
        (path) => `${path} in body should have at most ${maxProperties} properties`,
        (field) => fieldError.tooMany(field, size, maxProperties),
      );
    }
    for (const name of names) {
      const check = checkOf(name);
      const { isAtRoot } = run;
      if (check !== undefined) {
        run.enter(isAtRoot ? name : `.${name}`);
        const isTypeMeta = isAtRoot && (name === "kind" || name === "apiVersion");
        visitCorrelated(check, object[name] as JsonValue, run, isTypeMeta ? undefined : correlation?.property(name));
        run.leave();
      } else if (values !== undefined) {
        checkValue ??= compile(values, options);
        run.enter(`.${name}`);
        visitCorrelated(checkValue, object[name] as JsonValue, run, correlation?.property(name));
        run.leave();
      } else if (additionalProperties === false) {
        run.report(
          (path) => `${path}.${name} in body is a forbidden property`,
          (field, message) => invalidValue(field, name, message),
        );
      }
    }
    for (const name of required) {
      if (Object.hasOwn(object, name)) continue;
      run.enter(`.${name}`);
      run.report(
        (path) => `${path} in body is required`,
        (field) => fieldError.required(field),
      );
      run.leave();
    }
  };
}

type Parts = Readonly<Record<"anyOf" | "oneOf" | "allOf", readonly Check[]>> & { readonly not: Check | undefined };

/** Compiles `anyOf` and its like; undefined if there are none. */
function combinatorCheck(schema: OpenApiSchema, options: ValidatorOptions): Check | undefined {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) return undefined;
  const all = (parts: readonly OpenApiSchema[]) => parts.map((part) => compile(part, options));
  let parts: Parts | undefined;
  return (value, run) => {
    parts ??= { anyOf: all(anyOf), oneOf: all(oneOf), allOf: all(allOf), not: not && compile(not, options) };
    if (parts.anyOf.length > 0) checkAnyOf(parts.anyOf, value, run);
    if (parts.oneOf.length > 0) checkOneOf(parts.oneOf, value, run);
    if (parts.allOf.length > 0) checkAllOf(parts.allOf, value, run);
    if (parts.not !== undefined && run.apart(parts.not, value, true).count === 0) {
      run.reportUnplaced((path) => `${quoteText(path)} must not validate the schema (not)`);
    }
  };
}

function checkAllOf(checks: readonly Check[], value: JsonValue, run: Run): void {
  let failed = 0;
  for (const check of checks) {
    const { count } = run.findings;
    check(value, run, undefined);
    if (run.findings.count > count) failed++;
  }
  if (failed === 0) return;
  const none = failed === checks.length ? ". None validated" : "";
  run.reportUnplaced((path) => `${quoteText(path)} must validate all the schemas (allOf)${none}`);
}

interface Alternative {
  readonly check: Check;
  readonly passed: number;
}

/** Returns the alternative that passes the most checks, the first of equals. */
function better(best: Alternative | undefined, check: Check, { passed }: Findings): Alternative {
  return best === undefined || passed > best.passed ? { check, passed } : best;
}

function checkAnyOf(checks: readonly Check[], value: JsonValue, run: Run): void {
  let best: Alternative | undefined;
  for (const check of checks) {
    const result = run.apart(check, value, true);
    if (result.count === 0) {
      run.findings.passed += result.passed;
      return;
    }
    best = better(best, check, result);
  }
  run.reportUnplaced((path) => `${quoteText(path)} must validate at least one schema (anyOf)`);
  explain(best, value, run);
}

function checkOneOf(checks: readonly Check[], value: JsonValue, run: Run): void {
  let best: Alternative | undefined;
  let fitting = 0;
  let passed = 0;
  for (const check of checks) {
    const result = run.apart(check, value, true);
    if (result.count > 0) best = better(best, check, result);
    else if (++fitting === 1) passed = result.passed;
  }
  if (fitting === 1) {
    run.findings.passed += passed;
    return;
  }
  const found = fitting === 0 ? "Found none valid" : `Found ${fitting} valid alternatives`;
  run.reportUnplaced((path) => `${quoteText(path)} must validate one and only one schema (oneOf). ${found}`);
  if (fitting === 0) explain(best, value, run);
}

/** Reports the errors of the alternative that explains best why none fits. */
function explain(best: Alternative | undefined, value: JsonValue, run: Run): void {
  if (best === undefined) return;
  if (run.findings.isFull) run.findings.passed += best.passed;
  else best.check(value, run, undefined);
}
