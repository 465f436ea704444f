import { join } from "node:path";
import { collection } from "./documents.ts";
import type { Served } from "./process.ts";

export interface Crowd {
  /** Stops reading, as a hanging client does. */
  pause(): void;
  resume(): void;
  /** Returns the total number of events, once the server has ended the watches. */
  received(): Promise<number>;
}

export interface CrowdOptions {
  readonly connections: number;
  /** Watches on each connection. */
  readonly streams: number;
  readonly seconds: number;
  readonly collection?: string;
  /** Version after which events are sent; without one, the current objects come first. */
  readonly resourceVersion?: string;
}

/** Starts watchers in a separate process, for a number of seconds. */
export function startCrowd(
  served: Pick<Served, "url" | "token">,
  { connections, streams, seconds, collection: watched = collection, resourceVersion }: CrowdOptions,
): Crowd {
  const from = resourceVersion === undefined ? "" : `&resourceVersion=${resourceVersion}`;
  const path = `${watched}?watch=1&timeoutSeconds=${Math.ceil(seconds)}${from}`;
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
