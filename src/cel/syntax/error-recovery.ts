import type { LexicalError, Token, TokenKind } from "./lexer.ts";
import { type IssueList, noOffset } from "./source.ts";
import { describeSet, setOf, type TokenSet } from "./token-sets.ts";

const recoveriesMax = 30;
const reportsMax = 100;
const skippedMax = 512;
const rulesNestedMax = 250;

/** The tokens that may follow a rule at the place of its use, and whether the rule around it may end there. */
export interface Follow {
  readonly tokens: TokenSet;
  readonly mayEnd: boolean;
}

export function follow(mayEnd: boolean, ...parts: readonly (TokenKind | TokenSet)[]): Follow {
  return { tokens: setOf(...parts), mayEnd };
}

/** Ends a rule of the grammar. The enclosing rule continues. */
class RuleError extends Error {
  readonly place: string;
  readonly offset: number;

  constructor(message: string, offset: number, place: string) {
    super(message);
    this.offset = offset;
    this.place = place;
  }
}

/** Ends the search for errors. */
export class SearchEnd extends Error {}

/**
 * Goes through tokens as the generated parser of upstream does, which repairs what it can: it deletes a token, inserts one,
 * or skips to what may follow a rule. While it repairs, it reports nothing.
 */
export class ErrorRecovery {
  readonly #tokens: readonly Token[];
  readonly #unreadable: readonly LexicalError[];
  readonly #issues: IssueList;
  readonly #follows: Follow[] = [];
  readonly #depths = new Map<string, number>();
  #at = 0;
  #isRepairing = false;
  #recoveries = 0;
  #reports = 0;
  #lastAt = -1;
  #lastPlaces = new Set<string>();

  constructor(tokens: readonly Token[], unreadable: readonly LexicalError[], issues: IssueList) {
    this.#tokens = tokens;
    this.#unreadable = unreadable;
    this.#issues = issues;
  }

  get kind(): TokenKind {
    return this.#token(0).kind;
  }

  kindAfter(distance: number): TokenKind {
    return this.#token(distance).kind;
  }

