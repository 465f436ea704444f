import type { ResourceInfo } from "../../src/api/scheme/resource.ts";
import { configMap } from "../../src/kinds/core/config-map.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import type { Clock } from "../../src/process/clock.ts";
import { admissionChain } from "../../src/registry/admission.ts";
import { strategyOf } from "../../src/registry/kind.ts";
import { Registry } from "../../src/registry/registry.ts";
import type { CacherSet } from "../../src/storage/cacher/cacher-set.ts";
import type { Store } from "../../src/storage/store.ts";

const info = Scheme.builtIn({ runtimeConfig: new Map() }).find("", "v1", "configmaps") as ResourceInfo;
const strategy = strategyOf(configMap);

export interface ConfigMapRegistryParts {
  readonly store: Store;
  readonly cachers: CacherSet;
  readonly clock: Clock;
  readonly newUid: () => string;
}

/** A replica's Registry of ConfigMaps, without plugins, to test how it handles concurrent writers. */
export function configMapRegistry({ store, cachers, clock, newUid }: ConfigMapRegistryParts): Registry {
  const cacher = cachers.cacher(info.keyPrefix);
  return new Registry({
    info,
    strategy,
    store,
    cacher,
    clock,
    newUid,
    admission: admissionChain([]),
    randomInt: () => 0,
  });
}
