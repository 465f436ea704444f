import { Uint } from "../values/value.ts";
import { type Expr, type MapEntry, operators, type StructField } from "./ast.ts";
import { lexicalErrorsMax, type Token, type TokenKind, tokenize } from "./lexer.ts";
import { LiteralError, readBytes, readDouble, readInt, readString, readUint } from "./literals.ts";
import { ComplexityError, MacroFactory, type MacroTable, macroFor } from "./macros.ts";
import { IssueList, noOffset, Source } from "./source.ts";
import { reportSyntaxErrors } from "./syntax-errors.ts";

/** Expressions nested deeper are refused; the same limit holds for each rule of the grammar. */
const nestingMax = 250;
/** Longer expressions are refused, in code points. */
const expressionLengthMax = 100_000;

const reservedIdentifiers: ReadonlySet<string> = new Set(
  (
    "as break const continue else false for function if import in let loop package namespace null return true var void " +
    "while"
  ).split(" "),
);

const relationOperators: ReadonlyMap<TokenKind, string> = new Map([
  ["<", operators.less],
  ["<=", operators.lessEquals],
  [">", operators.greater],
  [">=", operators.greaterEquals],
  ["==", operators.equals],
  ["!=", operators.notEquals],
  ["in", operators.in],
]);
const calcOperators: ReadonlyMap<TokenKind, { readonly name: string; readonly precedence: number }> = new Map([
  ["*", { name: operators.multiply, precedence: 2 }],
  ["/", { name: operators.divide, precedence: 2 }],
  ["%", { name: operators.modulo, precedence: 2 }],
  ["+", { name: operators.add, precedence: 1 }],
  ["-", { name: operators.subtract, precedence: 1 }],
]);

export interface ParseOptions {
  readonly macros: MacroTable;
  /** `a.?b`, `a[?0]`, `[?a]` and `{?k: v}`. */
  readonly optionalSyntax: boolean;
}

export interface Parsed {
  readonly expr: Expr;
  readonly issues: IssueList;
}

/** Parses an expression. The tree is complete only if there are no issues. */
export function parse(text: string, options: ParseOptions): Parsed {
  const issues = new IssueList(new Source(text));
  const broken: Expr = { kind: "broken", id: 1, offset: noOffset };
  const length = text.length <= expressionLengthMax ? 0 : [...text].length;
  if (length > expressionLengthMax) {
    issues.report(noOffset, `expression code point size exceeds limit: size: ${length}, limit ${expressionLengthMax}`);
    return { expr: broken, issues };
  }
  const { tokens, errors } = tokenize(text);
  for (const error of errors.slice(0, lexicalErrorsMax)) {
    issues.report(error.offset, `Syntax error: token recognition error at: '${error.text}'`);
  }
  const tooMany = errors[lexicalErrorsMax];
  if (tooMany !== undefined) {
    issues.report(tooMany.offset, `Syntax error: More than ${lexicalErrorsMax} syntax errors`);
    return { expr: broken, issues };
  }
  try {
    return { expr: new Parser(tokens, options, issues).parseAll(), issues };
  } catch (error) {
    if (error instanceof NestingError || error instanceof ComplexityError) issues.report(noOffset, error.message);
    else if (error instanceof UnexpectedToken) reportSyntaxErrors(tokens, errors, issues);
    else throw error;
    return { expr: broken, issues };
  }
}

class UnexpectedToken extends Error {}

class NestingError extends Error {}

/** An expression and how deep the constructs that count are nested in it. */
interface Nested {
  readonly expr: Expr;
  readonly height: number;
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #options: ParseOptions;
  readonly #issues: IssueList;
  readonly #factory: MacroFactory;
  readonly #depths = { expr: 0, relation: 0, calc: 0 };
  #at = 0;

  constructor(tokens: readonly Token[], options: ParseOptions, issues: IssueList) {
    this.#tokens = tokens;
    this.#options = options;
    this.#issues = issues;
    this.#factory = new MacroFactory();
  }

  parseAll(): Expr {
    const { expr, height } = this.#expr();
    this.#expect("end");
    if (height > nestingMax) throw new NestingError("max recursion depth exceeded");
    return expr;
  }

