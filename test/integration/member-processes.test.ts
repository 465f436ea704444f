import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";
import { eventually, MemberProcess, quorate } from "./member-process.ts";

/** Members in separate processes, created and managed by the commands that people type. */

const root = mkdtempSync(join(tmpdir(), "quorate-members-"));
const members: MemberProcess[] = [];
let a: MemberProcess;
let b: MemberProcess;
let c: MemberProcess;

async function newMember(name: string): Promise<MemberProcess> {
  const member = await MemberProcess.create(root, name);
  members.push(member);
  return member;
}

async function statusOf(member: MemberProcess): Promise<any> {
  const { code, out, err } = await member.run("status", "-o", "json");
  if (code !== 0) throw new Error(out + err);
  return JSON.parse(out);
}

function rolesOf(member: MemberProcess, ...roles: string[]): Promise<any> {
  return eventually(async () => {
    const status = await statusOf(member);
    const found = status.members.map(({ role, health }: any) => (health === "ok" ? role : health)).sort();
    return JSON.stringify(found) === JSON.stringify(roles.sort()) ? status : undefined;
  });
}

const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { name } });
const configMaps = "/api/v1/namespaces/default/configmaps";

beforeAll(async () => {
  a = await newMember("a");
  b = await newMember("b");
  c = await newMember("c");
  await a.start(["cluster", "init"]);
  const join = await a.invitation();
  await b.start(join);
  await c.start(join);
  await rolesOf(a, "leader", "voter", "voter");
}, 60_000);

afterAll(async () => {
  await Promise.all(members.map((member) => member.stop("SIGKILL")));
  rmSync(root, { recursive: true });
});

