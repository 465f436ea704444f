import type { UserInfo } from "../../request/user-info.ts";

/** The user of the server's own operations on objects. */
export const systemUser: UserInfo = {
  name: "system:apiserver",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};
