import { parseTimeMs } from "../../../api/schema/time-text.ts";
import { TextError } from "../../../api/status.ts";

/** The options of a request for a container's log. */
export interface LogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  /** Lines before this time are left out. */
  readonly sinceMs: number | undefined;
  /** Number of lines from the end. */
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
}

/** @throws TextError 400 for a query that cannot be read, 422 for values that are not allowed */
export function parseLogOptions(query: URLSearchParams, nowMs: number): LogOptions {
  const sinceSeconds = integer(query, "sinceSeconds");
  const sinceTime = query.get("sinceTime") ?? "";
  const sinceTimeMs = sinceTime === "" ? undefined : parseTimeMs(sinceTime);
  if (sinceTime !== "" && sinceTimeMs === undefined) throw undecodable();
  // The name of the parameter before it was called tailLines.
  const tail = query.get("tail") ?? "";
  const tailLines = tail === "" ? integer(query, "tailLines") : tail === "all" ? undefined : integer(query, "tail");
  const limitBytes = integer(query, "limitBytes");
  const isInvalid =
    (tailLines ?? 0) < 0 ||
    (limitBytes ?? 1) < 1 ||
    (sinceSeconds ?? 1) < 1 ||
    (sinceSeconds !== undefined && sinceTimeMs !== undefined);
  if (isInvalid) throw new TextError(422, '{"message": "Invalid request."}');
  const stream = query.get("stream");
  if (stream !== null && stream !== "All") {
    throw new TextError(
      400,
      `unable to return the given log stream: ${JSON.stringify(stream)}. Please enable PodLogsQuerySplitStreams feature gate in kubelet`,
    );
  }
  return {
    follow: flag(query, "follow"),
    previous: flag(query, "previous"),
    timestamps: flag(query, "timestamps"),
    sinceMs: sinceSeconds === undefined ? sinceTimeMs : nowMs - sinceSeconds * 1_000,
    tailLines,
    limitBytes,
  };
}

/** As in all of Kubernetes' parameters, any value but these two means true. */
function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? "";
  if (text === "") return undefined;
  if (!/^[+-]?[0-9]{1,18}$/.test(text)) throw undecodable();
  return Number(text);
}

function undecodable(): TextError {
  return new TextError(400, '{"message": "Unable to decode query."}');
}
