import { expect, test } from "bun:test";
import { ManualClock } from "../../cacher/testing.ts";
import { keyIdHash } from "./encrypted-object.ts";
import { FakeKeyService, recordingObserver } from "./testing.ts";
import { type WriteSeed, WriteSeedSource } from "./write-seed.ts";

function source() {
  const clock = new ManualClock();
  const service = new FakeKeyService();
  const observer = recordingObserver();
  const rotated: WriteSeed[] = [];
  const unhealthy: string[] = [];
  const seeds = new WriteSeedSource({
    provider: "p",
    service,
    clock,
    observer,
    onRotated: (seed) => void rotated.push(seed),
    onUnhealthy: (error) => void unhealthy.push((error as Error).message),
  });
  return { clock, service, observer, rotated, unhealthy, seeds };
}

/** Lets started calls end. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a seed is made at the start, kept while the key stays, and made again when the key changes", async () => {
  const { clock, service, rotated, seeds } = source();
  expect(() => seeds.writable()).toThrow("got unexpected nil transformer");
  await seeds.start();
  expect([rotated.length, seeds.writable().seed.keyId]).toEqual([1, "key-1"]);
  clock.advance(60_000);
  await settle();
  expect([rotated.length, seeds.writable().expiresAtMs - clock.steadyMs()]).toEqual([1, 180_000]);
  service.keyId = "key-2";
  clock.advance(60_000);
  await settle();
  expect(rotated.map(({ seed }) => seed.keyId)).toEqual(["key-1", "key-2"]);
  expect(seeds.writable()).toBe(rotated[1] as WriteSeed);
  seeds[Symbol.dispose]();
  expect(clock.timers).toBe(0);
});

test("while the service is down, the last seed writes for three minutes and reads for ever", async () => {
  const { clock, service, unhealthy, seeds } = source();
  await seeds.start();
  service.isDown = true;
  for (let at = 0; at < 18; at++) {
    clock.advance(10_000);
    await settle();
  }
  expect(seeds.writable().seed.keyId).toBe("key-1");
  // It is asked every 10 seconds once it has failed.
  expect(unhealthy.length).toBe(13);
  expect(unhealthy[0]).toBe(
    "failed to perform status section of the healthz check for KMS Provider p, error: rpc error: code = Unknown desc = the service is down",
  );
  clock.advance(1);
  expect(() => seeds.writable()).toThrow(
    `encryptedDEKSource with keyID hash "${keyIdHash("key-1")}" expired at 1970-01-01T00:19:40Z (current time is 1970-01-01T00:19:40Z)`,
  );
  expect(seeds.current().seed.keyId).toBe("key-1");
  service.isDown = false;
  clock.advance(10_000);
  await settle();
  expect(seeds.writable().seed.keyId).toBe("key-1");
});

test("an outcome of a check is used again for a while, 20 seconds if it is good and 3 if not", async () => {
  const { clock, service, seeds } = source();
  await seeds.check();
  await seeds.check();
  expect(service.calls).toEqual(["Status", "Encrypt"]);
  clock.advance(20_000);
  service.isDown = true;
  expect(seeds.check()).rejects.toThrow("failed to perform status section");
  await settle();
  service.isDown = false;
  expect(seeds.check()).rejects.toThrow("rpc error: code = Unknown desc = the service is down");
  await settle();
  expect(service.calls.length).toBe(3);
  clock.advance(3_000);
  await Promise.all([seeds.check(), seeds.check()]);
  expect(service.calls.length).toBe(4);
});

test.each([
  [{ healthz: "key is disabled" }, "got unexpected healthz status: key is disabled"],
  [{ version: "v1" }, "expected KMSv2 API version v2, got v1"],
  [{ keyId: "" }, 'got invalid KMSv2 KeyID hash "": keyID is empty'],
  [
    { healthz: "no", version: "x", keyId: "" },
    '[got unexpected healthz status: no, expected KMSv2 API version v2, got x, got invalid KMSv2 KeyID hash "": keyID is empty]',
  ],
])("%#: a service that is not healthy gets upstream's message", async (change, message) => {
  const { service, seeds } = source();
  Object.assign(service, change);
  expect(seeds.check()).rejects.toThrow(`kmsv2 Provider p is not healthy, error: ${message}`);
});

test("the version must not change, and a key that differs from the reported one makes no seed", async () => {
  const { clock, service, observer, rotated, seeds } = source();
  await seeds.check();
  service.version = "v2beta1";
  clock.advance(20_000);
  expect(seeds.check()).rejects.toThrow(
    "KMSv2 API version should not change after the initial status response version v2, got v2beta1",
  );
  await settle();
  Object.assign(service, { version: "v2", keyId: "key-2", encryptsWith: "key-3" });
  clock.advance(3_000);
  expect(seeds.check()).rejects.toThrow(
    /^kmsv2 Provider p is not healthy, error: failed to rotate DEK uid="[-0-9a-f]{36}", useSeed=true, errState=<nil>, errGen=<nil>, statusKeyIDHash="sha256:[0-9a-f]{64}", encryptKeyIDHash="sha256:[0-9a-f]{64}", stateKeyIDHash="sha256:[0-9a-f]{64}", expirationTimestamp=1970-01-01T00:20:00Z$/,
  );
  await settle();
  expect([rotated.length, seeds.writable().seed.keyId]).toEqual([1, "key-1"]);
  Object.assign(service, { keyId: "k".repeat(1025) });
  clock.advance(3_000);
  expect(seeds.check()).rejects.toThrow("keyID is 1025 bytes");
  await settle();
  expect(observer.seen).toContain("wrong key too_long");
});
