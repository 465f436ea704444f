export interface UserInfo {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export const anonymousUser: UserInfo = {
  name: "system:anonymous",
  uid: "",
  groups: ["system:unauthenticated"],
  extra: new Map(),
};
