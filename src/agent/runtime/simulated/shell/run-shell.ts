import { evaluateTest } from "./evaluate-test.ts";
import {
  type Assignment,
  type Loop,
  parseShell,
  type ShellCommand,
  ShellSyntaxError,
  type SimpleCommand,
  type Word,
} from "./shell-syntax.ts";

/** The files that a process sees. They have no content. */
export interface ShellFiles {
  has(path: string): boolean;
  add(path: string): void;
}

/** The surroundings of a simulated process. */
export interface ShellWorld {
  readonly environment: ReadonlyMap<string, string>;
  readonly hostname: string;
  readonly nowMs: number;
  readonly files?: ShellFiles | undefined;
}

export interface ShellOutput {
  /** Time since the start of the command. */
  readonly afterMs: number;
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

/** The course of a command, worked out before it starts. */
export interface ShellRun {
  readonly outputs: readonly ShellOutput[];
  /** Infinity for a command that does not end. */
  readonly durationMs: number;
  readonly exitCode: number;
  /** Reports whether every command was known. */
  readonly isUnderstood: boolean;
}

/** Work of a run, which blocks the process. A character that is copied or printed counts as one. */
const workMax = 1_000_000;
const commandWork = 1_000;
/** Work for a part of a word, a variable that is read or copied, or a file that is looked for. */
const stepWork = 20;
/** Work for a file that is made. An older file may have to be forgotten for it. */
const madeFileWork = 1_000;
/** Work for a character of a shell's text, which is parsed. */
const parsedCharacterWork = 8;
const depthMax = 8;
const shells = new Set(["sh", "bash", "ash", "dash"]);
const syntaxErrorCode = 2;
const notFoundCode = 127;

class WorkLimitError extends Error {
  override readonly name = "WorkLimitError";
}

/** Works out what a command prints, how long it takes and how it ends. */
export function runShell(words: readonly string[], world: ShellWorld): ShellRun {
  const shell = new Shell(world);
  const exitCode = shell.start(words);
  if (shell.isUnderstood) for (const path of shell.made) world.files?.add(path);
  const { outputs, elapsedMs: durationMs, isUnderstood } = shell;
  return { outputs, durationMs, exitCode, isUnderstood };
}

type Targets = Pick<SimpleCommand, "stdout" | "stderr">;

class Shell {
  readonly outputs: ShellOutput[] = [];
  elapsedMs = 0;
  /** Files that were made. */
  readonly made = new Set<string>();
  isUnderstood = true;
  readonly #world: ShellWorld;
  #environment: ReadonlyMap<string, string>;
  /** Standard output of the innermost `$(…)` that is running. */
  #captured: string[] | undefined;
  #work = 0;
  /** Loops that are running. */
  #loops = 0;
  /** Code of an `exit`, or of a failure with `-e`. Both end the innermost shell. */
  #exit: number | undefined;

  constructor(world: ShellWorld) {
    this.#world = world;
    this.#environment = world.environment;
  }

  /** Runs a command until it ends or has used up its work. Returns the exit code. */
  start(words: readonly string[]): number {
    try {
      for (const word of words) this.#charge(stepWork + word.length);
      return this.#run(words, { stdout: "stdout", stderr: "stderr" }, 0);
    } catch (error) {
      if (!(error instanceof WorkLimitError)) throw error;
      // A loop that takes its time goes on, but is not followed any further.
      if (this.elapsedMs > 0 && this.#loops > 0) {
        this.elapsedMs = Number.POSITIVE_INFINITY;
        return 0;
      }
      this.isUnderstood = false;
      this.outputs.push({
        afterMs: this.elapsedMs,
        stream: "stderr",
        text: "sh: too much work for the simulated shell\n",
      });
      return syntaxErrorCode;
    }
  }

  /** @throws WorkLimitError */
  #charge(work: number): void {
    this.#work += work;
    if (this.#work > workMax) throw new WorkLimitError();
  }

