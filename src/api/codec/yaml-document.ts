import { YamlSyntaxError } from "./yaml-syntax.ts";

const marker = /^(?:---|\.\.\.)(?=[ \t\r]|$)/;
/** A line that does not begin a document: empty, a comment or a directive. */
const preamble = /^(?:[ \t\r]*(?:#.*)?|%.*)$/;

/** Returns the first document of a stream. Like upstream, it ignores the rest. */
export function firstDocument(text: string): string {
  if (!text.includes("\n---") && !text.includes("\n...")) return text;
  let hasBegun = false;
  for (let start = 0; start < text.length; ) {
    const lineBreak = text.indexOf("\n", start);
    const end = lineBreak === -1 ? text.length : lineBreak;
    const line = text.slice(start, end);
    if (marker.test(line)) {
      if (hasBegun) return text.slice(0, start);
      hasBegun = true;
    } else if (!preamble.test(line)) hasBegun = true;
    start = end + 1;
  }
  return text;
}

/** @throws YamlSyntaxError for a tab where the first token has to begin */
export function refuseLeadingTab(text: string): void {
  if (/^[ \r\n]*\t/.test(text)) throw tabError(text.slice(0, text.indexOf("\t")).split("\n").length - 1);
}

function tabError(line: number): YamlSyntaxError {
  return new YamlSyntaxError("found character that cannot start any token", line === 0 ? undefined : line + 1);
}

/** Upstream's words for the library's. */
const reasons: ReadonlyMap<string, string> = new Map([
  ["unexpected end of the stream within a single quoted scalar", "found unexpected end of stream"],
  ["unexpected end of the stream within a double quoted scalar", "found unexpected end of stream"],
  ["tab characters must not be used in indentation", "found character that cannot start any token"],
  ["unknown escape sequence", "found unknown escape character"],
  ["expected hexadecimal character", "did not find expected hexdecimal number"],
  ["the stream contains non-printable characters", "control characters are not allowed"],
  ["a line break is expected", "did not find expected comment or line break"],
  ["expected ':' after a mapping key", "could not find expected ':'"],
  ["unacceptable YAML version of the document", "found incompatible YAML document"],
  [
    "bad explicit indentation width of a block scalar; it cannot be less than one",
    "found an indentation indicator equal to 0",
  ],
]);
const flowReason = "unexpected end of the stream within a flow collection";
/** The library's words for anything that cannot follow what it has read. */
const misplacedReasons: ReadonlySet<string> = new Set([
  "bad indentation of a mapping entry",
  "end of the stream or a document separator is expected",
]);
const notInThisContext: ReadonlyMap<string, string> = new Map([
  [":", "mapping values"],
  ["-", "block sequence entries"],
  ["?", "mapping keys"],
]);

/** The place where the library stopped; its line counts from 0. */
export interface Stop {
  readonly line: number;
  readonly position: number;
}

/** Returns the error for text that the library cannot parse. */
export function syntaxError(source: string, reason: string, stop: Stop): YamlSyntaxError {
  if (reason === flowReason) return unfinishedCollection(source);
  if (misplacedReasons.has(reason)) return misplaced(source, stop);
  return atLine(reasons.get(reason) ?? reason, stop.line);
}

/** Upstream's scanner names the line with its number, which it leaves out for the first one. */
function atLine(reason: string, line: number): YamlSyntaxError {
  return new YamlSyntaxError(reason, line === 0 ? undefined : line + 1);
}

/** Upstream's parser, unlike its scanner, names the line before. */
function misplaced(source: string, { line, position }: Stop): YamlSyntaxError {
  const found = source.charAt(position);
  if (/[@`%]/.test(found)) return atLine("found character that cannot start any token", line);
  const before = source.slice(source.lastIndexOf("\n", position - 1) + 1, position).trim();
  const part = notInThisContext.get(found);
  if (part !== undefined && before !== "") return atLine(`${part} are not allowed in this context`, line);
  const isNodeMissing = /[\]},]/.test(found) && /(?:^|[:-])$/.test(before);
  const missing = isNodeMissing ? "did not find expected node content" : "did not find expected key";
  return new YamlSyntaxError(missing, line === 0 ? undefined : line);
}

/** Upstream counts the end of the text as a line of its own, and says what it expects there. */
function unfinishedCollection(source: string): YamlSyntaxError {
  const text = source.trimEnd();
  const line = source.split("\n").length - (source.endsWith("\n") ? 1 : 0);
  const isNodeMissing = /[[{,]$/.test(text);
  const closing = text.lastIndexOf("[") > text.lastIndexOf("{") ? "]" : "}";
  return new YamlSyntaxError(
    isNodeMissing ? "did not find expected node content" : `did not find expected ',' or '${closing}'`,
    line,
  );
}
