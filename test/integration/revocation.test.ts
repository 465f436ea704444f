import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BenchCluster } from "../bench/cluster.ts";
import { eventually, type MemberProcess } from "./member-process.ts";

/**
 * Tests that a right revoked through one of three replicas is gone on all of them, and that a replica that cannot know
 * this refuses to answer.
 */

/** Time in which a new leader is elected and connections time out. */
const standstillMs = 4_000;

const root = mkdtempSync(join(tmpdir(), "quorate-revocation-"));
const core = "/api/v1/namespaces/default";
const flags = ["--authorization-mode=RBAC"];
const rbac = "/apis/rbac.authorization.k8s.io/v1";
/** A read that the replica answers from its own state. */
const readable = `${core}/configmaps?resourceVersion=0`;
let cluster: BenchCluster;
let members: readonly MemberProcess[];

beforeAll(async () => {
  cluster = await BenchCluster.start({ directory: root, members: 3, flags });
  ({ members } = cluster);
}, 60_000);

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

const without = (member: MemberProcess) => members.filter((other) => other !== member);

async function create(path: string, object: object): Promise<any> {
  const { code, json } = await (members[0] as MemberProcess).request("POST", path, object);
  if (code !== 201) throw new Error(JSON.stringify(json));
  return json;
}

/** Returns the code and Retry-After of a GET. */
async function answerOf(member: MemberProcess, path: string, token = member.token) {
  const response = await member.fetch("GET", path, { token });
  await response.arrayBuffer();
  return { code: response.status, retryAfter: response.headers.get("retry-after") };
}

const codeOf = async (member: MemberProcess, token: string) => (await answerOf(member, readable, token)).code;

let accounts = 0;

/** Creates a service account that may read config maps by a binding of its own, and returns its name. */
async function newReader(): Promise<string> {
  const name = `reader-${++accounts}`;
  await create(`${core}/serviceaccounts`, { metadata: { name } });
  await create(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    subjects: [{ kind: "ServiceAccount", name, namespace: "default" }],
  });
  return name;
}

async function tokenOf(account: string, boundObjectRef?: object): Promise<string> {
  const spec = boundObjectRef === undefined ? {} : { boundObjectRef };
  return (await create(`${core}/serviceaccounts/${account}/token`, { spec })).status.token;
}

async function everybodyServes(token: string): Promise<void> {
  for (const member of members)
    await eventually(async () => ((await codeOf(member, token)) === 200 ? true : undefined));
}

/** Asks a replica until it refuses a token with the code. It has to when it shows that the object at the path is gone. */
async function untilRefused(code: number, member: MemberProcess, { token, path }: Revocable): Promise<void> {
  for (let answered = 200; answered !== code; ) {
    const isGone = (await answerOf(member, `${path}?resourceVersion=0`)).code === 404;
    answered = await codeOf(member, token);
    expect(isGone ? [code] : [200, code]).toContain(answered);
  }
}

/** A valid token, and the object whose deletion revokes it. */
interface Revocable {
  readonly token: string;
  readonly path: string;
}

async function boundTo(kind: "Secret" | "Pod", account: string, object: object): Promise<Revocable> {
  const collection = `${core}/${kind.toLowerCase()}s`;
  const { metadata } = await create(collection, { metadata: { name: account }, ...object });
  const token = await tokenOf(account, { apiVersion: "v1", kind, name: account, uid: metadata.uid });
  return { token, path: `${collection}/${account}` };
}

const podOf = (serviceAccountName: string) => ({
  spec: { serviceAccountName, containers: [{ name: "main", image: "example.com/image" }] },
});

describe("attack 78: on every other replica, as soon as that replica shows it", () => {
  test.each<[string, number, (account: string) => Promise<Revocable>]>([
    [
      "of a service account makes its tokens unknown",
      401,
      async (account) => ({ token: await tokenOf(account), path: `${core}/serviceaccounts/${account}` }),
    ],
    ["of a Secret makes the tokens that are bound to it unknown", 401, (account) => boundTo("Secret", account, {})],
    [
      "of a Pod makes the tokens that are bound to it unknown",
      401,
      (account) => boundTo("Pod", account, podOf(account)),
    ],
    [
      "of a ClusterRoleBinding takes what it permitted",
      403,
      async (account) => ({ token: await tokenOf(account), path: `${rbac}/clusterrolebindings/${account}` }),
    ],
  ])("the deletion %s (%d), whichever replica it comes through", async (_, code, prepare) => {
    for (const member of members) {
      const revocable = await prepare(await newReader());
      await everybodyServes(revocable.token);
      expect((await member.request("DELETE", `${revocable.path}?gracePeriodSeconds=0`)).code).toBe(200);
      expect(await codeOf(member, revocable.token)).toBe(code);
      await Promise.all(without(member).map((other) => untilRefused(code, other, revocable)));
    }
  });

  test("a replica that was suspended while others wrote notices when it resumes", async () => {
    const account = await newReader();
    const revocable = { token: await tokenOf(account), path: `${core}/serviceaccounts/${account}` };
    await everybodyServes(revocable.token);
    const leader = await cluster.leader();
    const [stopped, other] = without(leader) as [MemberProcess, MemberProcess];
    stopped.signal("SIGSTOP");
    try {
      await Bun.sleep(standstillMs);
      expect((await other.request("DELETE", revocable.path)).code).toBe(200);
      for (let write = 0; write < 20; write++) {
        const { code } = await other.request("POST", `${core}/configmaps`, { metadata: { generateName: "behind-" } });
        expect(code).toBe(201);
      }
    } finally {
      stopped.signal("SIGCONT");
    }
    await untilRefused(401, stopped, revocable);
  }, 60_000);
});

describe("a replica that is left alone", () => {
  test("is not ready, and answers a consistent read with 504 and Retry-After, even if it was the leader", async () => {
    const survivor = await cluster.leader();
    await Promise.all(without(survivor).map((other) => other.stop("SIGKILL")));
    expect(await answerOf(survivor, `${core}/configmaps`)).toEqual({ code: 504, retryAfter: "1" });
    expect((await answerOf(survivor, "/readyz")).code).toBe(500);
    expect((await answerOf(survivor, "/livez")).code).toBe(200);
    expect(await codeOf(survivor, survivor.token)).toBe(200);
    await Promise.all(without(survivor).map((other) => other.start(["up", ...flags])));
    await eventually(async () => ((await answerOf(survivor, "/readyz")).code === 200 ? true : undefined));
    expect((await answerOf(survivor, `${core}/configmaps`)).code).toBe(200);
  });
});
