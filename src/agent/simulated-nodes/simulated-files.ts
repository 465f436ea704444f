import type { ConfigMap, Container, Node, Pod, Secret, Volume } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { Clock } from "../../process/clock.ts";
import { containerEnvironment } from "../files/environment.ts";
import { ReferencedObjects } from "../files/referenced-objects.ts";
import { type PodFiles, PodFilesError } from "../pods/pod-files.ts";

export interface SimulatedFilesParts {
  readonly client: Pick<Client, "list" | "watch">;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
}

interface Reference {
  readonly kind: "configmap" | "secret";
  readonly name: string;
}

/**
 * The files of simulated pods. None are written, but the objects must exist that they would be made of. All nodes of a
 * process share one.
 */
export class SimulatedFiles implements Disposable {
  readonly #configMaps: ReferencedObjects<ConfigMap>;
  readonly #secrets: ReferencedObjects<Secret>;

  constructor(parts: SimulatedFilesParts) {
    const core = { group: "", version: "v1" };
    this.#configMaps = new ReferencedObjects({
      ...parts,
      type: { ...core, resource: "configmaps" },
      singular: "configmap",
    });
    this.#secrets = new ReferencedObjects({ ...parts, type: { ...core, resource: "secrets" }, singular: "secret" });
  }

  /** @param node returns the API object of the node */
  ofNode(node: () => Node | undefined, hostIps: () => readonly string[]): PodFiles {
    return {
      prepare: (pod) => this.#requireVolumes(pod),
      mountsOf: async () => [],
      environmentOf: (pod, container, podIps) => this.#environmentOf(pod, container, podIps, hostIps(), node),
      remove: async () => undefined,
    };
  }

  [Symbol.dispose](): void {
    this.#configMaps[Symbol.dispose]();
    this.#secrets[Symbol.dispose]();
  }

  async #requireVolumes({ metadata: { namespace = "" }, spec }: Pod): Promise<void> {
    for (const volume of spec?.volumes ?? []) {
      for (const { kind, name } of requiredObjects(volume)) {
        const objects = kind === "configmap" ? this.#configMaps : this.#secrets;
        const found = await objects.get(namespace, name).catch((error: unknown) => failedMount(volume, error));
        if (found === undefined) failedMount(volume, new Error(`${kind} "${name}" not found`));
      }
    }
  }

  async #environmentOf(
    pod: Pod,
    container: Container,
    podIps: readonly string[],
    hostIps: readonly string[],
    node: () => Node | undefined,
  ): Promise<readonly (readonly [name: string, value: string])[]> {
    const { namespace = "" } = pod.metadata;
    return await containerEnvironment(pod, container, {
      addresses: { podIps, hostIps },
      // A thousand nodes would keep the variables of every service for every container.
      services: [],
      configMap: (name) => this.#configMaps.get(namespace, name),
      secret: (name) => this.#secrets.get(namespace, name),
      fileKey: async () => "",
      allocatable: () => node()?.status?.allocatable ?? {},
    });
  }
}

function failedMount({ name }: Volume, error: unknown): never {
  throw new PodFilesError("FailedMount", `MountVolume.SetUp failed for volume "${name}" : ${(error as Error).message}`);
}

/** Returns the objects without which a volume cannot be mounted. */
function requiredObjects({ configMap, secret, projected }: Volume): Reference[] {
  const references: Reference[] = [];
  const need = (kind: Reference["kind"], name: string | undefined, optional: boolean | undefined) => {
    if (name !== undefined && optional !== true) references.push({ kind, name });
  };
  need("configmap", configMap?.name, configMap?.optional);
  need("secret", secret?.secretName, secret?.optional);
  for (const source of projected?.sources ?? []) {
    need("configmap", source.configMap?.name, source.configMap?.optional);
    need("secret", source.secret?.name, source.secret?.optional);
  }
  return references;
}
