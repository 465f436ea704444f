import { atMost } from "../../../process/at-most.ts";
import type { Clock } from "../../../process/clock.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import { EtcdConnection, type WatchListener } from "./etcd-connection.ts";
import { type EtcdFiles, readSecrets } from "./etcd-credentials.ts";
import type { EtcdEndpoint } from "./etcd-endpoint.ts";
import { EtcdError } from "./etcd-error.ts";
import { type Method, methods, type StatusResponse, type WatchCreateRequest } from "./messages.ts";

/** Interval of the probes of the current connection, and the time that a probe may take. */
const probeIntervalMs = 300;
const probeTimeoutMs = 400;
/** Lateness of a timer after which this process was busy, and a probe without an answer says nothing. */
const latenessMsMax = 100;
/** Time that a member may take to be chosen, and the pause between two rounds. */
const choiceTimeoutMs = 1_000;
const choicePauseMs = 100;
/** Lead of the connection in use over new ones when a member is chosen, because its requests would be interrupted. */
const leadMs = 50;
/** Delay before a failed request is repeated; at most the second one while a member is being chosen. */
const retryMs = 50;
const retryMsMax = 500;

/** The endpoint to which requests go from now on, or the reason why they go to none. */
export type EndpointChange = { readonly to: string } | { readonly reason: string };

export interface EtcdClientOptions {
  readonly endpoints: readonly EtcdEndpoint[];
  readonly files: EtcdFiles;
  readonly clock: Clock;
  readonly onChange?: (change: EndpointChange) => void;
}

/**
 * A client of etcd that talks to one member at a time. A member that does not answer, or has no leader, is replaced by
 * the first one that answers. Requests are sent once; only their callers know whether they may be repeated.
 */
export class EtcdClient implements Disposable {
  readonly #options: EtcdClientOptions;
  readonly #probes: Disposable;
  /** The connection in use; undefined while none answers. */
  #connection: EtcdConnection | undefined;
  /** The connection that was in use until none answered. Its requests and watches are still under way. */
  #silent: EtcdConnection | undefined;
  #choosing: Promise<void> | undefined;
  #probing = false;
  #probeDueMs: number;
  #isClosed = false;
  /** Reason of the last failure to connect. */
  #reason = "no endpoint has answered yet";

  constructor(options: EtcdClientOptions) {
    this.#options = options;
    const { clock } = options;
    this.#probeDueMs = clock.steadyMs() + probeIntervalMs;
    this.#probes = clock.every(probeIntervalMs, () => this.#probe());
  }

  /** The URL of the member in use. */
  get endpoint(): string | undefined {
    return this.#connection?.endpoint.url;
  }

  /** The reason why no member can be used; undefined while one is. */
  get failure(): string | undefined {
    return this.#connection === undefined ? this.#reason : undefined;
  }

