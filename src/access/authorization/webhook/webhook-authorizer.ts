import { parseJson } from "../../../api/codec/json.ts";
import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import { type Answer, AnswerTooLongError, type JsonEndpoint } from "../../../client/json-endpoint.ts";
import type { Clock } from "../../../process/clock.ts";
import type { UserInfo } from "../../../request/user-info.ts";
import type { Attributes } from "../attributes.ts";
import type { WebhookAuthorizerObserver, WebhookResult } from "../authorization-observer.ts";
import { type Authorizer, type Decision, noOpinion } from "../authorizer.ts";
import { DecisionCache } from "./decision-cache.ts";
import { conditionsMatch, type MatchCondition } from "./match-conditions.ts";
import { reviewSpec, reviewText } from "./review.ts";

const triesMax = 5;
const firstRetryMs = 500;
const retryFactor = 1.5;

export interface WebhookOptions {
  readonly name: string;
  readonly endpoint: JsonEndpoint;
  readonly clock: Clock;
  readonly version: "v1" | "v1beta1";
  /** Whether the selectors of a request are part of the question. */
  readonly selectors: boolean;
  /** Cache times of allowed and of other decisions; 0 for none. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  /** Time limit of one question, including all attempts. */
  readonly timeoutMs: number;
  readonly failurePolicy: "NoOpinion" | "Deny";
  readonly conditions: readonly MatchCondition[];
  readonly observer?: WebhookAuthorizerObserver | undefined;
}

/**
 * Asks a webhook with a SubjectAccessReview. A failed webhook never allows: its failure policy either denies the
 * request or passes it to the next authorizer.
 */
export function webhookAuthorizer(options: WebhookOptions): Authorizer {
  const cache = new DecisionCache(options.clock);
  return {
    authorize(user, attributes) {
      const question = questionOf(options, user, attributes);
      if (question === undefined) return noOpinion;
      if (typeof question !== "string") return failed(options, question.error);
      const known = cache.get(question);
      if (known !== undefined) return known;
      return ask(options, question).then(
        (decision) => {
          cache.set(
            question,
            decision,
            decision.kind === "allow" ? options.authorizedTtlMs : options.unauthorizedTtlMs,
          );
          return decision;
        },
        (error: unknown) => {
          if (options.failurePolicy === "NoOpinion") options.observer?.failedOpen(resultOf(error));
          return failed(options, error);
        },
      );
    },
    rulesFor: () => ({
      rules: [],
      incomplete: true,
      errors: ["webhook authorizer does not support user rule resolution"],
    }),
  };
}

/** Returns the review's text, or undefined if the conditions exclude this request. */
function questionOf(
  options: WebhookOptions,
  user: UserInfo,
  attributes: Attributes,
): string | undefined | { readonly error: unknown } {
  // Conditions are written for v1, whichever version is sent.
  try {
    if (options.conditions.length > 0) {
      const spec = reviewSpec(user, attributes, { ...options, version: "v1" });
      if (!matches(options, spec)) return undefined;
    }
  } catch (error) {
    return { error };
  }
  return reviewText(reviewSpec(user, attributes, options), options);
}

/** Evaluates the conditions and records the outcome. @throws Error for a condition that fails */
function matches({ conditions, observer }: WebhookOptions, spec: JsonObject): boolean {
  const startedMs = performance.now();
  let outcome: Parameters<WebhookAuthorizerObserver["conditionsEvaluated"]>[1] = "failed";
  try {
    const isMatch = conditionsMatch(conditions, spec);
    outcome = isMatch ? "matched" : "excluded";
    return isMatch;
  } finally {
    observer?.conditionsEvaluated((performance.now() - startedMs) / 1_000, outcome);
  }
}

function failed({ name, failurePolicy }: WebhookOptions, error: unknown): Decision {
  if (failurePolicy === "Deny") {
    return { kind: "deny", reason: `the authorization webhook ${JSON.stringify(name)} failed` };
  }
  throw error;
}

function resultOf(error: unknown): WebhookResult {
  return error instanceof Error && error.name === "TimeoutError" ? "timeout" : "error";
}

async function ask(options: WebhookOptions, question: string): Promise<Decision> {
  const startedMs = performance.now();
  let result: WebhookResult = "success";
  try {
    return await tryToAsk(options, question);
  } catch (error) {
    result = resultOf(error);
    throw error;
  } finally {
    options.observer?.asked(result, (performance.now() - startedMs) / 1_000);
  }
}

async function tryToAsk(options: WebhookOptions, question: string): Promise<Decision> {
  const signal = AbortSignal.timeout(options.timeoutMs);
  let waitMs = firstRetryMs;
  for (let tries = 1; ; tries++) {
    try {
      const answer = await options.endpoint.post(question, signal);
      if (!isTemporary(answer)) return decisionOf(answer);
      if (tries === triesMax) throw new Error(`the webhook answered ${answer.code}`);
    } catch (error) {
      const isFinal = error instanceof UnusableAnswer || error instanceof AnswerTooLongError;
      if (isFinal || signal.aborted || tries === triesMax) throw error;
    }
    await pause(options.clock, waitMs, signal);
    waitMs *= retryFactor;
  }
}

/** An answer that does not answer the question. Asking again would not help. */
class UnusableAnswer extends Error {}

function isTemporary({ code }: Answer): boolean {
  return code === 429 || code >= 500;
}

function decisionOf({ code, body }: Answer): Decision {
  if (code < 200 || code > 299) throw new UnusableAnswer(`the webhook answered ${code}`);
  const { allowed, denied, reason } = statusOf(body);
  if (allowed === true && denied === true) {
    throw new UnusableAnswer("webhook subject access review returned both allow and deny response");
  }
  const kind = allowed === true ? "allow" : denied === true ? "deny" : "noOpinion";
  return { kind, reason: typeof reason === "string" ? reason : "" };
}

function statusOf(body: Uint8Array): JsonObject {
  try {
    const { value } = parseJson(body, { strict: false });
    if (isJsonObject(value) && isJsonObject(value["status"])) return value["status"];
  } catch {
    // Not JSON. The error below does not quote the body.
  }
  throw new UnusableAnswer("the webhook's answer is not a SubjectAccessReview with a status");
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => {
      timer[Symbol.dispose]();
      reject(signal.reason);
    };
    const timer = clock.after(ms, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    signal.addEventListener("abort", abort, { once: true });
  });
}
