import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";

const kills = 3;
const writers = 12;
const seed = Number(Bun.env["SEED"] ?? Date.now() % 2 ** 31);
const services = "/api/v1/namespaces/default/services";

const root = mkdtempSync(join(tmpdir(), "allocation-crash-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Reach {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
}

/** Writers create and delete Services until the server is killed. The next start repairs the remains. */
test(`${kills} kills in the middle of writes leave nothing taken that nobody holds, and nothing held twice (SEED=${seed})`, async () => {
  const dataDir = join(root, "data");
  let random = seed;
  for (let round = 0; round < kills; round++) {
    random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
    await writeUntilKilled(dataDir, round, 20 + (random % 100));
  }
  await using server = await TestServer.start({ dataDir });
  const addresses = async () => {
    const held = (await server.get("/api/v1/services")).json.items.flatMap(({ spec }: any) => spec.clusterIPs);
    const taken = (await server.get("/apis/networking.k8s.io/v1/ipaddresses")).json.items;
    expect(new Set(held).size).toBe(held.length);
    return { held: held.toSorted(), taken: taken.map(({ metadata }: any) => metadata.name).toSorted() };
  };
  await until(addresses, ({ held, taken }) => Bun.deepEquals(held, taken));
  const ports = (await server.get("/api/v1/services")).json.items
    .flatMap(({ spec }: any) => spec.ports)
    .flatMap(({ nodePort = 0 }: any) => (nodePort === 0 ? [] : [nodePort]));
  expect(ports.length).toBeGreaterThan(0);
  expect(new Set(ports).size).toBe(ports.length);
}, 60_000);

async function writeUntilKilled(dataDir: string, round: number, answersMax: number): Promise<void> {
  const program = join(import.meta.dir, "crash-server.ts");
  const child = Bun.spawn([process.execPath, program, dataDir], { stdout: "pipe", stderr: "inherit" });
  try {
    const reach = JSON.parse(await firstLine(child.stdout)) as Reach;
    let answers = 0;
    const answered = () => {
      if (++answers === answersMax) child.kill("SIGKILL");
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(reach, `r${round}-w${writer}`, answered)));
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
}

async function firstLine(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of output) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("\n")) break;
  }
  return text;
}

/** Creates Services, and deletes every third of them, until the connection breaks. */
async function write({ url, token, ca }: Reach, prefix: string, answered: () => void): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const send = async (method: string, path: string, body?: object) => {
    const answer = await fetch(url + path, {
      method,
      tls: { ca },
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    await answer.text();
    answered();
  };
  try {
    for (let turn = 0; ; turn++) {
      const name = `${prefix}-${turn}`;
      await send("POST", services, { metadata: { name }, spec: { type: "NodePort", ports: [{ port: 80 }] } });
      if (turn % 3 === 0) await send("DELETE", `${services}/${name}`);
    }
  } catch {
    // The server was killed.
  }
}
