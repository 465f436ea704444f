import type { JsonObject } from "../../api/json.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import { decodeBody } from "../../api/codec/stored-object.ts";
import { splitAtResourceVersion } from "../../storage/resource-version-gap.ts";
import type { Revision } from "../../api/revision.ts";
import type { ProposedBody, Store } from "../../storage/store.ts";
import type { Entry, Key } from "../../api/entry.ts";
import type { ResourceList } from "../pod.ts";
import { type Amounts, amountsOf, resourceListOf } from "../pod-resources.ts";

/** One record for each namespace and server: `<namespace>/<server id>`. No resource of the API lies here. */
const prefix: Key = "/registry/quotacharges/";

/** What is counted towards a quota, by its uid. */
export type Charges = ReadonlyMap<string, Amounts>;

/** The servers that share the store, as far as quotas have to know. */
export interface QuotaServers {
  readonly id: string;
  readonly isAlone: boolean;
  /** Since so long this server has known of the others, and they of it. */
  readonly joinedMs: number;
  has(id: string): boolean;
}

export interface SharedChargesParts {
  readonly servers: QuotaServers;
  readonly store: Store;
}

/**
 * What each server has counted towards quotas and not stored yet, for the others to see: one that counts anew would forget
 * it otherwise. It is written before a quota is, and removed after the object is stored, so that every count sees in the
 * store either the object or the charge. A server that is alone writes nothing.
 */
export class SharedCharges {
  readonly #parts: SharedChargesParts;

  constructor(parts: SharedChargesParts) {
    this.#parts = parts;
  }

  get isNeeded(): boolean {
    return !this.#parts.servers.isAlone;
  }

  /** How long this server must not count anew yet, as others may have something on its way that it cannot know of. */
  countableInMs(newcomerMs: number): number {
    const { isAlone, joinedMs } = this.#parts.servers;
    return isAlone ? 0 : Math.max(0, newcomerMs - joinedMs);
  }

  /** What the others know to be on its way here, as `textOf` writes it. */
  told(namespace: string): string {
    const { store, servers } = this.#parts;
    const entry = store.get(`${prefix}${namespace}/${servers.id}`);
    return entry === undefined ? "" : stringifyJson((decodeBody(entry)["charges"] ?? {}) as JsonObject);
  }

  /** Makes known what is on its way here (`textOf`), in place of what was known before. */
  async tell(namespace: string, charges: string): Promise<void> {
    const { store, servers } = this.#parts;
    const key = `${prefix}${namespace}/${servers.id}`;
    if (charges === "") {
      const told = store.get(key);
      if (told !== undefined) await this.#remove(told);
      return;
    }
    const index = { apiVersion: "v1", uid: "", labels: undefined, fields: undefined, owners: undefined };
    const operation = { kind: "put", index, body: bodyOf(servers.id, charges) } as const;
    await store.commit({ key, expect: { kind: "any" }, operation });
  }

  /** What is on its way to one quota on the other servers that run. */
  ofOthers(namespace: string, quotaUid: string): Amounts[] {
    const { store, servers } = this.#parts;
    return store.scan(`${prefix}${namespace}/`).flatMap((entry) => {
      const id = serverOf(entry.key);
      if (id === servers.id || !servers.has(id)) return [];
      const { charges = {} } = decodeBody(entry) as { charges?: Record<string, ResourceList> };
      const amounts = charges[quotaUid];
      return amounts === undefined ? [] : [amountsOf(amounts)];
    });
  }

  /** Hears of every namespace whose charges on another server have changed. */
  follow(listener: (namespace: string) => void): Disposable {
    const { store, servers } = this.#parts;
    return store.subscribe((events) => {
      for (const { type, entry } of events) {
        if (type === "ADDED" || !entry.key.startsWith(prefix) || serverOf(entry.key) === servers.id) continue;
        listener(entry.key.slice(prefix.length, entry.key.lastIndexOf("/")));
      }
    });
  }

  /** Removes what servers have left that do not run any more. @param joined the revision at which this server began */
  async clean(joined: Revision): Promise<void> {
    const { store, servers } = this.#parts;
    const left = store.scan(prefix).filter(({ key, revision }) => {
      const id = serverOf(key);
      return id === servers.id ? revision <= joined : !servers.has(id);
    });
    for (const entry of left) await this.#remove(entry);
  }

  async #remove({ key, revision, body }: Entry): Promise<void> {
    const { store } = this.#parts;
    const operation = { kind: "delete", last: splitAtResourceVersion(body) } as const;
    await store.commit({ key, expect: { kind: "revision", revision }, operation });
  }
}

function serverOf(key: Key): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

/** Of what is on its way; empty for nothing. */
export function textOf(charges: Charges): string {
  const lists = [...charges].map(([uid, amounts]) => [uid, resourceListOf(amounts)] as const);
  return lists.length === 0 ? "" : stringifyJson(Object.fromEntries(lists));
}

function bodyOf(id: string, charges: string): ProposedBody {
  return {
    prefix: Buffer.from(`{"metadata":{"name":"${id}","resourceVersion":"`),
    suffix: Buffer.from(`"},"charges":${charges}}`),
  };
}
