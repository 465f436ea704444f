import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeAgentFolders } from "./agent-folders.ts";
import { TestRuntime } from "./runtime/process/testing.ts";

const isRoot = process.getuid?.() === 0;
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("only containers that are processes of other users may pass through the root directory", async () => {
  const rootDirectory = join(mkdtempSync(join(tmpdir(), "quorate-")), "agent");
  const logDirectory = join(rootDirectory, "pod-logs");
  await makeAgentFolders({ rootDirectory, logDirectory, runtime: { kind: "process" } });
  expect([modeOf(rootDirectory), modeOf(logDirectory)]).toEqual(["711", "700"]);
  await makeAgentFolders({ rootDirectory, logDirectory, runtime: { kind: "simulated" } });
  expect([modeOf(rootDirectory), modeOf(logDirectory)]).toEqual(["700", "700"]);
  rmSync(join(rootDirectory, ".."), { recursive: true });
});

test("a directory of logs elsewhere is left to its owner", async () => {
  const folder = mkdtempSync(join(tmpdir(), "quorate-"));
  const options = { rootDirectory: join(folder, "agent"), logDirectory: join(folder, "agent-logs") };
  await makeAgentFolders({ ...options, runtime: { kind: "process" } });
  expect(() => statSync(options.logDirectory)).toThrow("ENOENT");
  rmSync(folder, { recursive: true });
});

test.if(isRoot)("another user reaches the working directory by its path, but neither logs nor records", async () => {
  const umask = process.umask(0o077);
  try {
    await using machine = await TestRuntime.open();
    const { folder } = machine;
    const logDirectory = join(folder, "logs");
    await makeAgentFolders({ rootDirectory: folder, logDirectory, runtime: { kind: "process" } });
    const script = `here=$(pwd); cd / && echo reached >"$here/x" && cat "$here/x"
      for path in ${folder} ${folder}/runtime ${logDirectory} ${folder}/runtime/containers; do
        ls $path 2>/dev/null && echo "can list $path"
      done; true`;
    const id = await machine.run(script, { securityContext: { runAsUser: 4321 } });
    expect(await machine.ended(id)).toMatchObject({ exitCode: 0 });
    expect(await machine.logOf(id)).toEqual(["stdout reached"]);
  } finally {
    process.umask(umask);
  }
});