  #token(distance: number): Token {
    const token = this.#tokens[this.#at + distance] ?? this.#tokens.at(-1);
    if (token === undefined) throw new SearchEnd();
    return token;
  }

  /** Runs a rule of the grammar; if it cannot go on, it ends where the rules around it can. */
  rule(name: string, after: Follow, body: () => void): void {
    const depth = (this.#depths.get(name) ?? 0) + 1;
    if (depth > rulesNestedMax) this.#end(`expression recursion limit exceeded: ${rulesNestedMax}`);
    this.#depths.set(name, depth);
    this.#follows.push(after);
    try {
      body();
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      this.#reportOnce(error.offset, error.message);
      this.#skip(error.place);
    }
    this.#follows.pop();
    this.#depths.set(name, depth - 1);
  }

  #end(message: string): never {
    this.#issues.report(noOffset, message);
    throw new SearchEnd();
  }

  /** Takes a token of a kind that was seen to come next. */
  take(): void {
    this.#isRepairing = false;
    this.#lastAt = -1;
    this.#lastPlaces.clear();
    this.#consume();
  }

  #consume(): void {
    if (this.kind !== "end") this.#at++;
  }

  /** Takes a token, or repairs its absence. `after` may follow it. Each place of the grammar has its own name. */
  match(kind: TokenKind, after: Follow, place: string): void {
    if (this.kind === kind) {
      this.take();
      return;
    }
    this.#countRecovery();
    const expected = setOf(kind);
    if (this.#deleteOne(expected)) {
      this.take();
      return;
    }
    if (!this.#completed(after).has(this.kind)) throw this.#mismatch(expected, place);
    this.#reportOnce(this.#token(0).offset, `missing ${describeSet(expected)} at ${this.#shown()}`);
  }

  /** Checks that one of the expected tokens comes next, and deletes one token if they come after it. */
  sync(expected: TokenSet, place: string): void {
    if (this.#isRepairing || expected.has(this.kind) || this.#deleteOne(expected)) return;
    throw this.#mismatch(expected, place);
  }

  /** Checks the same within a loop, where all that does not fit is skipped. */
  syncLoop(expected: TokenSet): void {
    if (this.#isRepairing || expected.has(this.kind)) return;
    this.#reportOnce(this.#token(0).offset, `extraneous input ${this.#shown()} expecting ${describeSet(expected)}`);
    this.#skipTo(setOf(expected, ...this.#follows.map(({ tokens }) => tokens)));
  }

  /** Fails where the tokens from here to the one at a distance begin nothing. */
  failAt(distance: number, place: string): never {
    const start = this.#token(0);
    const last = this.#token(distance);
    const end = last.kind === "end" ? last.offset : last.offset + last.text.length;
    const text = start.kind === "end" ? "<EOF>" : escapeBlanks(this.#readable(start.offset, end));
    const reserved = /^.(true|false|null)$/.exec(text)?.[1];
    const message =
      reserved === undefined
        ? `no viable alternative at input '${text}'`
        : `mismatched input '${reserved}' expecting IDENTIFIER`;
    throw new RuleError(message, last.offset, place);
  }

  /** Returns the text of a stretch without what is part of no token. */
  #readable(start: number, end: number): string {
    const { text } = this.#issues.source;
    let shown = "";
    let at = start;
    for (const { offset, text: skipped } of this.#unreadable) {
      if (offset < at || offset >= end) continue;
      shown += text.slice(at, offset);
      at = offset + skipped.length;
    }
    return shown + text.slice(at, end);
  }

  #deleteOne(expected: TokenSet): boolean {
    if (!expected.has(this.kindAfter(1))) return false;
    this.#reportOnce(this.#token(0).offset, `extraneous input ${this.#shown()} expecting ${describeSet(expected)}`);
    this.#consume();
    this.#isRepairing = false;
    this.#lastAt = -1;
    this.#lastPlaces.clear();
    return true;
  }

  #mismatch(expected: TokenSet, place: string): RuleError {
    const message = `mismatched input ${this.#shown()} expecting ${describeSet(expected)}`;
    return new RuleError(message, this.#token(0).offset, place);
  }

  #shown(): string {
    return `'${escapeBlanks(this.#token(0).text)}'`;
  }

  #reportOnce(offset: number, message: string): void {
    if (this.#isRepairing) return;
    this.#isRepairing = true;
    this.#report(offset, message);
  }

  #report(offset: number, message: string): void {
    if (this.#reports >= reportsMax) {
      this.#issues.report(offset, `Syntax error: More than ${reportsMax} syntax errors`);
      throw new SearchEnd();
    }
    this.#reports++;
    this.#issues.report(offset, `Syntax error: ${message}`);
  }

  #countRecovery(): void {
    if (this.#recoveries === recoveriesMax) {
      this.#report(this.#token(0).offset, `error recovery attempt limit exceeded: ${recoveriesMax}`);
      throw new SearchEnd();
    }
    this.#recoveries++;
  }

  /** Skips to a token that may follow any of the rules that are open. */
  #skip(place: string): void {
    this.#countRecovery();
    let skipped = 0;
    if (this.#lastAt === this.#at && this.#lastPlaces.has(place)) {
      this.#consume();
      skipped = 1;
    }
    this.#lastAt = this.#at;
    this.#lastPlaces.add(place);
    this.#skipTo(setOf(...this.#follows.map(({ tokens }) => tokens)), skippedMax - skipped);
  }

  #skipTo(kinds: TokenSet, atMost = Number.POSITIVE_INFINITY): void {
    let left = atMost;
    while (this.kind !== "end" && !kinds.has(this.kind)) {
      if (left === 0) this.#end(`error recovery token lookahead limit exceeded: ${skippedMax}`);
      left--;
      this.#consume();
    }
  }

  /** Returns what may come next, where the rules that are open may end. */
  #completed(after: Follow): TokenSet {
    const parts = [after.tokens];
    let { mayEnd } = after;
    for (let at = this.#follows.length - 1; mayEnd && at >= 0; at--) {
      const next = this.#follows[at];
      if (next === undefined) break;
      parts.push(next.tokens);
      mayEnd = next.mayEnd;
    }
    return setOf(...parts);
  }
}

function escapeBlanks(text: string): string {
  return text.replaceAll("\t", "\\t").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
}
