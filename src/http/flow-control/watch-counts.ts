import type { ResourceRequest } from "../../request/request-info.ts";

/** Counts the open watches of each resource, by namespace and name. */
export class WatchCounts {
  /** By resource, then by scope. Bounded by the number of open watches, because empty counts are removed. */
  readonly #byResource = new Map<string, Map<string, number>>();

  /** Counts a watch until the returned value is disposed. */
  add(info: ResourceRequest): Disposable {
    const resource = resourceOf(info);
    const scope = scopeOf(info.namespace, info.name);
    this.#change(resource, scope, 1);
    let open = true;
    return {
      [Symbol.dispose]: () => {
        if (open) this.#change(resource, scope, -1);
        open = false;
      },
    };
  }

  /** Returns the number of watches that receive an event of the object. */
  reachedBy(info: ResourceRequest): number {
    const scopes = this.#byResource.get(resourceOf(info));
    if (scopes === undefined) return 0;
    const { namespace, name } = info;
    const covering = new Set([scopeOf("", ""), scopeOf(namespace, ""), scopeOf("", name), scopeOf(namespace, name)]);
    let count = 0;
    for (const scope of covering) count += scopes.get(scope) ?? 0;
    return count;
  }

  #change(resource: string, scope: string, by: 1 | -1): void {
    let scopes = this.#byResource.get(resource);
    if (scopes === undefined) this.#byResource.set(resource, (scopes = new Map()));
    const count = (scopes.get(scope) ?? 0) + by;
    if (count > 0) scopes.set(scope, count);
    else scopes.delete(scope);
    if (scopes.size === 0) this.#byResource.delete(resource);
  }
}

function resourceOf({ group, resource }: ResourceRequest): string {
  return `${resource}.${group}`;
}

function scopeOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
