import { labelKeyErrors, labelValueErrors } from "./label-syntax.ts";
import { status } from "./status.ts";

/** Limits of a selector; larger ones are rejected with 400, because matching costs requirements × objects. */
export const labelRequirementsMax = 1_000;
export const labelSelectorValuesMax = 10_000;

export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted values without duplicates; one for equality and order operators, none for `exists` and `!`. */
  readonly values: readonly string[];
}

/** A conjunction of requirements, sorted by key; without any it selects every object. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
}

export const everyLabel: LabelSelector = { requirements: [] };

/**
 * Parses `a=b,c in (d,e),!f,g>5`, in time linear in its length.
 * @throws StatusError 400 with upstream's text
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === "") return everyLabel;
  return new SelectorParser(text).parse();
}

/** Reports whether an object with these labels is selected. */
export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  for (const requirement of selector.requirements) {
    if (!matchesRequirement(requirement, labels)) return false;
  }
  return true;
}

/** Formats a selector canonically; parsing the text gives an equal selector. */
export function labelSelectorText(selector: LabelSelector): string {
  return selector.requirements.map(requirementText).join(",");
}

/** Returns the value of `key` that the selector requires of every object, if it requires one. */
export function requireLabelValue(selector: LabelSelector, key: string): string | undefined {
  for (const { key: own, operator, values } of selector.requirements) {
    const pins = operator === "=" || operator === "==" || (operator === "in" && values.length === 1);
    if (own === key && pins) return values[0];
  }
  return undefined;
}

function matchesRequirement(
  { key, operator, values }: LabelRequirement,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "=":
    case "==":
      return value === values[0];
    case "in":
      return value !== undefined && hasSorted(values, value);
    case "!=":
      return value !== values[0];
    case "notin":
      return value === undefined || !hasSorted(values, value);
    case "gt":
    case "lt":
      return value !== undefined && matchesOrder(operator, value, values[0] as string);
  }
}

