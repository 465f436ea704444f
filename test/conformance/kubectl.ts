import { readdirSync, realpathSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Standard input of kubectl; closed at once if absent. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A command that keeps running, such as `get -w`. It ends by `stop` or by itself. */
export interface Running extends AsyncDisposable {
  /** Resolves with everything printed so far once `done` returns true. */
  until(done: (printed: string) => boolean): Promise<string>;
  /** Does the same with the error output. */
  complaint(done: (printed: string) => boolean): Promise<string>;
}

/** Time limit of a command, after which the test fails. Normal commands take a second or two. */
const commandTimeoutMs = 15_000;

/**
 * Value of `--controllers` for tests that count objects, or whose objects name owners that do not exist: without the
 * ConfigMap in every namespace, without the endpoints of services, and without the garbage collector.
 */
export const quietControllers = [
  "*",
  "-root-ca-certificate-publisher-controller",
  "-garbage-collector-controller",
  "-disruption-controller",
  "-endpoints-controller",
  "-endpointslice-controller",
  "-endpointslice-mirroring-controller",
].join(",");

/** The real kubectl with a home directory of its own, so that configuration and caches are isolated. */
export class Kubectl implements AsyncDisposable {
  readonly #home: string;
  readonly #binary: string;

  private constructor(home: string) {
    this.#home = home;
    this.#binary = findKubectl();
  }

  static async open(kubeconfig: string): Promise<Kubectl> {
    const home = await mkdtemp(join(tmpdir(), "quorate-kubectl-"));
    await writeFile(join(home, "kubeconfig"), kubeconfig, { mode: 0o600 });
    return new Kubectl(home);
  }

  /** Runs to the end, whatever the exit code. */
  async run(args: readonly string[], { input, env = {} }: RunOptions = {}): Promise<Finished> {
    const child = Bun.spawn([this.#binary, ...args], {
      cwd: this.#home,
      env: this.#environment(env),
      stdin: input === undefined ? "ignore" : Buffer.from(input),
      stdout: "pipe",
      stderr: "pipe",
      timeout: commandTimeoutMs,
    });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, stdout, stderr };
  }

  /** Returns the output of the command. @throws with its error output if it fails */
  async ok(args: readonly string[], options?: RunOptions): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")} exited with ${code}\n${stderr}${stdout}`);
    return stdout;
  }

  /** Returns the error output of the command. @throws if it succeeds */
  async refused(args: readonly string[], options?: RunOptions): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code === 0) throw new Error(`kubectl ${args.join(" ")} should have failed but printed\n${stdout}`);
    return stderr.trimEnd();
  }

  /** Returns the object or list of `get -o json`. */
  async get(args: readonly string[]): Promise<any> {
    return JSON.parse(await this.ok(["get", "-o", "json", ...args]));
  }

  /** Runs `apply -f -` with a document. */
  apply(document: string | object, ...args: readonly string[]): Promise<string> {
    return this.ok(["apply", "-f", "-", ...args], { input: textOf(document) });
  }

  /** Starts a command that does not end by itself. */
  start(args: readonly string[], { env = {} }: Pick<RunOptions, "env"> = {}): Running {
    const child = Bun.spawn([this.#binary, ...args], {
      cwd: this.#home,
      env: this.#environment(env),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: commandTimeoutMs,
    });
    const output = new PrintedText(child.stdout);
    const errors = new PrintedText(child.stderr);
    return {
      async until(done) {
        if (await output.readUntil(done)) return output.text;
        throw new Error(`kubectl ${args.join(" ")} ended\n${output.text}${await errors.all()}`);
      },
      async complaint(done) {
        if (await errors.readUntil(done)) return errors.text;
        throw new Error(`kubectl ${args.join(" ")} ended\n${errors.text}`);
      },
      async [Symbol.asyncDispose]() {
        child.kill();
        await child.exited;
      },
    };
  }

  /** Writes a file to the home directory, which is also the working directory, and returns its path. */
  async file(name: string, text: string): Promise<string> {
    const path = join(this.#home, name);
    await writeFile(path, text);
    return path;
  }

  /** Returns the text of a file in the home directory. */
  readBack(name: string): Promise<string> {
    return readFile(join(this.#home, name), "utf8");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#home, { recursive: true, force: true });
  }

  #environment(extra: Readonly<Record<string, string>>): Record<string, string> {
    return {
      PATH: process.env.PATH ?? "",
      HOME: this.#home,
      KUBECONFIG: join(this.#home, "kubeconfig"),
      ...extra,
    };
  }
}

/** The output of a command while it runs. */
class PrintedText {
  text = "";
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder = new TextDecoder();

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Returns false if the output ends first. */
  async readUntil(done: (printed: string) => boolean): Promise<boolean> {
    while (!done(this.text)) {
      const { value, done: ended } = await this.#chunks.next();
      if (ended === true) return false;
      this.text += this.#decoder.decode(value, { stream: true });
    }
    return true;
  }

  async all(): Promise<string> {
    await this.readUntil(() => false);
    return this.text;
  }
}

export function textOf(document: string | object): string {
  return typeof document === "string" ? document : JSON.stringify(document);
}

/**
 * Returns `$KUBECTL`, or the kubectl on the path. Some distributions install a dispatcher that asks the server before
 * each command, with one `kubectl.<version>` per minor version beside it. The newest of these is used directly.
 */
function findKubectl(): string {
  const asked = process.env.KUBECTL;
  if (asked !== undefined && asked !== "") return asked;
  const found = Bun.which("kubectl");
  if (found === null) throw new Error("these tests drive kubectl: install it, or name it in $KUBECTL");
  const directory = dirname(realpathSync(found));
  const minors = readdirSync(directory).flatMap((name) => {
    const minor = /^kubectl\.1\.([0-9]+)$/.exec(name)?.[1];
    return minor === undefined ? [] : [Number(minor)];
  });
  return minors.length === 0 ? found : join(directory, `kubectl.1.${Math.max(...minors)}`);
}
