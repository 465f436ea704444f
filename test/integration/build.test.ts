import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openGossipIdentity } from "../../src/cluster/gossip/gossip-identity.ts";
import type { OpenNetwork } from "../../src/cluster/gossip/network.ts";

const root = join(import.meta.dir, "../..");

/** The first lines that a process prints. */
async function firstLines(stream: ReadableStream<Uint8Array>, count: number): Promise<string[]> {
  let text = "";
  for await (const bytes of stream) {
    text += new TextDecoder().decode(bytes);
    if (text.split("\n").length > count) break;
  }
  return text.split("\n").slice(0, count);
}

test("the built program starts, shows the next step, answers, and stops on request", async () => {
  const directory = mkdtempSync(join(tmpdir(), "quorate-"));
  try {
    const built = Bun.spawnSync([process.execPath, join(root, "scripts/build.ts"), directory]);
    expect(built.stderr.toString()).toBe("");
    await expectTalk(join(directory, "libp2p-network.js"));
    // A server that is alone does without it.
    rmSync(join(directory, "libp2p-network.js"));
    // The build does not contain the database's binding.
    symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
    const args = ["up", "--data-dir", join(directory, "data"), "--secure-port", "0"];
    const child = Bun.spawn([process.execPath, join(directory, "quorate.js"), ...args], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const [exported = "", next] = await firstLines(child.stdout, 2);
    expect(next).toBe("kubectl get namespaces");
    const kubeconfig = await Bun.file(exported.slice("export KUBECONFIG=".length)).text();
    const server = /server: "?(https:[^"\s]+)/.exec(kubeconfig)?.[1] ?? "";
    const token = /token: "?([^"\s]+)/.exec(kubeconfig)?.[1] ?? "";
    const answer = await fetch(`${server}/api/v1/namespaces/default?pretty=false`, {
      headers: { authorization: `Bearer ${token}`, accept: "application/yaml" },
      tls: { rejectUnauthorized: false },
    });
    expect([answer.status, (await answer.text()).includes("name: default")]).toEqual([200, true]);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

/** Two that are opened by the built file hear each other. */
async function expectTalk(path: string): Promise<void> {
  const { openLibp2pNetwork } = (await import(path)) as { openLibp2pNetwork: OpenNetwork };
  const heard = Promise.withResolvers<string>();
  const open = async () => {
    const identity = await openGossipIdentity(undefined, Date.now());
    const network = await openLibp2pNetwork({
      clusterId: "built",
      identity,
      listen: { host: "127.0.0.1", port: 0 },
      onMessage: (_, author) => void heard.resolve(author),
      onDropped: (reason) => heard.reject(new Error(reason)),
    });
    return { network, contact: { peerId: identity.peerId, address: network.address } };
  };
  const [one, other] = await Promise.all([open(), open()]);
  one.network.admit([other.contact]);
  other.network.admit([one.contact]);
  const saying = setInterval(() => one.network.publish("heartbeat", new Uint8Array(10)), 50);
  try {
    expect(await heard.promise).toBe(one.contact.peerId);
  } finally {
    clearInterval(saying);
    await Promise.all([one.network.close(), other.network.close()]);
  }
}
