import { beforeEach, describe, expect, test } from "bun:test";
import { systemUser } from "../../src/access/authentication/system-user.ts";
import { issueCertificate } from "../../src/access/certificates/authority.ts";
import { pinOf } from "../../src/access/certificates/certificate-pin.ts";
import {
  apiAuthority,
  newAuthority,
  newestOf,
  peerAuthority,
} from "../../src/access/certificates/rotating-authority.ts";
import type { PeerHealth } from "../../src/cluster/gossip/gossip.ts";
import { FakeCluster } from "../../src/cluster/testing.ts";
import { type Clock, systemClock } from "../../src/process/clock.ts";
import { ClusterError } from "../../src/storage/cluster.ts";
import { type ClusterServer, clusterServers } from "./cluster-server.ts";

const start = clusterServers();

const machine = { name: "b", peerAddress: "10.0.0.2:7380", clientUrl: "https://10.0.0.2:6443" };
const healthy: PeerHealth = {
  revision: 5,
  appliedIndex: 5,
  ready: true,
  failing: [],
  term: 3,
  leader: 1,
  endpoints: [machine.clientUrl],
  release: "1.2.3",
  ageMs: 300,
  isStale: false,
};
const unknownHash = `sha256:${"0".repeat(64)}`;
const leafPair = issueCertificate(newAuthority(apiAuthority, Date.now()), {
  commonName: "no authority",
  organizations: [],
  usage: "client",
  dnsNames: [],
  ipAddresses: [],
  notBeforeMs: Date.now() - 3_600_000,
  notAfterMs: Date.now() + 3_600_000,
});
const everyEndpoint = [
  ["GET", "/cluster/status"],
  ["GET", "/cluster/members"],
  ["POST", "/cluster/members"],
  ["POST", "/cluster/members/1/promote"],
  ["DELETE", "/cluster/members/1"],
  ["POST", "/cluster/leader"],
  ["GET", "/cluster/snapshot"],
  ["GET", "/cluster/tokens"],
  ["POST", "/cluster/tokens"],
  ["GET", "/cluster/authority"],
  ["POST", "/cluster/authority"],
  ["GET", "/cluster/peer-authority"],
  ["POST", "/cluster/peer-authority"],
  ["POST", "/cluster/join"],
] as const;

async function joinToken(server: ClusterServer, body: object = {}): Promise<string> {
  const { code, json } = await server.request("POST", "/cluster/tokens", body);
  expect({ code, message: json.message }).toEqual({ code: 201, message: undefined });
  return json.token;
}

