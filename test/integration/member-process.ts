import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "../../raft/testing/free-ports.ts";

const main = join(import.meta.dir, "../../src/main.ts");
const startMsMax = 30_000;

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command to its end. */
export async function quorate(args: readonly string[], environment: Record<string, string> = {}): Promise<Ran> {
  const child = Bun.spawn([process.execPath, main, ...args], {
    env: { ...process.env, ...environment },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}

/** A member in a separate process. */
export class MemberProcess implements AsyncDisposable {
  readonly name: string;
  readonly directory: string;
  readonly peerPort: number;
  readonly port: number;
  /** The command line of the program. */
  readonly #program: readonly string[];
  #child: Bun.Subprocess<"ignore", "pipe", "pipe"> | undefined;
  err = "";

  private constructor(
    root: string,
    name: string,
    [peerPort, port]: readonly [number, number],
    program: readonly string[],
  ) {
    this.#program = program;
    this.name = name;
    this.directory = join(root, name);
    this.peerPort = peerPort;
    this.port = port;
  }

  /** @param program the command line of the program; runs the sources by default */
  static async create(root: string, name: string, program = [process.execPath, main]): Promise<MemberProcess> {
    const [peerPort = 0, port = 0] = await freePorts(2);
    return new MemberProcess(root, name, [peerPort, port], program);
  }

  get pid(): number {
    if (this.#child === undefined) throw new Error(`${this.name} does not run`);
    return this.#child.pid;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get kubeconfig(): string {
    return join(this.directory, "kubeconfig");
  }

  get token(): string {
    return readFileSync(join(this.directory, "pki/token"), "utf8").trim();
  }

  get ca(): string {
    return readFileSync(join(this.directory, "pki/ca.crt"), "utf8");
  }

  get flags(): string[] {
    const { directory, peerPort, port, name } = this;
    const addresses = ["--peer-address", `127.0.0.1:${peerPort}`, "--secure-port", `${port}`];
    return ["--data-dir", directory, "--member-name", name, ...addresses];
  }

  /** Resolves when it serves. @throws Error with its output, if it ends first */
  async start(command: readonly string[] = ["up"], flags: readonly string[] = this.flags): Promise<void> {
    const child = Bun.spawn([...this.#program, ...command, ...flags], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#child = child;
    void (async () => {
      for await (const chunk of child.stderr) this.err += new TextDecoder().decode(chunk);
    })();
    const serving = (async () => {
      for await (const chunk of child.stdout) if (new TextDecoder().decode(chunk).includes("KUBECONFIG")) return true;
      return false;
    })();
    const late = Bun.sleep(startMsMax).then(() => false);
    if (await Promise.race([serving, late])) return;
    child.kill("SIGKILL");
    await child.exited;
    throw new Error(`${this.name} does not serve: ${this.err}`);
  }

  /** Resolves with the exit code when the process ends by itself. */
  async ended(): Promise<number> {
    const code = await this.#child?.exited;
    this.#child = undefined;
    return code ?? -1;
  }

  /** Stops the process as if the machine stood still, until `SIGCONT`. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(signal);
  }

  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    this.#child?.kill(signal);
    await this.#child?.exited;
    this.#child = undefined;
  }

  /** Returns the unparsed answer to the administrator, or to the holder of another token. */
  fetch(method: string, path: string, { body, token = this.token }: { body?: object; token?: string } = {}) {
    return fetch(this.url + path, {
      method,
      tls: { ca: this.ca },
      keepalive: false,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Returns the JSON answer to the administrator. */
  async request(method: string, path: string, body?: object): Promise<{ code: number; json: any }> {
    const response = await this.fetch(method, path, body === undefined ? {} : { body });
    return { code: response.status, json: await response.json() };
  }

  /** Runs a cluster command against this member. */
  run(...args: string[]): Promise<Ran> {
    return quorate([...args, "--kubeconfig", this.kubeconfig]);
  }

  /** Returns the output of `token create` as arguments of a command line. */
  async invitation(): Promise<string[]> {
    const { code, out, err } = await this.run("cluster", "token", "create");
    if (code !== 0) throw new Error(err);
    const [command = ""] = out.trim().replace("quorate ", "").split(" --peer-address");
    return command.split(" ");
  }

  get isPrepared(): boolean {
    return existsSync(join(this.directory, "identity.json"));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop("SIGKILL");
  }
}

/** Repeats the request until there is an answer. The test's time limit ends it otherwise. */
export async function eventually<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined) return answer;
    await Bun.sleep(100);
  }
}
