import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { random, seed } from "../../raft/testing/seed.ts";
import { until } from "../until.ts";

const rounds = Number(Bun.env.CRASH_SERVER_ROUNDS ?? 5);
/** Maximum number of acknowledgements in a round after which the server is killed. */
const acknowledgedMax = 200;
const writers = 8;
const namesPerWriter = 10;
const maps = "/api/v1/namespaces/default/configmaps";

const root = mkdtempSync(join(tmpdir(), "crash-server-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Reach {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
}

/** The server's last answer about a name, and the requests without an answer. */
interface Told {
  /** The `turn` in it; undefined if it was deleted. */
  readonly turn: string | undefined;
  readonly revision: number;
  /** Whether the outcome of a later write is unknown. */
  readonly open: boolean;
}

test(
  `after each of ${rounds} kills the server has every write it acknowledged, and no revision goes back (SEED=${seed})`,
  async () => {
    const directory = join(root, "data");
    const told = new Map<string, Told>();
    let newest = 0;
    for (let round = 0; round <= rounds; round++) {
      const { child, reach } = await startChild(directory);
      try {
        newest = Math.max(newest, await checkAll(reach, told, newest));
        if (round === rounds) break;
        let left = 1 + Math.floor(random() * acknowledgedMax);
        const acknowledged = (revision: number) => {
          newest = Math.max(newest, revision);
          if (--left === 0) child.kill("SIGKILL");
        };
        const writing = { reach, round, told, acknowledged };
        await Promise.all(Array.from({ length: writers }, (_, writer) => writeUntilKilled(writer, writing)));
      } finally {
        child.kill("SIGKILL");
        await child.exited;
      }
    }
  },
  (rounds + 1) * 20_000,
);

test("a server that was killed runs its controllers again as soon as it is back", async () => {
  const directory = join(root, "controllers");
  const lock = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/quorate-controllers";
  for (let round = 0; round < 3; round++) {
    const { child, reach } = await startChild(directory);
    try {
      const name = `ns-${round}`;
      await request(reach, "POST", "/api/v1/namespaces", { metadata: { name } });
      const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
      await until(async () => (await request(reach, "GET", account)).ok);
      const { spec } = (await (await request(reach, "GET", lock)).json()) as any;
      expect(spec).toMatchObject({ leaseDurationSeconds: 15, leaseTransitions: 0 });
    } finally {
      child.kill("SIGKILL");
      await child.exited;
    }
  }
}, 60_000);

async function startChild(directory: string) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "crash-server.ts"), directory], {
    stdout: "pipe",
    stderr: "inherit",
  });
  let text = "";
  for await (const chunk of child.stdout) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("\n")) break;
  }
  return { child, reach: JSON.parse(text) as Reach };
}

function request({ url, token, ca }: Reach, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(url + path, {
    method,
    tls: { ca },
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

interface Writing {
  readonly reach: Reach;
  readonly round: number;
  readonly told: Map<string, Told>;
  /** Called with the revision of each acknowledged write; 0 if the answer has none. */
  acknowledged(revision: number): void;
}

/** Creates, replaces and deletes its own names, one request after another, until the connection breaks. */
async function writeUntilKilled(writer: number, { reach, round, told, acknowledged }: Writing): Promise<void> {
  for (let turn = 0; ; turn++) {
    const name = `w-${writer}-${turn % namesPerWriter}`;
    const before = told.get(name);
    told.set(name, { turn: before?.turn, revision: before?.revision ?? 0, open: true });
    const next = `${round}-${turn}`;
    try {
      const held = before?.turn !== undefined;
      const after = held && turn % 5 === 4 ? await remove(reach, name) : await write(reach, name, next, held);
      told.set(name, { ...after, open: false });
      acknowledged(after.revision);
    } catch (error) {
      if (error instanceof UnexpectedAnswer) throw error;
      return;
    }
  }
}

class UnexpectedAnswer extends Error {}

async function write(reach: Reach, name: string, turn: string, held: boolean) {
  const object = { metadata: { name }, data: { turn } };
  const response = held
    ? await request(reach, "PUT", `${maps}/${name}`, object)
    : await request(reach, "POST", maps, object);
  const json = (await response.json()) as any;
  if (!response.ok) throw new UnexpectedAnswer(`${name}: ${response.status} ${json.message}`);
  return { turn, revision: Number(json.metadata.resourceVersion) };
}

async function remove(reach: Reach, name: string) {
  const response = await request(reach, "DELETE", `${maps}/${name}`);
  const json = (await response.json()) as any;
  if (!response.ok) throw new UnexpectedAnswer(`${name}: ${response.status} ${json.message}`);
  return { turn: undefined, revision: 0 };
}

/** Compares the stored objects with the answers, adopts the stored state, and returns the server's revision. */
async function checkAll(reach: Reach, told: Map<string, Told>, newest: number): Promise<number> {
  const list = (await (await request(reach, "GET", maps)).json()) as any;
  const revision = Number(list.metadata.resourceVersion);
  expect(revision).toBeGreaterThanOrEqual(newest);
  const found = new Map<string, any>(list.items.map((item: any) => [item.metadata.name, item]));
  for (const [name, { turn, revision: at, open }] of told) {
    const object = found.get(name);
    const now = {
      turn: object?.data.turn as string | undefined,
      revision: Number(object?.metadata.resourceVersion ?? 0),
    };
    if (!open) expect({ name, ...now }).toEqual({ name, turn, revision: at });
    // A write without an answer may be stored completely or not at all. Older states may not.
    else if (object !== undefined) expect(now.revision).toBeGreaterThanOrEqual(at);
    told.set(name, { ...now, open: false });
  }
  for (const name of found.keys()) expect(told.has(name)).toBe(true);
  return revision;
}
