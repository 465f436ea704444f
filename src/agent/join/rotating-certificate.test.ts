import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../test/until.ts";
import { createAuthority, issueCertificate, type KeyPair } from "../../access/certificates/authority.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { readCertificateFile, writeCertificateFile } from "./certificate-file.ts";
import type { NodeSubject, WantedCertificate } from "./request-certificate.ts";
import { RotatingCertificate } from "./rotating-certificate.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-"));
afterAll(() => rmSync(directory, { recursive: true }));

const hourMs = 3_600_000;
let clock: ManualClock;
let file: string;
let subject: NodeSubject | undefined;
let wanted: WantedCertificate[];
let failures: number;
let changes: KeyPair[];
let errors: unknown[];

beforeEach(() => {
  clock = new ManualClock();
  file = join(directory, crypto.randomUUID(), "current.pem");
  subject = { nodeName: "node-1", dnsNames: ["node-1"], ipAddresses: ["10.0.0.5"] };
  [wanted, changes, errors] = [[], [], []];
  failures = 0;
});

function issue({ dnsNames, ipAddresses }: NodeSubject): KeyPair {
  const validity = { notBeforeMs: clock.nowMs(), notAfterMs: clock.nowMs() + 10 * hourMs };
  const authority = createAuthority({ commonName: "authority", ...validity });
  const names = { commonName: "system:node:node-1", organizations: ["system:nodes"], dnsNames, ipAddresses };
  return issueCertificate(authority, { ...names, usage: "server", ...validity });
}

const open = () =>
  RotatingCertificate.open({
    file,
    signer: "kubernetes.io/kubelet-serving",
    clock,
    random: () => 0.5,
    subject: () => subject,
    request: async (request) => {
      wanted.push(request);
      if (failures-- > 0) throw new Error("not approved");
      return issue(request.subject);
    },
    onChanged: (pair) => void changes.push(pair),
    onError: (error) => void errors.push(error),
  });

/** Lets time pass, and waits until the certificate waits for its next check. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await until(() => clock.timers === 1);
}

test("is requested, kept in a file of its owner, and renewed between 70 and 90 % of its life", async () => {
  using certificate = await open();
  expect(certificate.current).toBeUndefined();
  await pass(0);
  expect(certificate.current).toEqual(changes[0] as KeyPair);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await readCertificateFile(file)).toEqual(certificate.current);
  // The random number 0.5 chooses 80 %.
  clock.advance(8 * hourMs - 120_000);
  await pass(0);
  for (let minute = 0; minute < 1; minute++) await pass(60_000);
  expect(wanted).toHaveLength(1);
  for (let minute = 0; minute < 3; minute++) await pass(60_000);
  expect(wanted).toHaveLength(2);
  expect(certificate.current).toEqual(changes[1] as KeyPair);
  expect(await readCertificateFile(file)).toEqual(certificate.current);
});

test("is taken from its file after a restart", async () => {
  const kept = issue(subject as NodeSubject);
  await writeCertificateFile(file, kept);
  using certificate = await open();
  expect(certificate.current).toEqual(kept);
  await pass(0);
  expect(wanted).toEqual([]);
});

test("is requested again when the addresses of the node change", async () => {
  using certificate = await open();
  await pass(0);
  subject = { nodeName: "node-1", dnsNames: ["node-1"], ipAddresses: ["10.0.0.6"] };
  await pass(60_000);
  expect(wanted).toHaveLength(2);
  expect(certificate.current).toEqual(changes[1] as KeyPair);
});

test("waits for the names of the node", async () => {
  subject = undefined;
  using _certificate = await open();
  await pass(0);
  expect(wanted).toEqual([]);
  subject = { nodeName: "node-1", dnsNames: [], ipAddresses: ["10.0.0.5"] };
  await pass(1_000);
  expect(wanted).toHaveLength(1);
});

test("is tried again after 2 s, 4 s and up to 32 s", async () => {
  failures = 6;
  using _certificate = await open();
  await pass(0);
  for (const waitMs of [2_000, 4_000, 8_000, 16_000, 32_000, 32_000]) {
    const before = wanted.length;
    await pass(waitMs - 1);
    expect(wanted).toHaveLength(before);
    await pass(1);
    expect(wanted).toHaveLength(before + 1);
  }
  expect([errors.length, changes.length]).toEqual([6, 1]);
});

test("a file with half a pair, with others' certificates or without any counts as absent", async () => {
  const [one, other] = [issue(subject as NodeSubject), issue(subject as NodeSubject)];
  const path = join(directory, "pair.pem");
  for (const text of ["", one.certificate, one.key, one.certificate + other.key, "-----BEGIN CERTIFICATE-----"]) {
    writeFileSync(path, text, { mode: 0o600 });
    expect(await readCertificateFile(path)).toBeUndefined();
  }
});
