import { must } from "../../raft/testing/simulator/violation.ts";
import type { World } from "../../raft/testing/simulator/world.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { StatusError } from "../../src/api/status.ts";
import { plainDeletion } from "../../src/registry/delete-options.ts";
import type { Registry } from "../../src/registry/registry.ts";
import { serverContext } from "../../src/registry/server-context.ts";
import type { WriteResult } from "../../src/registry/write-context.ts";
import { StoreUnavailableError } from "../../src/storage/store.ts";
import type { Knowledge } from "./knowledge.ts";
import { colors, names, namespaces } from "./simulated-object.ts";
import { ConnectionLost, type SimulatedServer } from "./simulated-server.ts";
import type { Truth, Version } from "./truth.ts";

export interface RegistryClientOptions {
  readonly world: World;
  readonly truth: Truth;
  readonly knowledge: Knowledge;
  readonly nextOperation: () => number;
}

interface Place {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** Writes ConfigMaps through a server's Registry, as handlers do: it retries, and knows which rejections are correct. */
export class RegistryClient {
  readonly #options: RegistryClientOptions;
  /** Writes that were rejected. They must never happen. */
  readonly notDone: number[] = [];
  /** Number of deletions by key. */
  readonly deleted = new Map<string, number>();
  written = 0;
  refused = 0;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
  }

  /** Makes one request and checks its answer. @throws Violation */
  async ask(server: SimulatedServer): Promise<void> {
    const { random } = this.#options.world;
    const [namespace, name] = [random.pick(namespaces), random.pick(names)];
    const registry = server.configMaps;
    const place = { namespace, name, key: registry.keyOf(namespace, name) };
    const draw = random.below(100);
    try {
      if (draw < 40) await this.#create(server, registry, place);
      else if (draw < 80) await this.#update(server, registry, place, draw < 60);
      else await this.#delete(server, registry, place, draw < 90);
    } catch (error) {
      if (!(error instanceof ConnectionLost || error instanceof StoreUnavailableError)) throw error;
    }
  }

  async #create(server: SimulatedServer, registry: Registry, place: Place): Promise<void> {
    await this.#write(server, place, undefined, (operation) => {
      const metadata = { name: place.name, namespace: place.namespace, labels: this.#labels() };
      const object = { kind: "ConfigMap", apiVersion: "v1", metadata, data: { operation: String(operation) } };
      return registry.create(object as KubeObject, place.namespace, serverContext);
    });
  }

  /** @param guarded it names the version that it has read, here and perhaps long ago */
  async #update(server: SimulatedServer, registry: Registry, place: Place, guarded: boolean): Promise<void> {
    const revision = guarded ? this.#readRevision(server, place) : undefined;
    await this.#write(server, place, revision, (operation) => {
      const transform = (old: KubeObject): KubeObject => ({
        ...old,
        metadata: { ...old.metadata, labels: this.#labels(), resourceVersion: String(revision ?? "") },
        data: { operation: String(operation) },
      });
      return registry.update(place.namespace, place.name, transform, serverContext);
    });
  }

  async #write(
    server: SimulatedServer,
    { key }: Place,
    guard: number | undefined,
    write: (operation: number) => Promise<WriteResult>,
  ): Promise<void> {
    const { nextOperation, knowledge, truth } = this.#options;
    const operation = nextOperation();
    const { revision: floor } = knowledge;
    try {
      const { entry } = await server.call(() => write(operation));
      const told = entry?.revision ?? 0;
      const { revision } = truth.verdictOn(operation) ?? {};
      must(told === revision, () => `operation ${operation} on ${key} is told ${told}, and got ${revision}`);
      must(told > floor, () => `operation ${operation} on ${key} gets ${told} where ${floor} was known before`);
      knowledge.learn(told);
      this.written++;
    } catch (error) {
      if (error instanceof StoreUnavailableError && error.outcome === "notDone") this.notDone.push(operation);
      if (!(error instanceof StatusError)) throw error;
      this.notDone.push(operation);
      this.#checkRefusal(error, key, floor, guard);
    }
  }

  async #delete(server: SimulatedServer, registry: Registry, place: Place, guarded: boolean): Promise<void> {
    const { knowledge, truth } = this.#options;
    const { key } = place;
    const revision = guarded ? this.#readRevision(server, place) : undefined;
    const { revision: floor } = knowledge;
    const resourceVersion = revision === undefined ? undefined : String(revision);
    const options = { ...plainDeletion, preconditions: { uid: undefined, resourceVersion } };
    try {
      const { removed } = await server.call(() => registry.delete(place.namespace, place.name, options, serverContext));
      must(removed, () => `${key} is deleted and still there`);
      const isGone = truth.since(key, floor).includes(undefined);
      must(isGone, () => `${key} is said to be deleted, and was there all the time since ${floor}`);
      this.deleted.set(key, (this.deleted.get(key) ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      this.#checkRefusal(error, key, floor, revision);
    }
  }

  /** Checks that the reason of a rejection was true at some moment since the request. */
  #checkRefusal({ status }: StatusError, key: string, floor: number, guard: number | undefined): void {
    this.refused++;
    const states = this.#options.truth.since(key, floor);
    const { reason } = status;
    const isSo = (version: Version | undefined) => {
      if (reason === "AlreadyExists") return version !== undefined;
      if (reason === "NotFound") return version === undefined;
      return reason === "Conflict" && guard !== undefined && version?.revision !== guard;
    };
    must(states.some(isSo), () => `${key}, guard ${guard}: ${reason} is never true since ${floor}: ${status.message}`);
  }

  /** Returns the server's current state, which may be old. */
  #readRevision({ store }: SimulatedServer, { key }: Place): number {
    return store.get(key)?.revision ?? 1;
  }

  #labels(): Record<string, string> {
    return { color: this.#options.world.random.pick(colors) };
  }
}
