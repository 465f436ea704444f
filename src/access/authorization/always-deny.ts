import type { Authorizer, Decision } from "./authorizer.ts";

const denied: Decision = { kind: "noOpinion", reason: "Everything is forbidden." };

/** Returns no opinion rather than a denial, so that `system:masters` and other modes still work, as upstream. */
export const alwaysDenyAuthorizer: Authorizer = { authorize: () => denied };
