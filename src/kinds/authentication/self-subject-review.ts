import type { JsonObject } from "../../api/json.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { action, builtInKind } from "../../registry/kind.ts";
import type { Action } from "../../registry/action.ts";

/** Who am I? After impersonation, so that one can ask for somebody else. */
const review: Action = {
  async run({ user }, asked) {
    return { ...asked, status: { userInfo: userInfoOf(user) } };
  },
};

export const selfSubjectReview = builtInKind("selfsubjectreviews.authentication.k8s.io", {
  endpoint: action(() => review),
});

/** A user as reviews show it; what is empty is left out. */
export function userInfoOf({ name, uid, groups, extra }: UserInfo): JsonObject {
  return {
    ...(name === "" ? {} : { username: name }),
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])) }),
  };
}
