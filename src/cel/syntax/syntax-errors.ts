import type { Token } from "./lexer.ts";
import type { IssueList } from "./source.ts";

/** Reports what upstream's parser says of tokens that are no expression. */
export function reportSyntaxErrors(tokens: readonly Token[], issues: IssueList): void {
  const token = tokens.at(-1);
  issues.report(token?.offset ?? 0, `Syntax error: mismatched input '${token?.text}'`);
}