  /** Returns the exit code. */
  #run(words: readonly string[], targets: Targets, depth: number): number {
    const [path = "", ...args] = words;
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (shells.has(name)) return this.#runShell(args, targets, depth);
    switch (name) {
      case "true":
      case ":":
        return 0;
      case "false":
        return 1;
      case "echo":
        return this.#echo(args, targets);
      case "env":
      case "printenv":
        return this.#printEnvironment(args, targets);
      case "hostname":
        return this.#print(`${this.#world.hostname}\n`, targets);
      case "pwd":
        return this.#print("/\n", targets);
      case "whoami":
        return this.#print("root\n", targets);
      case "date":
        return this.#print(`${this.#dateText()}\n`, targets);
      case "sleep":
        return this.#sleep(args, targets);
      case "touch":
        return this.#touch(args);
      case "cat":
        return this.#cat(args, targets);
      case "expr":
        return this.#expr(args, targets);
      case "test":
      case "[":
      case "[[":
        return this.#test(name, args, targets);
      case "exit":
        return this.#leave(args, targets, depth);
      default:
        this.isUnderstood = false;
        this.#complain(depth === 0 ? notFoundText(path) : `sh: ${path}: not found`, targets);
        return notFoundCode;
    }
  }

  #runShell([option, text, ...rest]: readonly string[], targets: Targets, depth: number): number {
    const isScript = option !== undefined && /^-[a-z]*c$/.test(option) && text !== undefined;
    if (!isScript || depth === depthMax) {
      this.isUnderstood = false;
      this.#complain("sh: the simulated shell only knows -c with a text", targets);
      return syntaxErrorCode;
    }
    this.#charge(text.length * parsedCharacterWork);
    const stopsAtFailure = option.includes("e");
    const before = this.#environment;
    try {
      const code = this.#runCommands(parseShell(text), rest, targets, depth + 1, stopsAtFailure);
      this.#exit = undefined;
      return code;
    } catch (error) {
      if (!(error instanceof ShellSyntaxError)) throw error;
      this.isUnderstood = false;
      this.#complain(`sh: syntax that the simulated shell does not know: ${error.message}`, targets);
      return syntaxErrorCode;
    } finally {
      this.#environment = before;
    }
  }

  #runCommands(
    commands: readonly ShellCommand[],
    parameters: readonly string[],
    targets: Targets,
    depth: number,
    stopsAtFailure: boolean,
  ): number {
    let code = 0;
    for (const [at, command] of commands.entries()) {
      if (command.after === "success" && code !== 0) continue;
      if (command.after === "failure" && code === 0) continue;
      this.#charge(commandWork);
      const next = commands[at + 1]?.after;
      const isTested = next === "success" || next === "failure";
      const stops = stopsAtFailure && !isTested;
      const run = (some: readonly ShellCommand[], mayStop: boolean) =>
        this.#runCommands(some, parameters, targets, depth, mayStop);
      if (command.kind === "if") {
        const holds = run(command.condition, false) === 0;
        code = this.#isOver ? code : run(holds ? command.chosen : command.otherwise, stops);
      } else if (command.kind === "while") {
        code = this.#runLoop(command, run, stops);
      } else {
        code = this.#runSimple(command, parameters, targets, depth, code);
        if (stops && code !== 0) this.#exit ??= code;
      }
      if (this.#exit !== undefined) return this.#exit;
      if (this.elapsedMs === Number.POSITIVE_INFINITY) return code;
    }
    return code;
  }

  get #isOver(): boolean {
    return this.#exit !== undefined || this.elapsedMs === Number.POSITIVE_INFINITY || !this.isUnderstood;
  }

  #runLoop(
    { condition, isUntil, body }: Loop,
    run: (commands: readonly ShellCommand[], stopsAtFailure: boolean) => number,
    stopsAtFailure: boolean,
  ): number {
    let code = 0;
    this.#loops++;
    while (!this.#isOver) {
      const holds = (run(condition, false) === 0) !== isUntil;
      if (!holds || this.#isOver) break;
      code = run(body, stopsAtFailure);
    }
    this.#loops--;
    return code;
  }

  #runSimple(
    command: SimpleCommand,
    parameters: readonly string[],
    targets: Targets,
    depth: number,
    lastCode: number,
  ): number {
    const words = command.words.map((word) => this.#expand(word, parameters, lastCode, depth));
    const before = this.#environment;
    this.#assign(command.assignments, parameters, lastCode, depth);
    if (words.length === 0) return 0;
    const code = this.#run(words, redirected(command, targets), depth);
    this.#environment = before;
    return code;
  }

  #assign(assignments: readonly Assignment[], parameters: readonly string[], code: number, depth: number): void {
    if (assignments.length === 0) return;
    this.#charge(this.#environment.size * stepWork);
    const environment = new Map(this.#environment);
    this.#environment = environment;
    for (const { name, value } of assignments) environment.set(name, this.#expand(value, parameters, code, depth));
  }

  #expand(word: Word, parameters: readonly string[], code: number, depth: number): string {
    const environment = this.#environment;
    const valueOf = (name: string) => {
      const variable = /^[0-9]$/.test(name) ? parameters[Number(name)] : environment.get(name);
      const value = name === "?" ? String(code) : (variable ?? "");
      this.#charge(stepWork + value.length);
      return value;
    };
    const pattern = /\$(?:\{([A-Za-z_][A-Za-z0-9_]*|[0-9])\}|([A-Za-z_][A-Za-z0-9_]*|[0-9?]))/g;
    return word
      .map((part) => {
        this.#charge(stepWork);
        if ("output" in part) return this.#outputOf(part.output, parameters, depth);
        this.#charge(part.text.length);
        if (part.isLiteral) return part.text;
        return part.text.replace(pattern, (_whole, braced?: string, bare?: string) => valueOf(braced ?? bare ?? ""));
      })
      .join("");
  }

  /** Returns the output of commands within a word, without the newlines at its end. */
  #outputOf(commands: readonly ShellCommand[], parameters: readonly string[], depth: number): string {
    const outer = this.#captured;
    const captured: string[] = [];
    this.#captured = captured;
    this.#runCommands(commands, parameters, { stdout: "stdout", stderr: "stderr" }, depth, false);
    this.#captured = outer;
    // An exit leaves the commands only.
    this.#exit = undefined;
    const text = captured.join("");
    let end = text.length;
    while (text[end - 1] === "\n") end--;
    return text.slice(0, end);
  }

  /** Reports whether files can be looked at. The course of a command is worked out before others change them. */
  #seesFiles(): boolean {
    this.#charge(stepWork);
    if (this.elapsedMs > 0) this.isUnderstood = false;
    return this.isUnderstood;
  }

  #has(path: string): boolean {
    return this.#seesFiles() && (this.made.has(path) || this.#world.files?.has(path) === true);
  }

  #touch(paths: readonly string[]): number {
    for (const path of paths) {
      if (!this.#seesFiles()) break;
      this.#charge(madeFileWork);
      this.made.add(path);
    }
    return 0;
  }

  #cat(paths: readonly string[], targets: Targets): number {
    let code = 0;
    for (const path of paths) {
      if (this.#has(path)) continue;
      this.#complain(`cat: can't open '${path}': No such file or directory`, targets);
      code = 1;
    }
    if (paths.length === 0) this.isUnderstood = false;
    return code;
  }

  #expr([left = "", operator = "", right = "", ...rest]: readonly string[], targets: Targets): number {
    const result = rest.length === 0 ? calculate(left, operator, right) : undefined;
    if (result === undefined) {
      this.isUnderstood = false;
      this.#complain("expr: syntax error", targets);
      return syntaxErrorCode;
    }
    this.#print(`${result}\n`, targets);
    return result === 0 ? 1 : 0;
  }

  #test(name: string, args: readonly string[], targets: Targets): number {
    const end = name === "[" ? "]" : name === "[[" ? "]]" : undefined;
    const words = end === undefined ? args : args.slice(0, -1);
    const result =
      args.at(-1) === end || end === undefined ? evaluateTest(words, (path) => this.#has(path)) : undefined;
    if (result !== undefined) return result ? 0 : 1;
    this.isUnderstood = false;
    this.#complain(`sh: ${name}: a condition that the simulated shell does not know`, targets);
    return syntaxErrorCode;
  }

  #echo(args: readonly string[], targets: Targets): number {
    const options = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
    const given = args.slice(0, options === -1 ? args.length : options).join("");
    const text = args.slice(options === -1 ? args.length : options).join(" ");
    const written = given.includes("e") ? text.replaceAll("\\n", "\n").replaceAll("\\t", "\t") : text;
    return this.#print(given.includes("n") ? written : `${written}\n`, targets);
  }

  #printEnvironment(args: readonly string[], targets: Targets): number {
    const environment = this.#environment;
    const [name] = args;
    if (name === undefined) {
      this.#charge(environment.size * stepWork);
      return this.#print([...environment].map(([key, value]) => `${key}=${value}\n`).join(""), targets);
    }
    const value = environment.get(name);
    return value === undefined ? 1 : this.#print(`${value}\n`, targets);
  }

  #dateText(): string {
    const elapsedMs = Number.isFinite(this.elapsedMs) ? this.elapsedMs : 0;
    const [day, date, month, year, time] = new Date(this.#world.nowMs + elapsedMs).toUTCString().split(" ");
    return `${day?.slice(0, 3)} ${month} ${Number(date).toString().padStart(2)} ${time} UTC ${year}`;
  }

  #sleep([time = "", ...rest]: readonly string[], targets: Targets): number {
    const [, amount, unit = "s"] = /^([0-9]{1,12}(?:\.[0-9]{1,9})?|infinity|inf)([smhd]?)$/.exec(time) ?? [];
    if (amount === undefined || rest.length > 0) {
      this.#complain(`sleep: invalid time interval '${[time, ...rest].join(" ")}'`, targets);
      return 1;
    }
    const seconds = amount.startsWith("inf") ? Number.POSITIVE_INFINITY : Number(amount);
    const factor = { "": 1, s: 1, m: 60, h: 3_600, d: 86_400 }[unit] ?? 1;
    this.elapsedMs += seconds * factor * 1_000;
    return 0;
  }

  #leave([text = "0"]: readonly string[], targets: Targets, depth: number): number {
    const isCode = /^[0-9]{1,9}$/.test(text);
    if (depth === 0) {
      this.isUnderstood = false;
      this.#complain(notFoundText("exit"), targets);
      return notFoundCode;
    }
    if (!isCode) this.#complain(`sh: exit: Illegal number: ${text}`, targets);
    this.#exit = isCode ? Number(text) % 256 : syntaxErrorCode;
    return this.#exit;
  }

  #print(text: string, { stdout }: Targets): number {
    this.#write(text, stdout);
    return 0;
  }

  #complain(text: string, { stderr }: Targets): void {
    this.#write(`${text}\n`, stderr);
  }

  #write(text: string, target: Targets["stdout"]): void {
    this.#charge(text.length);
    if (target === "dropped" || text === "") return;
    if (target === "stdout" && this.#captured !== undefined) this.#captured.push(text);
    else this.outputs.push({ afterMs: this.elapsedMs, stream: target, text });
  }
}

/** Returns where the streams of a command go whose shell has itself been redirected. */
function redirected(command: Targets, outer: Targets): Targets {
  const through = (target: Targets["stdout"]) => (target === "dropped" ? target : outer[target]);
  return { stdout: through(command.stdout), stderr: through(command.stderr) };
}

/** Returns undefined unless the words calculate with whole numbers. */
function calculate(left: string, operator: string, right: string): number | undefined {
  const number = /^-?[0-9]{1,15}$/;
  if (!number.test(left) || !number.test(right)) return undefined;
  const [a, b] = [Number(left), Number(right)];
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return b === 0 ? undefined : Math.trunc(a / b);
    case "%":
      return b === 0 ? undefined : a % b;
    default:
      return undefined;
  }
}

function notFoundText(path: string): string {
  const problem = path.startsWith("/") ? "no such file or directory" : "executable file not found in $PATH";
  return `exec: ${JSON.stringify(path)}: ${path.startsWith("/") ? `stat ${path}: ` : ""}${problem}`;
}
