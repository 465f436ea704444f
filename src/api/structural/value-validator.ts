import { codePointCount } from "../code-points.ts";
import { type FieldError, fieldError } from "../field-error.ts";
import { quoteText } from "../go-literal.ts";
import { equalJson, type JsonObject, type JsonValue } from "../json.ts";
import { compilePattern, PatternError } from "../re2-pattern.ts";
import { allowedValues } from "./allowed-values.ts";
import { Correlation } from "./correlation.ts";
import { Findings, type FindingsMark, invalidValue, pathBelow } from "./findings.ts";
import { isKnownFormat, textFormat } from "./formats.ts";
import { isInteger, isWholeDouble, numberCheck } from "./number-checks.ts";
import type { OpenApiSchema } from "./open-api-schema.ts";
import { followedBy, type Sequence, type Steps, workThrough } from "./sequence.ts";

/** Limit of the visits of values in one validation. Nested alternatives multiply them. */
const visitsMax = 200_000;
/** Number of characters that cost as much to match as one visit. */
const charactersPerVisit = 32;
/** Visits before others get their turn. Most objects have fewer values. */
const visitsPerStep = 1_000;

/** Checks values against one schema. Parts of the schema are compiled when a value first needs them. */
export interface ValueValidator {
  /**
   * Returns the errors of a value, in upstream's order; at most a hundred. Yields occasionally within a large value.
   * @param correlation for an update: errors of unchanged values are left out
   * @param base path of the value, empty for an object itself
   */
  validate(
    value: JsonValue,
    options?: { readonly correlation?: Correlation; readonly base?: string },
  ): Generator<void, FieldError[]>;
}

export interface ValidatorOptions {
  /** Checks formats and types as declared, as for defaults. */
  readonly asDeclared?: boolean;
}