describe("the administration of a cluster", () => {
  let server: ClusterServer;
  let cluster: FakeCluster;
  beforeEach(async () => {
    cluster = new FakeCluster("a");
    server = await start({}, cluster);
  });

  test("tells the state of the replica, and its members", async () => {
    const { code, json } = await server.request("GET", "/cluster/status");
    expect(code).toBe(200);
    expect(json).toMatchObject({ clusterId: cluster.clusterId, self: 1, leader: 1, term: 3, version: "1.2.3" });
    const members = await server.request("GET", "/cluster/members");
    expect(members.json).toMatchObject({ leader: 1, members: [{ id: 1, name: "a", role: "leader" }] });
  });

  test("adds a learner, promotes it once it has caught up, lets it lead and removes it", async () => {
    const added = await server.request("POST", "/cluster/members", machine);
    expect(added).toMatchObject({ code: 201, json: { member: { id: 2, ...machine } } });
    const early = await server.request("POST", "/cluster/members/2/promote");
    expect(early).toMatchObject({ code: 409, json: { reason: "Conflict", details: { retryAfterSeconds: 1 } } });
    expect(early.headers.get("retry-after")).toBe("1");
    cluster.caughtUp.add(2);
    expect((await server.request("POST", "/cluster/members/2/promote")).json.status).toBe("Success");
    expect((await server.request("POST", "/cluster/leader", { to: 2 })).code).toBe(200);
    expect(cluster.leader).toBe(2);
    cluster.leader = 1;
    expect((await server.request("DELETE", "/cluster/members/2")).code).toBe(200);
    expect(cluster.members().map(({ id }) => id)).toEqual([1]);
  });

  test("reports gossip about the others, and does not send new members to one that is not ready", async () => {
    await server.request("POST", "/cluster/members", machine);
    const { heard } = server.parts;
    heard.set(2, { ...healthy, ready: false, failing: ["etcd"] });
    const { json } = await server.request("GET", "/cluster/status");
    expect(json.gossip).toEqual([{ member: 2, ...healthy, ready: false, failing: ["etcd"] }]);
    const endpoints = async () => (await server.request("POST", "/cluster/tokens", {})).json.endpoints;
    const [own = ""] = await endpoints();
    expect(await endpoints()).toEqual([own]);
    heard.set(2, healthy);
    expect(await endpoints()).toEqual([own, machine.clientUrl]);
  });

  test("names the leader that others name if it knows of none itself", async () => {
    await server.request("POST", "/cluster/members", machine);
    cluster.leader = undefined;
    const refused = () => server.request("POST", "/cluster/members/2/promote");
    expect((await refused()).code).toBe(503);
    server.parts.heard.set(2, { ...healthy, term: 9, leader: 2 });
    expect(await refused()).toMatchObject({
      code: 421,
      json: { details: { causes: [{ reason: "notLeader" }, { reason: "leaderUrl", message: machine.clientUrl }] } },
    });
  });

  test.each([
    ["notLeader", 503, "ServiceUnavailable", "1"],
    ["unknownMember", 404, "NotFound", null],
    ["notCaughtUp", 409, "Conflict", "1"],
    ["quorumAtRisk", 409, "Conflict", null],
    ["conflict", 409, "Conflict", null],
    ["busy", 503, "ServiceUnavailable", "1"],
    ["unknown", 504, "Timeout", null],
  ] as const)("answers a change that fails as %s with %d", async (code, expected, reason, retryAfter) => {
    cluster.nextError = new ClusterError(code, "the reason");
    if (code === "notLeader") cluster.leader = undefined;
    const answer = await server.request("DELETE", "/cluster/members/1");
    expect(answer).toMatchObject({ code: expected, json: { kind: "Status", reason } });
    expect(answer.json.details.causes[0]).toEqual({ reason: code, message: "the reason" });
    expect(answer.headers.get("retry-after")).toBe(retryAfter);
  });

  test("makes the leader transfer leadership before its removal, and names the member to ask", async () => {
    const three = new FakeCluster("a", "b", "c");
    const answer = await (await start({}, three)).request("DELETE", "/cluster/members/1");
    expect(answer).toMatchObject({ code: 421, json: { message: expect.stringMatching(/member 2 \(b\) leads/) } });
    expect([three.leader, three.members().length]).toEqual([2, 3]);
  });

  test("names the leader on a follower, without a redirect that clients would follow with their credentials", async () => {
    const follower = new FakeCluster("a", "b");
    follower.leader = 2;
    const answer = await (await start({}, follower)).request("POST", "/cluster/members", machine);
    expect(answer).toMatchObject({ code: 421, json: { reason: "NotLeader" } });
    expect(answer.headers.get("location")).toBeNull();
    expect(answer.json.details.causes).toContainEqual({ reason: "leaderUrl", message: "https://127.0.0.1:6002" });
  });

  test.each<[string, string, unknown, number, RegExp]>([
    ["POST", "/cluster/members", {}, 400, /name is missing/],
    ["POST", "/cluster/members", { ...machine, name: "B!" }, 400, /name: .*lower-case/],
    ["POST", "/cluster/members", { ...machine, peerAddress: "10.0.0.2" }, 400, /peerAddress: /],
    ["POST", "/cluster/members", { ...machine, clientUrl: "http://10.0.0.2:6443" }, 400, /clientUrl: /],
    ["POST", "/cluster/members", { ...machine, name: "a" }, 409, /member 1 already has this name/],
    ["POST", "/cluster/members", "[]", 400, /JSON object/],
    ["POST", "/cluster/members", "{", 400, /./],
    ["POST", "/cluster/leader", {}, 400, /to: /],
    ["POST", "/cluster/tokens", { ttlSeconds: 0 }, 400, /ttlSeconds/],
    ["POST", "/cluster/tokens", { ttlSeconds: 86_401 }, 400, /ttlSeconds/],
    ["POST", "/cluster/tokens", { description: 1 }, 400, /description/],
    [
      "POST",
      "/cluster/peer-authority",
      { step: "trust", authority: { certificate: "x", key: "y" }, newest: unknownHash },
      400,
      /authority must/,
    ],
    ["POST", "/cluster/peer-authority", { step: "jump" }, 400, /trust, issue, use or drop/],
    ["POST", "/cluster/peer-authority", { step: "use" }, 400, /newest must be the hash/],
    ["POST", "/cluster/peer-authority", { step: "use", newest: "sha256:0" }, 400, /newest: .* 64 hexadecimal digits/],
    ["POST", "/cluster/peer-authority", { step: "use", newest: unknownHash }, 409, /does not know that authority/],
    ["POST", "/cluster/authority", { step: "issue", newest: unknownHash }, 409, /does not know that authority/],
    ["DELETE", "/cluster/members/7", undefined, 404, /there is no member 7/],
    ["DELETE", "/cluster/members/0", undefined, 404, /./],
    ["DELETE", "/cluster/members/01", undefined, 404, /./],
    ["DELETE", "/cluster/members/__proto__", undefined, 404, /./],
    ["GET", "/cluster/constructor", undefined, 404, /./],
    ["GET", "/cluster/", undefined, 404, /./],
    ["GET", "/cluster/status/1", undefined, 404, /./],
    ["POST", "/cluster/members/1/promote/x", undefined, 404, /./],
    ["PUT", "/cluster/status", {}, 405, /./],
    ["DELETE", "/cluster/members", undefined, 405, /./],
  ])("refuses %s %s with %p as %d", async (method, path, body, code, message) => {
    const answer = await server.request(method, path, body);
    expect(answer.code).toBe(code);
    expect(answer.text).toMatch(message);
    expect(cluster.members()).toHaveLength(1);
  });

  test("refuses an authority that could sign nothing", async () => {
    const step = { step: "trust", authority: leafPair, newest: unknownHash };
    const { code, text } = await server.request("POST", "/cluster/authority", step);
    expect({ code, text }).toEqual({ code: 400, text: expect.stringContaining("certificate of an authority") });
    expect(text).not.toContain("PRIVATE KEY");
  });

  test("65: refuses JSON declared as plain text, as a web page could send it", async () => {
    const answer = await server.request("POST", "/cluster/members", machine, {
      headers: { "content-type": "text/plain" },
    });
    expect(answer.code).toBe(415);
  });

  test("refuses a body that is too long", async () => {
    const answer = await server.request("POST", "/cluster/members", { ...machine, name: "x".repeat(70_000) });
    expect(answer.code).toBe(413);
  });

  test("sends a snapshot, two at a time, and releases it", async () => {
    const { code, text, headers } = await server.request("GET", "/cluster/snapshot");
    expect({ code, length: text.length, open: cluster.imagesOpen }).toEqual({ code: 200, length: 600_000, open: 0 });
    expect(headers.get("content-type")).toBe("application/octet-stream");
    const go = Promise.withResolvers<void>();
    const image = cluster.image.bind(cluster);
    cluster.image = async () => {
      const made = await image();
      await go.promise;
      return made;
    };
    const held = [server.request("GET", "/cluster/snapshot"), server.request("GET", "/cluster/snapshot")];
    while (cluster.imagesOpen < 2) await Bun.sleep(1);
    expect((await server.request("GET", "/cluster/snapshot")).code).toBe(429);
    go.resolve();
    expect((await Promise.all(held)).map((answer) => answer.code)).toEqual([200, 200]);
    expect(cluster.imagesOpen).toBe(0);
  });

  test("releases a snapshot whose reader has disconnected", async () => {
    cluster.imageBytes.push(...Array.from({ length: 200 }, () => new Uint8Array(300_000)));
    const abort = new AbortController();
    const { token } = server.parts.identity;
    const response = await fetch(`${server.url}/cluster/snapshot`, {
      tls: { ca: server.ca },
      headers: { authorization: `Bearer ${token}` },
      signal: abort.signal,
    });
    expect(response.status).toBe(200);
    expect(cluster.imagesOpen).toBe(1);
    abort.abort();
    for (let waited = 0; cluster.imagesOpen > 0 && waited < 5_000; waited += 5) await Bun.sleep(5);
    expect(cluster.imagesOpen).toBe(0);
  });
});

