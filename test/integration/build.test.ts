import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openGossipIdentity } from "../../src/cluster/gossip/gossip-identity.ts";
import type { OpenNetwork } from "../../src/cluster/gossip/network.ts";
import { freePorts } from "./member-process.ts";

const root = join(import.meta.dir, "../..");

/** Returns the first lines that a process prints. */
async function firstLines(stream: ReadableStream<Uint8Array>, count: number): Promise<string[]> {
  let text = "";
  for await (const bytes of stream) {
    text += new TextDecoder().decode(bytes);
    if (text.split("\n").length > count) break;
  }
  return text.split("\n").slice(0, count);
}

const scratch = mkdtempSync(join(tmpdir(), "quorate-build-"));
const timeoutMs = 120_000;
afterAll(() => rmSync(scratch, { recursive: true }));

/** Makes an empty directory. */
function directoryOf(name: string): string {
  const directory = join(scratch, name);
  mkdirSync(directory);
  return directory;
}

/** Starts a server, makes a request, and stops it. */
async function expectServes(
  command: readonly string[],
  at: { cwd: string; env?: Record<string, string> },
  flags: readonly string[] = [],
) {
  const args = ["up", "--data-dir", join(at.cwd, "data"), "--secure-port", "0", ...flags];
  const child = Bun.spawn([...command, ...args], { ...at, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
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
}

test("the built program starts, shows the next step, answers, and stops on request", async () => {
  const directory = directoryOf("bundle");
  const built = Bun.spawnSync([process.execPath, join(root, "scripts/build.ts"), directory]);
  expect(built.stderr.toString()).toBe("");
  await expectTalk(join(directory, "libp2p-network.js"));
  // A server without a cluster does not need libp2p.
  rmSync(join(directory, "libp2p-network.js"));
  // The build does not contain the database's binding.
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  await expectServes([process.execPath, join(directory, "quorate.js")], { cwd: directory });
});

test(
  "the single executable serves from an empty directory, and as a member of a cluster",
  async () => {
    const out = directoryOf("executable");
    const built = Bun.spawnSync([process.execPath, join(root, "scripts/compile.ts"), `--outdir=${out}`]);
    expect(built.stderr.toString()).toBe("");
    expect(readdirSync(out)).toEqual(["quorate"]);
    const program = join(out, "quorate");
    // Configuration files of the working directory have no effect.
    const cwd = directoryOf("anywhere");
    writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./absent.ts"]');
    const [peerPort = 0] = await freePorts(1);
    const env = { HOME: cwd, PATH: "" };
    await expectServes([program], { cwd, env });
    await expectServes([program], { cwd: directoryOf("member"), env }, ["--peer-address", `127.0.0.1:${peerPort}`]);
  },
  timeoutMs,
);

describe("the npm package", () => {
  const project = join(scratch, "project");
  const modules = join(project, "node_modules");
  const installed = join(modules, "quorate");
  let files: readonly string[] = [];

  beforeAll(() => {
    const packed = Bun.spawnSync(["npm", "pack", "--ignore-scripts", "--json", "--pack-destination", scratch], {
      cwd: root,
      stderr: "inherit",
    });
    const [{ filename, files: listed }] = JSON.parse(packed.stdout.toString()) as [
      { filename: string; files: { path: string }[] },
    ];
    files = listed.map(({ path }) => path);
    mkdirSync(modules, { recursive: true });
    for (const name of readdirSync(join(root, "node_modules"))) {
      if (!name.startsWith(".")) symlinkSync(join(root, "node_modules", name), join(modules, name));
    }
    expect(Bun.spawnSync(["tar", "xzf", join(scratch, filename), "-C", modules]).success).toBe(true);
    renameSync(join(modules, "package"), installed);
  }, timeoutMs);

  test("holds the program, what is said about it, and nothing else", () => {
    const others = files.filter((path) => !/^(src|raft)\/.*\.(ts|json)$/.test(path));
    expect(others.toSorted()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "bin/bunfig.toml",
      "bin/quorate.mjs",
      "bin/run-child.mjs",
      "package.json",
    ]);
    expect(files.filter((path) => /\.test\.ts$|testing|\/(bench|soak|example)\//.test(path))).toEqual([]);
  });

  test("holds every file that its files import, and depends on what they import", () => {
    const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const known = new Set(Object.keys(dependencies));
    const missing = files
      .filter((path) => path.endsWith(".ts"))
      .flatMap((path) => importsOf(join(installed, path)).map((name) => [path, name] as const))
      .filter(([path, name]) => {
        if (name.startsWith(".")) return !existsSync(join(installed, path, "..", name));
        return !/^(node:|bun$|bun:)/.test(name) && !known.has(packageOf(name));
      });
    expect(missing).toEqual([]);
  });

  test("has a command that needs no Bun on the path and reads no file of the user's directory", async () => {
    const cwd = directoryOf("user");
    writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./absent.ts"]');
    const node = Bun.which("node") ?? "node";
    await expectServes([node, join(installed, "bin/quorate.mjs")], { cwd, env: { HOME: cwd, PATH: "" } });
    const wrong = Bun.spawnSync([node, join(installed, "bin/quorate.mjs"), "nonsense"], { cwd, env: { PATH: "" } });
    expect([wrong.exitCode, wrong.stderr.toString()]).toEqual([
      1,
      "quorate: unknown command 'nonsense': see \"quorate help\"\n",
    ]);
  });

  test("exports startServer() to tests on Bun", () => {
    const file = join(project, "use.test.ts");
    writeFileSync(
      file,
      `import { expect, test } from "bun:test";
import { startServer } from "quorate";

test("serves", async () => {
  const server = await startServer();
  const { items } = await server.client().list({ group: "", version: "v1", resource: "namespaces" });
  expect(items.length).toBe(4);
  await server.close();
});
`,
    );
    const tested = Bun.spawnSync([process.execPath, "test", "use.test.ts"], { cwd: project });
    expect([tested.exitCode, tested.stderr.toString()]).toEqual([0, expect.stringContaining("1 pass")]);
  });
});

function importsOf(path: string): string[] {
  const text = readFileSync(path, "utf8");
  return [...text.matchAll(/^(?:import|export|\}).* from "([^"]+)"|\bimport\("([^"]+)"\)/gm)].map(
    ([, from, loaded]) => from ?? loaded ?? "",
  );
}

function packageOf(name: string): string {
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/");
}

/** Two replicas that the built file runs hear each other. */
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
