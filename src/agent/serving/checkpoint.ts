import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { TextError } from "../../api/status.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { Reply } from "../../request/exchange.ts";
import type { KnownPod, PodDirectory } from "../pods/pod-directory.ts";
import { jsonReply } from "./json-reply.ts";
import { fullName, podAt, runningContainer, specOf } from "./known-container.ts";
import { localTime } from "./local-time.ts";
import type { RouteCall } from "./route.ts";

const directoryMode = 0o700;
const archiveMode = 0o600;

export interface CheckpointParts {
  readonly directory: PodDirectory;
  /** The archives are written to `checkpoints` below this directory. */
  readonly rootDir: string;
  readonly nowMs: () => number;
}

/** Answers `/checkpoint/{namespace}/{pod}/{container}`. @throws TextError 404, or 500 if the runtime fails */
export async function checkpoint(parts: CheckpointParts, { parameters, target, nodeName }: RouteCall): Promise<Reply> {
  const known = podAt(parts.directory, nodeName, parameters);
  const container = parameters.get("container") ?? "";
  if (specOf(known.pod, container) === undefined) throw new TextError(404, `container ${container} does not exist`);
  const timeoutSeconds = timeoutOf(target.query);
  try {
    return jsonReply({ items: [await write(parts, known, container, timeoutSeconds)] });
  } catch (error) {
    const { namespace, name } = known.pod.metadata;
    throw new TextError(500, `checkpointing of ${namespace}/${name}/${container} failed (${thrownText(error)})`);
  }
}

/** Returns the last value; 0, the runtime's own, without any. */
function timeoutOf(query: URLSearchParams): number {
  const text = query.getAll("timeout").at(-1);
  if (text === undefined) return 0;
  if (!/^[+-]?[0-9]{1,15}$/.test(text)) throw new TextError(404, "cannot parse value of timeout parameter");
  return Number(text);
}

/** Returns the location of the archive. */
async function write(
  { rootDir, nowMs }: CheckpointParts,
  known: KnownPod,
  container: string,
  timeoutSeconds: number,
): Promise<string> {
  const running = runningContainer(known, container);
  if (running === undefined) throw new Error(`container ${container} not found`);
  const directory = join(rootDir, "checkpoints");
  await mkdir(directory, { recursive: true, mode: directoryMode });
  await chmod(directory, directoryMode);
  const location = join(directory, `checkpoint-${fullName(known.pod)}-${container}-${localTime(nowMs())}.tar`);
  await known.runtime.checkpoint(running.id, location, timeoutSeconds);
  // A runtime on this machine has written it. Another one keeps it where it is.
  await chmod(location, archiveMode).catch(() => {});
  return location;
}
