import { Client } from "./client.ts";

/** Watches `path` with many streams until the server ends them, then prints the number of events received. */
const [url, token, path, connections, streams] = Bun.argv.slice(2) as [string, string, string, string, string];
const newline = 0x0a;

let events = 0;
const ended: Promise<void>[] = [];
for (let connection = 0; connection < Number(connections); connection++) {
  const client = new Client({ url, token });
  for (let stream = 0; stream < Number(streams); stream++) {
    const watch = client.open("GET", path);
    watch.on("data", (chunk: Buffer) => {
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) events++;
    });
    ended.push(new Promise((resolve) => watch.once("close", resolve)));
  }
}
await Promise.all(ended);
process.stdout.write(String(events));
process.exit(0);
