import { groupResourceText, parseApiVersion } from "../../api/gvk.ts";
import type { OwnerReference } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import type { Deployment, ReplicaSet } from "../../api/types/apps-v1.ts";
import type { Scale } from "../../api/types/autoscaling-v1.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import type { Catalog } from "../../registry/catalog.ts";
import type { Registries } from "../../registry/registries.ts";
import type { BudgetPod } from "./budget-pod.ts";

/** The reason why the number of expected pods is unknown. */
export class ScaleError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ScaleError";
  }
}

export interface ExpectedScale {
  /** The sum of the scales of all controllers of the pods. */
  readonly count: number;
  /** Names of pods without a controller. They are not counted. */
  readonly unmanaged: readonly string[];
}

interface ControllerScale {
  readonly uid: string;
  readonly scale: number;
}

export interface PodScalesParts {
  readonly registries: Registries;
  readonly catalog: Catalog;
  readonly client: Pick<Client, "get">;
}

/** Finds the number of pods that the pods' controllers want. */
export class PodScales {
  readonly #parts: PodScalesParts;

  constructor(parts: PodScalesParts) {
    this.#parts = parts;
  }

  /** @throws ScaleError if a pod's controller is missing or has no scale */
  async expected(namespace: string, pods: readonly BudgetPod[]): Promise<ExpectedScale> {
    const scales = new Map<string, number>();
    const looked = new Set<string>();
    const unmanaged: string[] = [];
    for (const { name, controller } of pods) {
      if (controller === undefined) {
        unmanaged.push(name);
        continue;
      }
      if (looked.has(controller.uid)) continue;
      looked.add(controller.uid);
      const found = this.#deploymentOf(namespace, controller) ?? (await this.#scaleOf(namespace, controller));
      if (found === undefined) throw new ScaleError(`found no controllers for pod ${JSON.stringify(name)}`);
      scales.set(found.uid, found.scale);
    }
    return { count: [...scales.values()].reduce((sum, scale) => sum + scale, 0), unmanaged };
  }

  /** Returns the scale of a ReplicaSet's Deployment, which has several ReplicaSets while it replaces pods. */
  #deploymentOf(namespace: string, { apiVersion, kind, name, uid }: OwnerReference): ControllerScale | undefined {
    if (kind !== "ReplicaSet" || parseApiVersion(apiVersion)?.group !== "apps") return undefined;
    const set = this.#current<ReplicaSet>("replicasets", namespace, name, uid);
    const owner = set?.metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (owner?.kind !== "Deployment" || parseApiVersion(owner.apiVersion)?.group !== "apps") return undefined;
    const deployment = this.#current<Deployment>("deployments", namespace, owner.name, owner.uid);
    return deployment && { uid: owner.uid, scale: deployment.spec?.replicas ?? 1 };
  }

  #current<T>(resource: string, namespace: string, name: string, uid: string): T | undefined {
    const found = this.#parts.registries.builtIn({ group: "apps", resource }).current(namespace, name);
    return found?.metadata.uid === uid ? (found as T) : undefined;
  }

  async #scaleOf(namespace: string, owner: OwnerReference): Promise<ControllerScale | undefined> {
    const { catalog, client } = this.#parts;
    const { apiVersion, kind } = owner;
    const groupVersion = parseApiVersion(apiVersion);
    const info = groupVersion && catalog.findKind({ ...groupVersion, kind });
    if (info === undefined) {
      throw new ScaleError(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`);
    }
    if (!info.subresources.has("scale")) {
      throw new ScaleError(`${groupResourceText(info)} does not implement the scale subresource`);
    }
    const { group, version, resource } = info;
    const type: ResourceType<Scale> = { group, version, resource };
    try {
      const { metadata, spec } = await client.get(type, { namespace, name: owner.name, subresource: "scale" });
      return metadata.uid === owner.uid ? { uid: owner.uid, scale: spec?.replicas ?? 0 } : undefined;
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return undefined;
      throw error;
    }
  }
}
