import { randomBytes } from "node:crypto";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Container } from "../../../api/types/core-v1.ts";
import { readLogEnd, readMessageFile } from "../log-file/termination-message.ts";
import type { Mount } from "../runtime.ts";
import { annotationNames } from "./labels.ts";
import type { Draft, Message } from "./messages.ts";

/**
 * Makes the file that a container writes its termination message to, unless the pod mounts a file of its own there. Any
 * user may write it, as the container may run as any.
 */
export async function makeTerminationFile(
  directory: string,
  { terminationMessagePath = "" }: Container,
  mounts: readonly Mount[],
): Promise<Draft<"Mount">[]> {
  const isTaken = mounts.some(
    ({ containerPath }) => resolve("/", containerPath) === resolve("/", terminationMessagePath),
  );
  if (terminationMessagePath === "" || isTaken) return [];
  await mkdir(directory, { recursive: true });
  // One per run, so that the next run does not overwrite the message of this one.
  const path = join(directory, randomBytes(4).toString("hex"));
  await writeFile(path, "");
  await chmod(path, 0o666);
  return [{ hostPath: path, containerPath: terminationMessagePath }];
}

/**
 * Returns the message of a container that has ended: what it wrote to its file, or if it asked for that, failed and
 * wrote nothing, the end of its log.
 */
export function terminationMessage(status: Message<"ContainerStatus">): string {
  const file = terminationFile(status);
  const written = file === undefined ? "" : readMessageFile(file);
  if (written !== "") return written;
  const policy = status.annotations[annotationNames.terminationMessagePolicy];
  const usesLog = policy === "FallbackToLogsOnError" && status.exitCode !== 0 && status.reason !== "ContainerCannotRun";
  return usesLog ? readLogEnd(status.logPath) : "";
}

/** Removes the file that was made in the directory for a container that is removed; never one of the pod's volumes. */
export async function removeTerminationFile(directory: string, status: Message<"ContainerStatus">): Promise<void> {
  const file = terminationFile(status);
  if (file !== undefined && dirname(file) === directory) await rm(file, { force: true });
}

function terminationFile({ annotations, mounts }: Message<"ContainerStatus">): string | undefined {
  const path = annotations[annotationNames.terminationMessagePath] ?? "";
  return path === "" ? undefined : mounts.find(({ containerPath }) => containerPath === path)?.hostPath;
}
