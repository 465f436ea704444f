import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import { systemClock } from "../../../process/clock.ts";
import {
  type ContainerConfig,
  type ContainerState,
  type ProcessStreams,
  RuntimeError,
  type Sandbox,
} from "../runtime.ts";
import { ProcessRuntime } from "./process-runtime.ts";
import { allProcesses } from "./process-table.ts";

const pollMs = 10;

export const forever = new AbortController().signal;

export const testPod: Pod = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "web", namespace: "shop", uid: "pod-1" },
  spec: { containers: null },
};

/** A runtime with one sandbox in a folder of its own. */
export class TestRuntime implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "process-runtime-"));
  runtime!: ProcessRuntime;
  sandbox!: Sandbox;

  static async open(): Promise<TestRuntime> {
    const opened = new TestRuntime();
    await opened.reopen();
    opened.sandbox = await opened.runtime.runSandbox(testPod, 0);
    return opened;
  }

  /** Opens the runtime as the next agent does. */
  async reopen(): Promise<void> {
    const [folder, logDirectory] = [join(this.folder, "runtime"), join(this.folder, "logs")];
    this.runtime = await ProcessRuntime.open({ folder, logDirectory, clock: systemClock });
  }

  configOf(script: string, spec: Partial<Container> = {}, changes: Partial<ContainerConfig> = {}): ContainerConfig {
    return {
      spec: { name: "main", image: "example.com/web:1", ...spec },
      attempt: 0,
      imageRef: "example.com/web:1",
      command: ["/bin/sh", "-c", script],
      args: undefined,
      environment: [],
      mounts: [],
      logPath: join(this.folder, "logs", "shop_web_pod-1", "main", "0.log"),
      ...changes,
    };
  }

  async run(script: string, spec?: Partial<Container>, changes?: Partial<ContainerConfig>): Promise<string> {
    const id = await this.runtime.createContainer(this.sandbox, testPod, this.configOf(script, spec, changes));
    await this.runtime.startContainer(id);
    return id;
  }

  async stateOf(id: string): Promise<ContainerState> {
    return (await this.#find(id)).state;
  }

  /** Waits for the end of a container, for as long as the test may take. */
  async ended(id: string): Promise<ContainerState> {
    for (let state = await this.stateOf(id); ; state = await this.stateOf(id)) {
      if (state.kind === "exited") return state;
      await Bun.sleep(pollMs);
    }
  }

  /** Returns the lines of a log with the names of their streams. */
  async logOf(id: string, follow = false): Promise<string[]> {
    const lines: string[] = [];
    for await (const { stream, text } of this.runtime.logs(await this.#find(id), { follow, signal: forever })) {
      lines.push(`${stream} ${Buffer.from(text).toString().trimEnd()}`);
    }
    return lines;
  }

  /** Returns the path of a file in the records of a container. */
  recordPath(id: string, name = "record.json"): string {
    return join(this.folder, "runtime", "containers", id, name);
  }

  workPath(id: string, name = ""): string {
    return join(this.folder, "runtime", "work", id, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { id } of await this.runtime.sandboxes()) await this.runtime.removeSandbox(id);
    await this.runtime[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #find(id: string) {
    const container = (await this.runtime.containers()).find((one) => one.id === id);
    if (container === undefined) throw new Error(`no container ${id}`);
    return container;
  }
}

/** Collects the output of a process. */
export function collect(): ProcessStreams & { readonly text: () => string } {
  let text = "";
  const take = (chunk: Uint8Array) => {
    text += Buffer.from(chunk).toString();
  };
  return { stdout: take, stderr: take, text: () => text };
}

export async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** Yields a text, and ends only with the signal. */
export async function* endless(text: string, end: AbortSignal): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
  await new Promise((resolve) => end.addEventListener("abort", resolve));
}

export async function problemOf(promise: Promise<unknown>): Promise<RuntimeError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof RuntimeError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** Returns the processes whose command line has a text. */
export function processesWith(text: string): number[] {
  const pids = allProcesses().filter(({ isDefunct }) => !isDefunct);
  return pids.map(({ pid }) => pid).filter((pid) => commandLine(pid).includes(text));
}

/** Returns a number of seconds that no other process sleeps, to find a process by. */
export function rareSeconds(): string {
  return `1${String(Math.floor(Math.random() * 1e8)).padStart(8, "0")}`;
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
