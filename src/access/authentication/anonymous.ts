import type { Authenticator } from "./authenticator.ts";
import { anonymousUser } from "../../request/user-info.ts";

/** The last authenticator: whoever sent no credential is `system:anonymous`, on `paths` only when they are given. */
export function anonymousAuthenticator(paths?: readonly string[]): Authenticator {
  if (paths === undefined) return { authenticate: () => anonymousUser };
  const allowed = new Set(paths);
  return {
    authenticate: ({ rawPath }) => {
      const mark = rawPath.indexOf("?");
      return allowed.has(mark === -1 ? rawPath : rawPath.slice(0, mark)) ? anonymousUser : undefined;
    },
  };
}
