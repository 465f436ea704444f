import type { ClientHttp2Stream } from "node:http2";
import { Client } from "./client.ts";

/** Reads `path` on many connections at a limited rate each, as informers do that start together. */
const [url, token, path, readers, bytesPerSecond, headers] = Bun.argv.slice(2) as string[] as [
  string,
  string,
  string,
  string,
  string,
  string,
];

let bytes = 0;
await Promise.all(
  Array.from({ length: Number(readers) }, async () => {
    const client = new Client({ url, token });
    await readSlowly(client.open("GET", path, undefined, JSON.parse(headers) as Record<string, string>));
    client[Symbol.dispose]();
  }),
);
process.stdout.write(String(bytes));
process.exit(0);

async function readSlowly(stream: ClientHttp2Stream): Promise<void> {
  const startMs = performance.now();
  let received = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    received += chunk.byteLength;
    const aheadMs = (received / Number(bytesPerSecond)) * 1_000 - (performance.now() - startMs);
    if (aheadMs >= 1) await Bun.sleep(aheadMs);
  }
}
