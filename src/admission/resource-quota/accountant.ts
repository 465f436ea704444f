import type { GroupResource } from "../../api/gvk.ts";
import { equalJson, type JsonValue } from "../../api/json.ts";
import type { Revision } from "../../api/revision.ts";
import { StatusError, status } from "../../api/status.ts";
import type { ResourceQuota } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";
import { type Amounts, resourceListOf, sum } from "../pod-resources.ts";
import { ChargeTeller } from "./charge-teller.ts";
import { chargeOf, exceeded, frees, type QuotaRequest, unspecified } from "./check.ts";
import { isCounted, resourceQuotas, usedOf } from "./quota.ts";
import { UsageCounter } from "./recount.ts";
import type { Charges, SharedCharges } from "./shared-charges.ts";

/** Maximum number of attempts to write the quotas of a namespace during concurrent writes. */
const writeTriesMax = 20;
/** Time for which one count serves many deletions, unless a request needs it earlier. */
const recountDelayMs = 20;
/** Time after which a count that could not be written is repeated. */
const retryMs = 1_000;
/**
 * Time after which requests that other servers had under way when this one joined are stored or known from their
 * charges.
 */
const newcomerMs = 15_000;

export interface QuotaAccountantParts {
  readonly lookup: ObjectLookup;
  readonly clock: Clock;
  /** Returns every namespaced resource whose objects can be counted. */
  readonly countable: () => readonly GroupResource[];
  /**
   * Stores the status of a quota that has not changed since it was read.
   * @throws StatusError 409 when it has changed, 404 when it is gone
   */
  readonly writeStatus: (quota: ResourceQuota) => Promise<void>;
  /** Charges of other servers; undefined where no other server can share the store. */
  readonly shared?: SharedCharges | undefined;
}

/** A request that was counted before its object is stored. Settle it once, after the write. */
export interface Charge {
  settle(stored: boolean): void;
}

/** A request that waits to be counted. */
interface Waiter {
  readonly request: QuotaRequest;
  readonly dryRun: boolean;
  /** Amounts counted so far, by the uid of the quota. */
  readonly charged: Map<string, Amounts>;
  resolve(answer: Charge | string): void;
  reject(error: StatusError): void;
}

interface Account {
  readonly waiting: Waiter[];
  /**
   * Counted requests whose objects are not stored yet. A recount does not see these objects and must include the
   * requests.
   */
  readonly pending: Set<Waiter>;
  /** Whether the usage has to be counted again. */
  isStale: boolean;
  isRunning: boolean;
  recounts: number;
  /** Teller; undefined where no other server can share the store. */
  readonly teller: ChargeTeller | undefined;
}

/**
 * Maintains `status.used` of quotas. All changes to the quotas of one namespace go through one queue here, and to the
 * store with the revision that was read as a precondition, so no number of concurrent requests exceeds a limit. A
 * deletion frees amounts only at the next count, which the quota controller requests. A count includes requests that
 * this server has accepted and not stored yet, and those of other servers from the shared charges. It can only be too
 * high, until another server removes the charge of a stored object.
 *
 * The number of requests that the server accepts at a time limits the queue of a namespace.
 */
export class QuotaAccountant {
  readonly #parts: QuotaAccountantParts;
  readonly #counter: UsageCounter;
  readonly #accounts = new Map<string, Account>();
  /**
   * Namespaces whose last count included charges of other servers, which are counted twice once their objects are
   * stored.
   */
  readonly #doubtful = new Set<string>();
  #isStopped = false;

  constructor(parts: QuotaAccountantParts) {
    this.#parts = parts;
    this.#counter = new UsageCounter(parts.lookup, parts.countable);
  }

  /** Reports whether the namespace has quotas. */
  limits(namespace: string): boolean {
    return this.#quotas(namespace).length > 0;
  }

