import type { Entry } from "../../api/entry.ts";
import { apiVersionOf, type GroupVersion } from "../../api/gvk.ts";
import { customResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { apiService } from "../../kinds/apiregistration/api-service.ts";
import {
  apiServiceNameOf,
  automaticApiService,
  groupVersionOfName,
} from "../../kinds/apiregistration/automatic-api-service.ts";
import { builtInPriority, customPriority } from "../../kinds/apiregistration/group-priorities.ts";
import { readDefinition } from "../../kinds/custom/definition.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import { settleApiService } from "./local-api-services.ts";

export interface CustomApiServicesParts extends QueueSource {
  readonly registries: Registries;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Maintains an APIService for every group version that a CustomResourceDefinition serves. */
export function startCustomApiServices({
  registries,
  store,
  clock,
  observeQueue,
  onError,
}: CustomApiServicesParts): Disposable {
  const registry = registries.builtIn(apiService);
  const definitions = new ServedVersions(registries.builtIn(customResourceDefinition));
  const running = new DisposableStack();
  const queue = running.use(
    new WorkQueue({
      name: "autoregister",
      clock,
      observeQueue,
      onError,
      work(name) {
        const groupVersion = groupVersionOfName(name);
        const isServed = definitions.serve(groupVersion) && builtInPriority(groupVersion) === undefined;
        const wanted = isServed ? automaticApiService(groupVersion, customPriority, "true") : undefined;
        return settleApiService(registry, name, wanted, ["true"]);
      },
    }),
  );
  const lookAt = (entry: Entry | undefined) => {
    for (const each of entry === undefined ? [] : definitions.of(entry)) queue.add(apiServiceNameOf(each));
  };
  const prefixes = { apis: registry.info.keyPrefix, definitions: definitions.prefix };
  for (const entry of store.scan(prefixes.definitions)) lookAt(entry);
  for (const { key } of store.scan(prefixes.apis)) queue.add(key.slice(prefixes.apis.length));
  running.use(
    store.subscribe((events) => {
      for (const { entry, previous } of events) {
        if (entry.key.startsWith(prefixes.apis)) queue.add(entry.key.slice(prefixes.apis.length));
        if (!entry.key.startsWith(prefixes.definitions)) continue;
        lookAt(entry);
        lookAt(previous);
      }
    }),
  );
  return running;
}

/** The group versions of the stored definitions. */
class ServedVersions {
  readonly prefix: string;
  readonly #registry: Registry;
  #served: ReadonlySet<string> = new Set();
  #changed: number | undefined;

  /** @param registry of definitions */
  constructor(registry: Registry) {
    this.#registry = registry;
    this.prefix = registry.info.keyPrefix;
  }

  /** Reports whether a definition serves the group version, whether or not its names are accepted. */
  serve(groupVersion: GroupVersion): boolean {
    const { cacher } = this.#registry;
    if (this.#changed !== cacher.changed) {
      const versions = cacher.entries().flatMap((entry) => this.of(entry));
      this.#served = new Set(versions.filter(({ isServed }) => isServed).map(apiVersionOf));
      this.#changed = cacher.changed;
    }
    return this.#served.has(apiVersionOf(groupVersion));
  }

  of(entry: Entry): readonly (GroupVersion & { readonly isServed: boolean })[] {
    const { group, versions } = readDefinition(entry);
    return versions.map(({ name, isServed }) => ({ group, version: name, isServed }));
  }
}