function matchesOrder(operator: "gt" | "lt", value: string, bound: string): boolean {
  const actual = parseInt64(value);
  const wanted = parseInt64(bound);
  if (actual === undefined || wanted === undefined) return false;
  return operator === "gt" ? actual > wanted : actual < wanted;
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,63}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** Searches by bisection; a single value, by far the most common, costs one comparison. */
function hasSorted(values: readonly string[], wanted: string): boolean {
  let low = 0;
  let high = values.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const value = values[middle] as string;
    if (value === wanted) return true;
    if (value < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${values.join(",")})`;
    case "gt":
      return `${key}>${values[0]}`;
    case "lt":
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}

type TokenKind = "word" | "end" | "(" | ")" | "," | "!" | "=" | "==" | "!=" | ">" | "<";
interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const endToken: Token = { kind: "end", text: "" };
const binaryOperators = new Map<string, LabelOperator>([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "="],
  ["==", "=="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);
const binaryOperatorTexts = "in, notin, =, ==, !=, gt, lt";

/**
 * A recursive descent parser with one token of look-ahead. It makes tokens on demand, so that a limit stops the work
 * early.
 */
class SelectorParser {
  readonly #text: string;
  #position = 0;
  #next: Token;
  #valueCount = 0;

  constructor(text: string) {
    this.#text = text;
    this.#next = this.#scan();
  }

  parse(): LabelSelector {
    const requirements: LabelRequirement[] = [];
    if (this.#next.kind !== "end" && !this.#startsRequirement()) {
      throw status.badRequest(`found '${this.#next.text}', expected: !, identifier, or 'end of string'`);
    }
    while (this.#next.kind !== "end") {
      requirements.push(this.#requirement());
      if (requirements.length > labelRequirementsMax) {
        throw unparsable(`too many requirements: must have at most ${labelRequirementsMax}`);
      }
      const separator = this.#take();
      if (separator.kind === "end") break;
      if (separator.kind !== ",") {
        throw status.badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
      }
      if (!this.#startsRequirement()) {
        throw status.badRequest(`found '${this.#next.text}', expected: identifier after ','`);
      }
    }
    requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    return { requirements };
  }

  #startsRequirement(): boolean {
    return this.#next.kind === "word" || this.#next.kind === "!";
  }

  #requirement(): LabelRequirement {
    const negated = this.#next.kind === "!";
    if (negated) this.#take();
    const key = this.#key();
    if (this.#next.kind === "end" || this.#next.kind === ",") {
      return { key, operator: negated ? "!" : "exists", values: [] };
    }
    if (negated) throw status.badRequest(`found '${this.#next.text}', expected: ',' or 'end of string'`);
    const operator = this.#operator();
    const values = operator === "in" || operator === "notin" ? this.#valueSet() : [this.#value()];
    validateValues(key, operator, values);
    return { key, operator, values };
  }

  #key(): string {
    const { kind, text } = this.#take();
    if (kind !== "word") throw unparsable(`found '${text}', expected: identifier`);
    const errors = labelKeyErrors(text);
    if (errors.length > 0) throw unparsable(`<nil>: Invalid value: ${JSON.stringify(text)}: ${errors.join("; ")}`);
    return text;
  }

  #operator(): LabelOperator {
    const { text } = this.#take();
    const operator = binaryOperators.get(text);
    if (operator === undefined) throw unparsable(`found '${text}', expected: ${binaryOperatorTexts}`);
    return operator;
  }

  #value(): string {
    if (this.#next.kind === "end" || this.#next.kind === ",") return "";
    const { kind, text } = this.#take();
    if (kind !== "word") throw unparsable(`found '${text}', expected: identifier`);
    this.#countValue();
    return text;
  }

  /** Parses `(a,b)`; an empty place is the empty value. */
  #valueSet(): string[] {
    const open = this.#take();
    if (open.kind !== "(") throw unparsable(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    for (let isFirst = true; ; isFirst = false) {
      if (this.#next.kind === "word") values.add(this.#take().text);
      else if (this.#next.kind === "," || this.#next.kind === ")") values.add("");
      else throw unparsable(`found '${this.#next.text}', expected: ',', ${isFirst ? "')' or" : "or"} identifier`);
      this.#countValue();
      const separator = this.#take();
      if (separator.kind === ")") return [...values].sort();
      if (separator.kind !== ",") throw unparsable(`found '${separator.text}', expected: ',' or ')'`);
    }
  }

  #countValue(): void {
    this.#valueCount++;
    if (this.#valueCount > labelSelectorValuesMax) {
      throw unparsable(`too many values: must have at most ${labelSelectorValuesMax}`);
    }
  }

  #take(): Token {
    const token = this.#next;
    this.#next = this.#scan();
    return token;
  }

  #scan(): Token {
    while (isWhitespace(this.#text.charCodeAt(this.#position))) this.#position++;
    if (this.#position >= this.#text.length) return endToken;
    const start = this.#position;
    const symbol = symbolAt(this.#text, start);
    if (symbol !== undefined) {
      this.#position += symbol.length;
      return { kind: symbol, text: symbol };
    }
    while (this.#position < this.#text.length && !endsWord(this.#text, this.#position)) this.#position++;
    return { kind: "word", text: this.#text.slice(start, this.#position) };
  }
}

function symbolAt(text: string, at: number): Exclude<TokenKind, "word" | "end"> | undefined {
  const char = text[at];
  switch (char) {
    case "=":
      return text[at + 1] === "=" ? "==" : "=";
    case "!":
      return text[at + 1] === "=" ? "!=" : "!";
    case "(":
    case ")":
    case ",":
    case ">":
    case "<":
      return char;
    default:
      return undefined;
  }
}

function endsWord(text: string, at: number): boolean {
  return isWhitespace(text.charCodeAt(at)) || symbolAt(text, at) !== undefined;
}

/** Reports whether a character is a space, tab, carriage return or line feed. */
function isWhitespace(code: number): boolean {
  return code === 32 || code === 9 || code === 13 || code === 10;
}

function validateValues(key: string, operator: LabelOperator, values: readonly string[]): void {
  const errors: string[] = [];
  values.forEach((value, at) => {
    const quoted = JSON.stringify(value);
    if ((operator === "gt" || operator === "lt") && parseInt64(value) === undefined) {
      errors.push(`values[${at}]: Invalid value: ${quoted}: for 'Gt', 'Lt' operators, the value must be an integer`);
    }
    const problems = labelValueErrors(value);
    if (problems.length > 0) errors.push(`values[${at}][${key}]: Invalid value: ${quoted}: ${problems.join("; ")}`);
  });
  if (errors.length > 0) throw unparsable(errors.length === 1 ? (errors[0] as string) : `[${errors.join(", ")}]`);
}

function unparsable(why: string) {
  return status.badRequest(`unable to parse requirement: ${why}`);
}
