/**
 * Estimates how many values a YAML text has: scalars, lists and maps, without keys, and a repeated value once. Builds
 * nothing: the library cannot stop half way, so too large a document must be rejected before it. Each line of a multi-
 * line plain scalar counts, and the lines of a block scalar count as a share of a value. Stops soon after `limit`.
 */
export function yamlValues(text: string, limit = Number.POSITIVE_INFINITY): number {
  return new YamlCounter(text).count(limit);
}

/** Number of values that take as much time as an anchor. */
const anchorValues = 2;
/** Lines of a block scalar that take as much time as a value. A power of two, so that their sum is exact. */
const blockLinesPerValue = 32;

class YamlCounter {
  readonly #text: string;
  #at = 0;
  #lineStart = 0;
  #values = 0;
  #flowDepth = 0;
  /** A token may begin here; elsewhere quotes and brackets are text. */
  #atToken = true;
  /** The value that begins here was counted with its key or dash. */
  #isCounted = false;
  /** The previous token was counted. If it turns out to be a key, its value is not counted again. */
  #isKeyCounted = false;
  /** Column of the innermost block node on this line; the text of a block scalar is indented further. */
  #column = 0;

  constructor(text: string) {
    this.#text = text;
  }

  count(limit: number): number {
    const { length } = this.#text;
    this.#beginLine();
    while (this.#at < length && this.#values <= limit) this.#step(this.#text.charCodeAt(this.#at));
    return Math.floor(this.#values);
  }

  #step(character: number): void {
    switch (character) {
      case code.newline:
        this.#at++;
        this.#lineStart = this.#at;
        return this.#beginLine();
      case code.space:
      case code.tab:
      case code.return:
        this.#at++;
        return;
      case code.hash:
        if (isSpace(this.#text.charCodeAt(this.#at - 1))) return this.#skipTo("\n");
        break;
      case code.colon:
        if (this.#flowDepth > 0 || this.#isBeforeSpace()) return this.#takeColon();
        break;
      case code.comma:
        if (this.#flowDepth > 0) return this.#separate();
        break;
      case code.closeBracket:
      case code.closeBrace:
        if (this.#flowDepth > 0) return this.#closeFlow();
        break;
    }
    if (this.#atToken) this.#token(character);
    else this.#at++;
  }

  #token(character: number): void {
    const isBlock = this.#flowDepth === 0;
    switch (character) {
      case code.dash:
      case code.question:
        if (!this.#isBeforeSpace()) break;
        this.#values++;
        this.#isCounted = true;
        this.#at++;
        this.#column = this.#at + 1 - this.#lineStart;
        return;
      case code.openBracket:
      case code.openBrace:
        this.#take();
        this.#flowDepth++;
        return this.#separate();
      case code.quote:
        this.#take();
        this.#at = endOfDoubleQuoted(this.#text, this.#at);
        return;
      case code.apostrophe:
        this.#take();
        this.#at = endOfSingleQuoted(this.#text, this.#at);
        return;
      case code.ampersand:
        this.#values += anchorValues;
        return this.#skipWord();
      case code.exclamation:
        return this.#skipWord();
      case code.pipe:
      case code.greater:
        if (!isBlock) break;
        return this.#takeBlockScalar();
    }
    this.#take();
    this.#at++;
  }

  /** Counts a value that begins here. */
  #take(): void {
    if (!this.#isCounted) this.#values++;
    this.#isKeyCounted = !this.#isCounted;
    this.#isCounted = false;
    this.#atToken = false;
  }

  #takeColon(): void {
    if (!this.#isKeyCounted) this.#values++;
    this.#isKeyCounted = false;
    this.#isCounted = true;
    this.#atToken = true;
    this.#at++;
  }

  #separate(): void {
    this.#isCounted = false;
    this.#isKeyCounted = false;
    this.#atToken = true;
    this.#at++;
  }

  #closeFlow(): void {
    this.#flowDepth--;
    this.#isCounted = false;
    // A flow collection is not counted as the key of the value that follows it.
    this.#isKeyCounted = true;
    this.#atToken = false;
    this.#at++;
  }

  #beginLine(): void {
    if (this.#flowDepth > 0) return;
    this.#at = this.#afterIndent(this.#at);
    this.#column = this.#at - this.#lineStart;
    this.#isCounted = false;
    this.#isKeyCounted = false;
    this.#atToken = true;
  }

  #afterIndent(start: number): number {
    let at = start;
    while (this.#text.charCodeAt(at) === code.space) at++;
    return at;
  }

  /** Skips to the first line that is not empty and not indented further than the node that holds the scalar. */
  #takeBlockScalar(): void {
    // A scalar that is the whole document may begin at the margin.
    const isRoot = this.#values === 0;
    this.#take();
    const { length } = this.#text;
    for (;;) {
      this.#skipTo("\n");
      if (this.#at >= length) return;
      this.#values += 1 / blockLinesPerValue;
      const line = this.#at + 1;
      const start = this.#afterIndent(line);
      const isEmpty = isSpace(this.#text.charCodeAt(start));
      if (!isEmpty && start - line <= this.#column && !isRoot) return;
      this.#at = start;
    }
  }

  #skipTo(end: string): void {
    const found = this.#text.indexOf(end, this.#at);
    this.#at = found === -1 ? this.#text.length : found;
  }

  #skipWord(): void {
    while (this.#at < this.#text.length && !isSpace(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  #isBeforeSpace(): boolean {
    return this.#at + 1 >= this.#text.length || isSpace(this.#text.charCodeAt(this.#at + 1));
  }
}

const code = {
  tab: 0x09,
  newline: 0x0a,
  return: 0x0d,
  space: 0x20,
  exclamation: 0x21,
  quote: 0x22,
  hash: 0x23,
  ampersand: 0x26,
  apostrophe: 0x27,
  comma: 0x2c,
  dash: 0x2d,
  colon: 0x3a,
  greater: 0x3e,
  question: 0x3f,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  pipe: 0x7c,
  closeBrace: 0x7d,
} as const;

function isSpace(character: number): boolean {
  return character === code.space || character === code.newline || character === code.return || character === code.tab;
}

function endOfDoubleQuoted(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === code.backslash) at++;
    else if (character === code.quote) return at + 1;
  }
  return text.length;
}

/** Finds the closing quote; a doubled quote is part of the text. */
function endOfSingleQuoted(text: string, start: number): number {
  let end = text.indexOf("'", start + 1);
  while (end !== -1 && text.charCodeAt(end + 1) === code.apostrophe) end = text.indexOf("'", end + 2);
  return end === -1 ? text.length : end + 1;
}
