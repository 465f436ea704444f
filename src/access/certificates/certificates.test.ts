import { afterAll, describe, expect, test } from "bun:test";
import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { type Certificates, openCertificates, servingNames } from "./certificates.ts";
import { KeptCertificates } from "./kept-certificates.ts";
import { leafLifetimeMs } from "./kept-pair.ts";
import { renderKubeconfig, writeKubeconfig } from "./kubeconfig.ts";
import { apiAuthority } from "./rotating-authority.ts";
import { StepClock } from "./testing.ts";

const scratch = await mkdtemp(join(tmpdir(), "quorate-pki-"));
afterAll(() => rm(scratch, { recursive: true }));
const nowMs = Date.now();
const dayMs = 86_400_000;
const inMemory = { directory: undefined, bindAddress: "127.0.0.1" };
const shared = await openCertificates({ ...inMemory, nowMs });

describe("a new set of certificates", () => {
  test("has a serving certificate for all names of the server, for servers only", () => {
    const serving = new X509Certificate(shared.serving.certificate);
    const { dnsNames, ipAddresses } = servingNames("127.0.0.1");
    expect(dnsNames).toContain("kubernetes.default.svc.cluster.local");
    for (const name of dnsNames) expect(serving.checkHost(name)).toBe(name);
    for (const address of ipAddresses) expect(serving.checkIP(address)).toBeDefined();
    expect(serving.checkHost("elsewhere")).toBeUndefined();
    expect(serving.ca).toBe(false);
    expect(serving.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  });

  test("has an administrator's client certificate in system:masters", () => {
    const admin = new X509Certificate(shared.admin.certificate);
    expect(admin.subject.split("\n").sort()).toEqual(["CN=kubernetes-admin", "O=system:masters"]);
    expect(admin.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
  });

  test("is connected by signatures and names", () => {
    const authority = new X509Certificate(shared.authority.certificate);
    expect(authority.ca).toBe(true);
    for (const pair of [shared.serving, shared.admin]) {
      const leaf = new X509Certificate(pair.certificate);
      expect(leaf.checkIssued(authority)).toBe(true);
      expect(leaf.verify(authority.publicKey)).toBe(true);
    }
  });

  test("is accepted by TLS on both sides", async () => {
    const tls = { ca: shared.authority.certificate, requestCert: true, rejectUnauthorized: true };
    const { resolve, promise } = Promise.withResolvers<boolean>();
    const server = createServer({ ...tls, cert: shared.serving.certificate, key: shared.serving.key }, (socket) => {
      resolve(socket.authorized);
      socket.end();
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as { port: number };
    const client = connect({ ...tls, port, host: "127.0.0.1", cert: shared.admin.certificate, key: shared.admin.key });
    client.on("error", () => resolve(false));
    expect(await promise).toBe(true);
    client.destroy();
    server.close();
  });
});

test("the names of a wildcard address do not include it, and a host name is one of them", () => {
  expect(servingNames("0.0.0.0").ipAddresses).toEqual(["127.0.0.1", "::1"]);
  expect(servingNames("10.1.2.3").ipAddresses).toContain("10.1.2.3");
  expect(servingNames("box.example").dnsNames).toContain("box.example");
});

describe("certificates on disk", () => {
  test("are the same at the next start, and readable by their owner only", async () => {
    const directory = join(scratch, "kept");
    const first = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    expect(await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs })).toEqual(first);
    expect((await readdir(directory)).sort()).toEqual(
      ["admin.crt", "admin.key", "ca.crt", "ca.key", "sa.key", "serving.crt", "serving.key", "token"].sort(),
    );
    for (const name of await readdir(directory)) expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  test("change only the serving certificate for another address", async () => {
    const directory = join(scratch, "moved");
    const first = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    const moved = await openCertificates({ directory, bindAddress: "10.1.2.3", nowMs });
    expect(moved.serving).not.toEqual(first.serving);
    expect(moved).toEqual({ ...first, serving: moved.serving });
  });

  test("past two thirds of their life are renewed under the same authority", async () => {
    const directory = join(scratch, "old");
    const first = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    const soon = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs: nowMs + leafLifetimeMs / 2 });
    expect(soon).toEqual(first);
    const later = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs: nowMs + 0.7 * leafLifetimeMs });
    expect(later.serving).not.toEqual(first.serving);
    expect(later.admin).not.toEqual(first.admin);
    expect(later.authority).toEqual(first.authority);
    expect(later.token).toBe(first.token);
  });

  test("an old authority keeps its key, so that it stays trusted", async () => {
    const directory = join(scratch, "authority");
    const first = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    const later = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs: nowMs + 3_000 * dayMs });
    expect(later.authority.certificate).not.toBe(first.authority.certificate);
    expect(later.authority.key).toBe(first.authority.key);
    expect(
      new X509Certificate(later.serving.certificate).verify(new X509Certificate(first.authority.certificate).publicKey),
    ).toBe(true);
  });

  test("attack 71: a key that others can read is rejected", async () => {
    const directory = join(scratch, "open");
    await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    await chmod(join(directory, "ca.key"), 0o644);
    await expect(openCertificates({ directory, bindAddress: "127.0.0.1", nowMs })).rejects.toThrow(
      /can be read by others/,
    );
  });

  test.each(["ca.key", "sa.key"])("a lost %s is reported and not replaced", async (name) => {
    const directory = join(scratch, `lost-${name}`);
    await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    await rm(join(directory, name));
    await expect(openCertificates({ directory, bindAddress: "127.0.0.1", nowMs })).rejects.toThrow(
      `${name} is missing, but an earlier start made it: restore it`,
    );
    expect(await readdir(directory)).not.toContain(name);
  });

  test("a first start that was cut short is completed", async () => {
    const directory = join(scratch, "cut");
    const first = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    for (const name of ["serving.crt", "admin.crt", "ca.crt", "ca.key"]) await rm(join(directory, name));
    const second = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    expect(second.serviceAccountKey).toBe(first.serviceAccountKey);
    expect(second.authority).not.toEqual(first.authority);
  });

  test("a token that can be guessed is reported", async () => {
    const directory = join(scratch, "short-token");
    await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    await writeFile(join(directory, "token"), "x\n");
    await expect(openCertificates({ directory, bindAddress: "127.0.0.1", nowMs })).rejects.toThrow(
      "contains a token with fewer than 16 characters: remove the file to get a new one",
    );
  });

  test("an invalid certificate file is replaced, an invalid key file is reported", async () => {
    const directory = join(scratch, "garbage");
    const first = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    await writeFile(join(directory, "serving.crt"), "garbage");
    const mended = await openCertificates({ directory, bindAddress: "127.0.0.1", nowMs });
    expect(mended.serving).not.toEqual(first.serving);
    await writeFile(join(directory, "ca.key"), "garbage");
    await expect(openCertificates({ directory, bindAddress: "127.0.0.1", nowMs })).rejects.toThrow(
      /ca\.key cannot be used as a key/,
    );
  });
});

