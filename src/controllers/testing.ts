import { systemUser } from "../access/authentication/system-user.ts";
import { chosenPlugins, type PluginName } from "../admission/plugin-names.ts";
import { decodeEntry } from "../api/codec/stored-object.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Event } from "../api/types/core-v1.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import { builtInKindOf } from "../kinds/index.ts";
import { Scheme } from "../kinds/scheme.ts";
import { plainDeletion } from "../registry/delete-options.ts";
import { strategyOf } from "../registry/kind.ts";
import type { Registries } from "../registry/registries.ts";
import type { Registry } from "../registry/registry.ts";
import type { DeleteOptions } from "../registry/strategy.ts";
import type { WriteContext } from "../registry/write-context.ts";
import { openRegistries } from "../server/registries.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { ManualClock, settle } from "../storage/cacher/testing.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import type { Store } from "../storage/store.ts";

export const testContext: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const turns = 40;
const scheme = Scheme.builtIn({ runtimeConfig: new Map([["api/all", true]]) });
/** Pods wait for their service account, which no controller creates here. */
export const pluginsWithoutAccounts = chosenPlugins([], ["ServiceAccount"]);

/** A store with the registries of all built-in kinds, alpha ones too, and a clock that the test controls. */
export class ControllerTest implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly store = new MemoryStore();
  readonly registries: Registries;
  readonly errors: unknown[] = [];
  readonly onError = (error: unknown) => void this.errors.push(error);
  readonly #cachers: CacherSet;
  readonly #admissionPlugins: readonly PluginName[];

  protected constructor(admissionPlugins: readonly PluginName[]) {
    // Bookmarks are due each second, which would take long when a test advances the clock by a year.
    this.#cachers = new CacherSet({ store: this.store, clock: new ManualClock() });
    this.#admissionPlugins = admissionPlugins;
    this.registries = this.openRegistries(this.store).registries;
  }

  /** Opens registries that write to the store through `store`. */
  protected openRegistries(store: Store) {
    const catalog = builtInCatalog(scheme);
    const randomInt = (below: number) => Math.floor(Math.random() * below);
    const [cachers, admissionPlugins] = [this.#cachers, this.#admissionPlugins];
    return {
      catalog,
      ...openRegistries({ catalog, store, cachers, clock: this.clock, randomInt, admissionPlugins }),
    };
  }

  /** Opens a store with the namespaces `default` and `n`. */
  static async open(): Promise<ControllerTest> {
    const test = new ControllerTest(pluginsWithoutAccounts);
    await test.createNamespaces();
    return test;
  }

  protected async createNamespaces(): Promise<void> {
    for (const name of ["default", "n"]) await this.create("namespaces", { kind: "Namespace", metadata: { name } });
  }

  /** @param resource `<resource>` or `<resource>.<group>` */
  registry(resource: string): Registry {
    const [name = "", ...group] = resource.split(".");
    return this.registries.builtIn({ group: group.join("."), resource: name });
  }

  async create(resource: string, object: object): Promise<KubeObject> {
    const created = { apiVersion: "v1", ...object } as KubeObject;
    return (await this.registry(resource).create(created, created.metadata.namespace ?? "", testContext)).object;
  }

  get<T = KubeObject>(resource: string, name: string, namespace = "n"): T | undefined {
    return this.registry(resource).current(namespace, name) as T | undefined;
  }

  list<T = KubeObject>(resource: string): T[] {
    const { info } = this.registry(resource);
    return this.store.scan(info.keyPrefix).map((entry) => decodeEntry(entry, info) as T);
  }

  /** Writes an object, or its status, as `change` returns it, and lets the controllers act. */
  async update(
    resource: string,
    name: string,
    change: (old: any) => object,
    part?: "status",
    place = "n",
  ): Promise<void> {
    const registry = this.registry(resource);
    const options = part !== undefined && {
      strategy: strategyOf(builtInKindOf(registry.info), part),
      subresource: part,
    };
    const namespace = registry.info.namespaced ? place : "";
    const write = (old: KubeObject) => change(old) as KubeObject;
    await registry.update(namespace, name, write, testContext, { ...options, reapplies: true });
    await settle(turns);
  }

  async delete(resource: string, name: string, options: Partial<DeleteOptions> = {}, place = "n"): Promise<void> {
    const registry = this.registry(resource);
    await registry.delete(registry.info.namespaced ? place : "", name, { ...plainDeletion, ...options }, testContext);
    await settle(turns);
  }

  /** Lets the controllers act, advances the clock, and lets them act again. */
  async pass(ms = 0): Promise<void> {
    await settle(turns);
    this.clock.advance(ms);
    await settle(turns);
  }

  /** Returns the Events so far as `<reason>: <message>`. */
  events(): string[] {
    return this.list<Event>("events").map(({ reason, message }) => `${reason}: ${message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cachers.close();
    await this.store.close();
  }
}