export function valueValidator(schema: OpenApiSchema, options: ValidatorOptions = {}): ValueValidator {
  const check = compile(schema, options);
  return {
    *validate(value, { correlation, base = "" } = {}) {
      const run = new Run(base);
      try {
        const steps = visitCorrelated(check, value, run, correlation);
        if (steps !== undefined) yield* steps;
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
  #stepEnd = visitsPerStep;

  constructor(base: string) {
    this.#base = base;
  }

  spend(visits: number): void {
    this.#visits += visits;
    if (this.#visits > visitsMax) throw new TooManyVisits();
  }

  /** Reports, once for each step, that others should get their turn. */
  get isDue(): boolean {
    if (this.#visits < this.#stepEnd) return false;
    this.#stepEnd = this.#visits + visitsPerStep;
    return true;
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
}

/** Checks a value. */
type Check = (value: JsonValue, run: Run, correlation: Correlation | undefined) => Steps;
/** Checks one aspect of a value without parts. */
type ScalarCheck = (value: JsonValue, run: Run) => void;

/** Checks a value, and drops its errors if the update has not changed it. */
function visitCorrelated(check: Check, value: JsonValue, run: Run, correlation: Correlation | undefined): Steps {
  if (correlation === undefined) return check(value, run, undefined);
  const mark = run.findings.mark();
  const steps = check(value, run, correlation);
  const forget = () => forgetUnchanged(run, correlation, mark);
  return steps === undefined ? forget() : followedBy(steps, forget);
}

function forgetUnchanged({ findings }: Run, correlation: Correlation, mark: FindingsMark): undefined {
  if (findings.count > mark.count && correlation.isUnchanged()) findings.forget(mark);
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
  const checkEnum = enumCheck(schema);
  const checkItems = itemsCheck(schema, options, checkEnum);
  const checkFields = fieldsCheck(schema, options);
  const checkContent: Check = (value, run, correlation) => {
    const { findings } = run;
    findings.passed++;
    if (typeof value === "string") {
      findings.passed++;
      checkText?.(value, run);
      if (checkFormat !== undefined) {
        findings.passed++;
        checkFormat(value, run);
      }
    } else if (typeof value === "number" || typeof value === "bigint") {
      findings.passed += 2;
      checkNumber?.(value, ({ message, shown }) => {
        if (shown === undefined) run.reportUnplaced(message);
        else run.report(message, (field, text) => invalidValue(field, shown, text));
      });
    } else if (Array.isArray(value)) {
      findings.passed += 2;
      if (checkItems !== undefined) return checkItems(value, run, correlation);
    }
    checkEnum?.(value, run);
    if (typeof value !== "object" || Array.isArray(value)) return undefined;
    findings.passed++;
    return checkFields(value, run, correlation);
  };
  const checkAll: Check = (value, run, correlation) => {
    const steps = checkParts?.(value, run, undefined);
    if (steps === undefined) return checkContent(value, run, correlation);
    return followedBy(steps, () => checkContent(value, run, correlation));
  };
  return (value, run, correlation) => {
    run.spend(1);
    const { findings } = run;
    if (value === null) {
      if (types.length > 0 && schema.nullable !== true) reportType(run, types.join(","), "null");
      else findings.passed++;
      checkEnum?.(value, run);
      return undefined;
    }
    // Two checks apply to every value, and the visit itself counts.
    findings.passed += 3;
    if (checkType !== undefined) {
      findings.passed++;
      checkType(value, run);
    }
    return (checkParts === undefined ? checkContent : checkAll)(value, run, correlation);
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

function typeCheck(types: readonly string[], format: string | undefined): ScalarCheck {
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

function textCheck({ maxLength, minLength, pattern }: OpenApiSchema): ScalarCheck | undefined {
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

function formatCheck(format: string): ScalarCheck | undefined {
  const isValid = textFormat(format);
  if (isValid === undefined) return undefined;
  return (value, run) => {
    const text = value as string;
    run.spend(text.length / charactersPerVisit);
    if (isValid(text)) return;
    reportType(run, format, text);
  };
}

function enumCheck({ enum: values }: OpenApiSchema): ScalarCheck | undefined {
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

/** @param checkEnum follows the checks of the items */
function itemsCheck(
  schema: OpenApiSchema,
  options: ValidatorOptions,
  checkEnum: ScalarCheck | undefined,
): Check | undefined {
  const { items, minItems, maxItems, uniqueItems } = schema;
  if (items === undefined && minItems === undefined && maxItems === undefined && uniqueItems !== true) return undefined;
  let checkItem: Check | undefined;
  const checkWhole = (list: JsonValue[], run: Run): undefined => {
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
    checkEnum?.(list, run);
  };
  return (value, run, correlation) => {
    const list = value as JsonValue[];
    if (items === undefined) return checkWhole(list, run);
    checkItem ??= compile(items, options);
    const check = checkItem;
    const visits: Sequence = {
      count: list.length,
      begin(at) {
        run.enter(`[${at}]`);
        return visitCorrelated(check, list[at] as JsonValue, run, correlation?.item(at));
      },
      end() {
        run.leave();
        return false;
      },
      finish: () => checkWhole(list, run),
    };
    return workThrough(visits, run);
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
  const checkRequired = (object: JsonObject, run: Run): undefined => {
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
    const { isAtRoot } = run;
    const visits: Sequence = {
      count: size,
      begin(at) {
        const name = names[at] as string;
        const declared = checkOf(name);
        if (declared === undefined && values !== undefined) checkValue ??= compile(values, options);
        const check = declared ?? checkValue;
        if (check === undefined && additionalProperties === false) {
          run.report(
            (path) => `${path}.${name} in body is a forbidden property`,
            (field, message) => invalidValue(field, name, message),
          );
        }
        run.enter(isAtRoot && declared !== undefined ? name : `.${name}`);
        if (check === undefined) return undefined;
        const isTypeMeta = isAtRoot && (name === "kind" || name === "apiVersion") && declared !== undefined;
        const below = isTypeMeta ? undefined : correlation?.property(name);
        return visitCorrelated(check, object[name] as JsonValue, run, below);
      },
      end() {
        run.leave();
        return false;
      },
      finish: () => checkRequired(object, run),
    };
    return workThrough(visits, run);
  };
}

/** Compiles `anyOf`, `allOf`, `oneOf` and `not`; undefined if there are none. */
function combinatorCheck(schema: OpenApiSchema, options: ValidatorOptions): Check | undefined {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) return undefined;
  const kinds = [
    [anyOf, checkAnyOf],
    [oneOf, checkOneOf],
    [allOf, checkAllOf],
    [not === undefined ? [] : [not], checkNot],
  ] as const;
  const present = kinds.filter(([parts]) => parts.length > 0);
  let compiled: Check[] | undefined;
  return (value, run) => {
    compiled ??= present.map(([parts, checkParts]): Check => {
      const checks = parts.map((part) => compile(part, options));
      return (one, ofRun) => checkParts(checks, one, ofRun);
    });
    const checks = compiled;
    const [only] = checks;
    if (checks.length === 1 && only !== undefined) return only(value, run, undefined);
    return checkEach(checks, value, run, { judge: () => false, finish: () => undefined });
  };
}

interface EachCheck {
  /** Looks at what a check has found. @returns true to leave out the other checks */
  judge(at: number): boolean;
  finish(): Steps;
}

/** Runs several checks of one value. */
function checkEach(checks: readonly Check[], value: JsonValue, run: Run, { judge, finish }: EachCheck): Steps {
  const begin = (at: number) => (checks[at] as Check)(value, run, undefined);
  return workThrough({ count: checks.length, begin, end: judge, finish }, run);
}

/** Runs several checks of one value, each with findings of its own. */
function checkApart(
  checks: readonly Check[],
  value: JsonValue,
  run: Run,
  { judge, finish }: { readonly judge: (at: number, found: Findings) => boolean; readonly finish: () => Steps },
): Steps {
  const around = run.findings;
  const alternatives: Sequence = {
    count: checks.length,
    begin(at) {
      run.findings = new Findings(true);
      return (checks[at] as Check)(value, run, undefined);
    },
    end(at) {
      const found = run.findings;
      run.findings = around;
      return judge(at, found);
    },
    finish,
  };
  return workThrough(alternatives, run);
}

function checkNot(checks: readonly Check[], value: JsonValue, run: Run): Steps {
  const judge = (_: number, found: Findings) => {
    if (found.count === 0) run.reportUnplaced((path) => `${quoteText(path)} must not validate the schema (not)`);
    return false;
  };
  return checkApart(checks, value, run, { judge, finish: () => undefined });
}

function checkAllOf(checks: readonly Check[], value: JsonValue, run: Run): Steps {
  let failed = 0;
  let { count } = run.findings;
  const judge = () => {
    if (run.findings.count > count) failed++;
    ({ count } = run.findings);
    return false;
  };
  const finish = () => {
    if (failed === 0) return undefined;
    const none = failed === checks.length ? ". None validated" : "";
    run.reportUnplaced((path) => `${quoteText(path)} must validate all the schemas (allOf)${none}`);
    return undefined;
  };
  return checkEach(checks, value, run, { judge, finish });
}

interface Alternative {
  readonly check: Check;
  readonly passed: number;
}

/** Returns the alternative that passes the most checks, the first of equals. */
function better(best: Alternative | undefined, check: Check, { passed }: Findings): Alternative {
  return best === undefined || passed > best.passed ? { check, passed } : best;
}

function checkAnyOf(checks: readonly Check[], value: JsonValue, run: Run): Steps {
  let best: Alternative | undefined;
  let fits = false;
  const judge = (at: number, found: Findings) => {
    fits = found.count === 0;
    if (fits) run.findings.passed += found.passed;
    else best = better(best, checks[at] as Check, found);
    return fits;
  };
  const finish = () => {
    if (fits) return undefined;
    run.reportUnplaced((path) => `${quoteText(path)} must validate at least one schema (anyOf)`);
    return explain(best, value, run);
  };
  return checkApart(checks, value, run, { judge, finish });
}

function checkOneOf(checks: readonly Check[], value: JsonValue, run: Run): Steps {
  let best: Alternative | undefined;
  let fitting = 0;
  let passed = 0;
  const judge = (at: number, found: Findings) => {
    if (found.count > 0) best = better(best, checks[at] as Check, found);
    else if (++fitting === 1) ({ passed } = found);
    return false;
  };
  const finish = () => {
    if (fitting === 1) {
      run.findings.passed += passed;
      return undefined;
    }
    const found = fitting === 0 ? "Found none valid" : `Found ${fitting} valid alternatives`;
    run.reportUnplaced((path) => `${quoteText(path)} must validate one and only one schema (oneOf). ${found}`);
    return fitting === 0 ? explain(best, value, run) : undefined;
  };
  return checkApart(checks, value, run, { judge, finish });
}

/** Reports the errors of the alternative that explains best why none fits. */
function explain(best: Alternative | undefined, value: JsonValue, run: Run): Steps {
  if (best === undefined) return undefined;
  if (!run.findings.isFull) return best.check(value, run, undefined);
  run.findings.passed += best.passed;
  return undefined;
}
