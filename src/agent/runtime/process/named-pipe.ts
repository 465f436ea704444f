import { closeSync, constants, openSync } from "node:fs";

/** Makes named pipes that only the agent's user can open. @throws Error if the machine cannot */
export async function makePipes(paths: readonly string[]): Promise<void> {
  const made = Bun.spawn(["mkfifo", "-m", "600", ...paths], { stdout: "ignore", stderr: "pipe" });
  const problem = await made.stderr.text();
  if ((await made.exited) !== 0) throw new Error(problem.trim());
}

/** Opens a pipe so that it neither blocks nor ends while this descriptor is open. */
export function holdPipe(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
}

/** Reads a pipe until all its writers have closed it. */
export class PipeReader implements Disposable {
  readonly #reader: ReturnType<typeof openReader>;
  /** Resolves at the end of the pipe, or when the reading has been given up. */
  readonly ended: Promise<void>;

  constructor(path: string, take: (chunk: Uint8Array) => void) {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.#reader = openReader(file);
    this.ended = this.#readAll(take).finally(() => closeSync(file));
  }

  [Symbol.dispose](): void {
    void this.#reader.cancel().catch(() => {});
  }

  async #readAll(take: (chunk: Uint8Array) => void): Promise<void> {
    while (true) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      take(value);
    }
  }
}

function openReader(file: number) {
  return Bun.file(file).stream().getReader();
}
