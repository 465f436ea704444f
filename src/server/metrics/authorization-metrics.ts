import type { Registry } from "prom-client";
import type { Authorizer, Decision } from "../../access/authorization/authorizer.ts";
import { BoundCounter } from "./bound-metric.ts";

const results = { allow: "allowed", deny: "denied", noOpinion: "no-opinion" } as const satisfies Record<
  Decision["kind"],
  string
>;

/** Wraps an authorizer, and counts its decisions by result, under upstream's name. */
export function countDecisions(authorizer: Authorizer, registry: Registry): Authorizer {
  const attempts = new BoundCounter("authorization_attempts_total", "Authorization decisions, by their result.");
  attempts.register(registry);
  const children = {
    allow: attempts.labels({ result: results.allow }),
    deny: attempts.labels({ result: results.deny }),
    noOpinion: attempts.labels({ result: results.noOpinion }),
  };
  const errors = attempts.labels({ result: "error" });
  const count = (decision: Decision): Decision => {
    children[decision.kind].value++;
    return decision;
  };
  const fail = (error: unknown): never => {
    errors.value++;
    throw error;
  };
  return {
    ...authorizer,
    authorize(user, attributes) {
      let decision: Decision | Promise<Decision>;
      try {
        decision = authorizer.authorize(user, attributes);
      } catch (error) {
        return fail(error);
      }
      return decision instanceof Promise ? decision.then(count, fail) : count(decision);
    },
  };
}
