import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type {
  Client,
  ListOptions,
  ObjectList,
  ObjectName,
  ResourceType,
  WatchEvent,
  WatchOptions,
} from "../../client/client.ts";

interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resource: string;
  readonly object: KubeObject;
}

/** A server in memory that knows lists and watches of single objects, and issues tokens. */
export class FakeServer implements Pick<Client, "get" | "list" | "watch" | "act"> {
  /** Requests so far, such as `list configmaps shop metadata.name=web`. */
  readonly asked: string[] = [];
  /** Answers to token requests. */
  issue: (of: ObjectName, body: JsonObject) => Promise<JsonValue> = () => Promise.reject(new Error("no tokens"));
  /** Thrown by lists, if set. */
  refusal: Error | undefined;
  readonly #objects = new Map<string, { resource: string; object: KubeObject }>();
  readonly #watchers = new Set<(change: Change) => void>();
  #revision = 0;

  set(resource: string, object: object): void {
    const kept = object as KubeObject;
    this.#revision += 1;
    kept.metadata.resourceVersion = String(this.#revision);
    kept.metadata.uid ??= `uid-${this.#revision}`;
    const key = keyOf(resource, kept);
    const type = this.#objects.has(key) ? "MODIFIED" : "ADDED";
    this.#objects.set(key, { resource, object: kept });
    for (const tell of this.#watchers) tell({ type, resource, object: kept });
  }

  delete(resource: string, namespace: string, name: string): void {
    const key = `${resource}/${namespace}/${name}`;
    const kept = this.#objects.get(key);
    if (kept === undefined) return;
    this.#objects.delete(key);
    this.#revision += 1;
    kept.object.metadata.resourceVersion = String(this.#revision);
    for (const tell of this.#watchers) tell({ type: "DELETED", resource, object: kept.object });
  }

  /** Number of watches that are open. */
  get watches(): number {
    return this.#watchers.size;
  }

  async get<T extends KubeObject>(
    { group, resource }: ResourceType<T>,
    { namespace = "", name }: ObjectName,
  ): Promise<T> {
    this.asked.push(`get ${resource} ${namespace} ${name}`);
    const found = this.#objects.get(`${resource}/${namespace}/${name}`);
    if (found === undefined) throw status.notFound({ group, resource, name });
    return found.object as T;
  }

  async list<T extends KubeObject>({ resource }: ResourceType<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    this.asked.push(`list ${resource} ${options.namespace ?? ""} ${options.fieldSelector ?? ""}`.trim());
    if (this.refusal !== undefined) throw this.refusal;
    const all = [...this.#objects.values()].filter((one) => one.resource === resource).map(({ object }) => object);
    const items = all.filter((object) => isSelected(object, options)) as T[];
    return { metadata: { resourceVersion: String(this.#revision) }, items };
  }

  async *watch<T extends KubeObject>(
    { resource }: ResourceType<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void> {
    const { signal } = options;
    const waiting: Change[] = [];
    let wake = Promise.withResolvers<void>();
    const tell = (change: Change) => {
      waiting.push(change);
      wake.resolve();
    };
    const stop = () => wake.resolve();
    this.#watchers.add(tell);
    signal?.addEventListener("abort", stop);
    try {
      while (signal?.aborted !== true) {
        for (let change = waiting.shift(); change !== undefined; change = waiting.shift()) {
          const { type, object } = change;
          if (change.resource === resource && isSelected(object, options)) yield { type, object: object as T };
        }
        await wake.promise;
        wake = Promise.withResolvers();
      }
    } finally {
      this.#watchers.delete(tell);
      signal?.removeEventListener("abort", stop);
    }
  }

  act(_type: ResourceType, of: ObjectName, body: JsonObject): Promise<JsonValue> {
    return this.issue(of, body);
  }
}

function isSelected({ metadata }: KubeObject, { namespace, fieldSelector }: ListOptions): boolean {
  if (namespace !== undefined && namespace !== "" && metadata.namespace !== namespace) return false;
  return fieldSelector === undefined || fieldSelector === `metadata.name=${metadata.name}`;
}

function keyOf(resource: string, { metadata: { namespace = "", name = "" } }: KubeObject): string {
  return `${resource}/${namespace}/${name}`;
}
