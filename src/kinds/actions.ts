import type { Clock } from "../process/clock.ts";
import type { TokenIssuer } from "../access/authentication/service-account/token-issuer.ts";
import type { TokenAuthenticator } from "../access/authentication/token-authenticator.ts";
import type { Authorizer } from "../access/authorization/authorizer.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import type { Action, Actions } from "../registry/action.ts";
import type { Registries } from "../registry/registries.ts";
import { selfSubjectReview } from "./authentication/self-subject-review.ts";
import { tokenRequest } from "./authentication/token-request.ts";
import { tokenReview } from "./authentication/token-review.ts";
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  subjectAccessReview,
} from "./authorization/access-review.ts";
import { selfSubjectRulesReview } from "./authorization/rules-review.ts";
import { podBinding } from "./core/pod-binding.ts";
import { podEviction } from "./policy/eviction.ts";
import { strategyOf, subresourceStrategyOf } from "./strategies.ts";
import type { Strategy } from "../registry/strategy.ts";

export interface ActionParts {
  readonly registries: Registries;
  readonly clock: Clock;
  readonly authorizer: Authorizer;
  readonly tokens: TokenParts;
}

/** What is needed to answer questions about tokens, and to issue them. */
export interface TokenParts {
  readonly tokens: TokenAuthenticator;
  readonly issuer: TokenIssuer;
  readonly apiAudiences: readonly string[];
  readonly maxExpirationSeconds: number;
  readonly extendsMounted: boolean;
}

/** Every action that is part of the built-in API, by `actionKey`. This list is the only place where they are entered. */
export function builtInActions({ registries, clock, authorizer, tokens }: ActionParts): Actions {
  const pods = registries.builtIn({ group: "", resource: "pods" });
  const binding = podBinding(pods, clock);
  const budgets = registries.builtIn({ group: "policy", resource: "poddisruptionbudgets" });
  const statuses = { podStatus: statusOf(pods.info), budgetStatus: statusOf(budgets.info) };
  const actions: (readonly [string, Action])[] = [
    ["/bindings", binding],
    ["/pods/binding", binding],
    ["/pods/eviction", podEviction({ pods, budgets, ...statuses, clock })],
    ["/serviceaccounts/token", tokenRequestAction({ registries, clock }, tokens)],
    ["authentication.k8s.io/selfsubjectreviews", selfSubjectReview],
    ["authentication.k8s.io/tokenreviews", tokenReview(tokens.tokens, tokens.apiAudiences)],
    ["authorization.k8s.io/subjectaccessreviews", subjectAccessReview(authorizer)],
    ["authorization.k8s.io/localsubjectaccessreviews", localSubjectAccessReview(authorizer)],
    ["authorization.k8s.io/selfsubjectaccessreviews", selfSubjectAccessReview(authorizer)],
    ["authorization.k8s.io/selfsubjectrulesreviews", selfSubjectRulesReview(authorizer)],
  ];
  return new Map(actions);
}

function tokenRequestAction(
  { registries, clock }: Pick<ActionParts, "registries" | "clock">,
  tokens: TokenParts,
): Action {
  const registry = (resource: string) => registries.builtIn({ group: "", resource });
  return tokenRequest({
    ...tokens,
    serviceAccounts: registry("serviceaccounts"),
    pods: registry("pods"),
    secrets: registry("secrets"),
    nodes: registry("nodes"),
    clock,
  });
}

function statusOf(info: ResourceInfo): Strategy {
  return subresourceStrategyOf(info, "status") ?? strategyOf(info);
}
