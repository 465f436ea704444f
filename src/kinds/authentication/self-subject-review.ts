import { formatTime } from "../../api/time.ts";
import type { UserInfo as ReviewedUser } from "../../api/types/authentication-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { Action } from "../../registry/action.ts";
import { action, builtInKind } from "../../registry/kind.ts";
import type { UserInfo } from "../../request/user-info.ts";

export const selfSubjectReview = builtInKind("selfsubjectreviews.authentication.k8s.io", {
  endpoint: action(({ clock }) => reviewOf(clock)),
  descriptions: {
    "authentication/v1.SelfSubjectReview": { "": "The identity of the caller, as the server sees it." },
    "authentication/v1.SelfSubjectReviewStatus": { "": "The answer.", userInfo: "The user." },
  },
});

/** Returns the caller as the server sees it, after impersonation. The answer repeats nothing of the question. */
function reviewOf(clock: Clock): Action {
  return {
    async run({ user }, { kind, apiVersion }) {
      const metadata = { creationTimestamp: formatTime(clock.nowMs()) };
      return { kind, apiVersion, metadata, status: { userInfo: userInfoOf(user) } };
    },
  };
}

/** Returns a user as reviews show it, without empty fields. */
export function userInfoOf({ name, uid, groups, extra }: UserInfo): ReviewedUser {
  return {
    ...(name === "" ? {} : { username: name }),
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])) }),
  };
}
