import { ErrorRecovery, type Follow, follow, SearchEnd } from "./error-recovery.ts";
import type { LexicalError, Token, TokenKind } from "./lexer.ts";
import type { IssueList } from "./source.ts";
import {
  expressionStart,
  fieldName,
  fieldStart,
  memberSigns,
  numbers,
  optionalStart,
  productSigns,
  relationSigns,
  setOf,
  sumSigns,
  type TokenSet,
  termStart,
} from "./token-sets.ts";

const ruleEnd = follow(true);
const beforeExpression = follow(false, expressionStart);
const beforeMember = follow(true, memberSigns);

/** Reports tokens that do not form an expression, in the words of upstream's parser. */
export function reportSyntaxErrors(
  tokens: readonly Token[],
  unreadable: readonly LexicalError[],
  issues: IssueList,
): void {
  try {
    new Grammar(new ErrorRecovery(tokens, unreadable, issues)).start();
  } catch (error) {
    if (!(error instanceof SearchEnd)) throw error;
  }
}

/** Upstream's grammar, rule by rule, since the rules decide where an error is seen and what was expected. */
class Grammar {
  readonly #on: ErrorRecovery;

  constructor(on: ErrorRecovery) {
    this.#on = on;
  }

  start(): void {
    this.#on.rule("start", ruleEnd, () => {
      this.#expr(follow(false, "end"));
      this.#on.match("end", ruleEnd, "start");
    });
  }

  #takeIf(kind: TokenKind): void {
    if (this.#on.kind === kind) this.#on.take();
  }

  #expr(after: Follow): void {
    this.#on.rule("expr", after, () => {
      this.#or(follow(true, "?"));
      if (this.#on.kind !== "?") return;
      this.#on.take();
      this.#or(follow(false, ":"));
      this.#on.match(":", beforeExpression, "conditional");
      this.#expr(ruleEnd);
    });
  }

  #or(after: Follow): void {
    this.#joined("conditionalOr", "||", after, (next) =>
      this.#joined("conditionalAnd", "&&", next, (last) => this.#relation(1, last)),
    );
  }

  #joined(name: string, sign: TokenKind, after: Follow, operand: (after: Follow) => void): void {
    const next = follow(true, sign);
    this.#on.rule(name, after, () => {
      operand(next);
      while (this.#on.kind === sign) {
        this.#on.take();
        operand(next);
      }
    });
  }

  #relation(precedence: number, after: Follow): void {
    const next = follow(true, relationSigns);
    this.#on.rule("relation", after, () => {
      this.#calc(1, next);
      while (precedence <= 1 && relationSigns.has(this.#on.kind)) {
        this.#on.take();
        this.#relation(2, next);
      }
    });
  }

  #calc(precedence: number, after: Follow): void {
    const next = follow(true, productSigns, sumSigns);
    this.#on.rule("calc", after, () => {
      this.#unary(next);
      for (;;) {
        const { kind } = this.#on;
        const strength = productSigns.has(kind) ? 2 : sumSigns.has(kind) ? 1 : 0;
        if (strength === 0 || strength < precedence) return;
        this.#on.take();
        this.#calc(strength + 1, next);
      }
    });
  }

  #unary(after: Follow): void {
    this.#on.rule("unary", after, () => {
      this.#on.sync(expressionStart, "unary");
      const { kind } = this.#on;
      if (!expressionStart.has(kind)) this.#on.failAt(0, "unary");
      if (kind === "!") this.#not();
      else if (kind === "-" && !numbers.has(this.#on.kindAfter(1))) this.#negate();
      else this.#member(ruleEnd);
    });
  }

  #not(): void {
    do {
      this.#on.take();
      this.#on.syncLoop(expressionStart);
    } while (this.#on.kind === "!");
    this.#member(ruleEnd);
  }

  #negate(): void {
    if (!termStart.has(this.#on.kindAfter(1))) this.#on.failAt(1, "unary");
    while (this.#on.kind === "-") {
      if (!termStart.has(this.#on.kindAfter(1))) this.#on.failAt(1, "negate");
      this.#on.take();
    }
    this.#member(ruleEnd);
  }

  #member(after: Follow): void {
    this.#on.rule("member", after, () => {
      this.#primary(beforeMember);
      while (memberSigns.has(this.#on.kind)) {
        if (this.#on.kind === "[") this.#index();
        else this.#dotted();
      }
    });
  }

  #index(): void {
    this.#on.take();
    this.#on.sync(optionalStart, "index");
    this.#takeIf("?");
    this.#expr(follow(false, "]"));
    this.#on.match("]", beforeMember, "index end");
  }

  #dotted(): void {
    const next = this.#on.kindAfter(1);
    if (next !== "?" && !fieldName.has(next)) this.#on.failAt(1, "member");
    this.#on.take();
    if (next === "identifier" && this.#on.kindAfter(1) === "(") {
      this.#on.take();
      this.#arguments(beforeMember, "member call");
      return;
    }
    this.#takeIf("?");
    this.#name(beforeMember);
  }

  #name(after: Follow): void {
    this.#on.rule("escapeIdent", after, () => {
      this.#on.sync(fieldName, "escapeIdent");
      if (!fieldName.has(this.#on.kind)) this.#on.failAt(0, "escapeIdent");
      this.#on.take();
    });
  }

  #arguments(after: Follow, place: string): void {
    this.#on.take();
    this.#on.sync(setOf(expressionStart, ")"), `${place} start`);
    if (expressionStart.has(this.#on.kind)) {
      this.#on.rule("exprList", follow(false, ")"), () => {
        const next = follow(true, ",");
        this.#expr(next);
        while (this.#on.kind === ",") {
          this.#on.take();
          this.#expr(next);
        }
      });
    }
    this.#on.match(")", after, `${place} end`);
  }

  #primary(after: Follow): void {
    this.#on.rule("primary", after, () => {
      this.#on.sync(termStart, "primary");
      switch (this.#on.kind) {
        case "(":
          this.#on.take();
          this.#expr(follow(false, ")"));
          this.#on.match(")", ruleEnd, "nested");
          return;
        case "[":
          this.#braced("list", "]", optionalStart, (next) => this.#list(next));
          return;
        case "{":
          this.#braced("map", "}", optionalStart, (next) => this.#entries("mapInitializerList", next, optionalStart));
          return;
        case ".":
        case "identifier":
          this.#named();
          return;
        default:
          if (!termStart.has(this.#on.kind)) this.#on.failAt(0, "primary");
          this.#literal();
      }
    });
  }

  #named(): void {
    if (this.#on.kind === ".") {
      if (this.#on.kindAfter(1) !== "identifier") this.#on.failAt(1, "primary");
      this.#on.take();
    }
    let distance = 1;
    while (this.#on.kindAfter(distance) === "." && this.#on.kindAfter(distance + 1) === "identifier") distance += 2;
    const isMessage = this.#on.kindAfter(distance) === "{";
    for (let taken = 0; taken < (isMessage ? distance : 1); taken++) this.#on.take();
    if (isMessage)
      this.#braced("message", "}", fieldStart, (next) => this.#entries("fieldInitializerList", next, fieldStart));
    else if (this.#on.kind === "(") this.#arguments(ruleEnd, "call");
  }

  #literal(): void {
    this.#on.rule("literal", ruleEnd, () => {
      if (this.#on.kind === "-") {
        if (!numbers.has(this.#on.kindAfter(1))) this.#on.failAt(1, "literal");
        this.#on.take();
      }
      this.#on.take();
    });
  }

  #braced(place: string, close: TokenKind, starts: TokenSet, content: (after: Follow) => void): void {
    const ending = setOf(close, ",");
    this.#on.take();
    this.#on.sync(setOf(starts, ending), `${place} start`);
    if (starts.has(this.#on.kind)) content(follow(false, ending));
    this.#on.sync(ending, `${place} comma`);
    this.#takeIf(",");
    this.#on.match(close, ruleEnd, `${place} end`);
  }

  #list(after: Follow): void {
    const next = follow(true, ",");
    this.#on.rule("listInit", after, () => {
      this.#optional(next);
      while (this.#on.kind === "," && optionalStart.has(this.#on.kindAfter(1))) {
        this.#on.take();
        this.#optional(next);
      }
    });
  }

  #entries(name: string, after: Follow, starts: TokenSet): void {
    const key = (): void => {
      if (starts === fieldStart) this.#field(follow(false, ":"));
      else this.#optional(follow(false, ":"));
      this.#on.match(":", beforeExpression, name);
      this.#expr(follow(true, ","));
    };
    this.#on.rule(name, after, () => {
      key();
      while (this.#on.kind === "," && starts.has(this.#on.kindAfter(1))) {
        this.#on.take();
        key();
      }
    });
  }

  #optional(after: Follow): void {
    this.#on.rule("optExpr", after, () => {
      this.#on.sync(optionalStart, "optExpr");
      this.#takeIf("?");
      this.#expr(ruleEnd);
    });
  }

  #field(after: Follow): void {
    this.#on.rule("optField", after, () => {
      this.#on.sync(fieldStart, "optField");
      this.#takeIf("?");
      this.#name(ruleEnd);
    });
  }
}
