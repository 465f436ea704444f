import type { ResourceInfo } from "../api/scheme/resource.ts";
import { type CatalogEntry, kindOfVersion } from "./catalog.ts";
import type { Endpoint } from "./endpoint.ts";
import type { DeclaredEndpoint, Kind, KindParts } from "./kind.ts";
import type { Registry } from "./registry.ts";

/** Endpoints of each served resource and its subresources, made from the parts of a running server. */
export class Endpoints {
  readonly #parts: KindParts;
  readonly #registryOf: (info: ResourceInfo) => Registry;
  readonly #byResource = new Map<ResourceInfo, ReadonlyMap<string, Endpoint>>();

  constructor(parts: KindParts, registryOf: (info: ResourceInfo) => Registry) {
    this.#parts = parts;
    this.#registryOf = registryOf;
  }

  /** @param subresource "" for the resource itself */
  find(info: ResourceInfo, subresource: string): Endpoint | undefined {
    return this.#byResource.get(info)?.get(subresource);
  }

  install(entry: CatalogEntry): void {
    for (const info of entry.served) this.#byResource.set(info, this.#endpointsOf(kindOfVersion(entry, info), info));
  }

  remove({ served }: CatalogEntry): void {
    for (const info of served) this.#byResource.delete(info);
  }

  #endpointsOf({ endpoint, subresources }: Kind, info: ResourceInfo): ReadonlyMap<string, Endpoint> {
    const made = new Map([["", this.#make(endpoint, info)]]);
    for (const name of info.subresources.keys()) {
      const declared = subresources.get(name);
      if (declared !== undefined) made.set(name, this.#make(declared, info));
    }
    return made;
  }

  #make(declared: DeclaredEndpoint, info: ResourceInfo): Endpoint {
    switch (declared.kind) {
      case "stored":
        return { kind: "stored", registry: this.#registryOf(info) };
      case "subresource":
        return { kind: "subresource", registry: this.#registryOf(info), strategy: declared.strategy };
      case "view":
        return { kind: "view", registry: this.#registryOf(info), view: declared.viewOf(info) };
      case "action":
        return { kind: "action", action: declared.make(this.#parts) };
      case "computed":
        return { kind: "computed", objects: declared.make(this.#parts) };
      case "connection":
        return { kind: "connection", connect: this.#parts.connections[declared.connection] };
    }
  }
}
