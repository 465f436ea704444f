import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate, type KeyPair } from "./authority.ts";
import { ProxyClient } from "./proxy-client.ts";
import { StepClock } from "./testing.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-proxy-client-"));
const files = { certificate: join(directory, "client.pem"), key: join(directory, "key.pem") };
const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
const authority = createAuthority({ commonName: "a", ...validity });
const fail = (error: unknown) => {
  throw error;
};

afterAll(() => rmSync(directory, { recursive: true }));

function issue(): KeyPair {
  const names = { commonName: "c", organizations: [], dnsNames: [], ipAddresses: [] };
  return issueCertificate(authority, { ...names, usage: "client", ...validity });
}

function write({ certificate, key }: KeyPair): void {
  writeFileSync(files.certificate, certificate);
  writeFileSync(files.key, key);
}

test("the files are followed, and a pair that does not fit changes nothing", async () => {
  const [first, second] = [issue(), issue()];
  const errors: unknown[] = [];
  const clock = new StepClock();
  write(first);
  using client = new ProxyClient(files, clock, (error) => errors.push(error));
  expect(client.current).toEqual(first);
  writeFileSync(files.certificate, second.certificate);
  await clock.turn();
  expect([client.current, errors.length]).toEqual([first, 1]);
  write(second);
  await clock.turn();
  expect([client.current, errors.length]).toEqual([second, 1]);
});

test("another certificate is used only without files", () => {
  const [own, other] = [issue(), issue()];
  write(own);
  using named = new ProxyClient(files, new StepClock(), fail);
  named.offer(() => other);
  expect(named.current).toEqual(own);
  using unnamed = new ProxyClient(undefined, new StepClock(), fail);
  expect(unnamed.current).toBeUndefined();
  unnamed.offer(() => other);
  expect(unnamed.current).toBe(other);
});

test.each([
  ["a missing file", { ...files, certificate: join(directory, "none") }, "--proxy-client-cert-file: cannot read"],
  [
    "a file that is no certificate",
    { ...files, certificate: files.key },
    "--proxy-client-cert-file and its key cannot be used",
  ],
])("%s is named with its flag", (_what, wrong, message) => {
  write(issue());
  expect(() => new ProxyClient(wrong, new StepClock(), fail)).toThrow(message);
});
