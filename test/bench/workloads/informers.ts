import { join } from "node:path";
import { Client } from "../client.ts";
import { collection, seedDirectory } from "../documents.ts";
import { cpuSeconds, residentBytes, type Served, serve, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const objects = 35_000;
const readers = 16;
const bytesPerSecond = 20_000_000;
const settleMs = 2_000;
const sampleMs = 20;

const forms: readonly (readonly [name: string, headers: Record<string, string>])[] = [
  ["JSON", {}],
  ["protobuf", { accept: "application/vnd.kubernetes.protobuf" }],
  ["JSON with gzip", { "accept-encoding": "gzip" }],
];

/** W3: informers that list 70 MB at the same time, compared with the listener that sends constant bytes. */
export async function informers({ scale }: Options): Promise<Figure[]> {
  const count = Math.round(objects * scale);
  await using directory = await temporaryDirectory();
  await seedDirectory(directory.path, count);
  await using served = await serve("server", directory.path);
  using client = new Client(served);
  const listBytes = (await client.expect("GET", collection)).byteLength;
  await using bare = await serve("bare", String(Math.round(listBytes / count)), String(count));
  const ceiling = await listSlowly(bare, "/list", {});
  const figures: Figure[] = [{ name: "bytes of the list", value: listBytes / 1e6, unit: "MB" }];
  for (const [name, headers] of forms) {
    await Bun.sleep(settleMs);
    const result = await listSlowly(served, collection, headers);
    figures.push({
      name: `memory of ${readers} readers, ${name}`,
      value: result.addedBytes / 1e6,
      unit: "MB",
      ceiling: ceiling.addedBytes / 1e6,
      note: `${result.cpuSeconds.toFixed(2)} s of CPU for ${(result.bytes / 1e6).toFixed(0)} MB`,
    });
  }
  return figures;
}

/** Returns the memory that the server had more than before, at the highest. */
async function listSlowly(served: Served, path: string, headers: Record<string, string>) {
  const before = residentBytes(served.pid);
  const cpuBefore = cpuSeconds(served.pid);
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, residentBytes(served.pid))), sampleMs);
  const program = join(import.meta.dir, "../slow-readers.ts");
  const args = [served.url, served.token, path, String(readers), String(bytesPerSecond), JSON.stringify(headers)];
  const child = Bun.spawn([process.execPath, program, ...args], { stdout: "pipe", stderr: "inherit" });
  const bytes = Number(await new Response(child.stdout).text());
  clearInterval(timer);
  return { bytes, addedBytes: peak - before, cpuSeconds: cpuSeconds(served.pid) - cpuBefore };
}
