import type { Entry, Key } from "../../api/entry.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { systemClock } from "../../process/clock.ts";
import type { EtcdOptions } from "../../server/config/etcd.ts";
import { flags } from "../../server/config/flags.ts";
import type { ResourceTransformers } from "../../storage/encryption/resource-transformers.ts";
import { kindFinder } from "../../storage/etcd/layout/kind-finder.ts";
import { KubernetesLayout } from "../../storage/etcd/layout/kubernetes-layout.ts";
import { type OpenEtcdStore, openEtcdStore } from "../../storage/etcd/open-etcd-store.ts";

const msPerSecond = 1_000;

export interface EtcdSideParts {
  readonly etcd: EtcdOptions;
  readonly transformers: ResourceTransformers;
  /** Finds the definitions of custom resources. */
  readonly definitionAt: (key: Key) => Entry | undefined;
}

/** Returns the layout of the objects in etcd. */
export function layoutOf({ etcd, transformers, definitionAt }: EtcdSideParts): KubernetesLayout {
  return new KubernetesLayout({
    infos: Scheme.builtIn().storedVersions(),
    mediaType: etcd.mediaType,
    kindOf: kindFinder(definitionAt),
    prefix: etcd.prefix,
    eventTtlSeconds: flags["event-ttl"].default / msPerSecond,
    transformers,
    clock: systemClock,
  });
}

/** Opens the etcd, and resolves when all objects are loaded. @throws StartupError */
export function openEtcdSide(
  { endpoints, files, leaseReuseMs }: EtcdOptions,
  layout: KubernetesLayout,
): Promise<OpenEtcdStore> {
  return openEtcdStore({ endpoints, files, layout, leaseReuseMs });
}