  /**
   * Counts a request towards every matching quota. Returns undefined when none matches.
   * @returns the reason for a rejection, or a charge to settle after the write
   */
  charge(namespace: string, request: QuotaRequest, dryRun: boolean): Promise<Charge | string> | undefined {
    const quotas = this.#quotas(namespace);
    const isAsked = quotas.some(
      (quota) => chargeOf(quota, request).size > 0 || unspecified(quota, request) !== undefined,
    );
    if (!isAsked) return quotas.length > 0 && frees(request) ? Promise.resolve(this.#freeing(namespace)) : undefined;
    return new Promise((resolve, reject) => {
      const account = this.#account(namespace);
      account.waiting.push({ request, dryRun, charged: new Map(), resolve, reject });
      this.#start(namespace, account);
    });
  }

  /** Schedules a count of a namespace's usage. It costs nothing without quotas. */
  recount(namespace: string): void {
    if (this.#isStopped || this.#quotas(namespace).length === 0) return;
    const account = this.#account(namespace);
    if (account.isStale) return;
    account.isStale = true;
    if (!account.isRunning) this.#startLater(namespace, account);
  }

  /** Follows the charges of other servers. Once that ends, nothing is tried again. */
  follow(): Disposable {
    const onChange = (namespace: string) => {
      if (this.#doubtful.delete(namespace)) this.recount(namespace);
    };
    const following = this.#parts.shared?.follow(onChange);
    return {
      [Symbol.dispose]: () => {
        following?.[Symbol.dispose]();
        this.#isStopped = true;
      },
    };
  }

  /**
   * Handles servers that joined or left. New servers must learn of the charges here, and charges of servers that left
   * are removed.
   * @param joined the revision at which this server joined
   */
  async meet(joined: Revision): Promise<void> {
    for (const { teller } of this.#accounts.values()) teller?.update();
    await this.#parts.shared?.clean(joined);
  }

  #account(namespace: string): Account {
    const known = this.#accounts.get(namespace);
    if (known !== undefined) return known;
    const pending = new Set<Waiter>();
    const { shared, clock } = this.#parts;
    const account: Account = {
      waiting: [],
      pending,
      isStale: false,
      isRunning: false,
      recounts: 0,
      teller:
        shared &&
        new ChargeTeller({
          namespace,
          shared,
          clock,
          pending: () => chargesOf(pending),
          isCounting: () => account.isRunning,
          isStopped: () => this.#isStopped,
          onIdle: () => this.#forgetIdle(namespace, account),
        }),
    };
    this.#accounts.set(namespace, account);
    return account;
  }

  #start(namespace: string, account: Account): void {
    if (account.isRunning || (account.waiting.length === 0 && !account.isStale)) return;
    account.isRunning = true;
    // Requests and changes of one turn are handled together.
    setImmediate(() => void this.#run(namespace, account));
  }

  #startLater(namespace: string, account: Account): void {
    const delayMs = Math.max(recountDelayMs, this.#countableInMs());
    this.#parts.clock.after(delayMs, () => {
      if (!this.#isStopped) this.#start(namespace, account);
    });
  }

  #countableInMs(): number {
    return this.#parts.shared?.countableInMs(newcomerMs) ?? 0;
  }

  async #run(namespace: string, account: Account): Promise<void> {
    do await this.#workOff(namespace, account);
    while (account.waiting.length > 0);
    account.isRunning = false;
    account.teller?.update();
    if (account.isStale) this.#startLater(namespace, account);
    this.#forgetIdle(namespace, account);
  }

  /** Handles all waiting requests with one write per quota. */
  async #workOff(namespace: string, account: Account): Promise<void> {
    const batch = account.waiting.splice(0);
    const refused = new Map<Waiter, string>();
    try {
      for (let tries = 1; !(await this.#tryWorkOff(namespace, account, batch, refused)); tries++) {
        if (tries === writeTriesMax) throw status.serverTimeout("update", resourceQuotas);
      }
    } catch (error) {
      this.#giveUp(namespace, account, batch, error);
      return;
    }
    for (const waiter of batch) {
      waiter.resolve(refused.get(waiter) ?? this.#pend(namespace, account, waiter));
    }
  }

  /** Rejects the requests of a failed write. The next count corrects the amounts already counted for them. */
  #giveUp(namespace: string, account: Account, batch: readonly Waiter[], error: unknown): void {
    account.isStale = false;
    const failure = error instanceof StatusError ? error : status.internal(String(error));
    // A closed or broken store does not recover.
    if (failure === error) this.#parts.clock.after(retryMs, () => this.recount(namespace));
    for (const waiter of batch) waiter.reject(failure);
  }

