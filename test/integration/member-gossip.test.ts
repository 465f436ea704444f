import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { eventually, MemberProcess } from "./member-process.ts";
import { TlsService } from "./tls-service.ts";

/** Gossip between members in separate processes, and the same cluster without it. */

const root = mkdtempSync(join(tmpdir(), "quorate-gossip-"));
let members: MemberProcess[] = [];

/**
 * An issuer of users who are not members. Each replica caches its keys for ten minutes, and fetches them at most every
 * ten seconds.
 */
let issuerKeys: Awaited<ReturnType<typeof newIssuerKey>>[] = [];
const issuer = new TlsService((request) => {
  const isKeys = new URL(request.url).pathname === "/keys";
  return Response.json(
    isKeys
      ? { keys: issuerKeys.map(({ published }) => published) }
      : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` },
  );
});
const refetchMsMin = 10_000;

async function newIssuerKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const claims = { sub: "jane", iss: issuer.url, aud: "quorate" };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: "ES256", kid })
    .setExpirationTime("10m")
    .sign(privateKey);
  return { published: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" }, token };
}

function issuerConfiguration(): string {
  const file = join(root, "authentication.json");
  const configuration = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: { url: issuer.url, certificateAuthority: issuer.ca, audiences: ["quorate"] },
        claimMappings: { username: { claim: "sub", prefix: "" } },
      },
    ],
  };
  writeFileSync(file, JSON.stringify(configuration));
  return file;
}

beforeAll(async () => {
  members = await Promise.all(["a", "b", "c"].map((name) => MemberProcess.create(root, name)));
  const [a, ...others] = members as [MemberProcess, ...MemberProcess[]];
  const flag = `--authentication-config=${issuerConfiguration()}`;
  await a.start(["cluster", "init", flag]);
  const invitation = await a.invitation();
  for (const other of others) await other.start([...invitation, flag]);
}, 60_000);

afterAll(async () => {
  await Promise.all(members.map((member) => member.stop("SIGKILL")));
  await issuer[Symbol.asyncDispose]();
  rmSync(root, { recursive: true });
});

async function status(member: MemberProcess): Promise<any> {
  return (await member.request("GET", "/cluster/status")).json;
}

/** Waits until a member has recently heard from `count` others that are ready. A busy machine may be late. */
function hears(member: MemberProcess, count: number): Promise<any> {
  return eventually(async () => {
    const { gossip } = await status(member);
    return gossip.filter(({ isStale, ready }: any) => !isStale && ready).length === count ? gossip : undefined;
  });
}

const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

describe("members", () => {
  test("hear of each other, and each has a key for its owner only", async () => {
    for (const member of members) {
      const gossip = await hears(member, 2);
      expect(gossip.map(({ failing }: any) => failing)).toEqual([[], []]);
      expect(statSync(join(member.directory, "pki/gossip.key")).mode & 0o777).toBe(0o600);
    }
    const { members: records } = await status(members[0] as MemberProcess);
    expect(new Set(records.map(({ peerId }: any) => peerId)).size).toBe(3);
  });

  test("hear from one of them that an issuer of tokens has withdrawn a key, and ask for its keys again", async () => {
    const [old, renewed] = [await newIssuerKey("old"), await newIssuerKey("new")];
    issuerKeys = [old];
    // Its user has no rights, so a token that is accepted gets a 403.
    const codeOf = async (member: MemberProcess, { token }: { token: string }) =>
      (await member.fetch("GET", configMaps, { token })).status;
    const [first, ...others] = members as [MemberProcess, ...MemberProcess[]];
    for (const member of members) expect(await codeOf(member, old)).toBe(403);
    issuerKeys = [renewed];
    await Bun.sleep(refetchMsMin);
    for (const other of others) expect(await codeOf(other, old)).toBe(403);
    expect(await codeOf(first, renewed)).toBe(403);
    for (const other of others) {
      await eventually(async () => ((await codeOf(other, old)) === 401 ? true : undefined));
    }
  });

  test("hear again of one that was killed and came back", async () => {
    const [a, , c] = members as [MemberProcess, MemberProcess, MemberProcess];
    await c.stop("SIGKILL");
    await hears(a, 1);
    await c.start();
    await hears(a, 2);
    await hears(c, 2);
  });

  test("do not hear any more of one that is removed", async () => {
    const [a, , c] = members as [MemberProcess, MemberProcess, MemberProcess];
    const { self } = await status(c);
    const removed = await a.run("member", "remove", `${self}`);
    expect({ code: removed.code, err: removed.err }).toEqual({ code: 0, err: "" });
    await eventually(async () =>
      (await status(a)).gossip.some(({ member }: any) => member === self) ? undefined : true,
    );
    await c.stop("SIGKILL");
  });
});

test("a cluster without gossip works too: it writes, reads, elects a leader and reports its status", async () => {
  const two = members.slice(0, 2) as [MemberProcess, MemberProcess];
  for (const member of two) {
    await member.stop();
    await member.start(["up"], [...member.flags, "--gossip=false"]);
  }
  const [a, b] = two;
  expect((await a.request("POST", configMaps, configMap("quiet"))).code).toBe(201);
  expect((await b.request("GET", `${configMaps}/quiet`)).code).toBe(200);
  const { leader, members: records } = await status(a);
  const heir = records.find(({ id }: any) => id !== leader).id;
  expect(await a.run("member", "transfer-leader", `${heir}`)).toMatchObject({ code: 0 });
  expect((await a.request("POST", configMaps, configMap("quiet-too"))).code).toBe(201);
  const quiet = await eventually(async () => {
    const now = await status(b);
    return now.members.every(({ peerId }: any) => peerId === undefined) ? now : undefined;
  });
  expect(quiet.gossip).toEqual([]);
  expect((await b.run("status")).out).toContain("2 of 2 are healthy");
});
