import { afterEach, beforeEach, expect, test } from "bun:test";
import { status } from "../api/status.ts";
import { formatTime } from "../api/time.ts";
import type { Secret, ServiceAccount } from "../api/types/core-v1.ts";
import type { Registry } from "../registry/registry.ts";
import { startLegacyTokenCleaner } from "./legacy-token-cleaner.ts";
import { ControllerTest } from "./testing.ts";

const dayMs = 24 * 3_600_000;
const lastUsed = "kubernetes.io/legacy-token-last-used";
const invalidSince = "kubernetes.io/legacy-token-invalid-since";

let objects: ControllerTest;
let running: Disposable | undefined;

beforeEach(async () => {
  objects = await ControllerTest.open();
  await objects.create("namespaces", { kind: "Namespace", metadata: { name: "kube-system" } });
});

afterEach(async () => {
  running?.[Symbol.dispose]();
  await objects[Symbol.asyncDispose]();
  expect(objects.errors).toEqual([]);
});

/** Runs the cleaner on each of the days. */
async function days(count: number): Promise<void> {
  for (let day = 0; day < count; day++) await objects.pass(dayMs);
}

const today = () => formatTime(objects.clock.nowMs()).slice(0, 10);

async function track(since = today()): Promise<void> {
  const name = "kube-apiserver-legacy-service-account-token-tracking";
  const metadata = { name, namespace: "kube-system" };
  await objects.create("configmaps", { kind: "ConfigMap", metadata, data: { since } });
}

async function createToken(name: string, labels: Record<string, string> = {}): Promise<void> {
  const annotations = { "kubernetes.io/service-account.name": "robot" };
  const metadata = { name, namespace: "n", labels, annotations };
  await objects.create("secrets", { kind: "Secret", metadata, type: "kubernetes.io/service-account-token" });
}

async function createAccount(...names: string[]): Promise<void> {
  const secrets = names.map((name) => ({ name }));
  await objects.create("serviceaccounts", {
    kind: "ServiceAccount",
    metadata: { name: "robot", namespace: "n" },
    secrets,
  });
}

async function start(secrets: Registry = objects.registry("secrets")): Promise<void> {
  const serviceAccounts = objects.registry("serviceaccounts");
  const [pods, configMaps] = [objects.registry("pods"), objects.registry("configmaps")];
  running = startLegacyTokenCleaner({ ...objects, secrets, serviceAccounts, pods, configMaps });
  await objects.pass();
}

/** Returns the registry of Secrets, with `before` ahead of each update. */
function secretsWith(before: (name: string) => Promise<void>): Registry {
  const secrets = objects.registry("secrets");
  const update: Registry["update"] = async (namespace, name, ...rest) => {
    await before(name);
    return secrets.update(namespace, name, ...rest);
  };
  return { info: secrets.info, cacher: secrets.cacher, update } as Registry;
}

const labelsOf = (name: string) => objects.get<Secret>("secrets", name)?.metadata.labels;

test("a token that nobody has used for a year is invalidated, and removed a year later", async () => {
  await track();
  await createToken("robot-token");
  await createAccount("robot-token");
  await start();
  await days(365);
  expect(labelsOf("robot-token")).toBeUndefined();
  await days(2);
  expect(labelsOf("robot-token")).toEqual({ [invalidSince]: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/) });
  await days(364);
  expect(labelsOf("robot-token")).toBeDefined();
  await days(3);
  expect(objects.get("secrets", "robot-token")).toBeUndefined();
});

test("tokens that are used, mounted, of unknown origin or not tracked stay as they are", async () => {
  await createToken("used", { [lastUsed]: "1971-01-01" });
  await createToken("odd", { [lastUsed]: "yesterday" });
  await createToken("own");
  await createToken("mounted");
  await createAccount("used", "odd", "mounted");
  const volumes = [{ name: "v", secret: { secretName: "mounted" } }];
  const spec = { containers: [{ name: "c", image: "i" }], volumes };
  await objects.create("pods", { kind: "Pod", metadata: { name: "p", namespace: "n" }, spec });
  await start();
  await days(500);
  expect(objects.get<ServiceAccount>("serviceaccounts", "robot")).toBeDefined();
  await track();
  await objects.update("secrets", "used", (old: Secret) => ({
    ...old,
    metadata: { ...old.metadata, labels: { [lastUsed]: formatTime(objects.clock.nowMs() + 300 * dayMs).slice(0, 10) } },
  }));
  await days(370);
  for (const name of ["used", "odd", "own", "mounted"]) expect(labelsOf(name)?.[invalidSince]).toBeUndefined();
  expect(objects.list<Secret>("secrets")).toHaveLength(4);
});

test("a token that is used just before its invalidation remains valid", async () => {
  await track();
  await createToken("robot-token");
  await createAccount("robot-token");
  const use = (name: string) =>
    objects.update("secrets", name, (old: Secret) => ({
      ...old,
      metadata: { ...old.metadata, labels: { [lastUsed]: today() } },
    }));
  await start(secretsWith(use));
  await days(367);
  expect(labelsOf("robot-token")).toEqual({ [lastUsed]: expect.any(String) });
});

test("a token that cannot be invalidated does not keep the others", async () => {
  await track();
  for (const name of ["a", "b", "c"]) await createToken(name);
  await createAccount("a", "b", "c");
  await start(
    secretsWith(async (name) => {
      if (name === "a") throw status.internal("refused");
    }),
  );
  await days(367);
  expect(["a", "b", "c"].map((name) => labelsOf(name)?.[invalidSince] !== undefined)).toEqual([false, true, true]);
});

test("nothing happens while the day since which uses are recorded is unreadable", async () => {
  await track("2023-13-01");
  await createToken("robot-token");
  await createAccount("robot-token");
  await start();
  await days(370);
  expect(labelsOf("robot-token")).toBeUndefined();
});
