/** A part of a word: a text, in which variables are replaced if it is not literal, or the output of commands. */
export type WordPart =
  | { readonly text: string; readonly isLiteral: boolean }
  | { readonly output: readonly ShellCommand[] };

export type Word = readonly WordPart[];

export interface Assignment {
  readonly name: string;
  readonly value: Word;
}

export type ShellCommand = SimpleCommand | Choice | Loop;

/** How a command follows the one before. */
type After = "always" | "success" | "failure";

/** `if`, with `elif` as a choice in `otherwise`. */
export interface Choice {
  readonly kind: "if";
  readonly condition: readonly ShellCommand[];
  readonly chosen: readonly ShellCommand[];
  readonly otherwise: readonly ShellCommand[];
  readonly after: After;
}

/** `while` or `until`. */
export interface Loop {
  readonly kind: "while";
  readonly condition: readonly ShellCommand[];
  /** Whether it goes on while the condition fails. */
  readonly isUntil: boolean;
  readonly body: readonly ShellCommand[];
  readonly after: After;
}

export interface SimpleCommand {
  readonly kind: "simple";
  /** Variables for this command, or for the rest of the shell if there are no words. */
  readonly assignments: readonly Assignment[];
  readonly words: readonly Word[];
  /** Target of the standard output, and whether errors go the same way or are dropped. */
  readonly stdout: "stdout" | "stderr" | "dropped";
  readonly stderr: "stdout" | "stderr" | "dropped";
  readonly after: After;
}

/** A text that is not of the few forms that the simulated shell knows. */
export class ShellSyntaxError extends Error {
  override readonly name = "ShellSyntaxError";
}

const commandsMax = 1_000;
/** Parsing this much takes some 20 ms in cold code, and blocks the process. */
const textLengthMax = 32_768;
/** Depth of choices, loops and commands within words. */
const depthMax = 16;

/** The redirections that are known. */
const anyRedirection = /2>\/dev\/null|2>&1|1>&2|&>\/dev\/null|>\/dev\/null|>&2/y;
const anySeparator = /&&|\|\||[;\n]/y;
const wordEnd = /[ \t\n;)]|&&|\|\|/y;
/** Characters with a meaning that is not known. */
const unknownCharacters = new Set("|&<>()`{}*?[]#!");
/** Words of the syntax, at the place of a command. */
const reservedWord = /(?:if|then|elif|else|fi|while|until|do|done|for|case|esac|function)(?=[\s;)]|$)/y;
/** Words of conditions. They would otherwise be patterns of file names. */
const conditionWord = /(?:\[\[?|\]\]?|!=?)(?=[\s;]|$)/y;

/**
 * Parses commands with quotes, variables, `$(…)`, `;`, `&&`, `||`, `if`, `while`, `until` and some redirections. There
 * are no pipes, and no output goes to files.
 * @throws ShellSyntaxError
 */
export function parseShell(text: string): readonly ShellCommand[] {
  if (text.length > textLengthMax) throw new ShellSyntaxError("the text is too long");
  return new ShellParser(text).commands();
}

