import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

test("the built program starts, says what to do next, answers, and stops when told", async () => {
  const directory = mkdtempSync(join(tmpdir(), "quorate-"));
  try {
    const built = Bun.spawnSync([process.execPath, join(root, "scripts/build.ts"), directory]);
    expect(built.stderr.toString()).toBe("");
    // The database's binding is no part of the build.
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
