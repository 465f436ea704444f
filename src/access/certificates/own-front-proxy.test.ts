import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { systemClock } from "../../process/clock.ts";
import { OwnFrontProxy } from "./own-front-proxy.ts";

test("replicas with one secret accept each other's certificates", () => {
  const [a, b] = [new OwnFrontProxy("secret", systemClock), new OwnFrontProxy("secret", systemClock)];
  const authority = new X509Certificate(a.authority(undefined));
  const client = new X509Certificate(b.client().certificate);
  expect(authority.ca).toBe(true);
  expect(client.checkIssued(authority)).toBe(true);
  expect(client.verify(authority.publicKey)).toBe(true);
  expect(client.subject).toBe("CN=front-proxy-client");
});

test("the published authority stays for as long as it is ours and valid", () => {
  const [a, b] = [new OwnFrontProxy("secret", systemClock), new OwnFrontProxy("secret", systemClock)];
  const other = new OwnFrontProxy("another secret", systemClock).authority(undefined);
  const published = a.authority(undefined);
  expect(b.authority(published)).toBe(published);
  expect(b.authority(other)).toBe(b.authority(undefined));
  expect(b.authority("not a certificate")).toBe(b.authority(undefined));
  const late = { ...systemClock, nowMs: () => new X509Certificate(published).validToDate.getTime() };
  expect(new OwnFrontProxy("secret", late).authority(published)).not.toBe(published);
});

test("the client certificate is renewed in time", () => {
  let ms = Date.now();
  const proxy = new OwnFrontProxy("secret", { ...systemClock, nowMs: () => ms });
  const first = proxy.client();
  expect(proxy.client()).toBe(first);
  ms += 13 * 60 * 60 * 1000;
  expect(proxy.client().certificate).not.toBe(first.certificate);
});
