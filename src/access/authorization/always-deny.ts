import type { Authorizer, Decision } from "./authorizer.ts";

const denied: Decision = { kind: "noOpinion", reason: "Everything is forbidden." };

/** Has no opinion rather than denies, so that `system:masters` and other modes beside it still work, as upstream. */
export const alwaysDenyAuthorizer: Authorizer = { authorize: () => denied };
