import type { SpdyStream } from "../../../serving/streaming/spdy/spdy-stream.ts";
import { type ProcessStreams, RuntimeError } from "../../runtime.ts";
import { copyInput } from "./copy-input.ts";
import { readText } from "./read-text.ts";
import { SpdyClient } from "./spdy-client.ts";

/** The protocol in which the end of a process is a Status. Every runtime of CRI v1 speaks it. */
const protocol = "v4.channel.k8s.io";
const typeHeader = "streamtype";
/** The part of a message that the agent's own endpoint adds again. */
const repeatedPart = /^Internal error occurred: error (?:executing command in|attaching to) container: /;

/** The end of a session, as the runtime's streaming server tells it. */
interface SessionEnd {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

/**
 * Connects the streams to a process behind a URL of the runtime. Returns its exit code when it has ended, and 0 for an
 * attachment.
 * @throws RuntimeError
 */
export async function runSession(
  url: string,
  { tty, signal }: { readonly tty: boolean; readonly signal: AbortSignal },
  streams: ProcessStreams,
): Promise<number> {
  using client = await SpdyClient.connect(new URL(url), protocol, signal);
  const open = (type: string) => client.open(new Map([[typeHeader, type]]));
  const error = await open("error");
  const stdin = streams.stdin === undefined ? undefined : await open("stdin");
  const stdout = streams.stdout === undefined ? undefined : await open("stdout");
  const stderr = streams.stderr === undefined || tty ? undefined : await open("stderr");
  const resize = tty ? await open("resize") : undefined;
  stdin?.discardInput();
  if (stdin !== undefined && streams.stdin !== undefined) void copyInput(stdin, streams.stdin);
  if (resize !== undefined && streams.resize !== undefined) void sendSizes(resize, streams.resize);
  const outputs = [receive(stdout, streams.stdout), receive(stderr, streams.stderr)];
  const end = await readText(error.input);
  await Promise.all(outputs);
  signal.throwIfAborted();
  return exitCodeOf(end);
}

async function sendSizes(stream: SpdyStream, sizes: NonNullable<ProcessStreams["resize"]>): Promise<void> {
  stream.discardInput();
  try {
    for await (const { width, height } of sizes) {
      await stream.write(Buffer.from(`${JSON.stringify({ Width: width, Height: height })}\n`));
    }
  } catch {
    // The session ends with its other streams.
  }
}

async function receive(stream: SpdyStream | undefined, output: ProcessStreams["stdout"]): Promise<void> {
  if (stream === undefined || output === undefined) return;
  for await (const chunk of stream.input) await output(chunk);
}

function exitCodeOf(text: string): number {
  if (text === "") throw new RuntimeError("RuntimeError", "the runtime closed the session without a status");
  const end = parse(text);
  if (end.status === "Success") return 0;
  const code = end.details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
  if (end.reason === "NonZeroExitCode" && code !== undefined) return Number(code);
  throw new RuntimeError("RuntimeError", (end.message ?? text).replace(repeatedPart, ""));
}

function parse(text: string): SessionEnd {
  try {
    return JSON.parse(text) as SessionEnd;
  } catch {
    return { message: text };
  }
}
