import type { ExecOptions, Runtime, RuntimeId } from "../runtime/runtime.ts";

/** Number of bytes of a command's output that are kept. The rest is dropped. */
const outputBytesMax = 10 * 1024;

export interface CommandResult {
  readonly exitCode: number;
  /** Both streams, as they arrived. */
  readonly output: string;
}

/** Runs a command in a container to its end. */
export async function runInContainer(
  runtime: Pick<Runtime, "exec">,
  id: RuntimeId,
  command: readonly string[],
  { signal = new AbortController().signal, ...limits }: Partial<Omit<ExecOptions, "tty">> = {},
): Promise<CommandResult> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const keep = (chunk: Uint8Array): void => {
    const rest = outputBytesMax - bytes;
    if (rest <= 0) return;
    chunks.push(chunk.subarray(0, rest));
    bytes += Math.min(rest, chunk.length);
  };
  const exitCode = await runtime.exec(id, command, { tty: false, signal, ...limits }, { stdout: keep, stderr: keep });
  return { exitCode, output: Buffer.concat(chunks).toString() };
}
