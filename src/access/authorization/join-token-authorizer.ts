import { type Authorizer, type Decision, noOpinion } from "./authorizer.ts";

/** The group of users with the token of a new member. */
export const joinersGroup = "system:bootstrappers:quorate:members";
export const joinPath = "/cluster/join";

const allowed: Decision = { kind: "allow", reason: "" };
const denied: Decision = {
  kind: "deny",
  reason: "the token of a new member only allows joining the cluster",
};

/**
 * Runs before all other authorizers, so that the bearer of a join token is restricted even if everyone may do everything.
 */
export const joinTokenAuthorizer: Authorizer = {
  authorize({ groups }, attributes) {
    if (!groups.includes(joinersGroup)) return noOpinion;
    const joins = attributes.kind === "nonResource" && attributes.verb === "post" && attributes.path === joinPath;
    return joins ? allowed : denied;
  },
};