describe("three members", () => {
  test("serve the same objects to the same administrator on every member", async () => {
    expect((await b.request("POST", configMaps, configMap("one"))).code).toBe(201);
    for (const member of [a, b, c]) {
      const { code, json } = await member.request("GET", `${configMaps}/one`);
      expect({ name: member.name, code, data: json.data }).toEqual({
        name: member.name,
        code: 200,
        data: { name: "one" },
      });
      expect(member.token).toBe(a.token);
      expect(member.ca).toBe(a.ca);
    }
  });

  test("list the cluster's paths among the served paths", async () => {
    const { paths } = (await a.request("GET", "/")).json;
    expect(paths.filter((path: string) => path.startsWith("/cluster"))).toEqual([
      "/cluster/authority",
      "/cluster/join",
      "/cluster/leader",
      "/cluster/members",
      "/cluster/peer-authority",
      "/cluster/snapshot",
      "/cluster/status",
      "/cluster/tokens",
    ]);
  });

  test("have keys of their own beside those that they share", () => {
    const keys = [a, b, c].map(({ directory }) => readFileSync(join(directory, "pki/peer.key"), "utf8"));
    expect(new Set(keys).size).toBe(3);
  });

  test("hand the leadership over, whichever is asked to", async () => {
    const { leader, members: known } = await rolesOf(a, "leader", "voter", "voter");
    const heir = known.find(({ id }: any) => id !== leader);
    const asked = [a, b, c].find(({ name }) => name === heir.name) as MemberProcess;
    expect(await asked.run("member", "transfer-leader", `${heir.id}`)).toMatchObject({
      code: 0,
      out: `member ${heir.id} is now the leader\n`,
    });
    expect((await rolesOf(a, "leader", "voter", "voter")).leader).toBe(heir.id);
  });

  test("reject a machine with a taken name, a wrong token or a wrong hash, in one line", async () => {
    const twin = await newMember("twin");
    const [cluster = "", join = "", url = "", tokenFlag = "", token = "", hashFlag = "", hash = ""] =
      await a.invitation();
    const wrongToken = `${token.slice(0, 7)}${"0".repeat(16)}`;
    const attempts: [string[], RegExp][] = [
      [[token, hashFlag, hash, "--member-name", "b"], /^quorate: member \d has the name b already: choose another/m],
      [[wrongToken, hashFlag, hash], /^quorate: the token was not accepted/m],
      [[token, hashFlag, `sha256:${"0".repeat(64)}`], /^quorate: .*is not the expected server/m],
    ];
    for (const [rest, message] of attempts) {
      const ran = await quorate([cluster, join, url, ...twin.flags, tokenFlag, ...rest]);
      expect(ran.code).toBe(1);
      expect(ran.err).toMatch(message);
      expect(twin.isPrepared).toBe(false);
    }
    expect((await statusOf(a)).members).toHaveLength(3);
  });

  test("take a learner in, which serves reads and never votes, and let it go again", async () => {
    const learner = await newMember("reads");
    const invited = await b.invitation();
    await learner.start([...invited, "--learner", "-v", "6"]);
    expect((await learner.request("GET", `${configMaps}/one`)).code).toBe(200);
    expect((await learner.request("POST", configMaps, configMap("by-learner"))).code).toBe(201);
    const { members: known } = await rolesOf(a, "leader", "learner", "voter", "voter");
    const { id } = known.find(({ name }: any) => name === "reads");
    await learner.stop();
    await learner.start();
    expect((await learner.request("GET", `${configMaps}/by-learner`)).code).toBe(200);
    await rolesOf(a, "leader", "learner", "voter", "voter");
    expect((await b.run("member", "remove", `${id}`)).code).toBe(0);
    await rolesOf(a, "leader", "voter", "voter");
    await learner.stop("SIGKILL");
    // 72: logs contain no secrets, at any verbosity.
    const joinSecret = invited[invited.indexOf("--token") + 1]?.slice(7) ?? "";
    expect(joinSecret).toHaveLength(16);
    for (const { err } of [a, b, c, learner]) {
      for (const secret of [joinSecret, a.token, "PRIVATE KEY"]) expect(err).not.toContain(secret);
    }
    expect(learner.err).toContain("serving");
  });

  test("admit a member that was recorded before, once, with the printed command", async () => {
    const late = await newMember("late");
    const added = await a.run(
      "member",
      "add-learner",
      "late",
      `--peer-address=127.0.0.1:${late.peerPort}`,
      `--client-url=${late.url}`,
    );
    expect(added.code).toBe(0);
    const command = added.out.trim().replace("quorate ", "").split(" ");
    await late.start([...command, "--learner"], ["--data-dir", late.directory, "--secure-port", `${late.port}`]);
    const { members: known } = await rolesOf(a, "leader", "learner", "voter", "voter");
    const again = await quorate([...command, "--data-dir", join(root, "again"), "--secure-port", "1"]);
    expect(again).toMatchObject({ code: 1, err: expect.stringMatching(/the token was not accepted/) });
    await late.stop("SIGKILL");
    await a.run("member", "remove", `${known.find(({ name }: any) => name === "late").id}`);
  });

  test("attack 68: a non-member gets nothing from the port of the peers, whatever it tries", async () => {
    const validity = { notBeforeMs: Date.now() - 7_200_000, notAfterMs: Date.now() + 3_600_000 };
    const pki = (name: string) => readFileSync(join(a.directory, "pki", name), "utf8");
    const leaf = {
      commonName: "member-2",
      organizations: [],
      usage: "peer",
      dnsNames: ["member-2"],
      ipAddresses: [],
    } as const;
    const peerAuthority = { certificate: pki("peer-ca.crt"), key: pki("peer-ca.key") };
    const foreign = createAuthority({ commonName: "quorate-peer-ca", ...validity });
    const expired = { ...validity, notAfterMs: Date.now() - 3_600_000 };
    const of = ({ certificate, key }: { certificate: string; key: string }) => ({ cert: certificate, key });
    const strangers: [string, ConnectionOptions][] = [
      ["no certificate", {}],
      ["the administrator's certificate", of({ certificate: pki("admin.crt"), key: pki("admin.key") })],
      ["the certificate of an API server", of({ certificate: pki("serving.crt"), key: pki("serving.key") })],
      ["a certificate of another authority of the same name", of(issueCertificate(foreign, { ...leaf, ...validity }))],
      ["an expired certificate", of(issueCertificate(peerAuthority, { ...leaf, ...expired }))],
      ["TLS 1.2", { ...of(issueCertificate(peerAuthority, { ...leaf, ...validity })), maxVersion: "TLSv1.2" }],
    ];
    const before = await statusOf(a);
    for (const [name, options] of strangers) {
      const received = await hears(
        connectTls({ host: "127.0.0.1", port: a.peerPort, rejectUnauthorized: false, ...options }),
      );
      expect({ name, received }).toEqual({ name, received: 0 });
    }
    expect(await hears(connectTcp(a.peerPort, "127.0.0.1"))).toBe(0);
    const after = await rolesOf(a, "leader", "voter", "voter");
    expect({ leader: after.leader, term: after.term }).toEqual({ leader: before.leader, term: before.term });
  });

  test("get another authority while they serve, and members that start know each other by it", async () => {
    const authority = () => readFileSync(join(b.directory, "pki/peer-ca.crt"), "utf8");
    const former = authority();
    const writing = { on: true, failed: 0, written: 0 };
    const writer = (async () => {
      while (writing.on) {
        const { code } = await b.request("POST", configMaps, configMap(`rotating-${writing.written++}`));
        if (code !== 201) writing.failed++;
      }
    })();
    const { code, out, err } = await a.run("cluster", "rotate-ca");
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^the members now use a new authority: sha256:/),
    });
    expect(err.trim().split("\n")).toHaveLength(9);
    expect(authority()).not.toBe(former);
    writing.on = false;
    await writer;
    expect(writing.failed).toBe(0);
    await b.stop();
    await b.start();
    await rolesOf(a, "leader", "voter", "voter");
    for (const member of [a, b, c]) {
      expect(readFileSync(join(member.directory, "pki/peer-ca.crt"), "utf8")).toBe(authority());
      expect(readdirSync(join(member.directory, "pki")).filter((name) => /next|former/.test(name))).toEqual([]);
    }
  });

  test("lose nothing when one is killed, and the others say which; it comes back by itself", async () => {
    await c.stop("SIGKILL");
    await eventually(async () =>
      (await a.request("POST", configMaps, configMap("without-c"))).code === 201 ? true : undefined,
    );
    const { out, code } = await a.run("status");
    expect(code).toBe(0);
    expect(out).toMatch(/^\d +c +voter +unreachable /m);
    expect(out).toMatch(/^member \d: cannot reach https.*: nothing listens there; member \d heard from it \d+ s ago$/m);
    // The member's own kubeconfig names the others, which answer in its place.
    expect((await c.run("status")).out).toContain("2 of 3 are healthy");
    const gone = await quorate(["status", "--kubeconfig", c.kubeconfig, "--endpoints", `${c.url},${b.url}`]);
    expect(gone.code).toBe(0);
    const none = await quorate(["status", "--kubeconfig", c.kubeconfig, "--endpoints", `${c.url},https://127.0.0.1:1`]);
    expect(none).toMatchObject({
      code: 1,
      err: `quorate: no member answers: cannot reach ${c.url}: nothing listens there; cannot reach https://127.0.0.1:1: nothing listens there\n`,
    });
    await c.start();
    expect((await c.request("GET", `${configMaps}/without-c`)).code).toBe(200);
    await rolesOf(a, "leader", "voter", "voter");
  });
});

