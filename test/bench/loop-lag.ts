import { readFileSync } from "node:fs";

/**
 * CPU time of the main thread of a process, in milliseconds. Other than wall time it does not depend on the load of the
 * machine. Linux only.
 */
export function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

const intervalMs = 1;

/**
 * Measures in this process how much CPU time passes between two runs of a timer of 1 ms: the length of a turn of the event
 * loop. Each GET of the returned address answers the samples since the last one, as JSON.
 */
export function startLagMeter(): string {
  let samples: number[] = [];
  let lastMs = mainThreadMs(process.pid);
  setInterval(() => {
    const nowMs = mainThreadMs(process.pid);
    samples.push(nowMs - lastMs);
    lastMs = nowMs;
  }, intervalMs);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      const taken = samples;
      samples = [];
      return Response.json(taken);
    },
  });
  return `http://127.0.0.1:${server.port}/`;
}

/** Returns the samples of another process since the last call. */
export async function takeLags(url: string): Promise<number[]> {
  const answer = await fetch(url);
  return (await answer.json()) as number[];
}
