import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { pinOf, pinsOf } from "../../src/access/certificates/certificate-pin.ts";
import { apiAuthority, newAuthority } from "../../src/access/certificates/rotating-authority.ts";
import { readKubeconfig } from "../../src/client/kubeconfig.ts";
import { eventually, MemberProcess, quorate, type Ran } from "./member-process.ts";

/** Replaces the API's authority while clients that know only their kubeconfig continue. */

const root = mkdtempSync(join(tmpdir(), "quorate-rotation-"));
const members: MemberProcess[] = [];
afterAll(async () => {
  await Promise.all(members.map((member) => member.stop("SIGKILL")));
  rmSync(root, { recursive: true });
});

async function newMember(name: string): Promise<MemberProcess> {
  const member = await MemberProcess.create(root, name);
  members.push(member);
  return member;
}

const configMaps = "/api/v1/namespaces/default/configmaps";
let files = 0;

/** A program elsewhere. It trusts only its kubeconfig, and authenticates with the client certificate in it. */
class Client {
  readonly kubeconfig = join(root, `kubeconfig-${++files}`);
  ca = "";
  cert = "";
  #key = "";

  constructor(member: MemberProcess) {
    this.fetch(member);
  }

  fetch(member: MemberProcess): void {
    cpSync(member.kubeconfig, this.kubeconfig);
    const config = Bun.YAML.parse(readFileSync(this.kubeconfig, "utf8")) as any;
    const text = (base64: string) => Buffer.from(base64, "base64").toString();
    this.ca = text(config.clusters[0].cluster["certificate-authority-data"]);
    this.cert = text(config.users[0].user["client-certificate-data"]);
    this.#key = text(config.users[0].user["client-key-data"]);
  }

