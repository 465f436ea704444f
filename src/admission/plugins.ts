import type { RandomInt } from "../registry/random-name.ts";
import type { AdmissionPlugin } from "./admission.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import type { ObjectLookup } from "./object-lookup.ts";
import type { PluginName } from "./plugin-names.ts";
import { serviceAccount } from "./service-account.ts";

/** What plugins need of the rest of the server. */
export interface PluginParts {
  readonly lookup: ObjectLookup;
  readonly randomInt: RandomInt;
  readonly wait: (delayMs: number) => Promise<void>;
}

const makers = {
  NamespaceLifecycle: namespaceLifecycle,
  ServiceAccount: serviceAccount,
} satisfies Record<PluginName, (parts: PluginParts) => AdmissionPlugin>;

/** The plugins of these names, in the same order. */
export function makePlugins(names: readonly PluginName[], parts: PluginParts): readonly AdmissionPlugin[] {
  return names.map((name) => makers[name](parts));
}
