import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../raft/testing/free-ports.ts";
import { findHaproxy } from "../../src/cli/cluster/local-cluster-balancer.ts";

const main = join(import.meta.dir, "../../src/main.ts");
const startMsMax = 90_000;

/** `quorate cluster up` as users run it: real processes, behind haproxy if it is installed. */
export class LocalClusterCommand {
  readonly #child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly printed: Promise<string>;
  complaints = "";

  /** Resolves when a new cluster runs, at ports that no connection takes while a replica is stopped. */
  static async found(directory: string): Promise<LocalClusterCommand> {
    return new LocalClusterCommand(directory, `--secure-port=${await freePort()}`).ready();
  }

  constructor(directory: string, ...flags: string[]) {
    this.#child = Bun.spawn(
      [process.execPath, main, "cluster", "up", "--data-dir", directory, "--secure-port=0", ...flags],
      { stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    );
    this.printed = this.#child.stdout.text();
    void this.#readComplaints();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves when the command reports that everything runs. */
  async ready(): Promise<this> {
    await this.says((line) => line.includes("spreads connections") || line.includes("no load balancer"), startMsMax);
    return this;
  }

  /** Resolves with the first complete line that matches, and the output after it. @throws if the command ends first */
  async says(isIt: (line: string) => boolean, msMax = 30_000): Promise<readonly [said: string, next: string]> {
    for (const endMs = performance.now() + msMax; ; await Bun.sleep(20)) {
      // The text after the last line break is an incomplete line.
      const lines = this.complaints.split("\n").slice(0, -1);
      const at = lines.findIndex(isIt);
      if (at >= 0) return [lines[at] ?? "", lines[at + 1] ?? ""];
      if (performance.now() > endMs || this.#child.exitCode !== null) {
        throw new Error(`the command has not said so: ${isIt}\nbut\n${this.complaints}`);
      }
    }
  }

  /** Returns the pid of the current process. */
  pidOf(name: string): number {
    const lines = this.complaints
      .split("\n")
      .filter((line) => [" is ", ", ", " runs again, "].some((said) => line.startsWith(name + said)));
    const [, pid] = /process (\d+)/.exec(lines.at(-1) ?? "") ?? [];
    return Number(pid);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** @returns the exit code */
  stop(): Promise<number> {
    this.#child.kill("SIGTERM");
    return this.#child.exited;
  }

  get exited(): Promise<number> {
    return this.#child.exited;
  }

  async #readComplaints(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of this.#child.stderr) this.complaints += decoder.decode(bytes, { stream: true });
  }
}

export class Scratch implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), "quorate-cluster-"));

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export const hasHaproxy = findHaproxy() !== undefined;

/** Returns the processes with the directory on their command line. */
export function processesOf(directory: string): string[] {
  const listed = Bun.spawnSync(["ps", "-e", "-o", "pid=,args="]).stdout.toString();
  return listed.split("\n").filter((line) => line.includes(directory));
}

/**
 * Returns the address of the cluster: haproxy's if it is installed, or that of a proxy of ours that tries one replica
 * after the other.
 */
export async function openWay(directory: string): Promise<{ kubeconfig: string } & AsyncDisposable> {
  const kubeconfig = readFileSync(join(directory, "kubeconfig"), "utf8");
  if (hasHaproxy) return { kubeconfig, async [Symbol.asyncDispose]() {} };
  const { members } = JSON.parse(readFileSync(join(directory, "cluster.json"), "utf8")) as {
    members: { port: number }[];
  };
  const proxy = await openProxy(members.map(({ port }) => port));
  const { port } = proxy.address() as { port: number };
  return {
    kubeconfig: kubeconfig.replace(/server: "https:[^"]+"/, `server: "https://127.0.0.1:${port}"`),
    async [Symbol.asyncDispose]() {
      proxy.close();
    },
  };
}

async function openProxy(ports: readonly number[]): Promise<Server> {
  let next = 0;
  const server = createServer((client) => {
    client.on("error", () => client.destroy());
    attempt(client, ports.length);
  });
  function attempt(client: Socket, attempts: number): void {
    if (attempts === 0) return void client.destroy();
    const upstream = connect(ports[next++ % ports.length] ?? 0, "127.0.0.1");
    let isConnected = false;
    upstream.on("connect", () => {
      isConnected = true;
      client.pipe(upstream).pipe(client);
    });
    client.on("close", () => upstream.destroy());
    upstream.on("error", () => (isConnected ? client.destroy() : attempt(client, attempts - 1)));
    upstream.on("close", () => isConnected && client.destroy());
  }
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return server;
}
