import { isJsonObject, type JsonObject } from "../../api/json.ts";
import { status } from "../../api/status.ts";
import type { Authorizer } from "../../access/authorization/authorizer.ts";
import type { PolicyRule } from "../../access/authorization/rbac/policy-rule.ts";
import type { Action } from "../../registry/action.ts";
import { action, builtInKind } from "../../registry/kind.ts";

export const selfSubjectRulesReview = builtInKind("selfsubjectrulesreviews.authorization.k8s.io", {
  endpoint: action(({ authorizer }) => reviewOf(authorizer)),
});

/** What may the one who asks do in a namespace? As complete as the authorizers can say. */
function reviewOf(authorizer: Authorizer): Action {
  return {
    async run({ user }, review) {
      const { spec, kind, apiVersion } = review;
      const namespace = isJsonObject(spec) && typeof spec["namespace"] === "string" ? spec["namespace"] : "";
      if (namespace === "") throw status.badRequest("no namespace on request");
      const known = authorizer.rulesFor?.(user, namespace) ?? { rules: [], incomplete: true, errors: [] };
      return {
        kind,
        apiVersion,
        metadata: {},
        spec: {},
        status: {
          resourceRules: known.rules.filter(({ resources }) => resources.length > 0).map(resourceRule),
          nonResourceRules: known.rules.filter(({ nonResourceURLs }) => nonResourceURLs.length > 0).map(pathRule),
          incomplete: known.incomplete || known.errors.length > 0,
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
