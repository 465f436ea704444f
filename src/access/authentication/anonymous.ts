import { anonymousUser } from "../../request/user-info.ts";
import type { Authenticator } from "./authenticator.ts";

/**
 * Returns the last authenticator. A request without credentials becomes `system:anonymous`; if `paths` is given, only on
 * these paths.
 */
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
