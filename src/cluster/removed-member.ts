import { StartupError } from "../process/startup-error.ts";

/** Exit code of a removed member. A supervisor must not start it again. */
const removedExitCode = 3;

/** The other members have removed this one. Its data directory cannot be used again. */
export class RemovedMemberError extends StartupError {
  constructor(directory: string) {
    super(
      `this member was removed from the cluster: to use this machine again, delete ${directory} and run "quorate cluster join"`,
      { exitCode: removedExitCode },
    );
    this.name = "RemovedMemberError";
  }
}
