import { createServer } from "node:net";

/**
 * Ports below those that the system assigns, so that no connection takes one before its process listens, or while the
 * process is stopped.
 */
const portMin = 20_000;
const portMax = 32_000;
const givenPorts = new Set<number>();

/** Returns unused ports at 127.0.0.1, different ones at each call. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

/** Returns an unused port at 127.0.0.1, another one at each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = portMin + Math.floor(Math.random() * (portMax - portMin));
    if (givenPorts.has(port)) continue;
    givenPorts.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
