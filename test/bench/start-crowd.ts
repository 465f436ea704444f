import { join } from "node:path";
import { collection } from "./documents.ts";
import type { Served } from "./process.ts";

export interface Crowd {
  /** Stops reading, as a client does that hangs. */
  pause(): void;
  resume(): void;
  /** The number of events that all of them got, once the server has ended their watches. */
  received(): Promise<number>;
}

/** Watchers in a process of their own, for so many seconds. */
export function startCrowd(
  served: Served,
  {
    connections,
    streams,
    seconds,
    collection: watched = collection,
  }: { connections: number; streams: number; seconds: number; collection?: string },
): Crowd {
  const path = `${watched}?watch=1&timeoutSeconds=${Math.ceil(seconds)}`;
  const args = [served.url, served.token, path, String(connections), String(streams)];
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "crowd.ts"), ...args], {
    stdout: "pipe",
    stderr: "inherit",
  });
  return {
    pause: () => child.kill("SIGSTOP"),
    resume: () => child.kill("SIGCONT"),
    received: async () => Number(await new Response(child.stdout).text()),
  };
}