class ShellParser {
  readonly #text: string;
  #at = 0;
  #count = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  commands(): ShellCommand[] {
    const commands = this.#list([]);
    const rest = this.#text[this.#at];
    if (rest !== undefined) throw new ShellSyntaxError(`unexpected ${rest}`);
    return commands;
  }

  /** Parses commands up to one of these reserved words, which stays, or to a character that is none of a command. */
  #list(ends: readonly string[]): ShellCommand[] {
    const commands: ShellCommand[] = [];
    let after: After = "always";
    if (++this.#depth > depthMax) throw new ShellSyntaxError("the commands are nested too deeply");
    for (;;) {
      this.#skipBlanks();
      const word = this.#peek(reservedWord);
      if (word !== undefined && ends.includes(word)) {
        if (after !== "always") throw new ShellSyntaxError("a command is missing");
        break;
      }
      const command = this.#command(word, after);
      if (command !== undefined) commands.push(command);
      else if (after !== "always") throw new ShellSyntaxError("a command is missing");
      if (++this.#count > commandsMax) throw new ShellSyntaxError("there are too many commands");
      this.#skipBlanks();
      const separator = this.#take(anySeparator);
      if (separator === undefined) break;
      if (command === undefined && separator !== "\n") throw new ShellSyntaxError(`unexpected ${separator}`);
      after = separator === "&&" ? "success" : separator === "||" ? "failure" : "always";
    }
    this.#depth--;
    return commands;
  }

  #command(reserved: string | undefined, after: After): ShellCommand | undefined {
    if (reserved === "if") return this.#choice(reserved, after);
    if (reserved === "while" || reserved === "until") return this.#loop(reserved, after);
    if (reserved !== undefined) throw new ShellSyntaxError(`unexpected ${reserved}`);
    const command = this.#simpleCommand(after);
    return command.words.length + command.assignments.length === 0 ? undefined : command;
  }

  #choice(word: string, after: After): Choice {
    this.#expect(word);
    const condition = this.#filled(["then"]);
    this.#expect("then");
    const chosen = this.#filled(["elif", "else", "fi"]);
    if (this.#peek(reservedWord) === "elif") {
      return { kind: "if", condition, chosen, otherwise: [this.#choice("elif", "always")], after };
    }
    const hasElse = this.#peek(reservedWord) === "else";
    if (hasElse) this.#expect("else");
    const otherwise = hasElse ? this.#filled(["fi"]) : [];
    this.#expect("fi");
    return { kind: "if", condition, chosen, otherwise, after };
  }

  #loop(word: "while" | "until", after: After): Loop {
    this.#expect(word);
    const condition = this.#filled(["do"]);
    this.#expect("do");
    const body = this.#filled(["done"]);
    this.#expect("done");
    return { kind: "while", condition, isUntil: word === "until", body, after };
  }

  /** Parses one command at least. */
  #filled(ends: readonly string[]): ShellCommand[] {
    const commands = this.#list(ends);
    if (commands.length === 0) throw new ShellSyntaxError("a command is missing");
    return commands;
  }

  #expect(word: string): void {
    this.#skipBlanks();
    if (this.#peek(reservedWord) !== word) throw new ShellSyntaxError(`${word} is missing`);
    this.#at += word.length;
  }

  #peek(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }

  #take(pattern: RegExp): string | undefined {
    const taken = this.#peek(pattern);
    this.#at += taken?.length ?? 0;
    return taken;
  }

  #simpleCommand(after: After): SimpleCommand {
    const words: Word[] = [];
    let stdout: SimpleCommand["stdout"] = "stdout";
    let stderr: SimpleCommand["stderr"] = "stderr";
    for (this.#skipBlanks(); this.#at < this.#text.length; this.#skipBlanks()) {
      const redirection = this.#take(anyRedirection);
      if (redirection === undefined) {
        const word = this.#word();
        if (word === undefined) break;
        words.push(word);
      } else {
        if (redirection === "2>/dev/null" || redirection === "&>/dev/null") stderr = "dropped";
        if (redirection === ">/dev/null" || redirection === "&>/dev/null") stdout = "dropped";
        if (redirection === "2>&1") stderr = stdout;
        if (redirection === "1>&2" || redirection === ">&2") stdout = stderr;
      }
    }
    const assignments = takeAssignments(words);
    return { kind: "simple", assignments, words, stdout, stderr, after };
  }

  /** Returns undefined at the end of a command. */
  #word(): Word | undefined {
    const parts: WordPart[] = [];
    const condition = this.#peek(conditionWord);
    if (condition !== undefined) {
      this.#at += condition.length;
      return [{ text: condition, isLiteral: true }];
    }
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined || this.#peek(wordEnd) !== undefined) break;
      if (character === "'") parts.push({ text: this.#quoted("'"), isLiteral: true });
      else if (character === '"') parts.push(...this.#doubleQuoted());
      else if (character === "\\") parts.push(this.#escaped());
      else if (this.#text.startsWith("$(", this.#at)) parts.push(this.#output());
      else if (unknownCharacters.has(character)) throw new ShellSyntaxError(`unexpected ${character}`);
      else parts.push({ text: this.#bare(), isLiteral: false });
    }
    return parts.length === 0 ? undefined : parts;
  }

  #bare(): string {
    const start = this.#at;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] as string;
      const isVariable = this.#text.startsWith("${", this.#at) || this.#text.startsWith("$?", this.#at);
      if (isVariable) this.#at = this.#variableEnd();
      else if (" \t\n;'\"\\".includes(character) || unknownCharacters.has(character)) break;
      else if (this.#text.startsWith("$(", this.#at)) break;
      else this.#at++;
    }
    return this.#text.slice(start, this.#at);
  }

  /** Returns the place after `${NAME}` or `$?`. */
  #variableEnd(): number {
    if (this.#text[this.#at + 1] === "?") return this.#at + 2;
    const end = this.#text.indexOf("}", this.#at);
    if (end === -1) throw new ShellSyntaxError("a } is missing");
    return end + 1;
  }

  #escaped(): WordPart {
    const text = this.#text[this.#at + 1];
    if (text === undefined) throw new ShellSyntaxError("a character is missing after \\");
    this.#at += 2;
    return { text: text === "\n" ? "" : text, isLiteral: true };
  }

  #doubleQuoted(): WordPart[] {
    const parts: WordPart[] = [];
    let text = "";
    for (this.#at++; ; this.#at++) {
      const character = this.#text[this.#at];
      const next = this.#text[this.#at + 1] ?? "";
      if (character === undefined) throw new ShellSyntaxError('a " is missing');
      if (character === "`") throw new ShellSyntaxError(`unexpected ${character}`);
      if (character === '"') break;
      if (character === "$" && next === "(") {
        parts.push({ text, isLiteral: false }, this.#output());
        text = "";
        // The loop moves on by one.
        this.#at--;
        continue;
      }
      if (character === "\\" && '"\\$`'.includes(next) && next !== "") {
        parts.push({ text, isLiteral: false }, { text: next, isLiteral: true });
        text = "";
        this.#at++;
      } else text += character;
    }
    this.#at++;
    return [...parts, { text, isLiteral: false }];
  }

  /** Parses `$(…)`. */
  #output(): WordPart {
    this.#at += "$(".length;
    const output = this.#list([]);
    if (!this.#takes(")")) throw new ShellSyntaxError("a ) is missing");
    return { output };
  }

  #quoted(quote: string): string {
    const end = this.#text.indexOf(quote, this.#at + 1);
    if (end === -1) throw new ShellSyntaxError(`a ${quote} is missing`);
    const text = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return text;
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#at++;
  }

  #takes(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }
}

/** Removes the assignments in front of a command. */
function takeAssignments(words: Word[]): Assignment[] {
  const assignments: Assignment[] = [];
  for (let [word] = words; word !== undefined; [word] = words) {
    const [first, ...rest] = word;
    const start = first !== undefined && "text" in first && !first.isLiteral ? first.text : "";
    const [, name, text] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(start) ?? [];
    if (name === undefined || text === undefined) break;
    assignments.push({ name, value: [{ text, isLiteral: false }, ...rest] });
    words.shift();
  }
  return assignments;
}