describe("permission to administer a cluster", () => {
  test("anonymous requests get a 403 everywhere, or a 401 where they are disabled", async () => {
    const rbac = await start();
    const allowAll = await start({ authorizationMode: ["AlwaysAllow"] });
    for (const [method, path] of everyEndpoint) {
      expect({ path, code: (await rbac.request(method, path, undefined, { token: "" })).code }).toEqual({
        path,
        code: 403,
      });
      expect((await allowAll.request(method, path, undefined, { token: "" })).code).toBe(401);
    }
  });

  test("a user needs a role: one to look, one to change", async () => {
    const server = await start();
    const { registries } = server.parts;
    const group = "rbac.authorization.k8s.io";
    const context = { user: systemUser, manager: "test", dryRun: false, warn() {} };
    const allow = async (user: string, verbs: string[], nonResourceURLs: string[]) => {
      const object = { apiVersion: `${group}/v1`, metadata: { name: user } };
      const role = { ...object, kind: "ClusterRole", rules: [{ verbs, nonResourceURLs }] };
      const binding = {
        ...object,
        kind: "ClusterRoleBinding",
        subjects: [{ kind: "User", apiGroup: group, name: user }],
        roleRef: { apiGroup: group, kind: "ClusterRole", name: user },
      };
      await registries.builtIn({ group, resource: "clusterroles" }).create(role, "", context);
      await registries.builtIn({ group, resource: "clusterrolebindings" }).create(binding, "", context);
    };
    await allow("looks", ["get"], ["/cluster/members", "/cluster/status"]);
    await allow("changes", ["get", "post", "delete"], ["/cluster/*"]);
    const codes = async (user: string) => {
      const answers = everyEndpoint.map(([method, path]) =>
        server.request(method, path, undefined, { headers: { "impersonate-user": user } }),
      );
      return (await Promise.all(answers)).map(({ code }) => code);
    };
    expect(await codes("nobody")).toEqual(everyEndpoint.map(() => 403));
    expect(await codes("looks")).toEqual([200, 200, ...Array.from({ length: everyEndpoint.length - 2 }, () => 403)]);
    // Joining needs a token, whatever other permissions the user has.
    expect(await codes("changes")).toEqual([200, 200, 400, 409, 409, 400, 200, 200, 201, 200, 400, 200, 400, 403]);
  });

  test.each(["RBAC", "AlwaysAllow"])(
    "the token of a new member is for joining and nothing else, with %s",
    async (mode) => {
      const server = await start({ authorizationMode: [mode] });
      const token = await joinToken(server);
      const others = [
        ...everyEndpoint.filter(([, path]) => path !== "/cluster/join"),
        ["GET", "/api/v1/secrets"],
        ["GET", "/api/v1/namespaces/kube-system/secrets"],
        ["GET", "/version"],
        ["GET", "/cluster/join"],
        ["POST", "/cluster/join/"],
        ["POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"],
      ] as const;
      for (const [method, path] of others) {
        const { code } = await server.request(method, path, undefined, { token });
        expect({ method, path, code }).toEqual({ method, path, code: 403 });
      }
      expect((await server.request("POST", "/cluster/join", machine, { token })).code).toBe(201);
    },
  );
});

