import { readFileSync } from "node:fs";
import { type JoinToken, parseJoinToken } from "../cluster/join-token.ts";
import { orStartupError } from "../process/or-startup-error.ts";
import { StartupError } from "../process/startup-error.ts";

export interface JoinTokenFlags {
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
}

/**
 * Returns the token of `--token`, or of the file that `--token-file` names.
 * @param source who printed it, for the message when none is given
 * @throws StartupError
 */
export function joinTokenOf({ token, tokenFile }: JoinTokenFlags, source: string): JoinToken {
  if (token !== undefined && tokenFile !== undefined) {
    throw new StartupError("--token and --token-file: give only one of them");
  }
  if (token !== undefined) return orStartupError("--token", () => parseJoinToken(token));
  if (tokenFile === undefined) throw new StartupError(`--token: give the token that ${source}`);
  return orStartupError("--token-file", () => parseJoinToken(readFileSync(tokenFile, "utf8").trim()));
}
