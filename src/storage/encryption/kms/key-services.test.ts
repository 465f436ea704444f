import { expect, test } from "bun:test";
import { bodyText, del, put } from "../../../../test/contract/store-commands.ts";
import { storeContract } from "../../../../test/contract/store-contract.ts";
import type { Entry, Key } from "../../../api/entry.ts";
import type { Revision } from "../../../api/revision.ts";
import { systemClock } from "../../../process/clock.ts";
import { ManualClock } from "../../cacher/testing.ts";
import { MemoryStore } from "../../memory-store.ts";
import {
  EncryptionFailedError,
  type Store,
  type StoreEvent,
  StoreUnavailableError,
  UndecryptableEntryError,
} from "../../store.ts";
import { EncryptedStore } from "../encrypted-store.ts";
import { parseEncryptionConfiguration } from "../encryption-configuration.ts";
import { ResourceTransformers } from "../resource-transformers.ts";
import { configurationFile } from "../testing.ts";
import { KeyServices, type KmsConfiguration } from "./key-services.ts";
import { FakeKeyService, recordingObserver } from "./testing.ts";

const a = "/registry/secrets/default/a";
const b = "/registry/secrets/default/b";
const pod = "/registry/pods/default/p";
const kms = { kms: { apiVersion: "v2", name: "p", endpoint: "unix:///kms.sock" } };
const configuration = parseEncryptionConfiguration(
  Buffer.from(configurationFile([["secrets"], [kms, { identity: {} }]])),
);
const providers = configuration[0]?.providers.filter(({ kind }) => kind === "kms") as KmsConfiguration[];

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Opens a replica with a key service on a store. Replicas on the same store are those of a cluster. */
async function replica(inner: Store, service = new FakeKeyService()) {
  const clock = new ManualClock();
  let store: EncryptedStore | undefined;
  const services = new KeyServices(providers, {
    clock,
    observer: recordingObserver(),
    onReadable: () => store?.reopen(),
    onUnhealthy: () => undefined,
    connect: () => service,
  });
  await services.start();
  const transformers = new ResourceTransformers(configuration, () => undefined, services.transformers);
  const resourceOf = (key: Key) => ({ group: "", resource: key.split("/")[2] ?? "" });
  store = new EncryptedStore({ store: inner, clock, transformers, resourceOf });
  await services.idle();
  const seen: string[] = [];
  store.subscribe((events, revision, jumped) => {
    const texts = events.map(({ type, entry }) => `${type} ${entry.key.at(-1)}`);
    seen.push(`${[...texts, `@${revision}`].join(" ")}${jumped ? " jumped" : ""}`);
  });
  return { store, service, services, clock, seen };
}

storeContract("EncryptedStore with a key service", async () => {
  const transformers = new ResourceTransformers(
    parseEncryptionConfiguration(Buffer.from(configurationFile([["*.*"], [kms]]))),
    () => undefined,
    await (async () => {
      const services = new KeyServices(providers, {
        clock: new ManualClock(),
        observer: recordingObserver(),
        onReadable: () => undefined,
        onUnhealthy: () => undefined,
        connect: () => new FakeKeyService(),
      });
      await services.start();
      return services.transformers;
    })(),
  );
  const resourceOf = () => ({ group: "", resource: "secrets" });
  return new EncryptedStore({ store: new MemoryStore(), clock: systemClock, transformers, resourceOf });
});

test("the service is called once per seed, not per value", async () => {
  const { store, service } = await replica(new MemoryStore());
  for (let at = 0; at < 20; at++) await store.commit(put(`${a}${at}`, "x"));
  expect(store.scan("/registry/secrets/").length).toBe(20);
  expect(service.calls).toEqual(["Status", "Encrypt"]);
});

test("values are stale after the key has changed, until they are written again", async () => {
  const { store, service, clock } = await replica(new MemoryStore());
  await store.commit(put(a, "x"));
  const isStale = () => store.isStale(store.get(a) as Entry);
  expect(isStale()).toBe(false);
  service.keyId = "key-2";
  clock.advance(60_000);
  await settle();
  expect(isStale()).toBe(true);
  await store.commit(put(a, "x"));
  expect(isStale()).toBe(false);
  expect(service.calls.filter((name) => name === "Decrypt")).toEqual([]);
});