  /** Returns false when another writer changed a quota meanwhile. */
  async #tryWorkOff(
    namespace: string,
    account: Account,
    batch: readonly Waiter[],
    refused: Map<Waiter, string>,
  ): Promise<boolean> {
    const isStale = account.isStale && this.#countableInMs() === 0;
    if (isStale) account.isStale = false;
    const quotas = this.#quotas(namespace);
    const used = new Map(quotas.map((quota) => [quota, this.#usedNow(quota, account, batch, isStale)]));
    for (const waiter of batch) {
      const why = refused.get(waiter) ?? decide(waiter, quotas, used);
      if (why !== undefined) refused.set(waiter, why);
    }
    const accepted = batch.filter((waiter) => !waiter.dryRun && !refused.has(waiter));
    // Other servers must know a charge before it is in a quota. Otherwise their counts would lose it.
    if (account.teller?.isNeeded === true) {
      await account.teller.announce(this.#chargesWith(account, quotas, accepted));
    }
    let isComplete = true;
    for (const quota of quotas) {
      if (await this.#write(quota, used.get(quota) as Amounts)) {
        for (const { charged, request } of accepted) {
          if (!charged.has(uidOf(quota))) charged.set(uidOf(quota), chargeOf(quota, request));
        }
      } else isComplete = false;
    }
    // A request was counted towards one quota and then rejected by another that had changed in between.
    const isOvercounted = [...refused.keys()].some(({ charged }) => charged.size > 0);
    if (isOvercounted || (isStale && !isComplete)) account.isStale = true;
    for (const { charged } of refused.keys()) charged.clear();
    return isComplete;
  }

  #usedNow(quota: ResourceQuota, account: Account, batch: readonly Waiter[], isStale: boolean): Amounts {
    if (!isStale && isCounted(quota)) return usedOf(quota);
    account.recounts++;
    const waiters = [...account.pending, ...batch];
    const charges = waiters.map(({ charged }) => charged.get(uidOf(quota)) ?? new Map());
    const namespace = quota.metadata.namespace ?? "";
    const ofOthers = this.#parts.shared?.ofOthers(namespace, uidOf(quota)) ?? [];
    if (ofOthers.length > 0) this.#doubtful.add(namespace);
    return this.#counter.usedOf(quota, [...charges, ...ofOthers], this.#parts.clock.nowMs());
  }

  /** Returns the charges of this server including these requests. */
  #chargesWith(account: Account, quotas: readonly ResourceQuota[], accepted: readonly Waiter[]): Charges {
    const charges = new Map(chargesOf(account.pending));
    for (const { charged, request } of accepted) {
      for (const quota of quotas) add(charges, uidOf(quota), charged.get(uidOf(quota)) ?? chargeOf(quota, request));
    }
    return charges;
  }

  /** Writes a quota. Returns false when it has changed since it was read. */
  async #write(quota: ResourceQuota, used: Amounts): Promise<boolean> {
    const { hard = {} } = quota.spec ?? {};
    const next = { hard, used: resourceListOf(used) };
    if (equalJson(next as JsonValue, (quota.status ?? {}) as JsonValue)) return true;
    try {
      await this.#parts.writeStatus({ ...quota, status: next });
      return true;
    } catch (error) {
      if (error instanceof StatusError && (error.code === 409 || error.code === 404)) return false;
      throw error;
    }
  }

  #pend(namespace: string, account: Account, waiter: Waiter): Charge {
    if (waiter.dryRun) return { settle() {} };
    account.pending.add(waiter);
    const { recounts } = account;
    return {
      settle: (stored) => {
        account.pending.delete(waiter);
        const mayBeCountedTwice = account.recounts !== recounts;
        if (!stored || mayBeCountedTwice || frees(waiter.request)) this.recount(namespace);
        account.teller?.update();
        this.#forgetIdle(namespace, account);
      },
    };
  }

  #freeing(namespace: string): Charge {
    return { settle: () => this.recount(namespace) };
  }

  #forgetIdle(namespace: string, account: Account): void {
    const isIdle = !account.isRunning && !account.isStale && account.pending.size === 0;
    if (isIdle && account.teller?.isIdle !== false) this.#accounts.delete(namespace);
  }

  #quotas(namespace: string): readonly ResourceQuota[] {
    return this.#parts.lookup.list(resourceQuotas, namespace) as readonly ResourceQuota[];
  }
}

/** Adds the request to `used` of every matching quota. @returns the reason for a rejection */
function decide(
  { request, dryRun, charged }: Waiter,
  quotas: readonly ResourceQuota[],
  used: Map<ResourceQuota, Amounts>,
): string | undefined {
  for (const quota of quotas) {
    const problem = unspecified(quota, request);
    if (problem !== undefined) return `failed quota: ${quota.metadata.name}: ${problem}`;
  }
  const open = quotas.filter((quota) => !charged.has(uidOf(quota)));
  for (const quota of open) {
    const problem = exceeded(quota, used.get(quota) as Amounts, chargeOf(quota, request));
    if (problem !== undefined) return problem;
  }
  if (dryRun) return undefined;
  for (const quota of open) used.set(quota, sum(used.get(quota) as Amounts, chargeOf(quota, request)));
  return undefined;
}

function chargesOf(waiters: Iterable<Waiter>): Charges {
  const charges = new Map<string, Amounts>();
  for (const { charged } of waiters) for (const [uid, amounts] of charged) add(charges, uid, amounts);
  return charges;
}

function add(charges: Map<string, Amounts>, uid: string, amounts: Amounts): void {
  if (amounts.size > 0) charges.set(uid, sum(charges.get(uid) ?? new Map(), amounts));
}

function uidOf({ metadata }: ResourceQuota): string {
  return metadata.uid ?? "";
}
