import type { Registry } from "prom-client";
import type {
  AuthorizationObserver,
  WebhookAuthorizerObserver,
  WebhookResult,
} from "../../access/authorization/authorization-observer.ts";
import type { Authorizer, Decision } from "../../access/authorization/authorizer.ts";
import { BoundCounter, BoundHistogram, childrenBy, type HistogramChild } from "./bound-metric.ts";
import { reloadMetrics } from "./reload-metrics.ts";

const results = { allow: "allowed", deny: "denied", noOpinion: "no-opinion" } as const satisfies Record<
  Decision["kind"],
  string
>;
/** From a millisecond upwards, each bound twice the one before. */
export const decisionBuckets = Array.from({ length: 15 }, (_, at) => 2 ** at / 1_000);
const webhookBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const conditionBuckets = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/** Wraps an authorizer; counts and times its decisions by result, under upstream's names. */
export function countDecisions(authorizer: Authorizer, registry: Registry, inFilter: HistogramChild): Authorizer {
  const attempts = new BoundCounter("authorization_attempts_total", "Authorization decisions, by result.");
  const durations = new BoundHistogram(
    "authorization_duration_seconds",
    "Duration of authorization, by result.",
    decisionBuckets,
  );
  for (const family of [attempts, durations]) family.register(registry);
  const ended = (result: string) => {
    const count = attempts.labels({ result });
    const duration = durations.labels({ result });
    return (startedMs: number) => {
      const seconds = (performance.now() - startedMs) / 1_000;
      count.value++;
      duration.observe(seconds);
      inFilter.observe(seconds);
    };
  };
  const decided = {
    allow: ended(results.allow),
    deny: ended(results.deny),
    noOpinion: ended(results.noOpinion),
  };
  const failed = ended("error");
  return {
    ...authorizer,
    authorize(user, attributes) {
      const startedMs = performance.now();
      let decision: Decision | Promise<Decision>;
      try {
        decision = authorizer.authorize(user, attributes);
      } catch (error) {
        failed(startedMs);
        throw error;
      }
      if (!(decision instanceof Promise)) {
        decided[decision.kind](startedMs);
        return decision;
      }
      return decision.then(
        (made) => {
          decided[made.kind](startedMs);
          return made;
        },
        (error: unknown) => {
          failed(startedMs);
          throw error;
        },
      );
    },
  };
}

/** Registers the metrics of the configured authorizers. @param serverId identity of this server */
export function authorizationMetrics(registry: Registry, serverId: string): AuthorizationObserver {
  const decisions = new BoundCounter(
    "apiserver_authorization_decisions_total",
    "Authorization decisions, by authorizer.",
  );
  decisions.register(registry);
  const webhooks = webhookObserver(registry);
  return {
    // The counts continue when a reload replaces the authorizers.
    decisions: childrenOf((type, name) => {
      const allowed = decisions.labels({ type, name, decision: results.allow });
      const denied = decisions.labels({ type, name, decision: results.deny });
      return (kind) => {
        if (kind === "allow") allowed.value++;
        else if (kind === "deny") denied.value++;
      };
    }),
    webhook: childrenBy(webhooks),
    reloaded: reloadMetrics(registry, "authorization", serverId),
  };
}

function webhookObserver(registry: Registry): (name: string) => WebhookAuthorizerObserver {
  const prefix = "apiserver_authorization";
  const evaluations = new BoundCounter(`${prefix}_webhook_evaluations_total`, "Requests to authorization webhooks.");
  const durations = new BoundHistogram(
    `${prefix}_webhook_duration_seconds`,
    "Time until an authorization webhook answers.",
    webhookBuckets,
  );
  const failOpens = new BoundCounter(
    `${prefix}_webhook_evaluations_fail_open_total`,
    "Requests passed to the next authorizer because an authorization webhook failed.",
  );
  const errors = new BoundCounter(
    `${prefix}_match_condition_evaluation_errors_total`,
    "Requests for which evaluating an authorizer's match conditions failed.",
  );
  const exclusions = new BoundCounter(
    `${prefix}_match_condition_exclusions_total`,
    "Requests that an authorizer's match conditions excluded.",
  );
  const conditions = new BoundHistogram(
    `${prefix}_match_condition_evaluation_seconds`,
    "Duration of evaluating an authorizer's match conditions.",
    conditionBuckets,
  );
  for (const family of [evaluations, durations, failOpens, errors, exclusions, conditions]) family.register(registry);
  return (name) => {
    const labels = { type: "Webhook", name };
    const evaluated = conditions.labels(labels);
    const failed = errors.labels(labels);
    const excluded = exclusions.labels(labels);
    const byResult = childrenBy((result: WebhookResult) => ({
      count: evaluations.labels({ name, result }),
      duration: durations.labels({ name, result }),
    }));
    const failOpenOf = childrenBy((result: WebhookResult) => failOpens.labels({ name, result }));
    return {
      asked(result, seconds) {
        const { count, duration } = byResult(result);
        count.value++;
        duration.observe(seconds);
      },
      failedOpen: (result) => void failOpenOf(result).value++,
      conditionsEvaluated(seconds, outcome) {
        evaluated.observe(seconds);
        if (outcome === "failed") failed.value++;
        if (outcome === "excluded") excluded.value++;
      },
    };
  };
}

/** Returns one child for each type and name. */
function childrenOf<Child>(make: (type: string, name: string) => Child): (type: string, name: string) => Child {
  const byType = childrenBy((type: string) => childrenBy((name: string) => make(type, name)));
  return (type, name) => byType(type)(name);
}
