import { afterAll, describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCertificates } from "../access/certificates/certificates.ts";
import { KeptCertificates } from "../access/certificates/kept-certificates.ts";
import { openPeerCertificates } from "../access/certificates/peer-certificates.ts";
import {
  type AuthorityKind,
  apiAuthority,
  newAuthority,
  newestOf,
  peerAuthority,
  phaseOf,
  type RotatingAuthority,
  type RotationPhase,
  type RotationStep,
} from "../access/certificates/rotating-authority.ts";
import { StepClock } from "../access/certificates/testing.ts";
import { isJsonObject, type JsonObject } from "../api/json.ts";
import { type AuthorityHolder, authorityStatus, parseRotationStep } from "./authority-status.ts";
import { ClusterClient, type ClusterRequest, ClusterRequestError } from "./cluster-client.ts";
import { beginApiRotation, finishApiRotation, rotatePeerAuthority } from "./rotate-authority.ts";

const scratch = await mkdtemp(join(tmpdir(), "quorate-rotations-"));
afterAll(() => rm(scratch, { recursive: true }));
const clock = new StepClock();
let directories = 0;
const newDirectory = () => join(scratch, String(++directories));
const silent = () => {};

class Holder implements AuthorityHolder {
  readonly #kept: KeptCertificates<RotatingAuthority>;

  private constructor(kept: KeptCertificates<RotatingAuthority>) {
    this.#kept = kept;
  }

  static async open(kind: AuthorityKind, directory?: string): Promise<Holder> {
    const nowMs = clock.nowMs();
    const open = (current?: RotatingAuthority): Promise<RotatingAuthority> =>
      kind === peerAuthority
        ? openPeerCertificates({ directory, memberId: 1, nowMs, current: current as never })
        : openCertificates({ directory, bindAddress: "127.0.0.1", nowMs, current: current as never });
    return new Holder(new KeptCertificates({ clock, kind, directory, current: await open(), open }));
  }

  get rotating(): RotatingAuthority {
    return this.#kept.current;
  }

  rotate(step: RotationStep): Promise<void> {
    return this.#kept.rotate(step);
  }

  to(step: "issue" | "use" | "drop"): Promise<void> {
    return this.rotate({ step, newest: newestOf(this.rotating) });
  }

  trust(authority: RotatingAuthority["authority"]): Promise<void> {
    return this.rotate({ step: "trust", authority, newest: newestOf(this.rotating) });
  }
}

/** Simulated members of a cluster. The first is asked, and the second leads. */
class Members {
  readonly holders: readonly Holder[];
  /** Number of members that the first one does not know. */
  unknownToFirst = 0;
  /** Called before each step. */
  beforeStep: (member: number, step: RotationStep) => void | Promise<void> = silent;

  constructor(holders: readonly Holder[]) {
    this.holders = holders;
  }

  /** Creates members that share the authority of the first one. */
  static async create(kind: AuthorityKind, count: number): Promise<Members> {
    const directory = newDirectory();
    await Holder.open(kind, directory);
    const holders: Holder[] = [];
    for (let at = 0; at < count; at++) {
      const own = newDirectory();
      cpSync(directory, own, { recursive: true });
      holders.push(await Holder.open(kind, own));
    }
    return new Members(holders);
  }

  client(): MemberClient {
    return new MemberClient(this, 1);
  }

  get phases(): RotationPhase[] {
    return this.holders.map(({ rotating }) => phaseOf(rotating));
  }

  get newest(): string[] {
    return this.holders.map(({ rotating }) => newestOf(rotating));
  }
}

const urlOf = (id: number) => `https://10.0.0.${id}:6443`;

class MemberClient extends ClusterClient {
  readonly #members: Members;
  readonly #id: number;

  constructor(members: Members, id: number) {
    const proof = async () => ({ tls: { rejectUnauthorized: true }, authorization: undefined });
    super({ url: urlOf(id), proof, renew: () => false });
    this.#members = members;
    this.#id = id;
  }

