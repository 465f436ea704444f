import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A child process. It is killed on disposal. */
export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** Time from the start of the process to its line of readiness. */
  readonly startMs: number;
}

/** A server. */
export interface Served extends Child {
  readonly url: string;
  readonly token: string;
  /** Address of the lag meter, if the process has one. */
  readonly lagUrl?: string;
}

type Announced = Pick<Served, "url" | "token" | "lagUrl">;

/** A webhook. */
export interface ServedWebhook extends Child {
  readonly url: string;
  /** The authority of its certificate. */
  readonly ca: string;
}

const root = join(import.meta.dir, "../..");
const program = join(import.meta.dir, "server.ts");
const simulatedAgentProgram = join(import.meta.dir, "simulated-agent.ts");
const webhookProgram = join(import.meta.dir, "webhook-server.ts");

/** Starts `server.ts` with these arguments, and waits until it serves. */
export function serve(...args: string[]): Promise<Served> {
  return start([process.execPath, program, ...args], 1, (printed) => JSON.parse(printed) as Announced);
}

/** Starts `webhook-server.ts`, and waits until it serves. */
export function serveWebhook(): Promise<ServedWebhook> {
  return start([process.execPath, webhookProgram], 1, (printed) => JSON.parse(printed) as { url: string; ca: string });
}

/** Starts `simulated-agent.ts`, and waits until its nodes are registered. */
export function serveSimulatedAgent(kubeconfig: string, nodes: number): Promise<Child> {
  return start([process.execPath, simulatedAgentProgram, kubeconfig, String(nodes)], 1, () => ({}));
}

/**
 * Builds the program as `npm start` does, and returns its path.
 * @param commit the commit to build, with its own packages; undefined for the working tree
 */
export async function makeProgram(directory: string, commit?: string): Promise<string> {
  const sources = commit === undefined ? root : await sourcesOf(commit, join(directory, "sources"));
  const builder = Bun.spawn([process.execPath, join(sources, "scripts/compile.ts"), `--outdir=${directory}`], {
    stderr: "inherit",
  });
  if ((await builder.exited) !== 0) throw new Error("the program cannot be built");
  return join(directory, "quorate");
}

/** The inputs of a build. */
const sourcePaths = ["package.json", "bunfig.toml", "tsconfig.json", "scripts", "src", "raft"];

async function sourcesOf(commit: string, directory: string): Promise<string> {
  await mkdir(directory);
  const archive = Bun.spawn(["git", "-C", root, "archive", commit, ...sourcePaths], { stderr: "inherit" });
  const unpacked = Bun.spawn(["tar", "-x", "-C", directory], { stdin: archive.stdout, stderr: "inherit" });
  if ((await archive.exited) !== 0 || (await unpacked.exited) !== 0)
    throw new Error(`there are no sources of ${commit}`);
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
  return directory;
}

/**
 * Starts the program as a user does, and waits until it prints the next commands.
 * @param program the words of its command line
 */
export function startProgram(program: readonly string[], directory: string): Promise<Served> {
  return start([...program, "up", "--data-dir", directory, "--secure-port", "0"], 2, () => {
    const kubeconfig = readFileSync(join(directory, "kubeconfig"), "utf8");
    const url = /server: "?([^"\s]+)/.exec(kubeconfig)?.[1] ?? "";
    const token = /token: "?([^"\s]+)/.exec(kubeconfig)?.[1] ?? "";
    return { url, token };
  });
}

async function start<Told extends object>(
  command: readonly string[],
  lines: number,
  read: (printed: string) => Told,
): Promise<Told & Child> {
  const startedMs = performance.now();
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "inherit" });
  const reader = child.stdout.getReader();
  let printed = "";
  while (printed.split("\n").length <= lines) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the server ended before it served (exit code ${await child.exited})`);
    printed += new TextDecoder().decode(value);
  }
  const startMs = performance.now() - startedMs;
  return {
    ...read(printed),
    pid: child.pid,
    startMs,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** A directory that is removed on disposal. */
export async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "quorate-bench-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Returns the resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  return kilobytesOf(pid, /^VmRSS:\s+(\d+) kB/m) * 1024;
}

/** Returns the memory of a process that is not a page of a file, such as its program, which processes share. */
export function privateBytes(pid: number): number {
  return kilobytesOf(pid, /^RssAnon:\s+(\d+) kB/m) * 1024;
}

/** Returns the peak resident memory. */
export function peakBytes(pid: number): number {
  return kilobytesOf(pid, /^VmHWM:\s+(\d+) kB/m) * 1024;
}

function kilobytesOf(pid: number, field: RegExp): number {
  return Number(field.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

const ticksPerSecond = 100;

/** Returns the CPU seconds of a process, in user and kernel mode together. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
