import type { Decision } from "./authorizer.ts";

export type WebhookResult = "success" | "timeout" | "error" | "canceled";

/** Measures the configured authorizers. Names come from the configuration, so their number is bounded. */
export interface AuthorizationObserver {
  /** Returns a function that records the decisions of one authorizer. */
  decisions(type: string, name: string): (kind: Decision["kind"]) => void;
  /** Returns an observer for the work of one webhook. */
  webhook(name: string): WebhookAuthorizerObserver;
  /** Records whether a changed configuration was put into use. */
  reloaded(isUsed: boolean): void;
}

export interface WebhookAuthorizerObserver {
  asked(result: WebhookResult, seconds: number): void;
  /** Records a question that was passed to the next authorizer because the webhook failed. */
  failedOpen(result: WebhookResult): void;
  conditionsEvaluated(seconds: number, outcome: "matched" | "excluded" | "failed"): void;
}
