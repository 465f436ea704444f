import type { ConditionsTime } from "../expressions/match-conditions.ts";
import type { CircuitState } from "./circuit-breaker.ts";

/** The two kinds of webhooks, as metrics name them. */
export type WebhookType = "admit" | "validating";

/** One call, as metrics count it. */
export interface ObservedCall {
  readonly name: string;
  readonly type: WebhookType;
  readonly operation: string;
  readonly seconds: number;
  readonly isRejected: boolean;
  /** 200, or the code of the error; 0 if the error was our own. */
  readonly code: number;
}

export type RejectionCause = "calling_webhook_error" | "apiserver_internal_error" | "no_error";

/** Hears what webhooks do, for metrics and Events. */
export interface WebhookObserver {
  called(call: ObservedCall): void;
  rejected(call: Pick<ObservedCall, "name" | "type" | "operation" | "code">, cause: RejectionCause): void;
  failedOpen(name: string, type: WebhookType): void;
  /** A webhook has stopped answering, answers again, or is gone. */
  circuit(change: CircuitChange): void;
  conditions(name: string, type: WebhookType, operation: string, time: ConditionsTime): void;
}

export interface CircuitChange {
  readonly configuration: string;
  readonly name: string;
  readonly type: WebhookType;
  readonly state: CircuitState;
}
