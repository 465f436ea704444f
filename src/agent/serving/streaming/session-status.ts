/** The end of a session as clients read it: a Status, of which old clients see only the message. */
export interface SessionStatus {
  readonly metadata: Record<string, never>;
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: "NonZeroExitCode" | "InternalError";
  readonly details?: { readonly causes: readonly { readonly reason: "ExitCode"; readonly message: string }[] };
  readonly code?: number;
}

/** Returns the status of a command that has ended. */
export function exitStatus(command: readonly string[], exitCode: number): SessionStatus {
  if (exitCode === 0) return successStatus;
  const why = `error executing command [${command.join(" ")}], exit code ${exitCode}`;
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: ${why}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

export const successStatus: SessionStatus = { metadata: {}, status: "Success" };

/** Returns the status of a session that failed for another reason than the exit of its command. */
export function failureStatus(why: string): SessionStatus {
  return {
    metadata: {},
    status: "Failure",
    message: `Internal error occurred: ${why}`,
    reason: "InternalError",
    code: 500,
  };
}
