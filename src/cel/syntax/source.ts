/** One thing that is wrong with an expression, at a line and column from 1. */
export interface Issue {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Place of problems that concern no part of the text. */
export const noOffset = -1;
const noPlace = { line: -1, column: 0 } as const;

/** At most as many issues of one expression are kept. */
export const issuesMax = 100;
const snippetBytesMax = 16_384;
const wideDot = "\uff0e";
const wideIndicator = "\uff3e";

/** The text of an expression, and where its lines begin. Columns count code points. */
export class Source {
  readonly text: string;
  readonly #lineStarts: readonly number[];

  constructor(text: string) {
    this.text = text;
    const starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    this.#lineStarts = starts;
  }

  placeOf(offset: number): { readonly line: number; readonly column: number } {
    if (offset < 0) return noPlace;
    if (this.text === "") return { line: 1, column: 0 };
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: codePointsIn(this.text, this.#lineStarts[low] ?? 0, offset) + 1 };
  }

  line(number: number): string | undefined {
    const start = this.#lineStarts[number - 1];
    if (start === undefined || this.text === "") return undefined;
    const next = this.#lineStarts[number];
    return this.text.slice(start, next === undefined ? undefined : next - 1);
  }
}

function codePointsIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to && at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) count++;
  }
  return count;
}

/** Gathers issues in the order in which they are found. */
export class IssueList {
  readonly source: Source;
  readonly #issues: Issue[] = [];
  #count = 0;

  constructor(source: Source) {
    this.source = source;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  report(offset: number, message: string): void {
    this.#count++;
    if (this.#count <= issuesMax) this.#issues.push({ ...this.source.placeOf(offset), message });
  }

  /** Returns the issues by their place in the text. */
  sorted(): Issue[] {
    return this.#issues.toSorted((a, b) => a.line - b.line || a.column - b.column);
  }

  /** Returns the text that clients see: every issue with its line, and a mark below it. */
  text(): string {
    const parts = this.sorted().map((issue) => describe(issue, this.source));
    if (this.#count > issuesMax) parts.push(`${this.#count - issuesMax} more errors were truncated`);
    return parts.join("\n");
  }
}

function describe({ line, column, message }: Issue, source: Source): string {
  const header = `ERROR: <input>:${line}:${column}: ${message}`;
  const text = source.line(line);
  if (text === undefined || Buffer.byteLength(text) > snippetBytesMax) return header;
  const snippet = text.replaceAll("\t", " ");
  const characters = [...snippet];
  const dots = characters.slice(0, column - 1).map((character) => (isWide(character) ? wideDot : "."));
  const indicator = isWide(characters[column - 1] ?? "") ? wideIndicator : "^";
  return `${header}\n | ${snippet}\n | ${dots.join("")}${indicator}`;
}

function isWide(character: string): boolean {
  return character.length > 0 && character.charCodeAt(0) > 0x7f;
}
