import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAlone } from "../../test/contract/open-alone.ts";
import { systemClock } from "../api/clock.ts";
import { systemUser } from "../authentication/system-user.ts";
import { CacherSet } from "../cacher/cacher-set.ts";
import { Registries } from "../registry/registries.ts";
import type { WriteContext } from "../registry/registry.ts";
import { Scheme } from "../scheme/scheme.ts";
import { startNamespaceDeletion } from "./namespace-deletion.ts";

const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const deleteOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  preconditions: { uid: undefined, resourceVersion: undefined },
  dryRun: false,
};
const rounds = 10;

test("nothing stays behind in a namespace that goes while objects are being created in it", async () => {
  const parent = await mkdtemp(join(tmpdir(), "namespace-deletion-"));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(parent, { recursive: true }));
  // On disk: there a creation that was admitted takes its time until it is visible.
  const store = cleanup.adopt(await openAlone({ directory: join(parent, "data") }), (opened) => opened.close());
  const cachers = cleanup.adopt(new CacherSet({ store, clock: systemClock }), (set) => set.close());
  const scheme = Scheme.builtIn();
  const registries = new Registries({ scheme, store, cachers, clock: systemClock, randomInt: () => 0 });
  const namespaces = registries.of(scheme.find("", "v1", "namespaces"));
  const configMaps = registries.of(scheme.find("", "v1", "configmaps"));
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  cleanup.use(startNamespaceDeletion({ registries, namespaces, store, clock: systemClock, onError }));

  for (let round = 0; round < rounds; round++) {
    const namespace = `n${round}`;
    await namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name: namespace } }, "", context);
    const deletion = namespaces.delete("", namespace, deleteOptions, context);
    const creations: Promise<unknown>[] = [];
    let created = 0;
    for (let at = 0; created === at; at++) {
      const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: `c${at}`, namespace } };
      creations.push(configMaps.create(object, namespace, context).catch(() => created--));
      created++;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await Promise.all([deletion, ...creations]);
    while (namespaces.current("", namespace) !== undefined) await Bun.sleep(1);
    expect(store.scan(`${configMaps.info.keyPrefix}${namespace}/`)).toEqual([]);
  }
  expect(failures).toEqual([]);
});