  get tls() {
    return { ca: this.ca, cert: this.cert, key: this.#key };
  }

  /** Uses a separate connection. @throws Error if it cannot connect */
  async send(member: MemberProcess, method: string, path: string, body?: object): Promise<Response> {
    return fetch(member.url + path, {
      method,
      keepalive: false,
      tls: this.tls,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  rotateCa(...flags: string[]): Promise<Ran> {
    return quorate(["cluster", "rotate-ca", "--api", ...flags, "--kubeconfig", this.kubeconfig]);
  }
}

/** Writes to one member after the other without a pause, and watches the writes. */
class Traffic {
  readonly failures: string[] = [];
  readonly #written = { names: [] as string[], isEnough: false };
  readonly #seen: string[] = [];
  readonly #client: Client;
  readonly #prefix = `traffic-${++files}`;
  readonly #running: Promise<unknown>[];
  readonly #abort = new AbortController();

  private constructor(client: Client, targets: readonly MemberProcess[], watch: Response) {
    this.#client = client;
    this.#running = [this.#write(targets), this.#watch(watch)];
  }

  static async start(client: Client, targets: readonly MemberProcess[]): Promise<Traffic> {
    const [first] = targets as [MemberProcess];
    const list = (await (await client.send(first, "GET", configMaps)).json()) as any;
    const query = `watch=true&resourceVersion=${list.metadata.resourceVersion}`;
    return new Traffic(client, targets, await client.send(first, "GET", `${configMaps}?${query}`));
  }

  async #write(targets: readonly MemberProcess[]): Promise<void> {
    for (let at = 0; !this.#written.isEnough; at++) {
      const name = `${this.#prefix}-${at}`;
      const target = targets[at % targets.length] as MemberProcess;
      try {
        const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
        const { status } = await this.#client.send(target, "POST", configMaps, body);
        if (status === 201) this.#written.names.push(name);
        else this.failures.push(`${name}: ${status}`);
      } catch (error) {
        this.failures.push(`${name}: ${(error as { code?: string }).code ?? error}`);
      }
    }
  }

  async #watch(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    this.#abort.signal.addEventListener("abort", () => void response.body?.cancel().catch(() => {}));
    const reader = response.body?.getReader();
    for (;;) {
      const next = await Promise.race([reader?.read(), aborted(this.#abort.signal)]);
      if (next === undefined) return void reader?.cancel().catch(() => {});
      if (next.done) return void this.failures.push("the watch has ended");
      const lines = (rest + decoder.decode(next.value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const { type, object } = JSON.parse(line);
        if (type === "ADDED" && object.metadata.name.startsWith(this.#prefix)) this.#seen.push(object.metadata.name);
      }
    }
  }

  /** @returns the failures; checks that the watch saw all writes */
  async stop(): Promise<readonly string[]> {
    this.#written.isEnough = true;
    await this.#running[0];
    expect(this.#written.names.length).toBeGreaterThan(5);
    if (this.failures.length === 0) {
      await eventually(async () => (this.#seen.length >= this.#written.names.length ? true : undefined));
      expect(this.#seen).toEqual(this.#written.names);
    }
    this.#abort.abort();
    await this.#running[1];
    return this.failures;
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}

/** The ConfigMaps with the server's authority and its clients' authority. */
const publishedAt = [
  ["/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt", "ca.crt"],
  ["/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication", "client-ca-file"],
  ["/api/v1/namespaces/default/secrets/token-of-default", "ca.crt"],
] as const;

async function createTokenSecret(client: Client, member: MemberProcess): Promise<void> {
  const annotations = { "kubernetes.io/service-account.name": "default" };
  const metadata = { name: "token-of-default", annotations };
  const secret = { apiVersion: "v1", kind: "Secret", type: "kubernetes.io/service-account-token", metadata };
  expect((await client.send(member, "POST", "/api/v1/namespaces/default/secrets", secret)).status).toBe(201);
}

/** Waits until a number of authorities is published everywhere. @returns their hashes */
function published(client: Client, member: MemberProcess, count: number): Promise<string[]> {
  return eventually(async () => {
    const told = await Promise.all(
      publishedAt.map(async ([path, key]) => {
        const { kind, data } = (await (await client.send(member, "GET", path)).json()) as any;
        return pinsOf(kind === "Secret" ? Buffer.from(data[key], "base64").toString() : data[key]);
      }),
    );
    const [pins = []] = told;
    return pins.length === count && new Set(told.map(String)).size === 1 ? pins : undefined;
  });
}

async function expectLockedOut(former: Client, current: Client, member: MemberProcess): Promise<void> {
  await expect(former.send(member, "GET", "/version")).rejects.toThrow(/certificate/);
  const withOldCertificate = await fetch(`${member.url}/api/v1/namespaces`, {
    keepalive: false,
    tls: { ...former.tls, ca: current.ca },
  });
  expect(withOldCertificate.status).toBe(401);
  expect((await current.send(member, "GET", "/api/v1/namespaces")).status).toBe(200);
}

/** Resumes a TLS session that began while the client's authority was trusted. */
class Resumed {
  readonly #member: MemberProcess;
  readonly #tls: Client["tls"];
  readonly #session: Buffer;

  private constructor(member: MemberProcess, tls: Client["tls"], session: Buffer) {
    this.#member = member;
    this.#tls = tls;
    this.#session = session;
  }

  static async open(member: MemberProcess, tls: Client["tls"]): Promise<Resumed> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const socket = connect({ host: "127.0.0.1", port: member.port, ...tls, ALPNProtocols: ["http/1.1"] });
    socket.on("session", resolve);
    socket.on("error", reject);
    await asked(socket);
    return new Resumed(member, tls, await promise);
  }

  async ask(ca: string): Promise<{ status: string; isResumed: boolean }> {
    const port = this.#member.port;
    const session = this.#session;
    const socket = connect({ host: "127.0.0.1", port, ...this.#tls, ca, session, ALPNProtocols: ["http/1.1"] });
    let isResumed = false;
    socket.once("secureConnect", () => (isResumed = socket.isSessionReused()));
    const status = await asked(socket);
    return { status, isResumed };
  }
}

/** Returns the status line, or the failure. */
async function asked(socket: TLSSocket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  socket.on("data", (data) => (text += data.toString()));
  socket.on("error", (error) => resolve(error.message));
  socket.on("close", () => resolve(text.split("\r\n")[0] ?? ""));
  socket.write("GET /api/v1/namespaces HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  return promise;
}

describe("one replica", () => {
  let member: MemberProcess;
  beforeAll(async () => {
    member = await newMember("alone");
    await member.start(["up"], ["--data-dir", member.directory, "--secure-port", `${member.port}`]);
  }, 60_000);

  test("changes its authority while it serves, and does not trust the former one in the end", async () => {
    const [client, forgotten] = [new Client(member), new Client(member)];
    const serviceToken = await tokenOf(member, client);
    await createTokenSecret(client, member);
    const [former = ""] = await published(client, member, 1);
    expect(await client.rotateCa("--finish")).toEqual({ code: 0, err: "", out: alone(former) });

    let traffic = await Traffic.start(client, [member]);
    const begun = await client.rotateCa();
    expect({ code: begun.code, err: begun.err, log: member.err }).toMatchObject({ code: 0, log: "" });
    expect(begun.out).toMatch(/^all members now trust the API's new authority: sha256:/);
    const [newest = ""] = /sha256:[0-9a-f]{64}/.exec(begun.out) ?? [];
    expect(await published(client, member, 2)).toEqual([former, newest]);
    // A second call finds everything done, and clients' credentials stay valid.
    expect(await client.rotateCa()).toMatchObject({ code: 0, out: begun.out });
    expect(await traffic.stop()).toEqual([]);

    const stale = await client.rotateCa("--finish");
    expect(stale.code).toBe(1);
    expect(stale.err).toMatch(
      /^quorate: this kubeconfig trusts only the former authority: before you finish, fetch a new one/,
    );
    const resumed = await Resumed.open(member, client.tls);
    expect(await resumed.ask(client.ca)).toEqual({ status: expect.stringMatching(/^HTTP.1.1 200/), isResumed: true });

    const before = client.cert;
    client.fetch(member);
    expect(pinsOf(client.ca)).toEqual([former, newest]);
    expect(client.cert).not.toBe(before);
    traffic = await Traffic.start(client, [member]);
    const finished = await client.rotateCa("--finish");
    expect(finished).toMatchObject({
      code: 0,
      out: alone(newest),
      err: "member 1 (alone) is known by the new authority\nmember 1 (alone) no longer trusts the former authority\n".replaceAll(
        "(alone)",
        `(${await nameOf(member, client)})`,
      ),
    });
    expect(await traffic.stop()).toEqual([]);
    // The answer to the last step may have been lost.
    expect(await client.rotateCa("--finish")).toEqual({ code: 0, err: "", out: alone(newest) });
    expect(await published(client, member, 1)).toEqual([newest]);
    await expectLockedOut(forgotten, client, member);
    expect(await resumed.ask(client.ca)).toMatchObject({ status: expect.stringMatching(/^HTTP.1.1 401/) });
    const withToken = await fetch(`${member.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      method: "POST",
      keepalive: false,
      tls: { ca: client.ca },
      headers: { authorization: `Bearer ${serviceToken}`, "content-type": "application/json" },
      body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
    });
    expect(withToken.status).toBe(201);
    expect(readdirSync(join(member.directory, "pki")).filter((name) => /next|former/.test(name))).toEqual([]);
    await member.stop();
    await member.start(["up"], ["--data-dir", member.directory, "--secure-port", `${member.port}`]);
    await expectLockedOut(forgotten, client, member);
    expect(member.err).not.toContain("PRIVATE KEY");
  }, 60_000);
});

const alone = (hash: string) => `the API now uses only this authority: ${hash}\n`;

async function nameOf(member: MemberProcess, client: Client): Promise<string> {
  const { members: known } = (await (await client.send(member, "GET", "/cluster/members")).json()) as any;
  return known[0].name;
}

async function tokenOf(member: MemberProcess, client: Client): Promise<string> {
  const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const answer = await eventually(async () => {
    const response = await client.send(member, "POST", path, body);
    return response.status === 201 ? ((await response.json()) as any) : undefined;
  });
  return answer.status.token;
}

describe("three replicas", () => {
  let [a, b, c] = [] as unknown as [MemberProcess, MemberProcess, MemberProcess];
  beforeAll(async () => {
    [a, b, c] = [await newMember("a"), await newMember("b"), await newMember("c")];
    await a.start(["cluster", "init"]);
    await b.start(await a.invitation());
    await c.start(await a.invitation());
    await wellMembers(a, 3);
  }, 60_000);

  test("do it together, go on where it was cut short, and take a new one along that joins in the middle", async () => {
    const [client, forgotten] = [new Client(a), new Client(b)];
    await createTokenSecret(client, a);
    await c.stop();
    const refused = await client.rotateCa();
    expect(refused).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^quorate: member 3 \(c\) must be healthy/),
    });
    for (const member of [a, b]) {
      const { json } = await member.request("GET", "/cluster/authority");
      expect(json).toMatchObject({ phase: "none", trusted: [member.ca] });
    }
    await c.start();
    await wellMembers(a, 3);

    // As after an interruption: one member has received an authority that the others do not know.
    const authority = newAuthority(apiAuthority, Date.now());
    const lost = { step: "trust", authority, newest: pinsOf(a.ca)[0] };
    expect((await b.request("POST", "/cluster/authority", lost)).code).toBe(200);
    let traffic = await Traffic.start(client, [a, b, c]);
    const begun = await client.rotateCa();
    expect({ code: begun.code, lines: begun.err.trim().split("\n").length, err: begun.err }).toMatchObject({
      code: 0,
      lines: 7,
    });
    expect(begun.err).not.toContain("PRIVATE KEY");
    expect(await traffic.stop()).toEqual([]);
    const [newest = ""] = /sha256:[0-9a-f]{64}/.exec(begun.out) ?? [];

    const d = await newMember("d");
    await d.start([...(await a.invitation()), "--learner"]);
    await wellMembers(a, 4);
    await c.stop("SIGKILL");
    await c.start();
    await wellMembers(a, 4);

    for (const member of [a, b, c, d]) {
      client.fetch(member);
      expect(pinsOf(client.ca)).toEqual([...pinsOf(forgotten.ca), newest]);
      for (const one of [client, forgotten]) {
        for (const other of [a, b, c, d]) expect((await one.send(other, "GET", configMaps)).status).toBe(200);
      }
    }
    expect(await published(client, a, 2)).toContain(newest);

    traffic = await Traffic.start(client, [a, b, c, d]);
    // Interrupted too, and the first one starts again.
    const use = await client.send(d, "POST", "/cluster/authority", { step: "use", newest });
    expect(use.status).toBe(200);
    expect(await client.rotateCa()).toMatchObject({ code: 1, err: expect.stringMatching(/continue with --finish\n$/) });
    const finished = await client.rotateCa("--finish");
    expect({ code: finished.code, err: finished.err }).toMatchObject({ code: 0 });
    expect(finished.err.trim().split("\n")).toHaveLength(3 + 4);
    expect(await traffic.stop()).toEqual([]);

    for (const member of [a, b, c, d]) {
      await expectLockedOut(forgotten, client, member);
      const keys = readFileSync(join(member.directory, "pki/ca.key"), "utf8");
      expect(keys).toBe(readFileSync(join(a.directory, "pki/ca.key"), "utf8"));
      expect(pinsOf((await readKubeconfig(member.kubeconfig).proof()).tls.ca as string)).toEqual([newest]);
      expect(readdirSync(join(member.directory, "pki")).filter((name) => /next|former/.test(name))).toEqual([]);
      expect(member.err).not.toContain("PRIVATE KEY");
    }
    expect(await published(client, a, 1)).toEqual([newest]);
    expect(new X509Certificate(client.cert).verify(new X509Certificate(a.ca).publicKey)).toBe(true);

    // Machines join with the hash of the new authority.
    const invited = await b.invitation();
    expect(invited).toContain(newest);
    const e = await newMember("e");
    await e.start([...invited, "--learner"]);
    await wellMembers(a, 5);
  }, 120_000);

  test("name the member that missed it, whose directory was restored", async () => {
    const client = new Client(a);
    const others = [a, b, c, ...members.filter(({ name }) => name === "d")];
    const authority = newAuthority(apiAuthority, Date.now());
    for (const member of others) {
      const { newest } = (await member.request("GET", "/cluster/authority")).json;
      const issued = pinOf(authority.certificate);
      for (const step of [
        { step: "trust", authority, newest },
        { step: "issue", newest: issued },
      ]) {
        expect((await member.request("POST", "/cluster/authority", step)).code).toBe(200);
      }
    }
    const answer = await client.rotateCa();
    expect(answer.code).toBe(1);
    expect(answer.err).toMatch(
      /^quorate: the members do not have the same authority: remove member 5 \(e\), and let it/,
    );
    client.fetch(a);
    expect(await client.rotateCa("--finish")).toMatchObject({ code: 1, err: expect.stringContaining("member 5 (e)") });
  }, 60_000);
});

async function wellMembers(member: MemberProcess, count: number): Promise<void> {
  await eventually(async () => {
    const { out } = await member.run("status", "-o", "json");
    const well = JSON.parse(out).members.filter(({ health }: any) => health === "ok");
    return well.length === count ? true : undefined;
  });
}
