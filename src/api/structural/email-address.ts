const blanks = new Set([" ", "\t"]);
const specials = new Set('()<>[]:;@\\,"');
const addressLengthMax = 4_096;

/** Reports whether a text is one mail address as RFC 5322 writes them, with or without a name: `Jo <jo@example.com>`. */
export function isEmailAddress(text: string): boolean {
  return text.length <= addressLengthMax && new AddressReader(text).isOneAddress();
}

class AddressReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isOneAddress(): boolean {
    if (!this.#address(true)) return false;
    return this.#skipComments() && this.#at === this.#text.length;
  }

  #address(allowsGroup: boolean): boolean {
    this.#skipBlanks();
    const start = this.#at;
    if (this.#plainAddress()) {
      this.#skipBlanks();
      return this.#peek() !== "(" || this.#comment();
    }
    this.#at = start;
    if (this.#peek() !== "<" && !this.#phrase()) return false;
    this.#skipBlanks();
    if (allowsGroup && this.#take(":")) return this.#group();
    return this.#take("<") && this.#plainAddress() && this.#take(">");
  }

  /** A group with one member is one address. */
  #group(): boolean {
    this.#skipBlanks();
    if (!this.#address(false) || !this.#skipComments()) return false;
    return this.#take(";") && this.#skipComments();
  }

  #plainAddress(): boolean {
    this.#skipBlanks();
    const hasLocalPart = this.#peek() === '"' ? this.#quoted(1) : this.#atom(true);
    if (!hasLocalPart || !this.#take("@")) return false;
    this.#skipBlanks();
    return this.#peek() === "[" ? this.#domainLiteral() : this.#atom(true);
  }

  #phrase(): boolean {
    let words = 0;
    for (;;) {
      this.#skipBlanks();
      const before = this.#at;
      if (this.#peek() === "(" && words > 0 && !this.#comment()) return false;
      this.#skipBlanks();
      const isWord = this.#peek() === '"' ? this.#quoted(0) : this.#word();
      if (!isWord) {
        this.#at = Math.max(before, this.#at);
        return words > 0;
      }
      words++;
    }
  }

  /** Parses a word of a name, which may contain dots anywhere. */
  #word(): boolean {
    const start = this.#at;
    while (isAtomCharacter(this.#peek())) this.#at++;
    return this.#at > start;
  }

  #atom(allowsDots: boolean): boolean {
    const start = this.#at;
    while (isAtomCharacter(this.#peek()) && (allowsDots || this.#peek() !== ".")) this.#at++;
    const atom = this.#text.slice(start, this.#at);
    return atom !== "" && !atom.startsWith(".") && !atom.endsWith(".") && !atom.includes("..");
  }

  #quoted(lengthMin: number): boolean {
    this.#at++;
    let length = 0;
    for (; this.#at < this.#text.length; this.#at++, length++) {
      const character = this.#peek();
      if (character === '"') {
        this.#at++;
        return length >= lengthMin;
      }
      if (character === "\\") this.#at++;
      if (!isPrintable(this.#peek()) && !blanks.has(this.#peek())) return false;
    }
    return false;
  }

  #domainLiteral(): boolean {
    const end = this.#text.indexOf("]", this.#at);
    const literal = end < 0 ? "" : this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return /^[0-9A-Fa-f.:]+$/.test(literal);
  }

  #skipComments(): boolean {
    this.#skipBlanks();
    while (this.#peek() === "(") {
      if (!this.#comment()) return false;
      this.#skipBlanks();
    }
    return true;
  }

  #comment(): boolean {
    let depth = 0;
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#peek();
      if (character === "\\") this.#at++;
      else if (character === "(") depth++;
      else if (character === ")" && --depth === 0) {
        this.#at++;
        return true;
      }
    }
    return false;
  }

  #skipBlanks(): void {
    while (blanks.has(this.#peek())) this.#at++;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #peek(): string {
    return this.#text[this.#at] ?? "";
  }
}

function isAtomCharacter(character: string): boolean {
  return isPrintable(character) && !specials.has(character);
}

function isPrintable(character: string): boolean {
  return character > " " && character !== "\u007f";
}
