import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "../../..");
const scratch = await mkdtemp(join(tmpdir(), "quorate-loading-"));
afterAll(() => rm(scratch, { recursive: true }));

/** A preload that ends the process when it loads any file of libp2p. */
const trap = join(scratch, "trap.ts");
await Bun.write(
  trap,
  `import { plugin } from "bun";
plugin({ name: "trap", setup(build) {
  build.onLoad({ filter: /node_modules\\/(@?libp2p|@chainsafe)\\// }, ({ path }) => {
    console.log("loaded " + path);
    process.exit(70);
  });
} });`,
);

function run(...args: string[]) {
  return Bun.spawn([process.execPath, "--preload", trap, ...args], { cwd: root, stdout: "pipe", stderr: "ignore" });
}

test("a server that is alone starts, serves and stops without loading libp2p", async () => {
  const server = run("src/main.ts", "up", "--in-memory", "--secure-port", "0");
  const reader = server.stdout.getReader();
  let text = "";
  while (!text.includes("kubectl get namespaces")) {
    const { value, done } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  expect(text).not.toContain("loaded");
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});

test("the help of the command line does not load it either", async () => {
  expect(await run("src/main.ts", "--help").exited).toBe(0);
});

test("importing gossip does not load it, opening gossip does", async () => {
  const load = (name: string) => `await import(${JSON.stringify(join(import.meta.dir, name))})`;
  const imported = run("-e", load("open-gossip.ts"));
  expect(await imported.exited).toBe(0);
  const opened = run("-e", load("libp2p-network.ts"));
  expect(await new Response(opened.stdout).text()).toStartWith("loaded ");
  expect(await opened.exited).toBe(70);
});

test("a process that has closed gossip exits by itself", async () => {
  const script = `
    import { systemClock } from "./src/process/clock.ts";
    import { openGossip } from "./src/cluster/gossip/open-gossip.ts";
    import { openGossipIdentity } from "./src/cluster/gossip/gossip-identity.ts";
    const [one, other] = await Promise.all([openGossipIdentity(undefined, 1), openGossipIdentity(undefined, 1)]);
    const ports = [0, 1].map(() => Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } })).map((taken) => {
      taken.stop(true);
      return taken.port;
    });
    const members = [one, other].map(({ peerId }, at) => ({ id: at + 1, peerId, gossipAddress: "127.0.0.1:" + ports[at] }));
    const health = { revision: 1, appliedIndex: 1, ready: true, failing: [], term: 1, leader: 1, endpoints: [], release: "" };
    const open = (identity, at) => openGossip({
      clusterId: "c", self: at + 1, identity, listen: { host: "127.0.0.1", port: ports[at] }, members: () => members,
      health: () => health, clock: systemClock, onError: (error) => { throw error; },
    });
    const gossips = await Promise.all([one, other].map(open));
    while (gossips.some((gossip) => gossip.peers().size === 0)) await Bun.sleep(20);
    await Promise.all(gossips.map((gossip) => gossip.close()));
    console.log("closed");
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: root, stdout: "pipe", stderr: "inherit" });
  expect(await new Response(child.stdout).text()).toBe("closed\n");
  expect(await child.exited).toBe(0);
});