  override at(url: string): MemberClient {
    return new MemberClient(this.#members, Number(/10\.0\.0\.(\d+)/.exec(url)?.[1]));
  }

  override async tell({ method, path, body }: ClusterRequest): Promise<JsonObject> {
    if (path === "/cluster/status") return this.#status();
    const holder = this.#members.holders[this.#id - 1];
    if (holder === undefined) throw new ClusterRequestError("nobody is there");
    if (method === "POST" && isJsonObject(body)) {
      const step = parseRotationStep(body);
      await this.#members.beforeStep(this.#id, step);
      await holder.rotate(step).catch((error) => {
        throw new ClusterRequestError(error.message, { code: 409 });
      });
    }
    return { ...authorityStatus(holder) } as unknown as JsonObject;
  }

  #status(): JsonObject {
    const count = this.#members.holders.length;
    const known = this.#id === 1 ? count - this.#members.unknownToFirst : count;
    const leader = Math.min(2, count);
    const role = (id: number) => (id === leader ? "leader" : "voter");
    const members = Array.from({ length: known }, (_, at) => ({
      id: at + 1,
      name: `m${at + 1}`,
      peerAddress: `10.0.0.${at + 1}:7380`,
      clientUrl: urlOf(at + 1),
      role: role(at + 1),
    }));
    const indexes = { lastIndex: 1, commitIndex: 1, appliedIndex: 1, flushedIndex: 1, revision: 1 };
    const sizes = { compactedRevision: 0, objects: 0, logBytes: 0 };
    const texts = { clusterId: "c", role: role(this.#id), stateHash: "0", version: "1" };
    return { self: this.#id, leader, term: 1, members, gossip: [], ...indexes, ...sizes, ...texts };
  }
}

/** Runs all parts of a rotation from any point. */
async function rotateToEnd(kind: AuthorityKind, client: ClusterClient): Promise<string> {
  if (kind === peerAuthority) return rotatePeerAuthority(client, silent);
  await beginApiRotation(client, silent).catch((error) => {
    if (!/continue with --finish/.test(error.message)) throw error;
  });
  return finishApiRotation(client, silent);
}

/** Files in the order in which a step writes them. "-" marks a removed one. */
const orders = [
  [apiAuthority, "trust", ["ca-next.key", "ca-next.crt"]],
  [apiAuthority, "issue", ["ca-next.issues"]],
  [apiAuthority, "use", ["ca-former.crt", "ca.key", "ca.crt", "-ca-next.issues", "-ca-next.crt", "-ca-next.key"]],
  [apiAuthority, "drop", ["-ca-former.crt"]],
  [peerAuthority, "trust", ["peer-ca-next.key", "peer-ca-next.crt"]],
  [
    peerAuthority,
    "use",
    ["peer-ca-former.crt", "peer-ca.key", "peer-ca.crt", "-peer-ca-next.crt", "-peer-ca-next.key"],
  ],
  [peerAuthority, "drop", ["-peer-ca-former.crt"]],
] as const;

describe.each(orders)("a crash in the middle of a step, %p '%s'", (kind, name, order) => {
  const steps = ["trust", ...(kind.hasClients ? ["issue" as const] : []), "use", "drop"] as const;
  const next = newAuthority(kind, clock.ms);
  const take = (holder: Holder, step: (typeof steps)[number]) =>
    step === "trust" ? holder.trust(next) : holder.to(step);

  test("leaves a state from which the step and the whole command continue", async () => {
    const [before, after] = [newDirectory(), newDirectory()];
    const holder = await Holder.open(kind, before);
    const first = newestOf(holder.rotating);
    for (const step of steps.slice(0, steps.indexOf(name))) await take(holder, step);
    cpSync(before, after, { recursive: true });
    const wanted = await Holder.open(kind, after);
    await take(wanted, name);
    const newest = newestOf(wanted.rotating);
    for (let written = 0; written <= order.length; written++) {
      const crashed = async (): Promise<[Holder, string]> => {
        const directory = newDirectory();
        cpSync(before, directory, { recursive: true });
        for (const file of order.slice(0, written)) {
          if (file.startsWith("-")) await rm(join(directory, file.slice(1)));
          else await writeFile(join(directory, file), await readFile(join(after, file)), { mode: 0o600 });
        }
        return [await Holder.open(kind, directory), directory];
      };
      const [again] = await crashed();
      await (name === "trust" ? again.trust(next) : again.rotate({ step: name, newest }));
      const { authority, next: nextOne, nextIssues, former } = wanted.rotating;
      expect({ written, ...again.rotating }).toMatchObject({ written, authority, nextIssues });
      expect([again.rotating.next, again.rotating.former]).toEqual([nextOne, former]);

      for (const isBegunAnew of [false, true]) {
        const [rerun, directory] = await crashed();
        // As if members knew different new authorities.
        if (isBegunAnew && phaseOf(rerun.rotating) === "trusting") await rerun.trust(newAuthority(kind, clock.ms));
        const hash = await rotateToEnd(kind, new Members([rerun]).client());
        expect([phaseOf(rerun.rotating), newestOf(rerun.rotating)]).toEqual(["none", hash]);
        expect(hash).not.toBe(first);
        const left = (await readdir(directory)).filter((file) => /next|former|tmp/.test(file));
        expect({ written, left }).toEqual({ written, left: [] });
      }
    }
  });
});

describe("a rotation of the authority of three members", () => {
  test("follows the order of the steps, and all members take each before the next", async () => {
    const members = await Members.create(peerAuthority, 3);
    const taken: string[] = [];
    members.beforeStep = (member, { step }) => void taken.push(`${step} ${member}`);
    const hash = await rotatePeerAuthority(members.client(), silent);
    const expected = ["trust", "use", "drop"].flatMap((step) => [1, 2, 3].map((id) => `${step} ${id}`));
    expect(taken).toEqual(expected);
    expect(members.newest).toEqual([hash, hash, hash]);
  });

  test("reaches a member that the asked member does not know", async () => {
    const members = await Members.create(peerAuthority, 3);
    members.unknownToFirst = 1;
    const hash = await rotatePeerAuthority(members.client(), silent);
    expect(members.newest).toEqual([hash, hash, hash]);
  });

  test("by two administrators at once ends with the same authority everywhere, or reports the other one", async () => {
    const outcomes = new Set<string>();
    // The second rotation begins before each step of the first.
    for (let at = 0; at < 9; at++) {
      const members = await Members.create(peerAuthority, 3);
      let steps = 0;
      let second: Promise<string> | undefined;
      members.beforeStep = async () => {
        if (steps++ !== at || second !== undefined) return;
        second = rotatePeerAuthority(members.client(), silent).catch((error) => error.message);
        // Starts in the middle of the step.
        await Bun.sleep(at % 2 === 0 ? 0 : 20);
      };
      const first = await rotatePeerAuthority(members.client(), silent).catch((error) => error.message as string);
      for (const end of [first, (await second) ?? ""]) {
        expect({ at, end }).toEqual({ at, end: expect.stringMatching(/^sha256:|another authority|is ahead/) });
        outcomes.add(end.startsWith("sha256:") ? "done" : "refused");
      }
      const { holders } = members;
      for (const one of holders) for (const other of holders) expect(trusts(one, other)).toBe(true);
      // The rotation continues from any remaining state.
      members.beforeStep = silent;
      const hash = await rotatePeerAuthority(members.client(), silent);
      expect(members.newest).toEqual([hash, hash, hash]);
    }
    expect([...outcomes].toSorted()).toEqual(["done", "refused"]);
  });

  test("continues with an authority that all trust already, and starts again where not all do", async () => {
    const members = await Members.create(peerAuthority, 3);
    const next = newAuthority(peerAuthority, clock.ms);
    for (const holder of members.holders) await holder.trust(next);
    const [hash = ""] = members.newest;
    expect(await rotatePeerAuthority(members.client(), silent)).toBe(hash);
    await members.holders[1]?.trust(newAuthority(peerAuthority, clock.ms));
    const lost = members.newest[1];
    expect(await rotatePeerAuthority(members.client(), silent)).not.toBe(lost as string);
  });

  test.each([
    ["the members", peerAuthority],
    ["the API", apiAuthority],
  ])("%s: names the member whose directory was restored before the former authority is dropped", async (_, kind) => {
    const members = await Members.create(kind, 3);
    const [one, , three] = members.holders as [Holder, Holder, Holder];
    const next = newAuthority(kind, clock.ms);
    for (const holder of [one, three]) {
      await holder.trust(next);
      if (kind.hasClients) await holder.to("issue");
      await holder.to("use");
    }
    await expect(rotateToEnd(kind, members.client())).rejects.toThrow(/same authority: remove member 2 \(m2\)/);
    expect(members.phases).toEqual(["using", "none", "using"]);
  });

  test("the API: catches up with a member that was restored to a state that trusts the same authority", async () => {
    const members = await Members.create(apiAuthority, 3);
    const next = newAuthority(apiAuthority, clock.ms);
    for (const holder of members.holders) await holder.trust(next);
    const [one] = members.holders as [Holder];
    await one.to("issue");
    await one.to("use");
    const hash = await finishApiRotation(members.client(), silent);
    expect([members.phases, members.newest]).toEqual([
      ["none", "none", "none"],
      [hash, hash, hash],
    ]);
    expect(await finishApiRotation(members.client(), silent)).toBe(hash);
  });
});

/** Reports whether one member accepts the credentials of the other. */
function trusts(one: Holder, other: Holder): boolean {
  return authorityStatus(one).trusted.includes(other.rotating.authority.certificate);
}
