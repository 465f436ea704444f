import { expect, test } from "bun:test";
import { join } from "node:path";

async function soak(...options: string[]): Promise<{ code: number; text: string }> {
  const command = [process.execPath, join(import.meta.dir, "main.ts"), ...options];
  const run = Bun.spawn(command, { stdout: "pipe", stderr: "pipe", timeout: 110_000 });
  const [out, errors] = await Promise.all([run.stdout.text(), run.stderr.text()]);
  return { code: await run.exited, text: `${out}${errors}` };
}

test.each(["kill", "stop", "full", "power"])(
  "real processes keep their promises: %s",
  async (kind) => {
    const { code, text } = await soak("--kind", kind, "--rounds", "2");
    expect(text).toMatch(/^\w+: (ok, seed \d+|skipped: .+)$/m);
    expect(code).toBe(0);
  },
  120_000,
);

/** A log that is too short at the start counts as a violation. */
test("a power cut exposes a disk that lies about its syncs", async () => {
  const { code, text } = await soak("--kind", "power", "--rounds", "10", "--lying-sync");
  if (/skipped/.test(text)) return;
  expect(text).toMatch(/VIOLATION|did not start|did not converge/);
  expect(code).not.toBe(0);
}, 120_000);
