import type { Authorizer, Decision } from "./authorizer.ts";
import { noOpinion } from "./authorizer.ts";

export const systemMastersGroup = "system:masters";

const allowed: Decision = { kind: "allow", reason: "" };

/** Allows members of `system:masters` everything, before any other authorizer is asked. */
export const systemMastersAuthorizer: Authorizer = {
  authorize: ({ groups }) => (groups.includes(systemMastersGroup) ? allowed : noOpinion),
};