  get #next(): Token {
    const token = this.#tokens[this.#at] ?? this.#tokens.at(-1);
    if (token === undefined) throw new UnexpectedToken();
    return token;
  }

  #isNext(...kinds: readonly TokenKind[]): boolean {
    return kinds.includes(this.#next.kind);
  }

  #kindAfter(distance: number): TokenKind {
    return this.#tokens[this.#at + distance]?.kind ?? "end";
  }

  #take(): Token {
    const token = this.#next;
    this.#at++;
    return token;
  }

  #expect(kind: TokenKind): Token {
    if (this.#next.kind !== kind) throw new UnexpectedToken();
    return this.#take();
  }

  #takeIf(kind: TokenKind): Token | undefined {
    return this.#next.kind === kind ? this.#take() : undefined;
  }

  #enter(rule: "expr" | "relation" | "calc"): void {
    this.#depths[rule]++;
    if (this.#depths[rule] > nestingMax) throw new NestingError(`expression recursion limit exceeded: ${nestingMax}`);
  }

  #leave(rule: "expr" | "relation" | "calc"): void {
    this.#depths[rule]--;
  }

  #expr(): Nested {
    this.#enter("expr");
    const condition = this.#or();
    const mark = this.#takeIf("?");
    let nested = condition;
    if (mark !== undefined) {
      const id = this.#factory.nextId(mark.offset);
      const yes = this.#or();
      this.#expect(":");
      const no = this.#expr();
      nested = this.#call(id, operators.conditional, [condition, yes, no], 1);
    }
    this.#leave("expr");
    return nested;
  }

  #or(): Nested {
    return this.#logical("||", operators.or, () => this.#logical("&&", operators.and, () => this.#relation(1)));
  }

  #logical(sign: TokenKind, name: string, operand: () => Nested): Nested {
    const terms = [operand()];
    const ids: { id: number; offset: number }[] = [];
    for (let mark = this.#takeIf(sign); mark !== undefined; mark = this.#takeIf(sign)) {
      terms.push(operand());
      ids.push({ id: this.#factory.nextId(mark.offset), offset: mark.offset });
    }
    return balance(name, terms, ids);
  }

  #relation(minPrecedence: number): Nested {
    this.#enter("relation");
    let left = this.#calc(1);
    for (
      let name = relationOperators.get(this.#next.kind);
      name !== undefined && minPrecedence <= 1;
      name = relationOperators.get(this.#next.kind)
    ) {
      const id = this.#factory.nextId(this.#take().offset);
      left = this.#call(id, name, [left, this.#relation(2)], 1);
    }
    this.#leave("relation");
    return left;
  }

  #calc(minPrecedence: number): Nested {
    this.#enter("calc");
    let left = this.#unary();
    for (
      let operator = calcOperators.get(this.#next.kind);
      operator !== undefined && operator.precedence >= minPrecedence;
      operator = calcOperators.get(this.#next.kind)
    ) {
      const id = this.#factory.nextId(this.#take().offset);
      left = this.#call(id, operator.name, [left, this.#calc(operator.precedence + 1)], 1);
    }
    this.#leave("calc");
    return left;
  }

  #unary(): Nested {
    if (this.#next.kind === "!") return this.#prefixed("!", operators.not);
    const isLiteral = this.#kindAfter(1) === "int" || this.#kindAfter(1) === "float";
    if (this.#next.kind === "-" && !isLiteral) return this.#prefixed("-", operators.negate);
    return this.#member();
  }

  #prefixed(sign: TokenKind, name: string): Nested {
    const first = this.#take();
    let count = 1;
    while (this.#takeIf(sign) !== undefined) count++;
    if (count % 2 === 0) return this.#member();
    const id = this.#factory.nextId(first.offset);
    return this.#call(id, name, [this.#member()], 0);
  }

  #member(): Nested {
    let operand = this.#primary();
    for (;;) {
      const mark = this.#next;
      if (mark.kind === ".") operand = this.#dotted(operand);
      else if (mark.kind === "[") operand = this.#indexed(operand);
      else return operand;
    }
  }

  #dotted(operand: Nested): Nested {
    const dot = this.#take();
    const isOptional = this.#takeIf("?") !== undefined;
    const name = this.#next;
    if (name.kind !== "identifier" && name.kind !== "escaped") throw new UnexpectedToken();
    this.#take();
    const open = name.kind === "identifier" && !isOptional ? this.#takeIf("(") : undefined;
    if (open !== undefined) {
      const id = this.#factory.nextId(open.offset);
      const args = this.#arguments();
      const height = 1 + Math.max(operand.height, ...args.map((arg) => arg.height), 0);
      return { expr: this.#expand(id, name.text, operand.expr, args.map(exprOf)), height };
    }
    const height = operand.height + 1;
    if (name.kind === "escaped") this.#report(name.offset, "unsupported syntax: '`'");
    if (!isOptional) {
      const id = this.#factory.nextId(dot.offset);
      const expr: Expr = {
        kind: "select",
        id,
        offset: dot.offset,
        operand: operand.expr,
        field: name.text,
        testOnly: false,
      };
      return { expr, height };
    }
    if (!this.#options.optionalSyntax) {
      this.#report(dot.offset, "unsupported syntax '.?'");
      return { expr: operand.expr, height };
    }
    const field = this.#literal(name.offset, name.text);
    const id = this.#factory.nextId(dot.offset);
    return {
      expr: { kind: "call", id, offset: dot.offset, name: operators.optionalSelect, args: [operand.expr, field] },
      height,
    };
  }

  #indexed(operand: Nested): Nested {
    const open = this.#take();
    const isOptional = this.#takeIf("?") !== undefined;
    const id = this.#factory.nextId(open.offset);
    const index = this.#expr();
    this.#expect("]");
    if (isOptional && !this.#options.optionalSyntax) this.#report(open.offset, "unsupported syntax '[?'");
    return this.#call(id, isOptional ? operators.optionalIndex : operators.index, [operand, index], 1);
  }

  #primary(): Nested {
    const token = this.#next;
    switch (token.kind) {
      case "(": {
        this.#take();
        const nested = this.#expr();
        this.#expect(")");
        return nested;
      }
      case "[":
        return this.#list();
      case "{":
        return this.#map();
      case ".":
      case "identifier":
        return this.#named();
      default:
        return { expr: this.#constant(), height: 0 };
    }
  }

  #named(): Nested {
    const start = this.#next.offset;
    const dot = this.#takeIf(".") === undefined ? "" : ".";
    const name = this.#expect("identifier");
    const struct = this.#structName(name.text);
    if (struct !== undefined) return this.#struct(dot + struct);
    const open = this.#takeIf("(");
    if (reservedIdentifiers.has(name.text)) {
      if (open !== undefined) this.#arguments();
      return { expr: this.#report(start, `reserved identifier: ${name.text}`), height: 0 };
    }
    if (open === undefined) {
      const id = this.#factory.nextId(name.offset);
      return { expr: { kind: "ident", id, offset: name.offset, name: dot + name.text }, height: 0 };
    }
    const id = this.#factory.nextId(open.offset);
    const args = this.#arguments();
    const height = Math.max(0, ...args.map((arg) => arg.height));
    return { expr: this.#expand(id, dot + name.text, undefined, args.map(exprOf)), height };
  }

  /** Returns the name of a message that is constructed here, and takes it, if that is what follows. */
  #structName(first: string): string | undefined {
    let distance = 0;
    let name = first;
    while (this.#kindAfter(distance) === "." && this.#kindAfter(distance + 1) === "identifier") {
      name += `.${this.#tokens[this.#at + distance + 1]?.text}`;
      distance += 2;
    }
    if (this.#kindAfter(distance) !== "{") return undefined;
    this.#at += distance;
    return name;
  }

  #struct(typeName: string): Nested {
    const open = this.#expect("{");
    const id = this.#factory.nextId(open.offset);
    const fields: StructField[] = [];
    let height = 0;
    while (!this.#isNext("}", ",")) {
      const mark = this.#takeIf("?");
      const name = this.#take();
      if (name.kind !== "identifier" && name.kind !== "escaped") throw new UnexpectedToken();
      const colon = this.#expect(":");
      const fieldId = this.#factory.nextId(colon.offset);
      const value = this.#expr();
      height = Math.max(height, value.height);
      if (name.kind === "escaped") this.#report(name.offset, "unsupported syntax: '`'");
      const optional = this.#isOptional(mark);
      fields.push({ id: fieldId, offset: colon.offset, name: name.text, value: value.expr, optional });
      if (!this.#isNext(",") || this.#endsAfterComma("}")) break;
      this.#take();
    }
    this.#takeIf(",");
    this.#expect("}");
    return { expr: { kind: "struct", id, offset: open.offset, typeName, fields }, height };
  }

  #list(): Nested {
    const open = this.#take();
    const id = this.#factory.nextId(open.offset);
    const elements: Expr[] = [];
    const optional = new Set<number>();
    let height = 0;
    while (!this.#isNext("]", ",")) {
      if (this.#isOptional(this.#takeIf("?"))) optional.add(elements.length);
      const element = this.#expr();
      height = Math.max(height, element.height);
      elements.push(element.expr);
      if (!this.#isNext(",") || this.#endsAfterComma("]")) break;
      this.#take();
    }
    this.#takeIf(",");
    this.#expect("]");
    return { expr: { kind: "list", id, offset: open.offset, elements, optional }, height };
  }

  #map(): Nested {
    const open = this.#take();
    const id = this.#factory.nextId(open.offset);
    const entries: MapEntry[] = [];
    let height = 0;
    while (!this.#isNext("}", ",")) {
      const optional = this.#isOptional(this.#takeIf("?"));
      // The entry is numbered before its key, though the colon follows it.
      const entryId = this.#factory.nextId(noOffset);
      const key = this.#expr();
      const colon = this.#expect(":");
      const value = this.#expr();
      height = Math.max(height, key.height, value.height);
      entries.push({ id: entryId, offset: colon.offset, key: key.expr, value: value.expr, optional });
      if (!this.#isNext(",") || this.#endsAfterComma("}")) break;
      this.#take();
    }
    this.#takeIf(",");
    this.#expect("}");
    return { expr: { kind: "map", id, offset: open.offset, entries }, height };
  }

  #endsAfterComma(close: TokenKind): boolean {
    const next = this.#kindAfter(1);
    return next === close || next === ",";
  }

  #isOptional(mark: Token | undefined): boolean {
    if (mark === undefined) return false;
    if (!this.#options.optionalSyntax) this.#report(mark.offset, "unsupported syntax '?'");
    return true;
  }

  #arguments(): Nested[] {
    const args: Nested[] = [];
    if (this.#takeIf(")") !== undefined) return args;
    do args.push(this.#expr());
    while (this.#takeIf(",") !== undefined);
    this.#expect(")");
    return args;
  }

  #constant(): Expr {
    const start = this.#next.offset;
    const isNegative = this.#takeIf("-") !== undefined;
    const token = this.#take();
    if (isNegative && token.kind !== "int" && token.kind !== "float") throw new UnexpectedToken();
    try {
      switch (token.kind) {
        case "int":
          return this.#literal(start, readInt(token.text, isNegative));
        case "float":
          return this.#literal(start, readDouble(token.text, isNegative));
        case "uint":
          return this.#literal(start, new Uint(readUint(token.text)));
        case "string":
          return this.#literal(start, readString(token.text));
        case "bytes":
          return this.#literal(start, readBytes(token.text));
        case "true":
        case "false":
          return this.#literal(start, token.kind === "true");
        case "null":
          return this.#literal(start, null);
        default:
          throw new UnexpectedToken();
      }
    } catch (error) {
      if (!(error instanceof LiteralError)) throw error;
      return this.#report(start, error.message);
    }
  }

  #literal(offset: number, value: bigint | number | string | boolean | null | Uint | Uint8Array): Expr {
    return { kind: "literal", id: this.#factory.nextId(offset), offset, value };
  }

  #report(offset: number, message: string): Expr {
    this.#issues.report(offset, message);
    return { kind: "broken", id: this.#factory.nextId(offset), offset };
  }

  /** Makes a call of an operator, which is `levels` deeper than its operands. */
  #call(id: number, name: string, operands: readonly Nested[], levels: number): Nested {
    const args = operands.map(exprOf);
    const height = Math.max(...operands.map((operand) => operand.height)) + levels;
    return { expr: { kind: "call", id, offset: this.#factory.offsetOf(id), name, args }, height };
  }

  /** Makes a call, or what the macro of that name makes of it. */
  #expand(id: number, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    const offset = this.#factory.offsetOf(id);
    const macro = macroFor(this.#options.macros, name, args.length, target !== undefined);
    const expanded = macro?.(this.#factory.at(offset), target, args);
    if (expanded === undefined) {
      return target === undefined
        ? { kind: "call", id, offset, name, args }
        : { kind: "call", id, offset, name, target, args };
    }
    this.#factory.releaseId(id);
    if ("message" in expanded) return this.#report(expanded.offset, expanded.message);
    return expanded;
  }
}

function exprOf(nested: Nested): Expr {
  return nested.expr;
}

/** Joins terms as a balanced tree, so that long chains are not deep. */
function balance(name: string, terms: readonly Nested[], ids: readonly { id: number; offset: number }[]): Nested {
  const [first] = terms;
  if (first === undefined) throw new UnexpectedToken();
  if (ids.length === 0) return first;
  const height = Math.max(...terms.map((term) => term.height));
  return { expr: balanced(name, terms, ids, 0, ids.length - 1), height };
}

function balanced(
  name: string,
  terms: readonly Nested[],
  ids: readonly { id: number; offset: number }[],
  low: number,
  high: number,
): Expr {
  const middle = Math.floor((low + high + 1) / 2);
  const operator = ids[middle];
  const leaf = (at: number): Expr => {
    const term = terms[at];
    if (term === undefined) throw new UnexpectedToken();
    return term.expr;
  };
  if (operator === undefined) throw new UnexpectedToken();
  const left = middle === low ? leaf(middle) : balanced(name, terms, ids, low, middle - 1);
  const right = middle === high ? leaf(middle + 1) : balanced(name, terms, ids, middle + 1, high);
  return { kind: "call", id: operator.id, offset: operator.offset, name, args: [left, right] };
}
