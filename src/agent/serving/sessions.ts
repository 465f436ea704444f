import { TextError } from "../../api/status.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { HttpResponse, Reply } from "../../request/exchange.ts";
import type { KnownPod, PodDirectory } from "../pods/pod-directory.ts";
import { type PortConnection, type RuntimeContainer, RuntimeError, type SessionChoice } from "../runtime/runtime.ts";
import { jsonBytesReply } from "./json-reply.ts";
import { fullName, hasOtherUid, podAt, runningContainer, specOf } from "./known-container.ts";
import type { RouteCall } from "./route.ts";
import { type SessionLimit, tooManySessions } from "./session-limit.ts";
import type { SessionOptions } from "./streaming/process-session.ts";
import { exitStatus, failureStatus, successStatus } from "./streaming/session-status.ts";
import { spdyForwardSession } from "./streaming/spdy/spdy-forward-session.ts";
import { spdyProcessSession } from "./streaming/spdy/spdy-process-session.ts";
import { webSocketForwardSession } from "./streaming/web-socket-forward-session.ts";
import { webSocketProcessSession } from "./streaming/web-socket-process-session.ts";

export interface SessionParts {
  readonly directory: PodDirectory;
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
  readonly limit: SessionLimit;
  /** Called with the reason for which a client's session was broken off. */
  readonly onBroken: (reason: string) => void;
}

/** Output of a command of `/run`. Above this, the command is stopped. */
const runOutputBytesMax = 16 * 1024 * 1024;

/** Answers `/exec/…`: a command with the client's streams. @throws TextError */
export async function exec(parts: SessionParts, call: RouteCall): Promise<HttpResponse> {
  const choice = streamChoice(call.target.query);
  const known = podAt(parts.directory, call.nodeName, call.parameters);
  const container = containerOf(known, call.parameters);
  const command = call.target.query.getAll("command");
  const { runtime } = known;
  const run =
    (await accepted(runtime.acceptExec?.(container.id, command, choice))) ??
    ((streams, signal) => runtime.exec(container.id, command, { tty: choice.tty, signal }, streams));
  return session(parts, call, choice, async (streams, signal) => {
    try {
      return exitStatus(command, await run(streams, signal));
    } catch (error) {
      return failureStatus(`error executing command in container: ${thrownText(error)}`);
    }
  });
}

/** Answers `/attach/…`: the streams of the container's own process. @throws TextError */
export async function attach(parts: SessionParts, call: RouteCall): Promise<HttpResponse> {
  const asked = streamChoice(call.target.query);
  const known = podAt(parts.directory, call.nodeName, call.parameters);
  const name = call.parameters.get("container") ?? "";
  const container = hasOtherUid(known, call.parameters) ? undefined : runningContainer(known, name);
  if (container === undefined) {
    throw new TextError(500, `container ${name} not found in pod ${fullName(known.pod)}`);
  }
  // The process has a terminal or not since its start, whatever the client asks for.
  const tty = specOf(known.pod, name)?.tty === true;
  const choice = { ...asked, stderr: asked.stderr && !tty, tty };
  const { runtime } = known;
  const run =
    (await accepted(runtime.acceptAttach?.(container.id, choice))) ??
    ((streams, signal) => runtime.attach(container.id, { tty, signal }, streams));
  return session(parts, call, choice, async (streams, signal) => {
    try {
      await run(streams, signal);
      return successStatus;
    } catch (error) {
      return failureStatus(`error attaching to container: ${thrownText(error)}`);
    }
  });
}

/** Answers `/portForward/…`: connections to ports of a pod. @throws TextError */
export function portForward(parts: SessionParts, call: RouteCall): HttpResponse {
  const { request, target, parameters } = call;
  const known = podAt(parts.directory, call.nodeName, parameters);
  if (hasOtherUid(known, parameters)) throw new TextError(404, "pod not found");
  const { sandbox, runtime, pod } = known;
  if (sandbox === undefined || !sandbox.isReady) {
    throw new TextError(500, `pod not found (${JSON.stringify(fullName(pod))})`);
  }
  const what = `pod ${pod.metadata.name}, uid ${pod.metadata.uid}`;
  const options = {
    ...parts,
    forward: (port: number, connection: PortConnection) => runtime.portForward(sandbox.id, port, connection),
    failureText: (port: number, error: unknown) => `error forwarding port ${port} to ${what}: ${thrownText(error)}`,
  };
  const ports = () => target.query.getAll("port");
  return parts.limit.hold(
    () => webSocketForwardSession(request, ports, options) ?? spdyForwardSession(request, options),
  );
}

/** Answers `/run/…`: a command without input, and all it prints. @throws TextError */
export async function run(parts: Pick<SessionParts, "directory">, call: RouteCall): Promise<Reply> {
  const known = podAt(parts.directory, call.nodeName, call.parameters);
  const container = containerOf(known, call.parameters);
  const command = (call.target.query.get("cmd") ?? "").split(" ");
  const output: Uint8Array[] = [];
  const errors: Uint8Array[] = [];
  const tooMuch = new AbortController();
  let bytes = 0;
  const into = (chunks: Uint8Array[]) => (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > runOutputBytesMax) tooMuch.abort(new Error("the command prints too much"));
    else chunks.push(chunk);
  };
  const signal = AbortSignal.any([call.request.signal, tooMuch.signal]);
  const streams = { stdout: into(output), stderr: into(errors) };
  let exitCode: number;
  try {
    exitCode = await known.runtime.exec(container.id, command, { tty: false, signal }, streams);
    signal.throwIfAborted();
  } catch (error) {
    throw new TextError(500, thrownText(error));
  }
  if (exitCode === 0) return jsonBytesReply(Buffer.concat([...output, ...errors]));
  const printed = Buffer.concat(errors).toString();
  throw new TextError(500, `command '${command.join(" ")}' exited with ${exitCode}: ${printed}`);
}

function session(
  parts: SessionParts,
  { request }: RouteCall,
  choice: SessionChoice,
  run: SessionOptions["run"],
): HttpResponse {
  const options = { ...parts, choice, run };
  return parts.limit.hold(() => webSocketProcessSession(request, options) ?? spdyProcessSession(request, options));
}

/** Returns a session that the runtime has accepted, and answers a refusal with its status. @throws TextError */
async function accepted<T>(session: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await session;
  } catch (error) {
    throw error instanceof RuntimeError ? refusal(error) : error;
  }
}

function refusal({ code, message }: RuntimeError): TextError {
  if (code === "NotFound") return new TextError(404, message);
  if (code === "ResourceExhausted") return tooManySessions(message);
  return new TextError(500, message);
}

/** Reads the parameters as the API server sends them: only `1` means yes. */
function streamChoice(query: URLSearchParams): SessionChoice {
  const isOne = (name: string) => query.get(name) === "1";
  const tty = isOne("tty");
  const choice = { stdin: isOne("input"), stdout: isOne("output"), stderr: isOne("error") && !tty, tty };
  if (choice.stdin || choice.stdout || choice.stderr) return choice;
  throw new TextError(400, "you must specify at least 1 of stdin, stdout, stderr");
}

/** @throws TextError 500 */
function containerOf(known: KnownPod, parameters: ReadonlyMap<string, string>): RuntimeContainer {
  const name = parameters.get("container") ?? "";
  const container = hasOtherUid(known, parameters) ? undefined : runningContainer(known, name);
  if (container === undefined) throw new TextError(500, `container not found (${JSON.stringify(name)})`);
  return container;
}
