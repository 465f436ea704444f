import type { Authorizer } from "../../access/authorization/authorizer.ts";
import type { PolicyRule } from "../../access/authorization/rbac/policy-rule.ts";
import type { JsonObject } from "../../api/json.ts";
import { status } from "../../api/status.ts";
import type * as authorizationV1 from "../../api/types/authorization-v1.ts";
import type { Action } from "../../registry/action.ts";
import { action, builtInKind } from "../../registry/kind.ts";

export const selfSubjectRulesReview = builtInKind("selfsubjectrulesreviews.authorization.k8s.io", {
  endpoint: action(({ authorizer }) => reviewOf(authorizer)),
  descriptions: {
    "authorization/v1.SelfSubjectRulesReview": { "": "The permissions of the caller in a namespace." },
    "authorization/v1.SelfSubjectRulesReviewSpec": { "": "The question.", namespace: "The namespace." },
    "authorization/v1.SubjectRulesReviewStatus": {
      "": "The answer.",
      resourceRules: "Permissions on objects.",
      nonResourceRules: "Permissions on other paths.",
      incomplete: "Whether there may be more.",
      evaluationError: "An error during the evaluation.",
    },
  },
});

/**
 * Lists the rules of the caller in a namespace, as far as the authorizers know them. The answer does not repeat the
 * question.
 */
function reviewOf(authorizer: Authorizer): Action {
  return {
    async run({ user }, review) {
      const { namespace = "" } = (review as unknown as authorizationV1.SelfSubjectRulesReview).spec;
      if (namespace === "") throw status.badRequest("no namespace on request");
      const known = authorizer.rulesFor?.(user, namespace) ?? { rules: [], incomplete: true, errors: [] };
      return {
        kind: review.kind,
        apiVersion: review.apiVersion,
        metadata: {},
        spec: {},
        status: {
          resourceRules: known.rules.filter(({ resources }) => resources.length > 0).map(resourceRule),
          nonResourceRules: known.rules.filter(({ nonResourceURLs }) => nonResourceURLs.length > 0).map(pathRule),
          incomplete: known.incomplete,
          ...(known.errors.length === 0 ? {} : { evaluationError: known.errors.join(", ") }),
        },
      };
    },
  };
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): JsonObject {
  const names = resourceNames.length === 0 ? {} : { resourceNames: [...resourceNames] };
  return { verbs: [...verbs], apiGroups: [...apiGroups], resources: [...resources], ...names };
}

function pathRule({ verbs, nonResourceURLs }: PolicyRule): JsonObject {
  return { verbs: [...verbs], nonResourceURLs: [...nonResourceURLs] };
}