describe("joining", () => {
  test("a machine with a token becomes a learner and gets the shared secrets", async () => {
    const server = await start();
    const { cluster, identity, peers } = server.parts;
    const answer = await server.request("POST", "/cluster/join", machine, { token: await joinToken(server) });
    expect(answer.code).toBe(201);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.json).toEqual({
      clusterId: cluster.clusterId,
      member: { id: 2, ...machine },
      members: [...cluster.members()],
      secrets: identity.sharedSecrets(peers.rotating.authority),
    });
    expect(cluster.status().members[1]?.role).toBe("learner");
  });

  test("a name or address that is taken is refused, and a second join with the same name", async () => {
    const server = await start();
    const token = await joinToken(server);
    const join = (change: object) => server.request("POST", "/cluster/join", { ...machine, ...change }, { token });
    expect((await join({})).code).toBe(201);
    for (const change of [{}, { name: "c" }, { peerAddress: "10.0.0.3:7380" }]) {
      expect(await join(change)).toMatchObject({
        code: 409,
        json: { message: expect.stringMatching(/^member 2 already has/) },
      });
    }
    expect(server.parts.cluster.members()).toHaveLength(2);
  });

  test("14: an expired token is a 401, and so is a wrong one", async () => {
    let nowMs = Date.now();
    const clock: Clock = { ...systemClock, nowMs: () => nowMs };
    const server = await start({ clock });
    const token = await joinToken(server, { ttlSeconds: 60 });
    const wrong = `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`;
    expect((await server.request("POST", "/cluster/join", machine, { token: wrong })).code).toBe(401);
    expect((await server.request("GET", "/cluster/tokens")).json.items).toHaveLength(1);
    nowMs += 61_000;
    expect((await server.request("POST", "/cluster/join", machine, { token })).code).toBe(401);
    expect((await server.request("GET", "/cluster/tokens")).json.items).toEqual([]);
    expect(server.parts.cluster.members()).toHaveLength(1);
  });

  test("the token of a recorded member is good for that member, and once", async () => {
    const server = await start();
    const { token } = (await server.request("POST", "/cluster/members", machine)).json;
    const join = (change: object) => server.request("POST", "/cluster/join", { ...machine, ...change }, { token });
    expect(await join({ name: "c" })).toMatchObject({
      code: 403,
      json: { message: expect.stringMatching(/with name b/) },
    });
    const answers = await Promise.all([join({}), join({}), join({})]);
    expect(answers.map(({ code }) => code).sort()).toEqual([201, expect.any(Number), expect.any(Number)]);
    expect(answers.filter(({ code }) => code === 401 || code === 403)).toHaveLength(2);
    expect((await join({})).code).toBe(401);
    expect(server.parts.cluster.members().map(({ id }) => id)).toEqual([1, 2]);
  });

  test("14: a Secret that a client wrote is not a token: only replicas can make them", async () => {
    const server = await start();
    const data = {
      "token-id": "abcdef",
      "token-secret": "0123456789abcdef",
      expiration: new Date(Date.now() + 60_000).toISOString(),
      "usage-bootstrap-authentication": "true",
      "auth-extra-groups": "system:bootstrappers:quorate:members",
      proof: "00".repeat(32),
    };
    await server.parts.registries.builtIn({ group: "", resource: "secrets" }).create(
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system" },
        type: "bootstrap.kubernetes.io/token",
        data: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, btoa(text)])),
      },
      "kube-system",
      { user: systemUser, manager: "test", dryRun: false, warn() {} },
    );
    const answer = await server.request("POST", "/cluster/join", machine, { token: "abcdef.0123456789abcdef" });
    expect(answer).toMatchObject({
      code: 403,
      json: { message: expect.stringMatching(/quorate cluster token create/) },
    });
    expect(answer.text).not.toContain("PRIVATE KEY");
  });

  test("no machine can join while the members get another authority", async () => {
    const server = await start();
    const token = await joinToken(server);
    const { peers } = server.parts;
    const newest = () => newestOf(peers.rotating);
    await peers.rotate({ step: "trust", authority: newAuthority(peerAuthority, Date.now()), newest: newest() });
    for (const phase of ["trusting", "using"]) {
      expect((await server.request("GET", "/cluster/peer-authority")).json.phase).toBe(phase);
      expect((await server.request("POST", "/cluster/join", machine, { token })).code).toBe(409);
      expect((await server.request("POST", "/cluster/members", machine)).code).toBe(409);
      if (phase === "trusting") await peers.rotate({ step: "use", newest: newest() });
    }
    await peers.rotate({ step: "drop", newest: newest() });
    expect(server.parts.cluster.members()).toHaveLength(1);
    expect((await server.request("POST", "/cluster/join", machine, { token })).code).toBe(201);
  });

  test("a machine that joins while the API gets another authority has the same phase as the others", async () => {
    const server = await start();
    const token = await joinToken(server);
    const authority = newAuthority(apiAuthority, Date.now());
    const former = server.parts.identity.issuer;
    const newest = pinOf(authority.certificate);
    const steps = [
      [
        { step: "trust", authority, newest: pinOf(former.certificate) },
        { authority: former, next: authority, nextIssues: false },
      ],
      [
        { step: "issue", newest },
        { authority: former, next: authority, nextIssues: true },
      ],
      [
        { step: "use", newest },
        { authority, nextIssues: false, former: former.certificate },
      ],
      [
        { step: "drop", newest },
        { authority, nextIssues: false },
      ],
    ] as const;
    for (const [at, [step, expected]] of steps.entries()) {
      expect((await server.request("POST", "/cluster/authority", step)).code).toBe(200);
      const others = { name: `b${at}`, peerAddress: `10.0.1.${at}:7380`, clientUrl: `https://10.0.1.${at}:6443` };
      const { code, json } = await server.request("POST", "/cluster/join", others, { token });
      const { peerAuthority: _, serviceAccountKey: __, token: ___, ...rotating } = json.secrets;
      expect({ code, rotating }).toEqual({ code: 201, rotating: expected });
    }
    expect(server.parts.audited.join("\n")).toContain("/cluster/authority");
    expect(server.parts.audited.join("\n")).not.toContain("PRIVATE KEY");
    const told = await server.request("GET", "/cluster/authority");
    expect(Object.keys(told.json)).toEqual(["phase", "newest", "trusted"]);
    expect(told.text).not.toContain("PRIVATE KEY");
  });

  test("neither an administrator nor an impersonating user can join", async () => {
    const server = await start();
    const id = (await joinToken(server)).slice(0, 6);
    expect((await server.request("POST", "/cluster/join", machine)).code).toBe(403);
    const headers = {
      "impersonate-user": `system:bootstrap:${id}`,
      "impersonate-group": "system:bootstrappers:quorate:members",
    };
    const answer = await server.request("POST", "/cluster/join", machine, { headers });
    expect(answer).toMatchObject({
      code: 403,
      json: { message: expect.stringMatching(/join tokens cannot be used by another user/) },
    });
  });

  test("72: neither tokens nor keys stand in the audit log, at any level", async () => {
    const server = await start();
    const token = await joinToken(server);
    await server.request("POST", "/cluster/join", machine, { token });
    const { audited, identity } = server.parts;
    const text = audited.join("\n");
    expect(text).toContain("/cluster/join");
    for (const secret of [token, token.slice(7), "PRIVATE KEY", identity.token]) expect(text).not.toContain(secret);
    const joins = audited.map((event) => JSON.parse(event)).filter(({ requestURI }) => requestURI === "/cluster/join");
    expect(joins.at(-1)).toMatchObject({
      stage: "ResponseComplete",
      user: { username: `system:bootstrap:${token.slice(0, 6)}` },
      responseStatus: { code: 201 },
      annotations: { "authorization.k8s.io/decision": "allow" },
    });
  });
});
