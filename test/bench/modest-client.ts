import type { Client } from "./client.ts";
import { collection, objectName } from "./documents.ts";
import { mainThreadMs } from "./loop-lag.ts";
import type { Served } from "./process.ts";
import { percentile } from "./report.ts";

const pauseMs = 2;
const headers = { "impersonate-user": "modest" };

/** The 99th percentiles of a modest client, in wall time and in CPU time of the server. */
export interface Latency {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** Sends one small GET at a time, with pauses, as a user of its own. */
export async function modestLatency(client: Client, { pid }: Served, seconds: number): Promise<Latency> {
  const wall: number[] = [];
  const cpu: number[] = [];
  const endMs = performance.now() + seconds * 1_000;
  for (let at = 0; performance.now() < endMs; at++) {
    const startCpuMs = mainThreadMs(pid);
    const startMs = performance.now();
    await client.request("GET", `${collection}/${objectName(at % 100)}`, undefined, headers);
    wall.push(performance.now() - startMs);
    cpu.push(mainThreadMs(pid) - startCpuMs);
    await Bun.sleep(pauseMs);
  }
  return { wallMs: percentile(wall, 0.99), cpuMs: percentile(cpu, 0.99) };
}
