import { escapeControls, redactText } from "../process/redact.ts";
import { StartupError } from "../process/startup-error.ts";
import { thrownText } from "../process/thrown-text.ts";

interface SystemError extends Error {
  readonly code: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
}

/**
 * Returns the reason for a failed start, in one line that also gives the remedy.
 * @param prefix text before the message of an unknown error
 */
export function startupFailureText(error: unknown, prefix = "cannot start: "): string {
  const chain = causesOf(error);
  const known = chain.find((cause) => cause instanceof StartupError)?.message;
  const text =
    known ?? chain.map(systemFailureText).find((found) => found !== undefined) ?? unknownFailureText(error, prefix);
  return escapeControls(redactText(text.replace(/\s*\n\s*/g, " ")));
}

/** Bound the walk, because errors may wrap each other in a cycle. */
const causesMax = 8;

function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (
    let next = error;
    next !== undefined && chain.length < causesMax;
    next = next instanceof Error ? next.cause : undefined
  ) {
    chain.push(next);
  }
  return chain;
}

function systemFailureText(error: unknown): string | undefined {
  if (!isSystemError(error)) return undefined;
  const place = error.path ?? (error.port === undefined ? "it" : `${error.address ?? "address"} port ${error.port}`);
  switch (error.code) {
    case "EADDRINUSE":
      return `${place === "it" ? "the port" : place} is in use: stop the other process, or choose another port with --secure-port (0 picks one)`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `cannot listen on ${error.address ?? "that address"}: choose an address of this machine with --bind-address`;
    case "EACCES":
    case "EPERM":
      return error.port === undefined
        ? `no permission for ${place}: change its owner, or choose another directory with --data-dir`
        : `no permission to listen on ${place}: choose a port above 1023 with --secure-port`;
    case "EROFS":
      return `${place} is on a read-only file system: choose another directory with --data-dir`;
    case "ENOSPC":
    case "EDQUOT":
      return `no space left for ${place}: free some, or choose another directory with --data-dir`;
    case "ENOTDIR":
    case "EEXIST":
      return `${place} is not a directory: choose another one with --data-dir`;
    case "ENOENT":
      return `${place} does not exist: check the flag that names it`;
    case "EISDIR":
      return `${place} is a directory where a file is expected: check the flag that names it`;
    case "LEVEL_LOCKED":
    case "LEVEL_DATABASE_NOT_OPEN":
      return "the data directory is in use by another quorate or cannot be opened: stop the other one, or choose another directory with --data-dir";
    default:
      return undefined;
  }
}

/** Failures that have no code, by a part of their text. */
const failuresByText: readonly (readonly [part: string, told: string])[] = [
  ["KEY_VALUES_MISMATCH", "--tls-private-key-file is not the key of --tls-cert-file: give a matching pair"],
  ["Failed to listen at", "cannot listen on that address: choose an address of this machine with --bind-address"],
];

function unknownFailureText(error: unknown, prefix: string): string {
  const text = thrownText(error);
  if (/^unknown api (groups|versions|resources) /.test(text))
    return `--runtime-config: ${text}: check their spelling or leave them out`;
  const failure = failuresByText.find(([part]) => text.includes(part));
  if (failure !== undefined) return failure[1];
  return `${prefix}${text === "" ? "unknown error" : text}`;
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && typeof (error as Partial<SystemError>).code === "string";
}