test("readers see the state from before until the service has decrypted the seed of another replica", async () => {
  const inner = new MemoryStore();
  const other = await replica(inner);
  const { store, service, seen } = await replica(inner);
  await store.commit(put(b, "old"));
  const before = store.revision;
  const gate = Promise.withResolvers<void>();
  service.gate = gate.promise;
  await other.store.commit(put(a, "new"));
  await other.store.commit(del(b, "gone"));
  await other.store.commit(put(pod, "plain"));

  expect([store.revision, store.get(a), store.get(pod)]).toEqual([before, undefined, undefined]);
  expect(store.scan("/registry/").map(({ key }) => key)).toEqual([b]);
  expect(bodyText(store.get(b))).toContain("old");
  let isRead = false;
  const read = Promise.resolve(store.readBarrier()).then(() => void (isRead = true));
  const write = store.commit(put(pod, "after"));
  await settle();
  expect([isRead, seen.length]).toEqual([false, 1]);

  gate.resolve();
  await read;
  expect((await write).kind).toBe("applied");
  expect(seen).toEqual(["ADDED b @2", "ADDED a @3", "DELETED b @4", "ADDED p @5", "MODIFIED p @6"]);
  expect([store.revision, inner.revision]).toEqual([6, 6] as Revision[]);
  expect(bodyText(store.get(a))).toContain("new");
  expect(store.corrupt).toEqual([]);
});

test("a service that does not answer holds readers up once, and the object is readable when it answers", async () => {
  const inner = new MemoryStore();
  const other = await replica(inner);
  const { store, service, seen, clock } = await replica(inner);
  const gate = Promise.withResolvers<void>();
  service.gate = gate.promise;
  await other.store.commit(put(a, "one"));
  const waited = Promise.resolve(store.readBarrier());
  clock.advance(5_000);
  await waited.catch((error) => expect(error).toBeInstanceOf(StoreUnavailableError));
  await settle();
  await other.store.commit(put(b, "two"));
  expect(seen).toEqual(["@2", "@3"]);
  expect(store.corrupt.map((error) => (error as UndecryptableEntryError).reason)).toEqual([
    "failed to decrypt DEK, error: the key service has not answered yet",
    "failed to decrypt DEK, error: the key service has not answered yet",
  ]);
  gate.resolve();
  await settle();
  expect(seen.at(-1)).toBe("ADDED a ADDED b @3 jumped");
  expect([store.corrupt.length, store.scan("/registry/").length]).toEqual([0, 2]);
});

test("without the service at the start, objects are unreadable with upstream's reason until it comes", async () => {
  const inner = new MemoryStore();
  await (await replica(inner)).store.commit(put(a, "x"));
  const service = new FakeKeyService();
  service.isDown = true;
  const { store, clock, services } = await replica(inner, service);
  const reason = () => (store.corruptAt(a) as UndecryptableEntryError | undefined)?.reason;
  expect(reason()).toBe("got unexpected nil transformer");
  const refused = store.commit(put(b, "y"));
  expect(refused).rejects.toBeInstanceOf(EncryptionFailedError);
  expect(refused).rejects.toThrow("got unexpected nil transformer");
  expect(services.check()).rejects.toThrow(/^kms-provider-0: /);
  await settle();
  service.isDown = false;
  for (let at = 0; at < 2; at++) {
    clock.advance(10_000);
    await settle();
    await services.idle();
  }
  expect([reason(), bodyText(store.get(a)).includes("x")]).toEqual([undefined, true]);
  await services.check();
});

test("history with the seed of another replica waits for the service", async () => {
  const inner = new MemoryStore();
  const other = await replica(inner);
  await other.store.commit(put(a, "one"));
  other.service.keyId = "key-2";
  other.clock.advance(60_000);
  await settle();
  await other.store.commit(put(a, "two"));
  const { store, service } = await replica(inner);
  expect(service.calls.filter((name) => name === "Decrypt").length).toBe(1);
  const events: StoreEvent[] = await store.eventsAfter(store.compactedRevision, { prefix: a, limit: 9 });
  expect(events.map(({ entry }) => bodyText(entry).includes("one"))).toEqual([true, false]);
  expect(service.calls.filter((name) => name === "Decrypt").length).toBe(2);
});

test("abstract sockets are refused", () => {
  const at = { ...(providers[0] as KmsConfiguration), endpoint: "unix:///@kms" };
  const options = {
    clock: systemClock,
    observer: recordingObserver(),
    onReadable: () => undefined,
    onUnhealthy: () => undefined,
  };
  expect(() => new KeyServices([at], options)).toThrow(
    `could not configure KMSv2-Plugin's probe "p", error: abstract sockets are not supported`,
  );
});
