import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requireFreePort } from "./free-port.ts";
import { startServer } from "./server.ts";

test("a port in use is reported before the data directory is made", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port: securePort } = other.address() as { port: number };
  const root = mkdtempSync(join(tmpdir(), "quorate-port-"));
  const dataDir = join(root, "data");
  await expect(startServer({ dataDir, securePort })).rejects.toThrow(
    `port ${securePort} of 127.0.0.1 is in use: stop the other process or choose another --secure-port`,
  );
  expect(existsSync(dataDir)).toBe(false);
  rmSync(root, { recursive: true });
  await new Promise((resolve) => other.close(resolve));
  await requireFreePort({ bindAddress: "127.0.0.1", securePort });
});
