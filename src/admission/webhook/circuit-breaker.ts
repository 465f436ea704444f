import type { Clock } from "../../process/clock.ts";
import type { AdmissionWebhook } from "./webhook-configuration.ts";

/** Timeouts in a row after which a webhook is not called any more. */
export const timeoutsMax = 12;
/** Time between two attempts to call it again. */
export const retryMs = 5_000;
/** Webhooks whose timeouts are counted; the ones that were called least recently are forgotten first. */
export const circuitsMax = 1_024;

/** The names of a webhook. */
type CircuitWebhook = Pick<AdmissionWebhook, "revisionKey" | "configuration" | "name">;

/** `forgotten`: the webhook is gone or has changed, so nothing is known of it. */
export type CircuitState = "open" | "closed" | "forgotten";

interface Circuit {
  readonly webhook: CircuitWebhook;
  timeouts: number;
  /** Time of the next attempt; undefined while the webhook is called. */
  retryAtMs: number | undefined;
}

/**
 * Spares requests the wait for webhooks that do not answer. After several timeouts in a row a webhook counts as failed at
 * once, except for one call every few seconds. The first answer ends this.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #onChange: (webhook: CircuitWebhook, state: CircuitState) => void;
  readonly #circuits = new Map<string, Circuit>();
  /** Webhooks that exist; undefined until they are known. */
  #existing: ReadonlySet<string> | undefined;

  constructor(clock: Clock, onChange: (webhook: CircuitWebhook, state: CircuitState) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Reports whether a webhook may be called now. */
  admits({ revisionKey }: CircuitWebhook): boolean {
    const circuit = this.#circuits.get(revisionKey);
    if (circuit?.retryAtMs === undefined) return true;
    const nowMs = this.#clock.steadyMs();
    if (nowMs < circuit.retryAtMs) return false;
    circuit.retryAtMs = nowMs + retryMs;
    return true;
  }

  /** Counts a call that had its time. A call may outlive its webhook, which then counts no more. */
  timedOut(webhook: CircuitWebhook): void {
    const { revisionKey } = webhook;
    if (this.#existing?.has(revisionKey) === false) return;
    const circuit = this.#circuits.get(revisionKey) ?? { webhook, timeouts: 0, retryAtMs: undefined };
    this.#circuits.delete(revisionKey);
    this.#circuits.set(revisionKey, circuit);
    const [oldest] = this.#circuits.values();
    if (this.#circuits.size > circuitsMax && oldest !== undefined) this.#forget(oldest);
    circuit.timeouts++;
    if (circuit.timeouts < timeoutsMax || circuit.retryAtMs !== undefined) return;
    circuit.retryAtMs = this.#clock.steadyMs() + retryMs;
    this.#onChange(webhook, "open");
  }

  /** Any answer counts, also one that cannot be used. */
  answered(webhook: CircuitWebhook): void {
    const circuit = this.#circuits.get(webhook.revisionKey);
    if (circuit === undefined) return;
    this.#circuits.delete(webhook.revisionKey);
    if (circuit.retryAtMs !== undefined) this.#onChange(webhook, "closed");
  }

  /** Forgets all webhooks but these. */
  keepOnly(webhooks: readonly CircuitWebhook[]): void {
    const kept = new Set(webhooks.map(({ revisionKey }) => revisionKey));
    this.#existing = kept;
    for (const circuit of this.#circuits.values()) {
      if (!kept.has(circuit.webhook.revisionKey)) this.#forget(circuit);
    }
  }

  #forget({ webhook, retryAtMs }: Circuit): void {
    this.#circuits.delete(webhook.revisionKey);
    if (retryAtMs !== undefined) this.#onChange(webhook, "forgotten");
  }
}
