import type { KubeObject } from "../../../src/api/object-meta.ts";
import { StatusError } from "../../../src/api/status.ts";
import { builtInKindOf } from "../../../src/kinds/index.ts";
import { plainDeletion } from "../../../src/registry/delete-options.ts";
import { strategyOf } from "../../../src/registry/kind.ts";
import type { Registry } from "../../../src/registry/registry.ts";
import { serverContext } from "../../../src/registry/server-context.ts";
import type { DeleteOptions } from "../../../src/registry/strategy.ts";
import { StoreUnavailableError } from "../../../src/storage/store.ts";
import { ConnectionLost } from "../simulated-server.ts";
import type { ControllerReplica } from "./controller-replica.ts";

/** Makes the requests of users and of the agents of nodes, through one replica. A refused or lost request has no effect. */
export class Actor {
  readonly #replica: ControllerReplica;

  constructor(replica: ControllerReplica) {
    this.#replica = replica;
  }

  /** @param resource `<resource>` or `<resource>.<group>` */
  registry(resource: string): Registry {
    const [name = "", ...group] = resource.split(".");
    return this.#replica.registries.builtIn({ group: group.join("."), resource: name });
  }

  create(resource: string, object: object): Promise<KubeObject | undefined> {
    const created = { apiVersion: "v1", ...object } as KubeObject;
    const namespace = created.metadata.namespace ?? "";
    return this.#call(async () => (await this.registry(resource).create(created, namespace, serverContext)).object);
  }

  async update(
    resource: string,
    namespace: string,
    name: string,
    change: (old: any) => object,
    part?: "status",
  ): Promise<void> {
    const registry = this.registry(resource);
    const options = part !== undefined && {
      strategy: strategyOf(builtInKindOf(registry.info), part),
      subresource: part,
    };
    const write = (old: KubeObject) => change(old) as KubeObject;
    await this.#call(() => registry.update(namespace, name, write, serverContext, { ...options, reapplies: true }));
  }

  async put(resource: string, namespace: string, name: string, make: (old: any) => object): Promise<void> {
    const write = (old: KubeObject | undefined) => make(old) as KubeObject;
    const registry = this.registry(resource);
    await this.#call(() => registry.upsert(namespace, name, write, serverContext, { reapplies: true }));
  }

  async delete(resource: string, namespace: string, name: string, options: Partial<DeleteOptions> = {}): Promise<void> {
    const registry = this.registry(resource);
    await this.#call(() => registry.delete(namespace, name, { ...plainDeletion, ...options }, serverContext));
  }

  async #call<T>(run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#replica.replica.call(run);
    } catch (error) {
      const isRefusal =
        error instanceof ConnectionLost || error instanceof StoreUnavailableError || error instanceof StatusError;
      if (!isRefusal) throw error;
      return undefined;
    }
  }
}
