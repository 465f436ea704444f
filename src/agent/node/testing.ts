import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type { Client, ObjectName, Patch, ResourceType } from "../../client/client.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { patchedObject } from "../testing.ts";
import type { Machine, MachineInfo, MachineUsage } from "./machine.ts";
import { type NodeSettings, nodeDefaults } from "./node-settings.ts";

export const machineInfo: MachineInfo = {
  capacity: { cpu: "4", memory: "8Gi", "ephemeral-storage": "100Gi" },
  swapBytes: 0,
  machineId: "m",
  systemUuid: "s",
  bootId: "b",
  kernelVersion: "6.1.0",
  osImage: "Test OS",
  operatingSystem: "linux",
  architecture: "amd64",
  addresses: ["10.0.0.5"],
};

export const nodeSettings: NodeSettings = { ...nodeDefaults, name: "node-1", hostname: "node-1", version: "v1.36.2" };

/** A machine that a test changes. */
export class FakeMachine implements Machine {
  measured: MachineInfo = machineInfo;
  used: MachineUsage = { "memory.available": { available: 4 * 2 ** 30, capacity: 8 * 2 ** 30 } };
  info = async () => this.measured;
  usage = async () => this.used;
}

/** An API server with a few objects. It counts requests and fails when a test says so. */
export class FakeApi implements Pick<Client, "get" | "create" | "update" | "patch"> {
  /** Verbs and resources of the requests, in order. */
  readonly asked: string[] = [];
  /** Bodies of patches. */
  readonly patches: JsonObject[] = [];
  /** Errors of the next requests. */
  readonly failures: unknown[] = [];
  readonly #objects = new Map<string, KubeObject>();
  readonly #scheme = Scheme.builtIn();
  #revision = 0;

  object<T extends KubeObject>(resource: string, name: string): T | undefined {
    return this.#objects.get(`${resource}/${name}`) as T | undefined;
  }

  remove(resource: string, name: string): void {
    this.#objects.delete(`${resource}/${name}`);
  }

  async get<T extends KubeObject>(type: ResourceType<T>, { name }: ObjectName): Promise<T> {
    this.#ask("get", type);
    return this.#found(type, name);
  }

  async create<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    this.#ask("create", type);
    const { name = "" } = object.metadata;
    if (this.object(type.resource, name) !== undefined) throw status.alreadyExists({ ...type, name });
    return this.#keep(type, { ...object, metadata: { ...object.metadata, uid: `uid-of-${name}` } });
  }

  async update<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    this.#ask("update", type);
    const { name = "", resourceVersion } = object.metadata;
    const old = this.#found(type, name);
    if (old.metadata.resourceVersion !== resourceVersion) throw status.conflict({ ...type, name }, "it has changed");
    return this.#keep(type, object);
  }

  async patch<T extends KubeObject>(type: ResourceType<T>, { name }: ObjectName, patch: Patch): Promise<T> {
    this.#ask("patch", type);
    if (patch.kind !== "strategic") throw new Error("only strategic merge patches are expected");
    this.patches.push(patch.document);
    const info = this.#scheme.resources.find(({ resource }) => resource === type.resource);
    if (info === undefined) throw new Error(`there is no ${type.resource}`);
    return this.#keep(type, patchedObject(this.#found<T>(type, name), patch.document, info));
  }

  #ask(verb: string, { resource }: ResourceType): void {
    this.asked.push(`${verb} ${resource}`);
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
  }

  #found<T extends KubeObject>(type: ResourceType<T>, name: string): T {
    const found = this.object<T>(type.resource, name);
    if (found === undefined) throw status.notFound({ ...type, name });
    return found;
  }

  #keep<T extends KubeObject>({ resource }: ResourceType<T>, object: T): T {
    const resourceVersion = String(++this.#revision);
    const kept = structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion } });
    this.#objects.set(`${resource}/${object.metadata.name}`, kept);
    return kept;
  }
}