describe("the leader", () => {
  test("is removed like any other member, says so, stops for good, and comes back with an empty directory", async () => {
    const { leader, members: known } = await rolesOf(a, "leader", "voter", "voter");
    const leading = [a, b, c].find(
      ({ name }) => known.find(({ id }: any) => id === leader).name === name,
    ) as MemberProcess;
    const other = leading === a ? b : a;
    expect(await leading.run("member", "remove", `${leader}`)).toMatchObject({ code: 0, err: "" });
    expect((await rolesOf(other, "leader", "voter")).members.map(({ id }: any) => id)).not.toContain(leader);
    expect(await leading.ended()).toBe(3);
    expect(leading.err).toContain("quorate: this member was removed from the cluster: to use this machine again");
    // The others remember the removal after a restart too.
    await other.stop();
    await other.start();
    const again = await quorate(["up", ...leading.flags]);
    expect(again).toMatchObject({ code: 3, out: "" });
    expect(again.err).toContain("quorate: this member was removed from the cluster: to use this machine again");
    rmSync(leading.directory, { recursive: true });
    await leading.start(await other.invitation());
    await rolesOf(other, "leader", "voter", "voter");
  }, 60_000);
});

describe("when all is lost but", () => {
  test("a snapshot, a new cluster is made of it, with revisions above all that clients have seen", async () => {
    const file = join(root, "snapshot");
    const saved = await b.run("snapshot", "save", file);
    expect(saved).toMatchObject({
      code: 0,
      out: expect.stringMatching(/objects at revision \d+, complete and undamaged\n$/),
    });
    expect((await b.run("snapshot", "save", file)).err).toMatch(/^quorate: .*already exists/);
    const { out } = await quorate(["snapshot", "inspect", file, "-o", "json"]);
    const { revision } = JSON.parse(out);
    const restored = await newMember("restored");
    expect((await quorate(["snapshot", "restore", file, "--data-dir", restored.directory])).code).toBe(0);
    // With the certificates and keys of the former cluster, clients notice no change.
    cpSync(join(b.directory, "pki"), join(restored.directory, "pki"), { recursive: true });
    await restored.start();
    expect([restored.ca, restored.token]).toEqual([b.ca, b.token]);
    const { code, json } = await restored.request("GET", configMaps);
    expect(code).toBe(200);
    expect(json.items.map(({ metadata }: any) => metadata.name)).toContain("one");
    expect(Number(json.metadata.resourceVersion)).toBeGreaterThan(revision + 1_000_000_000 - 1);
    const old = await restored.request("GET", `${configMaps}?watch=true&resourceVersion=${revision}&timeoutSeconds=1`);
    expect(old.json).toMatchObject({ type: "ERROR", object: { code: 410 } });
    const status = await statusOf(restored);
    expect(status.members).toHaveLength(1);
    await restored.stop();
  });

  test("one member, the cluster goes on with it alone, and others can join it", async () => {
    expect((await a.request("POST", configMaps, configMap("last"))).code).toBe(201);
    await eventually(async () => ((await c.request("GET", `${configMaps}/last`)).code === 200 ? true : undefined));
    await Promise.all([a.stop("SIGKILL"), b.stop("SIGKILL")]);
    const busy = await quorate(["cluster", "recover", "--data-dir", c.directory]);
    expect(busy).toMatchObject({ code: 1, err: expect.stringMatching(/^quorate: .*is using it/) });
    await c.stop("SIGKILL");
    const recovered = await quorate(["cluster", "recover", "--data-dir", c.directory]);
    const [, command = ""] = recovered.out.split("\n");
    expect(recovered).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^member \d is now the only member of its cluster; forgotten: \d, \d\n/),
      err: expect.stringContaining("never start the others again"),
    });
    // The printed command is sufficient.
    expect(command).toBe(
      `quorate up --data-dir ${c.directory} --member-name c --peer-address 127.0.0.1:${c.peerPort} --secure-port ${c.port}`,
    );
    await c.start(command.split(" ").slice(1), []);
    expect((await c.request("GET", `${configMaps}/last`)).code).toBe(200);
    expect((await statusOf(c)).members.map(({ name }: any) => name)).toEqual(["c"]);
    const newcomer = await newMember("newcomer");
    await newcomer.start(await c.invitation());
    expect((await newcomer.request("GET", `${configMaps}/last`)).code).toBe(200);
    await rolesOf(c, "leader", "voter");
  });
});

/** Returns the bytes received before the other side closes the connection. */
async function hears(socket: ReturnType<typeof connectTcp>): Promise<number> {
  let received = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("data", (data) => (received += data.length));
  socket.on("error", () => {});
  socket.on("close", () => resolve());
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await Promise.race([promise, Bun.sleep(7_000)]);
  socket.destroy();
  return received;
}
