import type { Clock } from "../../api/clock.ts";
import type { GroupResource } from "../../api/gvk.ts";
import { equalJson, type JsonValue } from "../../api/json.ts";
import { StatusError, status } from "../../api/status.ts";
import type { ObjectLookup } from "../object-lookup.ts";
import { type Amounts, resourceListOf, sum } from "../pod-resources.ts";
import { chargeOf, exceeded, frees, type QuotaRequest, unspecified } from "./check.ts";
import { isCounted, type ResourceQuota, resourceQuotas, usedOf } from "./quota.ts";
import { UsageCounter } from "./recount.ts";

/** Attempts to write the quotas of a namespace while others write them too. */
const writeTriesMax = 20;
/** Deletions often come many at a time: one count is made for all of this time, unless a request has to know earlier. */
const recountDelayMs = 20;
/** A count that could not be written is made again after this time. */
const retryMs = 1_000;

export interface QuotaAccountantParts {
  readonly lookup: ObjectLookup;
  readonly clock: Clock;
  /** Every namespaced resource whose objects can be counted. */
  readonly countable: () => readonly GroupResource[];
  /**
   * Stores the status of a quota if the quota is still as it was read.
   * @throws StatusError 409 when it is not, 404 when it is gone
   */
  readonly writeStatus: (quota: ResourceQuota) => Promise<void>;
}

/** A request that was counted before its object is stored. To be settled once, when the write has ended. */
export interface Charge {
  settle(stored: boolean): void;
}

/** A request that is to be counted. */
interface Waiter {
  readonly request: QuotaRequest;
  readonly dryRun: boolean;
  /** What it was counted for so far, by the uid of the quota. */
  readonly charged: Map<string, Amounts>;
  resolve(answer: Charge | string): void;
  reject(error: StatusError): void;
}

interface Account {
  readonly waiting: Waiter[];
  /** Counted requests whose objects are not stored yet: a recount that does not see them must not forget them. */
  readonly pending: Set<Waiter>;
  /** The usage has to be counted anew. */
  isStale: boolean;
  isRunning: boolean;
  recounts: number;
}

/**
 * Keeps `status.used` of quotas. Everything that changes the quotas of one namespace goes through one queue here, and onto
 * the store guarded by the revision that was read: no limit is passed, however many requests there are at a time. What a
 * deletion frees is found by counting anew, when the controller for quotas says so. A count knows what this server has let
 * through and not stored yet, not what another replica has: right after a deletion, requests to several replicas at a time
 * can pass the limit by as many as were on their way.
 *
 * The queue of a namespace is bounded by the requests that the server takes at a time.
 */
export class QuotaAccountant {
  readonly #parts: QuotaAccountantParts;
  readonly #counter: UsageCounter;
  readonly #accounts = new Map<string, Account>();

  constructor(parts: QuotaAccountantParts) {
    this.#parts = parts;
    this.#counter = new UsageCounter(parts.lookup, parts.countable);
  }

  /**
   * Counts a request towards every quota that is about it; undefined when there is none.
   * @returns why it cannot be had, or what has to be settled when the write has ended
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

  /** Counts anew what is used in a namespace, soon. Costs nothing where there is no quota. */
  recount(namespace: string): void {
    if (this.#quotas(namespace).length === 0) return;
    const account = this.#account(namespace);
    if (account.isStale) return;
    account.isStale = true;
    if (!account.isRunning) this.#startLater(namespace, account);
  }

  #account(namespace: string): Account {
    let account = this.#accounts.get(namespace);
    if (account === undefined) {
      account = { waiting: [], pending: new Set(), isStale: false, isRunning: false, recounts: 0 };
      this.#accounts.set(namespace, account);
    }
    return account;
  }

  #start(namespace: string, account: Account): void {
    if (account.isRunning || (account.waiting.length === 0 && !account.isStale)) return;
    account.isRunning = true;
    // Requests and changes of one turn are worked off together.
    setImmediate(() => void this.#run(namespace, account));
  }

  #startLater(namespace: string, account: Account): void {
    this.#parts.clock.after(recountDelayMs, () => this.#start(namespace, account));
  }

  async #run(namespace: string, account: Account): Promise<void> {
    do await this.#workOff(namespace, account);
    while (account.waiting.length > 0);
    account.isRunning = false;
    if (account.isStale) this.#startLater(namespace, account);
    this.#forgetIdle(namespace, account);
  }

  /** Everything that waits, with one write per quota. */
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

  /** What was counted for requests that fail now is found by the next count. */
  #giveUp(namespace: string, account: Account, batch: readonly Waiter[], error: unknown): void {
    account.isStale = false;
    const failure = error instanceof StatusError ? error : status.internal(String(error));
    // A store that is closed or broken stays so.
    if (failure === error) this.#parts.clock.after(retryMs, () => this.recount(namespace));
    for (const waiter of batch) waiter.reject(failure);
  }

  /** False when a quota was changed by somebody else meanwhile. */
  async #tryWorkOff(
    namespace: string,
    account: Account,
    batch: readonly Waiter[],
    refused: Map<Waiter, string>,
  ): Promise<boolean> {
    const { isStale } = account;
    account.isStale = false;
    const quotas = this.#quotas(namespace);
    const used = new Map(quotas.map((quota) => [quota, this.#usedNow(quota, account, batch, isStale)]));
    for (const waiter of batch) {
      const why = refused.get(waiter) ?? decide(waiter, quotas, used);
      if (why !== undefined) refused.set(waiter, why);
    }
    const accepted = batch.filter((waiter) => !waiter.dryRun && !refused.has(waiter));
    let isComplete = true;
    for (const quota of quotas) {
      if (await this.#write(quota, used.get(quota) as Amounts)) {
        for (const { charged, request } of accepted) {
          if (!charged.has(uidOf(quota))) charged.set(uidOf(quota), chargeOf(quota, request));
        }
      } else isComplete = false;
    }
    // Counted towards one quota, and then refused for another that somebody else has changed in between.
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
    return this.#counter.usedOf(quota, charges, this.#parts.clock.nowMs());
  }

  /** False when the quota has changed since it was read. */
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
        this.#forgetIdle(namespace, account);
      },
    };
  }

  #freeing(namespace: string): Charge {
    return { settle: () => this.recount(namespace) };
  }

  #forgetIdle(namespace: string, account: Account): void {
    if (!account.isRunning && !account.isStale && account.pending.size === 0) this.#accounts.delete(namespace);
  }

  #quotas(namespace: string): readonly ResourceQuota[] {
    return this.#parts.lookup.list(resourceQuotas, namespace) as readonly ResourceQuota[];
  }
}

/** Adds the request to `used` of every quota that it counts towards. @returns why it cannot be had */
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

function uidOf({ metadata }: ResourceQuota): string {
  return metadata.uid ?? "";
}
