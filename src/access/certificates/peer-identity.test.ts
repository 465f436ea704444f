import { afterAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import type { KeyPair } from "./authority.ts";
import { pinOf } from "./certificate-pin.ts";
import { openCertificates } from "./certificates.ts";
import { leafLifetimeMs } from "./kept-pair.ts";
import { PeerIdentity, type PeerTls } from "./peer-identity.ts";
import { newAuthority, newestOf, peerAuthority, phaseOf, type RotationStep } from "./rotating-authority.ts";
import { parseSharedSecrets, writeSharedSecrets } from "./shared-secrets.ts";
import { StepClock } from "./testing.ts";

const scratch = await mkdtemp(join(tmpdir(), "quorate-peers-"));
afterAll(() => rm(scratch, { recursive: true }));

let directories = 0;
function newDirectory(): string {
  return join(scratch, String(++directories));
}

/** Returns the name in the client's certificate, or the reason for a failed handshake. */
async function shakeHands(server: PeerTls, client: PeerTls, servername: string): Promise<string> {
  const both = { requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.3" } as const;
  const { promise, resolve } = Promise.withResolvers<string>();
  const listening = createServer({ ...server, ...both }, (socket) => {
    resolve(socket.authorized ? String(socket.getPeerCertificate().subjectaltname) : "stranger");
    socket.end();
  });
  listening.on("tlsClientError", () => resolve("refused"));
  await new Promise<void>((done) => listening.listen(0, "127.0.0.1", done));
  const { port } = listening.address() as { port: number };
  const socket = connect({ ...client, ...both, port, host: "127.0.0.1", servername });
  socket.on("error", () => resolve("refused"));
  try {
    return await promise;
  } finally {
    socket.destroy();
    listening.close();
  }
}

describe("members of one cluster", () => {
  test("authenticate each other by name, with the new member's own key and the secrets it received", async () => {
    const clock = new StepClock();
    const [here, there] = [newDirectory(), newDirectory()];
    const founder = await PeerIdentity.open({ directory: here, memberId: 1, clock });
    const { serviceAccountKey, token, authority } = await openCertificates({
      directory: here,
      bindAddress: "127.0.0.1",
      nowMs: clock.nowMs(),
    });
    const secrets = { authority, peerAuthority: founder.rotating.authority, serviceAccountKey, token };
    await writeSharedSecrets(there, parseSharedSecrets(JSON.parse(JSON.stringify(secrets))));

    const joiner = await PeerIdentity.open({ directory: there, memberId: 2, clock });
    expect(await shakeHands(founder.tls(), joiner.tls(), "member-1")).toBe("DNS:member-2");
    expect(await shakeHands(joiner.tls(), founder.tls(), "member-2")).toBe("DNS:member-1");
    expect(await shakeHands(joiner.tls(), founder.tls(), "member-3")).toBe("refused");
    for (const file of ["ca.crt", "ca.key", "peer-ca.crt", "peer-ca.key", "sa.key", "token"]) {
      expect(await readFile(join(there, file), "utf8")).toBe(await readFile(join(here, file), "utf8"));
    }
    const opened = await openCertificates({ directory: there, bindAddress: "127.0.0.1", nowMs: clock.nowMs() });
    expect(opened).toMatchObject({ authority, serviceAccountKey, token });
  });

  test("keep their certificates over restarts, and get others under another number", async () => {
    const options = { directory: newDirectory(), clock: new StepClock() };
    const first = (await PeerIdentity.open({ ...options, memberId: 1 })).tls();
    expect((await PeerIdentity.open({ ...options, memberId: 1 })).tls()).toEqual(first);
    const other = (await PeerIdentity.open({ ...options, memberId: 2 })).tls();
    expect(other.ca).toBe(first.ca);
    expect(new X509Certificate(other.cert).subjectAltName).toBe("DNS:member-2");
  });

  test("reject holders of certificates of the API", async () => {
    const clock = new StepClock();
    const founder = await PeerIdentity.open({ directory: undefined, memberId: 1, clock });
    const { authority, admin } = await openCertificates({
      directory: undefined,
      bindAddress: "127.0.0.1",
      nowMs: clock.nowMs(),
    });
    const stranger = { ca: authority.certificate + founder.tls().ca, cert: admin.certificate, key: admin.key };
    expect(await shakeHands(founder.tls(), stranger, "member-1")).toBe("refused");
  });

  test("renew their certificates before they expire, under the same authority's key", async () => {
    const clock = new StepClock();
    const identity = await PeerIdentity.open({ directory: newDirectory(), memberId: 1, clock });
    const errors: unknown[] = [];
    let reloads = 0;
    using _ = identity.keepFresh(
      () => reloads++,
      (error) => errors.push(error),
    );
    const first = identity.tls();
    await clock.turn();
    expect([reloads, identity.tls()]).toEqual([0, first]);
    clock.ms += leafLifetimeMs * 0.7;
    await clock.turn();
    // Making a key takes a while on a busy machine.
    for (let waits = 0; waits < 500 && reloads === 0 && errors.length === 0; waits++) await Bun.sleep(20);
    expect({ reloads, errors }).toEqual({ reloads: 1, errors: [] });
    const renewed = identity.tls();
    expect(renewed.cert).not.toBe(first.cert);
    expect(renewed.ca).toBe(first.ca);
  });
});

describe("replacing the members' authority", () => {
  const to = ({ rotating }: PeerIdentity, step: "issue" | "use" | "drop"): RotationStep => {
    return { step, newest: newestOf(rotating) };
  };
  const trust = ({ rotating }: PeerIdentity, authority: KeyPair): RotationStep => {
    return { step: "trust", authority, newest: newestOf(rotating) };
  };

  /** Connects in both directions, so that each member is server and client once. */
  async function talk(one: PeerIdentity, other: PeerIdentity): Promise<boolean> {
    const there = await shakeHands(one.tls(), other.tls(), "member-1");
    const back = await shakeHands(other.tls(), one.tls(), "member-2");
    return there === "DNS:member-2" && back === "DNS:member-1";
  }

  async function pair(clock: StepClock) {
    const [here, there] = [newDirectory(), newDirectory()];
    const one = await PeerIdentity.open({ directory: here, memberId: 1, clock });
    const api = await openCertificates({ directory: here, bindAddress: "127.0.0.1", nowMs: clock.nowMs() });
    await writeSharedSecrets(there, { ...api, peerAuthority: one.rotating.authority });
    return { one, other: await PeerIdentity.open({ directory: there, memberId: 2, clock }), here, there };
  }

  test("members can always connect to each other, also after a restart", async () => {
    const clock = new StepClock();
    const { one, other, here, there } = await pair(clock);
    let reloads = 0;
    using _ = one.keepFresh(
      () => reloads++,
      () => {},
    );
    const first = one.rotating.authority;
    const next = newAuthority(peerAuthority, clock.nowMs());
    const reopened = async () =>
      [
        await PeerIdentity.open({ directory: here, memberId: 1, clock }),
        await PeerIdentity.open({ directory: there, memberId: 2, clock }),
      ] as const;
    for (const step of [
      () => one.rotate(trust(one, next)),
      () => other.rotate(trust(other, next)),
      () => other.rotate(to(other, "use")),
      () => one.rotate(to(one, "use")),
      () => one.rotate(to(one, "drop")),
      () => other.rotate(to(other, "drop")),
    ]) {
      await step();
      expect({ phases: [phaseOf(one.rotating), phaseOf(other.rotating)], talk: await talk(one, other) }).toMatchObject({
        talk: true,
      });
      const [oneAgain, otherAgain] = await reopened();
      expect([phaseOf(oneAgain.rotating), phaseOf(otherAgain.rotating), oneAgain.tls(), otherAgain.tls()]).toEqual([
        phaseOf(one.rotating),
        phaseOf(other.rotating),
        one.tls(),
        other.tls(),
      ]);
    }
    expect([phaseOf(one.rotating), one.rotating.authority, reloads]).toEqual(["none", next, 3]);
    expect(one.rotating.authority.key).not.toBe(first.key);
    expect(one.tls().ca).toBe(next.certificate);
  });

  test("a member with only a certificate of the former authority is rejected afterwards", async () => {
    const clock = new StepClock();
    const { one, other } = await pair(clock);
    const former = other.tls();
    await one.rotate(trust(one, newAuthority(peerAuthority, clock.nowMs())));
    await one.rotate(to(one, "use"));
    expect(await shakeHands(one.tls(), former, "member-1")).toBe("refused");
    expect(await shakeHands(one.tls(), { ...former, ca: one.tls().ca }, "member-1")).toBe("DNS:member-2");
    await one.rotate(to(one, "drop"));
    expect(await shakeHands(one.tls(), { ...former, ca: one.tls().ca }, "member-1")).toBe("refused");
  });

  test("a step that could not be written is remembered by the next one", async () => {
    const clock = new StepClock();
    const { one, other, here } = await pair(clock);
    const next = newAuthority(peerAuthority, clock.nowMs());
    for (const member of [one, other]) await member.rotate(trust(member, next));
    // Fails between the key and the certificate.
    const obstacle = join(here, `peer-ca.crt.${process.pid}.tmp`);
    await mkdir(join(obstacle, "full"), { recursive: true });
    await expect(one.rotate(to(one, "use"))).rejects.toThrow();
    await rm(obstacle, { recursive: true });
    await expect(one.rotate(trust(one, newAuthority(peerAuthority, clock.nowMs())))).rejects.toThrow(/is ahead/);
    expect([phaseOf(one.rotating), await talk(one, other)]).toEqual(["using", true]);
  });

  test("a step that does not follow the member's phase is rejected", async () => {
    const clock = new StepClock();
    const { one } = await pair(clock);
    const next = newAuthority(peerAuthority, clock.nowMs());
    const newest = pinOf(next.certificate);
    await expect(one.rotate({ step: "use", newest })).rejects.toThrow(/does not know that authority/);
    await one.rotate(trust(one, next));
    await expect(one.rotate(to(one, "drop"))).rejects.toThrow(/still uses the former authority/);
    await expect(one.rotate(to(one, "issue"))).rejects.toThrow(/does not issue certificates/);
    // Start again, because the previous one is not in use.
    await one.rotate(trust(one, newAuthority(peerAuthority, clock.nowMs())));
    await one.rotate(to(one, "use"));
    await expect(one.rotate(trust(one, next))).rejects.toThrow(/is ahead/);
  });
});

test("a member without a given authority creates none", async () => {
  const open = PeerIdentity.open({ directory: newDirectory(), memberId: 2, clock: new StepClock() });
  await expect(open).rejects.toThrow(/has no peer-ca.key: the join was cut short/);
});

test.each([
  [undefined, "authority.certificate is missing"],
  [{ authority: { certificate: "x", key: "y" } }, "certificate and key of authority do not belong together"],
])("an incomplete bundle is rejected: %p", (value, message) => {
  expect(() => parseSharedSecrets(value)).toThrow(message);
});