  /** Waits until a member answers. @returns false after `timeoutMs` */
  async connected(timeoutMs: number): Promise<boolean> {
    if (this.#connection !== undefined) return true;
    this.#choosing ??= this.#choose(undefined);
    await atMost(this.#options.clock, timeoutMs, this.#choosing);
    return this.#connection !== undefined;
  }

  /** Sends a request once. @throws EtcdError */
  async call<Request, Response>(
    method: Method<Request, Response>,
    message: Request,
    timeoutMs: number,
  ): Promise<Response> {
    const deadlineMs = this.#options.clock.steadyMs() + timeoutMs;
    await this.connected(timeoutMs);
    const connection = this.#connection;
    if (connection === undefined) throw new EtcdError("notSent", this.#reason);
    try {
      return await connection.call(method, message, Math.max(1, deadlineMs - this.#options.clock.steadyMs()));
    } catch (error) {
      if ((error as EtcdError).kind === "interrupted" || !connection.isOpen) this.#suspect(connection, error);
      throw error;
    }
  }

  /** Sends a request until it is answered. It must be one that may be repeated. @throws EtcdError */
  async repeat<Request, Response>(
    method: Method<Request, Response>,
    message: Request,
    timeoutMs: number,
  ): Promise<Response> {
    const { clock } = this.#options;
    const deadlineMs = clock.steadyMs() + timeoutMs;
    for (;;) {
      try {
        return await this.call(method, message, Math.max(1, deadlineMs - clock.steadyMs()));
      } catch (error) {
        if (!(error instanceof EtcdError) || !error.isPassing) throw error;
        if (this.#isClosed || clock.steadyMs() + retryMs >= deadlineMs) throw error;
        await this.pause();
      }
    }
  }

  /** Waits a little before another attempt. */
  async pause(delayMs = retryMs): Promise<void> {
    await this.#sleep(delayMs);
    if (this.#choosing !== undefined) await atMost(this.#options.clock, retryMsMax, this.#choosing);
  }

  /** Opens a watch on the member in use. @throws EtcdError if there is none */
  watch(request: WatchCreateRequest, listener: WatchListener): Disposable {
    const connection = this.#connection;
    if (connection === undefined) throw new EtcdError("notSent", this.#reason);
    return connection.watch(request, {
      response: (response) => listener.response(response),
      ended: (error) => {
        if (error.kind === "interrupted") this.#suspect(connection, error);
        listener.ended(error);
      },
    });
  }

  /** Answers with the state of the member in use. @throws EtcdError */
  status(timeoutMs: number): Promise<StatusResponse> {
    return this.call(methods.status, {}, timeoutMs);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#probes[Symbol.dispose]();
    this.#connection?.[Symbol.dispose]();
    this.#silent?.[Symbol.dispose]();
    this.#connection = undefined;
    this.#silent = undefined;
    this.#reason = "the client is closed";
  }

  #probe(): void {
    const { clock } = this.#options;
    const lateMs = clock.steadyMs() - this.#probeDueMs;
    this.#probeDueMs = clock.steadyMs() + probeIntervalMs;
    const connection = this.#connection;
    if (this.#probing || connection === undefined || lateMs > latenessMsMax) return;
    this.#probing = true;
    const startedMs = clock.steadyMs();
    connection
      .call(methods.status, {}, probeTimeoutMs)
      .catch((error: unknown) => {
        const tookMs = clock.steadyMs() - startedMs;
        if ((error as EtcdError).kind === "interrupted" && tookMs < probeTimeoutMs + latenessMsMax) {
          this.#suspect(connection, error);
        }
      })
      .finally(() => {
        this.#probing = false;
      });
  }

  /** Asks all members who can take over from one that failed a request. */
  #suspect(connection: EtcdConnection, error: unknown): void {
    if (this.#connection !== connection || this.#choosing !== undefined || this.#isClosed) return;
    this.#reason = thrownText(error);
    this.#choosing = this.#choose(connection);
  }

  async #choose(suspect: EtcdConnection | undefined): Promise<void> {
    try {
      for (let former = suspect; !this.#isClosed; former = this.#silent) {
        const chosen = await this.#firstToAnswer(former);
        if (chosen !== undefined) return this.#use(chosen, former);
        this.#fallSilent();
        await this.#sleep(choicePauseMs);
      }
    } finally {
      this.#choosing = undefined;
    }
  }

  #use(chosen: EtcdConnection, former: EtcdConnection | undefined): void {
    if (this.#isClosed) return chosen[Symbol.dispose]();
    if (chosen !== former) former?.retire();
    this.#silent = undefined;
    if (chosen === this.#connection) return;
    this.#connection = chosen;
    this.#options.onChange?.({ to: chosen.endpoint.url });
  }

  /** Sends nothing more until a member answers. A member that only stalls will still answer what it was asked. */
  #fallSilent(): void {
    if (this.#connection === undefined) return;
    this.#silent = this.#connection;
    this.#connection = undefined;
    this.#options.onChange?.({ reason: this.#reason });
  }

  /** Returns a connection to the first voting member that answers; undefined if none does. */
  async #firstToAnswer(former: EtcdConnection | undefined): Promise<EtcdConnection | undefined> {
    const opened = this.#open();
    const candidates = former === undefined ? opened : [former, ...opened];
    let chosen: EtcdConnection | undefined;
    try {
      chosen = await Promise.any(
        candidates.map(async (candidate) => {
          const { isLearner } = await candidate.call(methods.status, {}, choiceTimeoutMs).catch(ignoreRefusal);
          if (isLearner) throw new EtcdError("interrupted", `${candidate.endpoint.url} is a learner`);
          if (former?.isOpen === true && candidate !== former) await this.#sleep(leadMs);
          return candidate;
        }),
      );
    } catch (error) {
      const reasons = (error as AggregateError).errors.map(thrownText);
      if (reasons.length > 0) this.#reason = [...new Set(reasons)].join("; ");
    }
    for (const candidate of opened) if (candidate !== chosen) candidate[Symbol.dispose]();
    return chosen;
  }

  #open(): readonly EtcdConnection[] {
    try {
      const secrets = readSecrets(this.#options.files);
      return this.#options.endpoints.map((endpoint) => {
        const connection: EtcdConnection = new EtcdConnection(endpoint, secrets, (error) => {
          this.#suspect(connection, error);
        });
        return connection;
      });
    } catch (error) {
      // A file may be missing while it is replaced.
      this.#reason = thrownText(error);
      return [];
    }
  }

  #sleep(delayMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#options.clock.after(delayMs, resolve);
    return promise;
  }
}

/** A member that refuses to tell its state can be used. */
function ignoreRefusal(error: unknown): { isLearner: boolean } {
  if (error instanceof EtcdError && !error.isPassing) return { isLearner: false };
  throw error;
}
