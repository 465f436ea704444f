import type { UserInfo } from "../../request/user-info.ts";

/** The server itself, where it acts on objects without a request. */
export const systemUser: UserInfo = {
  name: "system:apiserver",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};
