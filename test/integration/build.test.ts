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
import { eventually, MemberProcess } from "./member-process.ts";

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
async function expectServes(command: readonly string[], at: { cwd: string; env?: Record<string, string> }) {
  const args = ["up", "--data-dir", join(at.cwd, "data"), "--secure-port", "0"];
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

test(
  "the executable shows the next step, answers and stops on request, and two of them hear each other",
  async () => {
    const out = directoryOf("executable");
    const built = Bun.spawnSync([process.execPath, join(root, "scripts/compile.ts"), `--outdir=${out}`]);
    expect(built.stderr.toString()).toBe("");
    expect(readdirSync(out)).toEqual(["quorate"]);
    const program = join(out, "quorate");
    // Configuration files of the working directory have no effect.
    const cwd = directoryOf("anywhere");
    writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./absent.ts"]');
    await expectServes([program], { cwd, env: { HOME: cwd, PATH: "" } });
    await expectGossip(program);
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

/** Starts two members, and waits until gossip from the second one reaches the first. */
async function expectGossip(program: string): Promise<void> {
  const members = directoryOf("members");
  await using first = await MemberProcess.create(members, "first", [program]);
  await using second = await MemberProcess.create(members, "second", [program]);
  await first.start(["cluster", "init"]);
  await second.start(await first.invitation());
  await eventually(async () => {
    const metrics = await (await first.fetch("GET", "/metrics")).text();
    return /^quorate_gossip_peer_age_seconds\{member="\d+"\}/m.test(metrics) ? true : undefined;
  });
}
