import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

// A package whose npx and Bun record their arguments.
const root = mkdtempSync(join(tmpdir(), "quorate-start-"));
const calls = join(root, "calls");

beforeAll(() => {
  for (const directory of ["scripts", "src", "raft", "bin"]) mkdirSync(join(root, directory));
  cpSync(join(import.meta.dir, "start.mjs"), join(root, "scripts/start.mjs"));
  cpSync(join(import.meta.dir, "../bin/run-child.mjs"), join(root, "bin/run-child.mjs"));
  writeFileSync(join(root, "package.json"), JSON.stringify({ packageManager: "bun@1.4.5" }));
  writeFileSync(join(root, "bun.lock"), "");
  writeFileSync(join(root, "src/main.ts"), "");
  script("npx", `echo npx "$2" >>"${calls}"; echo "${root}/bin/bun"`);
  const program = script(
    "program",
    `trap 'echo stopped >>"${calls}"; exit 7' TERM; echo ready; while [ -e "${calls}" ]; do sleep 0.02; done`,
  );
  script(
    "bun",
    `case $1 in
install) mkdir -p node_modules ;;
*compile.ts) mkdir -p dist; cp "${program}" dist/quorate ;;
esac
echo "\${1##*/}" >>"${calls}"`,
  );
});
afterAll(() => rmSync(root, { recursive: true }));

function script(name: string, body: string): string {
  const path = join(root, "bin", name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Starts, sends SIGTERM when the program is up, and returns the exit code and the calls. */
async function start(...args: string[]): Promise<{ code: number; called: string[]; err: string }> {
  writeFileSync(calls, "");
  const child = Bun.spawn(["node", join(root, "scripts/start.mjs"), "up", ...args], {
    env: { PATH: `${join(root, "bin")}:${process.env["PATH"]}` },
    stdout: "pipe",
    stderr: "pipe",
  });
  for await (const _ of child.stdout) child.kill("SIGTERM");
  const code = await child.exited;
  const called = readFileSync(calls, "utf8").trim().split("\n").filter(Boolean);
  return { code, called, err: await child.stderr.text() };
}

test("the first start installs and builds, later ones only what has changed, and SIGTERM reaches the program", async () => {
  const port = "--secure-port=0";
  const first = await start(port);
  expect(first).toEqual({ code: 7, called: ["npx bun@1.4.5", "install", "compile.ts", "stopped"], err: "" });
  expect((await start(port)).called).toEqual(["stopped"]);
  utimesSync(join(root, "src/main.ts"), 1, 1);
  expect((await start(port)).called).toEqual(["compile.ts", "stopped"]);
  writeFileSync(join(root, "bun.lock"), "changed");
  expect((await start(port)).called).toEqual(["install", "compile.ts", "stopped"]);
});

test("a port in use is reported before anything is done", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const { code, called, err } = await start("--secure-port", String(port));
  expect({ code, called }).toEqual({ code: 1, called: [] });
  expect(err).toBe(
    `quorate: cannot start: port ${port} of 127.0.0.1 is in use: stop the other process or choose another --secure-port\n`,
  );
  await new Promise((resolve) => server.close(resolve));
});
