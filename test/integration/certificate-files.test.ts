import { expect, test } from "bun:test";
import { createPublicKey } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";
import type { ServerOptions } from "../../src/index.ts";
import { type Clock, systemClock } from "../../src/process/clock.ts";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";

const checkMs = 10;

/** Checks files at short intervals. */
const hasty: Clock = { ...systemClock, every: (ms, run) => systemClock.every(Math.min(ms, checkMs), run) };

const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 };
const authority = createAuthority({ commonName: "someone's authority", ...validity });
const serving = (commonName: string) =>
  issueCertificate(authority, {
    ...validity,
    commonName,
    organizations: [],
    usage: "server",
    dnsNames: ["localhost"],
    ipAddresses: ["127.0.0.1"],
  });

async function servedName(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<PeerCertificate>();
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () =>
    resolve(socket.getPeerCertificate()),
  );
  socket.on("error", reject);
  const certificate = await promise;
  socket.destroy();
  return String(certificate.subject.CN);
}

test("a serving certificate that is replaced on disk is served to new connections, and half a pair changes nothing", async () => {
  const directory = mkdtempSync(join(tmpdir(), "quorate-"));
  const [tlsCertFile, tlsPrivateKeyFile] = [join(directory, "tls.crt"), join(directory, "tls.key")];
  const [first, second] = [serving("first"), serving("second")];
  writeFileSync(tlsCertFile, first.certificate);
  writeFileSync(tlsPrivateKeyFile, first.key);
  try {
    await using server = await TestServer.start({ tlsCertFile, tlsPrivateKeyFile, clock: hasty });
    const port = Number(new URL(server.running.url).port);
    expect(await servedName(port)).toBe("first");

    writeFileSync(tlsCertFile, second.certificate);
    await Bun.sleep(10 * checkMs);
    expect(await servedName(port)).toBe("first");

    writeFileSync(tlsPrivateKeyFile, second.key);
    await until(async () => (await servedName(port)) === "second");
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("a TLS key vouches for tokens of service accounts where no key is named for them", async () => {
  const directory = mkdtempSync(join(tmpdir(), "quorate-"));
  const [tlsCertFile, tlsPrivateKeyFile] = [join(directory, "tls.crt"), join(directory, "tls.key")];
  const { certificate, key } = serving("localhost");
  writeFileSync(tlsCertFile, certificate + authority.certificate);
  writeFileSync(tlsPrivateKeyFile, key);
  const keysOf = async (options: ServerOptions) => {
    await using server = await TestServer.start({ tlsCertFile, tlsPrivateKeyFile, ...options });
    return (await server.get("/openid/v1/jwks")).json.keys;
  };
  try {
    const { x } = createPublicKey(key).export({ format: "jwk" });
    const [own, tls] = await keysOf({});
    expect([own.x === x, tls.x]).toEqual([false, x]);
    const other = join(directory, "other.key");
    writeFileSync(other, serving("other").key);
    expect((await keysOf({ serviceAccountKeyFile: [other] })).map((one: { x: string }) => one.x)).not.toContain(x);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
