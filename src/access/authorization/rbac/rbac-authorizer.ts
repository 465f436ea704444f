import { type Authorizer, type Decision, noOpinion } from "../authorizer.ts";
import type { RbacPolicy } from "./rbac-policy.ts";

/** Allows requests that a role bound to the user grants. Never denies. Its reason names bound roles that do not exist. */
export function rbacAuthorizer(policy: RbacPolicy): Authorizer {
  return {
    authorize(user, attributes): Decision {
      const allowed = policy.find(user, attributes);
      if (allowed !== undefined) return allowed;
      const namespace = attributes.kind === "resource" ? attributes.namespace : "";
      const missing = policy.missingRoles(user, namespace);
      if (missing.length === 0) return noOpinion;
      const [first] = missing;
      return { kind: "noOpinion", reason: `RBAC: ${missing.length === 1 ? first : `[${missing.join(", ")}]`}` };
    },
    rulesFor: (user, namespace) => ({ ...policy.rulesFor(user, namespace), incomplete: false }),
  };
}