test("renewal passes on a new set once it is due, and nothing before", async () => {
  const clock = new StepClock();
  const open = (current: Certificates) => openCertificates({ ...inMemory, nowMs: clock.ms, current });
  const kept = new KeptCertificates({ clock, kind: apiAuthority, directory: undefined, current: shared, open });
  const errors: unknown[] = [];
  const seen: string[] = [];
  using _ = kept.keepFresh(
    () => void seen.push(kept.current.serving.certificate),
    (error) => errors.push(error),
  );
  await clock.turn();
  expect(seen).toEqual([]);
  clock.ms += 0.7 * leafLifetimeMs;
  await clock.turn();
  expect({ seen: seen.length, errors }).toEqual({ seen: 1, errors: [] });
  expect(seen[0]).not.toBe(shared.serving.certificate);
  const { token, authority } = kept.current;
  expect({ token, authority }).toEqual({ token: shared.token, authority: shared.authority });
});

describe("the kubeconfig", () => {
  const contents = {
    server: "https://127.0.0.1:6443",
    authority: shared.authority.certificate,
    admin: shared.admin,
    token: shared.token,
  };

  test("has a current context with the certificate and another one with the token", () => {
    const config = Bun.YAML.parse(renderKubeconfig(contents)) as Record<string, any>;
    expect(config["current-context"]).toBe("quorate");
    expect(config.clusters[0].cluster.server).toBe("https://127.0.0.1:6443");
    expect(Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64").toString()).toBe(
      shared.authority.certificate,
    );
    expect(config.users[1].user.token).toBe(shared.token);
    expect(config.contexts.map((context: { name: string }) => context.name)).toEqual(["quorate", "quorate-token"]);
  });

  test("has a context for each member, which takes no other context's name", () => {
    const members = [
      { name: "a", server: "https://10.0.0.1:6443" },
      { name: "quorate", server: "https://10.0.0.2:6443" },
    ];
    const config = Bun.YAML.parse(renderKubeconfig({ ...contents, members })) as Record<string, any>;
    expect(config.contexts.slice(2)).toEqual([
      { name: "a", context: { cluster: "a", user: "quorate-admin" } },
      { name: "quorate-member", context: { cluster: "quorate-member", user: "quorate-admin" } },
    ]);
    expect(config.clusters.map(({ cluster }: any) => cluster.server)).toEqual([
      contents.server,
      "https://10.0.0.1:6443",
      "https://10.0.0.2:6443",
    ]);
  });

  test("has keys on elliptic curves in the form that every client reads, and others as they are", () => {
    const keyOf = (key: string) => {
      const config = Bun.YAML.parse(renderKubeconfig({ ...contents, admin: { ...shared.admin, key } }));
      const { users } = config as { users: { user: Record<string, string> }[] };
      return Buffer.from(users[0]?.user["client-key-data"] ?? "", "base64").toString();
    };
    const written = keyOf(shared.admin.key);
    expect(written).toStartWith("-----BEGIN EC PRIVATE KEY-----\n");
    expect(createPrivateKey(written).equals(createPrivateKey(shared.admin.key))).toBe(true);
    expect(keyOf(written)).toBe(written);
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const rsa = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
    expect(keyOf(rsa)).toBe(rsa);
  });

  test("replaces its own file and leaves other files alone", async () => {
    const path = join(scratch, "deep", "kubeconfig");
    await writeKubeconfig(path, renderKubeconfig(contents));
    await writeKubeconfig(path, renderKubeconfig({ ...contents, server: "https://127.0.0.1:1" }));
    expect(await readFile(path, "utf8")).toContain("https://127.0.0.1:1");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const foreign = join(scratch, "foreign");
    await writeFile(foreign, "apiVersion: v1\nkind: Config\n");
    await expect(writeKubeconfig(foreign, renderKubeconfig(contents))).rejects.toThrow(/was not written by quorate/);
    expect(await readFile(foreign, "utf8")).toBe("apiVersion: v1\nkind: Config\n");
  });

  test("a device that the kubeconfig is written to stays a device", async () => {
    const path = join(scratch, "device");
    await symlink("/dev/zero", path);
    await writeKubeconfig(path, "text");
    expect(await readlink(path)).toBe("/dev/zero");
  });
});
