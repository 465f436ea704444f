import type { Authorizer, Decision } from "./authorizer.ts";

const denied: Decision = { kind: "noOpinion", reason: "Everything is forbidden." };

/** Returns no opinion and not a denial, as upstream does, so that `system:masters` and other modes still work. */
export const alwaysDenyAuthorizer: Authorizer = { authorize: () => denied };
