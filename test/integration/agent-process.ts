import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";

const main = join(import.meta.dir, "../../src/main.ts");
const startMsMax = 30_000;

/** `quorate agent` as users run it, in a process of its own. */
export class AgentProcess implements AsyncDisposable {
  readonly #command: readonly string[];
  #child: Bun.Subprocess<"ignore", "ignore", "pipe"> | undefined;
  complaints = "";

  /** @param args the flags, or `join` with its arguments. The fixed port of /healthz is off, as agents share a machine */
  constructor(...args: string[]) {
    this.#command = [process.execPath, main, "agent", ...args, "--healthz-port=0"];
  }

  get pid(): number {
    if (this.#child === undefined) throw new Error("the agent does not run");
    return this.#child.pid;
  }

  /** Port of the HTTPS endpoint. */
  get port(): number {
    return Number(/on port (\d+)/.exec(this.complaints)?.[1]);
  }

  /** Resolves when the agent says that its node runs. @throws Error with its output, if it ends first */
  async start(): Promise<this> {
    const child = Bun.spawn([...this.#command], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    this.#child = child;
    this.complaints = "";
    void (async () => {
      const decoder = new TextDecoder();
      for await (const bytes of child.stderr) this.complaints += decoder.decode(bytes, { stream: true });
    })();
    for (const endMs = performance.now() + startMsMax; !this.complaints.includes("on port "); await Bun.sleep(20)) {
      if (child.exitCode === null && performance.now() < endMs) continue;
      throw new Error(`the agent has not started: ${this.complaints}`);
    }
    return this;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(signal);
  }

  /** @returns the exit code */
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number> {
    this.#child?.kill(signal);
    const code = await this.#child?.exited;
    this.#child = undefined;
    return code ?? -1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
  }
}

/** A network path to a server that a test cuts and heals. Bytes that are on their way wait, as TCP repeats them. */
export class NetworkPath implements Disposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number): Promise<NetworkPath> {
    const server = createServer({ pauseOnConnect: true });
    const path = new NetworkPath(server);
    server.on("connection", (client) => path.#connect(client, port));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return path;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  heal(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #connect(client: Socket, port: number): void {
    const upstream = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(from);
      from.on("data", (chunk) => to.write(chunk));
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isCut) from.pause();
      else from.resume();
    }
  }
}

/** Writes a copy of a kubeconfig for the same server at another port of this machine. Returns its path. */
export function kubeconfigAt(kubeconfig: string, port: number, to: string): string {
  const text = readFileSync(kubeconfig, "utf8");
  writeFileSync(to, text.replaceAll(/server: "https:[^"]+"/g, `server: "https://127.0.0.1:${port}"`), { mode: 0o600 });
  return to;
}
