import { afterAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { openCertificates } from "./certificates.ts";
import { leafLifetimeMs } from "./kept-pair.ts";
import { PeerIdentity, type PeerTls } from "./peer-identity.ts";
import { newAuthority, peerAuthority, phaseOf } from "./rotating-authority.ts";
import { parseSharedSecrets, writeSharedSecrets } from "./shared-secrets.ts";
import { StepClock } from "./testing.ts";

const scratch = await mkdtemp(join(tmpdir(), "quorate-peers-"));
afterAll(() => rm(scratch, { recursive: true }));

let directories = 0;
function newDirectory(): string {
  return join(scratch, String(++directories));
}

/** The name that the client's certificate bears, or why the two do not talk. */
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
  test("know each other by their names, with what the new one made itself and was given", async () => {
    const clock = new StepClock();
    const [here, there] = [newDirectory(), newDirectory()];
    const founder = await PeerIdentity.open({ directory: here, memberId: 1, clock });
    const { serviceAccountKey, token, authority } = await openCertificates({
      directory: here,
      bindAddress: "127.0.0.1",
      nowMs: clock.nowMs(),
    });
    const secrets = { authority, peerAuthority: founder.authority, serviceAccountKey, token };
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

  test("do not talk to holders of certificates of the API", async () => {
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

  test("renew their certificates before they end, under the same authority's key", async () => {
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
    expect({ reloads, errors }).toEqual({ reloads: 1, errors: [] });
    const renewed = identity.tls();
    expect(renewed.cert).not.toBe(first.cert);
    expect(renewed.ca).toBe(first.ca);
  });
});

describe("one authority of the members takes the place of another", () => {
  /** Both ways, so that each is server and client once. */
  async function talk(one: PeerIdentity, other: PeerIdentity): Promise<boolean> {
    const there = await shakeHands(one.tls(), other.tls(), "member-1");
    const back = await shakeHands(other.tls(), one.tls(), "member-2");
    return there === "DNS:member-2" && back === "DNS:member-1";
  }

  async function pair(clock: StepClock) {
    const [here, there] = [newDirectory(), newDirectory()];
    const one = await PeerIdentity.open({ directory: here, memberId: 1, clock });
    const api = await openCertificates({ directory: here, bindAddress: "127.0.0.1", nowMs: clock.nowMs() });
    await writeSharedSecrets(there, { ...api, peerAuthority: one.authority });
    return { one, other: await PeerIdentity.open({ directory: there, memberId: 2, clock }), here, there };
  }

  test("and at every moment the members talk to each other, also after a restart", async () => {
    const clock = new StepClock();
    const { one, other, here, there } = await pair(clock);
    let reloads = 0;
    using _ = one.keepFresh(
      () => reloads++,
      () => {},
    );
    const first = one.authority;
    const next = newAuthority(peerAuthority, clock.nowMs());
    const reopened = async () =>
      [
        await PeerIdentity.open({ directory: here, memberId: 1, clock }),
        await PeerIdentity.open({ directory: there, memberId: 2, clock }),
      ] as const;
    for (const step of [
      () => one.rotate({ step: "trust", authority: next }),
      () => other.rotate({ step: "trust", authority: next }),
      () => other.rotate({ step: "use" }),
      () => one.rotate({ step: "use" }),
      () => one.rotate({ step: "drop" }),
      () => other.rotate({ step: "drop" }),
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
    expect([phaseOf(one.rotating), one.authority, reloads]).toEqual(["none", next, 3]);
    expect(one.authority.key).not.toBe(first.key);
    expect(one.tls().ca).toBe(next.certificate);
  });

  test("and who has only a certificate of the former one is a stranger afterwards", async () => {
    const clock = new StepClock();
    const { one, other } = await pair(clock);
    const former = other.tls();
    await one.rotate({ step: "trust", authority: newAuthority(peerAuthority, clock.nowMs()) });
    await one.rotate({ step: "use" });
    expect(await shakeHands(one.tls(), former, "member-1")).toBe("refused");
    expect(await shakeHands(one.tls(), { ...former, ca: one.tls().ca }, "member-1")).toBe("DNS:member-2");
    await one.rotate({ step: "drop" });
    expect(await shakeHands(one.tls(), { ...former, ca: one.tls().ca }, "member-1")).toBe("refused");
  });

  test("and a step that does not follow from where a member is, is refused", async () => {
    const clock = new StepClock();
    const { one } = await pair(clock);
    await expect(one.rotate({ step: "use" })).rejects.toThrow(/told of no new authority/);
    const next = newAuthority(peerAuthority, clock.nowMs());
    await one.rotate({ step: "trust", authority: next });
    await expect(one.rotate({ step: "drop" })).rejects.toThrow(/uses the former authority still/);
    // Begun anew: nobody uses the one before.
    await one.rotate({ step: "trust", authority: newAuthority(peerAuthority, clock.nowMs()) });
    await one.rotate({ step: "use" });
    await expect(one.rotate({ step: "trust", authority: next })).rejects.toThrow(/further on/);
  });
});

test("a member that was given no authority makes none", async () => {
  const open = PeerIdentity.open({ directory: newDirectory(), memberId: 2, clock: new StepClock() });
  await expect(open).rejects.toThrow(/has no peer-ca.key: the join was cut short/);
});

test.each([
  [undefined, "authority.certificate is missing"],
  [{ authority: { certificate: "x", key: "y" } }, "certificate and key of authority do not belong together"],
])("a bundle that is not whole is refused: %p", (value, message) => {
  expect(() => parseSharedSecrets(value)).toThrow(message);
});
