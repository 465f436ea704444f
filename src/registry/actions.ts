import type { Clock } from "../api/clock.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import type { ResourceInfo } from "../scheme/resource.ts";
import type { Scheme } from "../scheme/scheme.ts";
import type { Action, Actions } from "./action.ts";
import type { Registries } from "./registries.ts";
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  subjectAccessReview,
} from "./resources/authorization/access-review.ts";
import { selfSubjectRulesReview } from "./resources/authorization/rules-review.ts";
import { podBinding } from "./resources/core/pod-binding.ts";
import { podEviction } from "./resources/policy/eviction.ts";
import { strategyOf, subresourceStrategyOf } from "./strategies.ts";
import type { Strategy } from "./strategy.ts";

export interface ActionParts {
  readonly scheme: Scheme;
  readonly registries: Registries;
  readonly clock: Clock;
  readonly authorizer: Authorizer;
}

/** Every action that is part of the built-in API, by `actionKey`. This list is the only place where they are entered. */
export function builtInActions({ scheme, registries, clock, authorizer }: ActionParts): Actions {
  const pods = registries.of(scheme.find("", "v1", "pods"));
  const binding = podBinding(pods, clock);
  const budgetsInfo = scheme.find("policy", "v1", "poddisruptionbudgets");
  const actions: (readonly [string, Action])[] = [
    ["/bindings", binding],
    ["/pods/binding", binding],
    ["authorization.k8s.io/subjectaccessreviews", subjectAccessReview(authorizer)],
    ["authorization.k8s.io/localsubjectaccessreviews", localSubjectAccessReview(authorizer)],
    ["authorization.k8s.io/selfsubjectaccessreviews", selfSubjectAccessReview(authorizer)],
    ["authorization.k8s.io/selfsubjectrulesreviews", selfSubjectRulesReview(authorizer)],
  ];
  if (budgetsInfo !== undefined) {
    const budgets = registries.of(budgetsInfo);
    const parts = { pods, podStatus: statusOf(pods.info), budgets, budgetStatus: statusOf(budgetsInfo), clock };
    actions.push(["/pods/eviction", podEviction(parts)]);
  }
  return new Map(actions);
}

function statusOf(info: ResourceInfo): Strategy {
  return subresourceStrategyOf(info, "status") ?? strategyOf(info);
}
