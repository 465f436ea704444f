import { stringifyJson } from "../../api/codec/json.ts";
import { decodeBody } from "../../api/codec/stored-object.ts";
import type { Entry, Key } from "../../api/entry.ts";
import type { JsonObject } from "../../api/json.ts";
import type { Revision } from "../../api/revision.ts";
import type { ResourceList } from "../../api/types/core-v1.ts";
import { recordIndex } from "../../storage/record-index.ts";
import { quotaChargePrefix } from "../../storage/record-prefixes.ts";
import { splitAtResourceVersion } from "../../storage/resource-version-gap.ts";
import type { ProposedBody, Store } from "../../storage/store.ts";
import { type Amounts, amountsOf, resourceListOf } from "../pod-resources.ts";

/** Amounts by the uid of the quota. */
export type Charges = ReadonlyMap<string, Amounts>;

/** The servers that share the store, as seen by quotas. */
export interface QuotaServers {
  readonly id: string;
  readonly isAlone: boolean;
  /** Time since this server and the others have known each other. */
  readonly joinedMs: number;
  has(id: string): boolean;
}

export interface SharedChargesParts {
  readonly servers: QuotaServers;
  readonly store: Store;
}

/**
 * The charges of each server, for the others to see: amounts counted towards quotas whose objects are not stored yet.
 * Otherwise counts of other servers would lose them. A charge is written before the quota and removed after the object
 * is stored, so that every count sees either the object or the charge in the store. A server that is alone writes
 * nothing.
 */
export class SharedCharges {
  readonly #parts: SharedChargesParts;

  constructor(parts: SharedChargesParts) {
    this.#parts = parts;
  }

  get isNeeded(): boolean {
    return !this.#parts.servers.isAlone;
  }

  /** Returns for how long this server must not count yet, because others may have unknown requests under way. */
  countableInMs(newcomerMs: number): number {
    const { isAlone, joinedMs } = this.#parts.servers;
    return isAlone ? 0 : Math.max(0, newcomerMs - joinedMs);
  }

  /** Returns the published charges of this server, formatted by `textOf`. */
  told(namespace: string): string {
    const { store, servers } = this.#parts;
    const entry = store.get(`${quotaChargePrefix}${namespace}/${servers.id}`);
    return entry === undefined ? "" : stringifyJson((decodeBody(entry)["charges"] ?? {}) as JsonObject);
  }

  /** Publishes the charges of this server (`textOf`), replacing the previous ones. */
  async tell(namespace: string, charges: string): Promise<void> {
    const { store, servers } = this.#parts;
    const key = `${quotaChargePrefix}${namespace}/${servers.id}`;
    if (charges === "") {
      const told = store.get(key);
      if (told !== undefined) await this.#remove(told);
      return;
    }
    const operation = { kind: "put", index: recordIndex, body: bodyOf(servers.id, charges) } as const;
    await store.commit({ key, expect: { kind: "any" }, operation });
  }

  /** Returns the charges of the other running servers towards one quota. */
  ofOthers(namespace: string, quotaUid: string): Amounts[] {
    const { store, servers } = this.#parts;
    return store.scan(`${quotaChargePrefix}${namespace}/`).flatMap((entry) => {
      const id = serverOf(entry.key);
      if (id === servers.id || !servers.has(id)) return [];
      const { charges = {} } = decodeBody(entry) as { charges?: Record<string, ResourceList> };
      const amounts = charges[quotaUid];
      return amounts === undefined ? [] : [amountsOf(amounts)];
    });
  }

  /** Reports every namespace whose charges on another server have changed. */
  follow(listener: (namespace: string) => void): Disposable {
    const { store, servers } = this.#parts;
    return store.subscribe((events) => {
      for (const { type, entry } of events) {
        if (type === "ADDED" || !entry.key.startsWith(quotaChargePrefix) || serverOf(entry.key) === servers.id)
          continue;
        listener(entry.key.slice(quotaChargePrefix.length, entry.key.lastIndexOf("/")));
      }
    });
  }

  /** Removes records of servers that no longer run. @param joined the revision at which this server joined */
  async clean(joined: Revision): Promise<void> {
    const { store, servers } = this.#parts;
    const left = store.scan(quotaChargePrefix).filter(({ key, revision }) => {
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

/** Formats charges; empty for none. */
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
